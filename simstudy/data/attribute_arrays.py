"""Rows to be predicted: samples, or arrays of attribute codes and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from simstudy.arrays import AnyArray, ArrayLike, IntArray
from simstudy.data.codes import MISSING, check_codes
from simstudy.data.sample import Sample


def attribute_codes(
    rows: Sample | ArrayLike, cards: Sequence[int], missing: bool = False
) -> IntArray:
    """Return the attribute codes of a sample or an array; −1 where a value is missing.

    ``cards`` are those of the training rows. Missing values, NaN or −1 in an array, are refused
    unless ``missing`` allows them.
    """
    if isinstance(rows, Sample):
        if rows.cards[:-1] != tuple(cards):
            had = f"the training rows had attributes of {tuple(cards)}"
            raise ValueError(f"the rows have attributes of {rows.cards[:-1]} values, {had}")
        if rows.incomplete and not missing:
            raise ValueError("this learner cannot predict rows with missing values")
        return rows.attributes
    try:
        return check_codes(rows, cards, "attribute")
    except ValueError:
        values = np.asarray(rows)
        lacking = (values == MISSING) | (values != values)
        if not (missing and lacking.any()):
            raise
        codes = check_codes(np.where(lacking, 0, values), cards, "attribute").copy(order="F")
        codes[lacking] = MISSING
        return codes


def attribute_values(rows: Sample | ArrayLike, cards: Sequence[int]) -> AnyArray:
    """Return the attribute columns of a sample or an array, NaN where a value is missing.

    They are codes, as integers, if all attributes are nominal and known, else floats. ``cards``
    are those of the training rows, 0 for a numeric attribute. In an array, −1 is missing, too,
    where codes are expected.
    """
    if isinstance(rows, Sample):
        codes = attribute_codes(rows, cards, missing=True)
        return codes if rows.plain else rows.values[:, :-1]
    if 0 not in cards:
        with suppress(ValueError):  # unless values are missing, it is raised again
            return check_codes(rows, cards, "attribute")
    values, nominal = np.array(rows, dtype=np.float64, order="F"), np.array(cards) > 0
    codes = np.zeros_like(values)
    if values.ndim == 2 and values.shape[1] == len(cards):
        values[(values == MISSING) & nominal] = np.nan
        codes = np.where(nominal & ~np.isnan(values), values, 0)
    check_codes(codes, [max(card, 1) for card in cards], "attribute")
    if np.isinf(values).any():
        raise ValueError("attribute values must be finite numbers, or NaN if missing")
    return values
