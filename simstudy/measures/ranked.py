"""Rows ranked by the probability of a class, ties grouped."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simstudy.arrays import FloatArray, IntArray
from simstudy.measures.positive import positive_class


class Ranking(NamedTuple):
    """How many negative and positive rows have a probability of at least each threshold.

    Thresholds are the distinct probabilities, from the highest; the first entry is of no rows.
    Between two of them, a straight line is the mean over random orders of the tied rows.
    """

    negatives: FloatArray
    positives: FloatArray

    @property
    def rows(self) -> FloatArray:
        """How many rows have a probability of at least each threshold."""
        return self.negatives + self.positives

    def positives_among(self, rows: float) -> float:
        """Return how many of the highest-ranked rows are positive, on average over ties."""
        return float(np.interp(rows, self.rows, self.positives))


def rank(
    proba: FloatArray,
    y: IntArray,
    weights: FloatArray | None,
    rarer: int | None,
    positive: int | None,
) -> Ranking:
    """Rank rows by the probability of the positive class; rows of weight 0 are left out."""
    proba, y = np.asarray(proba, dtype=np.float64), np.asarray(y)
    one = positive_class(positive, rarer, y, proba.shape[1], weights)
    score, is_positive = proba[:, one], y == one
    if weights is not None:
        return _rank_weighted(score, is_positive, np.asarray(weights, dtype=np.float64))
    # The bits of a number from 0 to below 2 are ordered as the numbers are and leave room for the
    # class, so that sorting them is enough, which takes a fraction of the time of argsort.
    if not (score.min() >= 0 and score.max() < 2):
        return _rank_weighted(score, is_positive, np.ones(len(score)))
    keys = (score + 0.0).view(np.int64)  # −0 becomes 0
    keys <<= 1
    keys |= is_positive
    keys.sort()
    keys = keys[::-1]
    positives = np.cumsum(keys & 1)
    keys = keys >> 1
    last = last_of_ties(keys)
    positives = positives[last]
    return Ranking(_from_zero(last + 1 - positives), _from_zero(positives))


def last_of_ties(descending: npt.NDArray[np.float64] | npt.NDArray[np.int64]) -> IntArray:
    """Return the place of the last of each group of equal values in a sorted array."""
    is_last = np.empty(len(descending), dtype=np.bool_)
    is_last[-1] = True
    np.not_equal(descending[1:], descending[:-1], out=is_last[:-1])
    return np.flatnonzero(is_last)


def _rank_weighted(
    score: FloatArray, is_positive: npt.NDArray[np.bool_], weights: FloatArray
) -> Ranking:
    present = weights > 0
    if not present.all():
        score, is_positive, weights = score[present], is_positive[present], weights[present]
    order = np.argsort(score)[::-1]
    last, is_positive, weights = last_of_ties(score[order]), is_positive[order], weights[order]
    negatives = np.cumsum(weights * ~is_positive)[last]
    return Ranking(_from_zero(negatives), _from_zero(np.cumsum(weights * is_positive)[last]))


def _from_zero(counts: FloatArray | IntArray) -> FloatArray:
    """Return counts with a 0 before them."""
    padded = np.zeros(len(counts) + 1)
    padded[1:] = counts
    return padded
