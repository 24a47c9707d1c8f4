"""Atomic writing of files."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from simstudy.errors import SimstudyError, reason, reported

UNFINISHED = ".part"  # suffix of unfinished files


def write_files(files: Mapping[Path, bytes | Iterable[bytes]]) -> None:
    """Write files atomically: each appears complete, and none before all are on disk.

    They are written under unpredictable new names, so that no link is followed, and then renamed.
    Missing directories are created. Raises OSError.
    """
    written: dict[Path, Path] = {}
    try:
        for path, content in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.parent / f".{secrets.token_hex(8)}{UNFINISHED}"
            with temporary.open("xb") as file:
                written[temporary] = path
                file.writelines([content] if isinstance(content, bytes) else content)
                file.flush()
                os.fsync(file.fileno())
        for temporary, path in written.items():
            temporary.replace(path)
    except SimstudyError:  # of what makes the content
        raise
    except ValueError as error:  # a path with a null character
        raise OSError(str(error)) from error
    finally:
        for temporary in written:
            temporary.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Write a text file atomically; if it cannot be written, the error is a `SimstudyError`."""
    with reported(f"{path} cannot be written", OSError):
        write_files({Path(path): text.encode()})


@contextmanager
def usable(directory: Path, more: str = "") -> Iterator[None]:
    """Turn an OSError into a `SimstudyError` about a directory of results."""
    try:
        yield
    except OSError as error:
        message = f"the output directory {directory} cannot be used: {reason(error)}{more}"
        raise SimstudyError(message) from error
