"""Catalogues: the file ``catalogue.json`` beside data files says what their columns are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from simstudy.data.table import NOMINAL, NUMERIC, Declaration
from simstudy.errors import SimstudyError, describe

CATALOGUE = "catalogue.json"


def catalogued(path: Path) -> tuple[str | None, dict[str, Declaration]]:
    """The target and what the catalogue beside a file says of its columns; nothing without one."""
    catalogue = path.with_name(CATALOGUE)
    if not catalogue.is_file():
        return None, {}
    try:
        sets = json.loads(catalogue.read_text(encoding="utf-8"))["datasets"]
        entry = sets.get(path.name, {"variables": ()})
        variables = {variable["name"]: _declaration(variable) for variable in entry["variables"]}
        target = entry.get("target")
        if target is not None and not isinstance(target, str):
            raise ValueError(f"the target of '{path.name}' is {target!r}, not the name of a column")
        return target, variables
    except KeyError as error:
        why = f"the key {error} is missing"
    except RecursionError:
        why = "it is nested too deeply"
    except (OSError, ValueError, TypeError, AttributeError) as error:
        why = describe(error)
    raise SimstudyError(f"{catalogue} is not a catalogue of data sets: {why}")


def _declaration(variable: Any) -> Declaration:
    values, kind = variable.get("values"), variable["kind"]
    if kind not in (NUMERIC, NOMINAL):
        raise ValueError(f"the kind of '{variable['name']}' must be numeric or nominal")
    if values is not None and not isinstance(values, list):
        raise ValueError(f"the values of '{variable['name']}' must be a list")
    return Declaration(kind, None if values is None else tuple(map(str, values)))
