"""Running tasks on the workers of a Dask cluster.

A worker takes part once it has shown that it computes with the same code; tasks go to such workers
alone. Dask moves the tasks and gives those of a lost worker to another one. On a worker every
thread has a guard with a child process, as on one machine: a learner can end its child, never the
worker.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.metadata
import itertools
import logging
import queue
import random
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import replace
from textwrap import shorten
from time import monotonic
from typing import Any

import simstudy
from simstudy.engine.plan import Plan
from simstudy.engine.task import Cell, TaskKey
from simstudy.engine.workers.batches import Batches
from simstudy.engine.workers.child import pickled
from simstudy.engine.workers.environment import environment
from simstudy.errors import SimstudyError, describe

LOCAL = "local"
_PATIENCE = 5  # seconds for a scheduler to answer
_ANSWER_PATIENCE = 2  # seconds for what is computed to be handed over
_WORKERS_PATIENCE = 60  # seconds for the first worker to come
_REFUSED_PATIENCE = 20  # seconds for one to come that is not refused, while others are there
_RETURN_PATIENCE = 600  # seconds for one to come back when all are gone
_SURVEY = 1.0  # seconds between two looks at who is there
_MOST_LOSSES = 10  # how often the workers at one task may be lost
_AHEAD = 4  # batches handed out for every thread of a worker
_CHOICE = 16  # workers that Dask may choose from for a batch
_NAMED = 3  # refused workers that an error names
_LOGGERS = ("distributed", "tornado", "asyncio")


def execute_on_dask(
    plan: Plan, tasks: Sequence[TaskKey], address: str, jobs: int, refused: dict[str, str]
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
    refused : dict
        Gets the addresses of workers that would compute with something else, and why.
    """
    plan = replace(plan, environment=tuple(environment(plan).items()))
    with _connected(address, jobs) as client:
        _check(client, address)
        yield from _Run(client, address, plan, refused).results(tasks)


@contextlib.contextmanager
def _connected(address: str, jobs: int) -> Iterator[Any]:
    """A client of the scheduler, closed at the end, and a local cluster with it."""
    try:
        from distributed import Client
    except ImportError as error:
        raise SimstudyError(
            "a Dask cluster needs the package distributed: pip install 'simstudy[dask]'"
        ) from error
    with contextlib.ExitStack() as stack:
        stack.enter_context(_silence())  # what matters is said in errors
        if address == LOCAL:
            yield stack.enter_context(Client(stack.enter_context(_local_cluster(jobs))))
            return
        try:
            client = Client(address, timeout=_PATIENCE)
        except (OSError, ValueError, TypeError) as error:
            raise SimstudyError(
                f"no Dask scheduler answers at {address}; dask scheduler starts one and prints "
                "its address"
            ) from error
        yield stack.enter_context(client)


def _local_cluster(workers: int) -> Any:
    """A cluster in this process; its workers are threads, each has its guard, and that a process.

    All that listens is the HTTP server that Dask insists on: on the loopback, and with no pages.
    """
    import dask
    from distributed import Scheduler, SpecCluster, Worker

    http = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
    worker = {"cls": Worker, "options": {"nthreads": 1, "memory_limit": 0, **http}}
    scheduler = {"cls": Scheduler, "options": {"protocol": "inproc://", **http}}
    pages: dict[str, list[str]] = {
        f"distributed.{kind}.http.routes": [] for kind in ("scheduler", "worker")
    }
    with dask.config.set(pages):
        return SpecCluster(dict.fromkeys(range(workers), worker), scheduler)


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Keep Dask and what it is built on from logging; each of their loggers has its own level."""
    loggers = [
        logger
        for name, logger in logging.root.manager.loggerDict.items()
        if name.partition(".")[0] in _LOGGERS and isinstance(logger, logging.Logger)
    ]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        gc.collect()  # tasks that were lost are complained about when they are thrown away
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _check(client: Any, address: str) -> None:
    """Refuse a cluster without workers, or whose scheduler could not read the tasks."""
    try:
        client.wait_for_workers(1, timeout=_WORKERS_PATIENCE)
    except TimeoutError as error:
        raise SimstudyError(
            f"the scheduler at {address} has no workers; dask worker {address} starts one"
        ) from error
    try:
        found = f"simstudy {client.run_on_scheduler(importlib.metadata.version, 'simstudy')}"
    except Exception:
        found = "no simstudy"
    if found != f"simstudy {simstudy.__version__}":
        raise SimstudyError(
            f"the scheduler at {address} has {found}, and here it is {simstudy.__version__}; "
            "install the same version in both places"
        )


class _Run:
    """One run on a cluster: workers are asked to join, tasks handed out as others come back."""

    def __init__(self, client: Any, address: str, plan: Plan, refused: dict[str, str]) -> None:
        from simstudy.engine.workers import dask_worker as cluster_worker

        self._client, self._address, self._there = client, address, cluster_worker
        self._name = uuid.uuid4().hex
        self._invitation = (self._name, dict(plan.environment), pickled(plan))
        self._refused = refused
        self._turned_away: set[str] = set()  # of those who are there now
        self._workers: dict[str, int] = {}  # who is there, and their threads
        self._joined: dict[str, int] = {}
        self._running: dict[Any, tuple[Sequence[TaskKey], frozenset[str]]] = {}
        self._completed: queue.SimpleQueue[Any] = queue.SimpleQueue()
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
                    self._hand_out(batch)
                future = self._next()
                if future in self._running:
                    yield from self._taken(future, batches)
        except (OSError, CancelledError) as error:  # as distributed has it, on a broken line
            raise self._gone() from error
        finally:
            self._stop()

    def _waiting(self, batches: Batches) -> Iterator[Sequence[TaskKey]]:
        while self._again:
            yield [self._again.pop()]
        yield from batches

    def _survey(self) -> None:
        """See who has come and gone: ask the new to join, give the tasks of the lost to others."""
        now = monotonic()
        if now - self._surveyed < _SURVEY:
            return
        self._surveyed = now
        there = self._workers = self._nthreads()
        self._joined = {worker: there[worker] for worker in self._joined if worker in there}
        self._turned_away &= there.keys()
        self._invite({*there} - self._turned_away - {*self._joined})
        for future in [f for f, (_, to) in self._running.items() if to.isdisjoint(self._joined)]:
            batch, _ = self._running.pop(future)
            self._client.cancel([future], force=True)
            self._lost(batch)
        if self._joined:
            self._hopeful = now
        elif now - self._hopeful > (_REFUSED_PATIENCE if there else _RETURN_PATIENCE):
            raise self._nobody_left()

    def _nthreads(self) -> dict[str, int]:
        ask = self._client.scheduler.ncores
        threads: dict[str, int] = self._client.sync(ask, callback_timeout=_PATIENCE)
        return threads

    def _invite(self, workers: set[str]) -> None:
        """Let workers join that compute with the same code.

        A worker could not survive a task that it cannot read; this it can.
        """
        if not workers:
            return
        answers = self._client.run(
            self._there.join, *self._invitation, workers=[*workers], on_error="return"
        )
        for worker, answer in answers.items():
            if answer == "":
                self._joined[worker] = self._workers[worker]
            elif isinstance(answer, OSError):  # it is on its way out
                self._turned_away.add(worker)
            elif isinstance(answer, Exception):
                self._refuse(worker, f"cannot read the study ({shorten(describe(answer), 300)})")
            else:
                self._refuse(worker, answer)

    def _refuse(self, worker: str, why: str) -> None:
        self._refused[worker] = why
        self._turned_away.add(worker)
        self._joined.pop(worker, None)

    def _nobody_left(self) -> SimstudyError:
        going_on = "what is finished is kept, and the same command goes on from there"
        if not self._refused:
            return SimstudyError(f"no worker of {self._address} is left; {going_on}")
        named = [f"{worker} {why}" for worker, why in self._refused.items()]
        more = "; …" if len(named) > _NAMED else ""
        return SimstudyError(
            f"no worker of {self._address} computes with the same code as this process: "
            f"{'; '.join(named[:_NAMED])}{more}; install the same versions everywhere; {going_on}"
        )

    def _hand_out(self, batch: Sequence[TaskKey]) -> None:
        to = random.sample([*self._joined], min(_CHOICE, len(self._joined)))
        future = self._client.submit(
            self._there.run_on_worker, self._name, batch, workers=to, pure=False
        )
        self._running[future] = (batch, frozenset(to))
        future.add_done_callback(self._completed.put)

    def _next(self) -> Any:
        """The next thing that is done, well or not, as long as there is a scheduler; or None."""
        try:
            future = self._completed.get(timeout=_SURVEY)
        except queue.Empty:
            future = None
        if self._client.status != "running":
            raise self._gone()
        return future

    def _taken(self, future: Any, batches: Batches) -> list[list[Cell]]:
        """The cells of a batch that is done; what is not goes elsewhere."""
        batch, _ = self._running.pop(future)
        answer = _answer(future)
        if answer is None:
            self._lost(batch)
            return []
        if isinstance(answer, self._there.Refusal):
            if answer.why:
                self._refuse(*answer)
            self._joined.pop(answer.worker, None)
            batches.give_back(batch)
            return []
        cells: list[list[Cell]] = answer[0]
        batches.note(len(cells), answer[1])
        batches.give_back(batch[len(cells) :])
        return cells

    def _gone(self) -> SimstudyError:
        return SimstudyError(
            f"the scheduler at {self._address} is gone; what is finished is kept, and the same "
            "command goes on from there"
        )

    def _lost(self, batch: Sequence[TaskKey]) -> None:
        """Have the tasks of a lost worker handed out once more, one by one."""
        for task in batch:
            self._losses[task[0]] += 1
            if self._losses[task[0]] > _MOST_LOSSES:
                raise SimstudyError(
                    f"workers were lost {_MOST_LOSSES} times while at model {task[0]}; what is "
                    "finished is kept, and the same command goes on from there"
                )
            self._again.append(task)

    def _stop(self) -> None:
        """Leave the workers free; those of a cluster that is gone are."""
        if self._client.status != "running":
            return
        with contextlib.suppress(Exception):
            self._client.cancel(list(self._running), force=True)
        with contextlib.suppress(Exception):
            # One that is gone would be waited for.
            if workers := [*self._nthreads().keys() & self._joined.keys()]:
                self._client.run(self._there.leave, self._name, workers=workers, on_error="ignore")


def _answer(future: Any) -> Any:
    """What a task has given, or raised; None for one that was lost, or its answer."""
    from distributed import KilledWorker

    if future.status not in ("finished", "error"):
        return None
    try:
        # Dask would wait for ever for an answer that was lost with the only worker to give it.
        return future.result(timeout=_ANSWER_PATIENCE)
    except (TimeoutError, CancelledError, KilledWorker):
        future.cancel(force=True)
        return None
