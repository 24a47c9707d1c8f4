"""Tasks handed out in batches, to reduce overhead."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence

from simstudy.engine.task import TaskKey

# Target duration of a batch: long compared with the overhead, short for progress display and for
# what is lost with a worker. Tasks not begun by then are returned.
SECONDS = 0.3
_MAX_BATCH = 256
# Near the end, each worker gets its share of the remaining tasks in this many batches.
_SHARES = 3


class Batches:
    """The tasks of a run, in batches whose size grows with the speed of the workers."""

    def __init__(self, tasks: Sequence[TaskKey], workers: int) -> None:
        self._tasks, self._workers = list(tasks), workers
        self._next = 0
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
                size = max(min(share, quick, _MAX_BATCH), 1)
                batch = list(self._tasks[self._next : self._next + size])
                self._next += size
            yield batch
