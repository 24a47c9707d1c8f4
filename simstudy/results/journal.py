"""Finished cells on disk, model by model, so that a run that was stopped can go on."""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from time import monotonic
from typing import Any

from simstudy.engine.task import Cell
from simstudy.results.files import write_files
from simstudy.results.manifest import says_whose
from simstudy.study.constants import JOURNAL

_FIELDS = [field.name for field in fields(Cell)]
_TEXTS = [field.name for field in fields(Cell) if field.type in ("str", str)]
_START = 9  # where a line begins after its checksum
# What is added is the system's at once: a kill of this process loses nothing. It is forced to disk
# with the first task that comes so many seconds after the last time; until then the loss of power
# may cost what the system has not written by itself.
_SYNC_EVERY = 1.0


class Journal:
    """A file to which the cells of each task are added as it finishes, one line a task.

    A line before them says whose cells they are. Every line begins with a checksum of the rest. A
    line that was not finished, because the run was killed, or that was damaged later, is left out
    when the file is read.
    """

    def __init__(self, directory: Path) -> None:
        self.path = directory / JOURNAL

    @contextlib.contextmanager
    def adding(self) -> Iterator[Callable[[Iterable[Cell]], None]]:
        """A function that adds the cells of a task; all are on disk when this is left."""
        with self.path.open("ab", buffering=0) as file:
            synced = monotonic()

            def add(cells: Iterable[Cell]) -> None:
                nonlocal synced
                left = memoryview(_line(cells))
                while left:
                    left = left[file.write(left) :]
                if monotonic() - synced >= _SYNC_EVERY:
                    os.fsync(file.fileno())
                    synced = monotonic()

            try:
                yield add
            except BaseException:
                with contextlib.suppress(OSError):  # what went wrong first is what to tell
                    os.fsync(file.fileno())
                raise
            os.fsync(file.fileno())

    def add(self, cells: Iterable[Cell]) -> None:
        """Add the cells of a task; they are on disk when this returns."""
        with self.adding() as add:
            add(cells)

    def tasks(self) -> Iterator[list[Cell]]:
        """The cells of each undamaged line; of a cell written twice, the later comes later."""
        for said in self.lines():
            if isinstance(said, list):
                yield said

    def cells(self) -> Iterator[Cell]:
        """The cells of all undamaged lines, one by one."""
        for cells in self.tasks():
            yield from cells

    def lines(self) -> Iterator[list[Cell] | dict[str, Any] | None]:
        """What each line says: cells, or whose they are; None if it is damaged."""
        return map(_said, self._lines())

    def say(self, whose: dict[str, Any]) -> None:
        """Note whose the cells are, if that is not what was noted last."""
        if self.whose() == json.loads(json.dumps(whose)):
            return
        with self.path.open("ab") as file:
            # After the unfinished line of a run that was killed, on a line of its own.
            file.write((b"\n" if self._is_torn() else b"") + _line(whose))

    def _is_torn(self) -> bool:
        """Whether the last line is not finished."""
        with self.path.open("rb") as file:
            if file.seek(0, os.SEEK_END) == 0:
                return False
            file.seek(-1, os.SEEK_END)
            return file.read() != b"\n"

    def whose(self) -> dict[str, Any] | None:
        """What was last noted of whose the cells are; None if nothing was."""
        noted = (_said(line) for line in self._lines() if line[_START : _START + 1] == b"{")
        return next((said for said in reversed([*noted]) if isinstance(said, dict)), None)

    def mend(self) -> None:
        """Drop damaged lines from the file."""
        self._replace(line for line in self._lines() if _said(line) is not None)

    def drop(self, unwanted: Callable[[Cell], bool]) -> int:
        """Take cells out of the file, and return how many there were."""
        dropped = sum(unwanted(cell) for cell in self.cells())
        if dropped:
            self._replace(_line(kept) for kept in self._without(unwanted) if kept)
        return dropped

    def _without(self, unwanted: Callable[[Cell], bool]) -> Iterator[Any]:
        for said in self.lines():
            if isinstance(said, list):
                yield [cell for cell in said if not unwanted(cell)]
            else:
                yield said

    def _lines(self) -> Iterator[bytes]:
        if self.path.exists():
            with self.path.open("rb") as file:
                yield from file

    def _replace(self, lines: Iterable[bytes]) -> None:
        write_files({self.path: lines})


def _line(what: Iterable[Cell] | dict[str, Any]) -> bytes:
    if not isinstance(what, dict):
        text = json.dumps([{name: getattr(cell, name) for name in _FIELDS} for cell in what])
    else:
        text = json.dumps(what)
    return f"{zlib.crc32(text.encode()):08x} {text}\n".encode()


def _said(line: bytes) -> list[Cell] | dict[str, Any] | None:
    """What a line says: cells, or whose they are; None if it is damaged or says neither."""
    checksum, _, text = line.partition(b" ")
    if not line.endswith(b"\n") or checksum != f"{zlib.crc32(text[:-1]):08x}".encode():
        return None
    try:
        said = json.loads(text)
        if isinstance(said, dict):
            return said if says_whose(said) else None
        return [_cell(kept) for kept in said]
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return None


def _cell(kept: dict[str, Any]) -> Cell:
    for name, least in (("model", 0), ("size", 1)):
        if type(kept[name]) is not int or not least <= kept[name] < 2**53:
            raise TypeError("a model and a size are whole numbers")
    for name in _TEXTS:
        kept.get(name, "").encode()  # a text, and one that can be written
    kept["values"] = tuple(map(_number, kept["values"]))
    for name in ("fit_seconds", "predict_seconds"):
        kept[name] = _number(kept[name])
    return Cell(**kept)


def _number(value: Any) -> float:
    if type(value) is not float and type(value) is not int:
        raise TypeError("values and seconds are numbers")
    return float(value)
