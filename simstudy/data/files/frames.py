"""Tables that have types: data frames and Parquet files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from decimal import Decimal
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from simstudy.data.files.columns import NOMINAL, Column, RawTable, number_text
from simstudy.errors import SimstudyError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_DATES = "holds dates or times"
_INDEX = re.compile(r"__index_level_\d+__")  # the column of an index that pandas has written


def read_frame(frame: pd.DataFrame) -> RawTable:
    """The columns of a pandas data frame."""
    names = [_column_name(name, place) for place, name in enumerate(frame.columns)]
    columns = [_frame_column(name, frame.iloc[:, place]) for place, name in enumerate(names)]
    return RawTable("the data frame", columns, len(frame), _row)


def _column_name(name: object, place: int) -> str:
    try:
        return str(name)
    except ValueError as error:
        text = f"the data frame: the name of column {place + 1} is a number of too many digits"
        raise SimstudyError(text) from error


def _row(row: int) -> str:
    return f"row {row} (counted from 0)"


def _frame_column(name: str, series: pd.Series) -> Column:
    kind = getattr(series.dtype, "kind", "O")
    if hasattr(series, "cat"):
        return _dictionary(name, series.cat.categories, series.cat.codes.to_numpy())
    if kind in "Mm":
        return Column(name, (), refusal=_DATES)
    if kind in "fiu":
        numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
        if kind == "f" and series.dtype == np.float32:
            numbers = series.to_numpy()  # its numbers are written with fewer digits
        if kind == "f" or np.abs(numbers[~np.isnan(numbers)]).max(initial=0) < 2**53:
            return Column(name, numbers)
    return _text_column(name, series, kind == "b")


def _text_column(name: str, values: Iterable[object], nominal: bool) -> Column:
    """A column of values of any type, as text."""
    cells: list[str | None] = []
    for value in values:
        if isinstance(value, str):
            cells.append(value)
        elif value is None or type(value).__name__ in ("NAType", "NaTType"):
            cells.append(None)
        elif not isinstance(value, bool | np.bool_ | Real | Decimal):
            return Column(name, (), refusal=f"holds values of type {type(value).__name__}")
        elif isinstance(value, Decimal) and value.is_nan():  # comparing a signalling one is refused
            cells.append(None)
        else:
            try:
                whole = isinstance(value, bool | np.bool_ | Integral)
                cells.append(str(value) if whole else number_text(value))
            except (ValueError, ArithmeticError):
                return Column(name, (), refusal="holds a number of too many digits")
    return Column(name, cells, NOMINAL if nominal else None)


def _dictionary(name: str, values: Iterable[object], codes: npt.NDArray[np.integer]) -> Column:
    """A column of codes of declared values; −1 if missing."""
    column = _text_column(name, values, nominal=True)
    if not column.refusal:
        column.values = tuple(label for label in column.text() if label is not None)
        column.cells = np.array([*column.text(), None], dtype=object)[codes].tolist()
    return column


def read_parquet(path: Path, source: str) -> RawTable:
    """The columns of a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with path.open("rb") as stream, pq.ParquetFile(stream) as file:
            names, (index, categories) = file.schema_arrow.names, _of_pandas(file.schema_arrow)
            table = file.read()
    except pa.ArrowException as error:
        raise SimstudyError(f"{source} is not a Parquet file that can be read: {error}") from error
    columns = []
    for place, name in enumerate(names):
        if name not in index and not _INDEX.fullmatch(name):
            columns.append(_arrow_column(name, table.column(place)))
            if name in categories:
                columns[-1].kind = NOMINAL
    return RawTable(source, columns, table.num_rows, _row)


def _of_pandas(schema: pa.Schema) -> tuple[set[str], set[str]]:
    """The columns that pandas has written as an index, and those that it has as categories."""
    try:
        metadata = schema.pandas_metadata or {}
        index = {name for name in metadata["index_columns"] if isinstance(name, str)}
        kinds = {column["field_name"]: column["pandas_type"] for column in metadata["columns"]}
    except (LookupError, TypeError, ValueError, AttributeError):
        return set(), set()
    return index, {name for name, kind in kinds.items() if kind == "categorical"}


def _arrow_column(name: str, column: pa.ChunkedArray) -> Column:
    import pyarrow as pa
    from pyarrow import types

    kind = column.type
    if types.is_nested(kind):
        return Column(name, (), refusal=f"holds values of type {str(kind).partition('<')[0]}")
    if types.is_temporal(kind):
        return Column(name, (), refusal=_DATES)
    if types.is_dictionary(kind):
        whole = column.unify_dictionaries().combine_chunks()
        codes = whole.indices.fill_null(-1).to_numpy()
        return _dictionary(name, whole.dictionary.to_pylist(), codes)
    if types.is_integer(kind) or types.is_floating(kind):
        with suppress(pa.ArrowInvalid):  # integers that are no doubles
            wide = column if types.is_float32(kind) else column.cast(pa.float64())
            return Column(name, wide.to_numpy())
    return _text_column(name, column.to_pylist(), types.is_boolean(kind))
