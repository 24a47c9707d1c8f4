"""Catalogues: the file ``catalogue.json`` beside data files says what their columns are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from simstudy.data.files.columns import NOMINAL, NUMERIC, Declaration
from simstudy.errors import SimstudyError, reason

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
            text = f"the target of '{path.name}' is {target!r}, not the name of a column"
            raise SimstudyError(text)
        return target, variables
    except KeyError as error:
        why = f"the key {error} is missing"
    except RecursionError:
        why = "it is nested too deeply"
    except (TypeError, AttributeError):
        why = "it must be a mapping with the key 'datasets', a mapping from names of files to "
        why += "mappings with the list 'variables' of mappings"
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        why = f"it is not JSON in UTF-8: {error}"
    except (SimstudyError, OSError) as error:
        why = reason(error)
    except ValueError:
        why = "it has a number of too many digits"
    raise SimstudyError(f"{catalogue} is not a catalogue of data sets: {why}")


def _declaration(variable: Any) -> Declaration:
    values, kind = variable.get("values"), variable["kind"]
    if kind not in (NUMERIC, NOMINAL):
        raise SimstudyError(f"the kind of '{variable['name']}' must be numeric or nominal")
    if values is not None and not isinstance(values, list):
        raise SimstudyError(f"the values of '{variable['name']}' must be a list")
    return Declaration(kind, None if values is None else tuple(map(str, values)))
