"""Files that a report writes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from simstudy.errors import SimstudyError
from simstudy.results import files as whole


def make_directory(directory: Path) -> None:
    """Create a directory, before anything is computed that could not be written there."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SimstudyError(f"{directory} cannot be made: {error.strerror}") from error


def write_files(directory: Path, files: Mapping[str, bytes]) -> list[Path]:
    """Write files by their names, all or none."""
    paths = {directory / name: content for name, content in files.items()}
    try:
        whole.write_files(paths)
    except OSError as error:
        reason = error.strerror or error
        raise SimstudyError(f"{directory} cannot be written to: {reason}") from error
    return list(paths)
