"""Add measures to results from the predictions that they keep; nothing is fitted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

from simstudy.components.registry import MEASURES
from simstudy.data.sizes import size_text
from simstudy.engine.plan import Plan, make_plan
from simstudy.engine.task import Cell, Task, prepare
from simstudy.errors import SimstudyError
from simstudy.measures.base import keywords
from simstudy.results.read.open import Results, open_results, recorded_plan, recorded_study
from simstudy.results.store.columns import is_readable
from simstudy.results.store.journal import Journal
from simstudy.results.store.manifest import descriptions, filled, levels, owner
from simstudy.results.store.store import Store
from simstudy.study.constants import STUDY
from simstudy.study.study import Study, load_study
from simstudy.workflow.progress import Progress, Step, shown
from simstudy.workflow.run import reported

_FITTED = {"limit": "learners' limits", "message": "fitted learners"}


def add_measures(
    directory: str | Path,
    measures: Sequence[str | Mapping[str, object]],
    *,
    progress: Progress | bool | None = None,
    report: bool = True,
) -> Results:
    """Add measures to the results of a study with ``keep_answers = true``.

    Parameters
    ----------
    directory : str or Path
        The results.
    measures : sequence of str or mapping
        Names of measures, or tables as in a study file:
        ``{"name": "cost", "matrix": [[0, 1], [5, 0]]}``.
    progress : bool or callable, optional
        As in `simstudy.run_study`.
    report : bool
        Whether to rewrite the report.
    """
    path, store = Path(directory) / STUDY, Store(Path(directory))
    manifest = store.folder.required(whole=True)
    recorded = recorded_study(store.directory)
    if not recorded.keep_answers:
        raise SimstudyError(f"{directory} has no predictions; rerun with keep_answers = true")
    # No learner is looked up, since none is needed: a directory of results may name any.
    stand_ins = {"learners": [{"name": "prior", "label": label} for label in recorded.labels]}
    before = load_study(path, stand_ins)
    study = _extended(path, before, measures, stand_ins)
    learners = recorded_plan(recorded, store.directory, manifest).learners
    sources = tuple(manifest["conditions"]["source"].items())
    asked = replace(make_plan(study), learners=learners, sources=sources)
    earlier = replace(make_plan(before), learners=learners, sources=sources)
    store.check(earlier)
    settings = recorded.as_dict()
    settings["measures"]["also"] = study.as_dict()["measures"]["also"]
    with store.folder.locked(), shown(progress) as update:
        if asked.measured != earlier.measured:
            if store.cells.todo(earlier):  # before anything is replaced
                raise SimstudyError(f"{store.directory} is not complete; run {path} to complete it")
            prepare(asked)
            entries = _rescored(asked, earlier, store.folder.journal, update)
            store.folder.journal.replace(owner(asked), entries)
            store.descriptions = _described(make_plan(study), filled(manifest))
            store.begin(settings, asked)
            store.finish(asked, {"seconds": (store.folder.manifest() or {}).get("seconds")})
        return reported(open_results(store.directory), store, report)


def _described(plan: Plan, manifest: Mapping[str, Any]) -> dict[str, object]:
    """What the manifest records of a plan with further measures, of learners as before."""
    described = descriptions(plan)
    described["about"]["learner"] = manifest["about"].get("learner", {})
    return {**described, "session": manifest["session"], "networks": manifest["networks"]}


def _extended(
    path: Path,
    study: Study,
    measures: Sequence[str | Mapping[str, object]],
    overrides: Mapping[str, object],
) -> Study:
    """The study with further measures; those that it has already are left out."""
    section = study.as_dict()["measures"]
    stated = [section["primary"], *section["also"]]
    further = [each if isinstance(each, str) else dict(each) for each in measures]
    also = [*stated[1:], *(each for each in further if each not in stated)]
    extended = load_study(path, overrides={**overrides, "measures.also": also})
    for spec in extended.measured[len(study.measured) :]:
        for keyword in _fitted_keywords(spec.name):
            raise SimstudyError(
                f"'{spec.name}' needs {_FITTED[keyword]}, not only predictions; add it to "
                "measures.also of the study and run it"
            )
    return extended


def _rescored(
    asked: Plan, earlier: Plan, journal: Journal, progress: Progress | None
) -> Iterator[list[Cell]]:
    """The cells of a journal with the values of further measures.

    The primary measure is computed again, and must have the value that is recorded.
    """
    first = [spec for spec in earlier.measured[:1] if not _fitted_keywords(spec.name)]
    scoring = replace(asked, measured=(*first, *asked.measured[len(earlier.measured) :]))
    old_names = [column.name for column in earlier.columns]
    models, largest = _extent(earlier, journal)
    started, task = perf_counter(), None
    for done, cells in enumerate(journal.tasks(), 1):
        finished = []
        for cell in cells:
            # of a study with other measures, damaged, or of no study that the journal names
            valid = len(cell.values) == len(old_names) and is_readable(earlier, cell)
            if not valid or cell.model >= models or cell.size > largest:
                continue
            if task is None or task[0] != cell.model:
                task = cell.model, Task(scoring, cell.model)
            values = dict(zip(old_names, cell.values, strict=True))
            kept = f"the predictions kept of {cell.learner} on model {cell.model}"
            try:
                scored = task[1].rescored(cell)
            except ValueError as error:
                rows = size_text(cell.size)
                raise SimstudyError(f"{kept} with {rows} rows cannot be scored: {error}") from error
            for column, value in zip(scoring.columns, scored.values, strict=True):
                recorded = values.setdefault(column.name, value)
                same = recorded == value or (math.isnan(recorded) and math.isnan(value))
                if cell.answers and not same:
                    raise SimstudyError(
                        f"{kept} give {column.name} = {value}, but {recorded} is recorded; run the "
                        "study again"
                    )
            together = tuple(values[column.name] for column in asked.columns)
            finished.append(replace(cell, values=together, warning=scored.warning))
        if finished:
            yield finished
        if progress is not None:
            counts = (done, earlier.problems, done * earlier.cells_each, earlier.cells, 0)
            progress(Step(*counts, perf_counter() - started, finished, earlier.source.problem_word))


def _extent(plan: Plan, journal: Journal) -> tuple[int, int]:
    """The number of models, and the largest size, of the studies that a journal has cells of."""
    every = [owner["conditions"] for owner in journal.owners()]
    models = max([plan.problems, *(conditions["models"] for conditions in every)])
    sizes = {*plan.doses, *(size for conditions in every for size in levels(conditions)[1])}
    return max(plan.source.first(models).count, plan.problems), max(sizes)


def _fitted_keywords(measure: str) -> frozenset[str]:
    return keywords(MEASURES.get(measure)) & _FITTED.keys()
