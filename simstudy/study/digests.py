"""Digests of the plugins that results were made with; no others are executed."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from pathlib import Path

from simstudy.errors import SimstudyError
from simstudy.study.constants import JOURNAL, MANIFEST, STUDY


def recorded_digests(path: Path) -> list[str] | None:
    """The digests required of a study's plugins; None unless its file is part of results.

    They are read from the manifest beside the file or, if it is damaged, from the journal.
    """
    if path.name != STUDY:
        return None
    try:
        records = (_recorded(record) for record in _records(path.parent))
        found = next((digests for digests in records if digests is not None), None)
        if found is None and (path.parent / JOURNAL).exists():
            raise SimstudyError(
                f"{path} belongs to results with a missing or damaged {MANIFEST}, so its plugins "
                "cannot be verified and are not executed"
            )
    except OSError as error:
        raise SimstudyError(f"{path.parent} cannot be read: {error.strerror or error}") from error
    return found


def _records(directory: Path) -> Iterator[bytes]:
    """Records of the study: the manifest, then those of the journal, last first."""
    if (manifest := directory / MANIFEST).exists():
        yield manifest.read_bytes()
    if (journal := directory / JOURNAL).exists():
        with journal.open("rb") as file:
            # A line is a checksum and its content; lines of cells begin with a bracket.
            records = [line.rstrip(b"\n") for line in file if line[8:10] == b" {"]
        yield from (
            line[9:] for line in reversed(records) if line[:8] == b"%08x" % zlib.crc32(line[9:])
        )


def _recorded(record: bytes) -> list[str] | None:
    """The digests in a record; None if it is damaged or has none."""
    try:
        digests: list[str] = json.loads(record)["conditions"]["plugins"]
    except (ValueError, TypeError, LookupError, RecursionError):
        return None
    whole = isinstance(digests, list) and all(isinstance(digest, str) for digest in digests)
    return digests if whole else None
