"""An estimate of a learner's performance and its intervals.

The intervals of a scheme, by their names:

``rows``
    Of the rows tested, taken for independent: Wilson's for a proportion, else Student's t.
``folds``
    Student's t over the values of the splits, taken for independent: too narrow.
``corrected``
    Student's t with the variance of Nadeau & Bengio (2003), for splits that share rows.
``nested``
    Of nested cross-validation (Bates, Hastie & Tibshirani 2023).
``percentile``
    Percentiles of bootstrap samples.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.measures.base import Undefined
from simstudy.measures.intervals import wilson

INTERVALS = ("rows", "folds", "corrected", "nested", "percentile")
Bounds: TypeAlias = tuple[float, float]


@dataclass(frozen=True)
class Estimate:
    """A value, which may be `Undefined`, and its intervals by name; ``own`` is the chosen one."""

    value: float
    intervals: Mapping[str, Bounds] = field(default_factory=dict)
    own: str = ""

    @property
    def interval(self) -> Bounds:
        """The chosen interval; NaN if there is none."""
        return self.intervals.get(self.own, (math.nan, math.nan))


def row_interval(values: FloatArray, proportion: bool, confidence: float) -> Bounds | None:
    """Return the interval of the mean of independent rows, None if there is none.

    Wilson's for a proportion, whose values are 0 or 1 or means of such; else Student's t.
    """
    n, mean = len(values), float(values.mean())
    if not math.isfinite(mean):
        return None
    if proportion:
        bounds = wilson(min(max(mean, 0.0), 1.0) * n, n, confidence)
        return bounds.lower, bounds.upper
    return _t_interval(values, confidence)


def split_intervals(values: FloatArray, test_share: float, confidence: float) -> dict[str, Bounds]:
    """Return the intervals of the mean of values of splits, as independent and as corrected."""
    from simstudy.analysis.resampled import corrected_t, naive_t

    if len(values) < 2 or not np.isfinite(values).all():
        return {}
    naive = naive_t(values, confidence)
    corrected = corrected_t(values, test_share, confidence)
    return {"folds": (naive.lower, naive.upper), "corrected": (corrected.lower, corrected.upper)}


def percentile_interval(values: FloatArray, confidence: float) -> Bounds | None:
    """Return percentiles of values of bootstrap samples, None if there are too few."""
    finite = values[np.isfinite(values)]
    if len(finite) < 2:
        return None
    tail = (1 - confidence) / 2
    lower, upper = np.quantile(finite, (tail, 1 - tail))
    return float(lower), float(upper)


def row_means(places: Sequence[IntArray], values: Sequence[FloatArray], rows: int) -> FloatArray:
    """Return the mean value of every row that is tested at least once."""
    flat = np.concatenate(places)
    counts = np.bincount(flat, minlength=rows)
    sums = np.bincount(flat, np.concatenate(values), minlength=rows)
    means: FloatArray = sums[counts > 0] / counts[counts > 0]
    return means


def mean_of(values: FloatArray, noun: str) -> float:
    """Return the mean of the values that exist; undefined if none does."""
    finite = values[~np.isnan(values)]
    return float(finite.mean()) if len(finite) else Undefined(f"no {noun} has a value")


def _t_interval(values: FloatArray, confidence: float) -> Bounds | None:
    from simstudy.analysis.adjustment import critical_t

    if len(values) < 2:
        return None
    half = float(critical_t(confidence, 1, np.array([len(values) - 1]))[0])
    half *= math.sqrt(1 / len(values)) * float(values.std(ddof=1))
    mean = float(values.mean())
    return mean - half, mean + half
