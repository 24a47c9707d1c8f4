"""Progress of a run: a bar in a notebook or on a terminal, or a line per minute; and a log."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib import import_module
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeAlias

from simstudy.errors import reported
from simstudy.texts import on_one_line

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import ProgressColumn

    from simstudy.engine.task import Cell

_INTERVAL = 60  # seconds between lines
_NOTEBOOK_INTERVAL = 0.2  # seconds between updates of a notebook


@dataclass(frozen=True)
class Step:
    """The progress of a run when a problem, such as a model or split, is finished."""

    models: int  # problems finished
    all_models: int
    cells: int  # computed by this run
    all_cells: int  # to be computed by this run
    failures: int
    seconds: float
    finished: list[Cell]  # the cells of this problem
    word: str = "model"  # what a problem is


Progress: TypeAlias = Callable[[Step], object]


@contextlib.contextmanager
def shown(progress: Progress | bool | None) -> Iterator[Progress | None]:
    """The requested progress callback of a run: none, the callable itself, or a bar.

    By default, there is a bar in a notebook and none elsewhere.
    """
    if callable(progress):
        yield progress
    elif progress is False or (progress is None and not _in_notebook()):
        yield None
    else:
        with notebook_bar() if _in_notebook() else bar() as update:
            yield update


@contextlib.contextmanager
def bar() -> Iterator[Progress]:
    """A bar on a terminal; lines if standard error is anything else."""
    if not sys.stderr.isatty():
        yield _lines()
        return
    from rich.progress import BarColumn, MofNCompleteColumn

    columns = "{task.description}", BarColumn(), MofNCompleteColumn(), "{task.fields[more]}"
    with _live(*columns) as shown:
        task = shown.add_task("starting", total=None, more="")

        def update(step: Step) -> None:
            shown.update(task, total=step.all_models, description=f"{step.word}s")
            shown.update(task, completed=step.models, more=pace(step))

        yield update


def _live(*columns: str | ProgressColumn) -> Bar:
    """A display on standard error that vanishes at its end."""
    from rich.console import Console
    from rich.progress import Progress as Bar

    return Bar(*columns, console=Console(stderr=True), transient=True)


@contextlib.contextmanager
def busy(text: str, quiet: bool = False) -> Iterator[None]:
    """A line on a terminal with the time that something takes of which no part is finished."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.markup import escape
    from rich.progress import SpinnerColumn, TimeElapsedColumn

    with _live(SpinnerColumn(), "{task.description}", TimeElapsedColumn()) as shown:
        shown.add_task(escape(on_one_line(text)), total=None)
        yield


@contextlib.contextmanager
def notebook_bar() -> Iterator[Progress]:
    """A bar in the output of a notebook's cell; it is blank when the run has ended.

    What is stored with the notebook is therefore always the same.
    """
    display = import_module("IPython.display").display
    handle = display(_notebook_view("", "starting"), raw=True, display_id=True)
    last = -_NOTEBOOK_INTERVAL

    def update(step: Step) -> None:
        nonlocal last
        if monotonic() - last >= _NOTEBOOK_INTERVAL or step.cells == step.all_cells:
            last = monotonic()
            state = f'value="{step.models}" max="{step.all_models}"'
            handle.update(_notebook_view(state, _status(step)), raw=True)

    try:
        yield update
    finally:
        handle.update({"text/plain": "", "text/html": ""}, raw=True)


def _notebook_view(state: str, text: str) -> dict[str, str]:
    """The bar for pages and as plain text."""
    bar = f'<progress {state} style="width: 20em; vertical-align: middle"></progress>'
    return {"text/plain": text, "text/html": f"{bar} <span>{text}</span>"}


def _in_notebook() -> bool:
    """Whether this process runs the code of a notebook."""
    ipython: Any = sys.modules.get("IPython")
    return ipython is not None and getattr(ipython.get_ipython(), "kernel", None) is not None


def _lines() -> Progress:
    """One line a minute on standard error."""
    last = monotonic()

    def update(step: Step) -> None:
        nonlocal last
        if monotonic() - last >= _INTERVAL:
            last = monotonic()
            print(f"{datetime.now():%H:%M} {_status(step)}", file=sys.stderr, flush=True)

    return update


def pace(step: Step) -> str:
    """The rate of cells, the number of failures and the estimated remaining time."""
    failed = f", {step.failures:,} failed" if step.failures else ""
    seconds = step.seconds / step.cells * (step.all_cells - step.cells)
    left = f"{timedelta(seconds=round(seconds))} left" if seconds else "finishing"
    return f"{step.cells / max(step.seconds, 1e-9):,.0f} cells/s{failed}, {left}"


def _status(step: Step) -> str:
    return f"{step.models:,} of {step.all_models:,} {step.word}s, {pace(step)}"


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
    with reported(f"--log: {path} cannot be written", OSError):
        file = path.open("a", encoding="utf-8")

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
        done = {"model": step.finished[0].model, "models": step.models, "of": step.all_models}
        done |= {"cells": step.cells, "failures": step.failures}
        write("model", **done, seconds=round(step.seconds, 3), failed=failed)

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
