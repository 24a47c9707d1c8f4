"""Rows ranked by the probability of a class, ties grouped; points and hulls in ROC space."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np

from simstudy.arrays import ArrayLike, BoolArray, Class, FloatArray, IntArray, Labels, Proba
from simstudy.measures.base import Undefined, Weights
from simstudy.measures.positive_class import one_sided, positive_class, require

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


def rank(proba: Proba, y: Labels, weights: Weights, rarer: Class, positive: Class) -> Ranking:
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
    scores: ArrayLike, positive: ArrayLike, weights: ArrayLike | None
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


Point: TypeAlias = tuple[float, float]  # false and true positive rate
_STEPS = 100  # of the default grid


@runtime_checkable
class HasRates(Protocol):
    """Anything with rates, such as a `Roc`."""

    @property
    def false_positive_rate(self) -> FloatArray: ...
    @property
    def true_positive_rate(self) -> FloatArray: ...


@dataclass(frozen=True)
class Hull:
    """The upper convex hull of points in ROC space, from (0, 0) to (1, 1)."""

    false_positive_rate: FloatArray
    true_positive_rate: FloatArray
    places: IntArray  # of its points among those given; −1 for a corner that was not given

    @property
    def area(self) -> float:
        """The area under the hull."""
        return _area(self.false_positive_rate, self.true_positive_rate)


@dataclass(frozen=True)
class AverageRoc:
    """ROC curves averaged vertically: the mean true positive rate at equal false positive rates."""

    false_positive_rate: FloatArray
    true_positive_rate: FloatArray
    standard_deviation: FloatArray  # between the curves; NaN for a single one
    each: FloatArray  # of shape (curves, rates): the true positive rates of every curve

    @property
    def area(self) -> float:
        """The area under the mean, by trapezoids."""
        return _area(self.false_positive_rate, self.true_positive_rate)


def roc_hull(points: HasRates | ArrayLike) -> Hull:
    """Return the upper convex hull of ROC points, with the corners (0, 0) and (1, 1).

    A point of the hull is reached by a threshold that is best for some costs; points on a straight
    line between two others may be left out.

    Parameters
    ----------
    points : Roc or array of shape (n, 2)
        A curve, or false and true positive rates in any order.
    """
    across, up = _rates(points)
    if np.isnan(across).any() or np.isnan(up).any():  # a class has no rows
        return Hull(np.full(2, np.nan), np.full(2, np.nan), np.full(2, -1))
    order = np.lexsort((-up, across))
    # A point is useful only if it is higher than all to the left of it.
    before = np.concatenate([[0.0], np.maximum.accumulate(up[order])[:-1]])
    order = order[(up[order] > before) & ((across[order] < 1) | (up[order] < 1))]
    places = np.concatenate([[_place(across, up, 0.0)], order, [_place(across, up, 1.0)]])
    across, up = (np.concatenate([[0.0], each[order], [1.0]]) for each in (across, up))
    kept = hull_places(across, up)
    return Hull(across[kept], up[kept], places[kept])


def _place(across: FloatArray, up: FloatArray, corner: float) -> int:
    """The place of a corner among the points, or −1."""
    at_corner = (across == corner) & (up == corner)
    return int(at_corner.argmax()) if at_corner.any() else -1


def mixture(first: Point, second: Point, share: float) -> Point:
    """Return the rates of answering by one classifier at random, else by another.

    Parameters
    ----------
    first, second : pair of float
        Their false and true positive rates.
    share : float >= 0, <= 1
        The probability of the second.
    """
    require(0 <= share <= 1, "share", share, "it must be from 0 to 1")
    across, up = ((1.0 - share) * a + share * b for a, b in zip(first, second, strict=True))
    return float(across), float(up)


def average_vertically(rocs: Sequence[HasRates], grid: ArrayLike | None = None) -> AverageRoc:
    """Return the mean true positive rate of several curves at equal false positive rates.

    Between its points a curve is a straight line (the mean over orders of ties); where it is
    vertical, its upper end counts (Fawcett 2006, algorithm 3). A curve without positive or
    negative rows has no rates and is left out.

    Parameters
    ----------
    rocs : sequence of Roc
        The curves.
    grid : array, optional
        The false positive rates; 0, 0.01, …, 1 if not given.

    References
    ----------
    T. Fawcett (2006). An introduction to ROC analysis. Pattern Recognition Letters 27.
    """
    where = np.linspace(0.0, 1.0, _STEPS + 1) if grid is None else np.asarray(grid, np.float64)
    pairs = [_rates(roc) for roc in rocs]
    usable = [pair for pair in pairs if not any(np.isnan(each).any() for each in pair)]
    rows = [interpolate(where, *pair) for pair in usable]
    each = np.array(rows) if rows else np.empty((0, len(where)))
    nothing = np.full(len(where), np.nan)
    mean = each.mean(axis=0) if len(each) else nothing
    deviation = each.std(axis=0, ddof=1) if len(each) > 1 else nothing
    return AverageRoc(where, mean, deviation, each)


def interpolate(where: FloatArray, across: FloatArray, up: FloatArray) -> FloatArray:
    """Return the height of a curve that only rises; where it is vertical, its upper end."""
    last = np.searchsorted(across, where, side="right") - 1
    after = np.minimum(last + 1, len(across) - 1)
    last = np.clip(last, 0, None)
    run = across[after] - across[last]
    part = np.where(run > 0, where - across[last], 0.0) / np.where(run > 0, run, 1.0)
    return up[last] + np.clip(part, 0.0, 1.0) * (up[after] - up[last])


def _rates(points: HasRates | ArrayLike) -> tuple[FloatArray, FloatArray]:
    if isinstance(points, HasRates):
        return points.false_positive_rate, points.true_positive_rate
    table = np.asarray(points, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != 2:
        raise ValueError(f"points of shape {table.shape} are no pairs of rates")
    return table[:, 0], table[:, 1]


def _area(across: FloatArray, up: FloatArray) -> float:
    return float(np.dot(np.diff(across), up[1:] + up[:-1]) / 2.0)
