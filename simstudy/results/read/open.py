"""Opening results and the study recorded in them; nothing that it names is executed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from simstudy.components.plugins import read_plugin
from simstudy.engine.evaluation import EXACT
from simstudy.engine.plan import Plan, stated_plan
from simstudy.errors import SimstudyError, reported
from simstudy.experiments import DEFAULT, is_known
from simstudy.results.read.base import Results as Results
from simstudy.results.store.folder import Folder, damaged
from simstudy.results.store.manifest import COMPLETE, filled, plugin_copy, plugin_names
from simstudy.results.store.store import SHARD
from simstudy.study.constants import JOURNAL, STUDY
from simstudy.study.files import read_toml
from simstudy.study.study import Study, stated_study


def open_results(directory: str | Path) -> Results:
    """Open the results that a study wrote.

    Returns
    -------
    Results
        An object of the class for this kind of study, with the analyses that apply:
        `LearnerResults` for a comparison of learners on models, `DataResults` for one on data
        sets, `MeasureResults`, `EstimatorResults` or `TestResults`.
    """
    place = Path(directory)
    manifest = complete_manifest(place)
    study = recorded_study(place)
    return study.experiment.results_class(study)(place, study, manifest)


def complete_manifest(directory: Path) -> dict[str, Any]:
    """The manifest of complete results; incomplete results are refused."""
    manifest = Folder(directory).manifest()
    status = "" if manifest is None else manifest["status"]
    if status.startswith(SHARD):
        raise SimstudyError(
            f"{directory} holds only {status} of a study; combine all shards with simstudy merge"
        )
    if manifest is None or status != COMPLETE:
        raise SimstudyError(f"{directory} holds no complete results of a study")
    return filled(manifest)


def results_of(
    study: Study, plan: Plan, directory: Path, reused: bool = True, *, runnable: bool = True
) -> Results:
    """The results of a study that is already loaded.

    Parameters
    ----------
    study : Study
        The study that was run.
    plan : Plan
        Its plan.
    directory : Path
        Where its results are.
    reused : bool
        Whether existing results were reused.
    runnable : bool
        Whether cells can be run by this plan, or only by that of the study file in the results.
    """
    manifest, made = complete_manifest(directory), study.experiment.results_class(study)
    # paths are those that the study file in the results has: of copies, and of data
    placed = plan.source.placed(study.as_dict(), directory)
    moved = [
        section.model_copy(update={"path": entry["path"]})
        for section, entry in zip(study.datasets, placed.get("datasets", ()), strict=False)
    ]
    family = study.family
    if family is not None and "family" in placed:
        files = {key: value for key, value in placed["family"].items() if key != "name"}
        family = replace(family, resolved=files)
    plugins = tuple(plugin_names(plan))
    recorded = replace(study, plugins=plugins, family=family, datasets=tuple(moved))
    return made(directory, recorded, manifest, reused, plan if runnable else None)


def recorded_study(directory: Path) -> Study:
    """The study recorded in a directory of results; no name is looked up."""
    path = directory / STUDY
    try:
        content = read_toml(path)
        compare = content.get("compare", DEFAULT)
        if isinstance(compare, str) and not is_known(compare):
            plugin = "an experiment of a plugin: import the plugin first"
            raise SimstudyError(f"{path} compares {compare}, {plugin}")
        study = stated_study(content)
        if not study.source.is_stated:  # the manifest has what data files say
            source = study.source.recorded(Folder(directory).required(), directory)
            study = replace(study, source=source)
        return study
    except (ValueError, RecursionError) as error:
        raise damaged(path) from error


def recorded_toml(path: Path) -> str | None:
    """The study file of results as TOML; None for any other file."""
    place = path.parent
    if path.name != STUDY or not ((place / JOURNAL).exists() or Folder(place).manifest()):
        return None
    return recorded_study(place).to_toml()


def recorded_plan(study: Study, directory: Path, manifest: Mapping[str, Any]) -> Plan:
    """The plan of results with a manifest; plugins are read but not executed.

    `Store.check` finds disagreements with the manifest.
    """
    conditions, plan, plugins = manifest["conditions"], stated_plan(study), []
    identity = dict(conditions["learners"])
    learners = [replace(spec, identity=identity.get(spec.label, "")) for spec in plan.learners]
    exact = [name for name, (_, test) in manifest.get("columns", {}).items() if test == EXACT]
    for name in study.plugins:  # their copies, which are nowhere else
        with reported(f"{directory / STUDY}, plugins: {name!r}", ValueError):
            plugins.append(read_plugin(directory / plugin_copy(name)))
    return replace(
        plan,
        origin=plan.source.recorded(manifest, directory),
        learners=tuple(learners),
        exact=tuple(spec.label for spec in plan.measured if spec.label in exact),
        plugins=tuple(plugins),
        sources=tuple(conditions["source"].items()),
    )
