"""Confidence intervals of the mean in every cell, for learning curves and tables."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from simstudy.analysis.adjustment import (
    check_confidence,
    check_option,
    critical_t,
    largest,
    mean_and_se,
    with_infinities,
)
from simstudy.analysis.complete import cells, complete_subjects, factor_names
from simstudy.analysis.shares import share_interval

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
    check_option("adjustment", adjustment, ADJUSTMENTS)
    check_option("method", method, METHODS)
    check_confidence(confidence)
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
        n, mean, se, df = mean_and_se(values, largest(values))
    else:
        array, levels, _, _ = complete_subjects(table, subject, within, value)
        values = array.reshape(len(array), -1)
        infinite = np.zeros_like(values)
        count, scale = values.shape[1], largest(values).max()
        if count < 2:
            raise ValueError(f"the method {method!r} needs at least two cells, and there is one")
        # Every subject's mean is shifted to the grand mean; Morey's correction makes up for it.
        moved = values - values.mean(axis=1, keepdims=True) + values.mean()
        n, mean, se, df = mean_and_se(moved, scale)
        se = se * float(np.sqrt(count / (count - 1)))
    families = {"bonferroni": math.prod(map(len, levels)), "bonferroni_within": len(levels[0])}
    m = families.get(adjustment, 1)
    t_crit = critical_t(confidence, m, df)
    lower, upper = mean - t_crit * se, mean + t_crit * se
    if share:
        _, lower, upper = share_interval(values, confidence, m)

    result = pd.DataFrame(list(itertools.product(*levels)), columns=list(factor_names(within)))
    result = result.assign(n=n, mean=mean, se=se, df=df, m=m, t_crit=t_crit)
    result = result.assign(lower=lower, upper=upper)
    result = result.assign(infinite=(infinite != 0).sum(axis=0), method=method)
    result["mean"] = with_infinities(mean, infinite)
    result.loc[result["infinite"] > 0, ["se", "lower", "upper"]] = np.nan
    return result
