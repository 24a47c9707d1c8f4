"""A learner of a study fitted to all rows of a data set, with the estimate that belongs to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simstudy.engine.refit import Refit, SplitEstimate, refit
from simstudy.errors import SimstudyError, suggestion
from simstudy.sources.tables import Tables
from simstudy.study.sizes import size_text

if TYPE_CHECKING:
    from simstudy.experiments.learners.data_results import DataResults


def refitted(results: DataResults, learner: str, dataset: str | None) -> Refit:
    """Fit a learner to a data set of a study; see `DataResults.refit`."""
    recorded = dict(results.manifest["conditions"]["datasets"])
    name = _chosen("data set", dataset, list(recorded))
    label = _chosen("learner", learner, results.learners)
    plan = results._plan  # executes plugins, if they are those of the run
    assert isinstance(plan.source, Tables)
    table = next(one for one in plan.source.tables if one.name == name)
    if table.digest != recorded[name]:
        raise SimstudyError(f"{table.path} has changed since the study was run; run it again")
    return refit(results.study, plan, table, label, _estimate(results, label, name))


def _chosen(kind: str, name: str | None, known: list[str]) -> str:
    """The name if it is known, the only one if none is given."""
    if name is None and len(known) == 1:
        return known[0]
    if name is None:
        raise SimstudyError(f"name one of the {kind}s: {', '.join(known)}")
    if name not in known:
        raise SimstudyError(f"no {kind} '{name}' here{suggestion(name, known)}")
    return name


def _estimate(results: DataResults, learner: str, dataset: str) -> SplitEstimate:
    """The mean of the primary measure over splits at the largest training size."""
    measure, size = results.measures[0], size_text(max(results.study.doses))
    means = results.dataset_means(measure)
    is_it = (means["dataset"] == dataset) & (means["size"] == size) & (means["learner"] == learner)
    (row,) = means[is_it].to_dict("records")
    return SplitEstimate(measure, row["mean"], row["sd"], row["splits"], size)
