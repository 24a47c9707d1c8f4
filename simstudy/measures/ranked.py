"""Rows ranked by the probability of a class, ties grouped."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simstudy.arrays import BoolArray, FloatArray, IntArray
from simstudy.measures.base import Undefined, Weights
from simstudy.measures.positive import one_sided, positive_class

TIE = 5e-13  # of the larger of two neighbours, up to which they tie: see `last_of_ties`
DECIMALS = 12  # of probabilities that are compared without their neighbours: see `rounded`


class Ranking(NamedTuple):
    """How many negative and positive rows have a probability of at least each threshold.

    Thresholds are the distinct probabilities, from the highest, of ties the lowest; the first
    entry is of no rows.
    Between two of them, a straight line is the mean over random orders of the tied rows.
    """

    negatives: FloatArray
    positives: FloatArray
    thresholds: FloatArray  # infinite for the first entry

    @property
    def rows(self) -> FloatArray:
        """How many rows have a probability of at least each threshold."""
        return self.negatives + self.positives

    @property
    def undefined(self) -> str:
        """Why rates do not exist: the class that no row has; empty if both occur."""
        return one_sided(self.positives[-1], self.negatives[-1])

    @property
    def area(self) -> float:
        """The area under the ROC curve; NaN with the reason if a class has no rows."""
        if self.undefined:
            return Undefined(self.undefined)
        negatives, positives = self.negatives, self.positives
        twice = np.dot(np.diff(negatives), positives[1:] + positives[:-1])
        return float(twice / (2.0 * positives[-1] * negatives[-1]))

    def at(self, places: IntArray) -> "Ranking":
        """Return some of the thresholds."""
        return Ranking(*(each[places] for each in self))

    def positives_among(self, rows: float) -> float:
        """Return how many of the highest-ranked rows are positive, on average over ties."""
        return float(np.interp(rows, self.rows, self.positives))


def rank(
    proba: FloatArray, y: IntArray, weights: Weights, rarer: int | None, positive: int | None
) -> Ranking:
    """Rank rows by the probability of the positive class; rows of weight 0 are left out."""
    proba, y = np.asarray(proba, dtype=np.float64), np.asarray(y)
    chosen = positive_class(positive, rarer, y, proba.shape[1], weights)
    return rank_scores(proba[:, chosen], y == chosen, weights)


def rank_scores(score: FloatArray, is_positive: BoolArray, weights: Weights = None) -> Ranking:
    """Rank rows by scores of any kind, from the highest; rows of weight 0 are left out."""
    if weights is None and score.min() >= 0 and score.max() < 2:
        # The bits of a number from 0 to below 2 are ordered as the numbers are and leave room for
        # the class, so that sorting them is enough, which takes half the time of argsort.
        keys = np.sort((score + 0.0).view(np.int64) << 1 | is_positive)[::-1]  # −0 becomes 0
        score, positives = (keys >> 1).view(np.float64), np.cumsum(keys & 1)
        negatives = np.arange(1, len(keys) + 1) - positives
    else:
        mass = np.ones(len(score)) if weights is None else np.asarray(weights, dtype=np.float64)
        rows = np.flatnonzero(mass > 0)
        order = rows[np.argsort(score[rows])[::-1]]
        score, right, mass = score[order], is_positive[order], mass[order]
        negatives, positives = np.cumsum(mass * ~right), np.cumsum(mass * right)
    last = last_of_ties(score)
    thresholds = _after(np.inf, score[last])
    return Ranking(_after(0.0, negatives[last]), _after(0.0, positives[last]), thresholds)


def checked_rows(
    scores: npt.ArrayLike, positive: npt.ArrayLike, weights: npt.ArrayLike | None
) -> tuple[FloatArray, BoolArray, FloatArray | None]:
    """Return scores, labels and weights as arrays of one length, without NaN."""
    score, label = np.asarray(scores, np.float64), np.asarray(positive)
    weight = None if weights is None else np.asarray(weights, np.float64)
    if score.ndim != 1 or label.shape != score.shape:
        raise ValueError(f"scores of shape {score.shape} do not fit labels of {label.shape}")
    if weight is not None and weight.shape != score.shape:
        raise ValueError(f"weights of shape {weight.shape} do not fit scores of {score.shape}")
    if label.dtype != np.bool_ and not np.isin(label, (0, 1)).all():
        raise ValueError("positive must hold booleans, or 0 and 1")
    if weight is not None and not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise ValueError("weights must be finite and not negative")
    if not len(score) or (weight is not None and not weight.any()):
        raise ValueError("there are no rows")
    if np.isnan(score).any():
        raise ValueError("scores must not be NaN")
    return score, label.astype(np.bool_), weight


def last_of_ties(ordered: FloatArray) -> IntArray:
    """Return the place of the last of each group of ties in a sorted array.

    This is what a tie is, in all rankings and curves: in the sorted order, a new group starts where
    the gap to the value before exceeds 5e-13 of the larger of the two. Numbers that are equal but
    for rounding tie, whatever order they were summed in; probabilities that were written with
    twelve decimals do not.
    """
    is_last = np.empty(len(ordered), dtype=np.bool_)
    is_last[-1] = True
    if not np.isfinite(ordered[[0, -1]]).all():
        ordered = np.nan_to_num(ordered)  # infinity is the largest number
    before, after = ordered[:-1], ordered[1:]
    with np.errstate(over="ignore"):
        gap = before - after
    if ordered[-1] >= 0 and ordered[0] >= ordered[-1]:  # probabilities, from the highest
        tolerated = before * TIE
    else:
        np.abs(gap, out=gap)
        tolerated = np.maximum(np.abs(before), np.abs(after)) * TIE
    np.greater(gap, tolerated, out=is_last[:-1])
    return np.flatnonzero(is_last)


def rounded(probabilities: FloatArray) -> FloatArray:
    """Return probabilities to twelve decimals, so that equal ones are the same number.

    For ties that must not depend on which others there are: rows with the same probabilities of
    all classes, and maps that are fitted to some rows and applied to others.
    """
    return np.round(probabilities, DECIMALS)


def tie_groups(values: FloatArray) -> IntArray:
    """Return the place of each value's group among the groups of ties, from the lowest."""
    order = np.argsort(values)
    groups = np.empty(len(values), dtype=np.intp)
    if len(values):
        sizes = np.diff(last_of_ties(values[order]), prepend=-1)
        groups[order] = np.repeat(np.arange(len(sizes)), sizes)
    return groups


def _after(first: float, rest: FloatArray | IntArray) -> FloatArray:
    """Return an array with a number before it."""
    padded = np.empty(len(rest) + 1)
    padded[0], padded[1:] = first, rest
    return padded


def hull_places(across: FloatArray, up: FloatArray) -> IntArray:
    """Return the places of the points on the upper convex hull of a curve that only rises.

    Consecutive points must differ; the first and the last are on the hull.
    """
    kept = np.arange(len(across))
    while True:
        x, y = across[kept], up[kept]
        wide, high = x[1:] - x[:-1], y[1:] - y[:-1]
        # A point on or below the line between its neighbours is no corner of the hull.
        corner = high[:-1] * wide[1:] > high[1:] * wide[:-1]
        if corner.all():
            return kept
        kept = np.concatenate([kept[:1], kept[1:-1][corner], kept[-1:]])
