"""All analyses of one measure of a study, each computed once.

The page, tables, figures, terminal output and notebooks present findings; they do not compute
statistics themselves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from simstudy.analysis.models import standings as verdicts
from simstudy.analysis.models.average_ranks import Ranks, rank
from simstudy.analysis.models.precision import models_needed, precision
from simstudy.analysis.models.thresholds import Course, as_table, courses
from simstudy.analysis.score_array import CellsError, LeftOut, cells
from simstudy.analysis.tests.adjustment import alpha_of
from simstudy.analysis.tests.anova import Anova, anova
from simstudy.analysis.tests.intervals import intervals
from simstudy.analysis.tests.mixed_model import MixedModel, fit_mixed_model
from simstudy.analysis.tests.pairwise import no_pairs, pairwise
from simstudy.experiments import DEFAULT, experiment
from simstudy.experiments.base import Words
from simstudy.measures.base import MeasureInfo


@dataclass(frozen=True)
class AnalysisDesign:
    """The factors of a study, and the adjustment of its tests.

    Attributes
    ----------
    learners : tuple of str
        The labels of the learners.
    sizes : tuple of int
        The training sizes.
    models : int
        The number of models.
    confidence : float
        Confidence of intervals and tests.
    adjustment : str
        Adjustment of the pairwise tests: "bonferroni", "bonferroni_all", "holm" or "none".
    words : Words
        What is compared, and the words for it.
    names : tuple of str
        The names under which the learners are registered; empty for what is no learner.
    """

    learners: tuple[str, ...]
    sizes: tuple[int, ...]
    models: int
    confidence: float
    adjustment: str
    words: Words = field(default_factory=lambda: experiment(DEFAULT))
    names: tuple[str, ...] = ()

    @property
    def holm(self) -> bool:
        """Whether pairs are tested by Holm's method, which has no matching intervals."""
        return self.adjustment == "holm"


@dataclass(frozen=True)
class Mean:
    """The mean of a cell with its interval.

    Attributes
    ----------
    learner, size
        The cell.
    n, infinite : int
        Number of models with a finite value, and with an infinite one.
    mean, lower, upper : float
        The mean, and the limits of its interval; NaN if there is none.
    m : int
        Number of intervals adjusted for.
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
    """The reason why an analysis is not available, as a clause.

    Attributes
    ----------
    reason : str
        In which factors have the names of their columns, for files.
    words : str
        The same in the words of the study; if empty, it does not differ.
    """

    reason: str
    words: str = ""

    @property
    def text(self) -> str:
        """The reason in the words of the study."""
        return self.words or self.reason


@dataclass(frozen=True)
class Findings:
    """The analyses of one measure of a study.

    Attributes
    ----------
    measure : str
        The column of the scores.
    info : MeasureInfo
        Metadata of the measure.
    """

    measure: str
    info: MeasureInfo


@dataclass(frozen=True)
class ModelFindings(Findings):
    """The analyses of one measure of a study of models, each computed once.

    Attributes
    ----------
    design : AnalysisDesign
        Design of the study.
    scores : DataFrame
        One row per model, size and learner.
    added : DataFrame
        The same at sizes added around crossings; used only for thresholds.
    regret, estimation : str
        The columns of the regret and the estimation regret of the measure, if the study has them.
    """

    design: AnalysisDesign
    scores: pd.DataFrame = field(repr=False, compare=False)
    added: pd.DataFrame = field(repr=False, compare=False)
    regret: str = ""
    estimation: str = ""

    @property
    def treatments(self) -> tuple[str, ...]:
        """The labels of what is compared."""
        return self.design.learners

    @property
    def alpha(self) -> float:
        """The significance level of the tests."""
        return alpha_of(self.design.confidence)

    @property
    def factors(self) -> list[str]:
        """The factors with at least two levels."""
        levels = {"learner": self.design.learners, "size": self.design.sizes}
        return [factor for factor, names in levels.items() if len(names) > 1]

    @property
    def names(self) -> dict[str, str]:
        """What factors are called in texts, if not as their columns."""
        return {"learner": self.design.words.treatment}

    # Means

    @cached_property
    def over_complete_models(self) -> bool:
        """Whether means are over complete models only: if there are at least two."""
        missing = self.scores["model"][self.scores[self.measure].isna()].nunique()
        return bool(self.design.models - missing >= 2)

    @cached_property
    def intervals(self) -> pd.DataFrame:
        """Means and intervals of all cells, from `analysis.intervals`."""
        adjustment = "none" if self.design.adjustment == "none" else "bonferroni"
        complete = self.over_complete_models
        return intervals(self.scores, **self._tested, adjustment=adjustment, complete=complete)

    @cached_property
    def means(self) -> tuple[Mean, ...]:
        """The same as typed records."""
        keys = ["learner", "size", "n", "infinite", "mean", "lower", "upper", "m"]
        return tuple(Mean(*row) for row in self.intervals[keys].itertuples(index=False))

    def means_of(self, learner: str) -> list[Mean]:
        """Return the means of a learner, by size."""
        return [mean for mean in self.means if mean.learner == learner]

    @property
    def models_used(self) -> tuple[int, int]:
        """The smallest and largest number of models in the mean of a cell."""
        used = [mean.n + mean.infinite for mean in self.means]
        return min(used), max(used)

    @cached_property
    def left_out(self) -> list[LeftOut]:
        """The models without a finite value in some cell, and why."""
        every = cells(self.scores, "model", ("learner", "size"), self.measure)
        return every.named(self.names).left_out("without a finite value")

    @cached_property
    def ceiling(self) -> tuple[float, ...]:
        """The mean reward of the true probabilities at each size: reward plus regret."""
        if not self.regret:
            return ()
        scores = self._counted
        regret = scores[self.regret]
        scores = scores.assign(truth=(scores[self.measure] + regret).where(np.isfinite(regret)))
        # The same for all learners, so any learner that has it will do.
        each = scores.groupby(["size", "model"])["truth"].first()
        means = each.groupby("size").apply(lambda values: values.mean(skipna=False))
        return tuple(float(means.loc[size]) for size in self.design.sizes)

    @cached_property
    def limits(self) -> dict[str, tuple[float, ...]]:
        """The limit of each learner at each size: reward plus estimation regret."""
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
        """The scores of the models used in the means."""
        lost = self.scores["model"][self.scores[self.measure].isna()]
        kept = self.scores[~self.scores["model"].isin(lost)]
        return kept if kept["model"].nunique() >= 2 else self.scores

    def values(self, learner: str, size: int) -> pd.Series[float]:
        """Return the scores of a learner at a size, by model."""
        return self._by_cell.xs((learner, size))

    @cached_property
    def _by_cell(self) -> pd.Series[float]:
        return self.scores.set_index(["learner", "size", "model"])[self.measure].sort_index()

    def quartiles(self, learner: str, size: int) -> tuple[float, float, float]:
        """Return the quartiles of a learner's scores at a size."""
        values = self.values(learner, size).dropna().to_numpy()
        if not len(values):
            return math.nan, math.nan, math.nan
        with np.errstate(invalid="ignore"):  # between infinities
            low, middle, high = np.quantile(values, [0.25, 0.5, 0.75]).tolist()
        return low, middle, high

    # Pairwise comparisons

    @cached_property
    def tests(self) -> pd.DataFrame:
        """The tests of each pair at each size, added sizes included, from `analysis.pairwise`.

        One family, on which all statements about pairs of learners rest.
        """
        if len(self.design.learners) < 2:
            return no_pairs("size")
        return pairwise(self._all_sizes, **self._tested, adjustment=self.design.adjustment)

    @cached_property
    def pairwise(self) -> pd.DataFrame:
        """The tests at the study's own sizes."""
        tests = self.tests
        return tests[tests["size"].isin(self.design.sizes)].reset_index(drop=True)

    @cached_property
    def pairs(self) -> tuple[verdicts.Pair, ...]:
        """Every pair of learners at every size with the verdict of the adjusted test."""
        return tuple(verdicts.judged(self.pairwise, self.info.greater_is_better))

    def pairs_at(self, size: int) -> list[verdicts.Pair]:
        """Return the pairs at a size."""
        return [pair for pair in self.pairs if pair.size == size]

    @property
    def pair_tests(self) -> int:
        """The number m of tests in the adjustment of pairwise tests."""
        return 0 if self.pairwise.empty else int(self.pairwise["m"].max())

    @property
    def pairs_used(self) -> tuple[int, int] | None:
        """The smallest and largest number of models in a pairwise test."""
        used = [pair.n for pair in self.pairs if pair.verdict != verdicts.UNTESTED]
        return (min(used), max(used)) if used else None

    def ranked(self, size: int) -> list[str]:
        """Return the learners by their means at a size, the best first."""
        return verdicts.ranked_at(size, self.intervals, self.info.greater_is_better)

    def best_at(self, size: int) -> str | None:
        """Return the learner of the best mean at a size; None if no mean is finite."""
        return next((at.leader for at in self.standings if at.size == size), None)

    @cached_property
    def standings(self) -> tuple[verdicts.Standing, ...]:
        """The ranking at each size with a finite mean, and the tests of the best learner."""
        better, sizes = self.info.greater_is_better, self.design.sizes
        every = (verdicts.standing_at(size, self.pairs, self.intervals, better) for size in sizes)
        return tuple(standing for standing in every if standing is not None)

    # Thresholds

    @cached_property
    def courses(self) -> tuple[Course, ...]:
        """For every pair, the sizes at which each is ahead, and the changes in between."""
        if len(self.factors) < 2:
            return ()
        return tuple(courses(self._all_sizes, **self._compared, tests=self.tests))

    @cached_property
    def thresholds(self) -> pd.DataFrame:
        """The same as a table; empty if there is only one learner or size."""
        return as_table(self.courses) if self.courses else pd.DataFrame()

    def curve(self, first: str, second: str) -> pd.DataFrame:
        """Return the mean difference of two learners at each size, positive if the second is ahead.

        One row per size: `size`, `difference`, `se`, and `lower` and `upper`, the limits of the
        adjusted interval; NaN where the pair could not be tested.
        """
        tests = self.tests
        rows = tests[tests["first"].isin((first, second)) & tests["second"].isin((first, second))]
        rows = rows[(rows["n"] > 0) | (rows["infinite"] > 0)].sort_values("size", ignore_index=True)
        sign = -1.0 if self.info.greater_is_better else 1.0
        sign *= 1.0 if (rows["first"] == first).all() else -1.0
        limits = np.sort(sign * rows[["lower", "upper"]].to_numpy(np.float64), axis=1)
        rows = rows.assign(difference=sign * rows["difference"], lower=limits[:, 0])
        return rows.assign(upper=limits[:, 1])[["size", "difference", "se", "lower", "upper"]]

    @cached_property
    def added_sizes(self) -> list[int]:
        """Return the sizes added around crossings."""
        return sorted({int(size) for size in self.added["size"]})

    @cached_property
    def _all_sizes(self) -> pd.DataFrame:
        return self.scores if self.added.empty else pd.concat([self.scores, self.added])

    @property
    def _compared(self) -> dict[str, Any]:
        better, confidence = self.info.greater_is_better, self.design.confidence
        return {"value": self.measure, "confidence": confidence, "greater_is_better": better}

    @property
    def _tested(self) -> dict[str, Any]:
        share, confidence = self.info.share, self.design.confidence
        return {"value": self.measure, "confidence": confidence, "share": share}

    # Tests and precision

    @cached_property
    def anova(self) -> Anova | Absent:
        """The analysis of variance, learner × size, with models as subjects."""
        if not self.factors:
            treatment = self.design.words.treatment
            return Absent(f"one {treatment} at one size leaves nothing to compare")
        try:
            return anova(self.scores, within=self.factors, value=self.measure)
        except ValueError as error:
            return self._absent(error)

    def _absent(self, error: ValueError) -> Absent:
        """Return why an analysis failed."""
        if not isinstance(error, CellsError):
            return Absent(str(error))
        return Absent(str(error), error.write(error.cells.named(self.names)))

    @property
    def incomplete(self) -> bool:
        """Whether a value is missing, so that a mixed model is useful."""
        return bool(self.scores[self.measure].isna().any())

    @cached_property
    def mixed(self) -> MixedModel | Absent:
        """A mixed model of all available cells, for incomplete designs."""
        try:
            return fit_mixed_model(
                self.scores, factors=self.factors, value=self.measure, names=self.names
            )
        except ValueError as error:
            return self._absent(error)

    @cached_property
    def precision(self) -> pd.DataFrame:
        """Monte Carlo standard errors, from `analysis.precision`."""
        return self.precision_for(None)

    def precision_for(self, mcse: float | None) -> pd.DataFrame:
        """Return the same with the number of models needed for a standard error."""
        complete = self.over_complete_models
        return precision(self.scores, value=self.measure, mcse=mcse, complete=complete)

    @cached_property
    def models_needed(self) -> list[tuple[float, int | None, int | None]]:
        """Number of models that all means, and all differences, need for some standard errors.

        These are round numbers below the largest observed standard error; None if unknown.
        """
        spread = self.precision[["kind", "sd"]].dropna().groupby("kind")["sd"].max()
        largest = self.precision["mcse"].max()
        if not 0 < largest < math.inf:
            return []
        power = 10.0 ** math.floor(math.log10(largest))
        steps = [times * power / 10 for times in (50, 20, 10, 5, 2, 1)]

        def needed(kind: str, target: float) -> int | None:
            return models_needed(spread.loc[kind], target) if kind in spread else None

        targets = [step for step in steps if step < largest][:3]
        return [(step, needed("mean", step), needed("difference", step)) for step in targets]

    def ranks(self, size: int | None = None) -> Ranks | Absent:
        """Return average ranks at a size, or of the scores averaged over all sizes."""
        if size not in self._ranks:
            try:
                self._ranks[size] = rank(self.scores, at=size, **self._compared)
            except ValueError as error:
                self._ranks[size] = self._absent(error)
        return self._ranks[size]

    @cached_property
    def _ranks(self) -> dict[int | None, Ranks | Absent]:
        return {}
