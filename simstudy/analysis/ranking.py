"""Ranks of learners, and the statistics of Friedman, Iman & Davenport and Nemenyi."""

import math
from itertools import permutations

import numpy as np
from scipy.special import fdtrc

from simstudy.analysis.adjustment import ROUNDING, check_option
from simstudy.arrays import FloatArray, IntArray

METHODS = ("auto", "exact", "permutation", "approximate")
FEW = 15  # subjects up to which the distribution of average ranks is not approximated
DRAWS = 100_000  # permutations: a Monte-Carlo standard error of .0016 at most, .0007 at p = .05
_LIMIT = 400_000  # vectors of column sums that the exact distribution may go through at a time
_MAX_ORDERED = 8  # values in a row of which all orders are listed


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
    found: list[tuple[int, int]] = []
    for low in range(len(ordered)):
        high = int(np.searchsorted(ordered, ordered[low] + critical, side="left"))
        if high - low > 1 and (not found or high > found[-1][1]):
            found.append((low, high))
    return found
