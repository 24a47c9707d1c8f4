"""A directory of results: its files, written atomically, and its manifest."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any

from simstudy.errors import SimstudyError, check_regular
from simstudy.results.store.atomic_files import UNFINISHED, usable, write_files
from simstudy.results.store.journal import Journal
from simstudy.results.store.manifest import Manifest, fits
from simstudy.study.constants import MANIFEST, REFINED, SCORES

SCHEMA_VERSION = 1
RUNNING = "running"


def damaged(path: Path) -> SimstudyError:
    """The error about a file of results that cannot be used."""
    return SimstudyError(f"{path} is missing or damaged; run the study again to restore it")


class Folder:
    """A directory of results: its manifest, its journal, and other files, written atomically."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.journal = Journal(directory)

    def manifest(self) -> dict[str, Any] | None:
        """The record of how the results were made, if any.

        If it is missing or damaged, the journal's record of its owner replaces it.
        """
        path = self.directory / MANIFEST
        with usable(self.directory):
            for name in self.directory.glob("*"):
                check_regular(name)
            text = path.read_bytes() if path.exists() else b""
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            content = None
        schema = content.get("schema") if isinstance(content, dict) else None
        if isinstance(schema, int) and schema != SCHEMA_VERSION:
            raise SimstudyError(
                f"{path} has schema {schema}; this version of simstudy reads schema "
                f"{SCHEMA_VERSION}"
            )
        whole = schema == SCHEMA_VERSION and fits(Manifest, content)
        return content if whole else self.from_journal()

    def from_journal(self) -> dict[str, Any] | None:
        """The owner that the journal records, as a manifest."""
        if (owner := self.journal.owner()) is None:
            return None
        return {**owner, "status": RUNNING, "fingerprint": "", "from_journal": True}

    def required(self, whole: bool = False) -> dict[str, Any]:
        """The manifest; an error without results, or if only the journal has it, with ``whole``."""
        manifest = self.manifest()
        if manifest is None:
            raise SimstudyError(f"{self.directory} holds no results of a study")
        if whole and "from_journal" in manifest:
            raise damaged(self.directory / MANIFEST)
        return manifest

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Create the directory if needed and lock it, where the system has locks."""
        try:
            import fcntl
        except ImportError:
            yield
            return
        with usable(self.directory):
            if self.directory.is_file():
                raise OSError("it is a file")
            self.directory.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.directory, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(handle)
            raise SimstudyError(
                f"another run is using {self.directory}; wait until it has finished, or choose "
                "another directory with --out (in Python: out=)"
            ) from error
        except OSError:
            pass  # a file system without locks
        else:  # nobody else writes here: these are of a process that was killed
            for path in self.directory.glob(f".{'[0-9a-f]' * 16}{UNFINISHED}"):
                with suppress(OSError):
                    path.unlink()
        try:
            yield
        finally:
            os.close(handle)

    def write(self, name: str, content: bytes) -> None:
        """Write a file atomically."""
        with usable(self.directory):
            write_files({self.directory / name: content})

    def write_manifest(self, content: Mapping[str, Any]) -> None:
        """Write the manifest."""
        self.write(MANIFEST, json.dumps(content, indent=2).encode())

    def checksum(self, name: str) -> int | None:
        """The checksum of a file; None if it cannot be read."""
        checksum = 0
        try:
            with (self.directory / name).open("rb") as file:
                while piece := file.read(2**20):
                    checksum = zlib.crc32(piece, checksum)
        except OSError:
            return None
        return checksum

    def is_as_written(self, name: str, manifest: dict[str, Any]) -> bool:
        """Whether a file made from cells has the checksum that the manifest records.

        Manifests of 0.2, which do not have that of the scores among the others, lack checksums of
        some files; these only have to be readable.
        """
        recorded, checksum = manifest.get("checksums", {}), self.checksum(name)
        if SCORES in recorded or checksum is None:
            return checksum is not None and recorded.get(name) == checksum
        refined = manifest.get("refined", {}).get("checksum")
        earlier = {SCORES: manifest.get("scores_checksum"), REFINED: refined, **recorded}
        return earlier.get(name) in (None, checksum)

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        with usable(self.directory):
            (self.directory / name).unlink(missing_ok=True)

    def remove_below(self, name: str) -> None:
        """Remove a file of a subdirectory, and the directories that are empty then."""
        self.remove_links_above(name)
        self.remove(name)
        for parent in PurePosixPath(name).parents[:-1]:
            with suppress(OSError):  # not empty, or not there
                (self.directory / parent).rmdir()

    def remove_links_above(self, name: str) -> None:
        """Remove links among the directories above a file, which would lead elsewhere."""
        with usable(self.directory):
            for parent in reversed(PurePosixPath(name).parents[:-1]):
                if (self.directory / parent).is_symlink():
                    (self.directory / parent).unlink()
