"""A Dask worker's end of a run: the plan, told once, and the guards that run its tasks."""

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
    """Some tasks were not begun: by which worker, and how it differs; "" if it was not asked."""

    worker: str
    why: str


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


def join(run: str, expected: Mapping[str, str], plan: bytes) -> str:
    """Let this worker take part in a run, if it can read the plan; else how it differs.

    The rest is compared by each child process, once it has imported what the study needs.

    Parameters
    ----------
    run : str
        The name of the run.
    expected : mapping
        What it must compute with: packages and their versions.
    plan : bytes
        The plan, pickled: another version of simstudy or Python could not read it.
    """
    different = differences({name: expected[name] for name in BASIS if name in expected})
    if not different:
        _guards.welcome(run, plan)
    return different


def leave(run: str) -> None:
    """End what this worker has of a run."""
    _guards.stop(run)


def run_on_worker(run: str, batch: Sequence[TaskKey]) -> tuple[list[list[Cell]], float] | Refusal:
    """Run some tasks on a worker; the cells of each, and the seconds that all took."""
    from distributed import get_worker

    started = perf_counter()
    try:
        cells = _guards.mine(run).run(batch)
    except DifferentError as error:  # every new child process compares, not the first alone
        return Refusal(get_worker().address, str(error))
    except StoppedError:  # the run is over, or this is another process at the address of one
        return Refusal(get_worker().address, "")
    return cells, perf_counter() - started
