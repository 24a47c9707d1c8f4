"""Add sizes around crossings, to locate where one learner overtakes another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from simstudy.engine.plan import Plan
from simstudy.engine.task import CellKey
from simstudy.results.store import Store

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.results.results import Results
    from simstudy.study.sections import Analysis

_MAX_ROUNDS = 20

Compute = Callable[[Plan, Mapping[int, list[CellKey]]], object]


def refine(results: Results, plan: Plan, store: Store, tests: Analysis, compute: Compute) -> bool:
    """Add sizes around each crossing of the primary measure; whether that changes the results.

    Each round adds sizes for the learners concerned, on all models. They depend on the scores
    only, so that a resumed run adds the same sizes. ``tests`` has the confidence and adjustment of
    the tests between learners; ``compute`` computes and saves the given cells of each model.
    """
    import pandas as pd

    learners: dict[int, set[str]] = {}
    table = results.scores
    for _ in range(_MAX_ROUNDS):
        proposed = _proposed(results, table, tests)
        new = {size: proposed[size] - learners.get(size, set()) for size in proposed}
        if not any(new.values()):
            break
        for size, labels in new.items():
            learners.setdefault(size, set()).update(labels)
        wide = plan.at_doses(sorted(learners))
        missing = {
            model: [(size, label) for size, label in keys if label in learners[size]]
            for model, keys in store.cells.todo(wide).items()
        }
        if missing := {model: keys for model, keys in missing.items() if keys}:
            compute(wide, missing)
        added = store.cells.columns(wide).scores(learners).to_pandas()
        table = pd.concat([results.scores, added], ignore_index=True)
    wide = plan.at_doses(sorted(learners))
    return store.write_refined(plan, wide, learners)


def _proposed(results: Results, table: pd.DataFrame, tests: Analysis) -> dict[int, set[str]]:
    """The sizes to add next, and for which learners."""
    from simstudy.analysis.refinement import sizes_to_add
    from simstudy.analysis.thresholds import compared

    if len(results.treatments) < 2 or len(results.doses) < 2:
        return {}
    pairs = compared(
        table,
        value=results.measures[0],
        greater_is_better=results.info().greater_is_better,
        confidence=tests.confidence,
        adjustment=tests.adjustment,
        share=results.info().share,
    )
    return sizes_to_add(pairs, results.study.doses)
