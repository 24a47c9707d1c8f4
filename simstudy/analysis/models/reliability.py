"""Reliability of predicted probabilities, with models as the sampling unit."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from simstudy.analysis.tests.adjustment import check_option, check_share, critical_t
from simstudy.arrays import FloatArray

ADJUSTMENTS = ("bonferroni", "none")


@dataclass(frozen=True)
class Reliability:
    """Observed frequencies against predicted probabilities, pooled over models.

    Attributes
    ----------
    table : DataFrame
        One row per learner, size and bin, as `calibration` returns it.
    models : int
        Number of models whose cells were rerun.
    classes : str
        ``"every"`` class, or the ``"modal"`` one.
    test : str
        ``"exact"`` or ``"sampled"``.
    confidence : float
        Confidence of the intervals.
    """

    table: pd.DataFrame
    models: int
    classes: str
    test: str
    confidence: float


def calibration(
    table: pd.DataFrame, confidence: float = 0.95, adjustment: str = "bonferroni"
) -> pd.DataFrame:
    """Pool predictions over models, bin by bin, with intervals from the variation between models.

    Parameters
    ----------
    table
        One row per `model`, `learner`, `size` and `bin`, with `low`, `high`, `share`, `predicted`,
        `observed` and `count`, from `simstudy.engine.reliability.reliability`.
    confidence
        Simultaneous confidence of the family of intervals given by `adjustment`.
    adjustment
        ``"bonferroni"``: over the bins with an interval of one learner at one size, so that the
        intervals of one diagram are simultaneous; ``"none"``.

    Returns
    -------
    DataFrame
        One row per learner, size and nonempty bin: the learner, the size, `bin`, `low`, `high`,
        `n` (subjects with predictions there), `count`, `share` (mean over all subjects of the
        share of predictions in the bin), `predicted` (mean probability), `observed` (frequency),
        `gap` (observed − predicted), `se` of the gap, `df`, `m`, `t_crit`, and `lower`, `upper`:
        observed ± t_crit · se. The interval at `predicted` contains the diagonal if the gap is not
        significant. Standard error and interval are NaN for bins with fewer than two subjects.

    Notes
    -----
    Subjects are weighted by their share of predictions in the bin. Rows of one subject are not
    independent, so the standard error of the gap, a ratio of means over subjects, is the jackknife
    estimate, leaving out one subject at a time (as in Efron & Stein 1981), which is conservative if
    a few subjects dominate a bin.
    """
    check_share("confidence", confidence)
    check_option("adjustment", adjustment, ADJUSTMENTS)
    rows = []
    for learner, curves in table.groupby("learner", sort=False):
        for (size, place), bins in curves.groupby(["size", "bin"]):
            subjects = curves["model"][curves["size"] == size].nunique()
            rows.append((learner, size, place, *_pooled(bins, subjects)))
    columns = ["learner", "size", "bin", "low", "high", "n", "count", "share"]
    columns += ["predicted", "observed", "gap", "se"]
    result = pd.DataFrame(rows, columns=columns)
    counted = result["se"].notna()
    family = counted.groupby([result["learner"], result["size"]]).transform("sum")
    result["df"] = result["n"] - 1
    result["m"] = family.clip(lower=1).astype(int) if adjustment == "bonferroni" else 1
    m, df = result["m"].to_numpy(), result["df"].to_numpy()
    result["t_crit"] = critical_t(confidence, m, df)
    result["lower"] = result["observed"] - result["t_crit"] * result["se"]
    result["upper"] = result["observed"] + result["t_crit"] * result["se"]
    return result


def _pooled(bins: pd.DataFrame, subjects: int) -> tuple[float, ...]:
    """Return one bin, pooled over the subjects, from its low end to the standard error."""
    share, predicted, observed = (
        bins[column].to_numpy(dtype=np.float64) for column in ("share", "predicted", "observed")
    )
    total = share.sum()
    expected = float((share * predicted).sum() / total)
    frequency = float((share * observed).sum() / total)
    start = (bins["low"].iloc[0], bins["high"].iloc[0], len(bins), int(bins["count"].sum()))
    gap, se = frequency - expected, _jackknife(share, observed - predicted)
    return (*start, float(total) / subjects, expected, frequency, gap, se)


def _jackknife(weights: FloatArray, values: FloatArray) -> float:
    """Return the jackknife standard error of a weighted mean over (weight, value) pairs."""
    n = len(weights)
    if n < 2:
        return float("nan")
    # Sums without one subject, not by subtraction: the others may be below its rounding error.
    rest = 1.0 - np.eye(n)
    without = rest @ (weights * values) / (rest @ weights)
    return float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()))
