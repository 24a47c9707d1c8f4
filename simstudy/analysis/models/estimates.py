"""Bias, error and coverage of estimates of performance."""

import math
from collections.abc import Hashable, Iterator

import numpy as np
import pandas as pd

from simstudy.analysis.tests.adjustment import check_option, check_share
from simstudy.analysis.tests.intervals import clopper_pearson
from simstudy.arrays import FloatArray, IntArray

TARGETS = ("exact", "mean")
KEYS = ["size", "estimator", "learner", "measure"]
LOWER = "lower_"


def quality(estimates: pd.DataFrame, target: str = "exact") -> pd.DataFrame:
    """Return bias, standard deviation, RMSE and correlation with the truth.

    Parameters
    ----------
    estimates
        One row per model, size, estimator, learner and measure: the columns `estimate`, `exact`
        and `mean`.
    target
        ``"exact"``, the value of the classifier trained on the rows available, or ``"mean"``, its
        mean over training sets.

    Returns
    -------
    DataFrame
        One row per size, estimator, learner and measure, over models: `n`, `bias` (the mean error)
        and `bias_mcse`, `sd` of the error, `rmse` and `rmse_mcse`, its Monte-Carlo standard error,
        and `correlation` of estimate and truth. The squared RMSE is that of the bias plus
        (n − 1)/n times that of the sd.
    """
    check_option("target", target, TARGETS)
    qualities = []
    every = estimates[["estimate", target]].to_numpy(np.float64)
    for key, places in _groups(estimates):
        pairs = every[places]
        pairs = pairs[np.isfinite(pairs).all(axis=1)]
        qualities.append((*key, len(pairs), *_quality(pairs[:, 0], pairs[:, 1])))
    columns = ["n", "bias", "bias_mcse", "sd", "rmse", "rmse_mcse", "correlation"]
    return pd.DataFrame(qualities, columns=[*KEYS, *columns])


def _groups(estimates: pd.DataFrame) -> Iterator[tuple[tuple[Hashable, ...], IntArray]]:
    """Return the keys of every group of rows, and the places of its rows."""
    group = estimates.groupby(KEYS, sort=False).ngroup().to_numpy()
    order = np.argsort(group, kind="stable")
    places = np.split(order, np.flatnonzero(np.diff(group[order])) + 1)
    keys = estimates[KEYS].drop_duplicates().itertuples(index=False, name=None)
    return zip(keys, places, strict=False)  # of no rows there is one empty piece


def _quality(estimate: FloatArray, truth: FloatArray) -> tuple[float, ...]:
    """Return the bias with its standard error, the sd, the RMSE with its error, the correlation."""
    errors, n = estimate - truth, len(estimate)
    if n < 2:
        return (math.nan,) * 6
    sd, rmse = float(errors.std(ddof=1)), float(np.sqrt((errors**2).mean()))
    spread = float((errors**2).std(ddof=1)) / math.sqrt(n)
    rmse_mcse = spread / (2 * rmse) if rmse > 0 else 0.0
    varies = estimate.std() > 0 and truth.std() > 0
    correlation = float(np.corrcoef(estimate, truth)[0, 1]) if varies else math.nan
    return float(errors.mean()), sd / math.sqrt(n), sd, rmse, rmse_mcse, correlation


def coverage(
    estimates: pd.DataFrame, target: str = "exact", confidence: float = 0.95
) -> pd.DataFrame:
    """Return how often intervals contain the truth, and how wide they are.

    Parameters
    ----------
    estimates, target
        As in `quality`; for every interval the columns `lower_<name>` and `upper_<name>`, NaN where
        an estimator has no such interval.
    confidence
        Confidence of the interval of each coverage; not adjusted for their number.

    Returns
    -------
    DataFrame
        One row per size, estimator, learner, measure and `interval` that it has: `n`, the number
        of models, with one interval each; `coverage`, its Monte-Carlo standard error
        `coverage_mcse` and its exact binomial limits `coverage_lower` and `coverage_upper`; and the
        mean `width`. Rows of the same models are not independent.
    """
    check_option("target", target, TARGETS)
    check_share("confidence", confidence)
    names = [name.removeprefix(LOWER) for name in map(str, estimates) if name.startswith(LOWER)]
    every = {
        name: estimates[[f"lower_{name}", target, f"upper_{name}"]].to_numpy(np.float64)
        for name in names
    }
    intervals, counts = [], []
    for key, places in _groups(estimates):
        for name, rows in every.items():
            each = rows[places]
            low, truth, high = each[np.isfinite(each).all(axis=1)].T
            if n := len(truth):
                inside = (low <= truth) & (truth <= high)
                share, width = float(inside.mean()), float((high - low).mean())
                mcse = math.sqrt(share * (1 - share) / n)
                intervals.append((*key, name, n, share, mcse, width))
                counts.append(inside.sum())
    columns = [*KEYS, "interval", "n", "coverage", "coverage_mcse", "width"]
    table = pd.DataFrame(intervals, columns=columns)
    lower, upper = clopper_pearson(counts, table["n"], confidence)
    table.insert(len(columns) - 1, "coverage_lower", lower)
    table.insert(len(columns), "coverage_upper", upper)
    return table
