"""Short names for the array types of annotations, and what numpy lacks."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.intp]


def weights_in(cells: IntArray, weights: npt.ArrayLike | None, size: int) -> FloatArray:
    """The sum of the weights in each of so many cells, or how many there are."""
    sums: FloatArray = np.bincount(cells, weights, minlength=size).astype(np.float64, copy=False)
    return sums
