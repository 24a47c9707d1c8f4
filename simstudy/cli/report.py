"""The verbs that report on finished studies."""

from __future__ import annotations

import contextlib
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option
from typer.models import OptionInfo

from simstudy.errors import SimstudyError, describe, reported
from simstudy.texts import echo
from simstudy.workflow.progress import watched

if TYPE_CHECKING:
    from simstudy.results.read.open import Results

Directory = Annotated[Path, Argument(metavar="DIR", help="The results of a study.")]


def written(text: str) -> OptionInfo:
    """The option that names what is written."""
    return Option("--out", "-o", help=text)


Out = Annotated[Path | None, written("Where to write (default: beside the results).")]


@contextlib.contextmanager
def results_of_others() -> Iterator[None]:
    """Report an error in results, which may come from anyone, in one sentence.

    Numbers that no study has, such as scores of 1e308, overflow without a warning.
    """
    import numpy as np

    try:
        with np.errstate(all="ignore"):
            yield
    except SimstudyError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise SimstudyError(f"these are not valid results: {describe(error)}") from error


def _opened(directory: Path) -> Results:
    from simstudy.results.read.open import open_results

    return open_results(directory)


@results_of_others()
def report(directory: Directory) -> None:
    """Rewrite the tables, figures and page of a study, or the page of all studies in DIR."""
    from simstudy.report.files import write_report
    from simstudy.report.pages.home import studies_in, update_home, write_home
    from simstudy.results.store.store import Store
    from simstudy.study.constants import MANIFEST, PAGE

    if not (directory / MANIFEST).exists() and studies_in(directory):
        echo(f"Studies: {write_home(directory)}")
        return
    _opened(directory)  # before the lock creates a directory
    store = Store(directory)
    with store.folder.locked():
        write_report(_opened(directory), store)
    echo(f"Report: {directory / PAGE}")
    for note in update_home(directory):
        echo(f"Note: {note}", err=True)


@results_of_others()
def figures(
    directory: Directory,
    format: Annotated[str, Option(help="pdf, svg or png.")] = "pdf",
    style: Annotated[str, Option(help="paper, talk or hope-korb.")] = "paper",
    out: Out = None,
    rerun: Annotated[
        bool, Option("--rerun", help="Rerun cells for reliability, even if plugins are executed.")
    ] = False,
) -> None:
    """Draw all figures of a study for a paper or a talk.

    With --style hope-korb: one figure of a study or of a list of up to three, as Hope & Korb (2004)
    drew them, an example of the models beside the learning curves.
    """
    from simstudy.report.files import write_figures, write_hope_korb
    from simstudy.study.constants import MANIFEST

    place, skipped = out or directory / "figures", list[str]()
    if style == "hope-korb":
        listed = sorted(path.parent for path in directory.glob(f"*/{MANIFEST}"))
        alone = not listed or (directory / MANIFEST).exists()
        studies = [directory] if alone else listed
        written = write_hope_korb([*map(_opened, studies)], place, format)
    else:
        written, skipped = write_figures(_opened(directory), place, format, style, rerun)
    for path in written:
        echo(path)
    for sentence in skipped:
        echo(f"left out: {sentence}", err=True)


@results_of_others()
def tables(
    directory: Directory,
    format: Annotated[str, Option(help="latex, markdown or csv.")] = "latex",
    out: Out = None,
) -> None:
    """Write the tables of a study for a paper."""
    from simstudy.report.files import write_tables

    for path in write_tables(_opened(directory), out or directory / "tables", format):
        echo(path)


@results_of_others()
def methods(
    directory: Directory,
    format: Annotated[str, Option(help="latex or markdown.")] = "latex",
    out: Out = None,
) -> None:
    """Write the methods and results of a study in words, with references."""
    from simstudy.report.files import write_methods

    for path in write_methods(_opened(directory), out or directory / "methods", format):
        echo(path)


@results_of_others()
def compare(
    directories: Annotated[
        list[Path], Argument(metavar="DIR...", help="The results of two or more studies.")
    ],
    out: Annotated[Path, written("The page to write.")] = Path("compare.html"),
) -> None:
    """Compare several studies on one page."""
    from simstudy.results.store.atomic_files import write_text
    from simstudy.workflow.compare import compare_studies

    if len({directory.resolve() for directory in directories}) < max(len(directories), 2):
        names = ", ".join(map(str, directories))
        raise SimstudyError(f"compare needs at least two different results, not: {names}")
    write_text(out, compare_studies([*map(_opened, directories)]))
    echo(f"Comparison: {out}")


@results_of_others()
def failures(
    directory: Annotated[Path, Argument(metavar="DIR", help="Results, complete or not.")],
) -> None:
    """List the failed cells of a study and their errors."""
    from simstudy.report.prose.failures import failure_lines

    for line in failure_lines(directory):
        echo(line)


@results_of_others()
def score(
    directory: Directory,
    measure: Annotated[
        list[str],
        Option(help="A name, or '{ name = \"cost\", matrix = [[0, 1], [5, 0]] }'; repeatable."),
    ],
    report: Annotated[bool, Option(help="Rewrite the report.")] = True,
) -> None:
    """Add measures to results with kept predictions (keep_answers = true), without fitting."""
    from simstudy.workflow.score import add_measures

    measures = [_table(text) for text in measure]
    with watched() as progress:
        results = add_measures(directory, measures, progress=progress, report=report)
    echo(f"{directory} has the measures {', '.join(results.measures)}.")
    if report:
        from simstudy.study.constants import PAGE

        echo(f"Report: {directory / PAGE}")


def _table(measure: str) -> str | dict[str, object]:
    """A measure by its name, or the table that a text in braces is."""
    if not measure.lstrip().startswith("{"):
        return measure
    with reported(f"--measure {measure}: not a TOML table", tomllib.TOMLDecodeError):
        table: dict[str, object] = tomllib.loads(f"measure = {measure}")["measure"]
    return table


VERBS = (report, compare, figures, tables, methods, failures, score)
