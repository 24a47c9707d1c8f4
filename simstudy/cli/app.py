"""The `simstudy` command and its verbs."""

from __future__ import annotations

import contextlib
import faulthandler
import logging
import math
import os
import shlex
import signal
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import simstudy
from simstudy.cli.report import VERBS, results_of_others
from simstudy.engine.workers.child import available_processors, spare_children
from simstudy.errors import SOME_FAILED, SimstudyError
from simstudy.study.toml import read_toml
from simstudy.texts import echo, on_one_line

if TYPE_CHECKING:
    from simstudy.results.results import Results
    from simstudy.results.store import Store
    from simstudy.study.lists import Collection
    from simstudy.workflow.options import Options

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
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="Stop at the first cell that fails.")
    ] = False,
    retry: Annotated[
        bool, typer.Option("--retry", help="Run the cells again that failed before.")
    ] = False,
    refine: Annotated[
        bool,
        typer.Option("--refine", help="Add sizes around crossings, to find where they are."),
    ] = False,
    backend: Annotated[
        str, typer.Option(help="Where the work is done: processes (of this machine) or dask.")
    ] = "processes",
    address: Annotated[
        str | None,
        typer.Option(
            help="Of a Dask scheduler, as in tcp://host:8786 (default: one started here)."
        ),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(
            help="Run one part of the models, as in 3/10; simstudy merge joins the parts."
        ),
    ] = None,
    log: Annotated[
        Path | None, typer.Option(help="Write a line of JSON for each finished model to a file.")
    ] = None,
) -> None:
    """Run a study: draw models and data, fit the learners, score, test and draw."""
    overrides: dict[str, Any] = {"models": models, "seed": seed}
    if sizes is not None:
        overrides["data.train_sizes"] = _whole_numbers("--sizes", sizes)
    given = {key: value for key, value in overrides.items() if value is not None}
    part = _shard(shard)
    cluster = _cluster(backend, address)
    options: Options = {
        "jobs": jobs,
        "cluster": cluster,
        "overwrite": overwrite,
        "report": not no_report,
        "fail_fast": fail_fast,
        "retry": retry,
        "refine": refine or None,
    }
    content = read_toml(study)  # once: it may be a pipe
    workers = _workers(jobs, given.get("models", content.get("models"))) if cluster is None else 0
    # They start while this process still imports what it needs.
    with spare_children(workers if workers > 1 else 0):
        from simstudy.cli.progress import watched
        from simstudy.study.lists import is_collection, load_collection
        from simstudy.study.study import load_study
        from simstudy.workflow.run import run_shard, run_study

        if is_collection(content):
            if part is not None:
                raise SimstudyError("--shard goes with one study, not with a list of studies")
            failed = _run_all(load_collection(study, given, content), out, quiet, log, options)
        elif part is not None:
            loaded = load_study(study, given, content)
            with watched(quiet, log, study=str(study)) as progress, _stoppable():
                store = run_shard(loaded, part, out, progress=progress, **options)
            failed = len(store.failed_cells())
            if not quiet:
                _print_shard(store, shard, failed)
        else:
            loaded = load_study(study, given, content)
            with watched(quiet, log, study=str(study)) as progress, _stoppable():
                results = run_study(loaded, out, progress=progress, **options)
            failed = results.manifest["failures"]
            if not quiet:
                with results_of_others() if results.reused else contextlib.nullcontext():
                    _print_results(results, no_report)
    if failed:
        raise typer.Exit(SOME_FAILED)


def _workers(jobs: int | None, models: Any) -> int:
    """How many processes a run can use, as far as can be told before its study is checked."""
    workers = jobs or available_processors()
    return min(workers, models if isinstance(models, int) else available_processors())


def _print_shard(store: Store, shard: str | None, failed: int) -> None:
    echo(
        f"Shard {shard} is in {store.directory}/, {failed} of its cells failed; when all "
        "shards are done, simstudy merge joins them."
    )
    for note in store.notes:
        echo(f"Note: {note}.")


def _run_all(
    collection: Collection,
    out: Path | None,
    quiet: bool,
    log: Path | None,
    options: Options,
) -> int:
    """Run the studies of a list, and return how many cells failed."""
    from simstudy.cli.progress import watched
    from simstudy.workflow.lists import place, run_collection

    with _stoppable():
        found = run_collection(
            collection,
            out,
            watch=lambda study: watched(quiet, log, study=study.name),
            **options,
        )
    if not quiet:
        for results in found:
            _print_results(results, not options["report"])
        if options["report"]:
            echo(f"The comparison is {place(collection, out) / 'compare.html'}")
    return sum(results.manifest["failures"] for results in found)


def _print_results(results: Results, no_report: bool = False) -> None:
    from simstudy.report.terminal import make_console, print_summary

    console = make_console()
    print_summary(results, console)
    seconds = results.manifest["seconds"]
    cells = f"{results.manifest['cells']:,} cells" + (f" in {seconds:.1f} s" if seconds else "")
    note = "; they were there already, nothing was run again" if results.reused else ""
    what = "Scores" if no_report else "Scores, tables and figures"
    console.print(f"{what} are in {results.directory}/{note} ({cells}).", markup=False)
    if not no_report:
        page = f"The whole report, on one page: {results.directory / 'report.html'}"
        console.print(page, markup=False, highlight=False, soft_wrap=True)
    if results.note:
        console.print(f"Note: {results.note}.", markup=False)


def _cluster(backend: str, address: str | None) -> str | None:
    """The Dask scheduler to use, if any."""
    if backend not in ("processes", "dask"):
        raise SimstudyError(f"--backend: '{backend}' is not known; it must be processes or dask")
    if backend == "processes":
        if address is not None:
            raise SimstudyError("--address names a Dask scheduler; it goes with --backend dask")
        return None
    return address or "local"


def _shard(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    which, _, of = text.partition("/")
    if not (which.isdecimal() and of.isdecimal() and 1 <= int(which) <= int(of)):
        raise SimstudyError(f"--shard: '{text}' is not a part of a whole such as 3/10")
    return int(which), int(of)


@contextlib.contextmanager
def _stoppable() -> Iterator[None]:
    """Let Ctrl-C and a polite kill stop a run, and say how it goes on."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except KeyboardInterrupt:
        arguments = [part for part in sys.argv[1:] if part not in ("--overwrite", "--retry")]
        by_module = Path(sys.argv[0]).name == "run.py"
        program = ["python", "-m", "simstudy.run"] if by_module else ["simstudy"]
        command = shlex.join([*program, *arguments])
        echo(
            f"stopped; what is finished is kept; this goes on from there: {command}",
            err=True,
        )
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


@app.command()
def merge(
    pieces: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Shards, or results, of one study.")
    ],
    out: Annotated[Path, typer.Option(help="Directory for the whole.")],
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace results that are there already.")
    ] = False,
) -> None:
    """Join the results of one study that was run in pieces."""
    from simstudy.workflow.run import merge

    results = merge(pieces, out, overwrite=overwrite)
    _print_results(results)
    if results.manifest["failures"]:
        raise typer.Exit(SOME_FAILED)


@app.command()
def failures(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Results, or a run not finished yet.")
    ],
) -> None:
    """List the cells of a study that failed, and why."""
    from simstudy.report.prose.failures import failure_lines

    for line in failure_lines(directory):
        echo(line)


@app.command()
def cell(
    study: StudyFile,
    model: Annotated[int, typer.Option(min=0, help="Which model.")],
    size: Annotated[int, typer.Option(help="Which training size.")],
    learner: Annotated[str, typer.Option(help="Which learner, by its label.")],
    pdb: Annotated[
        bool, typer.Option("--pdb", help="If it fails, look around in Python's debugger.")
    ] = False,
) -> None:
    """Run one cell of a study here, with its seeds; if it fails, show where."""
    from simstudy.study.study import load_study
    from simstudy.workflow.run import run_cell

    faulthandler.enable()
    loaded = load_study(study)
    try:
        done = run_cell(loaded, model, size, learner)
    except SimstudyError:
        raise
    except BaseException as error:
        trace = error.__traceback__.tb_next if error.__traceback__ else None
        echo("".join(traceback.format_exception(error.with_traceback(trace))).rstrip(), err=True)
        if pdb:
            import pdb as debugger

            debugger.post_mortem(trace)
        raise typer.Exit(SOME_FAILED) from None
    for name, value in done.items():
        echo(f"{name} = {value!r}")


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
        if value is not None and not 0 < value < math.inf:
            raise SimstudyError(f"{name}: {value} is not allowed; it must be above 0 and finite")
    if not 0 < power < 1:
        raise SimstudyError(f"--power: {power} is not allowed; it must lie between 0 and 1")
    from simstudy.cli.progress import watched
    from simstudy.report.prose.forecast import forecast
    from simstudy.study.study import load_study
    from simstudy.workflow.pilot import run_pilot

    loaded = load_study(study)
    with watched() as progress:
        tried = run_pilot(loaded, pilot, jobs, progress)
    try:
        lines = forecast(tried, mcse, difference, power)
    except SimstudyError:
        raise
    except (ValueError, OverflowError) as error:  # more models than there are numbers for
        raise SimstudyError(
            f"--mcse or --difference is too small to plan for: {error.args[-1]}"
        ) from error
    for line in lines:
        echo(line)


@app.command()
def show(study: StudyFile) -> None:
    """Print a study as it will be run, every default filled in."""
    from simstudy.results.kept import shown
    from simstudy.study.study import load_study

    text = shown(study)  # of results nothing is executed
    echo((load_study(study).to_toml() if text is None else text).removesuffix("\n"))


@app.command("list")
def list_names() -> None:
    """List the families, learners and measures that a study can name."""
    from simstudy.study.registry import REGISTRIES

    for registry in REGISTRIES:
        echo(f"{registry.plural}:")
        names = registry.names()
        width = max(map(len, names)) + 2
        for name in names:
            line = str(registry.get(name).__doc__ or "").strip().split("\n")[0]
            echo(f"  {name:<{width}}{line}")
        if registry.by_path_help:
            echo(f"  and {registry.by_path_help}")


for _verb in VERBS:
    app.command()(_verb)


def main() -> None:
    """Entry point of the `simstudy` command."""
    run_app(app)


def run_app(application: typer.Typer) -> None:
    """Run a command; what the user can mend is said in one sentence, with exit code 2."""
    _mend_streams()
    # The summary names what an analysis leaves out; the log is for programs.
    logging.getLogger("simstudy").addHandler(logging.NullHandler())
    try:
        code = application(standalone_mode=False)
    except SimstudyError as error:
        _say(str(error))
        code = error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        code = _INTERRUPTED
    except MemoryError:
        code = _say("there is not enough memory for this")
    except OSError as error:  # a full disk, or a reader of the output that is gone
        code = _say(f"the system refuses: {error}")
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        code = _say(error.format_message())  # a wrong option, from the command-line library
    if code == _INTERRUPTED:
        _say("interrupted")
    sys.exit(code if isinstance(code, int) else 0)


def _mend_streams() -> None:
    """Let anything be printed: letters that an encoding lacks, and what nobody is to see.

    A stream that was closed is opened on nothing, lest its number goes to a file of the study's.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            # The lowest number there is: this one. Other processes have it from here.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
        stream = getattr(sys, name)
        if stream is None:
            mode = "w" if number else "r"
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
        elif name != "stdin" and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _say(sentence: str) -> int:
    if sentence:
        print(f"simstudy: {on_one_line(sentence)}", file=sys.stderr)
    return 2


def _whole_numbers(option: str, text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise SimstudyError(
            f"{option}: '{text}' is not a list of whole numbers such as 50,500,5000"
        ) from error
