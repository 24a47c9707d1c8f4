"""Probabilities of numeric attributes given the class.

John & Langley (1995), as Weka's NaiveBayes computes them. Numbers are known to a precision δ, the
mean gap between neighbouring distinct training values, and their probability is that of an
interval of width δ, at least 10^-75. All distributions are normal, and no standard deviation is
below δ/6.

A variance is the mean of the squares minus the square of the mean, as in Weka. This loses digits
where numbers are large for their spread, about 10^-16 times the squared ratio of mean and standard
deviation. Where the ratio is above 10^5, a variance is the mean squared deviation instead; above
30, up to 5000 rows are summed in the order of Weka, which sorts them by each numeric attribute.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy.special import ndtr

from simstudy.arrays import ArrayLike, FloatArray, IntArray, Labels, weights_in
from simstudy.data.attribute_arrays import attribute_values
from simstudy.data.sample import Sample
from simstudy.learners.base import Described, normalise
from simstudy.learners.bayes.naive_bayes import FittedNaiveBayes
from simstudy.learners.weka_order import MAX_SORTED, quicksort

_LEAST = 1e-75
_DEFAULT_PRECISION = 0.01  # of an attribute with fewer than two distinct values
# Larger numbers, whose squares may overflow, are scaled to this by a power of 2, which is exact.
_LARGE = 2.0**400
_NO_SPREAD = 1e-10  # a standard deviation up to this counts as 0
_MAX_RATIO = 1e5  # of mean and standard deviation, for a difference of squares
_NEAR_RATIO = 30.0  # up to which the order of summation does not matter
_MAX_ERROR = 0.01  # sums of kernels end when the rest can add no more than this share
_CHUNK_SIZE = 2**17  # kernels evaluated at once


class FittedNumericNaiveBayes(Described):
    """A Naive Bayes of nominal and numeric attributes."""

    def __init__(self, nominal: FittedNaiveBayes, sample: Sample, kernel: bool) -> None:
        self.cards = sample.cards
        self._nominal = nominal.widened  # for which a numeric attribute is always missing
        self._kernel = kernel
        density = Kernels if kernel else Normals
        weights = np.ones(len(sample)) if sample.weights is None else sample.weights
        order = np.arange(len(sample)) if kernel else _order(sample)
        self._densities: dict[int, Density] = {}
        for place in sample.schema.numeric:
            values = sample.values[:, place]
            rows = order[~np.isnan(values[order]) & (weights[order] > 0)]
            columns = values[rows], sample.target[rows], weights[rows]
            self._densities[place] = density(*columns, sample.classes)

    def _facts(self) -> list[str]:
        return [*super()._facts(), f"{'kernel' if self._kernel else 'normal'} densities"]

    def log_joint(self, values: FloatArray) -> FloatArray:
        """Return the log probability of attribute values and class, shape (rows, classes)."""
        present = ~np.isnan(values)
        nominal = present & (np.array(self.cards[:-1]) > 0)
        codes: IntArray = np.where(nominal, values, self.cards[:-1]).astype(np.intp)
        total = self._nominal.log_joint(codes)
        for place, density in self._densities.items():
            rows = present[:, place]
            proba = density.probabilities(values[rows, place])
            total[rows] += np.log(np.maximum(proba, _LEAST)).T
        return total

    def predict_proba(self, codes: Sample | ArrayLike) -> FloatArray:
        """Return P(class | attributes), shape (rows, classes).

        The rows are a Sample or an array of codes and numbers, NaN where a value is missing.
        """
        return normalise(self.log_joint(attribute_values(codes, self.cards[:-1])))


def _order(sample: Sample) -> IntArray:
    """Return the order in which rows are summed."""
    order = np.arange(len(sample))
    columns = sample.values[:, sample.schema.numeric]
    if len(sample) > MAX_SORTED or sample.weights is not None:
        return order
    with np.errstate(all="ignore"):
        columns = columns[:, ~np.isnan(columns).all(axis=0)]  # others have no mean
        far = np.abs(np.nanmean(columns, axis=0)) > _NEAR_RATIO * np.nanstd(columns, axis=0)
    if far.any():
        for place in sample.schema.numeric:
            order = order[quicksort(sample.values[order, place])]
    return order


class Density(ABC):
    """The distributions of a numeric attribute in each class, from known values."""

    _least_precision = 1e-300  # a sixth of which is above 0

    def _prepared(self, values: FloatArray) -> FloatArray:
        """Set scale and precision, and return the values scaled and rounded."""
        largest = np.abs(values).max(initial=0.0)
        self._scale = 1.0 if largest <= _LARGE else 2.0 ** -np.floor(np.log2(largest / _LARGE))
        values = values * self._scale
        gaps = np.diff(np.unique(values))
        # Summed one after another: the last bit decides which way values are rounded.
        precision = np.cumsum(gaps)[-1] / len(gaps) if len(gaps) else _DEFAULT_PRECISION
        self._precision = max(precision, self._least_precision)
        return self._rounded(values)

    def probabilities(self, values: FloatArray) -> FloatArray:
        """Return the probability of every value in each class, shape (classes, values)."""
        with np.errstate(over="ignore"):  # far from all training values
            return self._probabilities(values * self._scale)

    @abstractmethod
    def _probabilities(self, values: FloatArray) -> FloatArray: ...

    def _rounded(self, values: FloatArray) -> FloatArray:
        return np.asarray(np.rint(values / self._precision) * self._precision)

    def _interval(self, distance: FloatArray, deviation: FloatArray | float) -> FloatArray:
        """Return the probability of an interval at some distance from the mean."""
        half = self._precision / 2
        above, below = ndtr((distance + half) / deviation), ndtr((distance - half) / deviation)
        return np.asarray(above - below)


class Normals(Density):
    """One normal distribution a class, of values rounded to the precision.

    A class without values has mean 0 and the least standard deviation.
    """

    def __init__(self, values: FloatArray, y: Labels, weights: FloatArray, classes: int) -> None:
        values = self._prepared(values)
        total = weights_in(y, weights, classes)
        total[total == 0] = 1.0
        sums = weights_in(y, weights * values, classes)
        mean = sums / total
        variance = weights_in(y, weights * (values - mean[y]) ** 2, classes) / total
        with np.errstate(over="ignore", invalid="ignore"):
            squares = weights_in(y, values * values * weights, classes)
            difference = np.abs(squares - mean * sums) / total
            exact = np.abs(mean) <= _MAX_RATIO * np.sqrt(variance)
        exact &= np.isfinite(difference)
        deviation = np.sqrt(np.where(exact, difference, variance))
        deviation[deviation <= _NO_SPREAD] = 0.0
        self._mean = mean[:, None]
        self._deviation = np.maximum(deviation, self._precision / 6)[:, None]

    def _probabilities(self, values: FloatArray) -> FloatArray:
        return self._interval(self._rounded(values) - self._mean, self._deviation)


class Kernels(Density):
    """The mean of a normal distribution around every training value of a class.

    Training values are rounded to the precision, which is at least 10^-6; other values are not.
    The standard deviation is range/√n. As in Weka, kernels are added from a value upwards, then
    downwards, each until the kernel times the remaining weight is below 1 % of the sum so far.
    """

    _least_precision = 1e-6  # as in Weka

    def __init__(self, values: FloatArray, y: Labels, weights: FloatArray, classes: int) -> None:
        values = self._prepared(values)
        self._kernels: list[tuple[FloatArray, FloatArray, float]] = []
        for label in range(classes):
            rows = y == label
            centres, places = np.unique(values[rows], return_inverse=True)
            width = self._precision / 6
            if len(centres) > 1:
                spread = (centres[-1] - centres[0]) / np.sqrt(weights[rows].sum())
                width = max(spread, width)
            together = weights_in(places, weights[rows], len(centres))
            self._kernels.append((centres, together, width))

    def _probabilities(self, values: FloatArray) -> FloatArray:
        densities = np.empty((len(self._kernels), len(values)))
        for proba, (centres, weights, width) in zip(densities, self._kernels, strict=True):
            if not len(centres):  # one kernel at 0
                proba[:] = self._interval(values, width)
                continue
            few = max(_CHUNK_SIZE // len(centres), 1)
            for start in range(0, len(values), few):
                part = slice(start, start + few)
                proba[part] = self._sums(values[part], centres, weights, width)
            proba /= weights.sum()
        return densities

    def _sums(
        self, values: FloatArray, centres: FloatArray, weights: FloatArray, width: float
    ) -> FloatArray:
        """Return the weighted sums of kernels at some values."""
        kernels = self._interval(centres - values[:, None], width)
        upwards = centres >= values[:, None]
        rows = np.arange(len(values))
        total, passed = np.zeros((2, len(values)))
        for side, order in ((upwards, slice(None)), (~upwards, slice(None, None, -1))):
            weight = np.where(side, weights, 0.0)[:, order]
            kernel = kernels[:, order]
            sums = np.cumsum(np.column_stack([total, kernel * weight]), axis=1)[:, 1:]
            seen = np.cumsum(np.column_stack([passed, weight]), axis=1)[:, 1:]
            ends = kernel * (weights.sum() - seen) < sums * _MAX_ERROR
            ends &= side[:, order]
            last = np.where(ends.any(axis=1), ends.argmax(axis=1), -1)
            total, passed = sums[rows, last], seen[rows, last]
        return total
