"""A learner and the rows available: fits to parts of them, predictions for others, values.

The intervals of an estimate, by their names:

``rows``
    Over the test rows, treated as independent: Wilson's for a proportion, else Student's t.
``folds``
    Student's t over the values of the splits, treated as independent: too narrow.
``corrected``
    Student's t with the variance of Nadeau & Bengio (2003), for splits that share rows.
``nested``
    Of nested cross-validation (Bates, Hastie & Tibshirani 2023).
``percentile``
    Percentiles of bootstrap samples.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, groupby, tee
from typing import NamedTuple, TypeAlias

import numpy as np

from simstudy.arrays import FloatArray, IntArray, read_only
from simstudy.data.splits.schemes import CrossValidation, LeaveOneOut, Scheme, Split
from simstudy.measures import base
from simstudy.measures.intervals import wilson

Answers: TypeAlias = Callable[[Iterable["TrainTest"]], Iterable[FloatArray]]
Splits: TypeAlias = Callable[[Scheme], Sequence[Split]]
PriorOf: TypeAlias = Callable[[IntArray, IntArray], FloatArray]


class TrainTest(NamedTuple):
    """The rows of one fit, by their places with repetitions."""

    train: IntArray
    test: IntArray
    purpose: str  # the name of the learner's stream


class Outcome(NamedTuple):
    """The answers of a learner after one fit."""

    trained: IntArray  # rows of each class that it was fitted to
    test: IntArray  # the rows that it predicts
    answers: FloatArray  # class probabilities, one row for each of these


class Bench:
    """Fits of one learner to parts of the rows available; estimators share those in common.

    Parameters
    ----------
    target : array of shape (rows,)
        The class of every row.
    classes : int
        The number of classes.
    answers : callable
        ``answers(parts)`` fits the learner to the training rows of each `TrainTest` and yields
        its class probabilities for the test rows.
    splits : callable
        The splits of a scheme; further repeats must leave the earlier ones as they are.
    """

    def __init__(self, target: IntArray, classes: int, answers: Answers, splits: Splits) -> None:
        self.target, self.classes = read_only(target), classes
        self._answers, self.splits = answers, splits
        self._cached: dict[tuple[str, bool], list[Outcome]] = {}

    def __len__(self) -> int:
        return len(self.target)

    def whole(self) -> Outcome:
        """Fit all rows and predict all."""
        every = np.arange(len(self))
        return self._outcomes({"all": [(every, every)]})[0][0]

    def repeats(self, scheme: Scheme, everywhere: bool = False) -> list[list[Outcome]]:
        """Fit the training rows of every split and predict its test rows, by repeats.

        With ``everywhere``, predict all rows, training rows included.
        """
        name, every, parts = scheme_name(scheme), np.arange(len(self)), {}
        for repeat, splits in groupby(self.splits(scheme), lambda split: split.repeat):
            tests = ((split.train, every if everywhere else split.test) for split in [*splits])
            parts[f"{name}/{repeat}"] = tests
        return self._outcomes(parts, everywhere)

    def pairs_left_out(self, scheme: CrossValidation) -> list[list[Outcome]]:
        """Fit all but two folds, for each pair, and predict the first and then the second."""
        name, parts = f"pairs/{scheme_name(scheme)}", {}
        for repeat, folds in groupby(self.splits(scheme), lambda split: split.repeat):
            parts[f"{name}/{repeat}"] = (
                (np.intersect1d(first.train, second.train), np.append(first.test, second.test))
                for first, second in combinations(folds, 2)
            )
        return self._outcomes(parts)

    def _outcomes(
        self, rows: Mapping[str, Iterable[tuple[IntArray, IntArray]]], everywhere: bool = False
    ) -> list[list[Outcome]]:
        """Fit some rows and predict others, once for each purpose."""
        parts, trained = tee(  # leave-one-out has n sets of n − 1 rows: never all at once
            TrainTest(*pair, purpose)
            for purpose, pairs in rows.items()
            if (purpose, everywhere) not in self._cached
            for pair in pairs
        )
        answered = zip(parts, self._answers(trained), strict=True)
        for purpose, group in groupby(answered, lambda pair: pair[0].purpose):
            self._cached[purpose, everywhere] = [
                Outcome(  # shared by all that use the bench, whoever wrote them
                    np.bincount(self.target[part.train], minlength=self.classes),
                    read_only(part.test),
                    read_only(answers),
                )
                for part, answers in group
            ]
        return [self._cached[purpose, everywhere] for purpose in rows]


def scheme_name(scheme: Scheme) -> str:
    """Return a name of a scheme, the same for any number of repeats."""
    return "loo" if isinstance(scheme, LeaveOneOut) else repr(replace(scheme, repeats=1))  # type: ignore[type-var]


@dataclass(eq=False)
class Judge:
    """A measure and its further arguments, besides answers and classes.

    Parameters
    ----------
    measure : callable
        The measure.
    target : array of shape (rows,)
        The class of every row of the bench.
    classes : int
        The number of classes.
    prior : callable
        The prior, from the rows of each class in training and the classes that are tested.
    cutoff : str
        How probabilities are clipped before a logarithmic measure; see `measures.base.clip`.
    context : mapping
        Further keywords that the measure may declare.
    arguments : mapping
        The parameters of the measure.
    """

    measure: base.MeasureFunction
    target: IntArray
    classes: int
    prior: PriorOf
    cutoff: str = "none"
    context: base.Keywords = field(default_factory=dict)
    arguments: base.Keywords = field(default_factory=dict)

    def __post_init__(self) -> None:
        info = self.measure.info  # type: ignore[attr-defined]
        self.by_row = info.over == "row"
        self.greater_is_better: bool = info.greater_is_better
        self._logarithmic: bool = info.logarithmic and self.cutoff != "none"
        self._declared = base.keywords(self.measure)
        self.needs_prior = "prior" in self._declared

    @cached_property
    def proportion(self) -> bool:
        """Whether a row is either right or wrong, 1 or 0, so that the mean is a proportion."""
        if not self.by_row:
            return False
        labels = np.arange(self.classes)
        answers = np.tile((labels + 1) / (labels + 1).sum(), (len(labels), 1))
        values = self._values(answers, labels, np.ones(len(labels), dtype=np.intp))
        return bool(((values == 0) | (values == 1)).all())

    def rows(self, outcomes: Sequence[Outcome]) -> list[FloatArray]:
        """Return the values of the rows that each fit predicts."""
        values = [np.empty(0)] * len(outcomes)
        for places in self._alike(outcomes):
            tests = [outcomes[place].test for place in places]
            answers = np.concatenate([outcomes[place].answers for place in places])
            y = self.target[np.concatenate(tests)]
            together = self._values(answers, y, outcomes[places[0]].trained)
            ends = np.cumsum([len(test) for test in tests])[:-1]
            for place, part in zip(places, np.split(together, ends), strict=True):
                values[place] = part
        return values

    def value(self, outcome: Outcome, chosen: IntArray | None = None) -> float:
        """Return the value of the measure on the rows predicted, or on some of them."""
        answers, test = outcome.answers, outcome.test
        if chosen is not None:
            answers, test = answers[chosen], test[chosen]
        return self._score(answers, self.target[test], outcome.trained)

    def pooled(self, outcomes: Sequence[Outcome]) -> float:
        """Return the value of the measure on all rows predicted, taken together."""
        answers = np.concatenate([outcome.answers for outcome in outcomes])
        y = self.target[np.concatenate([outcome.test for outcome in outcomes])]
        return self._score(answers, y, outcomes[0].trained)

    def by_class(self, outcome: Outcome) -> FloatArray:
        """Return the values that rows would have with each class, shape (rows, classes)."""
        answers, trained = outcome.answers, outcome.trained
        labels = (np.full(len(answers), label) for label in range(answers.shape[1]))
        return np.stack([self._values(answers, y, trained) for y in labels], axis=1)

    def _alike(self, outcomes: Sequence[Outcome]) -> list[list[int]]:
        """Group the fits whose answers can be judged at once."""
        if self.needs_prior:
            return [[place] for place in range(len(outcomes))]
        groups: dict[int, list[int]] = {}
        for place, outcome in enumerate(outcomes):
            size = int(outcome.trained.sum()) if self._logarithmic else 0
            groups.setdefault(size, []).append(place)
        return list(groups.values())

    def _arguments_of(
        self, answers: FloatArray, y: IntArray, trained: IntArray
    ) -> tuple[FloatArray, base.Keywords]:
        if self._logarithmic:
            answers = base.clip(answers, self.cutoff, int(trained.sum()))
        context = dict(self.context)
        if self.needs_prior:
            context["prior"] = self.prior(trained, y)
        return answers, {key: context[key] for key in self._declared if key in context}

    def _values(self, answers: FloatArray, y: IntArray, trained: IntArray) -> FloatArray:
        answers, context = self._arguments_of(answers, y, trained)
        return np.asarray(self.measure(answers, y, **context, **self.arguments), dtype=np.float64)

    def _score(self, answers: FloatArray, y: IntArray, trained: IntArray) -> float:
        answers, context = self._arguments_of(answers, y, trained)
        return base.score(self.measure, answers, y, **context, **self.arguments)


def values_of(outcomes: Sequence[Outcome], judge: Judge) -> FloatArray:
    """Return the value of the measure in every split."""
    if judge.by_row:
        return np.array([float(values.mean()) for values in judge.rows(outcomes)])
    return np.array([judge.value(outcome) for outcome in outcomes])


def test_share(outcomes: Sequence[Outcome]) -> float:
    """Return test rows by all rows of the splits."""
    tested = sum(len(outcome.test) for outcome in outcomes)
    return tested / (tested + sum(int(outcome.trained.sum()) for outcome in outcomes))


INTERVALS = ("rows", "folds", "corrected", "nested", "percentile")
Bounds: TypeAlias = tuple[float, float]


@dataclass(frozen=True)
class Estimate:
    """A value, which may be `Undefined`, and its intervals by name, of which one is ``chosen``."""

    value: float
    intervals: Mapping[str, Bounds] = field(default_factory=dict)
    chosen: str = ""

    @property
    def interval(self) -> Bounds:
        """The chosen interval; NaN if there is none."""
        return self.intervals.get(self.chosen, (math.nan, math.nan))


def row_interval(values: FloatArray, proportion: bool, confidence: float) -> Bounds | None:
    """Return the interval of the mean of independent rows, None if there is none.

    Wilson's for a proportion, whose values are 0 or 1 or means of such; else Student's t.
    """
    n, mean = len(values), float(values.mean())
    if not math.isfinite(mean):
        return None
    if proportion:
        bounds = wilson(min(max(mean, 0.0), 1.0) * n, n, confidence)
        return bounds.lower, bounds.upper
    if n < 2:
        return None
    from simstudy.analysis.tests.adjustment import critical_t

    half = float(critical_t(confidence, 1, np.array([n - 1]))[0])
    half *= math.sqrt(1 / n) * float(values.std(ddof=1))
    return mean - half, mean + half


def split_intervals(values: FloatArray, test_share: float, confidence: float) -> dict[str, Bounds]:
    """Return the intervals of the mean of values of splits, as independent and as corrected."""
    from simstudy.analysis.tests.resampled import corrected_t, naive_t

    if len(values) < 2 or not np.isfinite(values).all():
        return {}
    naive = naive_t(values, confidence)
    corrected = corrected_t(values, test_share, confidence)
    return {"folds": (naive.lower, naive.upper), "corrected": (corrected.lower, corrected.upper)}


def mean_of(values: FloatArray, noun: str) -> float:
    """Return the mean of the values that exist; undefined if none does."""
    finite = values[~np.isnan(values)]
    return float(finite.mean()) if len(finite) else base.Undefined(f"no {noun} has a value")


class Splitting(ABC):
    """Base class of what splits rows by a scheme, which refuses impossible parameters."""

    def __post_init__(self) -> None:
        _ = self.scheme

    @property
    @abstractmethod
    def scheme(self) -> Scheme:
        """The splits."""


class Estimator(ABC):
    """Base class: a frozen dataclass of parameters with one method, `estimate`."""

    @abstractmethod
    def estimate(self, bench: Bench, judge: Judge, confidence: float = 0.95) -> Estimate:
        """Estimate the value of a measure for a learner fitted to all rows of the bench.

        Parameters
        ----------
        bench : Bench
            The learner and the rows available.
        judge : Judge
            The measure.
        confidence : float > 0, < 1
            The confidence of the intervals.
        """
