"""Aliases for array types, arrays that cannot be changed, and a weighted count."""

from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.intp]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
AnyArray: TypeAlias = npt.NDArray[Any]  # codes or numbers, or labels of any type
Array = TypeVar("Array", bound=AnyArray)


def weights_in(cells: IntArray, weights: npt.ArrayLike | None, size: int) -> FloatArray:
    """Return the sum of weights in each of ``size`` cells, or the count without weights."""
    sums: FloatArray = np.bincount(cells, weights, minlength=size).astype(np.float64, copy=False)
    return sums


def read_only(array: Array) -> Array:
    """Return a read-only view of an array."""
    view = array.view()
    view.flags.writeable = False
    return view


def constant(array: Array) -> Array:
    """Return a read-only copy of an array that cannot be made writable."""
    copy = np.ndarray(array.shape, array.dtype, array.tobytes())
    return cast(Array, copy)
