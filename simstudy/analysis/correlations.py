"""Correlation of two measures over the splits of data sets."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from simstudy.analysis.outcomes import flaw, reason_of, spread_of
from simstudy.arrays import FloatArray
from simstudy.measures.base import Undefined

LEAST = 3  # splits: two points lie on a line


@dataclass(frozen=True)
class Correlations:
    """Pearson's correlation of two measures over splits, by data set and learner.

    Attributes
    ----------
    first, second : str
        The measures.
    cells : DataFrame
        One row per data set and learner: `dataset`, `learner`, `splits`, `correlation` and
        `reason`, why there is none.
    by_learner : DataFrame
        One row per learner: `datasets`, the number with a correlation; `mean` of these, each data
        set counting the same; `positive` and `negative`, how many are.
    overall : dict
        The same over all data sets and learners; its number is `cells`.
    """

    first: str
    second: str
    cells: pd.DataFrame = field(repr=False, compare=False)
    by_learner: pd.DataFrame = field(repr=False, compare=False)
    overall: dict[str, float]

    @property
    def table(self) -> pd.DataFrame:
        """The correlations, data sets × learners; NaN where there is none."""
        groups = self.cells.set_index("dataset").groupby("learner", sort=False)["correlation"]
        return pd.DataFrame(dict(iter(groups))).loc[list(dict.fromkeys(self.cells["dataset"]))]


def correlations(scores: pd.DataFrame, first: str, second: str) -> Correlations:
    """Correlate two measures over the splits of each data set and learner.

    Splits share rows, so these correlations describe and are not tested. There is none where a
    measure is constant, a score is missing or infinite, or there are fewer than 3 splits.

    Parameters
    ----------
    scores
        One row per split and learner, of one training size: the columns `dataset`, `learner` and
        both measures, as they are: losses keep their sign.
    first, second
        The columns of the measures.

    References
    ----------
    K. B. Korb, L. R. Hope & M. J. Hughes (2001). The evaluation of predictive learners: some
    theoretical and empirical results. Tables 4 to 6.
    """
    rows = []
    for (dataset, learner), part in scores.groupby(["dataset", "learner"], sort=False):
        value = _correlation({name: part[name].to_numpy(np.float64) for name in (first, second)})
        rows.append((str(dataset), str(learner), len(part), float(value), reason_of(value)))
    columns = ["dataset", "learner", "splits", "correlation", "reason"]
    cells = pd.DataFrame(rows, columns=columns)
    learners = [
        {"learner": name, **_summary(part["correlation"], "datasets")}
        for name, part in cells.groupby("learner", sort=False)
    ]
    overall = _summary(cells["correlation"], "cells")
    return Correlations(first, second, cells, pd.DataFrame(learners), overall)


def _correlation(measures: dict[str, FloatArray]) -> float:
    """Return Pearson's correlation of two measures, or why there is none."""
    reason = flaw(np.column_stack([*measures.values()]), "splits", LEAST)
    if reason:
        return Undefined(reason)
    deviations = []
    for name, values in measures.items():
        if spread_of(values) == 0:
            return Undefined(f"{name} is constant")
        centred = values - values.mean()
        scaled = centred / np.abs(centred).max()
        deviations.append(scaled / math.sqrt(float(scaled @ scaled)))
    return float(np.clip(deviations[0] @ deviations[-1], -1.0, 1.0))


def _summary(values: pd.Series, count: str) -> dict[str, float]:
    """Return how many correlations there are, their mean and signs."""
    present = values.dropna()
    signs = {"positive": int((present > 0).sum()), "negative": int((present < 0).sum())}
    return {count: len(present), "mean": float(present.mean()), **signs}
