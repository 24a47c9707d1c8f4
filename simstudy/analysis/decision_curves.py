"""Curves of several rankings, averaged: one for each model, or for each repeat of a resampling."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from simstudy.arrays import FloatArray, weights_in
from simstudy.measures import curves
from simstudy.measures.ranking.ranked_rows import Ranking, last_of_ties

STEPS = 100  # of the horizontal axis
_ROUNDING = 1e-12  # of costs and profits per row
BAND = (0.25, 0.75)  # quantiles between which half of the curves lie at each place
_BINS = 10
MAX_THRESHOLDS = 400  # among which the best one is sought
_MAX_LINES = 300


@dataclass(frozen=True)
class Kind:
    """A kind of curve: its axes, and its heights at given places of the horizontal one."""

    title: str
    x: str
    y: str
    at: Callable[..., FloatArray]  # of a ranking, places and options
    bins: bool = False  # whether places are bins of predicted probabilities


def _reliability(ranking: Ranking, where: FloatArray) -> FloatArray:
    """The share of positive rows in each bin, NaN without rows; bins begin at ``where``."""
    positives, rows = _binned(ranking, len(where), ranking.positives, ranking.rows)
    return np.divide(positives, rows, out=np.full(len(where), np.nan), where=rows > 0)


def _binned(ranking: Ranking, bins: int, *cumulated: FloatArray) -> list[FloatArray]:
    place = np.minimum((ranking.thresholds[1:] * bins).astype(np.intp), bins - 1)
    return [weights_in(place, np.diff(each), bins) for each in cumulated]


def _least_cost(ranking: Ranking, where: FloatArray) -> FloatArray:
    """The lower envelope: the least of the lines themselves if these are few, which is faster."""
    if len(ranking.thresholds) > _MAX_LINES:
        return curves.cost_curve_of(ranking).at(where)
    false = ranking.negatives / ranking.negatives[-1]
    missed = 1.0 - ranking.positives / ranking.positives[-1]
    return (false[:, None] + (missed - false)[:, None] * where).min(axis=0)


def _profit(
    ranking: Ranking, where: FloatArray, *, benefit: float, cost: float, fixed: float = 0.0
) -> FloatArray:
    prior = ranking.positives[-1] / ranking.rows[-1]
    reached = curves.Lift(ranking).at(where) if prior > 0 else np.zeros(len(where))
    return benefit * prior * reached - cost * where - fixed * (where > 0)


def _of(
    curve: Callable[[Ranking], curves.Roc | curves.PrecisionRecall | curves.Lift],
) -> Callable[..., FloatArray]:
    """The heights of a curve of `measures.curves`."""
    return lambda ranking, where: curve(ranking).at(where)


_FIRST = "share of all rows, highest-ranked first"
KINDS = {
    "roc": Kind("ROC curves", "false positive rate", "true positive rate", _of(curves.Roc)),
    "precision_recall": Kind(
        "Precision–recall curves", "recall", "precision", _of(curves.PrecisionRecall)
    ),
    "lift": Kind("Lift charts", _FIRST, "share of the positive rows included", _of(curves.Lift)),
    "cost": Kind("Cost curves", "probability cost", "normalized expected cost", _least_cost),
    "profit": Kind("Profit", _FIRST, "profit per row", _profit),
    "reliability": Kind(
        "Reliability", "predicted probability", "observed frequency", _reliability, bins=True
    ),
}
DRAWN = ("roc", "precision_recall", "lift", "cost", "reliability")  # without further options


class MeanCurve(NamedTuple):
    """The mean height of curves at each place, and between which heights half of them lie."""

    x: FloatArray
    y: FloatArray
    low: FloatArray
    high: FloatArray
    curves: int

    def table(self) -> pd.DataFrame:
        """The curve as a table."""
        return pd.DataFrame(self._asdict())


class Heights:
    """The heights of curves, computed once for each ranking while there is room to keep it."""

    def __init__(self, room: int = 2_000_000) -> None:
        self._room = room  # thresholds of all rankings kept
        self._kept: dict[int, tuple[Ranking, dict[str, FloatArray]]] = {}

    def once(self, key: str, ranking: Ranking, make: Callable[[], FloatArray]) -> FloatArray:
        """Return what is kept of a ranking under a key, such as the kind of curve, or make it."""
        if id(ranking) not in self._kept:
            self._room -= len(ranking.thresholds)
            if self._room < 0:
                return make()
            self._kept[id(ranking)] = ranking, {}  # whose number is its own while it is kept
        arrays = self._kept[id(ranking)][1]
        if key not in arrays:
            arrays[key] = make()
        return arrays[key]


def mean_curve(
    kind: str, rankings: Sequence[Ranking], heights: Heights | None = None, **options: float
) -> MeanCurve:
    """Return the vertical average of curves; rankings without both classes are left out.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    rankings : sequence of Ranking
        One for each model or repeat.
    heights : Heights, optional
        Heights that are known already.
    **options
        Of ``"profit"``: ``benefit``, ``cost`` and ``fixed``; see `measures.curves.profit`.
    """
    of, usable = KINDS[kind], [ranking for ranking in rankings if not ranking.undefined]
    heights = Heights(0) if heights is None or options else heights
    where = np.arange(_BINS) / _BINS if of.bins else np.linspace(0.0, 1.0, STEPS + 1)
    each = [heights.once(kind, r, partial(of.at, r, where, **options)) for r in usable]
    mean, low, high = _averages(np.array(each or [np.full(len(where), np.nan)]))
    if of.bins:
        sums = np.zeros((2, _BINS))  # of predicted probabilities and of rows
        for ranking in usable:
            sums += heights.once("scores", ranking, partial(_score_sums, ranking))
        where = np.divide(sums[0], sums[1], out=np.full(_BINS, np.nan), where=sums[1] > 0)
    return MeanCurve(where, mean, low, high, len(usable))


def _averages(each: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Means and quantiles of columns, over what is there; NaN where nothing is."""
    if len(each) == 1:
        return each[0], each[0], each[0]
    quantile = np.quantile if np.isfinite(each).all() else np.nanquantile  # which is slower
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of columns without a number
        low, high = quantile(each, BAND, axis=0)
        return np.nanmean(each, axis=0), low, high


def _score_sums(ranking: Ranking) -> FloatArray:
    scores = np.concatenate([[0.0], np.cumsum(np.diff(ranking.rows) * ranking.thresholds[1:])])
    return np.array(_binned(ranking, _BINS, scores, ranking.rows)) / ranking.rows[-1]


def curve_table(
    kind: str,
    rankings: Mapping[str, Sequence[Ranking]],
    heights: Heights | None = None,
    **options: float,
) -> pd.DataFrame:
    """Return the mean curve of each learner: `learner`, `x`, `y`, `low`, `high`, `curves`."""
    tables = [
        mean_curve(kind, each, heights, **options).table().assign(learner=label)
        for label, each in rankings.items()
    ]
    return pd.concat(tables, ignore_index=True)[["learner", *MeanCurve._fields]]


class Points(NamedTuple):
    """Rates at thresholds, each of which is best for some prior and costs; see `decide`."""

    threshold: FloatArray
    false_positive_rate: FloatArray
    true_positive_rate: FloatArray
    prior: float  # the mean share of positive rows


class BestThreshold(NamedTuple):
    """The best threshold for a prior and costs, and what it costs for each row."""

    threshold: float  # infinite if no row is called positive
    cost: float
    never: float  # the costs of calling no row, and all rows, positive
    always: float


def operating_points(rankings: Sequence[Ranking]) -> Points | None:
    """Return the rates of common thresholds, averaged over rankings, on their convex hull.

    Thresholds are averaged, as by Fawcett (2006, section 8): one threshold is used for all models.
    Of many distinct scores, 400 quantiles are tried. None if no ranking has both classes.
    """
    usable = [ranking for ranking in rankings if not ranking.undefined]
    if not usable:
        return None
    every = np.concatenate([ranking.thresholds[:0:-1] for ranking in usable])
    every.sort(kind="stable")  # which merges what is sorted already
    every = every[::-1][last_of_ties(every[::-1])][::-1]  # of ties the lowest, as in a ranking
    if len(every) > MAX_THRESHOLDS:
        places = np.linspace(0, len(every) - 1, MAX_THRESHOLDS)
        every = every[np.rint(places).astype(np.intp)]
    thresholds = np.concatenate([[np.inf], every[::-1]])
    rates = np.zeros((2, len(thresholds)))
    for ranking in usable:
        # The last entry whose threshold is not below.
        place = np.searchsorted(-ranking.thresholds, -thresholds, side="right") - 1
        curve = curves.Roc(ranking)
        rates += [curve.false_positive_rate[place], curve.true_positive_rate[place]]
    rates /= len(usable)
    rates[:, -1] = 1.0
    kept = curves.roc_hull(rates.T).places
    return Points(thresholds[kept], rates[0, kept], rates[1, kept], mean_prior(usable))


def mean_prior(rankings: Sequence[Ranking]) -> float:
    """Return the mean share of positive rows; NaN without rankings."""
    shares = [float(ranking.positives[-1] / ranking.rows[-1]) for ranking in rankings]
    return float(np.mean(shares)) if shares else np.nan


def decide(
    points: Points,
    prior: float,
    false_negative_cost: float = 1.0,
    false_positive_cost: float = 1.0,
    true_positive_cost: float = 0.0,
    true_negative_cost: float = 0.0,
) -> BestThreshold:
    """Return the threshold of least expected cost, the highest among equals.

    A negative cost is a benefit; a wrong decision must not cost less than the right one.
    """
    missed = false_negative_cost - true_positive_cost
    false = false_positive_cost - true_negative_cost
    curves.probability_cost(prior, missed, false)  # refuses impossible ones
    missed, false = prior * missed, (1.0 - prior) * false
    right = prior * true_positive_cost + (1.0 - prior) * true_negative_cost  # never a wrong one
    wrong = missed * (1.0 - points.true_positive_rate) + false * points.false_positive_rate
    best = int(np.flatnonzero(wrong <= wrong.min() + _ROUNDING)[0])
    at, cost = float(points.threshold[best]), float(right + wrong[best])
    return BestThreshold(at, cost, right + missed, right + false)


def most_profitable(lift: FloatArray, prior: float, steps: int) -> tuple[float, float]:
    """Return the most profitable share of rows to act on, and the profit per row.

    Each positive row acted on gains 1 and each row costs the prior, so that acting at random yields
    0.

    Parameters
    ----------
    lift
        The share of positive rows reached, at even shares of all rows from 0 to 1.
    prior
        The share of positive rows.
    steps
        Number of steps from 0 to 1 in ``lift``: of shares whose profits are as close as one
        step, the least is returned.
    """
    share = np.linspace(0.0, 1.0, len(lift))
    profit = prior * lift - prior * share
    close = prior / steps + _ROUNDING
    at = int(np.flatnonzero(profit >= profit.max() - close)[0])
    return float(share[at]), float(profit[at])
