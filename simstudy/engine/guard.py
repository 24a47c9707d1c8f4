"""A child process that runs the cells, and a guard that sees to it that only a cell can be lost.

A learner may take for ever, exhaust the memory, or end its process. So cells are run in a child
process; the guard knows which cell the child is at, and when the child dies or takes too long the
guard gives that one cell a status, starts another child, and has it go on with the next cell.
"""

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
from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from simstudy.engine.plan import Plan
from simstudy.engine.task import DRAWING, Cell, CellKey, blank_cells, prepare, run_task
from simstudy.errors import SimstudyError
from simstudy.registry import FAMILIES, LEARNERS, MEASURES

READY, DRAWN = "ready", "drawn"
# Linear algebra gets one thread in every process: another number may round a sum differently.
_THREADS = ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR", "NUMBA")
_PROGRAM = """
import sys
sys.path[:] = sys.argv[2:]
from simstudy.engine.guard import answer
answer(sys.argv[1])
"""


class StoppedError(Exception):
    """The guard was told to stop while a task was running."""


class Guard:
    """One child process at a time, and the cells that it is asked for."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._child: _Child | None = None
        self._stopped = False

    def run(self, model: int, wanted: Collection[CellKey] | None = None) -> list[Cell]:
        """Run cells of a model; those that cost the child its life have a status that says so."""
        blanks = deque(blank_cells(self._plan, model, wanted))
        cells: list[Cell] = []
        # All cells in one answer; one by one if it matters at which the child is.
        one_by_one = self._plan.timeout is not None
        while blanks:
            child = self._ready()
            child.ask(model, [(cell.size, cell.learner) for cell in blanks], one_by_one)
            drawn = False
            while blanks:
                answer = child.hear(self._plan.timeout)
                if isinstance(answer, list):
                    cells += answer
                    for _ in answer:
                        blanks.popleft()
                elif answer == DRAWN:
                    drawn = True
                else:
                    code, trace = self._end(child)
                    if one_by_one:
                        lost = [blanks.popleft() for _ in range(1 if drawn else len(blanks))]
                        error = ("" if drawn else DRAWING) + self._reason(answer, code)
                        cells += [
                            replace(cell, status=answer, error=error, traceback=trace)
                            for cell in lost
                        ]
                    one_by_one = True
                    break
        return cells

    def _ready(self) -> _Child:
        """A child that waits for a task."""
        if self._child is None and not self._stopped:
            self._child = _spare.pop() if _spare and self._plan.trusted else _Child()
            self._child.send(pickled(self._plan))
            answer = self._child.hear(None)
            if answer != READY:
                code, trace = self._end(self._child)
                reason = answer if isinstance(answer, SimstudyError) else f"{_death(code)} {trace}"
                raise SimstudyError(f"a worker process cannot start: {reason}")
        if self._stopped or self._child is None:
            raise StoppedError
        return self._child

    def _reason(self, status: str, code: int) -> str:
        if status == "timeout":
            return f"took longer than {self._plan.timeout:g} s"
        return _death(code)

    def _end(self, child: _Child) -> tuple[int, str]:
        self._child = None
        if self._stopped:
            raise StoppedError
        return child.end()

    def spare(self) -> None:
        """Leave the child, which has nothing to do, to another guard, or end it."""
        if self._child is not None and self._plan.trusted and _spare is not None:
            _spare.append(self._child)
            self._child = None
        self.stop()

    def stop(self) -> None:
        """End the child, whatever it is at."""
        self._stopped = True
        if (child := self._child) is not None:
            child.process.kill()
            child.process.wait()


# Children without a guard; None unless they are to be kept.
_spare: list[_Child] | None = None


@contextlib.contextmanager
def children_kept() -> Iterator[None]:
    """Use the same children for several studies, one after the other, that are simstudy's own."""
    global _spare
    _spare = []
    try:
        yield
    finally:
        children, _spare = _spare, None
        for child in children:
            child.process.kill()
            child.process.wait()


def _death(code: int) -> str:
    if code >= 0:
        return f"the process ended itself with exit code {code}"
    name = signal.Signals(-code).name if -code in {*map(int, signal.Signals)} else f"signal {-code}"
    why = ", perhaps for want of memory" if name == "SIGKILL" else ""
    return f"the process was killed by {name}{why}"


class _Child:
    """A process that runs cells, the pipes to it, and a file for its last words."""

    def __init__(self) -> None:
        self._last_words = tempfile.NamedTemporaryFile(  # noqa: SIM115
            prefix="simstudy-", suffix=".trace"
        )
        self.process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, self._last_words.name, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=_environment(),
        )
        self._answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def send(self, content: bytes) -> None:
        """Send something; a child that is dead already is noticed when nothing is heard of it."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.write(content)
            self.process.stdin.flush()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        try:
            while True:
                self._answers.put(pickle.load(self.process.stdout))
        except Exception:  # the end, perhaps in the middle of a word
            self._answers.put("crashed")

    def ask(self, model: int, wanted: list[CellKey], one_by_one: bool) -> None:
        self.send(pickle.dumps((model, wanted, one_by_one)))

    def hear(self, timeout: float | None) -> Any:
        """The next thing the child says: cells, `DRAWN`, "crashed", or "timeout" if nothing."""
        try:
            return self._answers.get(timeout=timeout)
        except queue.Empty:
            return "timeout"

    def end(self) -> tuple[int, str]:
        """End the process; its exit code, and what it was at if that is known."""
        if self.process.poll() is None and hasattr(signal, "SIGUSR1"):
            self.process.send_signal(signal.SIGUSR1)  # asks for its stack
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(0.1)
        self.process.kill()
        code = self.process.wait()
        with contextlib.suppress(OSError):
            assert self.process.stdin is not None
            self.process.stdin.close()
        with self._last_words as file:
            return code, file.read().decode(errors="replace")


def pickled(plan: Plan) -> bytes:
    """A plan for another process: by value what was defined in a notebook."""
    if not plan.interactive:
        return pickle.dumps(plan)
    import cloudpickle

    content: bytes = cloudpickle.dumps(plan)
    return content


def _environment() -> dict[str, str]:
    """The environment of a child, for speed and for the same sums everywhere."""
    environment = {**os.environ, **{f"{name}_NUM_THREADS": "1" for name in _THREADS}}
    # Dask sets this for its workers; numpy then gives memory back at every turn, at half speed.
    environment.pop("MALLOC_TRIM_THRESHOLD_", None)
    return environment


def _limit_memory(gigabytes: float) -> None:
    """Let this process allocate so much more than it has now, where the system can see to it."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (ImportError, OSError):
        return
    limit = pages * resource.getpagesize() + int(gigabytes * 1e9)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def answer(last_words: str) -> None:
    """The child: read a plan and tasks from standard input, answer with cells."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the guard's business
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a learner prints is no answer

    def say(what: Any) -> None:
        answers.write(pickle.dumps(what))
        answers.flush()

    tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(sys.stdin.buffer, tasks), daemon=True).start()
    with open(last_words, "w", encoding="utf-8") as file:
        faulthandler.enable(file, all_threads=False)
        if hasattr(faulthandler, "register"):
            faulthandler.register(signal.SIGUSR1, file, all_threads=False)
        while True:
            asked = tasks.get()
            if not isinstance(asked, tuple):
                plan = asked
                say(_made_ready(plan))
                continue
            model, wanted, one_by_one = asked
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
            LEARNERS.get(part.name)
        for column in plan.columns:
            MEASURES.get(column.measure)
    except (Exception, SystemExit) as error:
        return SimstudyError(f"{type(error).__name__}: {error}")
    if plan.memory is not None:
        _limit_memory(plan.memory)
    return READY


def _read(source: BinaryIO, tasks: queue.SimpleQueue[Any]) -> None:
    """Pass on what the guard asks; without a guard there is no one to answer to."""
    try:
        while True:
            tasks.put(pickle.load(source))
    except EOFError:
        os._exit(0)
    except Exception as error:  # a plan of things that cannot be imported here
        tasks.put(error)
