"""The verb about one's own data: advise."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from simstudy.cli.data import Missing
from simstudy.cli.run import Jobs, Overwrite, Quiet, stoppable
from simstudy.errors import SimstudyError
from simstudy.texts import echo

if TYPE_CHECKING:
    from simstudy.workflow.advise import Advised
    from simstudy.workflow.progress import Progress

_Names = list[str] | None
_FITTERS = ("auto", "camml", "tan", "kdb", "bootstrap")
_DOING = {
    "table": "1 of 2: cross-validating learners on the table",
    "simulated": "2 of 2: fitting truths to the table, and learners to rows of these",
}


def advise(
    data: Annotated[
        Path, Argument(metavar="DATA", help="A file: .csv, .tsv, .txt, .arff or .parquet.")
    ],
    target: Annotated[str | None, Option(help="The column to predict.")] = None,
    out: Annotated[
        Path | None,
        Option(help="Directory for the page and results (default: results/advise-<name>)."),
    ] = None,
    ignore: Annotated[_Names, Option(help="A column to leave out; repeatable.")] = None,
    keep: Annotated[
        _Names,
        Option(help="A column to keep though it looks like an identifier or a leak."),
    ] = None,
    nominal: Annotated[_Names, Option(help="A column whose numbers are names; repeatable.")] = None,
    missing: Missing = None,
    rows: Annotated[
        list[int] | None, Option(help="A number of rows to predict for; repeatable.")
    ] = None,
    fitter: Annotated[
        str, Option(help="Of simulated truths: auto, camml, tan, kdb or bootstrap.")
    ] = "auto",
    models: Annotated[int, Option(help="Number of simulated truths.")] = 40,
    seed: Annotated[int, Option(min=0, help="The seed.")] = 1,
    jobs: Jobs = None,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
) -> None:
    """Advise on a table: which learner does best, and what more rows would bring."""
    if fitter not in _FITTERS:
        names = ", ".join(_FITTERS)
        raise SimstudyError(f"--fitter: '{fitter}' is not known; it is one of {names}")
    from simstudy.cli.progress import watched
    from simstudy.workflow.advise import advise as advise_on
    from simstudy.workflow.progress import busy

    @contextlib.contextmanager
    def watch(part: str) -> Iterator[Progress | None]:
        if part in _DOING and not quiet:
            echo(_DOING[part], err=True)
        with busy(f"reading {data}", quiet) if part == "reading" else watched(quiet) as progress:
            yield progress

    with stoppable():
        advice = advise_on(
            data,
            target,
            out,
            ignore=ignore or (),
            keep=keep or (),
            nominal=nominal or (),
            missing_values=missing,
            rows=rows or (),
            fitter=fitter,  # type: ignore[arg-type]
            models=models,
            seed=seed,
            jobs=jobs,
            overwrite=overwrite,
            watch=watch,
        )
    if not quiet:
        _print(advice)


def _print(advice: Advised) -> None:
    from simstudy.report.prose.advice import left_out
    from simstudy.report.tables.advice import gain_table, now_table
    from simstudy.report.tables.terminal import print_table
    from simstudy.report.terminal import make_console

    console = make_console()
    for sentence in left_out(advice.about):
        console.print(f"Note: {sentence}", markup=False, highlight=False)
    print_table(now_table(advice), console)
    print_table(gain_table(advice), console)
    for sentence in advice.sentences:
        console.print(f"- {sentence}", markup=False, highlight=False)
    console.print(f"Page: {advice.page}", markup=False, highlight=False, soft_wrap=True)
