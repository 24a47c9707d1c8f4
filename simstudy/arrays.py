"""Aliases for array types, arrays that cannot be changed, weighted counts and frequencies."""

from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.intp]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
AnyArray: TypeAlias = npt.NDArray[Any]  # codes or numbers, or labels of any type
Proba: TypeAlias = FloatArray  # class probabilities, of shape (rows, classes)
Prior: TypeAlias = FloatArray  # class probabilities, of shape (classes,)
Labels: TypeAlias = IntArray  # the true class of each row
ArrayLike: TypeAlias = npt.ArrayLike  # what numpy makes an array of
Class: TypeAlias = int | None  # the number of a class, or None if it is not stated
Array = TypeVar("Array", bound=AnyArray)


def weights_in(cells: IntArray, weights: npt.ArrayLike | None, size: int) -> FloatArray:
    """Return the sum of weights in each of ``size`` cells, or the count without weights."""
    sums: FloatArray = np.bincount(cells, weights, minlength=size).astype(np.float64, copy=False)
    return sums


def smoothed(
    counts: npt.NDArray[Any], alpha: float = 0.5, total: float | None = None
) -> FloatArray:
    """Return the frequencies of k classes, (n_i + α)/(n + kα).

    With α = ½ these are the prior of rewards (Hope & Korb 2004, footnote 3). ``total`` is n where
    it is known more exactly than by adding up weighted counts.
    """
    n = counts.sum() if total is None else total
    frequencies: FloatArray = (counts + alpha) / (n + len(counts) * alpha)
    return frequencies


def read_only(array: Array) -> Array:
    """Return a read-only view of an array."""
    view = array.view()
    view.flags.writeable = False
    return view


def constant(array: Array) -> Array:
    """Return a read-only copy of an array that cannot be made writable."""
    copy = np.ndarray(array.shape, array.dtype, array.tobytes())
    return cast(Array, copy)
