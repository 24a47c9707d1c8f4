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
        own = {
            name: rows.set_index("dataset")["correlation"]
            for name, rows in self.cells.groupby("learner", sort=False)
        }
        return pd.DataFrame(own).loc[list(dict.fromkeys(self.cells["dataset"]))]


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
    found: list[dict[str, object]] = []
    for (dataset, learner), rows in scores.groupby(["dataset", "learner"], sort=False):
        value = _correlation({name: rows[name].to_numpy(np.float64) for name in (first, second)})
        row = {"dataset": str(dataset), "learner": str(learner), "splits": len(rows)}
        found.append(row | {"correlation": float(value), "reason": reason_of(value)})
    columns = ["dataset", "learner", "splits", "correlation", "reason"]
    cells = pd.DataFrame(found, columns=columns)
    learners = [
        {"learner": name, **_summary(rows["correlation"], "datasets")}
        for name, rows in cells.groupby("learner", sort=False)
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
    known = values.dropna()
    return {
        count: len(known),
        "mean": float(known.mean()),
        "positive": int((known > 0).sum()),
        "negative": int((known < 0).sum()),
    }
