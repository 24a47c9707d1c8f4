"""The process that runs cells, as its guard sees it; its own end is in `worker`.

This is imported before anything that takes long, so that children can start early.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simstudy.errors import SimstudyError

if TYPE_CHECKING:
    from simstudy.engine.plan import Plan
    from simstudy.engine.task import TaskKey

READY, DRAWN = "ready", "drawn"
# Linear algebra gets one thread in every process: another number may round a sum differently.
_THREADS = ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR", "NUMBA")
_PROGRAM = """
import sys
sys.path[:] = sys.argv[2:]
from simstudy.engine.workers.worker import answer
answer(sys.argv[1])
"""
_GRACE = 2.0  # seconds for a dying process to be gone
GROUPS = hasattr(os, "killpg")


class Child:
    """The guard's end: a process, the pipes to it, and a file for its last words.

    It leads a process group of its own, which ends with it: a learner may have started others.
    """

    def __init__(self) -> None:
        self.cells = 0  # that it has run
        self.told = False  # of a plan
        try:
            handle, self._last_words = tempfile.mkstemp(prefix="simstudy-", suffix=".trace")
            os.close(handle)
            self._process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, self._last_words, *sys.path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=_environment(),
                process_group=0 if GROUPS else None,
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
        self.told = True
        with contextlib.suppress(OSError, ValueError):
            self._process.stdin.write(content)
            self._process.stdin.flush()

    def ask(self, tasks: Sequence[TaskKey], one_by_one: bool) -> None:
        """Ask for the cells of some tasks, in one answer or in one for each cell."""
        self.send(pickle.dumps((tasks, one_by_one)))

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
            os.killpg(self.pid, signal.SIGKILL) if GROUPS else self._process.kill()
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


_spare: list[Child] | None = None  # children without a guard, where they are kept


@contextlib.contextmanager
def spare_children(early: int = 0) -> Iterator[None]:
    """Keep children that have nothing to do for the studies that follow.

    So many are started at once, while this process still has other things to do.
    """
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
    """A spare child, if there is one: one that has run something only for what can be trusted."""
    spare = _spare if _spare is not None else []
    for child in spare.copy():
        if child.alive and (trusted or not child.told):
            with contextlib.suppress(ValueError):  # another thread took it
                spare.remove(child)
                return child
    return None


def make_spare(child: Child, trusted: bool) -> bool:
    """Keep a child that ran nothing but what can be trusted, if any are kept."""
    if _spare is None or not trusted:
        return False
    _spare.append(child)
    return True


def available_processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
