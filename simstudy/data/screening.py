"""Columns of a table that would mislead learners: identifiers, copies of the target, constants."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.discretize import cut_points
from simstudy.data.sample import Sample
from simstudy.errors import SimstudyError
from simstudy.texts import counted

MIN_ROWS = 50
_FEW_ROWS = 100  # below which a warning is given
_FEW_OF_CLASS = 10
_FEW_KNOWN = 20  # known values, below which a column is not suspected to name rows
_ROWS_A_VALUE = 5  # of a column that is no identifier, and of a class


@dataclass(frozen=True)
class Screening:
    """What is left out of a table, and what should be known of the rest.

    Attributes
    ----------
    identifiers, copies, constants : tuple of str
        Columns with a different value in nearly every row, that determine the target, or have one
        value.
    notes : tuple of str
        Sentences.
    """

    identifiers: tuple[str, ...]
    copies: tuple[str, ...]
    constants: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def left_out(self) -> tuple[str, ...]:
        """The columns to leave out."""
        return (*self.identifiers, *self.copies, *self.constants)


def screened(sample: Sample, source: str, keep: Collection[str] = ()) -> Screening:
    """Find the columns that would mislead; refuse rows from which nothing can be predicted.

    Columns in ``keep`` are never left out, unless they have one value.
    """
    _check_rows(sample, source)
    kinds: dict[str, list[str]] = {"identifier": [], "copy": [], "constant": []}
    for place, variable in enumerate(sample.schema.attributes):
        kind = _kind(sample.values[:, place], sample.target, variable.values is None)
        if kind and (variable.name not in keep or kind == "constant"):
            kinds[kind].append(variable.name)
    if sum(map(len, kinds.values())) == len(sample.schema.attributes):
        named = ", ".join(f"'{one}'" for group in kinds.values() for one in group)
        raise SimstudyError(
            f"{source}: no attribute is left: {named} are identifiers, copies of the target or of "
            "one value; use --keep for those that are none"
        )
    copies = tuple(kinds["copy"])
    return Screening(
        tuple(kinds["identifier"]), copies, tuple(kinds["constant"]), tuple(_notes(sample))
    )


def _check_rows(sample: Sample, source: str) -> None:
    rows, classes = len(sample), int(np.count_nonzero(sample.class_counts))
    name = sample.schema.target.name
    if classes < 2:
        raise SimstudyError(f"{source}: all rows are of one class of '{name}'; two are needed")
    if classes > 10 and classes * _ROWS_A_VALUE > rows:
        raise SimstudyError(
            f"{source}: the target '{name}' has {classes:,} different values in "
            f"{counted(rows, 'row')}; it is not a class with a few values. Is another column the "
            "target? If it is a number, divide it into ranges first"
        )
    if rows < MIN_ROWS:
        raise SimstudyError(
            f"{source} has {counted(rows, 'row')}, and advice needs at least {MIN_ROWS}: scores "
            "that are cross-validated on fewer are mostly chance, and so is what they would predict"
        )


def _kind(column: FloatArray, target: IntArray, numeric: bool) -> str:
    """What is wrong with a column; empty if nothing is."""
    known = ~np.isnan(column)
    distinct, codes = np.unique(column[known], return_inverse=True)
    if (len(distinct) < 2 and known.all()) or not len(distinct):
        return "constant"
    rows = int(known.sum())
    if rows >= _FEW_KNOWN and _identifies(column[known], distinct, numeric):
        return "identifier"
    if numeric and len(distinct) * _ROWS_A_VALUE > rows:
        codes = np.searchsorted(cut_points(column[known], target[known]), column[known])
    return "copy" if 2 * rows >= len(column) and _determines(codes, target[known]) else ""


def _identifies(values: FloatArray, distinct: FloatArray, numeric: bool) -> bool:
    """Whether a column names rows: nearly all labels differ, or whole numbers count the rows."""
    if not numeric:
        return len(distinct) * 2 > len(values)
    if len(distinct) < len(values) or (distinct % 1 != 0).any():
        return False
    return bool((np.diff(values) > 0).all() or distinct[-1] - distinct[0] == len(values) - 1)


def _determines(codes: IntArray, target: IntArray) -> bool:
    """Whether every value of a column occurs with one class alone, and often enough to tell."""
    if len(np.unique(target)) < 2:
        return False
    table = np.zeros((int(codes.max()) + 1, int(target.max()) + 1), dtype=np.intp)
    np.add.at(table, (codes, target), 1)
    table = table[table.sum(axis=1) > 0]
    pure = (np.count_nonzero(table, axis=1) == 1).all()
    return bool(pure and len(table) * _ROWS_A_VALUE <= len(target))


def _notes(sample: Sample) -> list[str]:
    notes = []
    if len(sample) < _FEW_ROWS:
        notes.append(
            f"With {len(sample)} rows all intervals are wide, and most differences between "
            "learners cannot be found."
        )
    labels = zip(sample.class_names, sample.class_counts, strict=True)
    rare = [f"“{label}” ({count:.0f})" for label, count in labels if 0 < count < _FEW_OF_CLASS]
    if rare:
        shown = ", ".join(rare[:8]) + (", …" if len(rare) > 8 else "")
        notes.append(
            f"{counted(len(rare), 'class has', 'classes have')} fewer than {_FEW_OF_CLASS} rows "
            f"({shown}): what is said of rare classes rests on very little."
        )
    return notes
