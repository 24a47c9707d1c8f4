"""Progress of a run: a bar or lines for people, and a log for programs."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from simstudy.errors import SimstudyError
from simstudy.workflow.progress import Progress, Step, bar


@contextlib.contextmanager
def watched(quiet: bool = False, log: Path | None = None, **facts: object) -> Iterator[Progress]:
    """A progress callback; ``facts`` go to the first line of the log."""
    with contextlib.ExitStack() as stack:
        watchers: list[Progress] = []
        if log is not None:
            watchers.append(stack.enter_context(_logged(log, facts)))
        if not quiet:
            watchers.append(stack.enter_context(bar()))

        def progress(step: Step) -> None:
            for watcher in watchers:
                watcher(step)

        yield progress


@contextlib.contextmanager
def _logged(path: Path, facts: dict[str, object]) -> Iterator[Progress]:
    """A line of JSON at the beginning, for each finished model, and at the end."""
    try:
        file = path.open("a", encoding="utf-8")
    except OSError as error:
        raise SimstudyError(f"--log: {path} cannot be written: {error.strerror}") from error

    def write(event: str, **fields: object) -> None:
        now = datetime.now().astimezone().isoformat(timespec="milliseconds")
        # an unwritable log does not stop the run
        with contextlib.suppress(OSError):
            file.write(json.dumps({"time": now, "event": event, **fields}) + "\n")
            file.flush()

    def update(step: Step) -> None:
        failed = [
            {"size": c.size, "learner": c.learner, "status": c.status, "error": c.error}
            for c in step.finished
            if c.status != "ok"
        ]
        write(
            "model",
            model=step.finished[0].model,
            models=step.models,
            of=step.all_models,
            cells=step.cells,
            failures=step.failures,
            seconds=round(step.seconds, 3),
            failed=failed,
        )

    write("begin", **facts)
    try:
        yield update
    except BaseException as error:
        write("stopped", why=f"{type(error).__name__}: {error}")
        raise
    else:
        write("end")
    finally:
        with contextlib.suppress(OSError):
            file.close()
