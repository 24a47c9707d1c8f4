"""Scores of two learners over data sets, as differences with their rounding error."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from simstudy.analysis import outcomes
from simstudy.arrays import FloatArray

if TYPE_CHECKING:
    import pandas as pd

# Means over folds that should be equal differ in the last digits; this share of a score is
# rounding.
TIES = 1e-12


@dataclass(frozen=True)
class PairedDifferences:
    """Differences over data sets, first minus second; 0 where they are rounding alone.

    Attributes
    ----------
    differences, noise : array of shape (n,)
        The differences, and how far each may be off by rounding.
    flaw : str
        Why they cannot be tested; usually empty.
    """

    differences: FloatArray
    noise: FloatArray
    flaw: str

    @property
    def swapped(self) -> PairedDifferences:
        """The pair with the learners exchanged."""
        return PairedDifferences(-self.differences, self.noise, self.flaw)

    @property
    def without_zeros(self) -> PairedDifferences:
        """The pair on the data sets that differ."""
        kept = self.differences != 0
        return PairedDifferences(self.differences[kept], self.noise[kept], self.flaw)

    def ranks(self) -> FloatArray:
        """Return ranks of absolute differences, 1 for the smallest; ties share their mean."""
        from scipy.stats import rankdata

        sizes = np.abs(self.differences)
        order = np.argsort(sizes, kind="stable")
        noise = self.noise[order]
        steps = np.diff(sizes[order]) > np.maximum(noise[1:], noise[:-1])
        ranks = np.empty(len(sizes))
        ranks[order] = rankdata(np.concatenate([[0], np.cumsum(steps)]))
        return ranks


def best_of(means: pd.Series[float]) -> tuple[str, ...]:
    """Return the learners of the greatest mean, several if they are equal but for rounding."""
    most = means.max()
    return tuple(str(name) for name, mean in means.items() if most - mean <= TIES * abs(most))


def table_of(table: npt.ArrayLike) -> tuple[FloatArray, tuple[Hashable, ...]]:
    """Return the scores of a table, data sets × learners, and the names of the learners."""
    values = np.asarray(table, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] < 2:
        raise ValueError(
            "a table must have data sets as rows and two or more learners as columns, "
            f"not the shape {values.shape}"
        )
    return values, tuple(getattr(table, "columns", range(values.shape[1])))


def pair_of(table: npt.ArrayLike) -> PairedDifferences:
    """Return the differences of a table of two learners; one dimension is differences."""
    values = np.asarray(table, dtype=np.float64)
    if values.ndim == 1:
        flaw = outcomes.flaw(values, "data sets")
        return PairedDifferences(values, TIES * np.abs(values), flaw)
    values, learners = table_of(table)
    if len(learners) != 2:
        raise ValueError(
            f"a table of two learners is needed, not of {len(learners)}; over_pairs tests all pairs"
        )
    flaw = outcomes.flaw(values, "data sets")
    if flaw:
        return PairedDifferences(np.zeros(len(values)), np.zeros(len(values)), flaw)
    noise = TIES * np.abs(values).max(axis=1)
    differences = values[:, 0] - values[:, 1]
    return PairedDifferences(np.where(np.abs(differences) <= noise, 0.0, differences), noise, "")
