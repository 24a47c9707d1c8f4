"""Finished cells on disk, model by model, so that an interrupted run can resume."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from simstudy.engine.task import Cell
from simstudy.results.store.atomic_files import usable, write_files
from simstudy.results.store.manifest import Owner, fits
from simstudy.study.constants import JOURNAL

_FIELDS = [field.name for field in fields(Cell)]
_TEXTS = [field.name for field in fields(Cell) if field.type in ("str", str)]
_START = 9  # where a line begins after its checksum
# Lines are passed to the system at once, so killing this process loses nothing; they are synced to
# disk at this interval in seconds, so a power failure may lose the most recent ones.
_SYNC_EVERY = 1.0
_SAVED = "; finished cells are saved; the same command resumes the run"


class Journal:
    """A file to which the cells of each finished task are added as a line.

    A line before them records the study that owns them. Every line begins with a checksum of the
    rest; incomplete or damaged lines are skipped when the file is read.
    """

    def __init__(self, directory: Path) -> None:
        self.path = directory / JOURNAL

    @contextlib.contextmanager
    def adding(self) -> Iterator[Callable[[Iterable[Cell]], None]]:
        """A function that adds the cells of a task; all are on disk on exit."""
        writing = partial(usable, self.path.parent, _SAVED)
        with contextlib.ExitStack() as stack:
            with writing():
                file = stack.enter_context(self.path.open("ab", buffering=0))
            synced = monotonic()

            def add(cells: Iterable[Cell]) -> None:
                nonlocal synced
                left = memoryview(_line(cells))
                with writing():
                    while left:
                        left = left[file.write(left) :]
                    if monotonic() - synced >= _SYNC_EVERY:
                        os.fsync(file.fileno())
                        synced = monotonic()

            try:
                yield add
            except BaseException:
                with contextlib.suppress(OSError):  # the first error is the one to report
                    os.fsync(file.fileno())
                raise
            with writing():
                os.fsync(file.fileno())
                stack.close()

    def tasks(self) -> Iterator[list[Cell]]:
        """The cells of each undamaged line; of a cell written twice, the later comes later."""
        return (entry for entry in self.entries() if isinstance(entry, list))

    def cells(self) -> Iterator[Cell]:
        """The cells of all undamaged lines, one by one."""
        return itertools.chain.from_iterable(self.tasks())

    def entries(self) -> Iterator[list[Cell] | dict[str, object] | None]:
        """The content of each line: cells, or the study that owns them; None if damaged."""
        return map(_entry, self._lines())

    def record_owner(self, owner: dict[str, object]) -> None:
        """Record the study that owns the cells, unless it was the last one recorded."""
        if self.owner() == json.loads(json.dumps(owner)):
            return
        with usable(self.path.parent), self.path.open("a+b") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(end - 1, 0))
            torn = file.read() not in (b"", b"\n")  # after an incomplete line, on a new line
            file.write(b"\n" * torn + _line(owner))

    def owner(self) -> dict[str, object] | None:
        """The study last recorded as the owner of the cells, if any."""
        return next(reversed(self.owners()), None)

    def owners(self) -> list[dict[str, Any]]:
        """All studies recorded as owners of the cells, the last one last."""
        entries = (_entry(line) for line in self._lines() if line[_START : _START + 1] == b"{")
        return [entry for entry in entries if isinstance(entry, dict)]

    def repair(self) -> None:
        """Remove damaged lines from the file."""
        self._write(line for line in self._lines() if _entry(line) is not None)

    def drop(self, unwanted: Callable[[Cell], bool]) -> int:
        """Remove cells from the file; returns their number."""
        dropped = sum(unwanted(cell) for cell in self.cells())
        if dropped:
            remaining = (
                [cell for cell in entry if not unwanted(cell)] if isinstance(entry, list) else entry
                for entry in self.entries()
            )
            self._write(_line(entry) for entry in remaining if entry)
        return dropped

    def replace(self, owner: dict[str, object], tasks: Iterable[list[Cell]]) -> None:
        """Write a new file in place of this one, which may be read meanwhile."""
        self._write(itertools.chain([_line(owner)], map(_line, tasks)))

    def _write(self, lines: Iterable[bytes]) -> None:
        with usable(self.path.parent):
            write_files({self.path: lines})

    def _lines(self) -> Iterator[bytes]:
        with usable(self.path.parent):
            if self.path.exists():
                with self.path.open("rb") as file:
                    yield from file


def _line(entry: Iterable[Cell] | dict[str, object]) -> bytes:
    text = json.dumps(entry if isinstance(entry, dict) else [*map(_fields, entry)])
    return f"{zlib.crc32(text.encode()):08x} {text}\n".encode()


def _fields(cell: Cell) -> dict[str, object]:
    """What is recorded of a cell; answers only if it keeps any."""
    return {name: getattr(cell, name) for name in _FIELDS if name != "answers" or cell.answers}


def _entry(line: bytes) -> list[Cell] | dict[str, Any] | None:
    """The content of a line: cells, or the study that owns them; None if damaged or neither."""
    checksum, _, text = line.partition(b" ")
    if not line.endswith(b"\n") or checksum != f"{zlib.crc32(text[:-1]):08x}".encode():
        return None
    try:
        content = json.loads(text)
        if isinstance(content, dict):
            return content if fits(Owner, content) else None
        return [_cell(cell) for cell in content]
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return None


def _cell(content: dict[str, Any]) -> Cell:
    for name, least in (("model", 0), ("size", 1)):
        if type(content[name]) is not int or not least <= content[name] < 2**53:
            raise TypeError("a model and a size are whole numbers")
    for name in _TEXTS:
        content.get(name, "").encode()  # text that can be written
    content["values"] = tuple(map(_number, content["values"]))
    for name in ("fit_seconds", "predict_seconds"):
        content[name] = _number(content[name])
    return Cell(**content)


def _number(value: object) -> float:
    if type(value) is not float and type(value) is not int:
        raise TypeError("values and seconds are numbers")
    return float(value)
