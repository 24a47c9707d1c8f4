"""Errors that are reported to the user as one sentence, without a traceback."""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable
from pathlib import Path

SOME_FAILED = 3  # the exit code of a run in which cells failed


class SimstudyError(ValueError):
    """A user-correctable error, reported in one sentence."""

    exit_code = 2


class DifferentError(SimstudyError):
    """A worker process would compute with other code than its caller."""


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean …? known: …" for a misspelt name."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"; did you mean '{near[0]}'?" if near else ";"
    return f"{hint} known: {', '.join(known)}"


def require(condition: object, parameter: str, value: object, allowed: str) -> None:
    """Raise a ValueError that names the parameter, its value and the allowed values."""
    if not condition:
        raise ValueError(f"{parameter} = {value!r} is not allowed; {allowed}")


def check_regular(path: Path) -> None:
    """Raise an OSError for a pipe or device, whose reading might never end."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))


def reason(error: BaseException) -> str:
    """Return why a file cannot be read: the system's words, or else the message."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def describe(error: BaseException) -> str:
    """Return the type and message of any error."""
    try:
        text = str(error)
    except BaseException:  # raised by third-party code
        text = "(no message)"
    return f"{type(error).__name__}: {text}"
