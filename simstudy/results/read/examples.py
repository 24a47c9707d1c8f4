"""Test rows that show why two measures name different winners."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from simstudy.analysis.datasets.two_measures import Example, Reversal, Reversals, telling_row
from simstudy.arrays import FloatArray
from simstudy.engine.plan import Plan
from simstudy.engine.task import Task
from simstudy.errors import SimstudyError
from simstudy.results.read.ranked_answers import Answers, read_answers
from simstudy.sources.tables import Tables

if TYPE_CHECKING:
    from simstudy.experiments.learners.data_results import DataResults

NO_ROW = "no row favors the second winner without counting against the first"


def with_examples(results: DataResults, reversals: Reversals, size: int) -> Reversals:
    """Add to each reversal a test row that explains it, or the reason why there is none."""
    names = (reversals.first, reversals.second)
    over_sets = [name for name in names if results.info(name).over != "row"]
    try:
        for reason, applies in (
            ("the study did not keep answers", not results.study.keep_answers),
            ("the study has third-party components, which would be executed", results.foreign),
            (f"{''.join(over_sets[:1])} has no value for a single row", over_sets),
        ):
            if applies:
                raise SimstudyError(reason)
        results._tables()  # refused if they have changed
        plan, answers = results._plan, read_answers(results)
    except SimstudyError as error:
        unexplained = (replace(each, no_example=str(error)) for each in reversals.cases)
        return replace(reversals, cases=tuple(unexplained))
    measures = {spec.label: spec for spec in plan.measured}
    plan = replace(plan, measured=tuple(measures[name] for name in names))
    signs = np.array([1.0 if results.info(name).greater_is_better else -1.0 for name in names])
    shown = (_shown(reversal, plan, size, answers, signs) for reversal in reversals.cases)
    return replace(reversals, cases=tuple(shown))


def _shown(
    reversal: Reversal, plan: Plan, size: int, answers: Answers, signs: FloatArray
) -> Reversal:
    """Return a reversal with the most telling row of all splits."""
    best: Example | None = None
    source = plan.source
    assert isinstance(source, Tables)
    for model, part in enumerate(source.parts):
        key = (part.dataset, part.repeat, part.fold, source.rows(model, size))
        winners = [(*key, name) for name in (reversal.winner_first, reversal.winner_second)]
        if part.dataset != reversal.dataset or not all(winner in answers for winner in winners):
            continue
        first, second = (answers[winner] for winner in winners)
        task = Task(plan, model)
        values = np.array([task.row_values(answer.proba, size) for answer in (first, second)])
        with np.errstate(invalid="ignore"):  # infinite values of both
            ahead = signs[:, None] * (values[[0, 1], [0, 1]] - values[[1, 0], [0, 1]])
        place = telling_row(*ahead)
        if place is None or (best and best.difference_second >= ahead[1][place]):
            continue
        labels = source.table(model).sample.class_names
        best = Example(
            int(source.split(plan.seed, model).test[place]),
            part.repeat,
            part.fold,
            labels[int(first.target[place])],
            dict(zip(labels, first.proba[place].tolist(), strict=True)),
            dict(zip(labels, second.proba[place].tolist(), strict=True)),
            *ahead[:, place].tolist(),
        )
    return replace(reversal, example=best, no_example="" if best else NO_ROW)
