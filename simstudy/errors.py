"""The one kind of error that a user sees as a sentence, never as a traceback."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

SOME_FAILED = 3  # the exit code of a run in which cells failed


class SimstudyError(ValueError):
    """Something the user can mend, said in one clear sentence."""

    exit_code = 2


class DifferentError(SimstudyError):
    """A process would compute with something else than the one that asks it."""


def suggestion(name: str, known: Iterable[str]) -> str:
    """ "; did you mean …? known: …" for a misspelt name."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"; did you mean '{near[0]}'?" if near else ";"
    return f"{hint} known: {', '.join(known)}"


def told(error: BaseException) -> str:
    """The kind of an error and what it says, whatever that is."""
    try:
        text = str(error)
    except BaseException:  # of code that is not ours
        text = "(it cannot be told)"
    return f"{type(error).__name__}: {text}"
