"""Attributes as a data frame, with the names, labels and types of their columns.

Types are those of the values: whole numbers without gaps are int64, labels that are False and True
are bool, and labels that are whole numbers stay labels, but as numbers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from simstudy.arrays import AnyArray, BoolArray, FloatArray
from simstudy.data.schema import Variable

_EXACT = 2.0**53  # below this every whole number is a double
_WHOLE = re.compile(r"0|-?[1-9]\d{0,14}", re.ASCII)
_FLAGS = {"False": False, "True": True}


def typed_labels(labels: Sequence[str]) -> AnyArray:
    """Return labels as whole numbers or booleans if all of them are, otherwise as text."""
    if labels and all(label in _FLAGS for label in labels):
        return np.array([_FLAGS[label] for label in labels])
    whole = bool(labels) and all(_WHOLE.fullmatch(label) for label in labels)
    return np.array([*map(int, labels)] if whole else labels, dtype=np.int64 if whole else str)


def is_whole(numbers: FloatArray) -> bool:
    """Whether all numbers are known, whole and exact."""
    return bool(np.all((np.floor(numbers) == numbers) & (np.abs(numbers) < _EXACT)))


def attribute_frame(
    numbers: FloatArray, variables: Sequence[Variable], whole: BoolArray
) -> pd.DataFrame:
    """Return a frame of numbers and labels; ``numbers`` has codes of nominal variables.

    ``whole`` marks the columns that hold whole numbers, as far as these rows do.
    """
    names = [variable.name for variable in variables]
    if all(variable.numeric for variable in variables) and not whole.any():
        # one block, as a frame of an array has
        return pd.DataFrame(np.ascontiguousarray(numbers, np.float64), columns=names)
    columns = {}
    for place, variable in enumerate(variables):
        column: AnyArray = numbers[:, place]
        if not variable.numeric:
            labels = typed_labels(variable.values or ())  # noqa: PD011
            known = ~np.isnan(column)
            if labels.dtype.kind != "b" or not known.all():
                labels = labels.astype(object)
            codes = np.where(known, column, variable.card).astype(np.intp)
            column = labels[codes] if known.all() else np.array([*labels, np.nan], object)[codes]
        elif whole[place] and is_whole(column):
            column = column.astype(np.int64)
        columns[place] = pd.Series(column)
    return pd.DataFrame(columns).set_axis(names, axis=1)
