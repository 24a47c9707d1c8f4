"""Attributes and classes in two arrays, as scikit-learn takes them, as one table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from simstudy.data.files.columns import RawTable
from simstudy.data.files.frames import is_frame, read_frame
from simstudy.errors import SimstudyError, reported

_SOURCE = "the arrays X and y"


def read_arrays(X: Any, y: Any) -> tuple[RawTable, str]:
    """Return the table of attributes and classes, and the name of the target.

    Columns of an array are named x0, x1, …; the target has the name of ``y``, or else ``class``.
    """
    import pandas as pd

    if not is_frame(X):
        if hasattr(X, "toarray"):
            text = "is sparse; give its dense form, X.toarray()"
            raise SimstudyError(f"{_SOURCE}: X {text}")
        X = _array("X", X, 2)
        X = pd.DataFrame(X, columns=[f"x{place}" for place in range(X.shape[1])])
    table = read_frame(X)
    if not hasattr(y, "iloc"):
        y = pd.Series(_array("y", y, 1), name=getattr(y, "name", None))
    classes = read_frame(y if hasattr(y, "columns") else y.to_frame())
    if len(classes.columns) != 1 or classes.rows != table.rows:
        text = f"X has {table.rows} rows, and y {classes.rows} in {len(classes.columns)} columns"
        raise SimstudyError(f"{_SOURCE}: {text}; y needs one class for each row of X")
    name = "class" if getattr(y, "name", "") is None else classes.columns[0].name
    while name in [column.name for column in table.columns]:
        name += "_"
    target = replace(classes.columns[0], name=name)
    return RawTable(_SOURCE, [*table.columns, target], table.rows, table.place), name


def _array(name: str, values: Any, dimensions: int) -> np.ndarray[Any, Any]:
    with reported(f"{_SOURCE}: {name} is no array", Exception):
        array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == dimensions == 1:
        array = array[:, 0]
    if array.ndim != dimensions:
        text = f"{name} needs {dimensions} dimension{'s'[: dimensions - 1]}"
        raise SimstudyError(f"{_SOURCE}: {text}; its shape is {array.shape}")
    return array
