"""Confidence intervals of the mean in each cell, and exact intervals and tests of shares."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import bdtr, betaincinv, ndtri, stdtr

from simstudy.analysis.score_array import cells, complete_subjects
from simstudy.analysis.tests import adjustment as stats
from simstudy.arrays import ArrayLike, FloatArray, IntArray

ADJUSTMENTS = ("bonferroni", "bonferroni_within", "none")
METHODS = ("cell", "cousineau-morey")


def intervals(
    table: pd.DataFrame,
    subject: str = "model",
    within: Sequence[str] = ("learner", "size"),
    value: str = "information_reward",
    confidence: float = 0.95,
    adjustment: str = "bonferroni",
    method: str = "cell",
    complete: bool = False,
    share: bool = False,
) -> pd.DataFrame:
    """Return the mean of every cell with a t interval, or a binomial one of a share.

    Parameters
    ----------
    table
        One row per subject and cell.
    subject, within, value
        Columns of the subjects, the factors and the values.
    confidence
        Simultaneous confidence of the family of intervals given by `adjustment`.
    adjustment
        ``"bonferroni"``: over all cells; ``"bonferroni_within"``: over the levels of the first
        factor, simultaneous at each level of the others; ``"none"``.
    method
        ``"cell"``: from the variance between subjects in the cell; all subjects with a finite
        value there are used, so `n` may differ between cells. ``"cousineau-morey"``: from the
        variance after removing the subjects' means (Cousineau 2005), multiplied by C/(C − 1) for
        C cells (Morey 2008); only complete subjects are used.
    complete
        For the method ``"cell"``: use only subjects without missing values, so that all means
        are over the same subjects.
    share
        For the method ``"cell"``: whether the values are shares, from 0 to 1, with limits from
        `share_interval`.

    Returns
    -------
    DataFrame
        One row per cell: the factors, `n`, `mean`, `se` (the Monte-Carlo standard error of the
        mean for the method ``"cell"``), `df`, `m` (intervals in the family), `t_crit`, `lower`,
        `upper` (mean ∓ t_crit · se, unless it is a share), `infinite` (number of infinite values;
        if any, the mean is infinite without interval), `method`. A warning is logged if a subject
        lacks a value.
    """
    stats.check_option("adjustment", adjustment, ADJUSTMENTS)
    stats.check_option("method", method, METHODS)
    stats.check_share("confidence", confidence)
    if share and method != "cell":
        raise ValueError(f"shares have no intervals by the method {method!r}")
    if method == "cell":
        every = cells(table, subject, within, value)
        levels, values = every.levels, every.array.reshape(len(every.subjects), -1)
        infinite = every.infinite.reshape(len(every.subjects), -1)
        every.left_out("left out of the intervals of cells without a value", False)
        if complete:
            kept = (np.isfinite(values) | (infinite != 0)).all(axis=1)
            if not kept.any():
                raise ValueError(f"no {subject} has a value of {value} in every cell")
            values, infinite = values[kept], infinite[kept]
        n, mean, se, df = stats.mean_and_se(values, stats.largest(values))
    else:
        array, levels, _, _ = complete_subjects(table, subject, within, value)
        values = array.reshape(len(array), -1)
        infinite = np.zeros_like(values)
        count, scale = values.shape[1], stats.largest(values).max()
        if count < 2:
            raise ValueError(f"the method {method!r} needs at least two cells, and there is one")
        # Every subject's mean is shifted to the grand mean; Morey's correction makes up for it.
        moved = values - values.mean(axis=1, keepdims=True) + values.mean()
        n, mean, se, df = stats.mean_and_se(moved, scale)
        se = se * float(np.sqrt(count / (count - 1)))
    families = {"bonferroni": math.prod(map(len, levels)), "bonferroni_within": len(levels[0])}
    m = families.get(adjustment, 1)
    t_crit = stats.critical_t(confidence, m, df)
    lower, upper = mean - t_crit * se, mean + t_crit * se
    if share:
        _, lower, upper = share_interval(values, confidence, m)

    result = pd.DataFrame(list(itertools.product(*levels)), columns=[*within])
    result = result.assign(n=n, mean=mean, se=se, df=df, m=m, t_crit=t_crit)
    result = result.assign(lower=lower, upper=upper)
    result = result.assign(infinite=(infinite != 0).sum(axis=0), method=method)
    result["mean"] = stats.with_infinities(mean, infinite)
    result.loc[result["infinite"] > 0, ["se", "lower", "upper"]] = np.nan
    return result


def clopper_pearson(
    successes: ArrayLike, n: ArrayLike, confidence: float, m: int | IntArray = 1
) -> tuple[FloatArray, FloatArray]:
    """Return the exact binomial limits of a share (Clopper & Pearson 1934).

    Parameters
    ----------
    successes, n
        Counts, which need not be whole numbers; without trials (n = 0) the limits are 0 and 1.
    confidence, m
        The level is 1 − (1 − confidence)/m: Bonferroni's for m intervals.
    """
    k, trials = np.broadcast_arrays(np.asarray(successes, float), np.asarray(n, float))
    failures, tail = trials - k, (1 - confidence) / (2 * m)
    # Failures have the tail that keeps the precision of 1 − tail.
    lower = np.where(k > 0, betaincinv(np.where(k > 0, k, 1.0), failures + 1, tail), 0.0)
    rest = betaincinv(np.where(failures > 0, failures, 1.0), k + 1, tail)
    return lower, np.where(failures > 0, 1 - rest, 1.0)


def share_interval(
    values: FloatArray, confidence: float, m: int | IntArray = 1
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean share of every column with a binomial interval over subjects.

    The interval is Clopper & Pearson's for the effective number of subjects. Values of 0 and 1
    have their number, so the interval is exact. For shares of several trials of each subject it
    is that of Korn & Graubard (1998), p(1 − p)/se² times (z/t)² with n − 1 degrees of freedom. It
    is at least n, since no share varies more between subjects than values of 0 and 1 do, and n
    if all subjects have the same share.

    Parameters
    ----------
    values
        Subjects × columns, from 0 to 1; NaN is ignored.
    confidence, m
        As in `clopper_pearson`.

    Returns
    -------
    mean, lower, upper
        Fewer than two subjects have no interval.

    References
    ----------
    E. L. Korn & B. I. Graubard (1998). Confidence intervals for proportions with small expected
    number of positive counts estimated from survey data. Survey Methodology 24, 193–201.
    """
    n, mean, se, df = stats.mean_and_se(values, 1.0)
    ratio = -ndtri((1 - confidence) / (2 * m)) / stats.critical_t(confidence, m, df)
    effective = n.astype(np.float64)
    np.divide(mean * (1 - mean) * ratio**2, se**2, out=effective, where=se > 0)
    effective = np.maximum(effective, n)
    lower, upper = clopper_pearson(mean * effective, effective, confidence, m)
    return mean, np.where(n < 2, np.nan, lower), np.where(n < 2, np.nan, upper)


def paired_share(
    first: FloatArray, second: FloatArray, confidence: float, m: int | IntArray = 1
) -> tuple[FloatArray, ...]:
    """Return the test and the interval of the mean difference of paired shares.

    Values of 0 and 1 are tested by the exact test of McNemar. The difference is the share λ of
    subjects whose values differ times 2θ − 1, where θ is the share of these in which the first is
    greater; its interval combines the limits of Clopper & Pearson for λ and θ, so that it excludes
    0 if and only if p is below the level. Other shares are tested by Student's t, with limits
    within [−1, 1]. If all differences of a column are equal, the sign test takes its place, and λ
    is their absolute value.

    Parameters
    ----------
    first, second
        Subjects × columns, from 0 to 1; subjects with NaN in either are ignored.
    confidence, m
        As in `clopper_pearson`.

    Returns
    -------
    t, p, lower, upper
        t is NaN where the test is exact; p is not adjusted for m, and NaN if all differences are 0.
        Fewer than two subjects have neither test nor interval.
    """
    differences = first - second
    differences = np.where(np.abs(differences) <= stats.ROUNDING, 0.0, differences)
    n, mean, se, df = stats.mean_and_se(differences, 1.0)
    half = stats.critical_t(confidence, m, df) * se
    t = np.divide(mean, se, out=np.full_like(mean, np.nan), where=se > 0)
    p, lower, upper = 2 * stdtr(df, -np.abs(t)), mean - half, mean + half

    values = np.stack([first, second])
    counted = bool(np.all((values == 0) | (values == 1) | np.isnan(values)))
    exact = counted | (se == 0)
    wins, losses = (differences > 0).sum(axis=0), (differences < 0).sum(axis=0)
    unequal = wins + losses
    tail = bdtr(np.minimum(wins, losses), unequal, 0.5)
    t = np.where(exact, np.nan, t)
    p = np.where(exact, np.where(unequal > 0, np.minimum(2 * tail, 1), np.nan), p)
    theta = clopper_pearson(wins, unequal, confidence, m)
    size = clopper_pearson(np.nansum(np.abs(differences), axis=0), n, confidence, m)
    low, high = 2 * theta[0] - 1, 2 * theta[1] - 1
    lower = np.where(exact, low * np.where(low > 0, *size), np.maximum(lower, -1))
    upper = np.where(exact, high * np.where(high > 0, *size[::-1]), np.minimum(upper, 1))
    return tuple(np.where(n < 2, np.nan, numbers) for numbers in (t, p, lower, upper))
