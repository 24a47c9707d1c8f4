"""Average ranks of learners over models, with Friedman and Nemenyi tests (Demšar 2006)."""

import math
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import chdtrc

from simstudy.analysis.score_array import LeftOut, Level, complete_subjects
from simstudy.analysis.tests import friedman
from simstudy.analysis.tests.adjustment import check_share


@dataclass(frozen=True)
class Ranks:
    """Average ranks with Friedman's and Nemenyi's tests.

    Attributes
    ----------
    table : DataFrame
        One row per learner, as `rank` describes it.
    n, k : int
        The numbers of subjects and learners.
    at
        The level of the ranking; None for averages over all levels.
    confidence : float
        Simultaneous confidence of the comparisons of all pairs.
    chi2, df, p : float
        Friedman's test, corrected for ties.
    tie_correction : float
        The divisor for ties (1 without ties); ``chi2 * tie_correction`` is the statistic in
        Demšar's paper.
    F, df1, df2, p_F : float
        Iman & Davenport's (1980) version of it.
    method : str
        Where both p come from: ``"exact"`` or ``"permutation"`` up to 15 subjects, when they are
        the same, else ``"approximate"``.
    q, critical_difference : float
        Nemenyi's test, ``q · sqrt(k(k + 1)/(6n))`` with q the quantile of the studentized range of
        k means, infinite degrees of freedom, over √2.
    groups : list of list
        Maximal groups of two or more learners that do not differ significantly.
    left_out : list of LeftOut
        The incomplete subjects.
    """

    table: pd.DataFrame
    n: int
    k: int
    at: Level
    confidence: float
    chi2: float
    df: int
    p: float
    tie_correction: float
    F: float
    df1: int
    df2: int
    p_F: float  # noqa: N815 (of the F above)
    method: str
    q: float
    critical_difference: float
    groups: list[list[Hashable]]
    left_out: list[LeftOut]


def rank(
    table: pd.DataFrame,
    value: str = "information_reward",
    at: Level = None,
    greater_is_better: bool = True,
    confidence: float = 0.95,
) -> Ranks:
    """Rank the learners in every model, average the ranks, and test whether they differ.

    Parameters
    ----------
    table
        One row per `model`, `learner` and `size`.
    value
        Column of the values.
    at
        The size to rank at; by default, each subject's averages over all levels are
        ranked.
    greater_is_better
        False for losses. The best learner of a model has rank 1.
    confidence
        Simultaneous confidence of all comparisons: 1 − α of the critical difference.

    Returns
    -------
    Ranks
        Its table has one row per learner, the best first: the learner, `rank` (the average), `n`
        (subjects), and `not_told_apart`: the number of other learners whose average rank is within
        the critical difference.

    Raises
    ------
    ValueError
        If there are fewer than two learners or complete subjects, or no such level.

    Notes
    -----
    Values that are equal up to rounding get the mean of their ranks. If all values of every
    subject are equal, chi2, F and their p values are NaN.
    """
    check_share("confidence", confidence)
    chosen = table if at is None else table[table["size"] == at]
    if chosen.empty and at is not None:
        sizes = ", ".join(map(str, dict.fromkeys(table["size"])))
        raise ValueError(f"the column 'size' has no {at!r}; it has: {sizes}")
    values, levels, _, left_out = complete_subjects(chosen, "model", ("learner", "size"), value)
    n, k = values.shape[:2]
    if k < 2:
        raise ValueError(f"the factor 'learner' has one level ({levels[0][0]}): nothing to rank")
    if n < 2:
        raise ValueError(
            f"only one model has a finite {value} in every cell; ranks need at least two"
        )
    ranks = friedman.ranks_in_rows(values.reshape(n, k, -1).mean(axis=2), greater_is_better)
    means = ranks.mean(axis=0)
    q, critical = friedman.critical_difference(n, k, confidence)
    order = np.argsort(means, kind="stable")
    near = np.abs(means[:, None] - means) < critical
    result = pd.DataFrame({"learner": [levels[0][place] for place in order], "rank": means[order]})
    result = result.assign(n=n, not_told_apart=near.sum(axis=1)[order] - 1)
    groups = [
        result["learner"].iloc[low:high].tolist()
        for low, high in friedman.runs(means[order], critical)
    ]
    plain, correction = friedman.friedman_statistic(ranks)
    chi2 = plain / correction if correction > 0 else math.nan
    F, p_F = friedman.iman_davenport_statistic(chi2, n, k)
    df1, df2 = k - 1, (k - 1) * (n - 1)
    p, method = float(chdtrc(df1, chi2)), "approximate"
    if not math.isnan(chi2):
        p, method = friedman.permutation_p(ranks, "auto", p)
        p_F = p_F if method == "approximate" else p
    tests = (chi2, df1, p, correction, F, df1, df2, p_F, method)
    return Ranks(result, n, k, at, confidence, *tests, q, critical, groups, left_out)
