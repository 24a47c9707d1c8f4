"""How good estimates of performance are, and their intervals."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from simstudy.analysis.adjustment import check_confidence, check_option
from simstudy.analysis.shares import clopper_pearson
from simstudy.arrays import FloatArray

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
    found = []
    for key, rows in estimates.groupby(KEYS, sort=False):
        pairs = rows[["estimate", target]].to_numpy(np.float64)
        pairs = pairs[np.isfinite(pairs).all(axis=1)]
        found.append(dict(zip(KEYS, key, strict=True)) | _quality(pairs[:, 0], pairs[:, 1]))
    return pd.DataFrame(found)


def _quality(estimate: FloatArray, truth: FloatArray) -> dict[str, object]:
    errors, n = estimate - truth, len(estimate)
    if n < 2:
        return {"n": n} | dict.fromkeys(
            ("bias", "bias_mcse", "sd", "rmse", "rmse_mcse", "correlation"), math.nan
        )
    sd, rmse = float(errors.std(ddof=1)), float(np.sqrt((errors**2).mean()))
    spread = float((errors**2).std(ddof=1)) / math.sqrt(n)
    varies = estimate.std() > 0 and truth.std() > 0
    return {
        "n": n,
        "bias": float(errors.mean()),
        "bias_mcse": sd / math.sqrt(n),
        "sd": sd,
        "rmse": rmse,
        "rmse_mcse": spread / (2 * rmse) if rmse > 0 else 0.0,
        "correlation": float(np.corrcoef(estimate, truth)[0, 1]) if varies else math.nan,
    }


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
    check_confidence(confidence)
    names = [name.removeprefix(LOWER) for name in map(str, estimates) if name.startswith(LOWER)]
    found = []
    for key, rows in estimates.groupby(KEYS, sort=False):
        for name in names:
            columns = [f"lower_{name}", target, f"upper_{name}"]
            each = rows[columns].to_numpy(np.float64)
            each = each[np.isfinite(each).all(axis=1)]
            if n := len(each):
                inside = (each[:, 0] <= each[:, 1]) & (each[:, 1] <= each[:, 2])
                share, width = float(inside.mean()), float((each[:, 2] - each[:, 0]).mean())
                row = {"interval": name, "n": n, "coverage": share}
                row |= {"coverage_mcse": math.sqrt(share * (1 - share) / n), "width": width}
                found.append(dict(zip(KEYS, key, strict=True)) | row)
    columns = [*KEYS, "interval", "n", "coverage", "coverage_mcse", "width"]
    table = pd.DataFrame(found, columns=columns)
    number = table["n"].to_numpy(np.float64)
    inside = np.round(number * table["coverage"].to_numpy(np.float64))
    lower, upper = clopper_pearson(inside, number, confidence)
    table.insert(len(columns) - 1, "coverage_lower", lower)
    table.insert(len(columns), "coverage_upper", upper)
    return table
