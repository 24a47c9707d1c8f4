"""The `simstudy` command and its verbs."""

from __future__ import annotations

import contextlib
import logging
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

import simstudy
from simstudy.errors import SimstudyError

app = typer.Typer(
    help="Simulation studies of probabilistic classifiers on synthetic Bayesian networks.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"simstudy {simstudy.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """What goes before a verb."""


_INTERRUPTED = 130  # as shells have it
_SOME_FAILED = 3
StudyFile = Annotated[Path, typer.Argument(metavar="STUDY.toml", help="The study to run.")]


@app.command()
def run(
    study: StudyFile,
    out: Annotated[
        Path | None, typer.Option(help="Directory for the results (default: results/<name>).")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Worker processes (default: one for each processor).")
    ] = None,
    models: Annotated[int | None, typer.Option(help="Run this many models instead.")] = None,
    sizes: Annotated[
        str | None, typer.Option(help="Training sizes instead, as in 50,500,5000.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Use this seed instead.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace results that are there already.")
    ] = False,
    no_report: Annotated[
        bool, typer.Option("--no-report", help="Write the scores alone, no tables or figures.")
    ] = False,
) -> None:
    """Run a study: draw models and data, fit the learners, score, test and draw."""
    from rich.console import Console

    from simstudy.results import run_study
    from simstudy.study import load_study

    overrides: dict[str, Any] = {"models": models, "seed": seed}
    if sizes is not None:
        overrides["data.train_sizes"] = _whole_numbers("--sizes", sizes)
    given = {key: value for key, value in overrides.items() if value is not None}
    loaded = load_study(study, given)
    place = out or Path("results") / loaded.name
    with _progress(not quiet, loaded.models) as progress, _stoppable(place):
        results = run_study(
            loaded, place, jobs=jobs, overwrite=overwrite, report=not no_report, progress=progress
        )
    if not quiet:
        from simstudy.report.terminal import print_summary

        console = Console()
        print_summary(results, console)
        seconds = f"{results.manifest['cells']} cells took {results.manifest['seconds']:.1f} s"
        note = "; they were there already, nothing was run again" if results.reused else ""
        what = "Scores" if no_report else "Results, tables and figures"
        where = f"{what} are in {results.directory}/{note} ({seconds})."
        console.print(where, markup=False)
        if results.note:
            console.print(f"Note: {results.note}.", markup=False)
    if results.manifest["failures"]:
        raise typer.Exit(_SOME_FAILED)


@contextlib.contextmanager
def _stoppable(place: Path) -> Iterator[None]:
    """Let Ctrl-C and a polite kill stop a run, and say how it goes on."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except KeyboardInterrupt:
        command = shlex.join(["simstudy", *(a for a in sys.argv[1:] if a != "--overwrite")])
        if Path(sys.argv[0]).name == "run.py":
            command = shlex.join(["python", "-m", "simstudy.run", *sys.argv[1:]])
        typer.echo(
            f"stopped; what is finished is kept in {place}/; this goes on from there: {command}",
            err=True,
        )
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


@app.command()
def plan(
    study: StudyFile,
    mcse: Annotated[
        float | None, typer.Option(help="A Monte-Carlo standard error to reach, as in 0.005.")
    ] = None,
    difference: Annotated[
        float | None, typer.Option(help="A difference between learners that should be found.")
    ] = None,
    power: Annotated[float, typer.Option(help="How probably it should be found.")] = 0.8,
    pilot: Annotated[int, typer.Option(min=3, help="Models to try out.")] = 12,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Worker processes (default: one for each processor).")
    ] = None,
) -> None:
    """Run a pilot: how many models a study needs, and how long it will take."""
    for name, value in (("--mcse", mcse), ("--difference", difference)):
        if value is not None and not value > 0:
            raise SimstudyError(f"{name}: {value} is not allowed; it must be above 0")
    if not 0 < power < 1:
        raise SimstudyError(f"--power: {power} is not allowed; it must lie between 0 and 1")
    from rich.console import Console

    from simstudy.planning import run_pilot
    from simstudy.report.forecast import forecast
    from simstudy.study import load_study

    loaded = load_study(study)
    with _progress(True, min(pilot, loaded.models)) as progress:
        tried = run_pilot(loaded, pilot, jobs, progress)
    for line in forecast(tried, mcse, difference, power):
        Console(soft_wrap=True).print(line, markup=False, highlight=False)


@app.command()
def show(study: StudyFile) -> None:
    """Print a study as it will be run, every default filled in."""
    from simstudy.study import load_study

    typer.echo(load_study(study).to_toml(), nl=False)


@app.command("list")
def list_names() -> None:
    """List the families, learners and measures that a study can name."""
    from simstudy.registry import REGISTRIES

    for registry in REGISTRIES:
        typer.echo(f"{registry.plural}:")
        names = registry.names()
        width = max(map(len, names)) + 2
        for name in names:
            line = (registry.get(name).__doc__ or "").strip().split("\n")[0]
            typer.echo(f"  {name:<{width}}{line}")
        if registry.by_path_help:
            typer.echo(f"  and {registry.by_path_help}")


def main() -> None:
    """Entry point of the `simstudy` command."""
    run_app(app)


def run_app(application: typer.Typer) -> None:
    """Run a command; what the user can mend is said in one sentence, with exit code 2."""
    # The summary names what an analysis leaves out; the log is for programs.
    logging.getLogger("simstudy").addHandler(logging.NullHandler())
    try:
        code = application(standalone_mode=False)
    except SimstudyError as error:
        code = _say(str(error))
    except (KeyboardInterrupt, typer.Abort):
        code = _INTERRUPTED
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        code = _say(error.format_message())  # a wrong option, from the command-line library
    if code == _INTERRUPTED:
        _say("interrupted")
    sys.exit(code if isinstance(code, int) else 0)


def _say(sentence: str) -> int:
    if sentence:
        print(f"simstudy: {sentence}", file=sys.stderr)
    return 2


def _whole_numbers(option: str, text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise SimstudyError(
            f"{option}: '{text}' is not a list of whole numbers such as 50,500,5000"
        ) from error


@contextlib.contextmanager
def _progress(wanted: bool, models: int) -> Iterator[Any]:
    """A bar with the time left, on a terminal; nothing otherwise."""
    if not (wanted and sys.stderr.isatty()):
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("models"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("time left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("models", total=models)
        yield lambda finished, total: bar.update(task, completed=finished, total=total)
