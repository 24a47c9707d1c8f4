"""Test rows that show why two measures name different winners."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from simstudy.analysis.reversals import Example, Reversal, Reversals, telling_row
from simstudy.arrays import FloatArray, IntArray
from simstudy.engine.plan import Plan
from simstudy.engine.task import Task
from simstudy.errors import SimstudyError
from simstudy.results.ranked_answers import Answer, read_answers
from simstudy.sources.tables import Tables

if TYPE_CHECKING:
    from simstudy.experiments.learners.data_results import DataResults

NO_ANSWERS = "the study has not kept answers"
FOREIGN = "the study has components that are not built in, which would be executed"
NO_ROW = "no row counts for the second winner without counting against the first"


def with_examples(results: DataResults, found: Reversals, size: int) -> Reversals:
    """Add to each reversal a test row that shows why, or why there is none."""
    for reason, absent in (
        (NO_ANSWERS, not results.study.keep_answers),
        (FOREIGN, results.foreign),
    ):
        if absent:
            return _without(found, reason)
    for name in (found.first, found.second):
        if results.info(name).over != "row":
            return _without(found, f"{name} has no value for a single row")
    try:
        results._tables()  # refused if they have changed
        plan, answers = results._plan, read_answers(results)
    except SimstudyError as error:
        return _without(found, str(error))
    names = (found.first, found.second)
    measures = {one.label: one for one in plan.measured}
    plan = replace(plan, measured=tuple(measures[name] for name in names))
    signs = [1.0 if results.info(name).greater_is_better else -1.0 for name in names]
    return replace(
        found, found=tuple(_shown(one, plan, size, answers, signs) for one in found.found)
    )


def _without(found: Reversals, reason: str) -> Reversals:
    """Return the reversals with the reason why there are no examples."""
    return replace(found, found=tuple(replace(one, no_example=reason) for one in found.found))


def _shown(
    reversal: Reversal,
    plan: Plan,
    size: int,
    answers: dict[tuple[object, ...], Answer],
    signs: list[float],
) -> Reversal:
    """Return a reversal with the most telling row of all splits."""
    best: Example | None = None
    source = plan.source
    assert isinstance(source, Tables)
    for model, part in enumerate(source.parts):
        if part.dataset != reversal.dataset:
            continue
        key = (part.dataset, part.repeat, part.fold, source.rows(model, size))
        own = [
            answers.get((*key, name)) for name in (reversal.winner_first, reversal.winner_second)
        ]
        if own[0] is None or own[1] is None:
            continue
        task = Task(plan, model)
        first, second = (task.row_values(one.proba, size) for one in (own[0], own[1]))
        ahead = _ahead(first, second, signs)
        place = telling_row(*ahead)
        if place is None or (best and best.difference_second >= ahead[1][place]):
            continue
        rows, labels = source.split(plan.seed, model).test, source.table(model).sample.class_names
        best = _example(place, rows, (part.repeat, part.fold), own, ahead, labels)
    return replace(reversal, example=best, no_example="" if best else NO_ROW)


def _ahead(
    first: list[FloatArray | None], second: list[FloatArray | None], signs: list[float]
) -> tuple[FloatArray, FloatArray]:
    """Return by how much each winner is ahead, by its measure, row by row."""
    assert first[0] is not None
    assert first[1] is not None
    assert second[0] is not None
    assert second[1] is not None
    with np.errstate(invalid="ignore"):  # infinite values of both
        return signs[0] * (first[0] - second[0]), signs[1] * (second[1] - first[1])


def _example(
    place: int,
    rows: IntArray,
    split: tuple[int, int],
    answers: list[Answer | None],
    ahead: tuple[FloatArray, FloatArray],
    names: tuple[str, ...],
) -> Example:
    """Return a row with what both winners predict for it."""
    first, second = (one for one in answers if one is not None)
    return Example(
        int(rows[place]),
        *split,
        target=names[int(first.target[place])],
        probabilities_first=dict(zip(names, first.proba[place].tolist(), strict=True)),
        probabilities_second=dict(zip(names, second.proba[place].tolist(), strict=True)),
        difference_first=float(ahead[0][place]),
        difference_second=float(ahead[1][place]),
    )
