"""Run the tasks of a plan, serially or in parallel, and yield cells as they finish."""

from __future__ import annotations

import queue
import warnings
from collections.abc import Collection, Generator, Mapping, Sequence
from time import perf_counter

from simstudy.engine.plan import Plan
from simstudy.engine.task import Cell, CellKey, TaskKey, run_task
from simstudy.engine.workers.child import available_processors
from simstudy.engine.workers.guard import Batches, Guard


def execute(
    plan: Plan,
    jobs: int | None = None,
    todo: Mapping[int, Collection[CellKey]] | None = None,
    cluster: str | None = None,
    refused: dict[str, str] | None = None,
) -> Generator[list[Cell]]:
    """Yield the cells of each model as its task finishes, in any order.

    ``jobs`` defaults to all processors; with one job, built-in code runs in this process and other
    code in a child process. ``todo`` restricts the run to some cells of some models. ``cluster``
    is the address of a Dask scheduler, or "local" to start one. ``refused`` collects the addresses
    of cluster workers with a different environment, and the reasons.
    """
    tasks: list[TaskKey] = [(model, None) for model in range(plan.problems)]
    if todo is not None:
        whole = plan.cells_each
        tasks = [(model, None if len(keys) == whole else keys) for model, keys in todo.items()]
    jobs = max(1, min(jobs or available_processors(), len(tasks)))
    if cluster is not None:
        from simstudy.engine.workers.dask import execute_on_dask

        refused = {} if refused is None else refused
        yield from execute_on_dask(plan, tasks, cluster, jobs, refused)
    elif jobs == 1 and plan.trusted:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):  # the number of threads may change the rounding of sums
            for task in tasks:
                yield list(run_task(plan, *task))
    else:
        yield from _execute_guarded(plan, tasks, jobs)


def _execute_guarded(plan: Plan, tasks: Sequence[TaskKey], jobs: int) -> Generator[list[Cell]]:
    """Run each job as a thread that waits for a child process."""
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
        while batches.left:  # tasks may be returned after the last batch was handed out
            results = parallel(delayed(run)(batch) for batch in batches)
            for finished in results:
                yield from finished
        for guard in guards:
            guard.release()
    finally:
        for guard in guards:
            guard.stop()
        with warnings.catch_warnings():
            # about tasks lost when a run is interrupted; they run when it resumes
            warnings.simplefilter("ignore", UserWarning)
            if results is not None:
                results.close()
