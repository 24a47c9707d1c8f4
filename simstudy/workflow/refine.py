"""Add sizes around crossings, to locate where one learner overtakes another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from simstudy.engine.plan import Plan
from simstudy.engine.task import CellKey
from simstudy.results.store.store import Store

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.results.read.open import Results

_MAX_ROUNDS = 20

Compute = Callable[[Plan, Mapping[int, list[CellKey]]], object]


def refine(results: Results, plan: Plan, store: Store, compute: Compute) -> bool:
    """Add sizes around each crossing of the primary measure; whether that changes the results.

    Each round adds sizes for the learners concerned, on all models. They depend on the scores
    only, so that a resumed run adds the same sizes. ``compute`` computes and saves the given cells
    of each model.
    """
    import pandas as pd

    learners: dict[int, set[str]] = {}
    table = results.scores
    for _ in range(_MAX_ROUNDS):
        proposed = _proposed(results, table)
        new = {size: proposed[size] - learners.get(size, set()) for size in proposed}
        if not any(new.values()):
            break
        for size, labels in new.items():
            learners.setdefault(size, set()).update(labels)
        wide = plan.experiment.at_doses(plan, sorted(learners))
        missing = {
            model: concerned
            for model, keys in store.cells.todo(wide).items()
            if (concerned := [key for key in keys if key[1] in learners[key[0]]])
        }
        if missing:
            compute(wide, missing)
        added = store.cells.columns(wide).scores(learners).to_pandas()
        table = pd.concat([results.scores, added], ignore_index=True)
    wide = plan.experiment.at_doses(plan, sorted(learners))
    return store.write_refined(plan, wide, learners)


def _proposed(results: Results, table: pd.DataFrame) -> dict[int, set[str]]:
    """The sizes to add next, and for which learners."""
    from simstudy.analysis.models.thresholds import compared, sizes_to_add

    if len(results.treatments) < 2 or len(results.doses) < 2:
        return {}
    info, tests = results.info(), results.study.analysis
    pairs = compared(
        table,
        value=results.measures[0],
        greater_is_better=info.greater_is_better,
        confidence=tests.confidence,
        adjustment=tests.adjustment,
        share=info.share,
    )
    return sizes_to_add(pairs, results.study.doses)
