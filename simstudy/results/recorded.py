"""The study recorded in results, read without executing anything that it names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from simstudy.engine.evaluation import EXACT
from simstudy.engine.plan import Plan, stated_plan
from simstudy.errors import SimstudyError
from simstudy.experiments import DEFAULT, is_known
from simstudy.results.folder import Folder
from simstudy.results.manifest import plugin_copy
from simstudy.study.constants import JOURNAL, STUDY
from simstudy.study.plugins import PluginFile, read_plugin
from simstudy.study.registry import DATA, MEASURES, registered
from simstudy.study.study import Study, stated_study
from simstudy.study.toml import read_toml


def recorded_study(directory: Path) -> Study:
    """The study recorded in a directory of results; no name is looked up."""
    path = directory / STUDY
    try:
        content = read_toml(path)
        compare = content.get("compare", DEFAULT)
        if isinstance(compare, str) and not is_known(compare):
            raise SimstudyError(
                f"{path} compares {compare}, an experiment of a plugin: import the plugin first"
            )
        study = stated_study(content)
        if not study.source.is_stated:  # the manifest has what data files say
            study = replace(
                study, source=study.source.recorded(Folder(directory).found(), directory)
            )
        return study
    except (ValueError, RecursionError) as error:
        raise SimstudyError(
            f"{path} is missing or damaged; run the study again to restore it"
        ) from error


def recorded_toml(path: Path) -> str | None:
    """The study file of results as TOML; None for any other file."""
    place = path.parent
    if path.name != STUDY or not ((place / JOURNAL).exists() or Folder(place).manifest()):
        return None
    return recorded_study(place).to_toml()


def foreign(settings: Mapping[str, Any]) -> list[str]:
    """The plugins and components of a study that are not built in; running it executes them."""
    given = [settings["measures"]["primary"], *settings["measures"]["also"]]
    measures = [one if isinstance(one, str) else one["name"] for one in given]
    kinds = ("changes", "learners", "estimators", "tests")
    names = {kind: [one["name"] for one in settings.get(kind, ())] for kind in kinds}
    names |= {"measures": measures, "families": [settings.get("family", {"name": DATA})["name"]]}
    named = [name for kind, name in registered(names) if not kind.is_own(name)]
    stated = [
        value
        for learner in settings["learners"]
        for key, value in learner.items()
        if key not in ("name", "label")
    ]
    return [*settings["plugins"], *named, *_wrapped_paths(stated)]


def _wrapped_paths(value: object) -> list[str]:
    """The classifiers by their path in parameters, such as those of a learner made of another."""
    if isinstance(value, str):
        levels = value.split(":")  # of a two-level measure, or a path
        return [value] if len(levels) > 1 and not all(map(MEASURES.is_own, levels)) else []
    parts = [*value.values()] if isinstance(value, Mapping) else value
    if not isinstance(parts, list | tuple):
        return []
    return [path for part in parts for path in _wrapped_paths(part)]


def recorded_plan(study: Study, directory: Path, manifest: Mapping[str, Any]) -> Plan:
    """The plan of results with a manifest; plugins are read but not executed.

    `Store.check` finds disagreements with the manifest.
    """
    conditions = manifest["conditions"]
    plan = stated_plan(study)
    identities = dict(conditions["learners"])
    return replace(
        plan,
        origin=plan.source.recorded(manifest, directory),
        learners=tuple(
            replace(one, identity=identities.get(one.label, "")) for one in plan.learners
        ),
        exact=tuple(one.label for one in plan.measured if _is_exact(one.label, manifest)),
        plugins=tuple(_recorded_plugin(directory, name) for name in study.plugins),
        sources=tuple(conditions["source"].items()),
    )


def _is_exact(label: str, manifest: Mapping[str, Any]) -> bool:
    """Whether results have an exact value of a measure."""
    if columns := manifest.get("columns"):
        return EXACT in columns.get(label, ())
    return bool(manifest["measures"].get(label, {}).get("mean"))  # earlier versions


def _recorded_plugin(directory: Path, name: str) -> PluginFile:
    """A plugin's copy in the results, which is nowhere else."""
    try:
        return read_plugin(directory / plugin_copy(name))
    except SimstudyError:
        raise
    except ValueError as error:
        raise SimstudyError(f"{directory / STUDY}, plugins: {name!r}: {error}") from error
