"""Tests of all pairs of learners, adjusted for their number."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from simstudy.analysis.adjustment import bonferroni, check_option, holm, is_significant
from simstudy.analysis.outcomes import StatisticOutcome
from simstudy.analysis.paired import table_of
from simstudy.analysis.signed import wilcoxon
from simstudy.arrays import FloatArray

ADJUSTMENTS = ("holm", "bonferroni", "none")


@dataclass(frozen=True)
class AdjustedPair:
    """The test of two learners, and p adjusted for all m pairs."""

    first: Hashable
    second: Hashable
    outcome: StatisticOutcome
    p_adjusted: float

    def winner(self, alpha: float) -> Hashable | None:
        """Return the learner that is significantly better at the level α; None if neither is."""
        lead = self.outcome.lead if is_significant(self.p_adjusted, alpha) else 0.0
        return self.first if lead > 0 else self.second if lead < 0 else None


@dataclass(frozen=True)
class AdjustedPairs:
    """Tests of pairs of learners.

    Attributes
    ----------
    pairs : tuple of AdjustedPair
        The pairs in their order.
    adjustment : str
        ``"holm"``, ``"bonferroni"`` or ``"none"``.
    m : int
        The number of tests that p is adjusted for.
    """

    pairs: tuple[AdjustedPair, ...]
    adjustment: str
    m: int


def over_pairs(
    table: npt.ArrayLike,
    test: Callable[..., StatisticOutcome] = wilcoxon,
    adjustment: str = "holm",
    **options: object,
) -> AdjustedPairs:
    """Test every two learners of a table, and adjust p for the number of pairs.

    Parameters
    ----------
    table : array of shape (n, k) or DataFrame
        Scores with data sets as rows and learners as columns.
    test : callable
        `wilcoxon`, `sign_test`, or another test of a table of two learners.
    adjustment : str
        ``"holm"``, ``"bonferroni"`` or ``"none"``.
    **options
        Options of the test.
    """
    values, learners = table_of(table)
    outcomes = {
        (learners[first], learners[second]): test(values[:, [first, second]], **options)
        for first, second in combinations(range(len(learners)), 2)
    }
    return adjust(outcomes, adjustment)


def adjust(
    outcomes: Mapping[tuple[Hashable, Hashable], StatisticOutcome], adjustment: str = "holm"
) -> AdjustedPairs:
    """Adjust the p of tests of pairs of learners for the number of tests.

    Parameters
    ----------
    outcomes
        The outcome of each pair. One without p counts as a test and stays without.
    adjustment
        ``"holm"``, ``"bonferroni"`` or ``"none"``.
    """
    p = np.array([outcome.p for outcome in outcomes.values()], dtype=np.float64)
    adjusted, m = adjusted_p(p, adjustment)
    pairs = tuple(
        AdjustedPair(*names, outcome, outcome.p if math.isnan(outcome.p) else value)
        for (names, outcome), value in zip(outcomes.items(), adjusted.tolist(), strict=True)
    )
    return AdjustedPairs(pairs, adjustment, m)


def adjusted_p(p: FloatArray, adjustment: str) -> tuple[FloatArray, int]:
    """Return p adjusted for the number of tests, and that number; 1 without adjustment."""
    check_option("adjustment", adjustment, ADJUSTMENTS)
    m = 1 if adjustment == "none" else len(p)
    return holm(p) if adjustment == "holm" else bonferroni(p, m), m
