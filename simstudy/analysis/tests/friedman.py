"""Tests of all learners over data sets by their ranks.

Tables have data sets as rows and learners as columns; greater is better. Scores that are equal up
to rounding are ties. A table with a missing or infinite score, with fewer than two data sets, or
without any difference has no test, and the outcome has the reason.
"""

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from itertools import permutations
from typing import TypeAlias

import numpy as np
from scipy.special import chdtrc, fdtrc

from simstudy.analysis.tests import outcomes
from simstudy.analysis.tests.adjustment import ROUNDING, check_option, check_share
from simstudy.arrays import ArrayLike, FloatArray, IntArray
from simstudy.measures.base import Undefined

Facts: TypeAlias = tuple[int, int, tuple[Hashable, ...], tuple[float, ...]]  # of `Ranked`
UNCORRECTED = ", not corrected for ties"
ALL_EQUAL = "all learners are equal on every data set"
METHODS = ("auto", "exact", "permutation", "approximate")
FEW = 15  # subjects up to which the distribution of average ranks is not approximated
DRAWS = 100_000  # permutations: a Monte-Carlo standard error of .0016 at most, .0007 at p = .05
_LIMIT = 400_000  # vectors of column sums that the exact distribution may go through at a time
_MAX_ORDERED = 8  # values in a row of which all orders are listed


@dataclass(frozen=True)
class Ranked(outcomes.StatisticOutcome):
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
        The p of each pair of learners, adjusted for all pairs; 1 on the diagonal.
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


def friedman(table: ArrayLike, tie_correction: bool = True, method: str = "auto") -> Friedman:
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

    def statistic(values: FloatArray, ranks: FloatArray) -> tuple[float, float, FloatArray]:
        chi2 = _chi2(ranks, tie_correction)
        return chi2, float(chdtrc(ranks.shape[1] - 1, chi2)), ranks

    outcome, (df, _), method = _tested(table, method, statistic)
    return Friedman("Friedman" + UNCORRECTED * (not tie_correction), *outcome, df, method)


def iman_davenport(table: ArrayLike, tie_correction: bool = True, method: str = "auto") -> FTest:
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

    def statistic(values: FloatArray, ranks: FloatArray) -> tuple[float, float, FloatArray]:
        F, p = iman_davenport_statistic(_chi2(ranks, tie_correction), *ranks.shape)
        return F, p, ranks

    outcome, df, method = _tested(table, method, statistic)
    return FTest("Iman–Davenport" + UNCORRECTED * (not tie_correction), *outcome, *df, method)


def quade(table: ArrayLike, method: str = "auto") -> FTest:
    """Quade's test: ranks of learners weighted by the range of scores on each data set.

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
    outcome, df, method = _tested(table, method, _quade)
    return FTest("Quade", *outcome, *df, method)


def nemenyi(table: ArrayLike, confidence: float = 0.95) -> Nemenyi:
    """Nemenyi's test of each pair of learners by their average ranks.

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

    check_share("confidence", confidence)
    _, ranks, facts, reason = _ranked(table)
    (n, k), none = ranks.shape, Undefined(reason)
    m = k * (k - 1) // 2
    if reason:
        pairs = np.full((k, k), np.nan)
        return Nemenyi("Nemenyi", none, none, *facts, none, none, confidence, pairs, m, ())
    means = ranks.mean(axis=0)
    q, critical = critical_difference(n, k, confidence)
    apart = np.abs(means[:, None] - means)
    pairs, (row, column) = np.ones((k, k)), np.triu_indices(k, 1)
    scaled = apart[row, column] / math.sqrt(k * (k + 1) / (12 * n))
    pairs[row, column] = np.clip(studentized_range.sf(scaled, k, np.inf), 0.0, 1.0)
    pairs[column, row] = pairs[row, column]
    order = np.argsort(means, kind="stable")
    learners = [facts[2][place] for place in order]
    groups = tuple(tuple(learners[low:high]) for low, high in runs(means[order], critical))
    statistic, p = float(apart.max()), float(pairs.min())
    return Nemenyi("Nemenyi", statistic, p, *facts, q, critical, confidence, pairs, m, groups)


def _tested(
    table: ArrayLike, method: str, statistic: Callable[..., tuple[float, float, FloatArray]]
) -> tuple[tuple[float, float, *Facts], tuple[int, int], str]:
    """Return a statistic of scores and ranks with its p and facts, the df of F and the method."""
    values, ranks, facts, reason = _ranked(table)
    (n, k), none = ranks.shape, Undefined(reason)
    df = k - 1, (k - 1) * max(n - 1, 0)
    if reason:
        return (none, none, *facts), df, method
    value, p, scores = statistic(values, ranks)
    p, method = permutation_p(scores, method, p)
    return (value, p, *facts), df, method


def _ranked(table: ArrayLike) -> tuple[FloatArray, FloatArray, Facts, str]:
    """Return scores and ranks by data set and learner, the facts of `Ranked` and any flaw."""
    values, learners = outcomes.table_of(table)
    if reason := outcomes.flaw(values, "data sets"):
        nowhere = (Undefined(reason),) * len(learners)
        return values, values, (len(values), len(learners), learners, nowhere), reason
    ranks = ranks_in_rows(values, rounding=outcomes.TIES)
    means = tuple(ranks.mean(axis=0).tolist())
    equal = ALL_EQUAL if (ranks == ranks[:, :1]).all() else ""
    return values, ranks, (len(values), len(learners), learners, means), equal


def _chi2(ranks: FloatArray, tie_correction: bool) -> float:
    """Return Friedman's statistic."""
    plain, correction = friedman_statistic(ranks)
    return plain / correction if tie_correction else plain


def _quade(values: FloatArray, ranks: FloatArray) -> tuple[float, float, FloatArray]:
    """Return Quade's F, its approximate p and the weighted ranks."""
    n, k = ranks.shape
    spans = np.ptp(values, axis=1)
    noise = outcomes.TIES * np.abs(values).max(axis=1)
    weights = outcomes.ranks_of(np.where(spans <= noise, 0.0, spans), noise)
    scores = weights[:, None] * (ranks - (k + 1) / 2)
    total, between = float((scores**2).sum()), float((scores.sum(axis=0) ** 2).sum()) / n
    if total - between <= 1e-12 * total:
        return math.inf, math.exp((1 - n) * math.lgamma(k + 1)), scores
    F = (n - 1) * between / (total - between)
    return F, float(fdtrc(k - 1, (k - 1) * (n - 1), F)), scores


def critical_difference(n: int, k: int, confidence: float) -> tuple[float, float]:
    """Return Nemenyi's q and critical difference of k average ranks over n subjects."""
    from scipy.stats import studentized_range  # slow to import

    q = float(studentized_range.ppf(confidence, k, np.inf)) / math.sqrt(2)
    return q, q * math.sqrt(k * (k + 1) / (6 * n))


def ranks_in_rows(
    values: FloatArray, greater_is_better: bool = True, rounding: float = ROUNDING
) -> FloatArray:
    """Return the ranks in every row, 1 for the best; values equal up to rounding are ties."""
    from scipy.stats import rankdata

    order = np.argsort(-values if greater_is_better else values, axis=1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=1)
    scale = np.abs(values).max(axis=1, keepdims=True)
    steps = np.abs(np.diff(ordered, axis=1)) > rounding * scale
    places = np.concatenate([np.zeros((len(values), 1)), np.cumsum(steps, axis=1)], axis=1)
    ranks = np.empty_like(values)
    np.put_along_axis(ranks, order, rankdata(places, axis=1), axis=1)
    return ranks


def friedman_statistic(ranks: FloatArray) -> tuple[float, float]:
    """Return Friedman's chi-squared without correction for ties, and the divisor for ties."""
    n, k = ranks.shape
    apart = float(((ranks.mean(axis=0) - (k + 1) / 2) ** 2).sum())
    # Correction for ties: each run of t equal values in a subject contributes t³ − t.
    spread = float(((ranks - (k + 1) / 2) ** 2).sum())
    return 12 * n / (k * (k + 1)) * apart, 12 * spread / (n * k * (k**2 - 1))


def iman_davenport_statistic(chi2: float, n: int, k: int) -> tuple[float, float]:
    """Return Iman & Davenport's F of Friedman's chi-squared, and its p."""
    room = n * (k - 1) - chi2
    if room <= 1e-12 * n * k:
        return math.inf, 0.0
    F = (n - 1) * chi2 / room
    return F, float(fdtrc(k - 1, (k - 1) * (n - 1), F))


def permutation_p(scores: FloatArray, method: str, approximation: float) -> tuple[float, str]:
    """Return p of the inequality of column sums when every row is in random order, and the method.

    Friedman's and Quade's statistics increase with the sum of squares of the column sums.

    Parameters
    ----------
    scores
        Subjects × learners: ranks, or weighted ranks; whole multiples of ¼.
    method
        ``"exact"``, over all orders of all rows, ties included; ``"permutation"``, by random orders
        with a fixed seed; ``"approximate"``; or ``"auto"``: the approximation for more than 15
        subjects, else exact, or by random orders where all orders are too many.
    approximation
        The approximate p.

    Returns
    -------
    p, method
        With ``"exact"``, ``"permutation"`` or ``"approximate"``.
    """
    check_option("method", method, METHODS)
    if method == "approximate" or (method == "auto" and len(scores) > FEW):
        return approximation, "approximate"
    rows = np.rint(4 * (scores - scores.min(axis=1, keepdims=True))).astype(np.int64)
    rows //= max(int(np.gcd.reduce(rows, axis=None)), 1)
    squares = int((rows.sum(axis=0) ** 2).sum())
    rows = np.sort(rows, axis=1)  # whatever the order of subjects and learners, the same p
    rows = rows[np.lexsort(rows.T)]
    if method != "permutation" and (p := _share_of_orders(rows, squares)) is not None:
        return p, "exact"
    if method == "exact":
        raise ValueError(f"the orders of {rows.shape[1]} ranks in {len(rows)} rows are too many")
    return _share_of_draws(rows, squares), "permutation"


def _share_of_orders(rows: IntArray, squares: int) -> float | None:
    """Return the share of all orders with such a sum of squares or more; None if too many."""
    k, base = rows.shape[1], int(rows.max(axis=1).sum()) + 1
    if k > _MAX_ORDERED or base**k > 2**62:
        return None
    # Column sums in ascending order, each vector with its probability: which column has which sum
    # makes no difference, since every row is in random order.
    digits = base ** np.arange(k, dtype=np.int64)
    sums: IntArray = rows[:1]
    shares: FloatArray = np.ones(1)
    for row in rows[1:]:
        orders = np.array(sorted({*permutations(row.tolist())}))
        if len(sums) * len(orders) > _LIMIT:
            return None
        added = np.sort((sums[:, None] + orders).reshape(-1, k), axis=1)
        vectors, place = np.unique(added @ digits, return_inverse=True)
        each = np.repeat(shares / len(orders), len(orders))
        shares = np.bincount(place, each).astype(np.float64)
        sums = vectors[:, None] // digits % base
    extreme = (sums**2).sum(axis=1) >= squares
    return min(1.0, float(shares[extreme].sum()))


def _share_of_draws(rows: IntArray, squares: int) -> float:
    """Return the share of random orders, and the observed one, with such a sum of squares."""
    rng, sums = np.random.default_rng(0), np.tile(rows[0], (DRAWS, 1))
    for row in rows[1:]:
        sums += rng.permuted(np.tile(row, (DRAWS, 1)), axis=1)
    extreme = (sums**2).sum(axis=1) >= squares
    return (int(extreme.sum()) + 1) / (DRAWS + 1)


def runs(ordered: FloatArray, critical: float) -> list[tuple[int, int]]:
    """Return the maximal runs of ranks within the critical difference."""
    places: list[tuple[int, int]] = []
    for low in range(len(ordered)):
        high = int(np.searchsorted(ordered, ordered[low] + critical, side="left"))
        if high - low > 1 and (not places or high > places[-1][1]):
            places.append((low, high))
    return places
