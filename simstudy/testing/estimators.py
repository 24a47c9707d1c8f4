"""Contract checks of estimators of performance and of tests of two learners."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.estimators.base import Estimator
from simstudy.estimators.bench import Answer, Bench, Judge, scheme_name
from simstudy.estimators.comparing import Decision, LearnerTest
from simstudy.estimators.estimate import INTERVALS, Estimate
from simstudy.measures.base import MeasureFunction
from simstudy.measures.decisions import matthews
from simstudy.measures.losses import accuracy
from simstudy.measures.rewards import information_reward
from simstudy.testing.contract import Contract, check_parameters, stream

_LEVEL = 0.05
_ORDINARY = "60 rows of three classes"


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
    contract = Contract(estimator)
    copy = check_parameters(contract, estimator)
    for situation, rows in _situations():
        for measure in (accuracy, information_reward, matthews):
            where = f"{situation} and {measure.__name__}"
            found, again, wider = (
                _estimate(contract, one, rows, measure, confidence, where)
                for one, confidence in ((estimator, 0.5), (copy, 0.5), (estimator, 0.99))
            )
            contract.require(
                repr(found) == repr(again),
                "the same bench must give the same estimate, also from a pickled copy",
                f"with {where} it gave {found} and {again}",
            )
            _check_intervals(contract, found, wider, where)
            contract.require(
                measure is not accuracy or situation != _ORDINARY or math.isfinite(found.value),
                f"the accuracy on {_ORDINARY} must have a finite estimate",
                f"it is {found.value}",
            )
    rows = _Rows(60, 3)
    sure = contract.attempt(
        "it must accept a learner that is always right",
        lambda: estimator.estimate(rows.bench(rows.mostly_right(60)), rows.judge(accuracy), 0.95),
    )
    contract.require(
        abs(sure.value - 1) <= 1e-9,
        "a learner that is right in every row must have an accuracy of 1",
        f"its estimate is {sure.value}",
    )


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
    contract = Contract(test)
    copy = check_parameters(contract, test)
    for situation, rows in _situations():
        for measure in (accuracy, information_reward, matthews):
            where = f"{situation} and {measure.__name__}"
            answers = rows.frequencies, rows.mostly_right(4)
            found = _decide(contract, test, rows, answers, measure, where)
            again = _decide(contract, copy, rows, answers, measure, where)
            turned = _decide(contract, test, rows, answers[::-1], measure, where)
            contract.require(
                repr(found) == repr(again),
                "the same benches must give the same decision, also from a pickled copy",
                f"with {where} it gave {found} and {again}",
            )
            contract.require(
                np.allclose(found, (turned.p, -turned.difference), 1e-9, 1e-12, equal_nan=True),
                "the order of the learners must change the sign of the difference alone",
                f"with {where} it gave {found} and, in the other order, {turned}",
            )
            contract.require(
                measure is not accuracy or situation != _ORDINARY or not math.isnan(found.p),
                f"the accuracy on {_ORDINARY} must have a p",
                f"it gave {found}",
            )
    rows = _Rows(60, 3)
    same = _decide(contract, test, rows, (rows.frequencies, rows.frequencies), accuracy, "a copy")
    contract.require(
        same.difference == 0 and not same.p <= _LEVEL,
        "a learner must not differ from itself",
        f"it gave {same}",
    )
    good, bad = rows.mostly_right(20), rows.mostly_right(20, shift=1)
    clear = _decide(contract, test, rows, (good, bad), accuracy, "a clear difference")
    contract.require(
        clear.difference > 0 and clear.p <= _LEVEL,
        "a learner that is right in most rows must differ from one that is wrong in most",
        f"it gave {clear}",
    )


class _Rows:
    """Rows of one attribute, on which the class depends, and learners for them."""

    def __init__(self, number: int, classes: int, present: int | None = None) -> None:
        rng = stream(number, classes)
        self.classes = classes
        self.target: IntArray = rng.integers(present or classes, size=number)
        others = rng.integers(classes, size=number)
        self.attribute = np.where(rng.random(number) < 0.6, self.target, others)

    def bench(self, answer: Answer) -> Bench:
        return Bench(
            self.target.copy(),
            self.classes,
            answer,
            lambda scheme: scheme.splits(self.target, stream(*scheme_name(scheme).encode())),
        )

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
            told = (self.target[test] + shift + missed) % self.classes
            answers: FloatArray = (np.eye(self.classes)[told] * 8 + 1) / (8 + self.classes)
            return answers

        return answer


def _situations() -> Iterator[tuple[str, _Rows]]:
    """Yield rows, with what they are."""
    yield _ORDINARY, _Rows(60, 3)
    yield "40 rows of two classes", _Rows(40, 2)
    yield "40 rows without the last of three classes", _Rows(40, 3, present=2)
    yield "three rows", _Rows(3, 2)


def _estimate(
    contract: Contract,
    estimator: Estimator,
    rows: _Rows,
    measure: MeasureFunction,
    confidence: float,
    where: str,
) -> Estimate:
    """Return an estimate; one without a value if a ValueError says that there is none."""
    bench, rule = rows.bench(rows.frequencies), "estimate(bench, judge, confidence) must return"
    try:
        found = estimator.estimate(bench, rows.judge(measure), confidence)
    except ValueError as error:
        if where.startswith(_ORDINARY) and measure is accuracy:
            contract.fail(f"{rule} an Estimate", f"with {where} it raised {error!r}", error)
        return Estimate(math.nan)
    except Exception as error:
        rule += " an Estimate, or raise a ValueError"
        contract.fail(rule, f"with {where} it raised {error!r}", error)
    contract.require(
        isinstance(found, Estimate), f"{rule} an Estimate", f"it returned a {type(found).__name__}"
    )
    return found


def _check_intervals(contract: Contract, found: Estimate, wider: Estimate, where: str) -> None:
    kept = f"intervals must be among {', '.join(INTERVALS)}, the chosen one too"
    for name in (*found.intervals, *([found.own] if found.own else [])):
        contract.require(name in INTERVALS, kept, f"with {where} it has {name!r}")
    for name, (lower, upper) in found.intervals.items():
        contract.require(
            lower <= upper, "the lower end comes first", f"with {where} {name} is {lower}, {upper}"
        )
        least, most = wider.intervals.get(name, (-math.inf, math.inf))
        contract.require(
            least <= lower and upper <= most,
            "an interval of greater confidence must contain one of smaller",
            f"with {where} {name} is {lower}, {upper} at .5 and {least}, {most} at .99",
        )


def _decide(
    contract: Contract,
    test: LearnerTest,
    rows: _Rows,
    answers: tuple[Answer, Answer],
    measure: MeasureFunction,
    where: str,
) -> Decision:
    """Return a decision; one without p if a ValueError says that there is none."""
    rule = "test(first, second, judge) must return a Decision"
    first, second = map(rows.bench, answers)
    try:
        found = test.test(first, second, rows.judge(measure))
    except ValueError as error:
        if where.startswith(_ORDINARY) and measure is accuracy:
            contract.fail(rule, f"with {where} it raised {error!r}", error)
        return Decision(math.nan, math.nan)
    except Exception as error:
        contract.fail(f"{rule} or raise a ValueError", f"with {where} it raised {error!r}", error)
    contract.require(isinstance(found, Decision), rule, f"it returned a {type(found).__name__}")
    contract.require(
        math.isnan(found.p) or 0 <= found.p <= 1,
        "p must be between 0 and 1, or NaN",
        f"with {where} it is {found.p}",
    )
    return found
