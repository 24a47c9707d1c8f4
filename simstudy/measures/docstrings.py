"""What the arguments that measures share mean: said here once, and added to every docstring."""

import inspect
import re
from collections.abc import Callable, Iterable
from typing import Any

_SHARED = {
    "proba": "array of shape (n, k)\n    The learner's probabilities.",
    "y": "array of shape (n,)\n    The true classes.",
    "prior": "array of shape (k,)\n    The prior probability of every class.",
    "oracle": "array of shape (n, k)\n"
    "    The true class posterior of every row, clipped like ``proba``.",
    "limit": "array of shape (n, k)\n"
    "    The learner's prediction with unlimited training data, clipped like ``proba``.",
    "weights": "array of shape (n,), optional\n    Row weights.",
    "base": "float > 1\n    The base of the logarithms; e gives nats, 2 gives bits.",
    "reward": '{"mean", "sum"}\n    How the information reward combines the classes.',
    "rarer": "int, optional\n    The class that is rarer in the population.",
    "positive": "int, optional\n    The positive class; the rarer one if not given.",
    "message": "pair of float, optional\n"
    "    The lengths of theory and data in nats, as the fitted learner states them.",
}
_SECTION = re.compile(  # up to the next heading
    r"^Parameters\n-+\n(.*?)\s*(?=^[A-Z][\w ]*\n-{3,}$|\Z)", re.MULTILINE | re.DOTALL
)
_RESULT = re.compile(r"^Returns\n-+\n", re.MULTILINE)


def completed(function: Callable[..., Any], arguments: Iterable[str]) -> str | None:
    """Return the docstring of a measure with those shared arguments that it does not describe.

    A docstring without the section ``Returns`` is not in the form of numpydoc and is left alone.
    """
    text = inspect.getdoc(function)
    if text is None or not (result := _RESULT.search(text)):
        return text
    section = _SECTION.search(text)
    described = re.split(r"\n(?=\S)", section[1]) if section else []
    own = {name: entry for entry in described for name in _names(entry)}
    entries = [
        own.get(name) or f"{name} : {_SHARED[name]}"
        for name in arguments
        if name in own or name in _SHARED
    ]
    every = "\n".join(dict.fromkeys([*entries, *described]))
    before, after = section.span() if section else (result.start(), result.start())
    return f"{text[:before]}Parameters\n----------\n{every}\n\n{text[after:]}"


def _names(entry: str) -> list[str]:
    """The names of the arguments that an entry describes, often one."""
    return re.split(r",\s*", entry.partition(" :")[0].partition("\n")[0])
