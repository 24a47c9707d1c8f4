"""What results say of the study that made them, read without executing what it names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from simstudy.engine.plan import Plan, stated_plan
from simstudy.errors import SimstudyError
from simstudy.results.identity import PLUGINS
from simstudy.results.store import Store
from simstudy.study.constants import JOURNAL, STUDY
from simstudy.study.registry import FAMILIES, LEARNERS, MEASURES, read_plugin
from simstudy.study.study import Study, stated_study
from simstudy.study.toml import read_toml


def kept_study(directory: Path) -> Study:
    """The study in a directory of results, as far as its file says it: no name is looked up."""
    path = directory / STUDY
    try:
        return stated_study(read_toml(path))
    except (ValueError, RecursionError) as error:
        raise SimstudyError(
            f"{path} is missing or damaged; run the study again, which makes it anew"
        ) from error


def shown(path: Path) -> str | None:
    """The study file of results as TOML; None if it is not one of results."""
    return kept_study(path.parent).to_toml() if _is_of_results(path) else None


def _is_of_results(path: Path) -> bool:
    place = path.parent
    return path.name == STUDY and (
        (place / JOURNAL).exists() or Store(place).manifest() is not None
    )


def foreign(settings: Mapping[str, Any]) -> list[str]:
    """What a study names that is not simstudy's own: to run it would execute that."""
    measures = settings["measures"]
    named = [
        (FAMILIES, settings["family"]["name"]),
        *((LEARNERS, learner["name"]) for learner in settings["learners"]),
        *((MEASURES, name) for name in [measures["primary"], *measures["also"]]),
    ]
    return [*settings["plugins"], *(name for kind, name in named if not kind.is_own(name))]


def kept_plan(study: Study, directory: Path, manifest: Mapping[str, Any]) -> Plan:
    """The plan of results that have a manifest; their plugins are read, and not executed.

    What does not agree with the manifest is found by `Store.check`.
    """
    conditions, measures = manifest["conditions"], manifest["measures"]
    plan = stated_plan(study)
    identities = dict(conditions["learners"])
    return replace(
        plan,
        family=replace(plan.family, identity=conditions["family"]),
        learners=tuple(
            replace(part, identity=identities.get(part.label, "")) for part in plan.learners
        ),
        means=tuple(name for name in plan.measures if measures.get(name, {"mean": False})["mean"]),
        plugins=tuple(read_plugin(directory / PLUGINS / Path(name).name) for name in study.plugins),
        sources=tuple(conditions["source"].items()),
    )
