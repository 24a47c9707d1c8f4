"""Run a list of studies and compare them on one page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, Unpack

from simstudy.engine.workers.child import spare_children
from simstudy.results.results import Results
from simstudy.study.lists import Collection
from simstudy.study.study import Study
from simstudy.workflow.options import RunOptions
from simstudy.workflow.progress import Progress
from simstudy.workflow.run import run_study

if TYPE_CHECKING:
    from simstudy.analysis.claims import StatementVerdict

PAGE = "compare.html"
Watch: TypeAlias = Callable[[Study], AbstractContextManager[Progress | bool | None]]


def run_collection(
    collection: Collection,
    out: str | Path | None = None,
    *,
    watch: Watch | None = None,
    **options: Unpack[RunOptions],
) -> list[Results]:
    """Run all studies of a list, then write the page that compares them.

    Each study goes to ``<out>/<list>/<study>``, or ``<out>/<list>/<reading>/<study>`` without
    tables and figures, and the page to ``<out>/<list>/compare.html``; ``out`` is ``results`` if
    left out. Existing results are reused and interrupted runs resumed, as in `run_study`.
    ``watch`` is called with each study and returns a context manager around its run, which gives
    its ``progress``; if left out, there is a bar for each study in a notebook. ``report`` includes
    the page; other options are as in `run_study`. Returned are the results of the list, then those
    of readings with failed cells.
    """
    directory = place(collection, out)
    scores_alone: RunOptions = {**options, "report": False, "refine": False}

    def run(part: Collection, where: Path, options: RunOptions) -> list[Results]:
        found = []
        for study in part.studies:
            name = str((where / study.name).relative_to(directory))
            shown = replace(study, name=name)
            with watch(shown) if watch is not None else nullcontext() as progress:
                found.append(run_study(study, where / study.name, progress=progress, **options))
        return found

    with spare_children():
        results = run(collection, directory, options)
        others = [run(part, directory / part.name, scores_alone) for part in collection.readings]
    if options.get("report", True):
        from simstudy.workflow.compare import write_page

        write_page(directory / PAGE, page(collection, results, others))
    return results + [one for found in others for one in found if one.manifest["failures"]]


def place(collection: Collection, out: str | Path | None = None) -> Path:
    """The directory for the results of a list."""
    return Path("results" if out is None else out) / collection.name


def summary(collection: Collection, results: Sequence[Results]) -> list[str]:
    """How many of the statements are reproduced, and which are not."""
    from simstudy.report.prose import claims

    verdicts = _verdicts(collection, results[: len(collection.studies)])
    return [claims.counts(verdicts), *claims.not_reproduced(verdicts)] if verdicts else []


def _verdicts(collection: Collection, results: Sequence[Results]) -> list[StatementVerdict]:
    """The verdicts on the statements by the results of all studies, in their order."""
    from simstudy.analysis.claims import check_statements

    names = [study.name for study in collection.studies]
    return check_statements(collection.statements, dict(zip(names, results, strict=True)))


def page(
    collection: Collection, results: list[Results], others: Sequence[list[Results]] = ()
) -> str:
    """The page that compares the studies, here and under ``others``, and checks the statements."""
    from simstudy.workflow.compare import compare_studies

    names = [study.name for study in collection.studies]
    parts = zip([collection, *collection.readings], [results, *others], strict=True)
    verdicts = [(part.reading, _verdicts(part, found)) for part, found in parts]
    return compare_studies(
        results,
        names,
        verdicts[0][1],
        readings=verdicts if others else (),
        title=collection.title or collection.name,
        citation=collection.citation,
        note=collection.note,
    )
