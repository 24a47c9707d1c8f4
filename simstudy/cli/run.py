"""The verbs that compute: run, vary, merge, cell, plan."""

from __future__ import annotations

import contextlib
import faulthandler
import math
import shlex
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

from typer import Argument, Exit, Option

from simstudy.cli.report import results_of_others, written
from simstudy.data.sizes import Size, whole_number
from simstudy.engine.workers.child import available_processors, spare_children
from simstudy.errors import SOME_FAILED, SimstudyError, reported
from simstudy.study.constants import DOSES, PAGE
from simstudy.study.files import read_toml, study_path
from simstudy.texts import counted, echo, shortened
from simstudy.workflow.progress import busy, watched

if TYPE_CHECKING:
    from simstudy.results.read.open import Results
    from simstudy.study.lists import Collection
    from simstudy.workflow.run import RunOptions

_Path = Path | None
_Text = str | None
_Number = float | None
T = TypeVar("T")
StudyFile = Annotated[
    Path, Argument(metavar="STUDY", help="A study file, or the name of a built-in study.")
]
Jobs = Annotated[int | None, Option(min=1, help="Worker processes (default: one per processor).")]
Models = Annotated[int | None, Option(help="Number of models to run instead of the study's.")]
Quiet = Annotated[bool, Option("--quiet", "-q", help="Print errors only.")]
Details = Annotated[bool, Option("--details", help="Print all tests and intervals.")]
Overwrite = Annotated[bool, Option("--overwrite", help="Replace existing results.")]


def run(
    study: StudyFile,
    out: Annotated[_Path, written("Directory for results (default: results/<name>).")] = None,
    jobs: Jobs = None,
    models: Models = None,
    sizes: Annotated[_Text, Option(help="Training sizes to use instead, e.g. 50,500,5000.")] = None,
    seed: Annotated[int | None, Option(help="Seed to use instead.")] = None,
    without: Annotated[_Text, Option(help="Data sets or learners to omit, e.g. CaMML.")] = None,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
    no_report: Annotated[bool, Option("--no-report", help="Write scores only, no report.")] = False,
    fail_fast: Annotated[bool, Option("--fail-fast", help="Stop at the first failure.")] = False,
    retry: Annotated[bool, Option("--retry", help="Rerun cells that failed before.")] = False,
    refine: Annotated[bool, Option("--refine", help="Add training sizes near crossings.")] = False,
    backend: Annotated[str, Option(help="What runs cells: processes or dask.")] = "processes",
    address: Annotated[
        _Text, Option(help="Dask scheduler, e.g. tcp://host:8786 (default: a local cluster).")
    ] = None,
    shard: Annotated[_Text, Option(help="Run a part of the models, e.g. 3/10; see merge.")] = None,
    log: Annotated[_Path, Option(help="File for a line of JSON per finished model.")] = None,
    details: Details = False,
) -> None:
    """Run a study: draw models and data, fit learners, score, test and report."""
    settings: dict[str, object] = {"models": models, "seed": seed}
    if sizes is not None:
        expected = "a list of whole numbers such as 50,500,5000"
        settings[DOSES] = _parsed(
            "--sizes", sizes, expected, lambda text: [*map(whole_number, text.split(","))]
        )
    overrides = {key: value for key, value in settings.items() if value is not None}
    piece = None if shard is None else _parsed("--shard", shard, "a shard such as 3/10", _shard)
    cluster = _cluster(backend, address)
    options: RunOptions = {
        "jobs": jobs,
        "cluster": cluster,
        "overwrite": overwrite,
        "report": not no_report,
        "fail_fast": fail_fast,
        "retry": retry,
        "refine": refine or None,
    }
    study = study_path(study)
    content = read_toml(study)  # once: it may be a pipe
    stated, processors = overrides.get("models", content.get("models")), available_processors()
    workers = min(jobs or processors, stated if isinstance(stated, int) else processors)
    # Workers start while this process still imports modules.
    with spare_children(workers if workers > 1 and cluster is None else 0):
        from simstudy.study.files import without as omitted
        from simstudy.study.lists import is_collection, load_collection
        from simstudy.study.study import load_study
        from simstudy.workflow.run import run_shard, run_study

        reading = f"reading {study} and its data"
        if is_collection(content):
            for option, value in (("--shard", shard), ("--without", without)):
                if value is not None:
                    raise SimstudyError(f"{option} applies to a single study, not to a list")
            with busy(reading, quiet):
                collection = load_collection(study, overrides, content)
            failed = _run_all(collection, out, quiet, log, details, options)
        else:
            if without is not None:
                content = omitted(content, [*filter(None, map(str.strip, without.split(",")))])
            with busy(reading, quiet):
                loaded = load_study(study, overrides, content)
            with watched(quiet, log, study=str(study)) as progress, stoppable():
                if piece is None:
                    results = run_study(loaded, out, progress=progress, **options)
                    failed, directory = results.manifest["failures"], results.directory
                else:
                    store = run_shard(loaded, piece, out, progress=progress, **options)
                    failed, directory = len(store.cells.failed()), store.directory
            report_failures(failed, directory, quiet)
            if piece is not None and not quiet:
                echo(f"Shard {shard} is in {directory}/; {failed} cells failed.")
                echo("Join all shards with simstudy merge.")
                for note in store.notes:
                    echo(f"Note: {note}.")
            elif not quiet:
                print_results(results, not no_report, details)
    if failed:
        raise Exit(SOME_FAILED)


def report_failures(failed: int, directory: Path, quiet: bool) -> None:
    """Print the number of failed cells to standard error where there is no summary."""
    if failed and quiet:
        command = f"simstudy failures {shlex.quote(str(directory))}"
        echo(f"{counted(failed, 'cell')} failed; list them with: {command}", err=True)


def _run_all(
    collection: Collection,
    out: Path | None,
    quiet: bool,
    log: Path | None,
    details: bool,
    options: RunOptions,
) -> int:
    """Run the studies of a list; returns the number of failed cells."""
    from simstudy.workflow.lists import place, run_collection, summary

    with stoppable():
        studies = run_collection(
            collection, out, watch=lambda study: watched(quiet, log, study=study.name), **options
        )
    for results in studies:
        report_failures(results.manifest["failures"], results.directory, quiet)
        if not quiet:
            print_results(results, options["report"], details)
            echo("")
    if not quiet:
        for sentence in summary(collection, studies):
            echo(sentence)
        if options["report"]:
            echo(f"Comparison: {place(collection, out) / 'compare.html'}")
    return sum(results.manifest["failures"] for results in studies)


def print_results(results: Results, report: bool = True, details: bool = False) -> None:
    """Print what a study found, and last where its page is, or else its scores."""
    from simstudy.report.terminal import make_console, print_summary

    with results_of_others() if results.reused else contextlib.nullcontext():
        console = make_console()
        print_summary(results, console, details)
        if results.note:
            console.print(f"Note: {results.note}.", markup=False)
        seconds = 0.0 if results.reused else results.manifest["seconds"]
        cells = f"{results.manifest['cells']:,} cells" + (f" in {seconds:.1f} s" if seconds else "")
        note = "; up to date, nothing to run" if results.reused else ""
        place = f"Report: {results.directory / PAGE}" if report else f"Scores: {results.directory}/"
        console.print(f"{cells}{note}. {place}", markup=False, soft_wrap=True)


def _cluster(backend: str, address: str | None) -> str | None:
    """The Dask scheduler to use, if any."""
    if backend not in ("processes", "dask"):
        raise SimstudyError(f"--backend: '{backend}' is unknown; choose processes or dask")
    if backend == "processes" and address is not None:
        raise SimstudyError("--address needs --backend dask")
    return None if backend == "processes" else address or "local"


def _parsed(option: str, text: str, expected: str, read: Callable[[str], T]) -> T:
    """The value of an option; an error names what is expected."""
    with reported(f"{option}: '{shortened(text)}' is not {expected}", ValueError, why=False):
        value = read(text)
    return value


def _shard(text: str) -> tuple[int, int]:
    which, of = map(whole_number, text.split("/"))
    if not 1 <= which <= of:
        raise ValueError(text)
    return which, of


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM interrupt a run, and print how to resume it."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except KeyboardInterrupt:
        arguments = [word for word in sys.argv[1:] if word not in ("--overwrite", "--retry")]
        by_module = Path(sys.argv[0]).name == "run.py"
        program = ["python", "-m", "simstudy.run"] if by_module else ["simstudy"]
        command = shlex.join([*program, *arguments])
        echo(f"Interrupted; finished cells are saved. Resume with: {command}", err=True)
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


@results_of_others()
def merge(
    pieces: Annotated[
        list[Path], Argument(metavar="DIR...", help="Shards, or results, of one study.")
    ],
    out: Annotated[Path, written("Directory for the merged results.")],
    overwrite: Overwrite = False,
) -> None:
    """Merge the results of one study that was run in shards."""
    from simstudy.workflow.run import merge

    results = merge(pieces, out, overwrite=overwrite)
    print_results(results)
    if results.manifest["failures"]:
        raise Exit(SOME_FAILED)


def vary(
    study: StudyFile,
    key: Annotated[
        list[str], Option(help="Key and values, e.g. measures.prior=train,test; repeatable.")
    ],
    out: Annotated[_Path, written("Directory above the results (default: results).")] = None,
    jobs: Jobs = None,
    models: Models = None,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
) -> None:
    """Run variants of a study and report which findings hold under all of them."""
    from simstudy.workflow.lists import vary_study

    with stoppable():
        overrides = {} if models is None else {"models": models}
        options: RunOptions = {"jobs": jobs, "overwrite": overwrite, "report": False}
        page, variants = vary_study(
            study, key, out, overrides, lambda each: watched(quiet, study=each.name), **options
        )
    for results in variants:  # nothing else says so here
        report_failures(results.manifest["failures"], results.directory, quiet=True)
    if not quiet:
        echo(f"{len(variants)} variants are in {page.parent}/. Comparison: {page}")
    if any(results.manifest["failures"] for results in variants):
        raise Exit(SOME_FAILED)


def cell(
    study: StudyFile,
    model: Annotated[int, Option(min=0, help="The number of the model.")],
    size: Annotated[str, Option(help="The training size; for data sets also a share, e.g. 100%.")],
    learner: Annotated[str, Option(help="The label of the learner.")],
    pdb: Annotated[bool, Option("--pdb", help="If it fails, start Python's debugger.")] = False,
) -> None:
    """Run one cell of a study with its seeds; if it fails, show the traceback."""
    from simstudy.study.study import load_study
    from simstudy.workflow.run import run_cell

    faulthandler.enable()
    loaded = load_study(study)
    expected = "a number of rows, or a share such as 100%"
    rows = _parsed("--size", size, expected, Size.read).value
    try:
        done = run_cell(loaded, model, rows, learner)
    except SimstudyError:
        raise
    except BaseException as error:
        trace = error.__traceback__.tb_next if error.__traceback__ else None
        echo("".join(traceback.format_exception(error.with_traceback(trace))).rstrip(), err=True)
        if pdb:
            import pdb as debugger

            debugger.post_mortem(trace)
        raise Exit(SOME_FAILED) from None
    for name, value in done.items():
        echo(f"{name} = {value!r}")


def plan(
    study: StudyFile,
    mcse: Annotated[_Number, Option(help="Target Monte-Carlo standard error, e.g. 0.005.")] = None,
    difference: Annotated[_Number, Option(help="A difference between learners to detect.")] = None,
    power: Annotated[float, Option(help="The power to detect it.")] = 0.8,
    pilot: Annotated[int, Option(min=3, help="Number of models in the pilot.")] = 12,
    jobs: Jobs = None,
) -> None:
    """Run a pilot: estimate the models a study needs, and its run time.

    For a study of data sets, the first split of each is run to estimate the run time; with
    --difference also the first repeats, to say how many repeats and data sets find it.
    """
    for name, value in (("--mcse", mcse), ("--difference", difference)):
        if value is not None and not 0 < value < math.inf:
            raise SimstudyError(f"{name}: {value} is not allowed; it must be above 0 and finite")
    if not 0 < power < 1:
        raise SimstudyError(f"--power: {power} is not allowed; it must lie between 0 and 1")
    from simstudy.experiments.page import Goal
    from simstudy.study.study import load_study

    with busy(f"reading {study} and its data"):
        loaded = load_study(study)
    try:
        with watched() as progress:
            goal = Goal(mcse, difference, power, pilot, jobs, progress)
            lines = loaded.page.plan(loaded, goal)
    except SimstudyError:
        raise
    except (ValueError, OverflowError) as error:  # the number of models overflows
        raise SimstudyError(f"--mcse or --difference is too small: {error.args[-1]}") from error
    for line in lines:
        echo(line)
