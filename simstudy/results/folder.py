"""A directory of results: its files, each whole or not there, and its manifest."""

from __future__ import annotations

import csv
import io
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from simstudy.errors import SimstudyError
from simstudy.results.files import write_files
from simstudy.results.journal import Journal
from simstudy.results.manifest import is_manifest
from simstudy.study.constants import MANIFEST
from simstudy.texts import csv_value

SCHEMA_VERSION = 1
RUNNING = "running"


class Folder:
    """A directory of results; every file appears in it whole or not at all."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def manifest(self) -> dict[str, Any] | None:
        """The record of what made these results; None where there is no such record.

        Where it is missing or damaged, what the journal says of its cells stands for it.
        """
        content = self._written_manifest()
        return self._from_journal() if content is None else content

    def _from_journal(self) -> dict[str, Any] | None:
        """What the journal says of its cells, as a manifest."""
        with self._said():
            whose = Journal(self.directory).whose()
        if whose is None:
            return None
        return {**whose, "status": RUNNING, "fingerprint": "", "from_journal": True}

    def _written_manifest(self) -> dict[str, Any] | None:
        path = self.directory / MANIFEST
        with self._said():
            if not path.exists():
                return None
            text = path.read_bytes()
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            return None
        schema = content.get("schema") if isinstance(content, dict) else None
        if isinstance(schema, int) and schema != SCHEMA_VERSION:
            raise SimstudyError(
                f"{path} is of schema {schema}; this version of simstudy reads schema "
                f"{SCHEMA_VERSION}"
            )
        return content if schema == SCHEMA_VERSION and is_manifest(content) else None

    def found(self) -> dict[str, Any]:
        """The manifest; that there are no results is an error."""
        manifest = self.manifest()
        if manifest is None:
            raise SimstudyError(f"{self.directory} holds no results of a study")
        return manifest

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other runs out of the directory while this one is in it, where there are locks.

        The directory is made if it is not there.
        """
        try:
            import fcntl
        except ImportError:
            yield
            return
        with self._said():
            is_file = self.directory.is_file()
        if is_file:
            raise SimstudyError(
                f"the output directory {self.directory} cannot be used: it is a file"
            )
        with self._said():
            self.directory.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.directory, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(handle)
            raise SimstudyError(
                f"another run is at work in {self.directory}; wait until it has finished, or "
                "choose another place with --out"
            ) from error
        except OSError:
            pass  # a file system without locks
        try:
            yield
        finally:
            os.close(handle)

    def write(self, name: str, content: bytes) -> None:
        """Write a file, whole or not at all."""
        with self._said():
            write_files({self.directory / name: content})

    def write_csv(self, name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
        """Write a small table as text; the checksum of the file."""
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([csv_value(value) for value in row] for row in rows)
        content = text.getvalue().encode(errors="backslashreplace")
        self.write(name, content)
        return zlib.crc32(content)

    def _remove(self, name: str) -> None:
        with self._said():
            (self.directory / name).unlink(missing_ok=True)

    @contextmanager
    def _said(self, more: str = "") -> Iterator[None]:
        """Turn the system's refusals into a sentence."""
        try:
            yield
        except OSError as error:
            raise SimstudyError(
                f"the output directory {self.directory} cannot be used: "
                f"{error.strerror or error}{more}"
            ) from error
