"""Conversion of a long table of scores to an array, with a record of missing values."""

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from simstudy.arrays import AnyArray, BoolArray, FloatArray, IntArray

logger = logging.getLogger("simstudy.analysis")

Level: TypeAlias = Any  # of a factor, or a subject, as the table has it: a label or a number
NAMED = 3  # maximum number of cells listed in a reason, and of subjects in a warning


class LeftOut(NamedTuple):
    """A subject excluded from an analysis, and the reason."""

    subject: Level
    reason: str


@dataclass(frozen=True)
class Cells:
    """The value of every subject in every cell; NaN if not finite."""

    subject: str
    within: tuple[str, ...]
    value: str
    subjects: list[Level]
    levels: list[list[Level]]
    array: FloatArray  # subjects × levels of the first factor × levels of the second …
    infinite: FloatArray  # of the same shape: the sign of infinite values, which are NaN in array
    status: AnyArray  # of the same shape

    def label(self, cell: Sequence[int]) -> str:
        """Return the label of a cell, e.g. ``learner tan, size 50``."""
        parts = zip(self.within, self.levels, cell, strict=True)
        return ", ".join(level_text(factor, levels[code]) for factor, levels, code in parts)

    @property
    def noun(self) -> str:
        """What the values are, in words."""
        return self.value.replace("_", " ")

    def named(self, names: Mapping[str, str]) -> "Cells":
        """Return the same with other names of factors in its texts."""
        return replace(self, within=tuple(names.get(factor, factor) for factor in self.within))

    def lacking(self, infinite_too: bool = True) -> BoolArray:
        """Return which values are missing or, optionally, infinite."""
        missing = np.isnan(self.array)
        return missing if infinite_too else missing & (self.infinite == 0)

    def reason(self, row: int, infinite_too: bool = True) -> str:
        """List the cells of a subject without a finite value, with their status if not ok."""
        missing = np.argwhere(self.lacking(infinite_too)[row]).tolist()
        names = []
        for cell in missing[:NAMED]:
            status = "infinite" if self.infinite[(row, *cell)] else self.status[(row, *cell)]
            note = "" if status == "ok" or pd.isna(status) else f" ({status})"
            names.append(self.label(cell) + note)
        more = len(missing) - len(names)
        tail = f"; and {more} more cell{'s' if more > 1 else ''}" if more else ""
        return f"no finite {self.noun} for {'; '.join(names)}{tail}"

    def left_out(self, consequence: str, infinite_too: bool = True) -> list[LeftOut]:
        """Return the subjects with a missing value in some cell, and log a warning.

        Parameters
        ----------
        consequence
            Consequence for the caller's analysis: the beginning of the warning.
        infinite_too
            Whether infinite values count as missing.
        """
        lacking = self.lacking(infinite_too).reshape(len(self.subjects), -1)
        rows = np.flatnonzero(lacking.any(axis=1))
        left_out = [LeftOut(self.subjects[r], self.reason(r, infinite_too)) for r in rows.tolist()]
        if left_out:
            named = "; ".join(f"{subject} ({reason})" for subject, reason in left_out[:NAMED])
            named += "; …" if len(left_out) > NAMED else ""
            count = f"{len(rows)} of {len(self.subjects)} (column {self.subject})"
            logger.warning("%s: %s: %s", consequence, count, named)
        return left_out


class CellsError(ValueError):
    """An error whose message names cells.

    Parameters
    ----------
    cells
        The cells.
    write
        Makes the message of cells, whose factors may have other names.
    """

    def __init__(self, cells: Cells, write: Callable[[Cells], str]):
        super().__init__(write(cells))
        self.cells, self.write = cells, write


def level_text(factor: str, level: Level) -> str:
    """Return a level of a factor in words, e.g. ``size 5,000``."""
    return f"{factor} {level:,}" if isinstance(level, int) else f"{factor} {level}"


def _encode(table: pd.DataFrame, column: str) -> tuple[list[Level], IntArray]:
    """Return the levels of a column (numbers ascending, else in order of appearance) and codes."""
    codes, uniques = pd.factorize(table[column])
    if (codes < 0).any():
        raise ValueError(f"the column {column!r} has a row without a value")
    levels: list[Level] = uniques.tolist()
    if not all(isinstance(level, Real) for level in levels):
        return levels, codes
    order = sorted(range(len(levels)), key=levels.__getitem__)
    return [levels[place] for place in order], np.argsort(order)[codes]


def _numbers(table: pd.DataFrame, column: str) -> FloatArray:
    """Return a column as floats."""
    try:
        return table[column].to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the column {column!r} is not numeric: {error}") from error


def check_levels(factors: Sequence[str], levels: Sequence[Sequence[Level]], analysis: str) -> None:
    """Raise an error for a factor with one level, of which an analysis needs two."""
    for factor, names in zip(factors, levels, strict=True):
        if len(names) < 2:
            raise ValueError(
                f"the factor {factor!r} has one level ({names[0]}); {analysis} needs at least two"
            )


def cells(table: pd.DataFrame, subject: str, within: Sequence[str], value: str) -> Cells:
    """Arrange a long table as an array of subjects by cells.

    Parameters
    ----------
    table
        One row per subject and cell; other columns are ignored, except `status`, which is
        reported for missing values.
    subject
        Column of the subjects (the generated models).
    within
        Columns of the factors; every subject should have every combination of levels.
    value
        Column of the values.

    Raises
    ------
    ValueError
        If a column is missing, named twice or has gaps, if there are no rows, or if a subject
        has several rows for one cell.
    """
    factors = tuple(within)
    columns = (subject, *factors, value)
    for column in columns:
        if column not in table.columns:
            present = ", ".join(map(str, table.columns))
            raise ValueError(f"the table has no column {column!r}; it has: {present}")
        if columns.count(column) > 1:
            raise ValueError(f"the column {column!r} is named twice among {', '.join(columns)}")
    if not factors:
        raise ValueError("within names no factor; at least one is needed")
    if table.empty:
        raise ValueError("the table has no rows")

    encoded = [_encode(table, column) for column in (subject, *factors)]
    shape = tuple(len(levels) for levels, _ in encoded)
    positions = np.ravel_multi_index([codes for _, codes in encoded], shape)
    array = np.full(shape, np.nan)
    array.flat[positions] = _numbers(table, value)
    infinite = np.where(np.isinf(array), np.sign(array), 0.0)
    array[infinite != 0] = np.nan
    status = np.full(shape, "no row", dtype=np.object_)
    status.flat[positions] = table["status"].to_numpy(object) if "status" in table else "ok"

    subjects, *levels = (names for names, _ in encoded)
    result = Cells(subject, factors, value, subjects, levels, array, infinite, status)
    counts = np.bincount(positions, minlength=math.prod(shape))
    if (counts > 1).any():
        first = int(counts.argmax())
        row, *cell = (int(code) for code in np.unravel_index(first, shape))
        raise ValueError(
            f"{subject} {subjects[row]} has {counts[first]} rows for {result.label(cell)}; "
            "there must be one"
        )
    return result


def complete_subjects(
    table: pd.DataFrame, subject: str, within: Sequence[str], value: str
) -> tuple[FloatArray, list[list[Level]], list[Level], list[LeftOut]]:
    """Arrange the complete subjects, with a finite value in every cell, as an array.

    Parameters
    ----------
    table, subject, within, value
        As in `cells`.

    Returns
    -------
    values : ndarray
        Subjects × levels of the first factor × levels of the second, and so on.
    levels : list of list
        The levels of every factor: numbers ascending, anything else in order of appearance.
    subjects : list
        The subjects used, in the order of the array.
    left_out : list of LeftOut
        Those that lack a cell, or have NaN or an infinity in one; a warning is logged when there
        are any.

    Raises
    ------
    ValueError
        If no subject is complete, or the table is malformed (see `cells`).
    """
    every = cells(table, subject, within, value)
    left_out = every.left_out("left out of the analysis of complete subjects")
    kept = np.isfinite(every.array).reshape(len(every.subjects), -1).all(axis=1)
    if not kept.any():
        text = (
            f"no {subject} has a finite {every.noun} in every cell; e.g. {every.subjects[0]} has "
        )
        raise CellsError(every, lambda named: text + named.reason(0))
    subjects = [every.subjects[row] for row in np.flatnonzero(kept)]
    return every.array[kept], every.levels, subjects, left_out
