"""Wilcoxon's and the sign test of two learners over data sets, and tests of all pairs."""

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import bdtr

from simstudy.analysis.tests.adjustment import bonferroni, check_option, holm, is_significant
from simstudy.analysis.tests.outcomes import ALL_ZERO, StatisticOutcome, pair_of, ranks_of, table_of
from simstudy.arrays import ArrayLike, FloatArray, IntArray
from simstudy.measures.base import Undefined

METHODS = ("exact", "normal", "demsar")
DRAWS = ("drop", "split")


@dataclass(frozen=True)
class WilcoxonOutcome(StatisticOutcome):
    """Wilcoxon's signed rank test.

    Attributes
    ----------
    method : str
        ``"exact"``, ``"normal"`` or ``"demsar"``.
    n, zeros : int
        The number of data sets, and of those without a difference.
    rank_sum_first, rank_sum_second : float
        Sums of the ranks of data sets on which each learner is better.
    tied : bool
        Whether differences other than 0 are of the same size.
    """

    method: str
    n: int
    zeros: int
    rank_sum_first: float
    rank_sum_second: float
    tied: bool

    @property
    def lead(self) -> float:
        """The difference of the rank sums, positive if the first learner is better."""
        return self.rank_sum_first - self.rank_sum_second


@dataclass(frozen=True)
class SignOutcome(StatisticOutcome):
    """The sign test; the statistic is the number of wins that count.

    Attributes
    ----------
    wins, draws, losses : int
        Data sets on which the first learner is better, equal or worse.
    n : int
        The number of data sets that count.
    """

    wins: int
    draws: int
    losses: int
    n: int

    @property
    def lead(self) -> float:
        """The difference of wins and losses, positive if the first learner is better."""
        return self.wins - self.losses


def wilcoxon(table: ArrayLike, method: str = "exact") -> WilcoxonOutcome:
    """Wilcoxon's signed rank test of two learners over data sets, two-sided.

    Parameters
    ----------
    table : array of shape (n, 2) or (n,)
        Scores with data sets as rows and two learners as columns; or differences.
    method : str
        ``"exact"``: zeros are left out; the statistic is the rank sum of the first learner, and p
        is from the distribution over all signs, given the ranks, tied ones too. ``"normal"``: the
        same with the normal approximation, variance corrected for ties, without continuity
        correction; the statistic is z. ``"demsar"``: the ranks of zeros are split evenly, the
        variance is not corrected, and z is from the smaller rank sum, so never positive.

    References
    ----------
    F. Wilcoxon (1945). Individual comparisons by ranking methods. Biometrics 1.

    J. Demšar (2006). Statistical comparisons of classifiers over multiple data sets. JMLR 7.
    """
    check_option("method", method, METHODS)
    pair = pair_of(table)
    name, n = f"Wilcoxon signed ranks ({method})", len(pair.differences)
    reason = pair.flaw or ("" if pair.differences.any() else ALL_ZERO)
    if reason:
        none, zeros = Undefined(reason), 0 if pair.flaw else n
        return WilcoxonOutcome(name, none, none, method, n, zeros, none, none, False)
    kept = (pair.differences != 0) | (method == "demsar")
    signs = np.sign(pair.differences[kept])
    ranks = ranks_of(pair.differences[kept], pair.noise[kept])
    split = float(ranks[signs == 0].sum()) / 2
    first, second = (float(ranks[signs == sign].sum()) + split for sign in (1, -1))
    if method == "exact":
        statistic, p = first, _exact_p(ranks, min(first, second))
    else:
        statistic = _normal(ranks, method, first, second)
        p = math.erfc(abs(statistic) / math.sqrt(2))
    sizes = ranks[signs != 0]
    tied = len(np.unique(sizes)) < len(sizes)
    zeros = n - len(sizes)
    return WilcoxonOutcome(name, statistic, p, method, n, zeros, first, second, tied)


def sign_test(table: ArrayLike, draws: str = "drop") -> SignOutcome:
    """Sign test of two learners over data sets, binomial and two-sided, with win/draw/loss.

    Parameters
    ----------
    table : array of shape (n, 2) or (n,)
        Scores with data sets as rows and two learners as columns; or differences.
    draws : str
        ``"drop"``: data sets without a difference do not count; ``"split"``: they are split evenly
        between the learners, without the last of an odd number (Demšar 2006).

    References
    ----------
    J. Demšar (2006). Statistical comparisons of classifiers over multiple data sets. JMLR 7.
    """
    check_option("draws", draws, DRAWS)
    pair = pair_of(table)
    if pair.flaw:
        none = Undefined(pair.flaw)
        return SignOutcome("sign test", none, none, 0, 0, 0, 0)
    wins, losses = int((pair.differences > 0).sum()), int((pair.differences < 0).sum())
    equal = len(pair.differences) - wins - losses
    each = equal // 2 if draws == "split" else 0
    n, counted = wins + losses + 2 * each, wins + each
    if wins + losses == 0:
        none = Undefined(ALL_ZERO)
        return SignOutcome("sign test", none, none, wins, equal, losses, n)
    p = min(1.0, 2 * float(bdtr(min(counted, n - counted), n, 0.5)))
    return SignOutcome("sign test", float(counted), p, wins, equal, losses, n)


def _exact_p(ranks: FloatArray, smaller: float) -> float:
    """Return twice the share of all choices of signs whose rank sum is at most the smaller."""
    doubled = np.rint(2 * ranks).astype(np.intp)  # the mean of tied ranks may be a half
    return min(1.0, 2 * float(signed_rank_shares(doubled)[: round(2 * smaller) + 1].sum()))


def signed_rank_shares(ranks: IntArray) -> FloatArray:
    """Return the share of all choices of signs with each sum of positive ranks, from 0."""
    shares = np.zeros(int(ranks.sum()) + 1)
    shares[0] = 1.0
    top = 0
    for rank in ranks.tolist():
        shares[rank : top + rank + 1] += shares[: top + 1].copy()
        shares *= 0.5
        top += rank
    return shares


def _normal(ranks: FloatArray, method: str, first: float, second: float) -> float:
    """Return z of the rank sum of the first learner, or of the smaller one."""
    n = len(ranks)
    if method == "demsar":
        return (min(first, second) - n * (n + 1) / 4) / math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    # Σ ranks²/4 is n(n+1)(2n+1)/24 minus (t³ − t)/48 for each run of t ties.
    return (first - n * (n + 1) / 4) / math.sqrt(float((ranks**2).sum()) / 4)


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
    table: ArrayLike,
    test: Callable[..., StatisticOutcome] = wilcoxon,
    adjustment: str = "holm",
    **options: object,
) -> AdjustedPairs:
    """Test each pair of learners of a table, and adjust p for the number of pairs.

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
