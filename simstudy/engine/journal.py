"""Finished cells on disk, model by model, so that a run that was stopped can go on."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from pathlib import Path

from simstudy.engine.task import Cell

JOURNAL = "cells.jsonl"
_FIELDS = [field.name for field in fields(Cell)]


class Journal:
    """A file to which the cells of each task are added as it finishes, one line a task.

    Every line begins with a checksum of the rest. A line that was not finished, because the run was
    killed, or that was damaged later, is left out when the file is read.
    """

    def __init__(self, directory: Path) -> None:
        self.path = directory / JOURNAL

    def add(self, cells: Iterable[Cell]) -> None:
        """Add the cells of a task; they are on disk when this returns."""
        with self.path.open("ab") as file:
            file.write(_line(cells))
            file.flush()
            os.fsync(file.fileno())

    def cells(self) -> Iterator[Cell]:
        """The cells of all undamaged lines; of a cell written twice, the later comes later."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            for line in file:
                checksum, _, text = line.rstrip(b"\n").partition(b" ")
                if checksum == f"{zlib.crc32(text):08x}".encode():
                    for kept in json.loads(text):
                        yield Cell(**{**kept, "values": tuple(kept["values"])})

    def mend(self) -> int:
        """Drop damaged lines from the file, and return how many there were."""
        if not self.path.exists():
            return 0
        lines = self.path.read_bytes().splitlines(keepends=True)
        good = [line for line in lines if _is_whole(line)]
        if len(good) < len(lines):
            self._replace(good)
        return len(lines) - len(good)

    def drop(self, unwanted: Callable[[Cell], bool]) -> int:
        """Take cells out of the file, and return how many there were."""
        kept: dict[int, list[Cell]] = {}
        dropped = 0
        for cell in self.cells():
            if unwanted(cell):
                dropped += 1
            else:
                kept.setdefault(cell.model, []).append(cell)
        if dropped:
            self._replace(map(_line, kept.values()))
        return dropped

    def _replace(self, lines: Iterable[bytes]) -> None:
        temporary = self.path.with_name(self.path.name + ".tmp")
        temporary.write_bytes(b"".join(lines))
        temporary.replace(self.path)


def _line(cells: Iterable[Cell]) -> bytes:
    text = json.dumps([{name: getattr(cell, name) for name in _FIELDS} for cell in cells])
    return f"{zlib.crc32(text.encode()):08x} {text}\n".encode()


def _is_whole(line: bytes) -> bool:
    checksum, _, text = line.rstrip(b"\n").partition(b" ")
    return line.endswith(b"\n") and checksum == f"{zlib.crc32(text):08x}".encode()
