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


_lock = threading.Lock()
_plans: dict[str, bytes] = {}  # by run
_guards: dict[tuple[str, int], Guard] = {}  # by run and thread


def join(run: str, expected: Mapping[str, str], plan: bytes) -> str:
    """Let this worker take part in a run if it can read the pickled plan; else how it differs.

    Each child process compares the rest of the environment after importing what the study needs.
    """
    different = differences({name: expected[name] for name in BASIS if name in expected})
    if not different:
        with _lock:
            _plans[run] = plan
    return different


def leave(run: str) -> None:
    """End the guards of a run."""
    with _lock:
        _plans.pop(run, None)
        guards = [_guards.pop(key) for key in [*_guards] if key[0] == run]
    for guard in guards:
        guard.stop()


def _guard(run: str) -> Guard:
    """The guard of this thread for a run."""
    key = (run, threading.get_ident())
    with _lock:
        if run not in _plans:
            raise StoppedError
        if key not in _guards:
            _guards[key] = Guard(pickle.loads(_plans[run]))
        return _guards[key]


def run_on_worker(run: str, batch: Sequence[TaskKey]) -> tuple[list[list[Cell]], float] | Refusal:
    """Run tasks on a worker; returns the cells of each, and the total seconds."""
    from distributed import get_worker

    started = perf_counter()
    try:
        cells = _guard(run).run(batch)
    except DifferentError as error:  # every new child process compares
        return Refusal(get_worker().address, str(error))
    except StoppedError:  # the run is over, or this worker was restarted at the same address
        return Refusal(get_worker().address, "")
    return cells, perf_counter() - started
