"""Watching a run: a bar on a terminal, a line a minute elsewhere, and a log for programs."""

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

_EVERY = 60  # seconds from one line to the next


@contextlib.contextmanager
def watched(quiet: bool = False, log: Path | None = None, **facts: Any) -> Iterator[Progress]:
    """Something to call at every step of a run; ``facts`` go to the log's first line."""
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
    """How long a run will still take if it goes on at the pace it has had."""
    return step.seconds / step.cells * (step.all_cells - step.cells)


def pace(step: Step) -> str:
    """How fast cells come, and how many failed."""
    failed = f", {step.failures:,} failed" if step.failures else ""
    return f"{step.cells / max(step.seconds, 1e-9):,.0f} cells/s{failed}"


@contextlib.contextmanager
def _bar() -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (
        TextColumn("models"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[more]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("models", total=None, more="")

        def update(step: Step) -> None:
            more = f"{pace(step)}, {_span(seconds_left(step))} left"
            bar.update(task, completed=step.models, total=step.all_models, more=more)

        yield update


def _lines(file: TextIO) -> Progress:
    """One line a minute."""
    last = monotonic()

    def update(step: Step) -> None:
        nonlocal last
        if monotonic() - last >= _EVERY:
            last = monotonic()
            print(
                f"{datetime.now():%H:%M} {step.models:,} of {step.all_models:,} models, "
                f"{pace(step)}, {_span(seconds_left(step))} left",
                file=file,
                flush=True,
            )

    return update


def _span(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))


@contextlib.contextmanager
def _logged(path: Path, facts: dict[str, Any]) -> Iterator[Progress]:
    """One line of JSON for the beginning, for each finished model, and for the end."""
    try:
        file = path.open("a", encoding="utf-8")
    except OSError as error:
        raise SimstudyError(f"--log: {path} cannot be written: {error.strerror}") from error

    def write(event: str, **fields: Any) -> None:
        now = datetime.now().astimezone().isoformat(timespec="milliseconds")
        # A log that cannot be written is no reason to stop a run.
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
