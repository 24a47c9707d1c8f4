"""Tables written as ARFF: one text with the cells of any file and what is declared of them."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from simstudy.data.files.columns import (
    NOMINAL,
    NUMERIC,
    Column,
    Declaration,
    RawTable,
    holds_numbers,
)
from simstudy.data.sample import Sample
from simstudy.errors import SimstudyError

_PLAIN = re.compile(r"[^\s,'\"{}%\\]+")
_ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def arff_text(
    table: RawTable, declared: Mapping[str, Declaration], target: str | None = None
) -> str:
    """Write a table as ARFF, with the column ``target`` last.

    A column of which nothing is declared is numeric if its values are numbers, otherwise of
    strings. The text of a table that was read from such text is the same text.
    """
    columns = sorted(table.columns, key=lambda column: column.name == target)  # stable
    header = [f"@attribute {_quoted(c.name)} {_kind(c, declared)}" for c in columns]
    cells = [_cells(column, table.rows) for column in columns]
    rows = map(",".join, zip(*cells, strict=True))
    return "\n".join(["@relation data", *header, "@data", *rows, ""])


def sample_text(sample: Sample) -> str:
    """Write the rows of a sample as ARFF, from which the same schema and values are read."""
    columns = []
    for place, variable in enumerate(sample.schema.variables):
        numbers, values = sample.values[:, place], variable.values
        if values is None:
            columns.append(Column(variable.name, numbers, NUMERIC))
            continue
        labels = np.array([*values, None], dtype=object)
        codes = np.where(np.isnan(numbers), len(values), numbers).astype(np.intp)
        columns.append(Column(variable.name, labels[codes].tolist(), NOMINAL, values))
    return arff_text(RawTable("", columns, len(sample), str), {})


def _kind(column: Column, declared: Mapping[str, Declaration]) -> str:
    if column.refusal:
        return "date"  # is refused again, unless ignored
    declaration = declared.get(column.name, Declaration(column.kind, column.values))
    if declaration.kind == NOMINAL and declaration.values is not None:
        return "{" + ",".join(map(_quoted, declaration.values)) + "}"
    numeric = declaration.kind == NUMERIC
    if declaration.kind is None:
        numeric = isinstance(column.cells, np.ndarray) or holds_numbers(column.cells)
    return "numeric" if numeric else "string"


def _cells(column: Column, rows: int) -> list[str]:
    if column.refusal:
        return ["?"] * rows
    texts = column.text()
    declared = {*(column.values or ())}
    if {"", "?"} <= declared and any(cell is None for cell in texts):
        raise SimstudyError(f"'{column.name}' has the values '' and '?', so none is left for a gap")
    gap = "''" if "?" in declared else "?"  # a value that is declared is not missing
    written = {cell: gap if cell is None else _quoted(cell) for cell in {*texts}}
    return [written[cell] for cell in texts]


def _quoted(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else f"'{text.translate(_ESCAPES)}'"
