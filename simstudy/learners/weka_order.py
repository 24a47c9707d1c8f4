"""The order in which Weka sorts rows, on which the last bits of its sums depend."""

from __future__ import annotations

import numpy as np

from simstudy.arrays import FloatArray, IntArray

# Larger tables are not sorted: sums are in the original order of the rows.
MAX_SORTED = 5000


def quicksort(values: FloatArray) -> IntArray:
    """Return the order of values by Weka's quicksort, which is not stable; NaN comes last.

    The pivot is the median of the first, middle and last value (Sedgewick 1978).
    """
    keys = np.where(np.isnan(values), np.inf, values).tolist()
    order = list(range(len(keys)))
    parts = [(0, len(order) - 1)]
    while parts:
        left, right = parts.pop()
        middle = (left + right) // 2 if right - left > 2 else left + 1
        if right - left > 1:
            _swap_if_greater(keys, order, left, middle)
        if right > left:
            _swap_if_greater(keys, order, left, right)
        if right - left > 1:
            _swap_if_greater(keys, order, middle, right)
        if right - left > 2:
            place = _partition(keys, order, left, right)
            parts += [(left, place - 1), (place + 1, right)]
    return np.array(order, dtype=np.intp)


def _swap_if_greater(keys: list[float], order: list[int], i: int, j: int) -> None:
    if keys[order[i]] > keys[order[j]]:
        order[i], order[j] = order[j], order[i]


def _partition(keys: list[float], order: list[int], left: int, right: int) -> int:
    """Put the values below the pivot, in the middle, before it, and return its new place."""
    last = right - 1
    middle = (left + right) // 2
    order[middle], order[last] = order[last], order[middle]
    pivot = keys[order[last]]
    low, high = left + 1, last - 1
    while True:
        while keys[order[low]] < pivot:
            low += 1
        while keys[order[high]] > pivot:
            high -= 1
        if low >= high:
            order[low], order[last] = order[last], order[low]
            return low
        order[low], order[high] = order[high], order[low]
        low, high = low + 1, high - 1
