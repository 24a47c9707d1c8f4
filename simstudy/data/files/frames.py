"""Tables that have types: data frames and Parquet files.

A frame of pandas is read as it is, any other one through the Arrow protocol or the interchange
protocol for data frames. The same content gives the same columns, whatever library holds it.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from contextlib import suppress
from decimal import MAX_PREC, Context, Decimal
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from simstudy.data.files.columns import NOMINAL, Column, RawTable, number_text
from simstudy.errors import SimstudyError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    class ArrowFrame(Protocol):
        """A frame with the Arrow protocol, such as those of polars and pyarrow."""

        def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
            """Return its record batches."""

    class InterchangeFrame(Protocol):
        """A frame with the interchange protocol for data frames."""

        def __dataframe__(self, *args: Any, **keywords: Any) -> object:
            """Return the interchange object."""

    Frame: TypeAlias = pd.DataFrame | ArrowFrame | InterchangeFrame

_SOURCE = "the data frame"
_DATES = "holds dates or times"
_MOMENTS = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
_ALL_DIGITS = Context(prec=MAX_PREC)  # so that 1.10 is written as 1.1, whatever its scale
_ARROW, _INTERCHANGE = "__arrow_c_stream__", "__dataframe__"
_UNORDERED = b"_PL_CATEGORICAL"  # marks categories of polars, which are in order of appearance
_INDEX = re.compile(r"__index_level_\d+__")  # the column of an index that pandas has written


def is_frame(data: object) -> bool:
    """Whether an object is a data frame that can be read."""
    return hasattr(data, _ARROW) or hasattr(data, _INTERCHANGE) or _like_pandas(data)


def read_frame(frame: Frame, labels: bool = True) -> RawTable:
    """The columns of a data frame of any library.

    With ``labels``, the texts that represent a missing value in files are labels like others,
    except among numbers.
    """
    table = _columns_of(frame)
    return _labelled(table) if labels else table


def _labelled(table: RawTable) -> RawTable:
    """A table in which only what is missing in a frame is missing."""
    for column in table.columns:
        column.declare_labels()
    return table


def _columns_of(frame: Frame) -> RawTable:
    if _like_pandas(frame):
        pandas_frame: pd.DataFrame = frame  # type: ignore[assignment]
        names = [_column_name(name, place) for place, name in enumerate(pandas_frame.columns)]
        series = (pandas_frame.iloc[:, place] for place in range(len(names)))
        columns = [*map(_frame_column, names, series)]
        return RawTable(_SOURCE, columns, len(pandas_frame), _row)
    return _arrow_table(_as_arrow(frame), _SOURCE)


def to_pandas(frame: Frame) -> pd.DataFrame:
    """A data frame of any library as one of pandas."""
    return frame if _like_pandas(frame) else _as_arrow(frame).to_pandas()  # type: ignore[return-value]


def _like_pandas(data: object) -> bool:
    return hasattr(data, "iloc") and hasattr(data, "columns")


def _as_arrow(frame: Frame) -> pa.Table:
    """A frame with one of the protocols as a table of pyarrow."""
    import pyarrow as pa
    from pyarrow.interchange import from_dataframe

    try:
        return pa.table(frame) if hasattr(frame, _ARROW) else from_dataframe(frame)
    except Exception as error:  # of any library
        kind = f"{type(frame).__module__.partition('.')[0]}.{type(frame).__name__}"
        raise SimstudyError(f"the {kind} cannot be read as a data frame: {error}") from error


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
    if hasattr(series.dtype, "pyarrow_dtype"):
        return _arrow_column(name, series.array.__arrow_array__())
    if hasattr(series, "cat"):
        return _dictionary(name, series.cat.categories, series.cat.codes.to_numpy())
    if kind in "Mm":
        return Column(name, (), refusal=_DATES)
    if kind in "fiu":
        # Those of float32 are written with fewer digits.
        dtype = np.float32 if str(series.dtype).lower() == "float32" else np.float64
        numbers = series.to_numpy(dtype=dtype, na_value=np.nan)
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
        elif isinstance(value, _MOMENTS):
            return Column(name, (), refusal=_DATES)
        elif not isinstance(value, bool | np.bool_ | Real | Decimal):
            return Column(name, (), refusal=f"holds values of type {type(value).__name__}")
        elif isinstance(value, Decimal) and value.is_nan():  # comparing a signalling one is refused
            cells.append(None)
        else:
            try:
                whole = isinstance(value, bool | np.bool_ | Integral)
                number = value.normalize(_ALL_DIGITS) if isinstance(value, Decimal) else value
                cells.append(str(number) if whole else number_text(number))
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


def read_parquet(path: Path, source: str, labels: bool = True) -> RawTable:
    """The columns of a Parquet file, with labels as of `read_frame`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with path.open("rb") as stream, pq.ParquetFile(stream) as file:
            table = file.read()
    except pa.ArrowException as error:
        raise SimstudyError(f"{source} is not a Parquet file that can be read: {error}") from error
    columns = _arrow_table(table, source)
    return _labelled(columns) if labels else columns


def _arrow_table(table: pa.Table, source: str) -> RawTable:
    columns, (index, categories) = [], _of_pandas(table.schema)
    for place, field in enumerate(table.schema):
        if field.name not in index and not _INDEX.fullmatch(field.name):
            column = _arrow_column(field.name, table.column(place))
            if any(key.startswith(_UNORDERED) for key in field.metadata or ()):
                column.values = None
            if field.name in categories:
                column.kind = NOMINAL
            columns.append(column)
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
        codes = whole.indices.cast(pa.int64()).fill_null(-1).to_numpy()
        return _dictionary(name, whole.dictionary.to_pylist(), codes)
    if types.is_integer(kind) or types.is_floating(kind):
        with suppress(pa.ArrowInvalid):  # integers that are no doubles
            wide = column if types.is_float32(kind) else column.cast(pa.float64())
            return Column(name, wide.to_numpy())
    return _text_column(name, column.to_pylist(), types.is_boolean(kind))
