"""Opening the results of a study, each as the class of its kind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from simstudy.engine.plan import Plan
from simstudy.results.identity import plugin_names
from simstudy.results.reading import Results as Results
from simstudy.results.reading import complete_manifest
from simstudy.results.recorded import recorded_study
from simstudy.study.study import Study


def open_results(directory: str | Path) -> Results:
    """Open the results that a study wrote.

    Returns
    -------
    Results
        Of the class of their kind, which has the analyses that apply: `LearnerResults` of a
        comparison of learners on models, `DataResults` of one on data sets, `MeasureResults`,
        `EstimatorResults` or `TestResults`.
    """
    place = Path(directory)
    manifest = complete_manifest(place)
    study = recorded_study(place)
    return study.experiment.results_class(study)(place, study, manifest)


def results_of(
    study: Study, plan: Plan, directory: Path, reused: bool = True, *, runnable: bool = True
) -> Results:
    """The results in a directory of a study that is at hand.

    Parameters
    ----------
    study : Study
        The study that was run.
    plan : Plan
        Its plan.
    directory : Path
        Where its results are.
    reused : bool
        Whether they were there already.
    runnable : bool
        Whether cells can be run by this plan, or only by that of the study file in the results.
    """
    manifest = complete_manifest(directory)
    kept = as_kept(study, plan, directory)
    made = study.experiment.results_class(study)
    return made(directory, kept, manifest, reused, plan if runnable else None)


def as_kept(study: Study, plan: Plan, directory: Path) -> Study:
    """The study with the paths that the study file in its results has: of copies, and of data."""
    placed = plan.source.placed(study.as_dict(), directory)
    stated = placed.get("datasets", [one.model_dump() for one in study.datasets])
    moved = [
        section.model_copy(update={"path": given["path"]})
        for section, given in zip(study.datasets, stated, strict=True)
    ]
    family = study.family
    if family is not None and "family" in placed:
        files = {key: value for key, value in placed["family"].items() if key != "name"}
        family = replace(family, resolved=files)
    return replace(
        study,
        plugins=tuple(plugin_names(plan)),
        family=family,
        datasets=tuple(moved),
    )
