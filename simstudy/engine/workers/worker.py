"""The child's end: a process that runs the cells it is asked for."""

from __future__ import annotations

import faulthandler
import os
import pickle
import queue
import signal
import threading
from pathlib import Path
from time import perf_counter
from typing import Any, BinaryIO

from simstudy.engine import task
from simstudy.engine.plan import Plan
from simstudy.engine.task import build, prepare, run_task
from simstudy.engine.workers.batches import SECONDS
from simstudy.engine.workers.child import DRAWN, GROUPS, READY
from simstudy.errors import DifferentError, SimstudyError
from simstudy.study.registry import FAMILIES, LEARNERS, MEASURES


def answer(last_words: str) -> None:
    """Read plans and tasks from standard input, answer with cells."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the guard's business
    task.interruptible = False
    asked, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # What a learner reads is no task, and what it prints is no answer.
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)

    def say(what: Any) -> None:
        answers.write(pickle.dumps(what))
        answers.flush()

    tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(asked, tasks, last_words), daemon=True).start()
    with open(last_words, "w", encoding="utf-8") as file:
        faulthandler.enable(file, all_threads=False)
        if hasattr(faulthandler, "register"):
            faulthandler.register(signal.SIGUSR1, file, all_threads=False)
        while True:
            told = tasks.get()
            if not isinstance(told, tuple):
                plan = told
                say(_made_ready(plan))
                continue
            batch, one_by_one = told
            if one_by_one:
                for model, wanted in batch:
                    for cell in run_task(plan, model, wanted, drawn=lambda: say(DRAWN)):
                        say([cell])
            else:
                said, started = [], perf_counter()
                for key in batch:
                    said.append(list(run_task(plan, *key)))
                    if perf_counter() - started > SECONDS:
                        break
                say(said)


def _made_ready(plan: Plan | Exception) -> str | SimstudyError:
    """Import all modules that the cells of a plan need, so that no cell's time has them in it."""
    try:
        if isinstance(plan, Exception):
            raise plan
        prepare(plan)
        FAMILIES.get(plan.family.name)
        for part in plan.learners:
            learner = LEARNERS.get(part.name)
            if plan.timeout is not None and hasattr(learner, "warm_up"):
                build(LEARNERS, part).warm_up()
        for column in plan.columns:
            MEASURES.get(column.measure)
    except (Exception, SystemExit) as error:
        return _different(plan) or SimstudyError(f"{type(error).__name__}: {error}")
    if different := _different(plan):
        return different
    if plan.memory is not None:
        limit_memory(plan.memory)
    return READY


def _different(plan: Plan | Exception) -> SimstudyError | None:
    """What is not as a plan that came from another machine needs it."""
    if isinstance(plan, Exception) or not plan.environment:
        return None
    from simstudy.engine.workers.environment import differences

    found = differences(dict(plan.environment))
    return DifferentError(found) if found else None


def limit_memory(gigabytes: float) -> None:
    """Let this process allocate so much more than it has now, where the system can see to it."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (ImportError, OSError):
        return
    limit = pages * resource.getpagesize() + int(gigabytes * 1e9)
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _read(source: BinaryIO, tasks: queue.SimpleQueue[Any], last_words: str) -> None:
    """Pass on what the guard asks; without a guard there is no one to answer to."""
    try:
        while True:
            tasks.put(pickle.load(source))
    except EOFError:
        Path(last_words).unlink(missing_ok=True)
        if GROUPS:
            os.killpg(0, signal.SIGKILL)
        os._exit(0)
    except Exception as error:  # a plan of things that cannot be imported here
        tasks.put(error)
