"""The process that runs cells, from both its ends."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, BinaryIO

from simstudy.engine import task
from simstudy.engine.plan import Plan
from simstudy.engine.task import CellKey, build, prepare, run_task
from simstudy.errors import SimstudyError
from simstudy.registry import FAMILIES, LEARNERS, MEASURES

READY, DRAWN = "ready", "drawn"
# Linear algebra gets one thread in every process: another number may round a sum differently.
_THREADS = ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR", "NUMBA")
_PROGRAM = """
import sys
sys.path[:] = sys.argv[2:]
from simstudy.engine.child import answer
answer(sys.argv[1])
"""
_GRACE = 2.0  # seconds for a dying process to be gone
_GROUPS = hasattr(os, "killpg")


class Child:
    """The guard's end: a process, the pipes to it, and a file for its last words.

    It leads a process group of its own, which ends with it: a learner may have started others.
    """

    def __init__(self) -> None:
        self.cells = 0  # that it has run
        try:
            handle, self._last_words = tempfile.mkstemp(prefix="simstudy-", suffix=".trace")
            os.close(handle)
            self._process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, self._last_words, *sys.path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=_environment(),
                process_group=0 if _GROUPS else None,
            )
        except OSError as error:
            raise SimstudyError(f"a worker process cannot start: {error.strerror}") from error
        self._answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        threading.Thread(target=self._watch, daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def _listen(self) -> None:
        assert self._process.stdout is not None
        try:
            while True:
                self._answers.put(pickle.load(self._process.stdout))
        except Exception:  # the end, perhaps in the middle of a word
            self._answers.put("crashed")

    def _watch(self) -> None:
        """Notice the end even if the pipe stays open, held by what a learner has started."""
        self._process.wait()
        self._listener.join(1.0)
        self._answers.put("crashed")

    def send(self, content: bytes) -> None:
        """Send something; a child that is dead already is noticed when nothing is heard of it."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            self._process.stdin.write(content)
            self._process.stdin.flush()

    def ask(self, model: int, wanted: list[CellKey], one_by_one: bool) -> None:
        self.send(pickle.dumps((model, wanted, one_by_one)))

    def hear(self, timeout: float | None) -> Any:
        """The next thing the child says: cells, `DRAWN`, "crashed", or "timeout" if nothing."""
        try:
            return self._answers.get(timeout=timeout)
        except queue.Empty:
            return "timeout"

    def death(self) -> str:
        """Why a child that is no longer heard of is dead."""
        try:
            code = self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            return "the process closed its connection"
        if code >= 0:
            return f"the process ended itself with exit code {code}"
        names = {int(number): number.name for number in signal.Signals}
        name = names.get(-code, f"signal {-code}")
        why = ", perhaps for want of memory" if name == "SIGKILL" else ""
        return f"the process was killed by {name}{why}"

    def end(self, ask: bool = False) -> str:
        """End the process, and what it has started; its last words, which may be asked for."""
        if ask and self.alive and hasattr(signal, "SIGUSR1"):
            self._process.send_signal(signal.SIGUSR1)  # asks for its stack
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(0.1)
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL) if _GROUPS else self._process.kill()
        self._process.wait()
        with contextlib.suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        words = ""
        with contextlib.suppress(OSError):
            words = Path(self._last_words).read_text(encoding="utf-8", errors="replace")
            os.unlink(self._last_words)
        return words


def pickled(plan: Plan) -> bytes:
    """A plan for another process: by value what was defined in a notebook."""
    if not plan.interactive:
        return pickle.dumps(plan)
    import cloudpickle

    try:
        content: bytes = cloudpickle.dumps(plan)
    except Exception as error:
        names = ", ".join(name for _, name, _ in plan.interactive)
        raise SimstudyError(f"{names} cannot be sent to a worker process: {error}") from error
    return content


def _environment() -> dict[str, str]:
    """The environment of a child, for speed and for the same sums everywhere."""
    environment = {**os.environ, **{f"{name}_NUM_THREADS": "1" for name in _THREADS}}
    # Dask sets this for its workers; numpy then gives memory back at every turn, at half speed.
    environment.pop("MALLOC_TRIM_THRESHOLD_", None)
    return environment


def answer(last_words: str) -> None:
    """The child's end: read plans and tasks from standard input, answer with cells."""
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
    threading.Thread(target=_read, args=(asked, tasks), daemon=True).start()
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
            model, wanted, one_by_one = told
            if one_by_one:
                for cell in run_task(plan, model, wanted, drawn=lambda: say(DRAWN)):
                    say([cell])
            else:
                say(list(run_task(plan, model, wanted)))


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
        return SimstudyError(f"{type(error).__name__}: {error}")
    if plan.memory is not None:
        limit_memory(plan.memory)
    return READY


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


def _read(source: BinaryIO, tasks: queue.SimpleQueue[Any]) -> None:
    """Pass on what the guard asks; without a guard there is no one to answer to."""
    try:
        while True:
            tasks.put(pickle.load(source))
    except EOFError:
        if _GROUPS:
            os.killpg(0, signal.SIGKILL)
        os._exit(0)
    except Exception as error:  # a plan of things that cannot be imported here
        tasks.put(error)
