"""Tests of learners over data sets.

Tables have data sets as rows and learners as columns; greater is better. Scores that are equal up
to rounding are ties. A table with a missing or infinite score, with fewer than two data sets, or
without any difference has no test, and the reason is told.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc, fdtrc

from simstudy.analysis.adjustment import check_confidence
from simstudy.analysis.outcomes import StatisticOutcome, flaw
from simstudy.analysis.paired import TIES, PairedDifferences, table_of
from simstudy.analysis.posteriors import signed_rank_bayes
from simstudy.analysis.ranking import (
    critical_difference,
    friedman_statistic,
    iman_davenport_statistic,
    permutation_p,
    ranks_in_rows,
    runs,
)
from simstudy.analysis.signed import sign_test, wilcoxon
from simstudy.arrays import FloatArray
from simstudy.measures.base import Undefined

__all__ = [
    "FTest",
    "Friedman",
    "Nemenyi",
    "friedman",
    "iman_davenport",
    "nemenyi",
    "quade",
    "sign_test",
    "signed_rank_bayes",
    "wilcoxon",
]

ALL_EQUAL = "all learners are equal on every data set"


@dataclass(frozen=True)
class Ranked(StatisticOutcome):
    """A test of all learners.

    Attributes
    ----------
    n, k : int
        The numbers of data sets and learners.
    learners : tuple
        Their names, or numbers from 0.
    mean_ranks : tuple of float
        Average ranks over the data sets, 1 for the best.
    """

    n: int
    k: int
    learners: tuple[Hashable, ...]
    mean_ranks: tuple[float, ...]


@dataclass(frozen=True)
class Friedman(Ranked):
    """Friedman's chi-squared with its degrees of freedom, corrected for ties or not.

    Its `method` says where p comes from: ``"exact"``, ``"permutation"`` or ``"approximate"``.
    """

    df: int
    tie_correction: bool
    method: str


@dataclass(frozen=True)
class FTest(Ranked):
    """A test whose statistic has about an F distribution with df1 and df2 degrees of freedom.

    Its `method` says where p comes from: ``"exact"``, ``"permutation"`` or ``"approximate"``.
    """

    df1: int
    df2: int
    method: str


@dataclass(frozen=True)
class Nemenyi(Ranked):
    """Nemenyi's test of all pairs; its statistic is the largest difference of average ranks.

    Attributes
    ----------
    q, critical_difference, confidence : float
        The quantile of the studentized range over √2, and the difference of average ranks that is
        significant at simultaneous confidence.
    pairs : array of shape (k, k)
        The p of every two learners, adjusted for all pairs; 1 on the diagonal.
    m : int
        The number of pairs.
    groups : tuple of tuple
        Maximal groups of two or more learners that do not differ significantly, best first.
    """

    q: float
    critical_difference: float
    confidence: float
    pairs: FloatArray
    m: int
    groups: tuple[tuple[Hashable, ...], ...]


def friedman(table: npt.ArrayLike, tie_correction: bool = True, method: str = "auto") -> Friedman:
    """Friedman's test of whether the average ranks of learners differ.

    Parameters
    ----------
    table : array of shape (n, k) or DataFrame
        Scores with data sets as rows and learners as columns.
    tie_correction : bool
        Whether chi-squared is corrected for ties, as in R; it is not in Demšar (2006).
    method : str
        Of p: ``"exact"`` or ``"permutation"``, over all or random orders of the ranks of every data
        set, ties included; ``"approximate"``, by the chi-squared distribution; or ``"auto"``: one
        of the former up to 15 data sets, else the latter.

    References
    ----------
    M. Friedman (1940). A comparison of alternative tests of significance for the problem of m
    rankings. Annals of Mathematical Statistics 11.
    """
    ranked = _Ranks.of(table)
    chi2 = ranked.chi2(tie_correction)
    p, method = ranked.p(float(chdtrc(ranked.k - 1, chi2)), method)
    name = "Friedman" if tie_correction else "Friedman, not corrected for ties"
    return Friedman(name, chi2, p, *ranked.facts, ranked.k - 1, tie_correction, method)


def iman_davenport(
    table: npt.ArrayLike, tie_correction: bool = True, method: str = "auto"
) -> FTest:
    """Iman & Davenport's F test of average ranks, ``(n − 1) χ²/(n (k − 1) − χ²)``.

    Parameters
    ----------
    table : array of shape (n, k) or DataFrame
        Scores with data sets as rows and learners as columns.
    tie_correction : bool
        Whether Friedman's chi-squared is corrected for ties; it is not in Demšar (2006).
    method : str
        Of p, as for `friedman`; F increases with chi-squared, so their exact p are the same.

    Returns
    -------
    FTest
        F is infinite, and its approximate p is 0, if all data sets rank the learners alike.

    References
    ----------
    R. L. Iman & J. M. Davenport (1980). Approximations of the critical region of the Friedman
    statistic. Communications in Statistics A 9.
    """
    ranked = _Ranks.of(table)
    chi2, (n, k) = ranked.chi2(tie_correction), (ranked.n, ranked.k)
    F, p = (chi2, chi2) if math.isnan(chi2) else iman_davenport_statistic(chi2, n, k)
    p, method = ranked.p(p, method)
    name = "Iman–Davenport" if tie_correction else "Iman–Davenport, not corrected for ties"
    return FTest(name, F, p, *ranked.facts, k - 1, (k - 1) * max(n - 1, 0), method)


def quade(table: npt.ArrayLike, method: str = "auto") -> FTest:
    """Quade's test: ranks of learners weighted by how much a data set tells them apart.

    Parameters
    ----------
    table : array of shape (n, k) or DataFrame
        Scores with data sets as rows and learners as columns, on one scale.
    method : str
        Of p, as for `friedman`.

    Returns
    -------
    FTest
        If all data sets rank the learners alike, F is infinite and its approximate p is
        (1/k!)ⁿ⁻¹, as in R.

    References
    ----------
    D. Quade (1979). Using weighted rankings in the analysis of complete blocks with additive block
    effects. Journal of the American Statistical Association 74.
    """
    ranked = _Ranks.of(table)
    F: float = ranked.none
    p, df1 = F, ranked.k - 1
    if not ranked.reason:
        F, p, scores = _quade(ranked)
        p, method = permutation_p(scores, method, p)
    return FTest("Quade", F, p, *ranked.facts, df1, df1 * max(ranked.n - 1, 0), method)


def nemenyi(table: npt.ArrayLike, confidence: float = 0.95) -> Nemenyi:
    """Nemenyi's test of every two learners by their average ranks.

    Two differ significantly if their average ranks differ by at least the critical difference
    ``q √(k (k + 1)/(6 n))``.

    Parameters
    ----------
    table : array of shape (n, k) or DataFrame
        Scores with data sets as rows and learners as columns.
    confidence : float > 0, < 1
        Simultaneous confidence of all comparisons.

    Returns
    -------
    Nemenyi
        Its p is that of the pair whose average ranks are farthest apart.

    References
    ----------
    J. Demšar (2006). Statistical comparisons of classifiers over multiple data sets. JMLR 7.
    """
    from scipy.stats import studentized_range  # slow to import

    check_confidence(confidence)
    ranked = _Ranks.of(table)
    n, k, m, none = ranked.n, ranked.k, ranked.k * (ranked.k - 1) // 2, ranked.none
    if ranked.reason:
        pairs = np.full((k, k), np.nan)
        return Nemenyi("Nemenyi", none, none, *ranked.facts, none, none, confidence, pairs, m, ())
    means = ranked.ranks.mean(axis=0)
    q, critical = critical_difference(n, k, confidence)
    apart = np.abs(means[:, None] - means)
    pairs, (row, column) = np.ones((k, k)), np.triu_indices(k, 1)
    scaled = apart[row, column] / math.sqrt(k * (k + 1) / (12 * n))
    pairs[row, column] = np.clip(studentized_range.sf(scaled, k, np.inf), 0.0, 1.0)
    pairs[column, row] = pairs[row, column]
    order = np.argsort(means, kind="stable")
    groups = tuple(
        tuple(ranked.learners[place] for place in order[low:high])
        for low, high in runs(means[order], critical)
    )
    statistic, p = float(apart.max()), float(pairs.min())
    return Nemenyi(
        "Nemenyi", statistic, p, *ranked.facts, q, critical, confidence, pairs, m, groups
    )


@dataclass(frozen=True)
class _Ranks:
    """Ranks of learners by data set, or the reason why there are none."""

    values: FloatArray
    ranks: FloatArray
    learners: tuple[Hashable, ...]
    reason: str

    @classmethod
    def of(cls, table: npt.ArrayLike) -> _Ranks:
        """Rank the learners of a table."""
        values, learners = table_of(table)
        reason = flaw(values, "data sets")
        if reason:
            return cls(values, values, learners, reason)
        ranks = ranks_in_rows(values, rounding=TIES)
        equal = ALL_EQUAL if (ranks == ranks[:, :1]).all() else ""
        return cls(values, ranks, learners, equal)

    @property
    def n(self) -> int:
        return len(self.values)

    @property
    def k(self) -> int:
        return len(self.learners)

    @property
    def none(self) -> Undefined:
        return Undefined(self.reason)

    @property
    def facts(self) -> tuple[int, int, tuple[Hashable, ...], tuple[float, ...]]:
        """The numbers of data sets and learners, the learners and their average ranks."""
        ranked = self.reason in ("", ALL_EQUAL)
        means = tuple(self.ranks.mean(axis=0).tolist()) if ranked else (self.none,) * self.k
        return self.n, self.k, self.learners, means

    def chi2(self, tie_correction: bool) -> float:
        """Return Friedman's statistic."""
        if self.reason:
            return self.none
        plain, correction = friedman_statistic(self.ranks)
        return plain / correction if tie_correction else plain

    def p(self, approximation: float, method: str) -> tuple[float, str]:
        """Return the p of average ranks, and the method; `permutation_p`."""
        return (
            (self.none, method) if self.reason else permutation_p(self.ranks, method, approximation)
        )


def _quade(ranked: _Ranks) -> tuple[float, float, FloatArray]:
    """Return Quade's F, its approximate p and the weighted ranks."""
    n, k = ranked.n, ranked.k
    spans = np.ptp(ranked.values, axis=1)
    noise = TIES * np.abs(ranked.values).max(axis=1)
    weights = PairedDifferences(np.where(spans <= noise, 0.0, spans), noise, "").ranks()
    scores = weights[:, None] * (ranked.ranks - (k + 1) / 2)
    total, between = float((scores**2).sum()), float((scores.sum(axis=0) ** 2).sum()) / n
    if total - between <= 1e-12 * total:
        return math.inf, math.exp((1 - n) * math.lgamma(k + 1)), scores
    F = (n - 1) * between / (total - between)
    return F, float(fdtrc(k - 1, (k - 1) * (n - 1), F)), scores
