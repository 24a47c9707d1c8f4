"""The analyses of one measure of a study of data sets, each computed once."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from simstudy.analysis.datasets.across_datasets import OverSets, over_sets
from simstudy.analysis.datasets.per_dataset import Winners, best_of, means_table, winners
from simstudy.analysis.models.findings import Findings
from simstudy.measures.base import MeasureInfo

# Half the width of the region of practical equivalence by the unit of a measure.
ROPES = {"": 0.01, "%": 1.0, "bits": 0.01, "nats": math.log(2) / 100}


@dataclass(frozen=True)
class LearnerStanding:
    """The performance of a learner over the data sets.

    Attributes
    ----------
    learner : str
        Its label.
    best : int
        Data sets on which its mean is the best, ties included.
    wins, losses : int
        Tests on single data sets that it wins and loses.
    ahead : int
        Data sets on which it wins a test and loses none.
    behind : int
        Data sets on which it loses a test and wins none.
    rank : float
        Its average rank over data sets; NaN if there is none.
    """

    learner: str
    best: int
    wins: int
    losses: int
    ahead: int
    behind: int
    rank: float


@dataclass(frozen=True)
class DataFindings(Findings):
    """Means, winners and comparisons over data sets, by one measure at one training size.

    Attributes
    ----------
    learners, datasets : tuple of str
        The learners and the data sets, in the order of the study.
    scores : DataFrame
        One row per split and learner; the columns of `within.pairwise_datasets`.
    adjustment : str
        Of tests of pairs, on all data sets together and over data sets: ``"holm"``,
        ``"bonferroni"`` or ``"none"``.
    alpha : float
        The level of the tests.
    rope : float
        Half the width of the region of practical equivalence, in the unit of the measure; 0 for
        none.
    names : tuple of str
        The names under which the learners are registered.
    """

    learners: tuple[str, ...]
    datasets: tuple[str, ...]
    scores: pd.DataFrame = field(repr=False, compare=False)
    adjustment: str
    alpha: float
    rope: float
    names: tuple[str, ...] = ()

    @cached_property
    def table(self) -> pd.DataFrame:
        """Mean scores, data sets × learners, greater is better."""
        return means_table(self.scores, self.measure, self.info.greater_is_better)

    @cached_property
    def means(self) -> pd.DataFrame:
        """Mean scores as they are, data sets × learners; losses keep their sign."""
        return self.table if self.info.greater_is_better else -self.table

    @cached_property
    def spreads(self) -> pd.DataFrame:
        """Standard deviations between splits, data sets × learners; NaN without a mean."""
        finite = self.scores[self.measure].where(np.isfinite(self.scores[self.measure]))
        groups = finite.groupby([self.scores["dataset"], self.scores["learner"]], sort=False)
        spreads = groups.std(ddof=1)
        wide = pd.DataFrame({name: spreads.xs(name, level="learner") for name in self.learners})
        return wide.loc[[*self.datasets]].where(self.table.notna())

    @cached_property
    def winners(self) -> Winners:
        """Who is significantly better than whom on every data set."""
        options = (self.adjustment, self.alpha, self.info.greater_is_better)
        return winners(self.scores, self.measure, None, *options)

    @cached_property
    def best(self) -> dict[str, tuple[str, ...]]:
        """The learners of the best mean by data set, among those that have one."""
        ordered = self.table[[*self.learners]]
        return {str(dataset): best_of(row) for dataset, row in ordered.iterrows()}

    def beaten_by_best(self, dataset: str) -> list[str]:
        """Return the learners that all learners of the best mean on a data set beat."""
        losers = [self.winners.losers(dataset, name) for name in self.best[dataset]]
        return [name for name in self.learners if all(name in each for each in losers)]

    def placings(self, dataset: str) -> pd.Series[float]:
        """Return the ranks of the means on a data set, 1 for the worst; NaN without a mean."""
        return self.table.T[dataset].rank(method="average")

    def ends(self, learner: str) -> tuple[str, str]:
        """Return the data sets on which a learner has its lowest and its highest mean."""
        means = self.means[learner].dropna()
        return str(means.idxmin()), str(means.idxmax())

    @cached_property
    def overall(self) -> dict[str, float]:
        """The mean of each learner over all data sets; NaN if one is missing."""
        return {str(name): float(mean) for name, mean in self.means.mean(skipna=False).items()}

    @property
    def best_overall(self) -> str | None:
        """The learner of the best mean over all data sets; None if none has a mean."""
        best = best_of(self.table.mean(skipna=False))
        return best[0] if best else None

    @property
    def with_means(self) -> list[str]:
        """The learners that have a mean on some data set."""
        return [name for name in self.learners if self.table[name].notna().any()]

    @property
    def incomplete(self) -> list[str]:
        """The data sets on which not every learner has a mean."""
        return [str(name) for name in self.table.index[self.table.isna().any(axis=1)]]

    @property
    def tied(self) -> int:
        """The number of data sets on which several learners share the best mean."""
        return sum(len(names) > 1 for names in self.best.values())

    @cached_property
    def over_sets(self) -> OverSets | None:
        """The learners compared over data sets; None with one learner or data set."""
        return over_sets(self.table, self.adjustment, self.alpha, self.rope)

    @cached_property
    def standings(self) -> tuple[LearnerStanding, ...]:
        """The performance of each learner; those with the most best means first."""
        ranks = self.over_sets.ranks if self.over_sets else {}
        rows = []
        for name in self.learners:
            won, lost = self.winners.won_and_lost(name)
            ahead, behind = len({*won} - {*lost}), len({*lost} - {*won})
            best = sum(name in names for names in self.best.values())
            rank = float(ranks.get(name, math.nan))
            rows.append(LearnerStanding(name, best, len(won), len(lost), ahead, behind, rank))
        return tuple(sorted(rows, key=lambda row: (-row.best, -row.ahead, row.losses - row.wins)))

    @property
    def by_ahead(self) -> list[LearnerStanding]:
        """The same; those ahead on the most data sets first."""
        return sorted(self.standings, key=lambda row: -row.ahead)

    @property
    def untested(self) -> int:
        """The number of tests on single data sets that cannot be made."""
        return int(self.winners.pairs["p"].isna().sum())


def rope_of(info: MeasureInfo) -> float:
    """Return half the width of the region of practical equivalence of a measure; 0 for none."""
    return ROPES.get(info.unit, 0.0) if info.equivalent is None else info.equivalent
