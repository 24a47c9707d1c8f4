"""Scores of a study of data sets, as the differences and tables that tests of learners need."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

from simstudy.analysis.adjusted import adjusted_p
from simstudy.analysis.adjustment import check_option
from simstudy.analysis.outcomes import StatisticOutcome
from simstudy.analysis.paired import TIES
from simstudy.analysis.resampled import corrected_t, five_by_two_f, five_by_two_t, naive_t
from simstudy.arrays import FloatArray

TESTS = ("corrected_t", "five_by_two_t", "five_by_two_f", "naive_t")


def means_table(scores: pd.DataFrame, measure: str, greater_is_better: bool = True) -> pd.DataFrame:
    """Return mean scores over splits, data sets × learners, as tests over data sets need them.

    Parameters
    ----------
    scores, measure
        As in `pairwise_datasets`.
    greater_is_better
        False for losses, whose means get the opposite sign, so that greater is better.

    Returns
    -------
    DataFrame
        A mean is NaN if a split has no finite score.
    """
    finite = scores[measure].where(np.isfinite(scores[measure]))
    groups = finite.groupby([scores["dataset"], scores["learner"]], sort=False)
    means = groups.mean().where(groups.count() == groups.size())
    learners = dict.fromkeys(scores["learner"])
    table = pd.DataFrame({name: means.xs(name, level="learner") for name in learners})
    table = table.loc[list(dict.fromkeys(scores["dataset"]))]
    return table if greater_is_better else -table


def pairwise_datasets(
    scores: pd.DataFrame,
    measure: str,
    test: str = "corrected_t",
    adjustment: str = "holm",
    greater_is_better: bool = True,
) -> pd.DataFrame:
    """Test every two learners on every data set, over splits that share rows.

    All tests of all data sets are one family: p is adjusted for every pair on every data set.

    Parameters
    ----------
    scores
        One row per split and learner, of one training size: the columns `dataset`, `repeat`,
        `fold`, `size` (training rows), `test_rows`, `learner` and the measure.
    measure
        Its column.
    test
        ``"corrected_t"``; ``"five_by_two_t"`` or ``"five_by_two_f"``, which need 5 repeats of 2
        folds; or ``"naive_t"``, which is too optimistic. See `simstudy.analysis.resampled`.
    adjustment
        Of p over the pairs on all data sets: ``"holm"``, ``"bonferroni"`` or ``"none"``.
    greater_is_better
        False for losses.

    Returns
    -------
    DataFrame
        One row per data set and pair: `dataset`, `first`, `second`, `n` (splits), `difference` (the
        mean, positive if the first is better), `statistic`, `p`, `p_adjusted`, `m` (tests in the
        family), `test` (its name) and `reason`, why there is no p.
    """
    check_option("test", test, TESTS)
    sums = scores.groupby("dataset", sort=False)[["size", "test_rows"]].sum()
    shares = sums["test_rows"] / (sums["test_rows"] + sums["size"])
    pairs = list(combinations(dict.fromkeys(scores["learner"]), 2))
    rows: list[dict[str, object]] = []
    for dataset, values in _by_split(scores, measure).items():
        for first, second in pairs:
            differences = _differences(values[first], values[second])
            differences *= 1 if greater_is_better else -1
            outcome = _outcome(test, differences, float(shares[dataset]))
            row = {"dataset": dataset, "first": first, "second": second, "n": differences.size}
            row |= {"difference": float(differences.mean()), "p": float(outcome.p)}
            row |= {"statistic": float(outcome.statistic), "test": outcome.test}
            rows.append(row | {"reason": outcome.reason})
    p = np.array([row["p"] for row in rows], dtype=np.float64)
    adjusted, m = adjusted_p(p, adjustment)
    columns = ["dataset", "first", "second", "n", "difference", "statistic", "p", "p_adjusted"]
    table = pd.DataFrame(rows, columns=[*columns, "m", "test", "reason"])
    return table.assign(p_adjusted=adjusted, m=m)


def _by_split(scores: pd.DataFrame, measure: str) -> dict[str, dict[str, FloatArray]]:
    """Return the scores of every learner, repeats × folds, by data set."""
    ordered = scores.sort_values(["repeat", "fold"], kind="stable")
    learners = dict.fromkeys(scores["learner"])
    arrays: dict[str, dict[str, FloatArray]] = {}
    for dataset in dict.fromkeys(scores["dataset"]):
        rows = ordered[ordered["dataset"] == dataset]
        shape = rows["repeat"].nunique(), rows["fold"].nunique()
        names, values = rows["learner"].to_numpy(), rows[measure].to_numpy(np.float64)
        if any((names == name).sum() != shape[0] * shape[1] for name in learners):
            raise ValueError(f"{dataset}: every split must have one score of every learner")
        arrays[dataset] = {name: values[names == name].reshape(shape) for name in learners}
    return arrays


def _differences(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return first − second: 0 if it is rounding alone, NaN unless both are finite."""
    finite = np.isfinite(first) & np.isfinite(second)
    first, second = np.where(finite, first, np.nan), np.where(finite, second, np.nan)
    rounding = TIES * np.maximum(np.abs(first), np.abs(second))
    return np.where(np.abs(first - second) <= rounding, 0.0, first - second)


def _outcome(test: str, differences: FloatArray, share: float) -> StatisticOutcome:
    """Return the test of the differences of one data set."""
    if test == "corrected_t":
        return corrected_t(differences.ravel(), share)
    if test == "naive_t":
        return naive_t(differences.ravel())
    if differences.shape != (5, 2):
        repeats, folds = differences.shape
        raise ValueError(f"{test} needs 5 repeats of 2 folds, not {repeats} of {folds}")
    return five_by_two_t(differences) if test == "five_by_two_t" else five_by_two_f(differences)
