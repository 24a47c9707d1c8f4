"""Means so far, while a study runs."""

from __future__ import annotations

import math

import numpy as np


class RunningMeans:
    """Means of finite scores by treatment and dose, updated score by score (Welford 1962).

    Intervals are those of a report: t, Bonferroni-adjusted for ``m`` cells.
    """

    def __init__(self, confidence: float, m: int) -> None:
        self._confidence, self._m = confidence, m
        self._moments: dict[tuple[str, int], tuple[int, float, float]] = {}

    def add(self, treatment: str, dose: int, score: float) -> None:
        """Add a score; one that is not finite is ignored."""
        if math.isfinite(score):
            n, mean, squares = self._moments.get((treatment, dose), (0, 0.0, 0.0))
            step = score - mean
            mean += step / (n + 1)
            self._moments[treatment, dose] = n + 1, mean, squares + step * (score - mean)

    def interval(self, treatment: str, dose: int) -> tuple[float, float, float]:
        """Return the mean and the ends of its interval; NaN where there are too few."""
        n, mean, squares = self._moments.get((treatment, dose), (0, math.nan, 0.0))
        if n < 2:
            return mean, math.nan, math.nan
        from simstudy.analysis.tests.adjustment import critical_t  # scipy.special: slow to import

        critical = float(critical_t(self._confidence, self._m, np.array([n - 1]))[0])
        half = critical * math.sqrt(squares / (n - 1) / n)
        return mean, mean - half, mean + half
