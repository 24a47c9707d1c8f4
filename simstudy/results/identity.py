"""Which study owns a directory of results, and whether a plan can use its cells."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from simstudy.engine.plan import UNNAMED_CONDITIONS, Plan
from simstudy.experiments import DEFAULT, experiment
from simstudy.experiments.base import Experiment
from simstudy.results.manifest import PLUGINS

OWNER = ("conditions", "limits", "plugins", "plugin_files")  # keys of an owner


def owner(plan: Plan) -> dict[str, object]:
    """The identity of a study, as manifests and journals record it."""
    return {
        "conditions": plan.conditions(),
        "limits": limits(plan),
        "plugins": plugin_names(plan),
        "plugin_files": [name for name in plugin_copies(plan) if name not in plugin_names(plan)],
    }


def limits(plan: Plan) -> dict[str, float | None]:
    """The limits of one cell."""
    return {"timeout": plan.timeout, "memory": plan.memory}


def plugin_names(plan: Plan) -> list[str]:
    """Paths of the plugins' copies in the directory of results.

    Plugins of one directory stay in one directory if they need further files from there.
    """
    together = {plugin.path.parent for plugin in plan.plugins if plugin.files}
    first: dict[Path, int] = {}
    names = []
    for index, plugin in enumerate(plan.plugins):
        number = first.setdefault(plugin.path.parent, index)
        # a study run from a copy does not gain another number
        plain = re.sub(r"^\d+_", "", plugin.path.name)
        name = f"{number}/{plugin.path.name}" if plugin.path.parent in together else ""
        names.append(f"{PLUGINS}/{name or f'{index}_{plain}'}")
    return names


def plugin_copies(plan: Plan) -> dict[str, bytes]:
    """The copies of the plugins and of the files they need, by path in the directory."""
    copies = {}
    for name, plugin in zip(plugin_names(plan), plan.plugins, strict=True):
        copies[name] = plugin.content
        copies |= {f"{Path(name).parent.as_posix()}/{file}": data for file, data in plugin.files}
    return copies


def changed(plan: Plan, manifest: Mapping[str, Any], exactly: bool = False) -> dict[str, str]:
    """The conditions in which a plan differs from a manifest.

    A plan may have more or fewer models, sizes and learners, unless ``exactly`` is set.
    """
    here = {**UNNAMED_CONDITIONS, **manifest["conditions"]}
    asked = json.loads(json.dumps({**UNNAMED_CONDITIONS, **plan.conditions()}))
    return {
        key: f"{key} ({'; '.join(_differences(here.get(key), asked[key]))})"
        for key in asked
        if here.get(key) != asked[key]
        and (exactly or not _agree(key, here.get(key), asked[key], plan.experiment))
    }


def _differences(here: object, asked: object, path: str = "") -> list[str]:
    """What two values of a condition differ in, by label and key: "NB.alpha: 1 there, …"."""
    here, asked = _decoded(here), _decoded(asked)
    parts: list[tuple[str, object, object]] = []
    if isinstance(here, dict) and isinstance(asked, dict):
        absent = "the default" if path else "absent"
        parts = [
            (f"{path}.{key}".lstrip("."), here.get(key, absent), asked.get(key, absent))
            for key in {**here, **asked}
        ]
    elif isinstance(here, list) and isinstance(asked, list) and len(here) == len(asked):
        nested = any(isinstance(one, dict | list) for one in here)
        parts = [(path, *two) for two in zip(here, asked, strict=True)] if nested else []
    if not parts:
        return [f"{path}: ".removeprefix(": ") + f"{here} there, {asked} requested"]
    differing = [part for part in parts if part[1] != part[2]]
    return [text for key, one, other in differing for text in _differences(one, other, key)]


def _decoded(value: Any) -> Any:
    """A value whose texts of JSON, as identities are, are read; pairs with labels by label."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    if not isinstance(value, list):
        return value
    value = [*map(_decoded, value)]
    labelled = all(isinstance(one, list) and len(one) == 2 for one in value)
    by_label = {str(one[0]): one[1] for one in value} if labelled else {}
    return by_label if value and len(by_label) == len(value) else value


def _agree(key: str, here: Any, asked: Any, of: Experiment) -> bool:
    """Whether cells computed under one value are valid under the other, as far as both have them.

    What has one name, such as the label of a learner, must be the same in both.
    """
    treatments, doses = of.growing
    if key in ("models", doses):
        return True
    if key == "plugins":
        return {*here} <= {*asked} or {*asked} <= {*here}
    if key in (treatments, "source"):
        there = dict(here or {})
        return all(there.get(name, value) == value for name, value in dict(asked).items())
    return False


def covers(plan: Plan, manifest: Mapping[str, Any]) -> bool:
    """Whether a plan has all models, sizes and learners of a manifest."""
    here, asked = manifest["conditions"], plan.conditions()
    (labels, sizes), (known, doses) = levels(here), levels(asked)
    return here["models"] <= asked["models"] and {*sizes} <= {*doses} and {*labels} <= {*known}


def levels(conditions: Mapping[str, Any]) -> tuple[list[str], list[int]]:
    """The labels of the treatments and the doses that the conditions of a study name."""
    treatments, doses = experiment(conditions.get("compare", DEFAULT)).growing
    return [label for label, _ in conditions[treatments]], conditions[doses]
