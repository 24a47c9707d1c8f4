"""Run tasks on the workers of a Dask cluster.

A worker takes part once it has shown that it computes with the same code; tasks go only to such
workers. Dask moves the tasks and reassigns those of a lost worker. Every worker thread has a guard
with a child process, as on one machine: a learner can end its child, never the worker.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.metadata
import itertools
import logging
import pickle
import queue
import random
import threading
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import replace
from textwrap import shorten
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import simstudy
from simstudy.engine.plan import Plan
from simstudy.engine.task import Cell, TaskKey
from simstudy.engine.workers.child import pickled
from simstudy.engine.workers.environment import BASIS, differences, environment
from simstudy.engine.workers.guard import Batches, Guard, StoppedError
from simstudy.errors import DifferentError, SimstudyError, describe, reported

if TYPE_CHECKING:
    from distributed import Client, Future, SpecCluster

LOCAL = "local"
_PATIENCE = 5  # seconds for the scheduler to answer
_ANSWER_PATIENCE = 2  # seconds to transfer a result
_WORKERS_PATIENCE = 60  # seconds for the first worker to appear
_REFUSED_PATIENCE = 20  # seconds for an accepted worker to appear while others are refused
_RETURN_PATIENCE = 600  # seconds for a worker to return when all are gone
_SURVEY = 1.0  # seconds between two surveys of the workers
_MAX_LOSSES = 10  # how often the workers running one task may be lost
_AHEAD = 4  # batches handed out for every thread of a worker
_CHOICE = 16  # workers that Dask may choose from for a batch
_MAX_NAMED = 3  # refused workers that an error names
_LOGGERS = ("distributed", "tornado", "asyncio")


def execute_on_dask(
    plan: Plan, tasks: Sequence[TaskKey], address: str, jobs: int, refused: dict[str, str]
) -> Iterator[list[Cell]]:
    """Yield the cells of each task as it finishes on some worker.

    ``address`` is that of the scheduler, e.g. tcp://host:8786, or "local" for a cluster of
    ``jobs`` workers in this process. ``refused`` collects workers with another environment.
    """
    plan = replace(plan, environment=tuple(environment(plan).items()))
    with _connected(address, jobs) as client:
        _check(client, address)
        yield from _Run(client, address, plan, refused).results(tasks)


@contextlib.contextmanager
def _connected(address: str, jobs: int) -> Iterator[Client]:
    """A client of the scheduler, or of a local cluster; closed at the end."""
    needed = "a Dask cluster needs the package distributed: pip install 'simstudy[dask]'"
    with reported(needed, ImportError, why=False):
        from distributed import Client
    with contextlib.ExitStack() as stack:
        stack.enter_context(_silence())  # problems are reported as errors
        if address == LOCAL:
            yield stack.enter_context(Client(stack.enter_context(_local_cluster(jobs))))
            return
        silent = f"no Dask scheduler answers at {address}; start one with: dask scheduler"
        with reported(silent, OSError, ValueError, TypeError, why=False):
            client = Client(address, timeout=_PATIENCE)
        yield stack.enter_context(client)


def _local_cluster(workers: int) -> SpecCluster:
    """A cluster in this process; its workers are threads, each with a guard and its child process.

    The only listener is Dask's mandatory HTTP server, on the loopback and without pages.
    """
    import dask
    from distributed import Scheduler, SpecCluster, Worker

    http = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
    worker = {"cls": Worker, "options": {"nthreads": 1, "memory_limit": 0, **http}}
    scheduler = {"cls": Scheduler, "options": {"protocol": "inproc://", **http}}
    kinds = ("scheduler", "worker")
    with dask.config.set({f"distributed.{kind}.http.routes": [] for kind in kinds}):
        return SpecCluster(dict.fromkeys(range(workers), worker), scheduler)


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Silence the loggers of Dask and its dependencies; each has its own level."""
    levels = {
        logger: logger.level
        for name, logger in logging.root.manager.loggerDict.items()
        if name.partition(".")[0] in _LOGGERS and isinstance(logger, logging.Logger)
    }
    for logger in levels:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        gc.collect()  # lost tasks are logged when they are collected
        logging.getLogger("asyncio").addFilter(_is_no_timeout)  # some, when the process ends
        for logger, level in levels.items():
            logger.setLevel(level)


def _is_no_timeout(record: logging.LogRecord) -> bool:
    """Whether a record is not of a connection that was too slow to close."""
    return not (record.exc_info and isinstance(record.exc_info[1], TimeoutError))


def _check(client: Client, address: str) -> None:
    """Refuse a cluster without workers, or a scheduler that could not read the tasks."""
    idle = f"the scheduler at {address} has no workers; start one with: dask worker {address}"
    with reported(idle, TimeoutError, why=False):
        client.wait_for_workers(1, timeout=_WORKERS_PATIENCE)
    try:
        installed = f"simstudy {client.run_on_scheduler(importlib.metadata.version, 'simstudy')}"
    except Exception:
        installed = "no simstudy"
    if installed != f"simstudy {simstudy.__version__}":
        raise SimstudyError(
            f"the scheduler at {address} has {installed}, this process has {simstudy.__version__}; "
            "install the same version in both places"
        )


class _Run:
    """One run on a cluster: workers are invited, and tasks handed out as others finish."""

    def __init__(self, client: Client, address: str, plan: Plan, refused: dict[str, str]) -> None:
        self._client, self._address = client, address
        self._name = uuid.uuid4().hex
        self._invitation = (self._name, dict(plan.environment), pickled(plan))
        self._refused = refused
        self._turned_away: set[str] = set()  # present workers that do not take part
        self._joined: dict[str, int] = {}
        self._running: dict[Future, tuple[Sequence[TaskKey], frozenset[str]]] = {}
        self._completed: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self._losses: Counter[int] = Counter()
        self._again: list[TaskKey] = []  # tasks of lost workers
        self._surveyed, self._hopeful = float("-inf"), monotonic()

    def results(self, tasks: Sequence[TaskKey]) -> Iterator[list[Cell]]:
        try:
            batches = Batches(tasks, max(sum(self._nthreads().values()), 1))
            while self._running or self._again or batches.left:
                self._survey()
                ahead = _AHEAD * sum(self._joined.values()) - len(self._running)
                for batch in itertools.islice(self._waiting(batches), max(ahead, 0)):
                    to = random.sample([*self._joined], min(_CHOICE, len(self._joined)))
                    call = (run_on_worker, self._name, batch)
                    future = self._client.submit(*call, workers=to, pure=False)
                    self._running[future] = (batch, frozenset(to))
                    future.add_done_callback(self._completed.put)
                future = self._next()
                if future in self._running:
                    yield from self._taken(future, batches)
        except (OSError, CancelledError) as error:  # raised by distributed on a broken connection
            raise _stopped(f"the scheduler at {self._address} is gone") from error
        finally:
            self._stop()

    def _waiting(self, batches: Batches) -> Iterator[Sequence[TaskKey]]:
        while self._again:
            yield [self._again.pop()]
        yield from batches

    def _survey(self) -> None:
        """Invite new workers, and reassign the tasks of lost ones."""
        now = monotonic()
        if now - self._surveyed < _SURVEY:
            return
        self._surveyed = now
        present = self._nthreads()
        self._joined = {worker: present[worker] for worker in self._joined if worker in present}
        self._turned_away &= present.keys()
        self._invite(present, {*present} - self._turned_away - {*self._joined})
        for future in [f for f, (_, to) in self._running.items() if to.isdisjoint(self._joined)]:
            batch, _ = self._running.pop(future)
            self._client.cancel([future], force=True)
            self._lost(batch)
        if self._joined:
            self._hopeful = now
        elif now - self._hopeful > (_REFUSED_PATIENCE if present else _RETURN_PATIENCE):
            raise _stopped(self._nobody_left())

    def _nthreads(self) -> dict[str, int]:
        """The present workers and their threads."""
        ask = self._client.scheduler.ncores
        threads: dict[str, int] = self._client.sync(ask, callback_timeout=_PATIENCE)
        return threads

    def _invite(self, threads: Mapping[str, int], workers: set[str]) -> None:
        """Let workers join that compute with the same code.

        A worker survives an invitation that it cannot read, but not a task.
        """
        if not workers:
            return
        answers = self._client.run(join, *self._invitation, workers=[*workers], on_error="return")
        for worker, answer in answers.items():
            if answer == "":
                self._joined[worker] = threads[worker]
            elif isinstance(answer, OSError):  # it is shutting down
                self._turned_away.add(worker)
            elif isinstance(answer, Exception):
                self._refuse(worker, f"cannot read the study ({shorten(describe(answer), 300)})")
            else:
                self._refuse(worker, answer)

    def _refuse(self, worker: str, why: str) -> None:
        self._refused[worker] = why
        self._turned_away.add(worker)
        self._joined.pop(worker, None)

    def _nobody_left(self) -> str:
        if not self._refused:
            return f"no worker of {self._address} is left"
        named = [f"{worker} {why}" for worker, why in self._refused.items()]
        more = "; …" if len(named) > _MAX_NAMED else ""
        return (
            f"no worker of {self._address} computes with the same code as this process: "
            f"{'; '.join(named[:_MAX_NAMED])}{more}; install the same versions everywhere"
        )

    def _next(self) -> Future | None:
        """The next completed future, or None; refused if the scheduler is gone."""
        future = None
        with contextlib.suppress(queue.Empty):
            future = self._completed.get(timeout=_SURVEY)
        if self._client.status != "running":
            raise _stopped(f"the scheduler at {self._address} is gone")
        return future

    def _taken(self, future: Future, batches: Batches) -> list[list[Cell]]:
        """The cells of a completed batch; tasks without cells are handed out again."""
        batch, _ = self._running.pop(future)
        answer = _answer(future)
        if answer is None:
            self._lost(batch)
            return []
        if isinstance(answer, Refusal):
            if answer.why:
                self._refuse(*answer)
            self._joined.pop(answer.worker, None)
            batches.give_back(batch)
            return []
        cells: list[list[Cell]] = answer[0]
        batches.note(len(cells), answer[1])
        batches.give_back(batch[len(cells) :])
        return cells

    def _lost(self, batch: Sequence[TaskKey]) -> None:
        """Hand out the tasks of a lost worker again, one by one."""
        for task in batch:
            self._losses[task[0]] += 1
            if self._losses[task[0]] > _MAX_LOSSES:
                lost = f"workers were lost {_MAX_LOSSES} times while running model {task[0]}"
                raise _stopped(lost)
            self._again.append(task)

    def _stop(self) -> None:
        """Free the workers, if the cluster still exists."""
        if self._client.status != "running":
            return
        with contextlib.suppress(Exception):
            self._client.cancel(list(self._running), force=True)
        with contextlib.suppress(Exception):
            # Dask would wait for workers that are gone.
            if workers := [*self._nthreads().keys() & self._joined.keys()]:
                self._client.run(leave, self._name, workers=workers, on_error="ignore")


def _stopped(reason: str) -> SimstudyError:
    """An error that ends the run, with how to resume it."""
    return SimstudyError(f"{reason}; finished cells are saved; the same command resumes the run")


def _answer(future: Future) -> Any:
    """The result of a task; None if the task or its result was lost."""
    from distributed import KilledWorker

    if future.status not in ("finished", "error"):
        return None
    try:
        # Dask would wait forever for a result that was lost with its only worker.
        return future.result(timeout=_ANSWER_PATIENCE)
    except (TimeoutError, CancelledError, KilledWorker):
        future.cancel(force=True)
        return None


# On a worker: the plan, sent once, and the guards that run its tasks.


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
