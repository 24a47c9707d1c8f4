"""Curves of several rankings, averaged: one for each model, or for each repeat of a resampling."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simstudy.arrays import FloatArray, weights_in
from simstudy.measures.curves import (
    Lift,
    PrecisionRecall,
    Roc,
    cost_curve_of,
    probability_cost,
    roc_hull,
)
from simstudy.measures.ranked import Ranking, last_of_ties

if TYPE_CHECKING:
    import pandas as pd

STEPS = 100  # of the horizontal axis
_ROUNDING = 1e-12  # of costs and profits per row
BAND = (0.25, 0.75)  # quantiles between which half of the curves lie at each place
_BINS = 10
_HEIGHTS = ("x", "y", "low", "high")
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
        return cost_curve_of(ranking).at(where)
    false = ranking.negatives / ranking.negatives[-1]
    missed = 1.0 - ranking.positives / ranking.positives[-1]
    return (false[:, None] + (missed - false)[:, None] * where).min(axis=0)


def _profit(
    ranking: Ranking, where: FloatArray, *, benefit: float, cost: float, fixed: float = 0.0
) -> FloatArray:
    prior = ranking.positives[-1] / ranking.rows[-1]
    found = Lift(ranking).at(where) if prior > 0 else np.zeros(len(where))
    return benefit * prior * found - cost * where - fixed * (where > 0)


KINDS = {
    "roc": Kind(
        "ROC curves",
        "false positive rate",
        "true positive rate",
        lambda ranking, where: Roc(ranking).at(where),
    ),
    "precision_recall": Kind(
        "Precision–recall curves",
        "recall",
        "precision",
        lambda ranking, where: PrecisionRecall(ranking).at(where),
    ),
    "lift": Kind(
        "Lift charts",
        "share of all rows, those ranked first",
        "share of the positive rows among them",
        lambda ranking, where: Lift(ranking).at(where),
    ),
    "cost": Kind(
        "Cost curves",
        "probability cost",
        "normalized expected cost",
        lambda ranking, where: _least_cost(ranking, where),
    ),
    "profit": Kind(
        "Profit", "share of all rows, those ranked first", "profit for each row of all", _profit
    ),
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
        import pandas as pd

        return pd.DataFrame(self._asdict())


class Heights:
    """The heights of curves, computed once for each ranking while there is room to keep it."""

    def __init__(self, room: int = 2_000_000) -> None:
        self._room = room  # thresholds of all rankings kept
        self._known: dict[int, tuple[Ranking, dict[str, FloatArray]]] = {}

    def of(self, kind: str, ranking: Ranking, where: FloatArray) -> FloatArray:
        """Return the heights of one kind, at the places that belong to it."""
        return self._once(kind, ranking, lambda: KINDS[kind].at(ranking, where))

    def scores(self, ranking: Ranking) -> FloatArray:
        """Return the sums of scores in each bin, and the shares of rows."""
        return self._once("scores", ranking, lambda: _score_sums(ranking))

    def _once(self, key: str, ranking: Ranking, make: Callable[[], FloatArray]) -> FloatArray:
        if id(ranking) not in self._known:
            self._room -= len(ranking.thresholds)
            if self._room < 0:
                return make()
            self._known[id(ranking)] = ranking, {}  # whose number is its own while it is kept
        known = self._known[id(ranking)][1]
        if key not in known:
            known[key] = make()
        return known[key]


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
    of, usable = KINDS[kind], [one for one in rankings if not one.undefined]
    where = np.arange(_BINS) / _BINS if of.bins else np.linspace(0.0, 1.0, STEPS + 1)
    if heights is None or options:
        found = [of.at(one, where, **options) for one in usable]
    else:
        found = [heights.of(kind, one, where) for one in usable]
    each = np.array(found) if found else np.full((1, len(where)), np.nan)
    mean, low, high = _averages(each)
    if of.bins:
        where = _mean_scores(usable, heights or Heights(0))
    return MeanCurve(where, mean, low, high, len(usable))


def _averages(each: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Means and quantiles of columns, over what is there; NaN where nothing is."""
    if len(each) == 1:
        return each[0], each[0], each[0]
    there = np.isfinite(each)
    number = there.sum(axis=0)
    total = np.where(there, each, 0.0).sum(axis=0)
    mean = np.divide(total, number, out=np.full(len(number), np.nan), where=number > 0)
    ordered = np.sort(np.where(there, each, np.nan), axis=0)  # NaN last
    low, high = (_quantile(ordered, number, share) for share in BAND)
    return mean, low, high


def _quantile(ordered: FloatArray, number: FloatArray, share: float) -> FloatArray:
    """A quantile of the first entries of each column, to the digits of `numpy.quantile`."""
    at = share * np.maximum(number - 1, 0)
    before = np.floor(at).astype(np.intp)
    after, columns = np.minimum(before + 1, np.maximum(number - 1, 0)), np.arange(len(number))
    one, other, part = ordered[before, columns], ordered[after, columns], at - before
    step = other - one
    return np.where(part < 0.5, one + step * part, other - step * (1.0 - part))


def _mean_scores(rankings: Sequence[Ranking], heights: Heights) -> FloatArray:
    """The mean predicted probability in each bin."""
    sums = np.zeros((2, _BINS))
    for one in rankings:
        sums += heights.scores(one)
    return np.divide(sums[0], sums[1], out=np.full(_BINS, np.nan), where=sums[1] > 0)


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
    import pandas as pd

    every = [mean_curve(kind, own, heights, **options) for own in rankings.values()]
    places = [len(one.x) for one in every]
    columns = {name: np.concatenate([getattr(one, name) for one in every]) for name in _HEIGHTS}
    learners = [label for label, many in zip(rankings, places, strict=True) for _ in range(many)]
    curves = np.repeat([one.curves for one in every], places)
    return pd.DataFrame({"learner": learners} | columns | {"curves": curves})


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
    usable = [one for one in rankings if not one.undefined]
    if not usable:
        return None
    every = np.concatenate([one.thresholds[:0:-1] for one in usable])
    every.sort(kind="stable")  # which merges what is sorted already
    every = every[::-1][last_of_ties(every[::-1])][::-1]  # of ties the lowest, as in a ranking
    if len(every) > MAX_THRESHOLDS:
        places = np.linspace(0, len(every) - 1, MAX_THRESHOLDS)
        every = every[np.rint(places).astype(np.intp)]
    thresholds = np.concatenate([[np.inf], every[::-1]])
    rates = np.zeros((2, len(thresholds)))
    for one in usable:
        # The last entry whose threshold is not below.
        place = np.searchsorted(-one.thresholds, -thresholds, side="right") - 1
        curve = Roc(one)
        rates += [curve.false_positive_rate[place], curve.true_positive_rate[place]]
    rates /= len(usable)
    rates[:, -1] = 1.0
    kept = roc_hull(rates.T).places
    return Points(thresholds[kept], rates[0, kept], rates[1, kept], mean_prior(usable))


def mean_prior(rankings: Sequence[Ranking]) -> float:
    """Return the mean share of positive rows; NaN without rankings."""
    shares = [float(one.positives[-1] / one.rows[-1]) for one in rankings]
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
    missed, false = (
        false_negative_cost - true_positive_cost,
        false_positive_cost - true_negative_cost,
    )
    probability_cost(prior, missed, false)  # refuses impossible ones
    missed, false = prior * missed, (1.0 - prior) * false
    right = prior * true_positive_cost + (1.0 - prior) * true_negative_cost  # never a wrong one
    wrong = missed * (1.0 - points.true_positive_rate) + false * points.false_positive_rate
    best = int(np.flatnonzero(wrong <= wrong.min() + _ROUNDING)[0])
    return BestThreshold(
        float(points.threshold[best]), float(right + wrong[best]), right + missed, right + false
    )


def most_profitable(lift: FloatArray, prior: float, steps: int) -> tuple[float, float]:
    """Return the most profitable share of rows to act on, and the profit per row.

    Each positive row acted on gains 1 and each row costs the prior, so that acting at random earns
    0.

    Parameters
    ----------
    lift
        The share of positive rows reached, at even shares of all rows from 0 to 1.
    prior
        The share of positive rows.
    steps
        How many steps from 0 to 1 ``lift`` is given in: of shares whose profits are as close as one
        step, the least is returned.
    """
    share = np.linspace(0.0, 1.0, len(lift))
    profit = prior * lift - prior * share
    close = prior / steps + _ROUNDING
    at = int(np.flatnonzero(profit >= profit.max() - close)[0])
    return float(share[at]), float(profit[at])
