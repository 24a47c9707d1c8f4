"""A learner of a study fitted to all rows of a data set, with the estimate that belongs to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simstudy.engine.plan import make_plan
from simstudy.engine.refit import Estimate, Refit, refit
from simstudy.errors import SimstudyError, suggestion
from simstudy.study.constants import STUDY
from simstudy.study.sizes import size_text
from simstudy.study.study import load_study

if TYPE_CHECKING:
    from simstudy.results.analyses import Analyses


def refitted(results: Analyses, learner: str, dataset: str | None) -> Refit:
    """Fit a learner to a data set of a study; see `Analyses.refit`."""
    if not results.study.datasets:
        raise SimstudyError(
            f"{results.directory} is a study of models, which has no data set to fit a learner to"
        )
    recorded = dict(results.manifest["conditions"]["datasets"])
    name = _chosen("data set", dataset, list(recorded))
    label = _chosen("learner", learner, results.learners)
    study = load_study(results.directory / STUDY)  # executes plugins, if they are those of the run
    plan = make_plan(study)
    table = next(one for one in study.tables if one.name == name)
    if table.digest != recorded[name]:
        raise SimstudyError(f"{table.path} has changed since the study was run; run it again")
    return refit(study, plan, label, name, _estimate(results, label, name))


def _chosen(kind: str, name: str | None, known: list[str]) -> str:
    """The name if it is known, the only one if none is given."""
    if name is None and len(known) == 1:
        return known[0]
    if name is None:
        raise SimstudyError(f"name one of the {kind}s: {', '.join(known)}")
    if name not in known:
        raise SimstudyError(f"no {kind} '{name}' here{suggestion(name, known)}")
    return name


def _estimate(results: Analyses, learner: str, dataset: str) -> Estimate:
    """The mean of the primary measure over splits at the largest training size."""
    measure, size = results.measures[0], size_text(max(results.sizes))
    means = results.dataset_means(measure)
    is_it = (means["dataset"] == dataset) & (means["size"] == size) & (means["learner"] == learner)
    (row,) = means[is_it].to_dict("records")
    return Estimate(measure, row["mean"], row["sd"], row["splits"], size)
