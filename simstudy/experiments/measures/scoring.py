"""Comparisons of measures: which of them prefers the truly better of two learners."""

from __future__ import annotations

import base64
import itertools
import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simstudy.arrays import AnyArray, FloatArray, IntArray, read_only
from simstudy.components.registry import MEASURES, Spec
from simstudy.data.sample import Sample
from simstudy.engine.evaluation import EXACT, Trial
from simstudy.engine.plan import Plan
from simstudy.engine.scoring import Called, class_prior
from simstudy.engine.task import plain_text, role
from simstudy.errors import describe
from simstudy.experiments.scoring import ExactTask
from simstudy.measures.base import Context, clip, keywords, score
from simstudy.measures.positive_class import arguments
from simstudy.measures.theory.two_level import differ, level_names
from simstudy.study.constants import NO_CHOICE

Signs = npt.NDArray[np.int8]  # 1 where the first of a pair is preferred, −1 the second, 0 neither


class TestSets:
    """Test sets of one size, drawn from one distribution.

    Attributes
    ----------
    places : array of shape (sets, rows)
        The configuration of each row, as an index into the distribution.
    observed : array
        The configurations that occur in any test set.
    counts : array of shape (sets, observed)
        How often each test set has each of these.
    values : dict
        The values of measures that were computed before; a measure may be a level of another.
    """

    __test__ = False  # not a class of tests

    def __init__(self, places: IntArray) -> None:
        self.places = places
        self.observed, inverse = np.unique(places, return_inverse=True)
        sets, width = len(places), len(self.observed)
        flat = inverse.reshape(places.shape) + width * np.arange(sets)[:, None]
        counts = np.bincount(flat.ravel(), minlength=sets * width)
        self.counts: FloatArray = counts.reshape(sets, width).astype(np.float64)
        self.values: dict[tuple[str, str], FloatArray] = {}

    def means(self, values: FloatArray) -> FloatArray:
        """Return the means of values of configurations over each test set.

        Parameters
        ----------
        values : array of shape (k, observed)
            Values of each of the configurations that are `observed`.

        Returns
        -------
        array of shape (sets, k)
            The means; NaN where a set has a row without a value, or infinities of both signs.
        """
        finite = np.isfinite(values)
        rows = self.places.shape[1]
        means: FloatArray = self.counts @ np.where(finite, values, 0.0).T / rows
        if finite.all():
            return means
        above, below, absent = (
            self.counts @ odd.T > 0
            for odd in (values == np.inf, values == -np.inf, np.isnan(values))
        )
        means = np.where(above, np.inf, np.where(below, -np.inf, means))
        return np.where(absent | (above & below), np.nan, means)


def draw_test_sets(
    weights: FloatArray, rows: int, streams: Iterable[np.random.Generator]
) -> TestSets:
    """Draw test sets, each from a stream of its own.

    A row takes one number of its stream, so that a smaller test set is the first rows of a larger
    one, and further test sets change none.

    Parameters
    ----------
    weights : array of shape (configurations,)
        The probabilities of the configurations, which sum to one.
    rows : int
        The number of rows of each test set.
    streams : iterable of Generator
        The random stream of each test set.
    """
    ends = np.cumsum(weights)
    uniform = np.stack([stream.random(rows) for stream in streams])
    # rounding may leave the last end below one
    places = np.searchsorted(ends, uniform * ends[-1], side="right")
    return TestSets(np.minimum(places, len(weights) - 1))


class Fits(NamedTuple):
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


class PickingTask(ExactTask[TestSets, Signs]):
    """One model, its fitted learners and the test sets on which measures choose between them."""

    _predicts = True

    @cached_property
    def _pairs(self) -> npt.NDArray[np.intp]:
        return np.array([*itertools.combinations(range(len(self._plan.learners)), 2)]).T

    @property
    def _exact_measures(self) -> tuple[Spec, ...]:
        return self._plan.targets

    @property
    def _trial(self) -> Trial:
        return self._judged.tests[EXACT]

    @cached_property
    def _fits(self) -> Fits:
        """The learners, fitted to the training set and evaluated exactly."""
        plan = self._plan
        (size,) = plan.train_sizes
        train = self.training_set(size)
        with self._isolated():
            streams = [(each, self._stream(role(each, size))) for each in plan.learners]
            probas = [self._answers(each, train, rng)[0] for each, rng in streams]
            scores = [self._score(proba, train) for proba in probas]
        truths, troubles = np.empty((len(plan.targets), len(plan.learners))), []
        for place, target in enumerate(plan.targets):
            values = [each[place] for each in scores]
            errors = [describe(value) for value in values if isinstance(value, BaseException)]
            sign = 1.0 if MEASURES.get(target.name).info.greater_is_better else -1.0
            truths[place] = math.nan if errors else sign * np.array(values, dtype=np.float64)
            troubles.append(errors[0] if errors else "")
        return Fits(train, probas, truths, troubles)

    def drawn(self, size: int) -> TestSets:
        """Draw the test sets of a size."""
        weights = self._trial.weights
        assert weights is not None
        assert self._fits  # so that fitting is not timed
        repeats = range(self._plan.repeats)
        return draw_test_sets(weights, size, [self._stream(f"test/{n}") for n in repeats])

    def scored(self, outcome: Signs, shared: TestSets) -> tuple[tuple[float, ...], list[str], str]:
        """Return the shares of right choices and the losses, warnings, and the choices."""
        fits, signs = self._fits, _signs(self._fits.truths, self._pairs)
        first, second = self._pairs
        right, loss, troubles = [], [], []
        for place, target in enumerate(self._plan.targets):
            decided = signs[place] != 0
            if trouble := fits.troubles[place] or ("" if decided.any() else "all pairs tie"):
                troubles.append(plain_text(f"no {target.label}: {trouble}"))
                right.append(math.nan)
                loss.append(math.nan)
                continue
            agree = (outcome[:, decided] * signs[place, decided] + 1) / 2
            gaps = np.abs(fits.truths[place, first] - fits.truths[place, second])[decided]
            right.append(float(agree.mean()))
            # 0 times infinity is no loss
            lost = np.where(agree < 1, (1 - agree) * np.where(agree < 1, gaps, 0.0), 0.0)
            loss.append(float(lost.mean()))
        return (*right, *loss), troubles, pack_picks(outcome, signs)

    @classmethod
    def unpacked(cls, plan: Plan, text: str) -> tuple[Signs, Signs]:
        """Return the choices that a cell keeps, and the truth; raises ValueError."""
        pairs = math.comb(len(plan.learners), 2)
        return unpack_picks(text, len(plan.targets), pairs, plan.repeats)

    @classmethod
    def kept_columns(
        cls, plan: Plan, keys: list[tuple[int, str]], kept: Mapping[int, str]
    ) -> dict[str, AnyArray]:
        """Return the choices of every measure, per model, size, pair of learners and test set."""
        pairs, repeats = math.comb(len(plan.learners), 2), plan.repeats
        shape = (plan.problems, len(plan.test_sizes), pairs, repeats)
        signs = {each.label: np.full(shape, NO_CHOICE, np.int8) for each in plan.measured}
        truths = {f"truth_{t.label}": np.full(shape, NO_CHOICE, np.int8) for t in plan.targets}
        for place, text in kept.items():
            model, (size, label) = place // len(keys), keys[place % len(keys)]
            at = model, plan.test_sizes.index(size)
            picks, truth = cls.unpacked(plan, text)
            signs[label][at] = picks.T
            for target, sign in zip(truths.values(), truth, strict=True):
                target[at] = sign[:, None]
        models, places, pair, repeat = np.indices(shape, dtype=np.int64)
        sizes = np.array(plan.test_sizes, np.int64)[places]
        columns = {"model": models, "size": sizes, "pair": pair, "repeat": repeat}
        return {name: each.ravel() for name, each in (columns | truths | signs).items()}

    def applied(self, component: Spec, shared: TestSets) -> Signs:
        """Let a measure choose between the learners of each pair on each test set.

        The choices have the shape (test sets, pairs). A measure prefers neither learner where it
        ties, or has no value for one of them.
        """
        chosen: Signs | None = None
        undecided: npt.NDArray[np.bool_] = np.ones((1, 1), dtype=bool)
        for name in level_names(component.name):
            measure = MEASURES.get(name)
            options = arguments(
                measure, component.parameters, self._problem.class_names, self._plan.positive
            )
            key = name, repr(options)
            if key not in shared.values:
                called = Called(measure, EXACT, name in self._foreign, options)
                shared.values[key] = self._values(called, shared)
            values = shared.values[key] * (1.0 if measure.info.greater_is_better else -1.0)
            signs = _signs(values, self._pairs)
            chosen = signs if chosen is None else np.where(undecided, signs, chosen)
            first, second = (values[:, place] for place in self._pairs)
            # the second level decides where the first ties, not where it has no value
            undecided = (chosen == 0) & ~np.isnan(first) & ~np.isnan(second)
        assert chosen is not None
        return chosen

    def _values(self, called: Called, tests: TestSets) -> FloatArray:
        """The values of a measure, of shape (test sets, learners)."""
        changes = "prior" in keywords(called.measure) and self._plan.prior == "test"
        if called.measure.info.over == "row" and not changes:
            each = [self._row_values(called, proba, tests.observed) for proba in self._fits.proba]
            return tests.means(np.stack(each))
        weighted = called.measure.info.over == "row" or "weights" in keywords(called.measure)
        values = np.empty((len(tests.counts), len(self._fits.proba)))
        expanded = [self._expanded(called, proba, tests.observed) for proba in self._fits.proba]
        target = self._trial.target[tests.observed]
        for index, counts in enumerate(tests.counts):
            rows = np.flatnonzero(counts)
            weights: FloatArray | None = counts[rows]
            if not weighted:
                rows, weights = np.repeat(rows, counts[rows].astype(np.intp)), None
            trial = Trial(rows, target[rows], weights)
            context = self._context(trial)
            for learner, proba in enumerate(expanded):
                answers = _copies(called, proba[rows], trial.target)
                value = score(called.measure, *answers, **context, **called.arguments)
                values[index, learner] = value
        return values

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
        answers = _copies(called, self._expanded(called, proba, places), target)
        returned = called.measure(*answers, **context, **called.arguments)
        values = np.asarray(returned, dtype=np.float64)
        if values.shape != target.shape:
            raise ValueError(f"measure {called.measure.__name__!r} returned shape {values.shape}")
        return values


def _copies(called: Called, proba: FloatArray, y: IntArray) -> tuple[FloatArray, IntArray]:
    """The arguments of a measure; copies for one that is not built in."""
    return (proba.copy(order="F"), y.copy()) if called.foreign else (proba, y)


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
