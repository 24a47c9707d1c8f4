"""Selection of a learner, or of its parameters, by a measure on rows it was not fitted to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from simstudy.arrays import ArrayLike, FloatArray
from simstudy.data.sample import Sample
from simstudy.data.splits.schemes import CrossValidation, Holdout, Split
from simstudy.learners.base import Described, Fitted, Learner, Limits, require, require_choices
from simstudy.learners.wrappers import wrapper
from simstudy.measures.base import MeasureFunction, clip, info_of, keywords, plain_measure, score
from simstudy.measures.theory.comparison import measure_of
from simstudy.measures.theory.two_level import TwoLevelMeasure, greater_is_better, ties

Candidate: TypeAlias = str | dict[str, Any]
_CANDIDATES: tuple[str, ...] = ("naive_bayes", "tan", "c45")
SPLITS_SEED = 2007  # one for all, so that selections by two measures see the same parts
_FOREIGN = frozenset({"truth", "oracle", "limit", "message"})


@dataclass(frozen=True)
class Select(wrapper.Compound):
    """Selection among learners, or settings of one, by a measure on rows they were not fitted to.

    Each candidate is fitted to a part of the training rows and answers for the others: for all rows
    by cross-validation (the answers of all folds are put together), or for a third of them. The
    candidate that the measure prefers on these answers is then fitted to all training rows.

    Parameters
    ----------
    candidates : list of str or table
        The learners: built-in ones or classifiers by their paths, by name, or as tables
        ``{ learner = "c45", parameters = { prune = false } }``. A learner may appear several times.
    measure : str
        A built-in measure, or two as ``"auc:accuracy"``: the second decides where the first ties
        (Huang & Ling 2007).
    measure_parameters : table, optional
        The parameters of a single measure, such as the ``matrix`` of ``cost``.
    validation : {"cv", "holdout"}
        Stratified cross-validation, or one stratified holdout.
    folds : int >= 2
        The number of folds; as many as there are training rows if there are fewer of them.
    share : float > 0, < 1
        The share of the training rows that candidates are fitted to in a holdout.

    Notes
    -----
    Ties go to the first candidate; a candidate without a value is selected only if none has a
    value. Rewards are relative to the class frequencies of the training rows, and logarithmic
    measures clip answers as studies do by default. With fewer than two rows, the first candidate is
    selected. Rows of one group stay together, and weights count if the measure takes them. The same
    rows are split in the same way whatever the measure, so that selections differ only by it.

    References
    ----------
    J. Huang & C. X. Ling (2007). Constructing new and better evaluation measures for machine
    learning. IJCAI 2007.
    """

    no_limit: ClassVar[str] = "selection uses parts of the rows, which a population does not have"

    candidates: list[Candidate] | tuple[Candidate, ...] = _CANDIDATES
    measure: str = "information_reward"
    measure_parameters: dict[str, object] | None = None
    validation: Literal["cv", "holdout"] = "cv"
    folds: int = 5
    share: float = 2 / 3

    def __post_init__(self) -> None:
        require(len(self.candidates) > 0, "candidates", self.candidates, "at least one is needed")
        self.learners()  # checks the candidates
        for level in self._levels():
            if needs := keywords(plain_measure(level)[0]) & _FOREIGN:
                lacking = f"{min(needs)!r}, which training rows lack"
                raise ValueError(f"measure = '{self.measure}' needs {lacking}")
        require_choices(self)
        wrapper.require_folds(self.folds)
        require(0 < self.share < 1, "share", self.share, "it must be above 0 and below 1")

    def learners(self) -> list[Learner]:
        """Return the candidates."""
        learners = []
        for candidate in self.candidates:
            table = dict[str, Any](learner=candidate) if isinstance(candidate, str) else candidate
            complete = {"learner"} <= {*table} <= {"learner", "parameters"}
            allowed = "a table has the keys learner and parameters"
            require(complete, "candidates", candidate, allowed)
            parameters = table.get("parameters") or {}
            learners.append(wrapper.make_learner(table["learner"], parameters, "selected"))
        return learners

    def _levels(self) -> list[MeasureFunction]:
        """The measure with its parameters, or the two of a two-level measure."""
        measure, parameters = measure_of(self.measure), self.measure_parameters
        if not isinstance(measure, TwoLevelMeasure):
            return [partial(measure, **parameters) if parameters else measure]
        if parameters:
            raise ValueError(f"measure_parameters = {parameters!r}: a two-level measure has none")
        return [measure.first, measure.second]

    def check_design(self, variables: Limits, values: Limits, sizes: Sequence[int]) -> None:
        """Refuse what a candidate refuses, with the rows of a part too."""
        part = 1 - 1 / self.folds if self.validation == "cv" else self.share
        super().check_design(variables, values, [max(int(size * part), 1) for size in sizes])

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> Selected:
        rng = np.random.default_rng(0) if rng is None else rng
        learners = self.learners()
        streams = rng.spawn(len(learners))
        values, chosen = self._values(learners, sample, streams), 0
        for place in range(1, len(values)):
            if self._prefers(values[place], values[chosen]):
                chosen = place
        fitted = learners[chosen].fit(sample, streams[chosen])
        return Selected(fitted, chosen, values, sample.cards)

    def _values(
        self, learners: list[Learner], sample: Sample, streams: list[np.random.Generator]
    ) -> list[tuple[float, ...]]:
        """The values of the measure for each candidate, one or two; none with too few rows."""
        units = wrapper.number_of_units(sample)
        if len(learners) < 2 or units < 2:
            return [() for _ in learners]
        scheme: CrossValidation | Holdout = Holdout(self.share, 1)
        if self.validation == "cv":
            scheme = CrossValidation(min(self.folds, units))
        splitting = np.random.default_rng(SPLITS_SEED)
        splits = scheme.splits(sample.target, splitting, sample.groups)
        pairs = zip(learners, streams, strict=True)
        return [self._value(learner, sample, splits, rng) for learner, rng in pairs]

    def _value(
        self, learner: Learner, sample: Sample, splits: Sequence[Split], rng: np.random.Generator
    ) -> tuple[float, ...]:
        """The value of the measure for one candidate, on all rows that it was not fitted to."""
        answers = np.concatenate([*wrapper.held_out(learner, sample, splits, rng)])
        tested = np.concatenate([split.test for split in splits])
        rows = round(float(np.mean([len(split.train) for split in splits])))
        y, prior = sample.target[tested], sample.class_frequencies()
        weights = None if sample.weights is None else sample.weights[tested]
        values = []
        for level in self._levels():
            info = info_of(level)
            q = clip(answers, "mml", rows) if info is not None and info.logarithmic else answers
            function, parameters = plain_measure(level)
            values.append(float(score(function, q, y, prior=prior, weights=weights, **parameters)))
        return tuple(values)

    def _prefers(self, values: tuple[float, ...], earlier: tuple[float, ...]) -> bool:
        """Whether values are better than those of an earlier candidate."""
        for level, new, old in zip(self._levels(), values, earlier, strict=False):
            if math.isnan(new):
                return False
            if math.isnan(old):
                return True
            if not ties(new, old):
                return (new > old) == greater_is_better(level)
        return False


@dataclass(eq=False, repr=False)
class Selected(Described):
    """The selected learner, fitted to all training rows.

    Attributes
    ----------
    base : fitted learner
        The learner.
    chosen : int
        Its place among the candidates, from 0.
    values : list of tuple of float
        The values of the measure for each candidate: one, or two of a two-level measure; none if
        there were too few rows.
    """

    base: Fitted
    chosen: int
    values: list[tuple[float, ...]]
    cards: tuple[int, ...]

    def _facts(self) -> list[str]:
        return [*super()._facts(), f"candidate {self.chosen}", type(self.base).__name__]

    def predict_proba(self, rows: Sample | ArrayLike) -> FloatArray:
        """Return class probabilities, one row for each row of a sample or of attribute values."""
        return np.asarray(self.base.predict_proba(rows))
