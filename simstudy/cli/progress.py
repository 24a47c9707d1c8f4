"""Progress of a run: a bar on a terminal, otherwise a line per minute, and a log for programs."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Any, TextIO

from simstudy.errors import SimstudyError
from simstudy.workflow.run import Progress, Step

_INTERVAL = 60  # seconds between lines


@contextlib.contextmanager
def watched(quiet: bool = False, log: Path | None = None, **facts: Any) -> Iterator[Progress]:
    """A progress callback; ``facts`` go to the first line of the log."""
    with contextlib.ExitStack() as stack:
        watchers: list[Progress] = []
        if log is not None:
            watchers.append(stack.enter_context(_logged(log, facts)))
        if not quiet:
            terminal = sys.stderr.isatty()
            watchers.append(stack.enter_context(_bar()) if terminal else _lines(sys.stderr))

        def progress(step: Step) -> None:
            for watcher in watchers:
                watcher(step)

        yield progress


def seconds_left(step: Step) -> float:
    """The estimated remaining seconds of a run."""
    return step.seconds / step.cells * (step.all_cells - step.cells)


def pace(step: Step) -> str:
    """The rate of cells, and the number of failures."""
    failed = f", {step.failures:,} failed" if step.failures else ""
    return f"{step.cells / max(step.seconds, 1e-9):,.0f} cells/s{failed}"


@contextlib.contextmanager
def _bar() -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    models, more = TextColumn("models"), TextColumn("{task.fields[more]}")
    columns = (models, BarColumn(), MofNCompleteColumn(), more)
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("models", total=None, more="")

        def update(step: Step) -> None:
            bar.update(task, completed=step.models, total=step.all_models, more=_status(step))

        yield update


def _lines(file: TextIO) -> Progress:
    """One line a minute."""
    last = monotonic()

    def update(step: Step) -> None:
        nonlocal last
        if monotonic() - last >= _INTERVAL:
            last = monotonic()
            models = f"{step.models:,} of {step.all_models:,} models"
            print(f"{datetime.now():%H:%M} {models}, {_status(step)}", file=file, flush=True)

    return update


def _status(step: Step) -> str:
    return f"{pace(step)}, {timedelta(seconds=round(seconds_left(step)))} left"


@contextlib.contextmanager
def _logged(path: Path, facts: dict[str, Any]) -> Iterator[Progress]:
    """A line of JSON at the beginning, for each finished model, and at the end."""
    try:
        file = path.open("a", encoding="utf-8")
    except OSError as error:
        raise SimstudyError(f"--log: {path} cannot be written: {error.strerror}") from error

    def write(event: str, **fields: Any) -> None:
        now = datetime.now().astimezone().isoformat(timespec="milliseconds")
        # an unwritable log does not stop the run
        with contextlib.suppress(OSError):
            file.write(json.dumps({"time": now, "event": event, **fields}) + "\n")
            file.flush()

    def update(step: Step) -> None:
        failed = [
            {key: getattr(cell, key) for key in ("size", "learner", "status", "error")}
            for cell in step.finished
            if cell.status != "ok"
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
