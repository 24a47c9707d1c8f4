"""A guard has cells run by a child process, so that a learner can cost no more than its own cell.

A learner may take for ever, exhaust the memory, or end its process. The guard knows which cell the
child is at; when the child dies or takes too long, that one cell gets a status, and another child
goes on with the next. What a child has been through never counts against a cell: one that failed
so in a child that had run others before is tried once more in a new one.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import replace
from time import perf_counter

from simstudy.engine.plan import Plan
from simstudy.engine.task import DRAWING, Cell, CellKey, TaskKey, blank_cells
from simstudy.engine.workers.batches import SECONDS
from simstudy.engine.workers.child import DRAWN, READY, Child, make_spare, pickled, take_spare
from simstudy.errors import DifferentError, SimstudyError

_MOST_STARTS = 3  # how often a child may be lost before it is ready
_START_PATIENCE = 30.0  # seconds to load what a plan needs, beyond the timeout of a cell


class StoppedError(Exception):
    """The guard was told to stop while a task was running."""


class Guard:
    """One child process at a time, and the cells that it is asked for."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._child: Child | None = None
        self._ready_child = False  # whether it has said so
        self._stopped = False
        self._smooth = True  # whether no child was lost with several tasks in hand
        self._lock = threading.Lock()

    def run(self, tasks: Sequence[TaskKey]) -> list[list[Cell]]:
        """The cells of each task; those that cost the child its life have a status that says so.

        If time runs out for a batch, of the first tasks only: one at least.
        """
        limited = self._plan.timeout is not None or self._plan.memory is not None
        if not limited and (self._smooth or len(tasks) == 1):
            cells = self._all_at_once(tasks)
            if cells is not None:
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
        """The cells of the first tasks, or None if something went wrong that ends the child."""
        child = self._ready()
        child.ask(tasks, one_by_one=False)
        answer = child.hear(None)
        if not isinstance(answer, list):
            self._end(child, answer)
            return None
        number = sum(map(len, answer))
        if (child.cells or number > 1) and any(_out_of_memory(cells) for cells in answer):
            self._end(child, "full")  # what earlier cells left behind may be to blame
            return None
        child.cells += number
        return answer

    def _one_by_one(self, model: int, wanted: Collection[CellKey] | None) -> list[Cell]:
        """The cells of a task, each awaited by itself."""
        blanks = deque(blank_cells(self._plan, model, wanted))
        cells: list[Cell] = []
        while blanks:
            child = self._ready()
            child.ask([(model, [(cell.size, cell.learner) for cell in blanks])], one_by_one=True)
            self._take_answers(child, blanks, cells)
        return cells

    def _take_answers(self, child: Child, blanks: deque[Cell], cells: list[Cell]) -> None:
        """Move cells from the blanks to the others, until none is left or the child is lost."""
        drawn = False
        while blanks:
            answer = child.hear(self._plan.timeout)
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
                    error = ("" if drawn else DRAWING) + reason
                    cells += [
                        replace(cell, status=answer, error=error, traceback=trace) for cell in lost
                    ]
                return

    def start(self) -> Child:
        """A child, told of the plan, that may still be on its way."""
        with self._lock:
            if self._stopped:
                raise StoppedError
            if self._child is None:
                self._ready_child = False
                self._child = take_spare(self._plan.trusted) or Child()
                self._child.send(pickled(self._plan))
            return self._child

    def _ready(self) -> Child:
        """A child that waits for a task; one that is lost while it starts is replaced."""
        patience = None if self._plan.timeout is None else self._plan.timeout + _START_PATIENCE
        for _ in range(_MOST_STARTS):
            child = self.start()
            if self._ready_child:
                return child
            answer = child.hear(patience)
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
        """End a child; why it is of no more use, and its last words."""
        with self._lock:
            self._child = None
            if self._stopped:
                raise StoppedError
        if status == "timeout":
            return f"took longer than {self._plan.timeout:g} s", child.end(ask=True)
        reason = child.death() if status == "crashed" else ""
        return reason, child.end()

    def release(self) -> None:
        """Let go of a child that has nothing to do: it is kept for another guard, or ended."""
        with self._lock:
            child, self._child = self._child, None
        if child is not None and not make_spare(child, self._plan.trusted):
            child.end()
        self.stop()

    def stop(self) -> None:
        """End the child, whatever it is at."""
        with self._lock:
            self._stopped = True
            child = self._child
        if child is not None:
            child.end()


def _out_of_memory(cells: Sequence[Cell]) -> bool:
    return any("MemoryError" in cell.error for cell in cells)
