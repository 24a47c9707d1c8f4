"""Measures of information retrieval and marketing: how many of the rows ranked first are positive.

With more than two classes the positive one is taken against the rest.
"""

from typing import Literal

import numpy as np

from simstudy.arrays import Class, Labels, Proba
from simstudy.measures.base import Undefined, Weights, measure
from simstudy.measures.positive_class import NO_POSITIVE, require, require_one_of
from simstudy.measures.ranking.ranked_rows import rank

_RECALLS = {3: np.array([0.2, 0.5, 0.8]), 11: np.arange(11) / 10}
_ROUNDING = 1e-9  # of a recall


@measure(greater_is_better=True, label="average precision", over="set")
def average_precision(
    proba: Proba, y: Labels, *, weights: Weights = None, rarer: Class = None, positive: Class = None
) -> float:
    """Average precision: the area under the precision–recall curve, by steps.

    ``Σ_i (R_i − R_{i−1}) P_i``, with P_i and R_i the precision and recall of the rows whose
    probability of the positive class is at least the i-th highest. Tied rows enter together.

    Parameters
    ----------
    proba : array of shape (n, c)
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
        From 0 to 1; the share of positive rows for constant probabilities; undefined if there is
        no positive row.

    Notes
    -----
    As scikit-learn's average_precision_score; a linear interpolation between the points of the
    curve would be too optimistic (Davis & Goadrich 2006).

    References
    ----------
    J. Davis & M. Goadrich (2006). The relationship between precision-recall and ROC curves. ICML
    2006.
    """
    ranking = rank(proba, y, weights, rarer, positive)
    positives = ranking.positives
    if positives[-1] == 0:
        return Undefined(NO_POSITIVE)
    precisions = positives[1:] / ranking.rows[1:]
    return float(np.dot(np.diff(positives), precisions) / positives[-1])


@measure(greater_is_better=True, label="interpolated precision", over="set")
def interpolated_precision(
    proba: Proba,
    y: Labels,
    *,
    weights: Weights = None,
    rarer: Class = None,
    points: Literal[3, 11] = 11,
    positive: Class = None,
) -> float:
    """Interpolated precision: the mean precision at 3 or 11 values of recall.

    ``(1/m) Σ_r max(P_i : R_i ≥ r)`` over m values r of recall, with P_i and R_i the precision and
    recall of the rows whose probability of the positive class is at least the i-th highest. The
    precision at a recall is interpolated as in information retrieval: it is the largest at that
    recall or any greater one (Manning, Raghavan & Schütze 2008, section 8.4). Called 3-point and
    11-point average recall by Witten, Frank & Hall 2011, section 5.7.

    Parameters
    ----------
    proba : array of shape (n, c)
        The learner's probabilities.
    y : array of shape (n,)
        The true classes.
    weights : array of shape (n,), optional
        Row weights.
    rarer : int, optional
        The class that is rarer in the population.
    points : 3 or 11
        The number of recalls: 0.2, 0.5 and 0.8, or 0, 0.1, …, 1.
    positive : int, optional
        The positive class; the rarer one if not given.

    Returns
    -------
    float
        From 0 to 1; undefined if there is no positive row.

    References
    ----------
    C. D. Manning, P. Raghavan & H. Schütze (2008). Introduction to Information Retrieval.
    Cambridge University Press.

    I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, chapter 5.
    """
    require_one_of("points", points, tuple(_RECALLS))
    ranking = rank(proba, y, weights, rarer, positive)
    positives = ranking.positives
    if positives[-1] == 0:
        return Undefined(NO_POSITIVE)
    precisions = positives[1:] / ranking.rows[1:]
    largest = np.maximum.accumulate(precisions[::-1])[::-1]
    first = np.searchsorted(positives[1:] / positives[-1], _RECALLS[points] - _ROUNDING)
    return float(largest[first].mean())


@measure(greater_is_better=True, label="precision at k", over="set")
def precision_at(
    proba: Proba, y: Labels, *, rarer: Class = None, k: int = 10, positive: Class = None
) -> float:
    """Precision at k: the share of positive rows among the k ranked first.

    ``TP_k/k``, with TP_k the number of positive rows among the k rows of highest probability of
    the positive class; its expectation over random orders of tied rows.

    Parameters
    ----------
    proba : array of shape (n, c)
        The learner's probabilities.
    y : array of shape (n,)
        The true classes.
    rarer : int, optional
        The class that is rarer in the population.
    k : int >= 1
        The number of rows.
    positive : int, optional
        The positive class; the rarer one if not given.

    Returns
    -------
    float
        From 0 to 1; undefined for fewer than k rows.

    References
    ----------
    I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, chapter 5.
    """
    _check_k(k)
    ranking = rank(proba, y, None, rarer, positive)
    if len(y) < k:
        return Undefined(f"fewer than {k} rows")
    return ranking.positives_among(k) / k


@measure(greater_is_better=True, label="recall at k", over="set")
def recall_at(
    proba: Proba, y: Labels, *, rarer: Class = None, k: int = 10, positive: Class = None
) -> float:
    """Recall at k: the share of the positive rows that is among the k ranked first.

    ``TP_k/n₁``, with TP_k the number of positive rows among the k rows of highest probability of
    the positive class, its expectation over random orders of tied rows, and n₁ the number of all
    positive rows.

    Parameters
    ----------
    proba : array of shape (n, c)
        The learner's probabilities.
    y : array of shape (n,)
        The true classes.
    rarer : int, optional
        The class that is rarer in the population.
    k : int >= 1
        The number of rows.
    positive : int, optional
        The positive class; the rarer one if not given.

    Returns
    -------
    float
        From 0 to 1; undefined for fewer than k rows or no positive row.

    References
    ----------
    I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, chapter 5.
    """
    _check_k(k)
    ranking = rank(proba, y, None, rarer, positive)
    if len(y) < k:
        return Undefined(f"fewer than {k} rows")
    if ranking.positives[-1] == 0:
        return Undefined(NO_POSITIVE)
    return ranking.positives_among(k) / float(ranking.positives[-1])


def _check_k(k: int) -> None:
    whole = isinstance(k, int | np.integer) and not isinstance(k, bool)
    require(whole and k >= 1, "k", k, "it must be a whole number of at least 1")


@measure(greater_is_better=True, label="lift", over="set", equivalent=0)
def lift(
    proba: Proba,
    y: Labels,
    *,
    weights: Weights = None,
    rarer: Class = None,
    share: float = 0.1,
    positive: Class = None,
) -> float:
    """Lift: how many times more positive rows the first rows have than as many at random.

    Witten, Frank & Hall 2011, section 5.7: ``(TP_s/(s n))/(n₁/n)``, with s the share of the n rows
    that is taken, those of highest probability of the positive class, TP_s the number of positive
    rows among them and n₁ that of all. Where s n is not a whole number, or divides tied rows, TP_s
    is on a straight line between the numbers at distinct probabilities: its mean over random
    orders.

    Parameters
    ----------
    proba : array of shape (n, c)
        The learner's probabilities.
    y : array of shape (n,)
        The true classes.
    weights : array of shape (n,), optional
        Row weights.
    rarer : int, optional
        The class that is rarer in the population.
    share : float > 0, <= 1
        The share s of the rows.
    positive : int, optional
        The positive class; the rarer one if not given.

    Returns
    -------
    float
        From 0 to 1/s, 1 for constant probabilities; undefined if there is no positive row.

    References
    ----------
    I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, chapter 5.
    """
    require(0 < share <= 1, "share", share, "it must be above 0 and at most 1")
    ranking = rank(proba, y, weights, rarer, positive)
    if ranking.positives[-1] == 0:
        return Undefined(NO_POSITIVE)
    among = ranking.positives_among(share * float(ranking.rows[-1]))
    return among / (share * float(ranking.positives[-1]))
