"""Whose results are in a directory, and whether a plan is the same study or a larger one."""

from __future__ import annotations

import json
import re
from typing import Any

from simstudy.engine.plan import UNNAMED_CONDITIONS, Plan

PLUGINS = "plugins"  # the directory of the plugins that results were made with


def whose(plan: Plan) -> dict[str, Any]:
    """What a manifest and a journal say of whose the cells are."""
    return {
        "conditions": plan.conditions(),
        "limits": limits(plan),
        "plugins": plugin_names(plan),
    }


def limits(plan: Plan) -> dict[str, float | None]:
    """What one cell may use."""
    return {"timeout": plan.timeout, "memory": plan.memory}


def plugin_names(plan: Plan) -> list[str]:
    """Where the copies of a study's plugins are kept, in the directory of its results."""
    # A study run from an earlier result's copy does not gain a number each time.
    plain = [re.sub(r"^\d+_", "", plugin.path.name) for plugin in plan.plugins]
    return [f"{PLUGINS}/{index}_{name}" for index, name in enumerate(plain)]


def changed(plan: Plan, manifest: dict[str, Any], exactly: bool = False) -> dict[str, str]:
    """The conditions under which the cells of a manifest are not, or not all, the plan's.

    A plan that only adds to them has all of them; with ``exactly``, it must not add anything.
    """
    here = {**UNNAMED_CONDITIONS, **manifest["conditions"]}
    asked = json.loads(json.dumps(plan.conditions()))
    return {
        key: f"{key} ({here.get(key)} there, {asked[key]} asked)"
        for key in asked
        if here.get(key) != asked[key] and (exactly or not _extends(key, here.get(key), asked[key]))
    }


def _extends(key: str, here: Any, asked: Any) -> bool:
    """Whether what is asked leaves the cells that are here as they are."""
    if key == "models":
        return isinstance(here, int) and here <= asked
    if key in ("data.train_sizes", "learners", "plugins"):
        return isinstance(here, list) and all(part in asked for part in here)
    if key == "source":
        return isinstance(here, dict) and all(asked.get(name) == here[name] for name in here)
    return bool(here == asked)
