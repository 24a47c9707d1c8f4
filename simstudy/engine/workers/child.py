"""The guard's side of a process that runs cells; the child's side is `worker`.

It is imported before anything slow, so that children can start early.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simstudy.errors import SimstudyError, reported

if TYPE_CHECKING:
    from simstudy.engine.plan import Plan
    from simstudy.engine.task import TaskKey

READY, DRAWN = "ready", "drawn"
TRACE = "trace"  # file for a stack trace in the directory of a child
# One thread for linear algebra: the number of threads may change the rounding of sums, and idle
# threads of OpenBLAS use processors while they wait.
_LIBRARIES = ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR", "NUMBA")
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in _LIBRARIES}
# Between two collections of garbage; the usual 700 cost a few percent of the time of small fits.
_PROGRAM = """
import gc, sys
gc.set_threshold(20_000)
sys.path[:] = sys.argv[2:]
from simstudy.engine.workers.worker import answer
answer(sys.argv[1])
"""
# Target duration of a batch: long compared with the overhead, short for progress display and for
# what is lost with a worker. Tasks not begun by then are returned.
SECONDS = 0.3
_GRACE = 2.0  # seconds for a dying process to exit
GROUPS = hasattr(os, "killpg")


class Child:
    """A worker process, the pipes to it, and a directory for its stack trace and plugins.

    It leads its own process group, which ends with it: a learner may have started processes.
    """

    def __init__(self) -> None:
        self.cells = 0  # run so far
        self.used = False  # whether a plan was sent to it
        environment = {**os.environ, **ONE_THREAD}
        # Dask sets this for its workers; numpy then keeps returning memory, at half speed.
        environment.pop("MALLOC_TRIM_THRESHOLD_", None)
        with reported("a worker process cannot start", OSError):
            self._place = tempfile.mkdtemp(prefix="simstudy-")
            self._process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, self._place, *sys.path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=environment,
                process_group=0 if GROUPS else None,
            )
        self._answers: queue.SimpleQueue[object] = queue.SimpleQueue()
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
        with self._process.stdout as stream:
            try:
                while True:
                    self._answers.put(pickle.load(stream))
            except Exception:  # end of the stream, perhaps within a message
                self._answers.put("crashed")

    def _watch(self) -> None:
        """Detect the exit even if a process that a learner started keeps the pipe open."""
        self._process.wait()
        self._listener.join(1.0)
        self._answers.put("crashed")

    def send(self, content: bytes) -> None:
        """Send content; a dead child is detected when its answer is awaited."""
        assert self._process.stdin is not None
        self.used = True
        with contextlib.suppress(OSError, ValueError):
            self._process.stdin.write(content)
            self._process.stdin.flush()

    def ask(self, tasks: Sequence[TaskKey], one_by_one: bool) -> None:
        """Request the cells of some tasks, in one answer or one answer per cell."""
        self.send(pickle.dumps((tasks, one_by_one)))

    def receive(self, timeout: float | None) -> Any:
        """The child's next answer: cells, `DRAWN`, "crashed", or "timeout" if there is none."""
        try:
            return self._answers.get(timeout=timeout)
        except queue.Empty:
            return "timeout"

    def death(self) -> str:
        """Why a child that no longer answers has died."""
        try:
            code = self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            return "the process closed its connection"
        if code >= 0:
            return f"the process exited with code {code}"
        name = next((s.name for s in signal.Signals if s == -code), f"signal {-code}")
        why = ", perhaps because memory ran out" if name == "SIGKILL" else ""
        return f"the process was killed by {name}{why}"

    def end(self, ask: bool = False) -> str:
        """End the process and its group; returns its stack trace, requested with ``ask``."""
        if ask and self.alive and hasattr(signal, "SIGUSR1"):
            self._process.send_signal(signal.SIGUSR1)  # requests its stack trace
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(0.1)
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL) if GROUPS else self._process.kill()
        self._process.wait()
        with contextlib.suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        self._listener.join(_GRACE)  # it closes the other pipe, unless a process keeps that open
        trace = ""
        with contextlib.suppress(OSError):
            trace = Path(self._place, TRACE).read_text(encoding="utf-8", errors="replace")
        shutil.rmtree(self._place, ignore_errors=True)
        return trace


def pickled(plan: Plan) -> bytes:
    """A pickled plan; notebook definitions are pickled by value."""
    if not plan.interactive:
        return pickle.dumps(plan)
    import cloudpickle

    try:
        content: bytes = cloudpickle.dumps(plan)
    except Exception as error:
        names = ", ".join(name for _, name, _ in plan.interactive)
        raise SimstudyError(f"{names} cannot be sent to a worker process: {error}") from error
    return content


_spare: list[Child] | None = None  # idle children; None where they are not retained


@contextlib.contextmanager
def spare_children(early: int = 0) -> Iterator[None]:
    """Retain idle children for later studies; ``early`` of them are started at once."""
    global _spare
    outer, _spare = _spare, _spare or []
    try:
        _spare += [Child() for _ in range(early)]
        yield
    finally:
        if outer is None:
            children, _spare = _spare, None
            for child in children:
                child.end()


def take_spare(trusted: bool) -> Child | None:
    """A spare child, if there is one; a used one only for trusted plans."""
    spare = _spare if _spare is not None else []
    for child in spare.copy():
        if child.alive and (trusted or not child.used):
            with contextlib.suppress(ValueError):  # another thread took it
                spare.remove(child)
                return child
    return None


def make_spare(child: Child, trusted: bool) -> bool:
    """Retain the child of a trusted plan, if children are retained."""
    if _spare is None or not trusted:
        return False
    _spare.append(child)
    return True


def available_processors() -> int:
    """The number of processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
