"""Progress of a run: a bar in a notebook or on a terminal, otherwise a line per minute."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib import import_module
from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias

from simstudy.texts import on_one_line

if TYPE_CHECKING:
    from simstudy.engine.task import Cell

_INTERVAL = 60  # seconds between lines
_NOTEBOOK_INTERVAL = 0.2  # seconds between updates of a notebook


@dataclass(frozen=True)
class Step:
    """The progress of a run when a model is finished."""

    models: int  # finished
    all_models: int
    cells: int  # computed by this run
    all_cells: int  # to be computed by this run
    failures: int
    seconds: float
    finished: list[Cell]  # the cells of this model


Progress: TypeAlias = Callable[[Step], object]


@contextlib.contextmanager
def shown(progress: Progress | bool | None) -> Iterator[Progress | None]:
    """The progress callback of a run that was asked for: none, a given one, or a bar.

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
    """A bar on a terminal, or lines on what else standard error is."""
    if not sys.stderr.isatty():
        yield _lines(sys.stderr)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    models, more = TextColumn("models"), TextColumn("{task.fields[more]}")
    columns = (models, BarColumn(), MofNCompleteColumn(), more)
    with Bar(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("models", total=None, more="")

        def update(step: Step) -> None:
            shown.update(task, completed=step.models, total=step.all_models, more=_status(step))

        yield update


@contextlib.contextmanager
def busy(text: str, quiet: bool = False) -> Iterator[None]:
    """A line on a terminal with the time that something takes of which no part is finished."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress as Bar
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as shown:
        shown.add_task(escape(on_one_line(text)), total=None)
        yield


@contextlib.contextmanager
def notebook_bar() -> Iterator[Progress]:
    """A bar in the output of a notebook's cell; it is blank when the run has ended.

    What is stored with the notebook is therefore always the same.
    """
    display = import_module("IPython.display").display
    handle = display(_notebook_view("", "models"), raw=True, display_id=True)
    last = -_NOTEBOOK_INTERVAL

    def update(step: Step) -> None:
        nonlocal last
        if monotonic() - last >= _NOTEBOOK_INTERVAL or step.cells == step.all_cells:
            last = monotonic()
            status = _status(step) if step.cells < step.all_cells else f"{pace(step)}, finishing"
            text = f"{step.models:,} of {step.all_models:,} models, {status}"
            state = f'value="{step.models}" max="{step.all_models}"'
            handle.update(_notebook_view(state, text), raw=True)

    try:
        yield update
    finally:
        handle.update({"text/plain": "", "text/html": ""}, raw=True)


def _notebook_view(state: str, text: str) -> dict[str, str]:
    """The bar for pages and as plain text."""
    style = "width: 20em; vertical-align: middle"
    return {
        "text/plain": text,
        "text/html": f'<progress {state} style="{style}"></progress> <span>{text}</span>',
    }


def _in_notebook() -> bool:
    """Whether this process runs the code of a notebook."""
    ipython: Any = sys.modules.get("IPython")
    return ipython is not None and getattr(ipython.get_ipython(), "kernel", None) is not None


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


def seconds_left(step: Step) -> float:
    """The estimated remaining seconds of a run."""
    return step.seconds / step.cells * (step.all_cells - step.cells)


def pace(step: Step) -> str:
    """The rate of cells, and the number of failures."""
    failed = f", {step.failures:,} failed" if step.failures else ""
    return f"{step.cells / max(step.seconds, 1e-9):,.0f} cells/s{failed}"


def _status(step: Step) -> str:
    return f"{pace(step)}, {timedelta(seconds=round(seconds_left(step)))} left"
