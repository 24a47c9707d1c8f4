"""Read TOML with clear errors, and write it, which the standard library does not."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simstudy.errors import SimstudyError, reason
from simstudy.study.builtin import nearest_studies
from simstudy.texts import printable


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file; a `SimstudyError` if it cannot be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        raise SimstudyError(f"{path} is not valid TOML: {error}") from error
    except (OSError, RecursionError, ValueError) as error:  # also of huge numbers and odd paths
        reasons = {
            RecursionError: "its values are nested too deeply",
            UnicodeDecodeError: "it is not UTF-8 text",
        }
        why = reasons.get(type(error)) or reason(error)
        hint = nearest_studies(path) if isinstance(error, FileNotFoundError) else ""
        raise SimstudyError(f"{path} cannot be read: {why}{hint}") from error


def set_dotted(content: dict[str, Any], key: str, value: object) -> None:
    """Set a value by dotted key, such as ``changes[0].rate``; what is no section is left alone."""
    *sections, last = key.split(".")
    for section in sections:
        name, place = indexed(section)
        items = content.get(name)
        if place is not None and isinstance(items, list) and place < len(items):
            content = items[place]
        else:
            content = content.setdefault(section, {})
    if isinstance(content, dict):
        content[last] = value


def indexed(section: str) -> tuple[str, int | None]:
    """The name of a section and its place among several: ``changes[0]``."""
    found = re.fullmatch(r"(\w+)\[(\d+)\]", section)
    return (found[1], int(found[2])) if found else (section, None)


def dumps(content: Mapping[str, object]) -> str:
    """TOML text of a two-level dictionary: values, then tables, then arrays of tables."""
    lines = [f"{key} = {_value(value)}" for key, value in content.items() if not _is_table(value)]
    for key, value in content.items():
        if isinstance(value, Mapping):
            lines += ["", f"[{key}]", *_pairs(value)]
    for key, value in content.items():
        if _is_table(value) and isinstance(value, list):
            for item in value:
                lines += ["", f"[[{key}]]", *_pairs(item)]
    return "\n".join(lines) + "\n"


def _is_table(value: object) -> bool:
    is_array = isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)
    return isinstance(value, Mapping) or is_array


def _pairs(table: Mapping[str, object]) -> list[str]:
    return [f"{key} = {_value(value)}" for key, value in table.items()]


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return printable(json.dumps(value, ensure_ascii=False))
    if isinstance(value, list):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(_pairs(value)) + "}"
    return repr(value)
