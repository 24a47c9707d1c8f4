"""Files that a report writes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from simstudy.errors import SimstudyError


def make_directory(directory: Path) -> None:
    """Create a directory, before anything is computed that could not be written there."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SimstudyError(f"{directory} cannot be made: {error.strerror}") from error


def write_files(directory: Path, files: Mapping[str, bytes]) -> list[Path]:
    """Write files by their names."""
    paths = [directory / name for name in files]
    try:
        for path, content in zip(paths, files.values(), strict=True):
            path.write_bytes(content)
    except OSError as error:
        raise SimstudyError(f"{path} cannot be written: {error.strerror}") from error
    return paths
