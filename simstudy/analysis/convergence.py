"""From which size on is a learner close to its limit?"""

import math
from typing import Any

import numpy as np
import pandas as pd

from simstudy.analysis.adjustment import check_confidence, largest
from simstudy.analysis.complete import cells, records
from simstudy.analysis.curves import Curve, complete_curve, found_crossings, frame_of, sizes_of
from simstudy.arrays import FloatArray


def converged(
    table: pd.DataFrame,
    limits: pd.DataFrame,
    within: float | None = None,
    fraction: float | None = None,
    subject: str = "model",
    factor: str = "learner",
    size: str = "size",
    value: str = "information_reward",
    greater_is_better: bool = True,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Find the size from which on every learner is close to its limit.

    The gap, the limit less the value, is linear in log n between the sizes, subject by subject.
    It is signed: a learner that is better than its limit, as one that cannot represent the truth
    may be with few data, is close.
    Crossings, intervals and open limits are those of `thresholds`, for the mean of `within` − gap
    or of `fraction` · (gap at the smallest size) − gap.

    Parameters
    ----------
    table, subject, factor, size, value, greater_is_better, confidence
        As in `thresholds`; for losses the gap is the value less the limit.
    limits
        One row per subject and learner: what the learner reaches with unlimited data, in the
        column `value`.
    within
        How large the mean gap may be, in units of `value`; either this or `fraction` is given.
    fraction
        How large it may be as a part, between 0 and 1, of the mean gap at the smallest size.

    Returns
    -------
    DataFrame
        One row per learner: the learner, `n`, `infinite`, `gap_smallest` and `gap_largest` (mean
        gaps at the two ends), `converged`: the size of the last crossing, if the gap stays small
        from there to the largest size; else NaN, and `note` says why. `lower`, `upper`,
        `lower_open`, `upper_open`, `before`, `after` and `undecided` are those of `thresholds`.
        ``attrs["left_out"]`` lists the subjects that lack a value or a limit.
    """
    check_confidence(confidence)
    _check_closeness(within, fraction)
    joined = _with_limits(table, limits, subject, factor, size, value)
    every = cells(joined, subject, (factor, size), value)
    sizes = sizes_of(size, every.levels[1][:-1])
    rows = []
    for level, name in enumerate(every.levels[0]):
        scores = every.array[:, level]
        gaps = scores[:, -1:] - scores[:, :-1]
        gaps *= 1 if greater_is_better else -1
        allowed = gaps[:, :1] * fraction if fraction is not None else np.array(within)
        infinite = (every.infinite[:, level] != 0).any(axis=1)
        learner, row = complete_curve(allowed - gaps, largest(scores).max(), infinite, sizes)
        row[factor] = name
        if learner is not None:
            row["gap_smallest"], row["gap_largest"] = _mean_ends(gaps)
            if fraction is not None and row["gap_smallest"] <= 0:
                row["note"] = f"not analysed: no gap at {sizes[0]:g}, the smallest size"
            else:
                row |= _convergence(learner, confidence)
        rows.append(row)
    columns = [factor, "n", "infinite", "gap_smallest", "gap_largest", "converged"]
    columns += ["lower", "upper", "lower_open", "upper_open", "before", "after", "undecided"]
    result = frame_of(rows, [*columns, "note"])
    left_out = every.left_out("left out of the convergence of cells without a value", False)
    result.attrs |= {"left_out": records(left_out), "confidence": confidence}
    return result


def _with_limits(
    table: pd.DataFrame, limits: pd.DataFrame, subject: str, factor: str, size: str, value: str
) -> pd.DataFrame:
    """Return the table with the limits as values at the size ∞."""
    for column in (subject, factor, value):
        if column not in limits.columns:
            known = ", ".join(map(str, limits.columns))
            raise ValueError(f"the limits have no column {column!r}; they have: {known}")
    if not {subject, factor, size, value} <= set(table.columns):
        return table  # to be refused, with the names
    for name in table[factor].unique():
        if name not in limits[factor].to_numpy():
            raise ValueError(f"the limits have no row for {factor} {name!r}")
    used = limits[limits[factor].isin(table[factor]) & limits[subject].isin(table[subject])]
    # As objects the sizes stay whole numbers beside the infinite one.
    both = [table.astype({size: object}), used.assign(**{size: math.inf})]
    columns = [subject, factor, size, value, "status"]
    return pd.concat([part.assign(status=part.get("status", "ok"))[columns] for part in both])


def _check_closeness(within: float | None, fraction: float | None) -> None:
    """Refuse both or none of the two ways to say what is close, and what says nothing."""
    if (within is None) == (fraction is None):
        raise ValueError("either within or fraction must be given, and not both")
    if within is not None and not 0 < within < math.inf:
        raise ValueError(f"within is {within!r}; it must be a positive number")
    if fraction is not None and not 0 < fraction < 1:
        raise ValueError(f"fraction is {fraction!r}; it must lie between 0 and 1")


def _mean_ends(gaps: FloatArray) -> tuple[float, float]:
    """Return the means of the first and the last column over the rows without NaN."""
    mean = gaps[np.isfinite(gaps).all(axis=1)].mean(axis=0)
    return float(mean[0]), float(mean[-1])


def _convergence(learner: Curve, confidence: float) -> dict[str, Any]:
    """Return what a row says of the size from which on a curve stays above 0."""
    crit = learner.t_crit(confidence)
    undecided = {"undecided": bool(learner.undecided(crit))}
    found = list(found_crossings(learner, crit))
    if found and found[-1][0] > 0:
        row = found[-1][1]
        return undecided | row | {"converged": row["crossing"]}
    if (learner.mean > 0).any() and not found:
        return undecided | {"note": f"close at all sizes from {learner.sizes[0]:g} on"}
    return undecided | {"note": f"not close at {learner.sizes[-1]:g}, the largest size"}
