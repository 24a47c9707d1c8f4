"""Attributes as a data frame, with the names and labels of their columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from simstudy.arrays import FloatArray
from simstudy.data.schema import Variable


def attribute_frame(numbers: FloatArray, variables: Sequence[Variable]) -> pd.DataFrame:
    """Return a frame of numbers and labels; ``numbers`` has codes of nominal variables."""
    names = [variable.name for variable in variables]
    if all(variable.numeric for variable in variables):  # one block, as a frame of an array has
        return pd.DataFrame(np.ascontiguousarray(numbers, np.float64), columns=names)
    columns = {}
    for place, variable in enumerate(variables):
        column = numbers[:, place]
        if not variable.numeric:
            codes = np.where(np.isnan(column), variable.card, column).astype(np.intp)
            column = np.array([*(variable.values or ("",)), np.nan], dtype=object)[codes]  # noqa: PD011
        columns[place] = pd.Series(column)
    return pd.DataFrame(columns).set_axis(names, axis=1)
