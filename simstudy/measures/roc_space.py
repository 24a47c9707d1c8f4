"""Points of false and true positive rates: their convex hull, mixtures and vertical averages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from simstudy.arrays import FloatArray, IntArray
from simstudy.measures.positive import require
from simstudy.measures.ranked import hull_places

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


def roc_hull(points: HasRates | npt.ArrayLike) -> Hull:
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


def average_vertically(rocs: Sequence[HasRates], grid: npt.ArrayLike | None = None) -> AverageRoc:
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


def _rates(points: HasRates | npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    if isinstance(points, HasRates):
        return points.false_positive_rate, points.true_positive_rate
    table = np.asarray(points, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != 2:
        raise ValueError(f"points of shape {table.shape} are no pairs of rates")
    return table[:, 0], table[:, 1]


def _area(across: FloatArray, up: FloatArray) -> float:
    return float(np.dot(np.diff(across), up[1:] + up[:-1]) / 2.0)
