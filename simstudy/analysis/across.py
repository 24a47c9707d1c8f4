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

from simstudy.analysis import ranking
from simstudy.analysis.adjustment import check_confidence
from simstudy.analysis.outcomes import StatisticOutcome, flaw
from simstudy.analysis.paired import TIES, PairedDifferences, table_of
from simstudy.arrays import FloatArray
from simstudy.measures.base import Undefined

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
    _, ranks, facts, reason = _ranked(table)
    chi2: float = Undefined(reason)
    p = chi2
    df = ranks.shape[1] - 1
    if not reason:
        chi2 = _chi2(ranks, tie_correction)
        p, method = ranking.permutation_p(ranks, method, float(chdtrc(df, chi2)))
    name = "Friedman" if tie_correction else "Friedman, not corrected for ties"
    return Friedman(name, chi2, p, *facts, df, tie_correction, method)


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
    _, ranks, facts, reason = _ranked(table)
    F: float = Undefined(reason)
    p = F
    if not reason:
        F, p = ranking.iman_davenport_statistic(_chi2(ranks, tie_correction), *ranks.shape)
        p, method = ranking.permutation_p(ranks, method, p)
    name = "Iman–Davenport" if tie_correction else "Iman–Davenport, not corrected for ties"
    return FTest(name, F, p, *facts, *_df(ranks), method)


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
    values, ranks, facts, reason = _ranked(table)
    F: float = Undefined(reason)
    p = F
    if not reason:
        F, p, scores = _quade(values, ranks)
        p, method = ranking.permutation_p(scores, method, p)
    return FTest("Quade", F, p, *facts, *_df(ranks), method)


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
    _, ranks, facts, reason = _ranked(table)
    (n, k), none = ranks.shape, Undefined(reason)
    m = k * (k - 1) // 2
    if reason:
        pairs = np.full((k, k), np.nan)
        return Nemenyi("Nemenyi", none, none, *facts, none, none, confidence, pairs, m, ())
    means = ranks.mean(axis=0)
    q, critical = ranking.critical_difference(n, k, confidence)
    apart = np.abs(means[:, None] - means)
    pairs, (row, column) = np.ones((k, k)), np.triu_indices(k, 1)
    scaled = apart[row, column] / math.sqrt(k * (k + 1) / (12 * n))
    pairs[row, column] = np.clip(studentized_range.sf(scaled, k, np.inf), 0.0, 1.0)
    pairs[column, row] = pairs[row, column]
    order = np.argsort(means, kind="stable")
    learners = [facts[2][place] for place in order]
    groups = tuple(tuple(learners[low:high]) for low, high in ranking.runs(means[order], critical))
    statistic, p = float(apart.max()), float(pairs.min())
    return Nemenyi("Nemenyi", statistic, p, *facts, q, critical, confidence, pairs, m, groups)


def _ranked(
    table: npt.ArrayLike,
) -> tuple[FloatArray, FloatArray, tuple[int, int, tuple[Hashable, ...], tuple[float, ...]], str]:
    """Return scores and ranks by data set and learner, the facts of `Ranked` and any flaw."""
    values, learners = table_of(table)
    if reason := flaw(values, "data sets"):
        nowhere = (Undefined(reason),) * len(learners)
        return values, values, (len(values), len(learners), learners, nowhere), reason
    ranks = ranking.ranks_in_rows(values, rounding=TIES)
    means = tuple(ranks.mean(axis=0).tolist())
    equal = ALL_EQUAL if (ranks == ranks[:, :1]).all() else ""
    return values, ranks, (len(values), len(learners), learners, means), equal


def _chi2(ranks: FloatArray, tie_correction: bool) -> float:
    """Return Friedman's statistic."""
    plain, correction = ranking.friedman_statistic(ranks)
    return plain / correction if tie_correction else plain


def _df(ranks: FloatArray) -> tuple[int, int]:
    """Return the degrees of freedom of F."""
    n, k = ranks.shape
    return k - 1, (k - 1) * max(n - 1, 0)


def _quade(values: FloatArray, ranks: FloatArray) -> tuple[float, float, FloatArray]:
    """Return Quade's F, its approximate p and the weighted ranks."""
    n, k = ranks.shape
    spans = np.ptp(values, axis=1)
    noise = TIES * np.abs(values).max(axis=1)
    weights = PairedDifferences(np.where(spans <= noise, 0.0, spans), noise, "").ranks()
    scores = weights[:, None] * (ranks - (k + 1) / 2)
    total, between = float((scores**2).sum()), float((scores.sum(axis=0) ** 2).sum()) / n
    if total - between <= 1e-12 * total:
        return math.inf, math.exp((1 - n) * math.lgamma(k + 1)), scores
    F = (n - 1) * between / (total - between)
    return F, float(fdtrc(k - 1, (k - 1) * (n - 1), F)), scores
