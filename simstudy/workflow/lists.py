"""Running a list of studies one after the other, and comparing them on one page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias, Unpack

from simstudy.engine.workers.child import spare_children
from simstudy.results.results import Results
from simstudy.study.lists import Collection
from simstudy.study.study import Study
from simstudy.workflow.options import Options, RunOptions
from simstudy.workflow.run import Progress, run_study

PAGE = "compare.html"
Watch: TypeAlias = Callable[[Study], AbstractContextManager[Progress | None]]


def run_collection(
    collection: Collection,
    out: str | Path | None = None,
    *,
    watch: Watch | None = None,
    **keywords: Unpack[Options],
) -> list[Results]:
    """Run all studies of a list, then write the page that compares them.

    Each study goes to ``<out>/<list>/<study>``, the page to ``<out>/<list>/compare.html``. What is
    there already is kept, and a run that was stopped goes on, as in `run_study`. Each study of a
    reading goes to ``<out>/<list>/<reading>/<study>``, without tables and figures.

    Parameters
    ----------
    collection : Collection
        From `load_collection`.
    out : str or Path, optional
        The directory above; ``results`` if left out.
    watch : callable, optional
        Called with each study before it runs; gives a context manager around the run, with
        something to call each time a model is finished, or None.
    **keywords
        As in `run_study`; ``report`` is for each study's tables and figures, and for the page.

    Returns
    -------
    list of Results
        Of the studies of the list; then of those of its readings in which cells failed.
    """
    options, directory = RunOptions(**keywords), place(collection, out)
    scores_alone: Options = {**keywords, "report": False, "refine": False}

    def run(part: Collection, where: Path, keywords: Options) -> list[Results]:
        found = []
        for study in part.studies:
            name = str((where / study.name).relative_to(directory))
            shown = replace(study, name=name)
            with watch(shown) if watch is not None else nullcontext() as progress:
                found.append(run_study(study, where / study.name, progress=progress, **keywords))
        return found

    with spare_children():
        results = run(collection, directory, keywords)
        others = [run(part, directory / part.name, scores_alone) for part in collection.readings]
    if options.report:
        from simstudy.workflow.compare import write_page

        write_page(directory / PAGE, page(collection, results, others))
    return results + [one for found in others for one in found if one.manifest["failures"]]


def place(collection: Collection, out: str | Path | None = None) -> Path:
    """Where the results of a list of studies go."""
    return Path("results" if out is None else out) / collection.name


def page(
    collection: Collection, results: list[Results], others: Sequence[list[Results]] = ()
) -> str:
    """The page that compares the studies and holds the statements against them.

    Parameters
    ----------
    collection, results
        The list, and the results of its studies.
    others
        The results of the studies of each of its readings.
    """
    from simstudy.analysis.claims import check_statements
    from simstudy.workflow.compare import compare_studies

    names = [study.name for study in collection.studies]
    parts = zip([collection, *collection.readings], [results, *others], strict=True)
    verdicts = [
        (part.reading, check_statements(part.statements, dict(zip(names, found, strict=True))))
        for part, found in parts
    ]
    return compare_studies(
        results,
        names,
        verdicts[0][1],
        readings=verdicts if others else (),
        title=collection.title or collection.name,
        citation=collection.citation,
        note=collection.note,
    )
