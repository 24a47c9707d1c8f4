"""A Dask worker's side of a run: the plan, sent once, and the guards that run its tasks."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import NamedTuple

from simstudy.engine.task import Cell, TaskKey
from simstudy.engine.workers.environment import BASIS, differences
from simstudy.engine.workers.guard import Guard, StoppedError
from simstudy.errors import DifferentError


class Refusal(NamedTuple):
    """A worker did not begin some tasks: its address, and how it differs; "" if it left."""

    worker: str
    why: str


class _Guards:
    """The guards of this worker, one per run and thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._plans: dict[str, bytes] = {}
        self._guards: dict[tuple[str, int], Guard] = {}

    def add(self, run: str, plan: bytes) -> None:
        with self._lock:
            self._plans[run] = plan

    def of_this_thread(self, run: str) -> Guard:
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


def join(run: str, expected: Mapping[str, str], plan: bytes) -> str:
    """Let this worker take part in a run if it can read the pickled plan; else how it differs.

    Each child process compares the rest of the environment after importing what the study needs.
    """
    different = differences({name: expected[name] for name in BASIS if name in expected})
    if not different:
        _guards.add(run, plan)
    return different


def leave(run: str) -> None:
    """End the guards of a run."""
    _guards.stop(run)


def run_on_worker(run: str, batch: Sequence[TaskKey]) -> tuple[list[list[Cell]], float] | Refusal:
    """Run tasks on a worker; returns the cells of each, and the total seconds."""
    from distributed import get_worker

    started = perf_counter()
    try:
        cells = _guards.of_this_thread(run).run(batch)
    except DifferentError as error:  # every new child process compares
        return Refusal(get_worker().address, str(error))
    except StoppedError:  # the run is over, or this worker was restarted at the same address
        return Refusal(get_worker().address, "")
    return cells, perf_counter() - started
