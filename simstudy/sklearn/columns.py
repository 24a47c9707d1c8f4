"""Columns of rows of any kind: which are numeric, and their numbers."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from simstudy.arrays import ArrayLike, BoolArray, FloatArray
from simstudy.data.files.frames import is_frame, to_pandas
from simstudy.errors import require

if TYPE_CHECKING:
    from simstudy.data.files.frames import Frame

Rows: TypeAlias = "ArrayLike | Frame"
Columns: TypeAlias = Literal["auto", "from_dtype", "all"] | Sequence[object]

MAX_NUMBERS = 50  # different whole numbers that are taken for categories


def in_pandas(X: Rows) -> Any:
    """Return a frame of any library in pandas, and anything else as it is."""
    return to_pandas(X) if is_frame(X) else X  # type: ignore[arg-type]


def as_frame(X: Rows) -> pd.DataFrame:
    """Return rows as a data frame, with a type for each column."""
    if isinstance(X, pd.DataFrame):
        return X
    return pd.DataFrame(X if isinstance(X, list | tuple) else np.asarray(X))


def measured(column: pd.Series) -> FloatArray | None:
    """Return the numbers of a column if some are not whole or many differ, otherwise None."""
    if column.dtype.kind not in "fiuO" or any(isinstance(value, str) for value in column):
        return None
    if (values := _numbers(column)) is None:
        return None
    known = values[~np.isnan(values)]
    whole = len(known) == 0 or ((known % 1 == 0).all() and len(np.unique(known)) <= MAX_NUMBERS)
    return None if whole else values


def categorical(frame: pd.DataFrame, chosen: Columns, ways: Sequence[str]) -> BoolArray:
    """Return which columns are categorical: by type, all, or those that are listed."""
    size = frame.shape[1]
    if isinstance(chosen, str) and chosen in ways:
        return np.array(
            [chosen == "all" or not _holds_numbers(frame.iloc[:, i]) for i in range(size)]
        )
    listed = isinstance(chosen, Sequence | np.ndarray) and not isinstance(chosen, str)
    names = ", ".join(map(repr, ways))
    require(listed, "categorical_features", chosen, f"it must be {names} or a list of columns")
    columns = list(frame.columns)
    nominal = np.zeros(size, dtype=bool)
    for place, each in enumerate(chosen):
        if isinstance(each, bool | np.bool_) and len(chosen) == size:
            nominal[place] = each
        elif isinstance(each, str) and each in columns:
            nominal[columns.index(each)] = True
        elif isinstance(each, int | np.integer) and 0 <= each < size:
            nominal[int(each)] = True
        else:
            raise ValueError(
                f"categorical_features has {each!r}, which is not a column of X; allowed are "
                f"the indices 0 to {size - 1} and the names {', '.join(map(str, columns))}"
            )
    return nominal


def _holds_numbers(column: pd.Series) -> bool:
    """Return whether a column is numeric, by its dtype or, for objects, by its values."""
    if column.dtype != object:
        numeric = pd.api.types.is_numeric_dtype(column.dtype)
        return bool(numeric and not pd.api.types.is_bool_dtype(column.dtype))
    values = column[~column.isna()]
    return len(values) > 0 and all(
        isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)
        for value in values
    )


def as_numbers(column: pd.Series) -> FloatArray:
    """Return the numbers of a column, NaN where one is missing."""
    values = None if column.dtype.kind in "Mm" else _numbers(column)  # of times
    if values is None:
        raise ValueError(f"column {column.name!s} of X has non-numeric values")
    return values


def _numbers(column: pd.Series) -> FloatArray | None:
    """Return the numbers of a column, None if it has other values."""
    try:
        values: FloatArray = column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        return None
    if np.isinf(values).any():
        raise ValueError(f"column {column.name!s} of X has infinite values")
    return values
