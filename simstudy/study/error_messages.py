"""Validation errors as sentences a researcher can act on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast, get_args

from pydantic import BaseModel, ValidationError

from simstudy.errors import suggestion

_KINDS = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "text in quotes",
    "bool_type": "true or false",
    **dict.fromkeys(("list_type", "tuple_type"), "a list in square brackets"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "a section"),
}
_SENTENCES = {kind: f"{{shown}} is not {noun}" for kind, noun in _KINDS.items()} | {
    "greater_than_equal": "{shown} is not allowed; it must be at least {ge}",
    "greater_than": "{shown} is not allowed; it must be above {gt}",
    "less_than_equal": "{shown} is not allowed; it must be at most {le}",
    "less_than": "{shown} is not allowed; it must be below {lt}",
    "literal_error": "{shown} is not allowed; it must be one of {expected}",
    "too_short": "at least {min_length} is needed",
    "missing": "{shown} has too few entries",
    "too_long": "{shown} has too many entries; {max_length} are allowed",
    "string_pattern_mismatch": "{shown} is not allowed; use letters, digits, dots, dashes and "
    "underscores",
    "value_error": "{shown} is not allowed; {error}",
    "json_invalid": "its values are nested too deeply",
}


def explain(error: ValidationError, section: type[BaseModel] | None = None) -> tuple[str, str]:
    """The key and message of the first error, unknown keys of the section first."""
    first = min(error.errors(), key=lambda e: e["type"] != "extra_forbidden")
    *places, last = location = first["loc"] or ("content",)
    key = dotted(location)
    if first["type"] == "extra_forbidden" and section is not None:
        for place in places:
            if isinstance(place, str):
                annotation: Any = section.model_fields[place].annotation
                while arguments := get_args(annotation):  # optional, or in a list
                    annotation = arguments[0]
                section = cast(type[BaseModel], annotation)
        return key, f"unknown key{suggestion(str(last), section.model_fields)}"
    if first["type"] == "missing":
        return key, "this key is missing"
    return key, sentence(first, first["input"])


def sentence(error: Mapping[str, Any], value: object) -> str:
    """One of pydantic's errors as a sentence: the value and what is allowed."""
    shown = _shown(value)
    if template := _SENTENCES.get(error["type"]):
        return template.format(shown=shown, **error.get("ctx", {}))
    message = str(error["msg"])
    return f"{shown} is not allowed; {message[0].lower()}{message[1:]}"


def dotted(location: Sequence[int | str]) -> str:
    """``learners[2].name`` for ("learners", 2, "name")."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.lstrip(".")


def _shown(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except TypeError:
        text = repr(value)
    return text if len(text) <= 80 else text[:77] + "…"
