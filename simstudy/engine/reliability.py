"""Observed frequency against predicted probability, from cells that are run again.

Results hold scores but no predictions; every cell has its own random streams, so its predictions
can be reproduced exactly.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.engine.evaluation import Trial
from simstudy.engine.plan import Plan
from simstudy.engine.task import DRAWING, Task, prepare
from simstudy.errors import SimstudyError, describe
from simstudy.measures.base import modal_class

if TYPE_CHECKING:
    import pandas as pd

EVERY, MODAL = "every", "modal"
MAX_MODELS = 20
Level = TypeVar("Level", int, str)


class Repeated(NamedTuple):
    """Cells that were run again for their predictions."""

    table: pd.DataFrame  # one row per learner, size, model and bin; see `reliability`
    models: int
    test: str  # "exact" or "sampled"; with both tests, the exact one is used


def reliability(
    plan: Plan,
    models: int | None = None,
    size: int | Sequence[int] | None = None,
    bins: int = 10,
    *,
    learners: Collection[str] | None = None,
    classes: str = EVERY,
    stored: Mapping[Hashable, float] | None = None,
) -> Repeated:
    """Run cells again in this process and compare predictions with outcomes.

    The first ``models`` models are run (default: all, up to 20), at all training sizes and for all
    learners unless some are given. With ``stored``, the primary measure by cell (model, size,
    learner), only these cells are run, and must have that value. Probabilities fall into ``bins``
    bins of equal width; one on an edge belongs to the upper bin, 1 to the last. With
    ``classes="every"`` the probability of every class is compared with whether it was the true
    one; with ``"modal"`` only that of the most probable class, the first of several, as in
    ``miscalibration``.

    The table has one row for each learner, size, model and nonempty bin: `learner`, `size`,
    `model`, `bin`, `low` and `high` (its edges), `share` (the weight of the model's predictions in
    the bin; 1 over all bins), `predicted` (their mean), `observed` (how often the class was the
    true one) and `count`: predictions, one for each test row and class, or in an exact test one
    for each distinct attribute row and class.
    """
    import pandas as pd
    from threadpoolctl import threadpool_limits

    models = min(plan.problems, MAX_MODELS) if models is None else models
    sizes = _selected("size", [size] if isinstance(size, int) else size, plan.train_sizes)
    labels = _selected("learner", learners, [component.label for component in plan.learners])
    _check(plan, models, bins, classes)
    # Other measures are not needed; some require limits, which are slow.
    plan = replace(plan, measured=plan.measured[:1], keep_answers=True)
    prepare(plan)
    specs = [spec for spec in plan.learners if spec.label in labels]
    rows: list[tuple[object, ...]] = []
    with threadpool_limits(1):  # as in a run, for identical rounding
        for model in range(models):
            task = None
            for n, spec in product(sizes, specs):
                key = (model, n, spec.label)
                if stored is not None and key not in stored:
                    continue
                try:
                    task = task or Task(plan, model)
                    cell = task.run_cell(spec, n)
                except (Exception, SystemExit) as error:
                    raise _different(key, f"failed ({DRAWING}{describe(error)})") from error
                if cell.status != "ok":
                    raise _different(key, f"failed ({cell.error})")
                value = cell.values[0]  # noqa: PD011 (of a cell)
                before = value if stored is None else stored[key]
                if not np.isclose(value, before, rtol=1e-6, atol=1e-9, equal_nan=True):
                    name = plan.columns[0].name
                    raise _different(key, f"has a {name} of {value:.6g} instead of {before:.6g}")
                binned = _binned(*task.predictions(cell), bins, classes)
                rows += [(spec.label, n, model, *row) for row in binned]
    columns = ["learner", "size", "model", "bin", "low", "high"]
    columns += ["share", "predicted", "observed", "count"]
    return Repeated(pd.DataFrame(rows, columns=columns), models, plan.source.tests[0])


def _different(key: tuple[int, int, str], outcome: str) -> SimstudyError:
    model, size, label = key
    return SimstudyError(
        f"{label} on model {model} with {size:,} rows {outcome} when run again; "
        "these results were made by different code"
    )


def _binned(proba: FloatArray, test: Trial, bins: int, classes: str) -> Iterable[tuple[float, ...]]:
    """Predictions and outcomes of a cell, one row for each nonempty bin.

    Weights are first summed over equal attribute rows, so that exact and sampled tests are
    counted in the same way.
    """
    weights, happened, times = _totals(test, *proba.shape)
    if classes == MODAL:
        mode = modal_class(proba)[:, None]
        proba, happened = (np.take_along_axis(a, mode, axis=1) for a in (proba, happened))
    else:
        weights, happened = weights / proba.shape[1], happened / proba.shape[1]
    place = np.minimum((proba * bins).astype(np.intp), bins - 1).ravel()
    each = np.broadcast_to(weights[:, None], proba.shape)

    def total(values: FloatArray | IntArray) -> FloatArray:
        each_place = np.broadcast_to(values, proba.shape).ravel()
        return np.bincount(place, each_place, bins).astype(np.float64)

    share, predicted = total(each), total(each * proba)
    hits, count = total(happened), total(times[:, None])
    filled = np.flatnonzero(share)
    means = (sums[filled] / share[filled] for sums in (predicted, hits))
    counts = np.rint(count[filled]).astype(np.intp)
    columns = (filled, filled / bins, (filled + 1) / bins, share[filled], *means, counts)
    return zip(*(column.tolist() for column in columns), strict=True)


def _totals(test: Trial, rows: int, classes: int) -> tuple[FloatArray, FloatArray, IntArray]:
    """The weight of each distinct attribute row, in all and with each class, and its count."""
    each = np.ones(len(test.rows)) if test.weights is None else test.weights
    happened = np.bincount(test.rows * classes + test.target, each, rows * classes)
    happened = (happened / each.sum()).reshape(rows, classes)
    weights: FloatArray = happened.sum(axis=1)
    times = np.bincount(test.rows, minlength=rows)
    return weights, happened, times if test.weights is None else (weights > 0).astype(np.intp)


def _selected(kind: str, wanted: Collection[Level] | None, levels: Sequence[Level]) -> list[Level]:
    """The requested sizes or learners, in the order of the study."""
    for level in wanted or ():
        if level not in levels:
            listed = ", ".join(map(str, levels))
            raise SimstudyError(f"the study has no {kind} {level!r}; it has {listed}")
    return [level for level in levels if wanted is None or level in wanted]


def _check(plan: Plan, models: int, bins: int, classes: str) -> None:
    """Refuse arguments out of range."""
    if not 1 <= models <= plan.problems:
        raise SimstudyError(f"models is {models}; it must be from 1 to {plan.problems}")
    if bins < 1:
        raise SimstudyError(f"bins is {bins}; it must be at least 1")
    if classes not in (EVERY, MODAL):
        raise SimstudyError(f"classes is '{classes}'; it must be '{EVERY}' or '{MODAL}'")
