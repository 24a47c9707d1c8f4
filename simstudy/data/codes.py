"""Rows of codes: the values of nominal variables, counted from 0."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence

import numpy as np

from simstudy.arrays import ArrayLike, IntArray

MISSING = -1  # the code of a value that is not known
# Distinct rows are found by counting cells if there are few cells, else by sorting.
_CELLS_FOR_EACH_ROW = 20
_FEW_CELLS = 2**12


def check_codes(codes: ArrayLike, cards: Sequence[int], noun: str) -> IntArray:
    """Return the codes as an integer array; raise an error if they do not fit ``cards``.

    The array is column-major: tables are counted, and probabilities gathered, over columns.
    """
    table = np.asarray(codes)
    kind = table.dtype.kind
    if table.size and kind not in "iub" and not (kind == "f" and (table % 1 == 0).all()):
        raise ValueError("codes must be integers")
    if table.ndim != 2 or table.shape[1] != len(cards):
        columns = f"one column for each of the {len(cards)} {noun}s"
        raise ValueError(f"codes must have {columns}; their shape is {table.shape}")
    whole: IntArray = np.asfortranarray(table, dtype=np.intp)
    if whole.size:
        # Plain integers and one minimum over all columns: this check is made for every fit.
        largest = whole.max(axis=0).tolist()
        if int(whole.min()) < 0 or any(map(operator.ge, largest, cards)):
            beyond = np.greater_equal(largest, cards) | (whole.min(axis=0) < 0)
            column, card = int(beyond.argmax()), cards[int(beyond.argmax())]
            allowed = f"so its codes must be from 0 to {card - 1}"
            raise ValueError(f"{noun} {column} has {card} values, {allowed}")
    return whole


def distinct_rows(codes: IntArray, cards: Sequence[int]) -> tuple[IntArray, IntArray]:
    """Return the first index of each distinct row, in order of codes, and the inverse indices."""
    cells = math.prod(int(card) for card in cards)
    if cells <= max(_CELLS_FOR_EACH_ROW * len(codes), _FEW_CELLS):
        flat = flat_index(codes, range(len(cards)), cards)
        places = np.full(cells, -1)
        places[flat[::-1]] = np.arange(len(codes))[::-1]  # the first of equal rows is written last
        present = np.flatnonzero(places >= 0)
        first = places[present]
        places[present] = np.arange(len(present))
        return first, places[flat]
    rows = flat_index(codes, range(len(cards)), cards) if cells < 2**62 else codes
    _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, inverse.reshape(-1)


def flat_index(codes: IntArray, variables: Sequence[int], cards: Sequence[int]) -> IntArray:
    """Return the index of each row in the flattened table of these variables."""
    flat = np.zeros(len(codes), dtype=np.intp)
    for variable, card in zip(variables, cards, strict=True):
        flat *= card
        flat += codes[:, variable]
    return flat


def configurations(cards: Sequence[int]) -> IntArray:
    """Return all configurations of the variables, the last changing fastest."""
    return np.indices(tuple(cards)).reshape(len(cards), -1).T
