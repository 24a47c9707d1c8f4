"""Many test sets of one model at once, as counts of its joint configurations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simstudy.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class TestSets:
    """Test sets of one size, drawn from one distribution.

    Attributes
    ----------
    places : array of shape (sets, rows)
        The configuration of each row, as an index into the distribution.
    """

    __test__ = False  # not a class of tests

    places: IntArray

    @cached_property
    def _found(self) -> tuple[IntArray, FloatArray]:
        observed, inverse = np.unique(self.places, return_inverse=True)
        sets, width = len(self.places), len(observed)
        flat = inverse.reshape(self.places.shape) + width * np.arange(sets)[:, None]
        counts = np.bincount(flat.ravel(), minlength=sets * width)
        return observed, counts.reshape(sets, width).astype(np.float64)

    @property
    def observed(self) -> IntArray:
        """The configurations that some test set has."""
        return self._found[0]

    @property
    def counts(self) -> FloatArray:
        """How often each test set has each of these."""
        return self._found[1]

    def means(self, values: FloatArray) -> FloatArray:
        """Return the means of values of configurations over each test set.

        Parameters
        ----------
        values : array of shape (k, observed)
            Values of each of the configurations that are `observed`.

        Returns
        -------
        array of shape (sets, k)
            The means; NaN where a set has a row without a value, or infinities of both signs.
        """
        finite = np.isfinite(values)
        rows = self.places.shape[1]
        means: FloatArray = self.counts @ np.where(finite, values, 0.0).T / rows
        if finite.all():
            return means
        above, below, absent = (
            self.counts @ odd.T > 0
            for odd in (values == np.inf, values == -np.inf, np.isnan(values))
        )
        means = np.where(above, np.inf, np.where(below, -np.inf, means))
        return np.where(absent | (above & below), np.nan, means)


def draw_test_sets(
    weights: FloatArray, rows: int, sets: int, stream: Callable[[int], np.random.Generator]
) -> TestSets:
    """Draw test sets, each from a stream of its own.

    A row takes one number of its stream, so that a smaller test set is the first rows of a larger
    one, and further test sets change none.

    Parameters
    ----------
    weights : array of shape (configurations,)
        The probabilities of the configurations, which sum to one.
    rows, sets : int
        The number of rows of each test set, and the number of test sets.
    stream : callable
        Returns the random stream of a test set by its number.
    """
    ends = np.cumsum(weights)
    uniform = np.stack([stream(index).random(rows) for index in range(sets)])
    # rounding may leave the last end below one
    places = np.searchsorted(ends, uniform * ends[-1], side="right")
    return TestSets(np.minimum(places, len(weights) - 1))
