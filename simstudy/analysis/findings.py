"""Everything that the analysis says about one measure of a study, computed once.

The page, the tables, the figures, the terminal and the notebooks present findings; they decide and
compute nothing themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from simstudy.analysis.anova import Anova, anova
from simstudy.analysis.complete import LeftOut, cells
from simstudy.analysis.differences import DifferenceCurve, difference_curve
from simstudy.analysis.intervals import intervals
from simstudy.analysis.mixed import MixedModel, fit_mixed_model
from simstudy.analysis.pairwise import no_pairs, pairwise
from simstudy.analysis.precision import precision
from simstudy.analysis.ranks import Ranks, rank
from simstudy.analysis.standings import UNTESTED, Pair, Standing, judged, ranked_at, standing_at
from simstudy.analysis.thresholds import Course, as_table, courses
from simstudy.measures.base import MeasureInfo

T = TypeVar("T")


@dataclass(frozen=True)
class Design:
    """What a study compares, and how its tests are adjusted.

    Attributes
    ----------
    learners : tuple of str
        The labels of the learners.
    sizes : tuple of int
        The training sizes.
    models : int
        The number of models.
    confidence : float
        Of intervals and tests.
    adjustment : str
        Of the tests of pairs: "bonferroni", "bonferroni_all", "holm" or "none".
    """

    learners: tuple[str, ...]
    sizes: tuple[int, ...]
    models: int
    confidence: float
    adjustment: str

    @property
    def holm(self) -> bool:
        """Whether pairs are tested by Holm's method, which has no intervals of its own."""
        return self.adjustment == "holm"


@dataclass(frozen=True)
class Mean:
    """The mean of a cell with its interval.

    Attributes
    ----------
    learner, size
        The cell.
    n, infinite : int
        The models with a finite value, and those with an infinite one.
    mean, lower, upper : float
        The mean, and the ends of its interval; NaN if there is none.
    m : int
        The intervals that it is adjusted for.
    """

    learner: str
    size: int
    n: int
    infinite: int
    mean: float
    lower: float
    upper: float
    m: int

    @property
    def half_width(self) -> float:
        """Half the width of the interval."""
        return (self.upper - self.lower) / 2

    @property
    def has_interval(self) -> bool:
        """Whether there is an interval."""
        return math.isfinite(self.lower) and math.isfinite(self.upper)


@dataclass(frozen=True)
class Absent:
    """Why an analysis cannot be made, in a clause."""

    reason: str


@dataclass(frozen=True)
class Findings:
    """What the analysis says about one measure of a result; each part is computed once.

    Attributes
    ----------
    measure : str
        The column of the scores.
    info : MeasureInfo
        Of the measure.
    design : Design
        Of the study.
    scores : DataFrame
        One row per model, size and learner.
    added : DataFrame
        The same at sizes that were added around crossings; they serve the thresholds alone.
    regret, estimation : str
        The columns of the regret and of its part due to estimation that belong to the measure, if
        the study has them.
    """

    measure: str
    info: MeasureInfo
    design: Design
    scores: pd.DataFrame = field(repr=False, compare=False)
    added: pd.DataFrame = field(repr=False, compare=False)
    regret: str = ""
    estimation: str = ""
    _parts: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def _once(self, key: Any, compute: Callable[[], T]) -> T:
        """What was computed before under a key, or is now."""
        if key not in self._parts:
            self._parts[key] = compute()
        found: T = self._parts[key]
        return found

    @property
    def alpha(self) -> float:
        """The level of the tests."""
        return 1 - self.design.confidence

    @property
    def factors(self) -> list[str]:
        """The factors with at least two levels."""
        levels = {"learner": self.design.learners, "size": self.design.sizes}
        return [factor for factor, names in levels.items() if len(names) > 1]

    # Means

    @cached_property
    def over_complete_models(self) -> bool:
        """Whether means are over the models without a failed cell: if at least two are left."""
        missing = self.scores["model"][self.scores[self.measure].isna()].nunique()
        return bool(self.design.models - missing >= 2)

    @cached_property
    def intervals(self) -> pd.DataFrame:
        """Means and intervals of all cells, as `analysis.intervals` gives them."""
        adjusted = self.design.adjustment != "none"
        return intervals(
            self.scores,
            value=self.measure,
            confidence=self.design.confidence,
            adjustment="bonferroni" if adjusted else "none",
            complete=self.over_complete_models,
        )

    @cached_property
    def means(self) -> tuple[Mean, ...]:
        """The same, typed."""
        keys = ("learner", "size", "n", "infinite", "mean", "lower", "upper", "m")
        return tuple(
            Mean(**{key: row[key] for key in keys}) for row in self.intervals.to_dict("records")
        )

    def means_of(self, learner: str) -> list[Mean]:
        """The means of a learner, by size."""
        return [mean for mean in self.means if mean.learner == learner]

    @property
    def models_used(self) -> tuple[int, int]:
        """Over how many models the means are: the fewest and the most of any cell."""
        used = [mean.n + mean.infinite for mean in self.means]
        return min(used), max(used)

    @cached_property
    def left_out(self) -> list[LeftOut]:
        """The models without a finite value in some cell, and why."""
        every = cells(self.scores, "model", ("learner", "size"), self.measure)
        return every.left_out("without a finite value")

    @cached_property
    def ceiling(self) -> tuple[float, ...]:
        """What the true class probabilities earn at each size: the reward plus the regret."""
        if not self.regret:
            return ()
        scores = self._counted
        regret = scores[self.regret]
        scores = scores.assign(truth=(scores[self.measure] + regret).where(np.isfinite(regret)))
        # The same for all learners, so one that has it is enough.
        each = scores.groupby(["size", "model"])["truth"].first()
        means = each.groupby("size").apply(lambda values: values.mean(skipna=False))
        return tuple(float(means.loc[size]) for size in self.design.sizes)

    @cached_property
    def limits(self) -> dict[str, tuple[float, ...]]:
        """What each learner earns of the population: its reward plus what estimation costs it."""
        if not self.estimation:
            return {}
        scores = self._counted
        scores = scores.assign(limit=scores[self.measure] + scores[self.estimation])
        cell = scores.groupby(["learner", "size"])["limit"]
        means = cell.apply(lambda values: values.mean(skipna=False))
        return {
            label: tuple(float(means.loc[label, size]) for size in self.design.sizes)
            for label in self.design.learners
        }

    @cached_property
    def _counted(self) -> pd.DataFrame:
        """The scores of the models that the means are over."""
        lost = self.scores["model"][self.scores[self.measure].isna()]
        kept = self.scores[~self.scores["model"].isin(lost)]
        return kept if kept["model"].nunique() >= 2 else self.scores

    def values(self, learner: str, size: int) -> pd.Series[float]:
        """The scores of a learner at a size, by model."""
        return self._by_cell.xs((learner, size))

    @cached_property
    def _by_cell(self) -> pd.Series[float]:
        return self.scores.set_index(["learner", "size", "model"])[self.measure].sort_index()

    def quartiles(self, learner: str, size: int) -> tuple[float, float, float]:
        """The quartiles of a learner's scores at a size over the models that have one."""
        known = self.values(learner, size).dropna().to_numpy()
        if not len(known):
            return math.nan, math.nan, math.nan
        with np.errstate(invalid="ignore"):  # between infinities
            low, middle, high = np.quantile(known, [0.25, 0.5, 0.75]).tolist()
        return low, middle, high

    # Who is better than whom

    @cached_property
    def pairwise(self) -> pd.DataFrame:
        """Paired differences at each size, as `analysis.pairwise` gives them."""
        if len(self.design.learners) < 2:
            return no_pairs("size")
        options = {"confidence": self.design.confidence, "adjustment": self.design.adjustment}
        return pairwise(self.scores, value=self.measure, **options)  # type: ignore[arg-type]

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """Every two learners at every size with the verdict of the adjusted test."""
        return tuple(judged(self.pairwise, self.info.greater_is_better, self.alpha))

    def pairs_at(self, size: int) -> list[Pair]:
        """The pairs at a size."""
        return [pair for pair in self.pairs if pair.size == size]

    @property
    def pair_tests(self) -> int:
        """The number m of tests that each test of a pair is adjusted for."""
        return 0 if self.pairwise.empty else int(self.pairwise["m"].iloc[0])

    @property
    def pairs_used(self) -> tuple[int, int] | None:
        """Over how many models the pairs that could be tested are: the fewest and the most."""
        used = [pair.n for pair in self.pairs if pair.verdict != UNTESTED]
        return (min(used), max(used)) if used else None

    def ranked(self, size: int) -> list[str]:
        """The learners by their means at a size, the best first."""
        return ranked_at(size, self.intervals, self.info.greater_is_better)

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """Who is best at each size, and what the tests say of the best; of sizes with a mean."""
        found = (
            standing_at(size, self.pairs, self.intervals, self.info.greater_is_better)
            for size in self.design.sizes
        )
        return tuple(standing for standing in found if standing is not None)

    # Who overtakes whom

    @cached_property
    def courses(self) -> tuple[Course, ...]:
        """Who is ahead at which sizes, and who overtakes whom, for every two learners."""
        if len(self.factors) < 2:
            return ()
        return tuple(courses(self._all_sizes, **self._compared))

    @cached_property
    def thresholds(self) -> pd.DataFrame:
        """The same as a table, empty if there is one learner or one size."""
        return as_table(self.courses) if self.courses else pd.DataFrame()

    @property
    def course_tests(self) -> int:
        """The number m of tests that decide who is ahead; 0 if no pair could be tested."""
        return max((course.m for course in self.courses), default=0)

    def curve(self, first: str, second: str, steps: int = 40) -> DifferenceCurve:
        """The mean paired difference of two learners against size, with bands."""
        return self._once(
            ("curve", first, second, steps),
            lambda: difference_curve(self._all_sizes, first, second, steps=steps, **self._compared),
        )

    @cached_property
    def added_sizes(self) -> list[int]:
        """The sizes that were added around crossings."""
        return sorted({int(size) for size in self.added["size"]})

    @cached_property
    def _all_sizes(self) -> pd.DataFrame:
        return self.scores if self.added.empty else pd.concat([self.scores, self.added])

    @property
    def _compared(self) -> dict[str, Any]:
        return {
            "value": self.measure,
            "greater_is_better": self.info.greater_is_better,
            "confidence": self.design.confidence,
        }

    # Tests and precision

    @cached_property
    def anova(self) -> Anova | Absent:
        """The analysis of variance, learner × size, models as subjects."""
        if not self.factors:
            return Absent("one learner at one size leaves nothing to compare")
        try:
            return anova(self.scores, within=self.factors, value=self.measure)
        except ValueError as error:
            return Absent(str(error))

    @property
    def incomplete(self) -> bool:
        """Whether a cell has no value, so that a mixed model has something to add."""
        return bool(self.scores[self.measure].isna().any())

    @cached_property
    def mixed(self) -> MixedModel | Absent:
        """A mixed model of all cells there are, for when some are missing."""
        try:
            return fit_mixed_model(self.scores, factors=self.factors, value=self.measure)
        except ValueError as error:
            return Absent(str(error))

    @cached_property
    def precision(self) -> pd.DataFrame:
        """Monte-Carlo standard errors, as `analysis.precision` gives them."""
        return self.precision_for(None)

    def precision_for(self, mcse: float | None) -> pd.DataFrame:
        """The same with how many models would reach a standard error."""
        complete = self.over_complete_models
        return precision(self.scores, value=self.measure, mcse=mcse, complete=complete)

    @cached_property
    def models_needed(self) -> list[tuple[float, int | None, int | None]]:
        """How many models every mean, and every paired difference, needs for a few standard errors.

        These are round numbers below the largest standard error found; None where a number of
        models is not known.
        """
        largest = self.precision["mcse"].max()
        if not 0 < largest < math.inf:
            return []
        power = 10.0 ** math.floor(math.log10(largest))
        steps = [times * power / 10 for times in (50, 20, 10, 5, 2, 1)]
        found = []
        for target in [step for step in steps if step < largest][:3]:
            needed = self.precision_for(target).groupby("kind")["models_needed"].max()
            mean, difference = (
                int(needed.loc[kind]) if kind in needed and needed.loc[kind] > 0 else None
                for kind in ("mean", "difference")
            )
            found.append((target, mean, difference))
        return found

    def ranks(self, size: int | None = None) -> Ranks | Absent:
        """Average ranks at a size, or of the scores averaged over all sizes."""

        def compute() -> Ranks | Absent:
            try:
                return rank(self.scores, at=size, **self._compared)
            except ValueError as error:
                return Absent(str(error))

        return self._once(("ranks", size), compute)
