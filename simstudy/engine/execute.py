"""Running the tasks of a plan, here or in parallel, and handing back cells as they finish."""

from __future__ import annotations

import queue
import warnings
from collections.abc import Collection, Generator, Mapping, Sequence
from time import perf_counter

from simstudy.engine.plan import Plan
from simstudy.engine.task import Cell, CellKey, TaskKey, run_task
from simstudy.engine.workers.batches import Batches
from simstudy.engine.workers.child import available_processors
from simstudy.engine.workers.guard import Guard


def execute(
    plan: Plan,
    jobs: int | None = None,
    todo: Mapping[int, Collection[CellKey]] | None = None,
    cluster: str | None = None,
    refused: dict[str, str] | None = None,
) -> Generator[list[Cell]]:
    """Yield the cells of each model as its task finishes, in whatever order that is.

    Parameters
    ----------
    plan : Plan
        What to run.
    jobs : int, optional
        Worker processes; all processors if left out. With 1, what is simstudy's own runs in this
        process, and anything else in a child, since it might not come back.
    todo : mapping, optional
        The models to run, each with its cells that are wanted; all of the plan if left out.
    cluster : str, optional
        The address of a Dask scheduler, or "local" for one that is started here.
    refused : dict, optional
        Gets the addresses of workers of a cluster that would compute with something else, and why.
    """
    tasks: list[TaskKey] = [(model, None) for model in range(plan.models)]
    if todo is not None:
        tasks = [
            (model, None if len(wanted) == plan.cells_each else wanted)
            for model, wanted in todo.items()
        ]
    jobs = max(1, min(jobs or available_processors(), len(tasks)))
    if cluster is not None:
        from simstudy.engine.workers.dask import execute_on_dask

        refused = {} if refused is None else refused
        yield from execute_on_dask(plan, tasks, cluster, jobs, refused)
    elif jobs == 1 and plan.trusted:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):  # another number of threads may round a sum differently
            for task in tasks:
                yield list(run_task(plan, *task))
    else:
        yield from _execute_guarded(plan, tasks, jobs)


def _execute_guarded(plan: Plan, tasks: Sequence[TaskKey], jobs: int) -> Generator[list[Cell]]:
    """Each job is a thread here that waits for a child process, which does the work."""
    guards = [Guard(plan) for _ in range(jobs)]
    idle: queue.SimpleQueue[Guard] = queue.SimpleQueue()
    for guard in guards:
        guard.start()
        idle.put(guard)
    from joblib import Parallel, delayed  # while the children start

    batches = Batches(tasks, jobs)

    def run(batch: Sequence[TaskKey]) -> list[list[Cell]]:
        guard = idle.get()
        started = perf_counter()
        try:
            finished = guard.run(batch)
        finally:
            idle.put(guard)
        batches.note(len(finished), perf_counter() - started)
        batches.give_back(batch[len(finished) :])
        return finished

    parallel = Parallel(jobs, backend="threading", return_as="generator_unordered")
    results = None
    try:
        while batches.left:  # also of what is given back after the last batch was handed out
            results = parallel(delayed(run)(batch) for batch in batches)
            for finished in results:
                yield from finished
        for guard in guards:
            guard.release()
    finally:
        for guard in guards:
            guard.stop()
        with warnings.catch_warnings():
            # Of the tasks that are lost when a run is stopped: they are run when it goes on.
            warnings.simplefilter("ignore", UserWarning)
            if results is not None:
                results.close()
