"""Which study owns a directory of results, and whether a plan equals or extends it."""

from __future__ import annotations

import json
import re
from typing import Any

from simstudy.engine.plan import UNNAMED_CONDITIONS, Plan

PLUGINS = "plugins"  # directory with copies of the plugins


def owner(plan: Plan) -> dict[str, Any]:
    """The identity of a study, as manifests and journals record it."""
    return {"conditions": plan.conditions(), "limits": limits(plan), "plugins": plugin_names(plan)}


def limits(plan: Plan) -> dict[str, float | None]:
    """The limits of one cell."""
    return {"timeout": plan.timeout, "memory": plan.memory}


def plugin_names(plan: Plan) -> list[str]:
    """Paths of the plugins' copies in the directory of results."""
    # a study run from a copy does not gain another number
    plain = [re.sub(r"^\d+_", "", plugin.path.name) for plugin in plan.plugins]
    return [f"{PLUGINS}/{index}_{name}" for index, name in enumerate(plain)]


def changed(plan: Plan, manifest: dict[str, Any], exactly: bool = False) -> dict[str, str]:
    """The conditions in which a plan differs from a manifest.

    A plan may extend the recorded study, unless ``exactly`` is set.
    """
    here = {**UNNAMED_CONDITIONS, **manifest["conditions"]}
    asked = json.loads(json.dumps(plan.conditions()))
    return {
        key: f"{key} ({here.get(key)} there, {asked[key]} requested)"
        for key in asked
        if here.get(key) != asked[key] and (exactly or not _extends(key, here.get(key), asked[key]))
    }


def _extends(key: str, here: Any, asked: Any) -> bool:
    """Whether the requested value leaves existing cells valid."""
    if key == "models":
        return isinstance(here, int) and here <= asked
    if key in ("data.train_sizes", "learners", "plugins"):
        return isinstance(here, list) and all(part in asked for part in here)
    if key == "source":
        return isinstance(here, dict) and all(asked.get(name) == here[name] for name in here)
    return bool(here == asked)
