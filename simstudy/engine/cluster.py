"""Running tasks on the workers of a Dask cluster.

Dask moves the tasks and gives those of a lost worker to another one. On a worker every thread has a
guard with a child process, as on one machine: a learner can end its child, never the worker.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import itertools
import logging
import pickle
import platform
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from simstudy.engine.guard import Guard, StoppedError, pickled
from simstudy.engine.plan import Plan
from simstudy.engine.task import Cell, CellKey
from simstudy.errors import SimstudyError

LOCAL = "local"
_PATIENCE = 5  # seconds for a scheduler to answer
_WORKERS_PATIENCE = 60  # seconds for the first worker to come
_MOST_LOSSES = 10  # how often the workers at one task may be lost
_AHEAD = 4  # tasks handed out for every thread of a worker
# Where these differ, results may.
_SAME_EVERYWHERE = ("simstudy", "numpy", "scipy")


def execute_on_dask(
    plan: Plan, tasks: Iterable[tuple[int, Collection[CellKey] | None]], address: str, jobs: int
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
        try:
            yield from _results(client, pickled(plan), tasks)
        finally:
            with contextlib.suppress(Exception):  # a cluster that is gone has no guards either
                client.run(stop_guards)


@contextlib.contextmanager
def _connected(address: str, jobs: int) -> Iterator[Any]:
    """A client of the scheduler, closed at the end, and a local cluster with it."""
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise SimstudyError(
            "a Dask cluster needs the package distributed: pip install 'simstudy[dask]'"
        ) from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters is said in errors
    with contextlib.ExitStack() as stack:
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


def _results(
    client: Any, plan: bytes, tasks: Iterable[tuple[int, Collection[CellKey] | None]]
) -> Iterator[list[Cell]]:
    from distributed import KilledWorker, as_completed

    waiting = iter(tasks)
    running: dict[Any, tuple[int, Collection[CellKey] | None]] = {}
    losses: Counter[int] = Counter()
    completed = as_completed()

    def submit(task: tuple[int, Collection[CellKey] | None]) -> None:
        future = client.submit(run_on_worker, plan, *task, pure=False)
        running[future] = task
        completed.add(future)

    for task in itertools.islice(waiting, _AHEAD * max(sum(client.nthreads().values()), 1)):
        submit(task)
    while running:
        future = next(completed)
        task = running.pop(future)
        if future.status == "finished":
            yield future.result()
            if (following := next(waiting, None)) is not None:
                submit(following)
            continue
        error = future.exception() if future.status == "error" else None
        if error is not None and not isinstance(error, KilledWorker | StoppedError):
            raise error
        losses[task[0]] += 1
        if losses[task[0]] > _MOST_LOSSES:
            raise SimstudyError(
                f"workers were lost {_MOST_LOSSES} times while at model {task[0]}; what is "
                "finished is kept, and the same command goes on from there"
            )
        submit(task)


class _Guards:
    """The guards of this worker, one for each thread, all of one plan."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._plan = b""
        self._guards: dict[int, Guard] = {}

    def mine(self, plan: bytes) -> Guard:
        with self._lock:
            if plan != self._plan:
                self._stop()
                self._plan = plan
            thread = threading.get_ident()
            if thread not in self._guards:
                self._guards[thread] = Guard(pickle.loads(plan))
            return self._guards[thread]

    def stop(self) -> None:
        with self._lock:
            self._stop()

    def _stop(self) -> None:
        for guard in self._guards.values():
            guard.stop()
        self._guards = {}


_guards = _Guards()


def run_on_worker(plan: bytes, model: int, wanted: Collection[CellKey] | None) -> list[Cell]:
    """Run one task on a worker."""
    return _guards.mine(plan).run(model, wanted)


def stop_guards() -> None:
    """End the children of this worker."""
    _guards.stop()
