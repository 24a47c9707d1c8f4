"""Two measures on data sets: their correlation, and where they name different winners."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import pandas as pd

from simstudy.analysis.datasets.per_dataset import Winners, best_of
from simstudy.analysis.tests.outcomes import flaw, reason_of, spread_of
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


_ALL_PAIRS = 3  # up to this many measures, each pair is compared


@dataclass(frozen=True)
class Example:
    """A test row that counts for the winner of the second measure, and not by the first.

    Attributes
    ----------
    row : int
        Its number in the data set, from 0.
    repeat, fold : int
        The split.
    target : str
        Its class.
    probabilities_first, probabilities_second : dict
        What the winner of the first and of the second measure predict, by class.
    difference_first, difference_second : float
        By how much the winner of each measure is ahead on this row, by that measure.
    """

    row: int
    repeat: int
    fold: int
    target: str
    probabilities_first: dict[str, float]
    probabilities_second: dict[str, float]
    difference_first: float
    difference_second: float


@dataclass(frozen=True)
class Reversal:
    """A data set on which two measures name different winners: the learners of the best mean.

    Attributes
    ----------
    dataset : str
        The data set.
    winner_first, winner_second : str
        The learner of the best mean by each measure.
    difference_first, difference_second : float
        By how much the winner of a measure is ahead of the other winner, in the mean by that
        measure; never negative.
    p_first, p_second : float
        The adjusted p of these differences; NaN where there is no test.
    significant_first, significant_second : bool
        Whether the winner of a measure is significantly better by it than the other winner.
    example : Example, optional
        A row that shows why.
    no_example : str
        Why there is no example; empty if there is one, or if none was asked for.
    """

    dataset: str
    winner_first: str
    winner_second: str
    difference_first: float
    difference_second: float
    p_first: float
    p_second: float
    significant_first: bool
    significant_second: bool
    example: Example | None = None
    no_example: str = ""


@dataclass(frozen=True)
class Reversals:
    """The data sets on which two measures name different winners.

    Attributes
    ----------
    first, second : str
        The measures.
    datasets : int
        The number of data sets on which two or more learners have means by both measures.
    cases : tuple of Reversal
        The reversals, in the order of the data sets.
    test, adjustment, alpha, m
        Of the tests; see `analysis.winners.Winners`.
    partial : bool
        Whether learners without a mean by both measures are left out on one of these data sets.
    """

    first: str
    second: str
    datasets: int
    cases: tuple[Reversal, ...]
    test: str
    adjustment: str
    alpha: float
    m: int
    partial: bool = False

    @property
    def table(self) -> pd.DataFrame:
        """One row per reversal, without examples."""
        columns = [key.name for key in fields(Reversal) if "example" not in key.name]
        rows = [[getattr(reversal, name) for name in columns] for reversal in self.cases]
        return pd.DataFrame(rows, columns=columns)


def reversals(
    means: tuple[pd.DataFrame, pd.DataFrame], winners: tuple[Winners, Winners]
) -> Reversals:
    """Find the data sets on which two measures name different winners.

    The winner is the learner of the best mean, among two or more. Means that differ only by
    rounding are equal; if a learner has the best mean by both measures, there is no reversal.

    Parameters
    ----------
    means
        Mean scores by each measure, data sets × learners, greater is better; see
        `within.means_table`. Learners without a mean on a data set by either measure cannot win.
    winners
        The tests by each measure, which decide whether the differences are significant.
    """
    first, second = winners
    reversed_, both, partial = [], 0, False
    for dataset in means[0].index:
        rows = [table.loc[dataset] for table in means]
        present = rows[0].notna() & rows[1].notna()
        if present.sum() < 2:
            continue
        best, rivals = (best_of(row[present]) for row in rows)
        both, partial = both + 1, partial or not present.all()
        if not {*best} & {*rivals}:
            reversed_.append(_reversal(str(dataset), rows, (best[0], rivals[0]), winners))
    tests = (first.test, first.adjustment, first.alpha, first.m)
    return Reversals(first.measure, second.measure, both, tuple(reversed_), *tests, partial)


def telling_row(first: FloatArray, second: FloatArray) -> int | None:
    """Return the row that counts most for the second winner among those that are not by the first.

    Parameters
    ----------
    first
        By how much the winner of the first measure is ahead on each row, by that measure.
    second
        By how much the winner of the second measure is ahead on each row, by that.

    Returns
    -------
    int or None
        Where the first is at least 0 and the second is largest, and positive; the first such row.
    """
    suits = np.isfinite(first) & (first >= 0) & (second > 0)
    if not suits.any():
        return None
    return int(np.where(suits, second, -np.inf).argmax())


def _reversal(
    dataset: str, rows: list[pd.Series[float]], names: tuple[str, str], winners: tuple[Winners, ...]
) -> Reversal:
    """Return the reversal between the winners of both measures."""
    facts: dict[str, Any] = {}
    sides = zip(("first", "second"), rows, winners, names, names[::-1], strict=True)
    for side, row, tests, winner, rival in sides:
        test = tests.between(*names).set_index("dataset").to_dict("index")[dataset]
        facts[f"difference_{side}"] = float(row[winner] - row[rival])
        facts[f"p_{side}"] = float(test["p_adjusted"])
        facts[f"significant_{side}"] = bool(test["winner"] == winner)
    return Reversal(dataset, *names, **facts)


def measure_pairs(measures: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of measures that reports compare: of many, the first with each other one."""
    if len(measures) <= _ALL_PAIRS:
        return [*itertools.combinations(measures, 2)]
    return [(measures[0], measure) for measure in measures[1:]]
