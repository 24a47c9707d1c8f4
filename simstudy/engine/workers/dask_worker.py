"""A Dask worker's end of a run: the plan, told once, and the guards that run its tasks."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Sequence
from time import perf_counter
from typing import Any

from distributed import WorkerPlugin

from simstudy.engine.task import Cell, TaskKey
from simstudy.engine.workers.guard import Guard, StoppedError


class PlanPlugin(WorkerPlugin):  # type: ignore[misc]
    """Brings the plan of a run to every worker, also to one that joins later, and ends the run.

    Parameters
    ----------
    run : str
        The name of the run.
    plan : bytes
        The plan, pickled: what it is made of may not be importable where Dask schedules.
    """

    def __init__(self, run: str, plan: bytes) -> None:
        self.name = f"simstudy-{run}"
        self._run, self._plan = run, plan

    def setup(self, worker: Any) -> None:
        _guards.welcome(self._run, self._plan)

    def teardown(self, worker: Any) -> None:
        _guards.stop(self._run)


class _Guards:
    """The guards of this worker, one for each thread of each run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._plans: dict[str, bytes] = {}
        self._guards: dict[tuple[str, int], Guard] = {}

    def welcome(self, run: str, plan: bytes) -> None:
        with self._lock:
            self._plans[run] = plan

    def mine(self, run: str) -> Guard:
        key = (run, threading.get_ident())
        with self._lock:
            if run not in self._plans:
                raise StoppedError
            if key not in self._guards:
                self._guards[key] = Guard(pickle.loads(self._plans[run]))
            return self._guards[key]

    def stop(self, run: str) -> None:
        with self._lock:
            self._plans.pop(run, None)
            keys = [key for key in self._guards if key[0] == run]
            guards = [self._guards.pop(key) for key in keys]
        for guard in guards:
            guard.stop()


_guards = _Guards()


def run_on_worker(run: str, batch: Sequence[TaskKey]) -> tuple[list[list[Cell]], float]:
    """Run some tasks on a worker; the cells of each, and the seconds that all took."""
    started = perf_counter()
    cells = _guards.mine(run).run(batch)
    return cells, perf_counter() - started
