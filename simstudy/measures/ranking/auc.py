"""Measures of ranking: the area under the ROC curve, SAR and the H measure."""

import math
from typing import Literal, TypeAlias, get_args

import numpy as np

from simstudy.arrays import Class, FloatArray, IntArray, Labels, Proba, weights_in
from simstudy.measures.base import Undefined, Weights, measure, score
from simstudy.measures.positive_class import check_positive, require_one_of
from simstudy.measures.ranking.ranked_rows import Ranking, hull_places, last_of_ties, rank
from simstudy.measures.scores.losses import accuracy, brier_score

Average: TypeAlias = Literal["hand_till", "weighted", "positive"]
_ONE_CLASS = "fewer than two classes occur"


@measure(greater_is_better=True, label="AUC", over="set")
def auc(
    proba: Proba,
    y: Labels,
    *,
    weights: Weights = None,
    rarer: Class = None,
    average: Average | None = None,
    positive: Class = None,
) -> float:
    """Area under the ROC curve: how often a positive row is ranked above a negative one.

    With q the probability of the positive class, over pairs of a positive and a negative row,
    ``P(q of the positive > q of the negative) + ½ P(equal)``. With more than two classes, Hand &
    Till's (2001) M: the mean over pairs of classes i and j of (A(i|j) + A(j|i))/2, where A(i|j) is
    the area of q_i on the rows of i and j.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities.
    y : array of shape (n,)
        The true classes.
    weights : array of shape (n,), optional
        Row weights.
    rarer : int, optional
        The class that is rarer in the population.
    average : {"hand_till", "weighted", "positive"}, optional
        Hand & Till's M; the areas of each class against the rest, weighted by the rows of the
        class, as in Weka; or that of the positive class against the rest. Not given, the last with
        two classes or where ``positive`` is given, else the first.
    positive : int, optional
        The positive class; the rarer one if not given.

    Returns
    -------
    float
        From 0 to 1, ½ for constant probabilities. Classes without rows are left out; undefined if
        fewer than two classes occur, or if the positive class has no rows or all.

    Notes
    -----
    Probabilities tie if they differ by no more than 5e-13 of the larger, from one to the next in
    their order. With two classes, the areas of both differ if probabilities near 1 tie while those
    near 0 do not.

    References
    ----------
    J. A. Hanley & B. J. McNeil (1982). The meaning and use of the area under a receiver operating
    characteristic (ROC) curve. Radiology 143.

    D. J. Hand & R. J. Till (2001). A simple generalisation of the area under the ROC curve for
    multiple class classification problems. Machine Learning 45.
    """
    classes = np.shape(proba)[1]
    check_positive(positive, classes)
    if average is not None:
        require_one_of("average", average, get_args(Average))
    elif classes == 2 or positive is not None:
        average = "positive"
    if average == "positive":
        return rank(proba, y, weights, rarer, positive).area
    totals = weights_in(y, weights, classes)
    present = np.flatnonzero(totals)
    if len(present) < 2:
        return Undefined(_ONE_CLASS)
    wins, totals = _wins(proba, y, weights, present), totals[present]
    if average == "weighted":
        by_class = wins.sum(axis=1) / (totals * (totals.sum() - totals))
        return float((by_class * totals).sum() / totals.sum())
    areas = wins / np.outer(totals, totals)
    return float(areas.sum() / (len(present) * (len(present) - 1)))


def _wins(proba: Proba, y: Labels, weights: Weights, classes: IntArray) -> FloatArray:
    """Return how many pairs of rows of classes i and j are ranked correctly by q_i, ties half.

    ``wins[i, j]`` is of the i-th and j-th of the given classes; its diagonal is 0.
    """
    k = np.shape(proba)[1]
    weight = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
    wins = np.zeros((len(classes), len(classes)))
    for place, label in enumerate(classes):
        column = np.asarray(proba, dtype=np.float64)[:, label]
        order = np.argsort(column)[::-1]
        last, of, mass = last_of_ties(column[order]), np.asarray(y)[order], weight[order]
        above = np.cumsum(np.where(of == label, mass, 0.0))[last]  # and tied
        middle = above.copy()
        middle[1:] += above[:-1]
        if len(last) < len(order):
            middle = np.repeat(middle, np.diff(last, prepend=-1))
        wins[place] = 0.5 * np.bincount(of, mass * middle, minlength=k)[classes]
        wins[place, place] = 0.0
    return wins


@measure(greater_is_better=True, label="SAR", over="set")
def sar(
    proba: Proba,
    y: Labels,
    *,
    weights: Weights = None,
    rarer: Class = None,
    average: Average | None = None,
    positive: Class = None,
) -> float:
    """SAR: the mean of accuracy, area under the ROC curve and 1 minus root mean squared error.

    Caruana & Niculescu-Mizil 2004: ``(accuracy + AUC + (1 − RMS))/3``, where RMS is the root of
    the mean squared error of the probabilities over rows and classes; with two classes, that of
    either.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities; ties for the mode go to the lowest class index.
    y : array of shape (n,)
        The true classes.
    weights : array of shape (n,), optional
        Row weights.
    rarer : int, optional
        The class that is rarer in the population.
    average : {"hand_till", "weighted", "positive"}, optional
        Which area, as for `auc`.
    positive : int, optional
        The positive class of the area; the rarer one if not given.

    Returns
    -------
    float
        From 0 to 1; undefined where `auc` is.

    References
    ----------
    R. Caruana & A. Niculescu-Mizil (2004). Data mining in metric space: an empirical analysis of
    supervised learning performance criteria. KDD 2004.
    """
    area = auc(proba, y, weights=weights, rarer=rarer, average=average, positive=positive)
    if math.isnan(area):
        return area
    rms = math.sqrt(score(brier_score, proba, y, weights=weights) / np.shape(proba)[1])
    return (score(accuracy, proba, y, weights=weights) + area + 1.0 - rms) / 3.0


@measure(greater_is_better=True, label="H measure", zero="no better than chance", over="set")
def h_measure(
    proba: Proba, y: Labels, *, weights: Weights = None, rarer: Class = None, positive: Class = None
) -> float:
    """H measure: expected least cost over a distribution of cost ratios, relative to chance.

    Hand 2009: ``1 − L/L_max``. A false positive costs c, a false negative 1 − c, with density u(c)
    = Beta(1 + π₁, 1 + π₀), where π₁ and π₀ are the shares of positive and negative rows (Hand &
    Anagnostopoulos 2014). L = ∫ min_t [c π₀ F(t) + (1 − c) π₁ (1 − T(t))] u(c) dc, with F(t) and
    T(t) the false and true positive rates at threshold t; L_max is the same if no threshold
    separates the classes, ∫ min(c π₀, (1 − c) π₁) u(c) dc. With more than two classes the positive
    one is taken against the rest.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities.
    y : array of shape (n,)
        The true classes.
    weights : array of shape (n,), optional
        Row weights.
    rarer : int, optional
        The class that is rarer in the population.
    positive : int, optional
        The positive class; the rarer one if not given.

    Returns
    -------
    float
        From 0 to 1: 0 for constant probabilities, 1 where all positive rows are ranked above all
        negative ones; undefined if the positive class has no rows or all.

    Notes
    -----
    The least cost is reached on the convex hull of the ROC curve, so a ranking worse than chance
    gives about 0, not less.

    References
    ----------
    D. J. Hand (2009). Measuring classifier performance: a coherent alternative to the area under
    the ROC curve. Machine Learning 77.

    D. J. Hand & C. Anagnostopoulos (2014). A better Beta for the H measure of classification
    performance. Pattern Recognition Letters 40.
    """
    ranking = rank(proba, y, weights, rarer, positive)
    if ranking.undefined:
        return Undefined(ranking.undefined)
    hull = hull_places(ranking.negatives, ranking.positives)
    ends = np.array([0, len(ranking.positives) - 1])
    least, worst = (_expected_cost(ranking.at(places)) for places in (hull, ends))
    return 1.0 - least / worst


def _expected_cost(hull: Ranking) -> float:
    """Return the expected least cost of thresholds, each of which is best for some cost."""
    from scipy.special import betainc

    negatives, positives, _ = hull
    total = negatives[-1] + positives[-1]
    shape_1, shape_2 = 1.0 + positives[-1] / total, 1.0 + negatives[-1] / total
    gained = np.diff(positives)
    # A threshold is best from the share of positive rows after it to that before it.
    cuts = np.concatenate([[1.0], gained / (gained + np.diff(negatives)), [0.0]])
    # Integrals of c and of 1 − c over these intervals; the shapes sum to 3.
    of_false = -np.diff(betainc(shape_1 + 1.0, shape_2, cuts)) * shape_1 / 3.0
    of_missed = -np.diff(betainc(shape_1, shape_2 + 1.0, cuts)) * shape_2 / 3.0
    missed = positives[-1] - positives
    return float((negatives * of_false + missed * of_missed).sum() / total)
