"""The estimates of a comparison of estimators, as a table."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

import numpy as np

from simstudy.arrays import AnyArray, FloatArray
from simstudy.engine.plan import Plan
from simstudy.estimators.estimate import INTERVALS

VALUES = ("estimate", "exact", "mean", "mean_error")
BOUNDS = tuple(f"{end}_{name}" for name in INTERVALS for end in ("lower", "upper"))
COLUMNS = ("model", "size", "estimator", "learner", "measure", *VALUES, *BOUNDS)


def read_estimates(plan: Plan, text: str) -> FloatArray:
    """The estimates that a cell keeps: rows are learners with measures; raises ValueError."""
    try:
        values = np.array(json.loads(text), dtype=np.float64)
    except (TypeError, OverflowError, RecursionError) as error:
        raise ValueError("the estimates of a cell are damaged") from error
    if values.shape != (len(plan.learners) * len(plan.measured), len(VALUES) + len(BOUNDS)):
        raise ValueError("the estimates of a cell are damaged")
    return values


def estimate_columns(
    plan: Plan, keys: list[tuple[int, str]], kept: Mapping[int, str]
) -> dict[str, list[str] | AnyArray]:
    """The estimates of all cells: one entry per model, size, estimator, learner and measure.

    Parameters
    ----------
    plan : Plan
        The plan of a comparison of estimators.
    keys : list of (size, label)
        The cells of a model in their order.
    kept : mapping
        What the cells keep, by their position.
    """
    each = [(one.label, other.label) for one in plan.learners for other in plan.measured]
    cells = [(model, *key) for model in range(plan.problems) for key in keys]
    values = np.full((len(cells), len(each), len(VALUES) + len(BOUNDS)), math.nan)
    for place, text in kept.items():
        values[place] = read_estimates(plan, text)
    flat = values.reshape(len(cells) * len(each), -1)
    return {
        "model": np.repeat(np.array([cell[0] for cell in cells], np.int64), len(each)),
        "size": np.repeat(np.array([cell[1] for cell in cells], np.int64), len(each)),
        "estimator": [cell[2] for cell in cells for _ in each],
        "learner": [pair[0] for _ in cells for pair in each],
        "measure": [pair[1] for _ in cells for pair in each],
        **{name: flat[:, at] for at, name in enumerate((*VALUES, *BOUNDS))},
    }
