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

JOURNAL = "cells.jsonl"
_FIELDS = [field.name for field in fields(Cell)]
# What is added is the system's at once: a kill of this process loses nothing. It is forced to disk
# with the first task that comes so many seconds after the last time; until then the loss of power
# may cost what the system has not written by itself.
_SYNC_EVERY = 1.0


class Journal:
    """A file to which the cells of each task are added as it finishes, one line a task.

    Every line begins with a checksum of the rest. A line that was not finished, because the run was
    killed, or that was damaged later, is left out when the file is read.
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
        for line in self._lines():
            if (text := _content(line)) is not None:
                yield [_cell(kept) for kept in json.loads(text)]

    def cells(self) -> Iterator[Cell]:
        """The cells of all undamaged lines, one by one."""
        for cells in self.tasks():
            yield from cells

    def mend(self) -> int:
        """Drop damaged lines from the file, and return how many there were."""
        damaged = sum(not _is_whole(line) for line in self._lines())
        if damaged:
            self._replace(line for line in self._lines() if _is_whole(line))
        return damaged

    def drop(self, unwanted: Callable[[Cell], bool]) -> int:
        """Take cells out of the file, and return how many there were."""
        dropped = sum(unwanted(cell) for cell in self.cells())
        if dropped:
            kept = ([cell for cell in cells if not unwanted(cell)] for cells in self.tasks())
            self._replace(_line(cells) for cells in kept if cells)
        return dropped

    def _lines(self) -> Iterator[bytes]:
        if self.path.exists():
            with self.path.open("rb") as file:
                yield from file

    def _replace(self, lines: Iterable[bytes]) -> None:
        temporary = self.path.with_name(self.path.name + ".tmp")
        with temporary.open("wb") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self.path)


def _line(cells: Iterable[Cell]) -> bytes:
    text = json.dumps([{name: getattr(cell, name) for name in _FIELDS} for cell in cells])
    return f"{zlib.crc32(text.encode()):08x} {text}\n".encode()


def _cell(kept: dict[str, Any]) -> Cell:
    kept["values"] = tuple(kept["values"])
    return Cell(**kept)


def _content(line: bytes) -> bytes | None:
    """What a line says, None if it is damaged."""
    checksum, _, text = line.rstrip(b"\n").partition(b" ")
    return text if checksum == f"{zlib.crc32(text):08x}".encode() else None


def _is_whole(line: bytes) -> bool:
    return line.endswith(b"\n") and _content(line) is not None
