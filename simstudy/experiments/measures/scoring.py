"""Comparisons of measures: which of them prefers the truly better of two learners."""

from __future__ import annotations

import base64
import itertools
import math
import warnings
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter

import numpy as np
import numpy.typing as npt

from simstudy.arrays import FloatArray, IntArray, read_only
from simstudy.data.sample import Sample
from simstudy.engine.evaluation import EXACT, Trial
from simstudy.engine.plan import Plan
from simstudy.engine.scoring import Called, class_prior
from simstudy.engine.task import Cell, NoPrimaryError, Task, plain_text, role
from simstudy.errors import describe
from simstudy.experiments.base import ScoreColumn
from simstudy.experiments.measures.test_sets import TestSets, draw_test_sets
from simstudy.measures.arguments import arguments
from simstudy.measures.base import Context, clip, keywords, score
from simstudy.measures.two_level import differ, level_names
from simstudy.study.constants import NO_CHOICE
from simstudy.study.registry import MEASURES
from simstudy.study.spec import Spec

Signs = npt.NDArray[np.int8]  # 1 where the first of a pair is preferred, −1 the second, 0 neither


def test_role(repeat: int) -> str:
    return f"test/{repeat}"


@dataclass(frozen=True)
class Fits:
    """The learners of one model after training.

    Attributes
    ----------
    train : Sample
        The training set of all.
    proba : sequence of array of shape (configurations, classes)
        The predictions of each learner.
    truths : array of shape (targets, learners)
        The exact values of the targets, negated where less is better.
    troubles : sequence of str
        Why targets have no value, for each target; empty if they have.
    """

    train: Sample
    proba: Sequence[FloatArray]
    truths: FloatArray
    troubles: Sequence[str]


class PickingTask(Task):
    """One model, its fitted learners and the test sets on which measures choose between them."""

    def __init__(self, plan: Plan, model: int) -> None:
        super().__init__(plan, model)
        self._tests: tuple[int, TestSets] | None = None
        # The values of measures on the test sets that they were asked for last.
        self._known: tuple[TestSets | None, dict[tuple[str, str], FloatArray]] = None, {}
        self._pairs = np.array([*itertools.combinations(range(len(plan.learners)), 2)]).T

    def _scored_columns(self) -> list[ScoreColumn]:
        """The targets, which are exact."""
        return [
            ScoreColumn(one.label, one.name, EXACT, one.label, one.parameters)
            for one in self._plan.targets
        ]

    @property
    def _trial(self) -> Trial:
        return self._judged.tests[EXACT]

    @cached_property
    def _fits(self) -> Fits:
        """The learners, fitted to the training set and evaluated exactly."""
        plan = self._plan
        (size,) = plan.train_sizes
        train = self.training_set(size)
        found, probas = [], []
        with self._isolated():
            for component in plan.learners:
                rng = self._stream(role(component, size))
                proba = self._answers(component, train, rng)[0]
                probas.append(proba)
                found.append(self._score(proba, train))
        truths, troubles = np.empty((len(plan.targets), len(plan.learners))), []
        for place, target in enumerate(plan.targets):
            values = [each[place] for each in found]
            errors = [describe(one) for one in values if isinstance(one, BaseException)]
            sign = 1.0 if MEASURES.get(target.name).info.greater_is_better else -1.0
            truths[place] = math.nan if errors else sign * np.array(values, dtype=np.float64)
            troubles.append(errors[0] if errors else "")
        return Fits(train, probas, truths, troubles)

    def test_sets(self, size: int) -> TestSets:
        """The test sets of a size; the last ones are cached."""
        if self._tests is None or self._tests[0] != size:
            assert self._trial.weights is not None
            self._tests = (
                size,
                draw_test_sets(
                    self._trial.weights,
                    size,
                    self._plan.repeats,
                    lambda repeat: self._stream(test_role(repeat)),
                ),
            )
        return self._tests[1]

    def score_cell(self, component: Spec, size: int, every: bool = False) -> Cell:
        """Let a measure choose between the learners of every pair on every test set."""
        cell = self._blank(component, size)
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            fits, tests = self._fits, self.test_sets(size)
            started = perf_counter()
            with self._isolated():
                picks = self.picks(component, tests)
            seconds = perf_counter() - started
        signs = _signs(fits.truths, self._pairs)
        values, troubles = self._judge(picks, signs)
        if raised:
            troubles.append(plain_text(f"{raised[0].category.__name__}: {raised[0].message}"))
        return replace(
            cell,
            values=values,
            predict_seconds=seconds,
            answers=pack_picks(picks, signs),
            warning="; ".join(troubles),
        )

    def _judge(self, picks: Signs, signs: Signs) -> tuple[tuple[float, ...], list[str]]:
        """The shares of right choices and the losses, and warnings."""
        fits, targets = self._fits, self._plan.targets
        first, second = self._pairs
        right, loss, troubles = [], [], []
        for place, target in enumerate(targets):
            decided = signs[place] != 0
            if trouble := fits.troubles[place] or ("" if decided.any() else "all pairs tie"):
                troubles.append(plain_text(f"no {target.label}: {trouble}"))
                right.append(math.nan)
                loss.append(math.nan)
                continue
            agree = (picks[:, decided] * signs[place, decided] + 1) / 2
            gaps = np.abs(fits.truths[place, first] - fits.truths[place, second])[decided]
            right.append(float(agree.mean()))
            # 0 times infinity is no loss
            lost = np.where(agree < 1, (1 - agree) * np.where(agree < 1, gaps, 0.0), 0.0)
            loss.append(float(lost.mean()))
        values = (*right, *loss)
        if math.isnan(values[0]):
            raise NoPrimaryError(troubles[0], values)
        return values, troubles

    def picks(self, component: Spec, tests: TestSets) -> Signs:
        """The choices of a measure, of shape (test sets, pairs).

        It prefers neither learner where it ties, or has no value for one of them.
        """
        chosen: Signs | None = None
        undecided: npt.NDArray[np.bool_] = np.ones((1, 1), dtype=bool)
        for name in level_names(component.name):
            measure = MEASURES.get(name)
            given = arguments(
                measure, component.parameters, self._problem.class_names, self._plan.positive
            )
            called = Called(measure, EXACT, name in self._foreign, given)
            values = self._known_values(called, tests, (name, repr(given)))
            if not measure.info.greater_is_better:
                values = -values
            signs = _signs(values, self._pairs)
            chosen = signs if chosen is None else np.where(undecided, signs, chosen)
            first, second = (values[:, place] for place in self._pairs)
            # the second level decides where the first ties, not where it has no value
            undecided = (chosen == 0) & ~np.isnan(first) & ~np.isnan(second)
        assert chosen is not None
        return chosen

    def _known_values(self, called: Called, tests: TestSets, key: tuple[str, str]) -> FloatArray:
        """The values of a measure, computed once: it may also be a level of another."""
        if self._known[0] is not tests:
            self._known = tests, {}
        if key not in self._known[1]:
            self._known[1][key] = self._values(called, tests)
        return self._known[1][key]

    def _values(self, called: Called, tests: TestSets) -> FloatArray:
        """The values of a measure, of shape (test sets, learners)."""
        changes = "prior" in keywords(called.measure) and self._plan.prior == "test"
        if called.measure.info.over == "row" and not changes:
            rows = [self._row_values(called, proba, tests.observed) for proba in self._fits.proba]
            return tests.means(np.stack(rows))
        weighted = called.measure.info.over == "row" or "weights" in keywords(called.measure)
        found = np.empty((len(tests.counts), len(self._fits.proba)))
        expanded = [self._expanded(called, proba, tests.observed) for proba in self._fits.proba]
        target = self._trial.target[tests.observed]
        for index, counts in enumerate(tests.counts):
            there = np.flatnonzero(counts)
            number = counts[there]
            weights: FloatArray | None = number
            if not weighted:
                there, weights = np.repeat(there, number.astype(np.intp)), None
            trial = Trial(there, target[there], weights)
            context = self._context(trial)
            for learner, proba in enumerate(expanded):
                given = proba[there], trial.target
                found[index, learner] = _score(called, *given, context)
        return found

    def _expanded(self, called: Called, proba: FloatArray, places: IntArray) -> FloatArray:
        """Predictions for some joint configurations, clipped if the measure takes logarithms."""
        taken = np.asfortranarray(proba[self._trial.rows[places]])
        if called.measure.info.logarithmic:
            return clip(taken, self._plan.cutoff, len(self._fits.train))
        return taken

    def _context(self, trial: Trial) -> Context:
        """What a measure may declare, on one test set."""
        plan, train = self._plan, self._fits.train
        prior = class_prior(plan.prior, train, trial, self._truth)
        if plan.prior == "test" and trial.weights is not None:
            prior = trial.class_frequencies(train.classes)
        return Context(
            prior=read_only(prior),
            weights=trial.weights,
            base=plan.base,
            reward=plan.reward,
            rarer=self._problem.rarer,
        )

    def _row_values(self, called: Called, proba: FloatArray, places: IntArray) -> FloatArray:
        """The values of a measure over rows for some joint configurations."""
        assert self._trial.weights is not None
        target, weights = self._trial.target[places], self._trial.weights[places]
        every, names = self._context(Trial(places, target, weights)), keywords(called.measure)
        context = {key: value for key, value in every.items() if key in names and value is not None}
        given = self._expanded(called, proba, places), target
        returned = called.measure(*_copies(called, given), **context, **called.arguments)
        values = np.asarray(returned, dtype=np.float64)
        if values.shape != target.shape:
            raise ValueError(f"measure {called.measure.__name__!r} returned shape {values.shape}")
        return values


def _score(called: Called, proba: FloatArray, y: IntArray, context: Context) -> float:
    proba, y = _copies(called, (proba, y))
    return score(called.measure, proba, y, **context, **called.arguments)


def _copies(called: Called, given: tuple[FloatArray, IntArray]) -> tuple[FloatArray, IntArray]:
    """The arguments of a measure; copies for one that is not built in."""
    proba, y = given
    return (proba.copy(order="F"), y.copy()) if called.foreign else given


def _signs(values: FloatArray, pairs: npt.NDArray[np.intp]) -> Signs:
    """Which of each pair has the greater value; 0 where they tie but for rounding, or lack one."""
    first, second = (values[..., place] for place in pairs)
    with np.errstate(invalid="ignore"):  # infinity minus infinity
        signs = np.where(differ(first, second), np.sign(first - second), 0.0)
    return np.where(np.isnan(signs), 0.0, signs).astype(np.int8)


def pack_picks(picks: Signs, signs: Signs) -> str:
    """Return choices and the signs of the targets as text that a cell keeps."""
    content = np.concatenate([signs.ravel(), picks.ravel()]).tobytes()
    return base64.b64encode(zlib.compress(content)).decode()


def unpack_picks(text: str, targets: int, pairs: int, repeats: int) -> tuple[Signs, Signs]:
    """Return the choices and the signs of `pack_picks`."""
    number = (targets + repeats) * pairs
    reader = zlib.decompressobj()
    try:
        content = reader.decompress(base64.b64decode(text), number + 1)
    except zlib.error:
        content = b""
    every = np.frombuffer(content, np.int8)
    if len(every) != number or not -1 <= every.min() <= every.max() <= NO_CHOICE:
        raise ValueError("the choices of a cell are damaged")
    every = every.reshape(-1, pairs)
    return every[targets:], every[:targets]
