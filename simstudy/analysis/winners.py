"""Winners and losers on data sets: who is significantly better than whom."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from simstudy.analysis.adjustment import is_significant
from simstudy.analysis.within import pairwise_datasets

FIVE_BY_TWO = (5, 2)  # repeats and folds
OPPOSITE = "the difference that is tested and the mean difference have opposite signs"
NO_DIFFERENCE = "the mean difference is 0"


@dataclass(frozen=True)
class Winners:
    """Who is significantly better than whom by a measure, on every data set.

    Attributes
    ----------
    measure : str
        The measure.
    learners, datasets : tuple of str
        The learners and the data sets, in the order of the scores.
    test, adjustment : str
        The test, and how p is adjusted over the pairs on all data sets.
    alpha : float
        The level of the tests.
    m : int
        The number of tests that p is adjusted for: the pairs on all data sets, or 1 without
        adjustment.
    pairs : DataFrame
        One row per data set and pair: the columns of `within.pairwise_datasets`, with `winner` and
        `loser`, which are empty where nobody wins, and in `reason` why there is no p or, though p
        is small, no winner.
    """

    measure: str
    learners: tuple[str, ...]
    datasets: tuple[str, ...]
    test: str
    adjustment: str
    alpha: float
    m: int
    pairs: pd.DataFrame = field(repr=False, compare=False)

    def losers(self, dataset: str, winner: str) -> tuple[str, ...]:
        """Return the learners that are significantly worse than one on a data set."""
        won = (self.pairs["dataset"] == dataset) & (self.pairs["winner"] == winner)
        losers = set(self.pairs["loser"][won])
        return tuple(name for name in self.learners if name in losers)

    def between(self, first: str, second: str) -> pd.DataFrame:
        """Return the tests of two learners, one row per data set."""
        names = (first, second)
        return self.pairs[self.pairs["first"].isin(names) & self.pairs["second"].isin(names)]

    @property
    def table(self) -> pd.DataFrame:
        """Data sets × winners; a cell names the learners that are significantly worse."""
        cells = {
            winner: [", ".join(self.losers(dataset, winner)) for dataset in self.datasets]
            for winner in self.learners
        }
        return pd.DataFrame(cells, index=pd.Index(self.datasets, name="dataset"))

    @property
    def counts(self) -> pd.DataFrame:
        """By learner: `wins` and `losses` over all pairs and data sets, and their difference.

        `ahead` is the number of data sets on which it wins against a learner and loses to none.
        """
        rows = []
        for name in self.learners:
            won, lost = (self.pairs["dataset"][self.pairs[c] == name] for c in ("winner", "loser"))
            rows.append([name, len(won), len(lost), len(won) - len(lost), len({*won} - {*lost})])
        columns = ["learner", "wins", "losses", "difference", "ahead"]
        return pd.DataFrame(rows, columns=columns)


def default_test(scores: pd.DataFrame) -> str:
    """Return ``"five_by_two_t"`` if all data sets have 5 repeats of 2 folds, else corrected t."""
    groups = scores.groupby("dataset", sort=False)
    shapes = zip(groups["repeat"].nunique(), groups["fold"].nunique(), strict=True)
    return "five_by_two_t" if {*shapes} == {FIVE_BY_TWO} else "corrected_t"


def winners(
    scores: pd.DataFrame,
    measure: str,
    test: str | None = None,
    adjustment: str = "holm",
    alpha: float = 0.05,
    greater_is_better: bool = True,
) -> Winners:
    """Find on every data set which learners are significantly better than which.

    A learner wins if p, adjusted, is at most α and its mean is the better one. The 5×2cv t test is
    of the difference in one fold alone; where that and the mean difference have opposite signs,
    nobody wins.

    Parameters
    ----------
    scores, measure, adjustment, greater_is_better
        As in `within.pairwise_datasets`.
    test
        As there; if left out, the 5×2cv t test for 5 repeats of 2 folds, and the corrected
        resampled t test for all others.
    alpha
        The level of the tests.

    References
    ----------
    L. R. Hope & K. B. Korb (2004). A Bayesian metric for evaluating machine learning algorithms.
    Tables 1 and 2.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha is {alpha!r}; it must lie between 0 and 1")
    chosen = default_test(scores) if test is None else test
    pairs = pairwise_datasets(scores, measure, chosen, adjustment, greater_is_better)
    verdicts = [_verdict(row, alpha, chosen) for row in pairs.to_dict("records")]
    for place, name in enumerate(("winner", "loser", "reason")):
        pairs[name] = [verdict[place] for verdict in verdicts]
    learners, datasets = (tuple(dict.fromkeys(scores[key])) for key in ("learner", "dataset"))
    m = int(pairs["m"].iloc[0]) if len(pairs) else 0
    return Winners(measure, learners, datasets, chosen, adjustment, alpha, m, pairs)


def _verdict(pair: Mapping[Hashable, Any], alpha: float, test: str) -> tuple[str, str, str]:
    """Return winner, loser and why there is none although there is no p or a small one."""
    if not is_significant(pair["p_adjusted"], alpha):
        return "", "", pair["reason"]
    sign = np.sign(pair["difference"])
    if test == "five_by_two_t" and sign * np.sign(pair["statistic"]) < 0:
        return "", "", OPPOSITE
    if sign == 0:
        return "", "", NO_DIFFERENCE
    names = (pair["first"], pair["second"])
    return (*(names if sign > 0 else names[::-1]), "")
