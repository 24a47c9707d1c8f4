"""Aliases for array types, and a weighted count."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.intp]


def weights_in(cells: IntArray, weights: npt.ArrayLike | None, size: int) -> FloatArray:
    """Return the sum of weights in each of ``size`` cells, or the count without weights."""
    sums: FloatArray = np.bincount(cells, weights, minlength=size).astype(np.float64, copy=False)
    return sums
