"""Running the tasks of a plan, here or in parallel, and handing back cells as they finish."""

from __future__ import annotations

import os
from collections.abc import Iterator

from simstudy.engine.plan import Plan
from simstudy.engine.task import Cell, run_task


def execute(plan: Plan, jobs: int | None = None) -> Iterator[list[Cell]]:
    """Yield the cells of each model as its task finishes, in whatever order that is.

    Parameters
    ----------
    plan : Plan
        What to run.
    jobs : int, optional
        Worker processes; all processors if left out. With 1 everything runs in this process.
    """
    jobs = min(jobs or available_processors(), plan.models)
    if jobs == 1:
        for model in range(plan.models):
            yield run_task(plan, model)
        return
    from joblib import Parallel, delayed

    # Only the plan and an index travel: a worker draws the model and its data from the seed.
    parallel = Parallel(n_jobs=jobs, backend="loky", return_as="generator_unordered")
    yield from parallel(delayed(run_task)(plan, model) for model in range(plan.models))


def available_processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
