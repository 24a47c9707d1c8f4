"""Splits read from CSV files.

Rows are those of the data set as it is used, counted from 0. A file has the column ``row`` and

- one column for each repeat, with any name: the fold in which the row is tested; or
- ``repeat`` and ``fold``: the fold in which the row is tested in that repeat; or
- ``repeat``, ``fold`` and ``part``, which is train, test or unused: for splits whose test rows
  are not parts of one division, as of holdout and bootstrap. Training rows may be repeated.

The column ``set`` names the data set of each line, in a file for several of them. Every split has
all rows of the data set, each in only one part; without ``part``, each is tested.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from simstudy.arrays import BoolArray
from simstudy.data.files.delimited import HEADER, read_delimited
from simstudy.data.files.read import file_text
from simstudy.data.splits.schemes import Split
from simstudy.errors import suggestion

_MAX_NUMBER = 2**31 - 1  # of a repeat or fold
_MAX_DIGITS = 10
_PARTS = ("train", "test", "unused")


class _Entry(NamedTuple):
    """What a line says of a row: where it is tested, or that it trains or is not used."""

    line: int
    column: str
    row: int
    fold: int
    part: str = "test"


def read_splits(path: str | Path, rows: int, dataset: str | None = None) -> tuple[Split, ...]:
    """Read the splits of a data set from a CSV file, which may be compressed (.gz).

    Parameters
    ----------
    path : str or Path
        The file; see the module for its columns.
    rows : int
        The number of rows of the data set.
    dataset : str, optional
        Its name in the column ``set``, if the file has one.

    Returns
    -------
    tuple of Split
        In the order of repeats and folds. Repeats that are columns are counted from 0.

    Raises
    ------
    SimstudyError
        If the file cannot be read or its splits are not splits of the data set; it names the line,
        column and value.
    """
    return _SplitFile(Path(path), rows, dataset).splits()


class _SplitFile:
    """The lines of a data set in a file of splits, counted from 0 after the header."""

    def __init__(self, path: Path, rows: int, dataset: str | None) -> None:
        self.rows, self.table = rows, read_delimited(file_text(path), ",", str(path))
        columns = self.table.columns
        self.cells = {each.name: [str(cell).strip() for cell in each.cells] for each in columns}
        # The columns that say how a row is used.
        self.columns = [name for name in self.cells if name not in ("set", "row")]
        self._check_header()
        self.lines = self._of_dataset(dataset)

    def _check_header(self) -> None:
        names, error = [column.name for column in self.table.columns], self.table.error
        if twice := [name for place, name in enumerate(names) if name in names[:place]]:
            raise error(f"two columns are named '{twice[0]}'", HEADER)
        if "row" not in names:
            columns = ", ".join(names)
            raise error(f"a file of splits needs the column 'row'; its columns are {columns}")
        for key in ("repeat", "fold"):
            if {"repeat", "fold", "part"} & {*names} and key not in names:
                raise error(f"the column '{key}' is missing; repeat and fold go together")
        if not self.columns:
            raise error("a file of splits needs a column of folds for each repeat")

    def _of_dataset(self, dataset: str | None) -> Sequence[int]:
        sets, dataset = self.cells.get("set"), None if dataset is None else dataset.strip()
        lines: Sequence[int] = range(self.table.rows)
        if sets is not None:
            names = dict.fromkeys(sets)
            if dataset is None and len(names) > 1:
                raise self.table.error(f"name one of its data sets: {', '.join(names)}")
            if dataset is not None and dataset not in names:
                near = suggestion(dataset, names)
                raise self.table.error(f"no lines of the data set '{dataset}'{near}")
            lines = [line for line in lines if dataset in (None, sets[line])]
        if not lines:
            raise self.table.error("the file has no splits, only a header")
        return lines

    def splits(self) -> tuple[Split, ...]:
        """Return the splits; raise an error if the lines do not make any."""
        wide, named = "repeat" not in self.cells, "part" in self.cells
        repeats: dict[tuple[int, ...], list[_Entry]] = {}
        for line in self.lines:
            row = self._number(line, "row", self.rows - 1)
            if wide:
                for repeat, name in enumerate(self.columns):
                    fold = self._number(line, name)
                    repeats.setdefault((repeat,), []).append(_Entry(line, name, row, fold))
                continue
            repeat, fold = (self._number(line, name) for name in ("repeat", "fold"))
            part = self.cells["part"][line] if named else "test"
            if part not in _PARTS:
                raise self.table.error(f"'{part}' must be train, test or unused", line, "part")
            key = (repeat, fold) if named else (repeat,)
            repeats.setdefault(key, []).append(_Entry(line, "row", row, fold, part))
        make = self._split if named else self._folds
        return tuple(split for key in sorted(repeats) for split in make(key, repeats[key]))

    def _number(self, line: int, column: str, largest: int = _MAX_NUMBER) -> int:
        text = self.cells[column][line]
        if not (text.isascii() and text.isdecimal()):
            raise self.table.error(f"'{text}' must be a whole number from 0", line, column)
        if len(text) > _MAX_DIGITS or int(text) > largest:
            allowed = "the rows of the data set are" if column == "row" else "it must be"
            raise self.table.error(f"'{text}' is too large; {allowed} 0 to {largest}", line, column)
        return int(text)

    def _folds(self, key: tuple[int, ...], entries: Sequence[_Entry]) -> list[Split]:
        """Return the splits of a repeat in which each row is tested once."""
        (repeat,), error = key, self.table.error
        tested = np.full(self.rows, -1)
        for line, column, row, fold, _ in entries:
            if tested[row] == fold:
                raise error(f"row {row} occurs twice in repeat {repeat}", line, column)
            if tested[row] >= 0:
                both = f"row {row} is in fold {fold} and in fold {tested[row]}"
                raise error(f"the folds of repeat {repeat} overlap: {both}", line, column)
            tested[row] = fold
        self._check_all(tested >= 0, f"repeat {repeat}")
        folds = np.unique(tested).tolist()
        if len(folds) == 1:
            raise error(f"repeat {repeat} has only one fold, {folds[0]}; at least 2 are needed")
        return [Split(repeat, fold, tested) for fold in folds]

    def _split(self, key: tuple[int, ...], entries: Sequence[_Entry]) -> list[Split]:
        """Return the split whose training and test rows are named."""
        repeat, fold = key
        where = f"repeat {repeat}, fold {fold}"
        counts = {part: np.zeros(self.rows, dtype=np.intp) for part in _PARTS}
        train, test, unused = counts.values()
        for line, column, row, _, part in entries:
            counts[part][row] += 1
            if np.count_nonzero([train[row], test[row], unused[row]]) > 1:
                raise self.table.error(f"row {row} is in two parts of {where}", line, column)
            if test[row] > 1:
                raise self.table.error(f"row {row} is tested twice in {where}", line, column)
        self._check_all((train > 0) | (test > 0) | (unused > 0), where)
        for name, used in {"training": train, "test": test}.items():
            if not used.any():
                raise self.table.error(f"{where} has no {name} rows")
        others = train.max() == 1 and not unused.any()
        bag = None if others else np.repeat(np.arange(self.rows), train)
        return [Split(repeat, fold, np.where(test > 0, fold, -1), bag)]

    def _check_all(self, used: BoolArray, where: str) -> None:
        if not used.all():
            lacking = f"{len(used) - used.sum()} of the {self.rows} rows, first row {used.argmin()}"
            raise self.table.error(f"{where} lacks {lacking}")
