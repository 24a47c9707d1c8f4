"""Monte Carlo standard errors, power, and the number of models needed."""

import bisect
import itertools
import math
from functools import partial

import numpy as np
import pandas as pd
from scipy.special import nctdtr

from simstudy.analysis.score_array import cells
from simstudy.analysis.tests import adjustment as stats
from simstudy.analysis.tests.pairwise import paired_values

MAX_MODELS = 10**12  # upper limit of the search for a power


def precision(
    table: pd.DataFrame,
    value: str = "information_reward",
    mcse: float | None = None,
    complete: bool = False,
) -> pd.DataFrame:
    """Return the Monte Carlo standard error of every mean and every paired difference.

    Parameters
    ----------
    table
        One row per `model`, `learner` and `size`. A single learner has means but no differences.
    value
        Column of the values.
    mcse
        The target standard error.
    complete
        For the means: use only subjects without missing values, as in `intervals`. Differences
        always use the subjects that have both values.

    Returns
    -------
    DataFrame
        One row per cell in the order of `intervals` (`kind` is "mean"), then one per pair in the
        order of `pairwise` ("difference"): `kind`, `size`, `first`, `second` (empty
        for a mean), `n`, `estimate`, `sd` (between subjects, of their values or differences),
        `mcse` (sd/√n) and `mcse_error`, the relative standard error of sd and mcse, 1/√(2(n − 1)),
        for approximately normal values. With `mcse` also `target` and `models_needed`, the number
        of subjects needed given the observed sd (see `models_needed`; its relative error is twice
        `mcse_error`). `infinite` is the number of subjects with an infinite value; if any, or if
        there are fewer than two subjects, sd and all that depends on it are NaN. A warning is
        logged if a subject lacks a value.
    """
    every = cells(table, "model", ("learner", "size"), value)
    levels, sizes = every.levels
    keys = [("mean", size, level, "") for level in levels for size in sizes]
    pairs = list(itertools.combinations(levels, 2))
    keys += [("difference", size, *pair) for size in sizes for pair in pairs]
    result = pd.DataFrame(keys, columns=["kind", "size", "first", "second"])

    means, above = (
        array.reshape(len(every.subjects), -1) for array in (every.array, every.infinite)
    )
    if complete:
        kept = (np.isfinite(means) | (above != 0)).all(axis=1, keepdims=True)
        if not kept.any():
            raise ValueError(f"no model has a value of {value} in every cell")
        means, above = np.where(kept, means, np.nan), np.where(kept, above, 0.0)
    first, second, opposed = paired_values(every)
    scale = np.append(stats.largest(means), np.maximum(stats.largest(first), stats.largest(second)))
    infinite = np.hstack([above, opposed])

    n, mean, se, _ = stats.mean_and_se(np.hstack([means, first - second]), scale)
    unmeasured = (infinite != 0).any(axis=0) | (n < 2)
    se = np.where(unmeasured, np.nan, se)
    sd = se * np.sqrt(n)
    error = np.where(unmeasured, np.nan, 1 / np.sqrt(2 * np.maximum(n - 1, 1)))
    result = result.assign(n=n, estimate=stats.with_infinities(mean, infinite), sd=sd, mcse=se)
    result = result.assign(mcse_error=error)
    if mcse is not None:
        needed = [pd.NA if np.isnan(spread) else models_needed(spread, mcse) for spread in sd]
        result = result.assign(target=mcse, models_needed=pd.array(needed, dtype="Int64"))
    result = result.assign(infinite=(infinite != 0).sum(axis=0))
    every.left_out("left out of the precision of cells without a value", False)
    return result


def models_needed(sd: float, mcse: float) -> int:
    """Return the number of models that a mean needs for a Monte Carlo standard error.

    Parameters
    ----------
    sd
        Standard deviation between models of the values or paired differences.
    mcse
        The standard error to reach.

    Returns
    -------
    int
        (sd/mcse)², rounded up; at least 2, as one model has no standard error.
    """
    stats.check(0 <= sd < math.inf, "sd", sd, "be a number of at least 0")
    stats.check(0 < mcse < math.inf, "mcse", mcse, "be a number above 0")
    # (0.06/0.005)² is 144 and not 144.00000000000003.
    return max(2, math.ceil((sd / mcse) ** 2 * (1 - 1e-12)))


def power(difference: float, sd: float, models: int, confidence: float = 0.95, m: int = 1) -> float:
    """Return the power of the two-sided paired t test.

    Parameters
    ----------
    difference
        The true mean difference.
    sd
        Standard deviation of the differences between models, assumed normal.
    models
        Number of models.
    confidence, m
        The level is (1 − confidence)/m: Bonferroni's for m tests.

    Returns
    -------
    float
        From the noncentral t distribution; for a difference of 0, the level. For sd = 0 the power
        is 1, or NaN if the difference is 0.
    """
    stats.check(0 <= sd < math.inf, "sd", sd, "be a number of at least 0")
    stats.check_share("confidence", confidence)
    stats.check(m >= 1, "m", m, "be at least 1")
    stats.check(models >= 2, "models", models, "be at least 2 for a paired t test")
    if sd == 0:
        return 1.0 if difference else math.nan
    df = models - 1
    (t,) = stats.critical_t(confidence, m, np.array([df])).tolist()
    shift = abs(difference) / sd * math.sqrt(models)
    # Both as lower tails: P(T > t) = P(−T < −t), with the noncentrality negated.
    near, far = float(nctdtr(df, -shift, -t)), float(nctdtr(df, shift, -t))
    # scipy returns NaN for some tails below 1e-13 (or, for a huge noncentrality, 1 minus that).
    return (1.0 if math.isnan(near) else near) + (0.0 if math.isnan(far) else far)


def models_for_power(
    difference: float, sd: float, target: float = 0.8, confidence: float = 0.95, m: int = 1
) -> int:
    """Return the smallest number of models that reaches a given power.

    Parameters
    ----------
    difference, sd, confidence, m
        As in `power`.
    target
        The power to reach.

    Raises
    ------
    ValueError
        If the difference is 0, or too small relative to sd for any feasible number of models.
    """
    stats.check_share("power", target)
    if not difference:
        raise ValueError("the difference is 0: no number of models would find it")
    reached, high = partial(power, difference, sd, confidence=confidence, m=m), 2
    while reached(high) < target:
        high *= 2
        if high > MAX_MODELS:
            raise ValueError(
                f"a difference of {difference!r} with sd {sd!r} needs over {MAX_MODELS:.0e} models"
            )
    least = high // 2 + 1  # half as many are too few
    return bisect.bisect_left(range(high), target, lo=least, key=reached)
