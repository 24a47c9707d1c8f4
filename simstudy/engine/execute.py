"""Running the tasks of a plan, here or in parallel, and handing back cells as they finish."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping

from simstudy.engine.plan import Plan
from simstudy.engine.task import Cell, CellKey, run_task
from simstudy.errors import SimstudyError


def execute(
    plan: Plan, jobs: int | None = None, todo: Mapping[int, Collection[CellKey]] | None = None
) -> Iterator[list[Cell]]:
    """Yield the cells of each model as its task finishes, in whatever order that is.

    Parameters
    ----------
    plan : Plan
        What to run.
    jobs : int, optional
        Worker processes; all processors if left out. With 1 everything runs in this process.
    todo : mapping, optional
        The models to run, each with its cells that are wanted; all of the plan if left out.
    """
    tasks: list[tuple[int, Collection[CellKey] | None]] = (
        [(model, None) for model in range(plan.models)] if todo is None else list(todo.items())
    )
    jobs = min(jobs or available_processors(), len(tasks))
    # One thread of linear algebra for each process, however many processes there are: another
    # number of threads may round a sum differently.
    if jobs <= 1:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):
            for model, wanted in tasks:
                yield run_task(plan, model, wanted)
        return
    from joblib import Parallel, delayed, parallel_config
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    # Only the plan and an index travel: a worker draws the model and its data from the seed.
    with parallel_config("loky", n_jobs=jobs, inner_max_num_threads=1):
        parallel = Parallel(return_as="generator_unordered")
        results = parallel(delayed(run_task)(plan, *task) for task in tasks)
    try:
        yield from results
    except TerminatedWorkerError as error:
        raise SimstudyError(
            "a worker process died (out of memory, or killed by a learner); "
            "--jobs 1 shows which model it was at"
        ) from error


def available_processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
