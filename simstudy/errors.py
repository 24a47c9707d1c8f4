"""Errors that are reported to the user as one sentence, without a traceback."""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

_MAX_LISTED = 8  # names in an error
SOME_FAILED = 3  # the exit code of a run in which cells failed


class SimstudyError(ValueError):
    """A user-correctable error, reported in one sentence."""

    exit_code = 2


class DifferentError(SimstudyError):
    """A worker process would compute with other code than its caller."""


def suggestion(name: str, names: Iterable[str]) -> str:
    """Return "; did you mean …? known: …" for a misspelt name, with the nearest of many names."""
    names = sorted(names)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"; did you mean '{near[0]}'?" if near else ";"
    if len(names) <= _MAX_LISTED:
        return f"{hint} known: {', '.join(names)}"
    shown = sorted(difflib.get_close_matches(name, names, n=_MAX_LISTED, cutoff=0))
    return f"{hint} known: {', '.join(shown)} and {len(names) - len(shown)} more"


def check_name(kind: str, name: str, names: Iterable[str]) -> None:
    """Raise an error with suggestions if results have nothing of this kind and name."""
    if name not in names:
        raise SimstudyError(f"no {kind} '{name}' here{suggestion(name, names)}")


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


class KeyedError(ValueError):
    """An error at one key of a file."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


def refuse(fault: object, key: str, message: str) -> None:
    """Raise an error at a key of a file if there is a fault."""
    if fault:
        raise KeyedError(key, message)


def demand_name(key: str, absent: str, name: str, names: Iterable[str]) -> None:
    """Raise an error with suggestions at a key of a file that names none of these."""
    if name not in names:
        raise KeyedError(key, f"{absent} '{name}'{suggestion(name, names)}")


@contextmanager
def at_key(key: str, *kinds: type[Exception]) -> Iterator[None]:
    """Report errors of these kinds at a key of the file."""
    try:
        yield
    except kinds as error:
        raise KeyedError(key, str(error)) from error


@contextmanager
def reported(problem: str, *kinds: type[Exception], why: bool = True) -> Iterator[None]:
    """Report errors of these kinds as a `SimstudyError`: the problem and, with ``why``, why."""
    try:
        yield
    except SimstudyError:
        raise
    except kinds as error:
        raise SimstudyError(f"{problem}: {reason(error)}" if why else problem) from error


@contextmanager
def refused_at(key: str, where: str = "") -> Iterator[None]:
    """Report at a key whatever a component raises; that of a plugin may raise anything."""
    try:
        yield
    except KeyboardInterrupt:
        raise
    except KeyedError as error:
        raise KeyedError(f"{key}.{error.key}", str(error)) from error
    except BaseException as error:
        raise KeyedError(key, where + refusal(error)) from error


def refusal(error: BaseException) -> str:
    """The text of an error that a component raised, in one line."""
    text = " ".join(describe(error).split())
    if isinstance(error, ValueError):
        text = text.removeprefix(f"{type(error).__name__}: ")
    return text
