"""The child's side: a process that runs the requested cells."""

from __future__ import annotations

import faulthandler
import os
import pickle
import queue
import shutil
import signal
import threading
from pathlib import Path
from time import perf_counter
from typing import Any, BinaryIO

from simstudy.components import plugins
from simstudy.components.registry import LEARNERS, build, registered
from simstudy.engine import task
from simstudy.engine.plan import Plan
from simstudy.engine.task import prepare, run_task
from simstudy.engine.workers.child import DRAWN, GROUPS, READY, SECONDS, TRACE
from simstudy.errors import DifferentError, SimstudyError


def answer(place: str) -> None:
    """Read plans and tasks from standard input, answer with cells; files are in ``place``."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the guard handles Ctrl-C
    task.interruptible = False
    plugins.unpack_to = Path(place)
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # Learners must neither read requests nor write answers.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)

    def send(content: object) -> None:
        answers.write(pickle.dumps(content))
        answers.flush()

    tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(requests, tasks, place), daemon=True).start()
    with open(Path(place, TRACE), "w", encoding="utf-8") as file:
        faulthandler.enable(file, all_threads=False)
        if hasattr(faulthandler, "register"):
            faulthandler.register(signal.SIGUSR1, file, all_threads=False)
        while True:
            request = tasks.get()
            if not isinstance(request, tuple):
                plan = request
                send(_made_ready(plan))
                continue
            batch, one_by_one = request
            if one_by_one:
                for model, wanted in batch:
                    for cell in run_task(plan, model, wanted, drawn=lambda: send(DRAWN)):
                        send([cell])
            else:
                finished, started = [], perf_counter()
                for key in batch:
                    finished.append(list(run_task(plan, *key)))
                    if perf_counter() - started > SECONDS:
                        break
                send(finished)


def _made_ready(plan: Plan | Exception) -> str | SimstudyError:
    """Import all modules that the cells of a plan need, so that no cell is timed with them."""
    failure = None
    try:
        if isinstance(plan, Exception):
            raise plan
        prepare(plan)
        for registry, name in registered(plan.component_names):
            registry.get(name)
        for component in plan.learners if plan.timeout is not None else ():
            if hasattr(LEARNERS.get(component.name), "warm_up"):
                learner: Any = build(LEARNERS, component)
                learner.warm_up()
    except (Exception, SystemExit) as error:
        failure = SimstudyError(f"{type(error).__name__}: {error}")
    if isinstance(plan, Plan) and plan.environment:  # from another machine
        from simstudy.engine.workers.environment import differences

        if different := differences(dict(plan.environment)):
            return DifferentError(different)
    if isinstance(plan, Plan) and failure is None and plan.memory is not None:
        limit_memory(plan.memory)
    return failure or READY


def limit_memory(gigabytes: float) -> None:
    """Limit further allocations of this process, where the system supports it."""
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


def _read(source: BinaryIO, tasks: queue.SimpleQueue[object], place: str) -> None:
    """Queue the guard's requests; exit when the guard is gone."""
    try:
        while True:
            tasks.put(pickle.load(source))
    except EOFError:
        shutil.rmtree(place, ignore_errors=True)
        if GROUPS:
            os.killpg(0, signal.SIGKILL)
        os._exit(0)
    except Exception as error:  # the plan needs modules that cannot be imported here
        tasks.put(error)
