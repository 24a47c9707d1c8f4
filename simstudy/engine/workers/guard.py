"""A guard runs cells in a child process, so that a learner can lose only its own cell.

A learner may hang, exhaust memory, or end its process. The guard knows which cell the child is
running; when the child dies or exceeds the time limit, that cell gets a status and a new child
continues with the next. A cell that failed in a child which had run others is tried again in a
new child, so that earlier cells cannot cause its failure.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from time import perf_counter

from simstudy.engine.plan import Plan
from simstudy.engine.task import DRAWING, Cell, CellKey, TaskKey, blank_cells
from simstudy.engine.workers import child as children
from simstudy.engine.workers.child import DRAWN, READY, SECONDS, Child
from simstudy.errors import DifferentError, SimstudyError

_MAX_BATCH = 256
# Near the end, each worker gets its share of the remaining tasks in this many batches.
_SHARES = 3
_MAX_STARTS = 3  # attempts to start a child
_START_PATIENCE = 30.0  # seconds to load modules and plugins, beyond the timeout of a cell


class StoppedError(Exception):
    """The guard was stopped while a task was running."""


class Guard:
    """Runs cells in one child process at a time."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._child: Child | None = None
        self._ready_child = False  # whether it has answered `READY`
        self._stopped = False
        self._smooth = True  # whether no child was lost while running several tasks
        self._lock = threading.Lock()

    def run(self, tasks: Sequence[TaskKey]) -> list[list[Cell]]:
        """The cells of the first tasks, as many as fit into the time of a batch; at least one."""
        limited = self._plan.timeout is not None or self._plan.memory is not None
        if not limited and (self._smooth or len(tasks) == 1):
            if (cells := self._all_at_once(tasks)) is not None:
                return cells
            self._smooth = False
        if len(tasks) == 1:
            return [self._one_by_one(*tasks[0])]
        done: list[list[Cell]] = []
        started = perf_counter()
        for task in tasks:
            done += self.run([task])
            if perf_counter() - started > SECONDS:
                break
        return done

    def _all_at_once(self, tasks: Sequence[TaskKey]) -> list[list[Cell]] | None:
        """The cells of the first tasks, or None if the child had to be ended."""
        child = self._ready()
        child.ask(tasks, one_by_one=False)
        answer = child.receive(None)
        if not isinstance(answer, list):
            self._end(child, answer)
            return None
        number = sum(map(len, answer))
        if (child.cells or number > 1) and any(_out_of_memory(cells) for cells in answer):
            self._end(child, "full")  # perhaps because of memory that earlier cells left allocated
            return None
        child.cells += number
        return answer

    def _one_by_one(self, model: int, wanted: Collection[CellKey] | None) -> list[Cell]:
        """The cells of a task, awaited one by one."""
        blanks = deque(blank_cells(self._plan, model, wanted))
        cells: list[Cell] = []
        while blanks:
            child = self._ready()
            child.ask([(model, [(cell.size, cell.learner) for cell in blanks])], one_by_one=True)
            self._take_answers(child, blanks, cells)
        return cells

    def _take_answers(self, child: Child, blanks: deque[Cell], cells: list[Cell]) -> None:
        """Move cells from ``blanks`` to ``cells`` until none is left or the child is lost."""
        drawn = False
        while blanks:
            answer = child.receive(self._plan.timeout)
            if answer == DRAWN:
                drawn = True
            elif isinstance(answer, list):
                if child.cells and _out_of_memory(answer):
                    self._end(child, "full")
                    return
                cells += answer
                child.cells += len(answer)
                for _ in answer:
                    blanks.popleft()
            else:
                reason, trace = self._end(child, answer)
                slow = answer == "timeout" and drawn
                if slow or not child.cells:
                    lost = [blanks.popleft() for _ in range(1 if drawn else len(blanks))]
                    why = ("" if drawn else DRAWING) + reason
                    facts = {"status": answer, "error": why, "traceback": trace}
                    cells += [replace(cell, **facts) for cell in lost]
                return

    def start(self) -> Child:
        """A child that was sent the plan and may still be starting."""
        with self._lock:
            if self._stopped:
                raise StoppedError
            if self._child is None:
                self._ready_child = False
                self._child = children.take_spare(self._plan.trusted) or Child()
                self._child.send(children.pickled(self._plan))
            return self._child

    def _ready(self) -> Child:
        """A child that waits for tasks; one that is lost while starting is replaced."""
        patience = None if self._plan.timeout is None else self._plan.timeout + _START_PATIENCE
        for _ in range(_MAX_STARTS):
            child = self.start()
            if self._ready_child:
                return child
            answer = child.receive(patience)
            if answer == READY:
                self._ready_child = True
                return child
            reason, trace = self._end(child, "" if answer == "timeout" else "crashed")
            if answer != "crashed":
                break
        why = f"{reason} {trace}".strip()
        if isinstance(answer, DifferentError):
            raise answer
        if isinstance(answer, SimstudyError):
            why = str(answer)
        elif answer == "timeout":
            why = f"its modules and plugins took longer than {patience:g} s to load"
        raise SimstudyError(f"a worker process cannot start: {why}")

    def _end(self, child: Child, status: str) -> tuple[str, str]:
        """End a child; returns the reason and its stack trace."""
        with self._lock:
            self._child = None
            if self._stopped:
                raise StoppedError
        if status == "timeout":
            return f"took longer than {self._plan.timeout:g} s", child.end(ask=True)
        reason = child.death() if status == "crashed" else ""
        return reason, child.end()

    def release(self) -> None:
        """Retain the idle child for another guard, or end it."""
        with self._lock:
            child, self._child = self._child, None
        if child is not None and not children.make_spare(child, self._plan.trusted):
            child.end()
        self.stop()

    def stop(self) -> None:
        """End the child, whatever it is running."""
        with self._lock:
            self._stopped = True
            child = self._child
        if child is not None:
            child.end()


def _out_of_memory(cells: Sequence[Cell]) -> bool:
    return any("MemoryError" in cell.error for cell in cells)


class Batches:
    """The tasks of a run, in batches whose size grows with the speed of the workers."""

    def __init__(self, tasks: Sequence[TaskKey], workers: int) -> None:
        self._tasks, self._workers = deque(tasks), workers
        self._done, self._seconds = 0, 0.0
        self._lock = threading.Lock()

    def note(self, tasks: int, seconds: float) -> None:
        """Record how long a worker took for some tasks."""
        with self._lock:
            # Recent tasks count most: the tasks of a study may differ.
            self._done, self._seconds = self._done // 2 + tasks, self._seconds / 2 + seconds

    def give_back(self, tasks: Sequence[TaskKey]) -> None:
        """Return tasks that were not begun; they are handed out again at the end."""
        with self._lock:
            self._tasks += tasks

    @property
    def left(self) -> bool:
        """Whether any tasks have not been handed out."""
        return bool(self._tasks)

    def __iter__(self) -> Iterator[list[TaskKey]]:
        while True:
            with self._lock:
                if not (left := len(self._tasks)):
                    return
                share = math.ceil(left / (_SHARES * self._workers))
                quick = int(SECONDS * self._done / self._seconds) if self._seconds else 1
                size = max(min(share, quick, _MAX_BATCH), 1)
                batch = [self._tasks.popleft() for _ in range(size)]
            yield batch
