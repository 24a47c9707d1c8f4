"""Running tasks on the workers of a Dask cluster.

Dask moves the tasks and gives those of a lost worker to another one. On a worker every thread has a
guard with a child process, as on one machine: a learner can end its child, never the worker.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import itertools
import logging
import platform
import queue
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from typing import Any

from simstudy.engine.plan import Plan
from simstudy.engine.task import Cell, TaskKey
from simstudy.engine.workers.batches import Batches
from simstudy.engine.workers.child import pickled
from simstudy.errors import SimstudyError

LOCAL = "local"
_PATIENCE = 5  # seconds for a scheduler to answer
_WORKERS_PATIENCE = 60  # seconds for the first worker to come
_MOST_LOSSES = 10  # how often the workers at one task may be lost
_AHEAD = 4  # batches handed out for every thread of a worker
# Where these differ, results may.
_SAME_EVERYWHERE = ("simstudy", "numpy", "scipy")


def execute_on_dask(
    plan: Plan, tasks: Sequence[TaskKey], address: str, jobs: int
) -> Iterator[list[Cell]]:
    """Yield the cells of each task as it finishes on some worker.

    Parameters
    ----------
    plan, tasks
        What to run: models, each with its cells that are wanted.
    address : str
        Of the scheduler, as in tcp://host:8786, or "local" for a cluster in this process.
    jobs : int
        How many workers a local cluster has.
    """
    with _connected(address, jobs) as client:
        _check(client, address)
        yield from _Run(client, address, pickled(plan)).results(tasks)


@contextlib.contextmanager
def _connected(address: str, jobs: int) -> Iterator[Any]:
    """A client of the scheduler, closed at the end, and a local cluster with it."""
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise SimstudyError(
            "a Dask cluster needs the package distributed: pip install 'simstudy[dask]'"
        ) from error
    with contextlib.ExitStack() as stack:
        stack.enter_context(_silence("distributed"))  # what matters is said in errors
        if address == LOCAL:
            # Its workers are threads here; each has its guard, and that a process.
            options = {"processes": False, "dashboard_address": ":0"}
            cluster = stack.enter_context(LocalCluster(jobs, threads_per_worker=1, **options))
            yield stack.enter_context(Client(cluster))
            return
        try:
            client = Client(address, timeout=_PATIENCE)
        except (OSError, ValueError, TypeError) as error:
            raise SimstudyError(
                f"no Dask scheduler answers at {address}; dask scheduler starts one and prints "
                "its address"
            ) from error
        yield stack.enter_context(client)


@contextlib.contextmanager
def _silence(name: str) -> Iterator[None]:
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


def _check(client: Any, address: str) -> None:
    """Refuse a cluster that would fail later, or give other numbers."""
    try:
        client.wait_for_workers(1, timeout=_WORKERS_PATIENCE)
    except TimeoutError as error:
        raise SimstudyError(
            f"the scheduler at {address} has no workers; dask worker {address} starts one"
        ) from error
    here = {name: _version_here(name) for name in _SAME_EVERYWHERE}
    here["Python"] = _python(platform.python_version())
    at_scheduler = {
        name: _called(client.run_on_scheduler, importlib.metadata.version, name)
        for name in ("simstudy",)
    }
    _compare(here, "the scheduler", at_scheduler)
    found: dict[str, dict[str, Any]] = {}
    for name in _SAME_EVERYWHERE:
        for worker, version in client.run(
            importlib.metadata.version, name, on_error="return"
        ).items():
            found.setdefault(worker, {})[name] = version
    for worker, version in client.run(platform.python_version).items():
        found[worker]["Python"] = _python(version)
    for worker, versions in found.items():
        _compare(here, f"the worker {worker}", versions)


def _version_here(name: str) -> str:
    return importlib.metadata.version(name)


def _called(run: Any, *arguments: Any) -> Any:
    try:
        return run(*arguments)
    except Exception as error:
        return error


def _compare(here: dict[str, str], where: str, there: dict[str, Any]) -> None:
    for name, version in there.items():
        if isinstance(version, Exception):
            raise SimstudyError(
                f"{where} has no {name}; install {name} {here[name]} there, as it is here"
            )
        if version != here[name]:
            raise SimstudyError(
                f"{where} has {name} {version}, and here it is {here[name]}; "
                "install the same version in both places"
            )


def _python(version: str) -> str:
    """Major and minor number: what decides whether one can read the other's objects."""
    return ".".join(version.split(".")[:2])


class _Run:
    """One run on a cluster: tasks are handed out as others come back."""

    def __init__(self, client: Any, address: str, plan: bytes) -> None:
        from simstudy.engine.workers.dask_worker import PlanPlugin, run_on_worker

        self._client, self._address = client, address
        self._name = uuid.uuid4().hex
        self._plugin, self._function = PlanPlugin(self._name, plan), run_on_worker
        self._running: dict[Any, Sequence[TaskKey]] = {}
        self._completed: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._losses: Counter[int] = Counter()

    def results(self, tasks: Sequence[TaskKey]) -> Iterator[list[Cell]]:
        threads = max(sum(self._client.nthreads().values()), 1)
        batches = Batches(tasks, threads)
        waiting = iter(batches)
        try:
            self._client.register_plugin(self._plugin)
            for batch in itertools.islice(waiting, _AHEAD * threads):
                self._submit(batch)
            while self._running:
                future = self._next()
                done = self._running.pop(future)
                if future.status == "finished":
                    cells, seconds = future.result()
                    batches.note(len(cells), seconds)
                    batches.give_back(done[len(cells) :])
                    following = next(waiting, None)
                    if following is None and batches.left:  # of what was given back since
                        waiting = iter(batches)
                        following = next(waiting, None)
                    if following is not None:
                        self._submit(following)
                    yield from cells
                else:
                    self._again(done, future)
        except (OSError, CancelledError) as error:  # as distributed has it, on a broken line
            raise self._gone() from error
        finally:
            self._stop()

    def _submit(self, batch: Sequence[TaskKey]) -> None:
        future = self._client.submit(self._function, self._name, batch, pure=False)
        self._running[future] = batch
        future.add_done_callback(self._completed.put)

    def _next(self) -> Any:
        """The next batch that is done, well or not, as long as there is a scheduler."""
        while True:
            try:
                future = self._completed.get(timeout=_PATIENCE)
            except queue.Empty:
                future = None
            if self._client.status != "running":
                raise self._gone()
            if future is not None and future in self._running:
                return future

    def _gone(self) -> SimstudyError:
        return SimstudyError(
            f"the scheduler at {self._address} is gone; what is finished is kept, and the same "
            "command goes on from there"
        )

    def _again(self, batch: Sequence[TaskKey], future: Any) -> None:
        """Hand out the tasks of a lost worker once more, one by one; raise what one has raised."""
        from distributed import KilledWorker

        error = future.exception() if future.status == "error" else None
        if error is not None and not isinstance(error, KilledWorker):
            raise error
        for task in batch:
            self._losses[task[0]] += 1
            if self._losses[task[0]] > _MOST_LOSSES:
                raise SimstudyError(
                    f"workers were lost {_MOST_LOSSES} times while at model {task[0]}; what is "
                    "finished is kept, and the same command goes on from there"
                )
            self._submit([task])

    def _stop(self) -> None:
        """Leave the workers free; those of a cluster that is gone are."""
        if self._client.status == "running":
            with contextlib.suppress(Exception):
                self._client.cancel(list(self._running), force=True)
            with contextlib.suppress(Exception):
                self._client.unregister_worker_plugin(self._plugin.name)
