"""Contract checks of estimators of performance and of tests of two learners."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import starmap
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.splits.schemes import Scheme, Split
from simstudy.estimators.bench import (
    INTERVALS,
    Bench,
    Estimate,
    Estimator,
    Judge,
    scheme_name,
)
from simstudy.estimators.comparing import Decision, LearnerTest
from simstudy.measures.base import MeasureFunction
from simstudy.measures.decisions.confusion import matthews
from simstudy.measures.scores.losses import accuracy
from simstudy.measures.scores.rewards import information_reward
from simstudy.testing.contract import C, Contract, stream

_LEVEL = 0.05
_ORDINARY = "accuracy on 60 rows of three classes"
Answer: TypeAlias = Callable[[IntArray, IntArray, str], FloatArray]
Answered = TypeVar("Answered", Estimate, Decision)


def check_estimate(estimator: Estimator) -> None:
    """Check that an estimator of performance satisfies its contract.

    - The estimator is a frozen dataclass and survives pickling unchanged.
    - ``estimate(bench, judge, confidence)`` returns an `Estimate`. Where the rows or the measure
      do not allow one, its value is `Undefined`, or a ValueError says why; accuracy on 60 rows has
      a finite value.
    - Its intervals are among those that results keep (``rows``, ``folds``, ``corrected``,
      ``nested``, ``percentile``), their lower ends first, and of greater confidence no narrower.
    - The same bench gives the same estimate, and stays as it is.
    - A learner that is right in every row has an accuracy of 1.

    Parameters
    ----------
    estimator : Estimator
        The estimator, with its parameters.

    Raises
    ------
    AssertionError
        States in one sentence what the contract requires and what was found.
    """
    contract = _RowsContract(estimator)
    copy = contract.pickled()
    for case in _cases():
        estimate, again, wider = (
            contract.estimate(each, case, confidence)
            for each, confidence in ((estimator, 0.5), (copy, 0.5), (estimator, 0.99))
        )
        rule = "the same bench must give the same estimate, also from a pickled copy"
        finding = f"with {case.name} it gave {estimate} and {again}"
        contract.require(repr(estimate) == repr(again), rule, finding)
        contract.check_intervals(estimate, wider, case.name)
        if case.name == _ORDINARY:
            rule = f"the {_ORDINARY} must have a finite estimate"
            contract.require(math.isfinite(estimate.value), rule, f"it is {estimate.value}")
    rows = _Rows(60, 3)
    bench, judge = rows.bench(rows.mostly_right(60)), rows.judge(accuracy)
    rule = "it must accept a learner that is always right"
    sure = contract.attempt(rule, estimator.estimate, bench, judge, 0.95)
    rule = "a learner that is right in every row must have an accuracy of 1"
    contract.require(abs(sure.value - 1) <= 1e-9, rule, f"its estimate is {sure.value}")


def check_test(test: LearnerTest) -> None:
    """Check that a test of two learners satisfies its contract.

    - The test is a frozen dataclass and survives pickling unchanged.
    - ``test(first, second, judge)`` returns a `Decision`, whose p is between 0 and 1. Where the
      rows or the measure do not allow one, p is NaN, or a ValueError says why; accuracy on 60 rows
      has a p.
    - The same benches give the same decision, and stay as they are.
    - The order of the learners changes the sign of the difference, and not p.
    - A learner does not differ from itself; one that is right in most rows differs from one that
      is wrong in most, at the level .05, and the difference is positive.

    Parameters
    ----------
    test : LearnerTest
        The test, with its parameters.

    Raises
    ------
    AssertionError
        States in one sentence what the contract requires and what was found.
    """
    contract = _RowsContract(test)
    copy = contract.pickled()
    for case in _cases():
        answers = case.rows.frequencies, case.rows.mostly_right(4)
        decision, again, turned = (
            contract.decide(each, case, order)
            for each, order in ((test, answers), (copy, answers), (test, answers[::-1]))
        )
        rule = "the same benches must give the same decision, also from a pickled copy"
        finding = f"with {case.name} it gave {decision} and"
        contract.require(repr(decision) == repr(again), rule, f"{finding} {again}")
        back = (turned.p, -turned.difference)
        same = np.allclose(decision, back, 1e-9, 1e-12, equal_nan=True)
        rule = "the order of the learners must only change the sign of the difference"
        contract.require(same, rule, f"{finding}, in the reverse order, {turned}")
        if case.name == _ORDINARY:
            rule = f"the {_ORDINARY} must have a p"
            contract.require(not math.isnan(decision.p), rule, f"it gave {decision}")
    rows = _Rows(60, 3)
    twice = contract.decide(test, _Case("a copy", rows, accuracy), (rows.frequencies,) * 2)
    equal = twice.difference == 0 and not twice.p <= _LEVEL
    contract.require(equal, "a learner must not differ from itself", f"it gave {twice}")
    pair = rows.mostly_right(20), rows.mostly_right(20, shift=1)
    clear = contract.decide(test, _Case("a clear difference", rows, accuracy), pair)
    rule = "a learner that is right in most rows must differ from one that is wrong in most"
    contract.require(clear.difference > 0 and clear.p <= _LEVEL, rule, f"it gave {clear}")


class _Rows:
    """Rows of one attribute, on which the class depends, and learners for them."""

    def __init__(self, number: int, classes: int, present: int | None = None) -> None:
        rng = stream(number, classes)
        self.classes = classes
        self.target: IntArray = rng.integers(present or classes, size=number)
        noise = rng.integers(classes, size=number)
        self.attribute = np.where(rng.random(number) < 0.6, self.target, noise)

    def bench(self, answer: Answer) -> Bench:
        def splits(scheme: Scheme) -> Sequence[Split]:
            return scheme.splits(self.target, stream(*scheme_name(scheme).encode()))

        return Bench(self.target.copy(), self.classes, partial(starmap, answer), splits)

    def judge(self, measure: MeasureFunction) -> Judge:
        uniform = np.full(self.classes, 1 / self.classes)
        context = {"base": math.e, "reward": "mean", "rarer": 1}
        return Judge(measure, self.target, self.classes, lambda *_: uniform, "mml", context)

    def frequencies(self, train: IntArray, test: IntArray, purpose: str) -> FloatArray:
        """A learner that counts the classes of each value."""
        counts = np.ones((self.classes, self.classes))
        np.add.at(counts, (self.attribute[train], self.target[train]), 1)
        answers: FloatArray = (counts / counts.sum(axis=1, keepdims=True))[self.attribute[test]]
        return answers

    def mostly_right(self, every: int, shift: int = 0) -> Answer:
        """A learner that answers with the true class, or the one ``shift`` after it.

        In each ``every``-th row but the first it answers with the next one.
        """

        def answer(train: IntArray, test: IntArray, purpose: str) -> FloatArray:
            missed = (test > 0) & (test % every == 0)
            chosen = (self.target[test] + shift + missed) % self.classes
            answers: FloatArray = (np.eye(self.classes)[chosen] * 8 + 1) / (8 + self.classes)
            return answers

        return answer


class _Case(NamedTuple):
    """Rows and a measure, described by a name."""

    name: str
    rows: _Rows
    measure: MeasureFunction


def _cases() -> Iterator[_Case]:
    """Yield rows and measures; the first is ordinary."""
    for situation, rows in (
        ("60 rows of three classes", _Rows(60, 3)),
        ("40 rows of two classes", _Rows(40, 2)),
        ("40 rows without the last of three classes", _Rows(40, 3, present=2)),
        ("three rows", _Rows(3, 2)),
    ):
        for measure in (accuracy, information_reward, matthews):
            yield _Case(f"{measure.__name__} on {situation}", rows, measure)


class _RowsContract(Contract[C]):
    """The contract of what is computed from rows: estimates and decisions."""

    def estimate(self, estimator: Estimator, case: _Case, confidence: float) -> Estimate:
        """Return an estimate; one without a value if a ValueError says that there is none."""
        bench, judge = case.rows.bench(case.rows.frequencies), case.rows.judge(case.measure)
        rule = "estimate(bench, judge, confidence) must return an Estimate"
        call = partial(estimator.estimate, bench, judge, confidence)
        return self._answered(rule, call, Estimate(math.nan), case.name)

    def decide(self, test: LearnerTest, case: _Case, answers: tuple[Answer, Answer]) -> Decision:
        """Return a decision; one without p if a ValueError says that there is none."""
        rule = "test(first, second, judge) must return a Decision"
        first, second = map(case.rows.bench, answers)
        call = partial(test.test, first, second, case.rows.judge(case.measure))
        decision = self._answered(rule, call, Decision(math.nan, math.nan), case.name)
        possible = math.isnan(decision.p) or 0 <= decision.p <= 1
        rule, finding = "p must be between 0 and 1, or NaN", f"with {case.name} it is {decision.p}"
        self.require(possible, rule, finding)
        return decision

    def _answered(
        self, rule: str, call: Callable[[], Answered], nothing: Answered, where: str
    ) -> Answered:
        """Return what a call returns; ``nothing`` if a ValueError says that there is no answer."""
        try:
            answer = call()
        except Exception as error:
            if isinstance(error, ValueError) and where != _ORDINARY:
                return nothing
            rule += "" if isinstance(error, ValueError) else ", or raise a ValueError"
            self.fail(rule, f"with {where} it raised {error!r}", error)
        expected = isinstance(answer, type(nothing))
        self.require(expected, rule, f"it returned a {type(answer).__name__}")
        return answer

    def check_intervals(self, narrow: Estimate, wider: Estimate, where: str) -> None:
        """Check the names, the ends and the widths of intervals."""
        rule = f"intervals must be among {', '.join(INTERVALS)}, the chosen one too"
        for name in (*narrow.intervals, *([narrow.chosen] if narrow.chosen else [])):
            self.require(name in INTERVALS, rule, f"with {where} it has {name!r}")
        for name, (lower, upper) in narrow.intervals.items():
            finding = f"with {where} {name} is {lower}, {upper}"
            self.require(lower <= upper, "the lower end comes first", finding)
            least, most = wider.intervals.get(name, (-math.inf, math.inf))
            rule = "an interval of greater confidence must contain one of smaller"
            finding += f" at .5 and {least}, {most} at .99"
            self.require(least <= lower and upper <= most, rule, finding)
