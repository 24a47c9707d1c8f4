"""Tasks handed out several at a time, so that handing them out costs little."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence

from simstudy.engine.task import TaskKey

# A batch should take so many seconds: long beside what handing it out costs, and short for someone
# who watches, or for what is lost with a worker. What is not begun by then is given back.
SECONDS = 0.3
_LARGEST = 256
# As the end comes near, each worker's share of what is left goes to it in so many batches.
_SHARES = 3


class Batches:
    """The tasks of a run, in batches that grow with how quickly tasks are done.

    Parameters
    ----------
    tasks : sequence of TaskKey
        All tasks of the run.
    workers : int
        How many work at a time.
    """

    def __init__(self, tasks: Sequence[TaskKey], workers: int) -> None:
        self._tasks, self._workers = list(tasks), workers
        self._next = 0
        self._done, self._seconds = 0, 0.0
        self._lock = threading.Lock()

    def note(self, tasks: int, seconds: float) -> None:
        """Take note of how long a worker was at some tasks."""
        with self._lock:
            # What was long ago counts little: a study's tasks may differ.
            self._done, self._seconds = self._done // 2 + tasks, self._seconds / 2 + seconds

    def give_back(self, tasks: Sequence[TaskKey]) -> None:
        """Take tasks back that there was no time for; they are handed out again at the end."""
        with self._lock:
            self._tasks += tasks

    @property
    def left(self) -> bool:
        """Whether there are tasks that have not been handed out."""
        with self._lock:
            return self._next < len(self._tasks)

    def __iter__(self) -> Iterator[list[TaskKey]]:
        while True:
            with self._lock:
                left = len(self._tasks) - self._next
                if not left:
                    return
                share = math.ceil(left / (_SHARES * self._workers))
                quick = int(SECONDS * self._done / self._seconds) if self._seconds else 1
                size = max(min(share, quick, _LARGEST), 1)
                batch = list(self._tasks[self._next : self._next + size])
                self._next += size
            yield batch
