"""Cells as tables of a parquet file."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from simstudy.engine.plan import Plan
from simstudy.engine.task import Cell

if TYPE_CHECKING:
    import pyarrow as pa


def scores_table(plan: Plan, cells: Sequence[Cell]) -> pa.Table:
    """One row for each cell: family, model, size, learner, the measures, status."""
    columns: dict[str, Any] = {
        "family": _texts([plan.family.name] * len(cells)),
        "model": _numbers([cell.model for cell in cells], np.int64),
        "size": _numbers([cell.size for cell in cells], np.int64),
        "learner": _texts([cell.learner for cell in cells]),
    }
    for index, column in enumerate(plan.columns):
        columns[column.name] = _numbers([cell.values[index] for cell in cells], np.float64)
    columns["status"] = _texts([cell.status for cell in cells])
    return _table(columns)


def timings_table(cells: Sequence[Cell]) -> pa.Table:
    """Seconds that each cell took; never the same twice, so kept apart from the scores."""
    columns = {
        "model": _numbers([cell.model for cell in cells], np.int64),
        "size": _numbers([cell.size for cell in cells], np.int64),
        "learner": _texts([cell.learner for cell in cells]),
    }
    for name in ("fit_seconds", "predict_seconds"):
        columns[name] = _numbers([getattr(cell, name) for cell in cells], np.float64)
    return _table(columns)


# Columns are made from buffers: from lists or arrays, pyarrow would import pandas first.


def _table(columns: dict[str, pa.Array]) -> pa.Table:
    import pyarrow as pa

    return pa.Table.from_arrays([*columns.values()], names=[*columns])


def _numbers(values: Sequence[float], dtype: Any) -> pa.Array:
    import pyarrow as pa

    array = np.array(values, dtype=dtype)
    kind = pa.from_numpy_dtype(array.dtype)
    return pa.Array.from_buffers(kind, len(array), [None, pa.py_buffer(array)], null_count=0)


def _texts(texts: Sequence[str]) -> pa.Array:
    import pyarrow as pa

    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(texts), buffers, null_count=0)


def parquet(table: pa.Table) -> bytes:
    """A table as the content of a parquet file."""
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()
