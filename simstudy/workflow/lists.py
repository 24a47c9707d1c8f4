"""Run a list of studies and compare them on one page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, Unpack

from simstudy.engine.workers.child import spare_children
from simstudy.experiments.learners.data_results import DataResults
from simstudy.results.results import Results
from simstudy.study.lists import Collection
from simstudy.study.study import Study
from simstudy.workflow.options import RunOptions
from simstudy.workflow.progress import Progress
from simstudy.workflow.run import run_study

if TYPE_CHECKING:
    from simstudy.analysis.claims import StatementVerdict
    from simstudy.analysis.published import Agreement
    from simstudy.study.published import Published

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
    only_scores: RunOptions = {**options, "report": False, "refine": False}

    def run(part: Collection, where: Path, options: RunOptions) -> list[Results]:
        made = []
        for study in part.studies:
            shown = replace(study, name=str((where / study.name).relative_to(directory)))
            with watch(shown) if watch is not None else nullcontext() as progress:
                made.append(run_study(study, where / study.name, progress=progress, **options))
        return made

    with spare_children():
        results = run(collection, directory, options)
        readings = [run(part, directory / part.name, only_scores) for part in collection.readings]
    if options.get("report", True):
        from simstudy.report.tables.published import published_tables
        from simstudy.workflow.compare import write_page

        write_page(directory / PAGE, page(collection, results, readings))
        for printed, agreement in _agreements(collection, results):
            for table in published_tables(printed, agreement):
                write_page(directory / f"{table.name}.csv", table.csv)
    return results + [each for made in readings for each in made if each.manifest["failures"]]


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


def _agreements(
    collection: Collection, results: Sequence[Results]
) -> list[tuple[Published, Agreement]]:
    """How means agree with printed values."""
    from simstudy.analysis.published import agreement

    names = [study.name for study in collection.studies]
    agreements = []
    for printed in collection.published:
        made = results[names.index(printed.study)]
        assert isinstance(made, DataResults)
        means = made.dataset_table(printed.measure or None)
        means = means if made.info(printed.measure or None).greater_is_better else -means
        agreed = agreement(means, printed.values, printed.leave_out, printed.tolerance)
        agreements.append((printed, agreed))
    return agreements


def page(
    collection: Collection, results: list[Results], readings: Sequence[list[Results]] = ()
) -> str:
    """The page that compares the studies, here and under ``others``, and checks the statements."""
    from simstudy.workflow.compare import compare_studies

    names = [study.name for study in collection.studies]
    parts = zip([collection, *collection.readings], [results, *readings], strict=True)
    verdicts = [(part.reading, _verdicts(part, made)) for part, made in parts]
    return compare_studies(
        results,
        names,
        verdicts[0][1],
        readings=verdicts if readings else (),
        printed=_agreements(collection, results),
        of_list=True,
        title=collection.title or collection.name,
        citation=collection.citation,
        note=collection.note,
    )
