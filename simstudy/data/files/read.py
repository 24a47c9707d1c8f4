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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from simstudy.data.checks import oddities
from simstudy.data.files.arff import arff_text, read_arff
from simstudy.data.files.assembly import Assembly, ReadOptions, RowsRead
from simstudy.data.files.catalogue import catalogued
from simstudy.data.files.columns import Declaration, RawTable
from simstudy.data.files.delimited import decode, read_delimited
from simstudy.data.files.named import is_named, named_set
from simstudy.data.sample import Sample
from simstudy.errors import SimstudyError, check_regular, reason

if TYPE_CHECKING:
    from simstudy.data.files.frames import Frame

    PathOrFrame: TypeAlias = str | os.PathLike[str] | Frame

_GZIP = b"\x1f\x8b"


def read_data(
    path_or_frame: PathOrFrame,
    target: str | None = None,
    nominal: Sequence[str] = (),
    numeric: Sequence[str] = (),
    ignore: Sequence[str] = (),
    values: Mapping[str, Sequence[str]] | None = None,
    missing_values: Sequence[str] | None = None,
    groups: str | None = None,
    *,
    classes: Mapping[str, Sequence[str]] | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    keep: Sequence[str] = (),
) -> Sample:
    """Read a data set.

    Warnings say what is odd about it: rows that are dropped because their target is missing,
    columns that name rows or determine the target, rows that occur twice.

    Parameters
    ----------
    path_or_frame : path or data frame
        A file (.csv, .tsv or .txt; .arff; .parquet; also compressed, as .csv.gz); the name of a
        data set, as in ``openml:31``, ``sklearn:breast_cancer`` and ``uci:iris``; or a frame of
        pandas, polars, pyarrow, or another with the Arrow or the interchange protocol.
    target : str, optional
        The column to predict, always nominal; by default the last one. One of more than 50
        different numbers must be among ``nominal``, or have ``classes``.
    nominal, numeric : sequence of str
        Columns that are so, whatever their values look like.
    ignore : sequence of str
        Columns to leave out.
    values : mapping, optional
        The values of nominal columns, in their order.
    missing_values : sequence of str, optional
        Strings that represent a missing value. If omitted, the empty string and ``?`` do, except
        among the labels of a frame or a Parquet file; and, in
        a column whose other values are numbers, ``NA``, ``nan``, ``null``, ``-`` and the like.
    groups : str, optional
        A column that is not an attribute but states which rows belong together: ``sample.groups``.
    classes : mapping, optional
        New classes, each with the classes that it joins; rows of other classes are dropped.
    separator, encoding : str, optional
        Those of a text file; detected if omitted (UTF-8 unless a byte order mark says otherwise).
    keep : sequence of str
        Columns about which there is no warning, although they look like identifiers or leaks.

    Returns
    -------
    Sample
        Its ``schema`` has the names and values of the variables, the target last.
    """
    values, classes = {} if values is None else values, {} if classes is None else classes
    columns = (target, nominal, numeric, ignore, values, missing_values, groups, classes)
    data = read_data_set(path_or_frame, ReadOptions(*columns, separator, encoding, keep))
    for text in oddities(data):
        warnings.warn(f"{data.source}: {text}", stacklevel=2)
    return data.sample


def read_data_set(
    path_or_frame: PathOrFrame, reading: ReadOptions | None = None, describe: bool = False
) -> RowsRead:
    """Read a data set, with a record of the rows that were dropped.

    To ``describe`` it, a target of too many numbers is not refused, but has a ``refusal``.
    """
    reading = reading or ReadOptions()
    table, target, declared = _opened(path_or_frame, reading)
    unstated = reading.target is None
    known = target is not None and target not in (*reading.ignore, reading.groups)
    if unstated and known:
        reading = replace(reading, target=target)
    rows = Assembly(table, reading, declared, describe).data_set()
    rule = ("as the data set declares it" if known else "the last column") if unstated else ""
    return replace(rows, target_rule=rule)


def data_text(path_or_frame: PathOrFrame, reading: ReadOptions | None = None) -> str:
    """Return a table as ARFF text that says all that is known of its columns.

    The usual target, or that of ``reading``, is the last column. The text stands for the file:
    `read_text_set` reads the same data from it.
    """
    reading = reading or ReadOptions()
    table, target, declared = _opened(path_or_frame, reading)
    return arff_text(table, declared, target if reading.target is None else reading.target)


def read_text_set(text: str, reading: ReadOptions, source: str = "the data") -> RowsRead:
    """Read a data set from the text of `data_text`."""
    return Assembly(read_arff(text, source), reading, {}).data_set()


def _opened(
    path_or_frame: PathOrFrame, reading: ReadOptions
) -> tuple[RawTable, str | None, Mapping[str, Declaration]]:
    """The columns of a file or frame, and the target and declarations of a catalogue."""
    if isinstance(path_or_frame, str | os.PathLike):
        if is_named(path_or_frame):
            data = named_set(path_or_frame)
            table, target, declared = _opened(data.content, reading)
            table.source, table.name = data.source, data.name
            return table, data.target or target, declared
        path = Path(path_or_frame)
        table = _read_file(path, reading)
        table.name = path.name.split(".")[0]
        return table, *catalogued(path)
    from simstudy.data.files.frames import is_frame, read_frame

    if is_frame(path_or_frame):
        return read_frame(path_or_frame, reading.missing_values is None), None, {}
    kind = type(path_or_frame).__name__
    lazy = "; collect it first" if hasattr(path_or_frame, "collect") else ""
    raise SimstudyError(f"data are read from a path or a data frame, not from a {kind}{lazy}")


def _read_file(path: Path, reading: ReadOptions) -> RawTable:
    source, suffix = str(path), Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix not in (".csv", ".tsv", ".txt", ".arff", ".parquet"):
        types = ".csv, .tsv, .txt, .arff (each also with .gz), .parquet"
        raise SimstudyError(f"{source} has the unknown type '{suffix}'; known: {types}")
    if suffix == ".parquet":
        from simstudy.data.files.frames import read_parquet

        with _readable(path):
            return read_parquet(path, source, reading.missing_values is None)
    text = file_text(path, reading.encoding)
    if suffix == ".arff":
        return read_arff(text, source)
    return read_delimited(text, reading.separator, source)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Report in one sentence why a file cannot be read."""
    try:
        check_regular(path)
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise SimstudyError(f"{path} cannot be uncompressed: {error}") from error
    except SimstudyError:
        raise
    except (OSError, ValueError) as error:
        raise SimstudyError(f"{path} cannot be read: {reason(error)}{_nearest(path)}") from error


def file_text(path: Path, encoding: str | None = None) -> str:
    """The text of a file that may be compressed."""
    with _readable(path):
        data = path.read_bytes()
        if compressed := data.startswith(_GZIP):
            data = gzip.decompress(data)
    try:
        return decode(data, encoding, str(path))
    except SimstudyError as error:
        if compressed or not path.name.lower().endswith(".gz"):
            raise
        why = "it is neither a gzip file nor text"
        raise SimstudyError(f"{path} cannot be uncompressed: {why}") from error


def _nearest(path: Path) -> str:
    """A suggestion for a file that does not exist."""
    try:
        files = [file.name for file in path.parent.iterdir()]
    except (OSError, ValueError):
        return ""
    near = difflib.get_close_matches(path.name, files, n=1) if path.name not in files else []
    return f"; did you mean '{path.with_name(near[0])}'?" if near else ""
