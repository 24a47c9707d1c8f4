"""Curves of a ranking: ROC, precision–recall, lift, cost, profit and reliability.

Each is a pure function from scores, labels and weights to an object with named arrays. There is one
point for each distinct score, from the highest, before them one at an infinite threshold, of no
rows: rows with a score of at least the threshold are called positive, tied rows together. A rate
that does not exist (no row of a class, the precision of no rows) is NaN, and ``undefined`` says why
a class has none.

References
----------
I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, section 5.7.

C. Drummond & R. C. Holte (2006). Cost curves: an improved method for visualizing classifier
performance. Machine Learning 65.

J. Davis & M. Goadrich (2006). The relationship between precision-recall and ROC curves. ICML 2006.
"""

from dataclasses import dataclass, field

import numpy as np

from simstudy.arrays import ArrayLike, FloatArray, IntArray, weights_in
from simstudy.measures.base import divided
from simstudy.measures.positive_class import require
from simstudy.measures.ranking.ranked_rows import AverageRoc as AverageRoc
from simstudy.measures.ranking.ranked_rows import Hull as Hull
from simstudy.measures.ranking.ranked_rows import Ranking, checked_rows, interpolate, rank_scores
from simstudy.measures.ranking.ranked_rows import average_vertically as average_vertically
from simstudy.measures.ranking.ranked_rows import mixture as mixture
from simstudy.measures.ranking.ranked_rows import roc_hull as roc_hull

_ROUNDING = 1e-12


@dataclass(frozen=True)
class ThresholdCurve:
    """Numbers of rows (sums of weights) at each threshold, from none called positive to all."""

    ranking: Ranking = field(repr=False)

    @property
    def thresholds(self) -> FloatArray:
        """The distinct scores, from the highest, after infinity."""
        return self.ranking.thresholds

    @property
    def true_positives(self) -> FloatArray:
        """Positive rows with at least this score."""
        return self.ranking.positives

    @property
    def false_positives(self) -> FloatArray:
        """Negative rows with at least this score."""
        return self.ranking.negatives

    @property
    def false_negatives(self) -> FloatArray:
        """Positive rows with a lower score."""
        return self.ranking.positives[-1] - self.ranking.positives

    @property
    def true_negatives(self) -> FloatArray:
        """Negative rows with a lower score."""
        return self.ranking.negatives[-1] - self.ranking.negatives

    @property
    def undefined(self) -> str:
        """Why rates are NaN: the class that has no rows; empty if both have."""
        return self.ranking.undefined

    @property
    def prior(self) -> float:
        """The share of positive rows."""
        return float(self.ranking.positives[-1] / self.ranking.rows[-1])

    @property
    def false_positive_rate(self) -> FloatArray:
        """The share of the negative rows that is called positive."""
        return divided(self.ranking.negatives, self.ranking.negatives[-1])

    @property
    def true_positive_rate(self) -> FloatArray:
        """The share of the positive rows that is called positive."""
        return divided(self.ranking.positives, self.ranking.positives[-1])

    @property
    def share(self) -> FloatArray:
        """The share of all rows that is called positive."""
        return divided(self.ranking.rows, self.ranking.rows[-1])

    @property
    def precision(self) -> FloatArray:
        """The share of positive rows among those called positive; NaN of no rows."""
        return divided(self.ranking.positives, self.ranking.rows)

    @property
    def recall(self) -> FloatArray:
        """The share of the positive rows that is called positive."""
        return self.true_positive_rate

    @property
    def false_discovery_rate(self) -> FloatArray:
        """The share of negative rows among those called positive; what Weka calls fallout."""
        return divided(self.ranking.negatives, self.ranking.rows)

    @property
    def f_measure(self) -> FloatArray:
        """The harmonic mean of precision and recall, ``2 TP / (2 TP + FP + FN)``."""
        positives = self.ranking.positives
        return divided(2.0 * positives, self.ranking.rows + positives[-1])

    @property
    def lift(self) -> FloatArray:
        """How many times more positive rows than among as many rows at random; NaN of no rows."""
        return divided(self.true_positive_rate, self.share)


class Roc(ThresholdCurve):
    """True against false positive rate."""

    @property
    def area(self) -> float:
        """The area under the curve, equal to `measures.auc`; NaN with a reason if undefined."""
        return self.ranking.area

    def at(self, false_positive_rate: ArrayLike) -> FloatArray:
        """Return the true positive rate; where the curve is vertical, its upper end."""
        where = np.asarray(false_positive_rate, np.float64)
        return interpolate(where, self.false_positive_rate, self.true_positive_rate)


class PrecisionRecall(ThresholdCurve):
    """Precision against recall; the precision of no rows is NaN."""

    def at(self, recall: ArrayLike) -> FloatArray:
        """Return the precision, with numbers of rows on a line between thresholds.

        This is the interpolation of Davis & Goadrich 2006, a hyperbola. At recall 0 it is the
        limit: the share of positive rows among those of the first threshold with any.
        """
        negatives, positives, _ = self.ranking
        if positives[-1] == 0:
            return np.full(np.shape(recall), np.nan)
        right = np.asarray(recall, np.float64) * positives[-1]
        first = np.searchsorted(positives, right, side="left")  # the fewest rows with this recall
        first = np.maximum(first, np.flatnonzero(positives)[0])
        gained = positives[first] - positives[first - 1]
        part = np.clip((right - positives[first - 1]) / gained, 0.0, 1.0)
        wrong = negatives[first - 1] + part * (negatives[first] - negatives[first - 1])
        at_limit = (right == 0) & (wrong == 0)
        slope = gained / (gained + negatives[first] - negatives[first - 1])
        return np.where(at_limit, slope, divided(right, right + wrong))


class Lift(ThresholdCurve):
    """How many positive rows are found among a share of all rows, highest-ranked first."""

    def at(self, share: ArrayLike) -> FloatArray:
        """Return the share of the positive rows found, the mean over orders of tied rows."""
        return np.interp(np.asarray(share, np.float64), self.share, self.true_positive_rate)


@dataclass(frozen=True)
class CostCurve(ThresholdCurve):
    """Normalized expected cost against the probability cost, a line for each threshold.

    The line of a threshold goes from the false positive rate at 0 to the false negative rate at 1.
    The two trivial classifiers are thresholds too: the first line, from 0 to 1, calls no row
    positive, the last, from 1 to 0, calls all rows positive. The lower envelope is the cost of the
    best threshold. With equal costs, probability cost is the share of positive rows and normalized
    cost the error rate: an error curve is the same curve.
    """

    probability_cost: FloatArray  # vertices of the lower envelope, from 0 to 1
    cost: FloatArray  # normalized expected cost at the vertices
    places: IntArray  # of the lines of the envelope, one fewer than vertices

    @property
    def false_negative_rate(self) -> FloatArray:
        """The share of the positive rows that is called negative."""
        return divided(self.false_negatives, self.ranking.positives[-1])

    def lines(self, probability_cost: ArrayLike) -> FloatArray:
        """Return the cost of every threshold (rows) at some probability costs (columns)."""
        where = np.asarray(probability_cost, np.float64)
        left, right = self.false_positive_rate[:, None], self.false_negative_rate[:, None]
        return left * (1.0 - where) + right * where

    def at(self, probability_cost: ArrayLike) -> FloatArray:
        """Return the cost of the best threshold, on the lower envelope."""
        return np.interp(np.asarray(probability_cost), self.probability_cost, self.cost)

    @property
    def useful(self) -> tuple[float, float]:
        """Between which probability costs some threshold is cheaper than both trivial ones."""
        first, last = self.probability_cost[[1, -2]].tolist()
        return (first, last) if last - first > _ROUNDING else (np.nan, np.nan)


@dataclass(frozen=True)
class Profit(ThresholdCurve):
    """Profit of acting on a share of all rows, highest-ranked first."""

    profit: FloatArray

    @property
    def best(self) -> int:
        """The place of the most profitable threshold, the one of fewest rows among equals."""
        return int(self.profit.argmax())


def roc(scores: ArrayLike, positive: ArrayLike, weights: ArrayLike | None = None) -> Roc:
    """Return the ROC curve of scores.

    Parameters
    ----------
    scores : array of shape (n,)
        The probability of the positive class, or any score that is higher the more probable it is.
    positive : array of shape (n,)
        Whether each row is of the positive class: booleans, or 0 and 1.
    weights : array of shape (n,), optional
        Row weights of any positive sum; rows of weight 0 are left out.
    """
    return Roc(_ranking(scores, positive, weights))


def precision_recall(
    scores: ArrayLike, positive: ArrayLike, weights: ArrayLike | None = None
) -> PrecisionRecall:
    """Return the precision–recall curve of scores; parameters as `roc`."""
    return PrecisionRecall(_ranking(scores, positive, weights))


def lift(scores: ArrayLike, positive: ArrayLike, weights: ArrayLike | None = None) -> Lift:
    """Return the lift chart of scores; parameters as `roc`."""
    return Lift(_ranking(scores, positive, weights))


def cost_curve(
    scores: ArrayLike, positive: ArrayLike, weights: ArrayLike | None = None
) -> CostCurve:
    """Return the cost curve of scores with its lower envelope; parameters as `roc`."""
    return cost_curve_of(_ranking(scores, positive, weights))


def cost_curve_of(ranking: Ranking) -> CostCurve:
    """Return the cost curve of a ranking; the hull of the ROC curve has the lines of the envelope.

    Two neighbouring lines of the envelope cross where the slope of the hull is the ratio of costs.
    """
    hull = roc_hull(Roc(ranking))
    across, down = hull.false_positive_rate, 1.0 - hull.true_positive_rate
    run, fall = np.diff(across), -np.diff(down)
    where = np.concatenate([[0.0], run / (run + fall), [1.0]])
    first = np.concatenate([[0], np.arange(len(across))])  # the line to the left of each vertex
    costs = across[first] * (1.0 - where) + down[first] * where
    return CostCurve(ranking, where, costs, hull.places)


def profit(
    scores: ArrayLike,
    positive: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    benefit: float,
    cost: float,
    fixed: float = 0.0,
    population: float | None = None,
) -> Profit:
    """Return the profit of acting on the rows ranked first, as of mailing to likely respondents.

    ``benefit · TP − cost · (TP + FP) − fixed``.

    Parameters
    ----------
    scores, positive, weights
        As `roc`.
    benefit : float
        The gain from each positive row acted on.
    cost : float
        The cost of each row acted on.
    fixed : float
        The cost of acting at all.
    population : float > 0, optional
        The number of rows to act on at most; that of the sample if not given.
    """
    require(population is None or population > 0, "population", population, "it must be above 0")
    ranking = _ranking(scores, positive, weights)
    scale = 1.0 if population is None else population / float(ranking.rows[-1])
    gained = scale * (benefit * ranking.positives - cost * ranking.rows)
    return Profit(ranking, gained - fixed * (ranking.rows > 0))


def probability_cost(
    prior: float, false_negative_cost: float = 1.0, false_positive_cost: float = 1.0
) -> float:
    """Return the probability cost of a class prior and two costs, the abscissa of a cost curve."""
    require(0 <= prior <= 1, "prior", prior, "it must be from 0 to 1")
    missed, false = prior * false_negative_cost, (1.0 - prior) * false_positive_cost
    costs = (false_negative_cost, false_positive_cost)
    require(min(costs) >= 0 and missed + false > 0, "costs", costs, "they must be above 0")
    return missed / (missed + false)


def _ranking(scores: ArrayLike, positive: ArrayLike, weights: ArrayLike | None) -> Ranking:
    return rank_scores(*checked_rows(scores, positive, weights))


@dataclass(frozen=True)
class ReliabilityCurve:
    """Observed against predicted frequency of the positive class, by bins that have rows."""

    low: FloatArray  # edges of the bins
    high: FloatArray
    share: FloatArray  # of all rows
    predicted: FloatArray  # mean score
    observed: FloatArray  # share of positive rows


def reliability(
    scores: ArrayLike, positive: ArrayLike, weights: ArrayLike | None = None, bins: int = 10
) -> ReliabilityCurve:
    """Return observed against predicted frequency in bins of equal width from 0 to 1.

    A probability on an edge belongs to the upper bin, 1 to the last. Parameters as `roc`.
    """
    require(bins >= 1, "bins", bins, "it must be at least 1")
    score, is_positive, weight = checked_rows(scores, positive, weights)
    require(bool((score >= 0).all() and (score <= 1).all()), "scores", "…", "from 0 to 1 each")
    place = np.minimum((score * bins).astype(np.intp), bins - 1)
    each = np.ones(len(score)) if weight is None else weight
    totals = weights_in(place, each, bins)
    filled = np.flatnonzero(totals)
    sums = (weights_in(place, each * values, bins) for values in (score, is_positive))
    predicted, observed = (part[filled] / totals[filled] for part in sums)
    share = totals[filled] / totals.sum()
    return ReliabilityCurve(filled / bins, (filled + 1) / bins, share, predicted, observed)
