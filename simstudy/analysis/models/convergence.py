"""The training size from which a learner is close to its limit."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd

from simstudy.analysis.models.difference_curves import PairCurve, complete_curve, decided, sizes_of
from simstudy.analysis.score_array import cells
from simstudy.analysis.tests.adjustment import check, check_share, largest

COLUMNS = [
    *("learner", "n", "infinite", "gap_smallest", "gap_largest", "m", "before", "after"),
    *("converged", "lower", "upper", "note"),
]


def converged(
    table: pd.DataFrame,
    limits: pd.DataFrame,
    within: float | None = None,
    fraction: float | None = None,
    value: str = "information_reward",
    greater_is_better: bool = True,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Find the size from which every learner is close to its limit.

    The gap is the limit minus the value. It is signed: a learner that is better than its limit,
    which is possible with few data if it cannot represent the truth, counts as close. Tests,
    brackets, estimates and intervals are those of `thresholds`, for the mean of `within` − gap or
    of `fraction` · (gap at the smallest size) − gap, adjusted for all learners at all sizes.

    Parameters
    ----------
    table, value, greater_is_better, confidence
        As in `thresholds`; for losses the gap is the value minus the limit.
    limits
        One row per subject and learner: the learner's value with unlimited data, in the column
        `value`.
    within
        Maximum mean gap, in units of `value`; give either this or `fraction`.
    fraction
        Maximum mean gap as a fraction, between 0 and 1, of the mean gap at the smallest size.

    Returns
    -------
    DataFrame
        One row per learner: the learner, `n`, `infinite`, `gap_smallest` and `gap_largest` (mean
        gaps at the two ends), `m`, the number of tests adjusted for; `before` and `after`, the last
        size at which the gap is too large by the adjusted test and the first from which it is small
        by every significant test; `converged`, the estimated size in between, with `lower` and
        `upper`, NaN without an estimate; `note` gives the reason.
        A warning is logged if a subject lacks a value or a limit.
    """
    check_share("confidence", confidence)
    if (within is None) == (fraction is None):
        raise ValueError("either within or fraction must be given, but not both")
    if fraction is not None:
        check_share("fraction", fraction)
    elif within is not None:
        check(0 < within < math.inf, "within", within, "be a positive number")
    every = cells(_with_limits(table, limits, value), "model", ("learner", "size"), value)
    sizes = sizes_of(every.levels[1][:-1])
    learners, ends = [], []
    for level, name in enumerate(every.levels[0]):
        scores = every.array[:, level]
        gaps = scores[:, -1:] - scores[:, :-1]
        gaps *= 1 if greater_is_better else -1
        allowed = gaps[:, :1] * fraction if fraction is not None else np.array(within)
        infinite = (every.infinite[:, level] != 0).any(axis=1)
        facts = complete_curve(allowed - gaps, largest(scores).max(), infinite, sizes)
        learner, mean = PairCurve(None, name, sizes, *facts), np.full(len(sizes), np.nan)
        if learner.curve is not None:
            mean = gaps[np.isfinite(gaps).all(axis=1)].mean(axis=0)
            if fraction is not None and mean[0] <= 0:
                note = f"not analysed: no gap at {sizes[0]:g}, the smallest size"
                learner = replace(learner, curve=None, note=note)
        learners.append(learner)
        ends.append({"gap_smallest": float(mean[0]), "gap_largest": float(mean[-1])})
    m = len(sizes) * sum(learner.curve is not None for learner in learners)
    rows = [_row(decided(learner, m, confidence), m) for learner in learners]
    blank = dict.fromkeys(COLUMNS, math.nan)
    filled = [blank | gaps | row for gaps, row in zip(ends, rows, strict=True)]
    result = pd.DataFrame(filled, columns=COLUMNS)
    every.left_out("left out of the convergence of cells without a value", False)
    return result


def _with_limits(table: pd.DataFrame, limits: pd.DataFrame, value: str) -> pd.DataFrame:
    """Return the table with the limits as values at size ∞."""
    for column in ("model", "learner", value):
        if column not in limits.columns:
            columns = ", ".join(map(str, limits.columns))
            raise ValueError(f"the limits have no column {column!r}; they have: {columns}")
    if not {"model", "learner", "size", value} <= set(table.columns):
        return table  # raises an error later, with the names
    for name in table["learner"].unique():
        if name not in limits["learner"].to_numpy():
            raise ValueError(f"the limits have no row for learner {name!r}")
    used = limits[limits["learner"].isin(table["learner"]) & limits["model"].isin(table["model"])]
    # With dtype object, sizes stay integers beside the infinite one.
    both = [table.astype({"size": object}), used.assign(size=math.inf)]
    kept = ["model", "learner", "size", value, "status"]
    return pd.concat([part.assign(status=part.get("status", "ok"))[kept] for part in both])


def _row(learner: PairCurve, m: int) -> dict[str, object]:
    """Return the row of a learner in the table of `converged`."""
    row = {"learner": learner.second, "n": learner.n, "infinite": learner.infinite}
    if learner.curve is None:
        return row | {"note": learner.note}
    row |= {"m": m}
    signs = np.array(learner.signs)
    if learner.changes and (change := learner.changes[-1]).ahead == learner.second:
        row |= {key: getattr(change, key) for key in ("before", "after", "lower", "upper", "note")}
        return row | {"converged": change.crossing}
    if not signs.any():
        return row | {"note": "no significant test at any size"}
    last = np.flatnonzero(signs)[-1]
    if signs[last] > 0:
        return row | {"note": "close at every size with a significant test"}
    note = f"not close at {learner.sizes[last]:g}, the largest size with a significant test"
    return row | {"note": note}
