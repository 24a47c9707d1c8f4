"""Data sets: read from CSV, ARFF and Parquet files and from data frames.

The target is nominal, and by default the last column. An attribute is numeric if each of its known
values is a finite number, and otherwise nominal, unless it is declared. Declarations of the caller
come before those of the catalogue beside a file (``catalogue.json``), and these before those of
the file itself: an ARFF header, the types of a Parquet file or a frame. They also give the order of
a nominal variable's values; without one, values are sorted as text. Labels are text as written.
"""

from __future__ import annotations

import difflib
import gzip
import os
import warnings
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from simstudy.arrays import FloatArray, IntArray, read_only
from simstudy.data.arff import read_arff
from simstudy.data.arff_text import arff_text
from simstudy.data.catalogue import catalogued
from simstudy.data.delimited import decode, read_delimited
from simstudy.data.sample import Sample
from simstudy.data.schema import Schema, Variable
from simstudy.data.table import NOMINAL, NUMERIC, Coder, Column, Declaration, Table, listed, shown
from simstudy.errors import SimstudyError, suggestion
from simstudy.texts import counted

_GZIP = b"\x1f\x8b"
_DELIMITED = (".csv", ".tsv", ".txt")
_MANY_COLUMNS = 20  # beyond which an error does not list them


@dataclass(frozen=True)
class Reading:
    """How a file is read: the keywords of `read_data`."""

    target: str | None = None
    nominal: Sequence[str] = ()
    numeric: Sequence[str] = ()
    ignore: Sequence[str] = ()
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    missing_values: Sequence[str] = ("", "?")
    groups: str | None = None
    classes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    separator: str | None = None
    encoding: str | None = None


@dataclass(frozen=True)
class DataSet:
    """Rows that were read, and what was left out.

    Attributes
    ----------
    source : str
        The file.
    sample : Sample
        The rows.
    rows : array
        The place of each of them in the file, counted from 0.
    without_target : tuple of str
        The rows dropped because their target is missing, as in "line 3".
    other_classes : mapping
        The number of rows dropped of each class that `classes` does not name.
    almost_numeric : mapping
        Nominal columns of numbers but for a few values: these values.
    """

    source: str
    sample: Sample
    rows: IntArray
    without_target: tuple[str, ...]
    other_classes: Mapping[str, int]
    almost_numeric: Mapping[str, tuple[str, ...]]

    @property
    def dropped(self) -> list[str]:
        """Sentences about the rows that are left out."""
        texts = []
        if self.without_target:
            number = counted(len(self.without_target), "row")
            texts.append(f"{number} without a target dropped: {listed(self.without_target)}")
        if self.other_classes:
            number = counted(sum(self.other_classes.values()), "row")
            named = [f"'{label}' ({count:,})" for label, count in self.other_classes.items()]
            texts.append(f"{number} of other classes dropped: {listed(named)}")
        return texts


def read_data(
    path_or_frame: Any,
    target: str | None = None,
    nominal: Sequence[str] = (),
    numeric: Sequence[str] = (),
    ignore: Sequence[str] = (),
    values: Mapping[str, Sequence[str]] | None = None,
    missing_values: Sequence[str] = ("", "?"),
    groups: str | None = None,
    *,
    classes: Mapping[str, Sequence[str]] | None = None,
    separator: str | None = None,
    encoding: str | None = None,
) -> Sample:
    """Read a data set.

    A warning counts and names the rows that are dropped because their target is missing.

    Parameters
    ----------
    path_or_frame : path or pandas.DataFrame
        A file (.csv, .tsv or .txt; .arff; .parquet; also compressed, as .csv.gz) or a frame.
    target : str, optional
        The column to predict, always nominal; by default the last one.
    nominal, numeric : sequence of str
        Columns that are so, whatever their values look like.
    ignore : sequence of str
        Columns to leave out.
    values : mapping, optional
        The values of nominal columns, in their order.
    missing_values : sequence of str
        What stands for a missing value.
    groups : str, optional
        A column that is no attribute but says which rows belong together: ``sample.groups``.
    classes : mapping, optional
        New classes, each with the classes that it joins; rows of other classes are dropped.
    separator, encoding : str, optional
        Those of a text file; found if not given (UTF-8 unless a byte order mark says otherwise).

    Returns
    -------
    Sample
        Its ``schema`` has the names and values of the variables, the target last.
    """
    reading = Reading(
        None if target is None else str(target),
        _names(nominal),
        _names(numeric),
        _names(ignore),
        {str(name): given for name, given in (values or {}).items()},
        _names(missing_values),
        None if groups is None else str(groups),
        classes or {},
        separator,
        encoding,
    )
    data = read_data_set(path_or_frame, reading)
    for text in data.dropped:
        warnings.warn(f"{data.source}: {text}", stacklevel=2)
    return data.sample


def read_data_set(path_or_frame: Any, reading: Reading | None = None) -> DataSet:
    """Read a data set, with a record of the rows that were dropped."""
    reading = reading or Reading()
    table, target, declared = _opened(path_or_frame, reading)
    if reading.target is None and target not in (*reading.ignore, reading.groups):
        reading = replace(reading, target=target)
    return _Assembly(table, reading, declared).data_set()


def data_text(path_or_frame: Any, reading: Reading | None = None) -> str:
    """Return a table as ARFF text that says all that is known of its columns.

    The usual target, or that of ``reading``, is the last column. The text stands for the file:
    `read_text_set` reads the same data from it.
    """
    reading = reading or Reading()
    table, target, declared = _opened(path_or_frame, reading)
    return arff_text(table, declared, target if reading.target is None else reading.target)


def column_names(path_or_frame: Any, reading: Reading) -> list[str]:
    """Return the names of the columns of a file or frame."""
    return [column.name for column in _opened(path_or_frame, reading)[0].columns]


def read_text_set(text: str, reading: Reading, source: str = "the data") -> DataSet:
    """Read a data set from the text of `data_text`."""
    return _Assembly(read_arff(text, source), reading, {}).data_set()


def _opened(
    path_or_frame: Any, reading: Reading
) -> tuple[Table, str | None, Mapping[str, Declaration]]:
    """The columns of a file or frame, and the target and declarations of a catalogue."""
    if isinstance(path_or_frame, str | os.PathLike):
        path = Path(path_or_frame)
        return _read_file(path, reading), *catalogued(path)
    if hasattr(path_or_frame, "iloc") and hasattr(path_or_frame, "columns"):
        from simstudy.data.frames import read_frame

        return read_frame(path_or_frame), None, {}
    kind = type(path_or_frame).__name__
    raise SimstudyError(f"data are read from a path or a data frame, not from a {kind}")


def _names(given: Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(map(str, given))


def _read_file(path: Path, reading: Reading) -> Table:
    source, name = str(path), path.name.lower()
    suffix = Path(name.removesuffix(".gz")).suffix
    if suffix not in (*_DELIMITED, ".arff", ".parquet"):
        raise SimstudyError(
            f"{source} has the unknown type '{suffix}'; known: .csv, .tsv, .txt, .arff (each also "
            "with .gz), .parquet"
        )
    try:
        if suffix == ".parquet":
            from simstudy.data.frames import read_parquet

            return read_parquet(path, source)
        data = path.read_bytes()
        if compressed := data.startswith(_GZIP):
            data = gzip.decompress(data)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise SimstudyError(f"{source} cannot be uncompressed: {error}") from error
    except (OSError, ValueError) as error:
        if isinstance(error, SimstudyError):
            raise
        text = getattr(error, "strerror", None) or error
        raise SimstudyError(f"{source} cannot be read: {text}{_nearest(path)}") from error
    try:
        text = decode(data, reading.encoding, source)
    except SimstudyError as error:
        if compressed or not name.endswith(".gz"):
            raise
        raise SimstudyError(
            f"{source} cannot be uncompressed: it is neither a gzip file nor text"
        ) from error
    if suffix == ".arff":
        return read_arff(text, source)
    return read_delimited(text, reading.separator, source)


def _nearest(path: Path) -> str:
    """A suggestion for a file that does not exist."""
    try:
        files = [file.name for file in path.parent.iterdir()]
    except (OSError, ValueError):
        return ""
    near = difflib.get_close_matches(path.name, files, n=1) if path.name not in files else []
    return f"; did you mean '{path.with_name(near[0])}'?" if near else ""


@dataclass
class _Assembly:
    """Makes a sample of a table."""

    table: Table
    reading: Reading
    catalogued: Mapping[str, Declaration]

    def data_set(self) -> DataSet:
        table, reading = self.table, self.reading
        self._check_keys()
        columns = [c for c in table.columns if c.name not in (*reading.ignore, reading.groups)]
        if not columns:
            raise table.error("no column is left for the target")
        place = len(columns) - 1
        if reading.target is not None:
            place = [column.name for column in columns].index(reading.target)
        target = columns.pop(place)
        if not columns:
            raise table.error(
                f"there is no attribute besides the target '{target.name}'{table.remark}"
            )
        if not table.rows:
            raise table.error("there are no rows")
        coder = Coder(table, {*reading.missing_values})
        label, classes = coder.code(target, self._declared(target, NOMINAL))
        without = np.flatnonzero(np.isnan(classes))
        if len(without) == table.rows:
            raise table.error(f"the target '{label.name}' is missing in every row")
        label, classes, others = self._joined(label, classes)
        if label.card < 2:
            raise table.error(
                f"the target '{label.name}' has one class, {shown((label.values or ('',))[0])}; "
                "two are needed"
            )
        coded = [coder.code(column, self._declared(column)) for column in columns]
        if all(np.isnan(numbers).all() for _, numbers in coded):
            raise table.error("every value of every attribute is missing")
        kept = np.flatnonzero(~np.isnan(classes))
        if not len(kept):
            raise table.error("no row has a class that 'classes' names")
        given = np.empty((len(kept), len(coded) + 1), order="F")
        for column, (_, numbers) in enumerate([*coded, (label, classes)]):
            given[:, column] = numbers[kept]
        sample = Sample.of(given, Schema((*(variable for variable, _ in coded), label)))
        sample.groups = self._groups(coder, kept)
        places = tuple(table.place(int(row)) for row in without)
        return DataSet(table.source, sample, kept, places, others, coder.almost_numeric)

    def _check_keys(self) -> None:
        """Refuse names of columns that are not there, and contradictions."""
        table, reading = self.table, self.reading
        names = [column.name for column in table.columns]
        for name, number in Counter(names).items():
            if not name.strip():
                raise table.error(f"column {names.index(name) + 1} has no name")
            if number > 1:
                raise table.error(f"{number} columns are named '{name}'")
        keys: dict[str, Iterable[str]] = {
            "target": [] if reading.target is None else [reading.target],
            "groups": [] if reading.groups is None else [reading.groups],
            "ignore": reading.ignore,
            "nominal": reading.nominal,
            "numeric": reading.numeric,
            "values": reading.values,
        }
        for key, given in keys.items():
            for name in given:
                if name not in names:
                    raise table.error(f"{key} names the column '{name}'{_among(name, names)}")
        for first, second in (
            ("target", "groups"),
            ("target", "ignore"),
            ("target", "numeric"),
            ("groups", "ignore"),
            ("nominal", "numeric"),
            ("values", "numeric"),
        ):
            both = {*keys[first]} & {*keys[second]}
            if both:
                raise table.error(f"'{min(both)}' cannot be both {first} and {second}")
        for name, values in reading.values.items():
            if isinstance(values, str) or len({*map(str, values)}) < len(values):
                raise table.error(f"the values of '{name}' must be a list of different values")

    def _declared(self, column: Column, kind: str | None = None) -> Declaration:
        """What is known of a column: from the caller, the catalogue, or the file."""
        reading, name = self.reading, column.name
        if name in reading.values:
            return Declaration(NOMINAL, tuple(map(str, reading.values[name])))
        if name in reading.numeric:
            return Declaration(NUMERIC, explicit=True)
        found = self.catalogued.get(name, Declaration(column.kind, column.values))
        if name in reading.nominal:
            kind = NOMINAL
        if kind is None or kind == found.kind:
            self._check_values(column, found)
            return found
        return Declaration(kind)

    def _check_values(self, column: Column, declared: Declaration) -> None:
        values = declared.values or ()
        if len({*values}) < len(values):
            raise self.table.error("two of its values are written alike", None, column.name)

    def _joined(
        self, label: Variable, codes: FloatArray
    ) -> tuple[Variable, FloatArray, dict[str, int]]:
        """Join classes; the codes of classes that are not named become NaN and are counted."""
        if not (classes := self.reading.classes):
            return label, codes, {}
        old, new = list(label.values or ()), np.full(label.card, np.nan)
        for place, (name, joined) in enumerate(classes.items()):
            if not joined:
                raise self.table.error(f"classes.{name} names no class")
            for each in _names(joined):
                if each not in old:
                    raise self.table.error(
                        f"classes.{name} names the class '{each}'{_among(each, old)}"
                    )
                if not np.isnan(new[old.index(each)]):
                    raise self.table.error(f"classes names the class '{each}' twice")
                new[old.index(each)] = place
        known = codes[~np.isnan(codes)].astype(np.intp)
        counts = np.bincount(known, minlength=label.card)
        others = {
            name: int(count)
            for name, count, place in zip(old, counts, new, strict=True)
            if count and np.isnan(place)
        }
        recoded = codes.copy()
        recoded[~np.isnan(codes)] = new[known]
        return Variable(label.name, tuple(classes)), recoded, others

    def _groups(self, coder: Coder, kept: IntArray) -> IntArray | None:
        """The group of each row that is kept."""
        for column in self.table.columns:
            if column.name == self.reading.groups:
                _, groups = coder.code(column, Declaration(NOMINAL))
                lacking = kept[np.isnan(groups[kept])]
                if len(lacking):
                    raise self.table.error("the group is missing", int(lacking[0]), column.name)
                return read_only(groups[kept].astype(np.intp))
        return None


def _among(name: str, names: Sequence[str]) -> str:
    """A suggestion for a name that is not there."""
    many = len(names) > _MANY_COLUMNS
    near = difflib.get_close_matches(name, names, n=5, cutoff=0.5) if many else names
    return f", which is not there{suggestion(name, near) if near else ''}"
