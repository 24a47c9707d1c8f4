"""Validation errors as sentences a researcher can act on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from simstudy.errors import suggestion

_KINDS = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "text in quotes",
    "bool_type": "true or false",
    "list_type": "a list in square brackets",
    "tuple_type": "a list in square brackets",
    "dict_type": "a section",
    "model_type": "a section",
    "model_attributes_type": "a section",
}
_BOUNDS = {
    "greater_than_equal": ("ge", "at least"),
    "greater_than": ("gt", "above"),
    "less_than_equal": ("le", "at most"),
    "less_than": ("lt", "below"),
}


class KeyedError(ValueError):
    """A sentence about one key of a file."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


def explain(error: ValidationError, known: Callable[[str], Iterable[str]]) -> tuple[str, str]:
    """The key and the sentence of the first thing that is wrong, a misspelt key before others.

    ``known`` gives the keys of a section.
    """
    first = min(error.errors(), key=lambda e: e["type"] != "extra_forbidden")
    place = first["loc"]
    key = dotted(place)
    if first["type"] == "extra_forbidden":
        return key, f"unknown key{suggestion(str(place[-1]), known(dotted(place[:-1])))}"
    if first["type"] == "missing":
        return key, "this key is missing"
    return key, sentence(first, first["input"])


def sentence(error: Mapping[str, Any], value: Any) -> str:
    """What is wrong with ``value`` and what is allowed, from one of pydantic's errors."""
    kind, context = error["type"], error.get("ctx", {})
    shown = _shown(value)
    if kind in _KINDS:
        return f"{shown} is not {_KINDS[kind]}"
    if kind in _BOUNDS:
        name, words = _BOUNDS[kind]
        return f"{shown} is not allowed; it must be {words} {context[name]}"
    if kind == "literal_error":
        return f"{shown} is not allowed; it must be one of {context['expected']}"
    if kind == "too_short":
        return f"at least {context['min_length']} is needed"
    if kind == "missing":
        return f"{shown} has too few entries"
    if kind == "too_long":
        return f"{shown} has too many entries; {context['max_length']} are allowed"
    if kind == "string_pattern_mismatch":
        return f"{shown} is not allowed; use letters, digits, dots, dashes and underscores"
    if kind == "value_error":
        return f"{shown} is not allowed; {context['error']}"
    message = str(error["msg"])
    return f"{shown} is not allowed; {message[0].lower()}{message[1:]}"


def dotted(location: Sequence[int | str]) -> str:
    """``learners[2].name`` for ("learners", 2, "name")."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.lstrip(".")


def _shown(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except TypeError:
        text = repr(value)
    return text if len(text) <= 80 else text[:77] + "…"
