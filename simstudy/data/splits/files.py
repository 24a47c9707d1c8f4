"""Splits read from CSV files.

Rows are those of the data set as it is used, counted from 0. A file has the column ``row`` and

- one column for each repeat, with any name: the fold in which the row is tested; or
- ``repeat`` and ``fold``: the fold in which the row is tested in that repeat; or
- ``repeat``, ``fold`` and ``part``, which is train or test: for splits whose test rows are not
  parts of one division, as of holdout and bootstrap. Training rows may be repeated.

The column ``set`` names the data set of each line, in a file for several of them. Every split has
all rows of the data set, each in one part alone.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simstudy.data.splits.schemes import Split
from simstudy.errors import SimstudyError, check_regular, reason, suggestion

_MAX_NUMBER = 2**31 - 1  # of a repeat or fold
_MAX_DIGITS = 10


class _Entry(NamedTuple):
    """What a line says of a row: where it is tested, or that it trains."""

    line: int
    column: str
    row: int
    fold: int
    trains: bool = False


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
    """The lines of one data set in a file of splits."""

    def __init__(self, path: Path, rows: int, dataset: str | None) -> None:
        self.path, self.rows = path, rows
        lines = self._lines()
        self.header = next(lines, (0, []))[1]
        # The columns that say how a row is used.
        self.columns = [name for name in self.header if name not in ("set", "row")]
        self._check_header()
        self.lines = self._of_dataset(list(lines), dataset)

    def _wrong(self, text: str, line: int = 0, column: str = "") -> SimstudyError:
        places = [str(self.path), f"line {line}" * bool(line), f"column '{column}'" * bool(column)]
        return SimstudyError(f"{', '.join(filter(None, places))}: {text}")

    def _lines(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the number and the cells of each line that is not empty."""
        try:
            check_regular(self.path)
            content = self.path.read_bytes()
            if content[:2] == b"\x1f\x8b":
                content = gzip.decompress(content)
            reader = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
            for cells in reader:
                if any(cells):
                    yield reader.line_num, [cell.strip() for cell in cells]
        except UnicodeDecodeError as error:
            raise self._wrong("the file of splits is not UTF-8 text") from error
        except (OSError, ValueError, EOFError, zlib.error) as error:
            raise self._wrong(f"the file of splits cannot be read: {reason(error)}") from error
        except csv.Error as error:
            raise self._wrong(f"the file of splits is not CSV: {error}") from error

    def _check_header(self) -> None:
        names = self.header
        if twice := [name for place, name in enumerate(names) if name in names[:place]]:
            raise self._wrong(f"two columns are named '{twice[0]}'", 1)
        if "row" not in names:
            header = f"its columns are {', '.join(names)}" if names else "it is empty"
            raise self._wrong(f"a file of splits needs the column 'row'; {header}")
        for key in ("repeat", "fold"):
            if {"repeat", "fold", "part"} & {*names} and key not in names:
                raise self._wrong(f"the column '{key}' is missing; repeat and fold go together")
        if not self.columns:
            raise self._wrong("a file of splits needs a column of folds for each repeat")

    def _of_dataset(
        self, lines: Sequence[tuple[int, list[str]]], dataset: str | None
    ) -> list[tuple[int, dict[str, str]]]:
        width = len(self.header)
        for number, cells in lines:
            if len(cells) != width:
                raise self._wrong(f"the line has {len(cells)} cells, the header {width}", number)
        chosen = [(number, dict(zip(self.header, cells, strict=True))) for number, cells in lines]
        if "set" in self.header:
            sets = dict.fromkeys(cells["set"] for _, cells in chosen)
            if dataset is None and len(sets) > 1:
                raise self._wrong(f"which of its data sets is meant? {', '.join(sets)}")
            if dataset is not None and dataset not in sets:
                near = suggestion(dataset, sets)
                raise self._wrong(f"no lines of the data set '{dataset}'{near}")
            chosen = [line for line in chosen if dataset in (None, line[1]["set"])]
        if not chosen:
            raise self._wrong("the file has no splits, only a header")
        return chosen

    def splits(self) -> tuple[Split, ...]:
        """Return the splits; raise an error if the lines do not make any."""
        wide, named = "repeat" not in self.header, "part" in self.header
        repeats: dict[tuple[int, ...], list[_Entry]] = {}
        for line, cells in self.lines:
            row = self._number(line, "row", cells, self.rows - 1)
            if wide:
                for repeat, name in enumerate(self.columns):
                    fold = self._number(line, name, cells)
                    repeats.setdefault((repeat,), []).append(_Entry(line, name, row, fold))
                continue
            repeat, fold = (self._number(line, name, cells) for name in ("repeat", "fold"))
            part = cells.get("part", "test")
            if part not in ("train", "test"):
                raise self._wrong(f"'{part}' must be train or test", line, "part")
            key = (repeat, fold) if named else (repeat,)
            repeats.setdefault(key, []).append(_Entry(line, "row", row, fold, part == "train"))
        make = self._split if named else self._folds
        return tuple(split for key in sorted(repeats) for split in make(key, repeats[key]))

    def _number(
        self, line: int, column: str, cells: Mapping[str, str], largest: int = _MAX_NUMBER
    ) -> int:
        text = cells[column]
        if not (text.isascii() and text.isdecimal()):
            raise self._wrong(f"'{text}' must be a whole number from 0", line, column)
        if len(text) > _MAX_DIGITS or int(text) > largest:
            allowed = "the rows of the data set are" if column == "row" else "it must be"
            raise self._wrong(f"'{text}' is too large; {allowed} 0 to {largest}", line, column)
        return int(text)

    def _folds(self, key: tuple[int, ...], entries: Sequence[_Entry]) -> list[Split]:
        """Return the splits of a repeat in which each row is tested once."""
        tested = np.full(self.rows, -1)
        for line, column, row, fold, _ in entries:
            if tested[row] == fold:
                raise self._wrong(f"row {row} is given twice in repeat {key[0]}", line, column)
            if tested[row] >= 0:
                both = f"row {row} is in fold {fold} and in fold {tested[row]}"
                raise self._wrong(f"the folds of repeat {key[0]} overlap: {both}", line, column)
            tested[row] = fold
        self._check_all(tested >= 0, f"repeat {key[0]}")
        folds = np.unique(tested).tolist()
        if len(folds) == 1:
            raise self._wrong(f"repeat {key[0]} has one fold only, {folds[0]}; at least 2 needed")
        return [Split(key[0], fold, tested) for fold in folds]

    def _split(self, key: tuple[int, ...], entries: Sequence[_Entry]) -> list[Split]:
        """Return the split whose training and test rows are given."""
        repeat, fold = key
        where = f"repeat {repeat}, fold {fold}"
        train, test = np.zeros(self.rows, dtype=np.intp), np.zeros(self.rows, dtype=np.intp)
        for line, column, row, _, trains in entries:
            (train if trains else test)[row] += 1
            if train[row] and test[row]:
                raise self._wrong(f"row {row} is in both parts of {where}", line, column)
            if test[row] > 1:
                raise self._wrong(f"row {row} is tested twice in {where}", line, column)
        self._check_all((train > 0) | (test > 0), where)
        for part, counts in {"training": train, "test": test}.items():
            if not counts.any():
                raise self._wrong(f"{where} has no {part} rows")
        bag = np.repeat(np.arange(self.rows), train) if train.max() > 1 else None
        return [Split(repeat, fold, np.where(test > 0, fold, -1), bag)]

    def _check_all(self, used: npt.NDArray[np.bool_], where: str) -> None:
        if not used.all():
            lacking = f"{len(used) - used.sum()} of the {self.rows} rows, first row {used.argmin()}"
            raise self._wrong(f"{where} lacks {lacking}")
