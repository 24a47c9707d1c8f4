"""Ranks of learners, and the statistics of Friedman, Iman & Davenport and Nemenyi."""

import math

import numpy as np
from scipy.special import fdtrc

from simstudy.analysis.adjustment import ROUNDING
from simstudy.arrays import FloatArray


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


def runs(ordered: FloatArray, critical: float) -> list[tuple[int, int]]:
    """Return the maximal runs of ranks within the critical difference."""
    found: list[tuple[int, int]] = []
    for low in range(len(ordered)):
        high = int(np.searchsorted(ordered, ordered[low] + critical, side="left"))
        if high - low > 1 and (not found or high > found[-1][1]):
            found.append((low, high))
    return found
