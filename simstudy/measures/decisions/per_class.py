"""Precision, recall, false positive rate and F score: of one class, or averaged over classes."""

import math
from typing import Literal, TypeAlias, get_args

import numpy as np

from simstudy.arrays import Class, FloatArray, Labels, Proba
from simstudy.measures import positive_class as classes
from simstudy.measures.base import Undefined, Weights, divided, measure
from simstudy.measures.decisions.confusion import Counts

Average: TypeAlias = Literal["positive", "macro", "weighted"]


@measure(greater_is_better=True, label="precision", over="set")
def precision(
    proba: Proba,
    y: Labels,
    *,
    weights: Weights = None,
    rarer: Class = None,
    average: Average = "positive",
    positive: Class = None,
) -> float:
    """Precision: the share of rows predicted as a class that are of it.

    Of one class, ``TP/(TP + FP)``, with TP and FP the numbers of rows predicted as it that are and
    are not of it.

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
    average : {"positive", "macro", "weighted"}
        Of the positive class; the mean over the classes that occur in the rows; or their mean
        weighted by the rows of each, as in Weka.
    positive : int, optional
        The positive class; the rarer one if not given.

    Returns
    -------
    float
        From 0 to 1. As in Weka, 0 for a class that is never predicted; also 0 for a class without
        rows.

    References
    ----------
    I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, chapter 5.
    """
    counts = Counts(proba, y, weights)
    by_class = divided(counts.right, counts.predicted, absent=0.0)
    return _averaged(by_class, counts, rarer, average, positive)


@measure(greater_is_better=True, label="recall", over="set")
def recall(
    proba: Proba,
    y: Labels,
    *,
    weights: Weights = None,
    rarer: Class = None,
    average: Average = "positive",
    positive: Class = None,
) -> float:
    """Recall: the share of the rows of a class that are predicted as it.

    Of one class, ``TP/(TP + FN)``, with TP and FN the numbers of its rows that are and are not
    predicted as it. Also called sensitivity and true positive rate.

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
    average : {"positive", "macro", "weighted"}
        Of the positive class; the mean over the classes that occur in the rows, which is
        `balanced_accuracy`; or their mean weighted by the rows of each, which is `accuracy`.
    positive : int, optional
        The positive class; the rarer one if not given.

    Returns
    -------
    float
        From 0 to 1; undefined for a positive class without rows (Weka: 0).

    References
    ----------
    I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, chapter 5.
    """
    counts = Counts(proba, y, weights)
    return _averaged(counts.recalls, counts, rarer, average, positive)


@measure(greater_is_better=False, label="false positive rate", over="set")
def false_positive_rate(
    proba: Proba,
    y: Labels,
    *,
    weights: Weights = None,
    rarer: Class = None,
    average: Average = "positive",
    positive: Class = None,
) -> float:
    """False positive rate: the share of the rows of other classes that are predicted as a class.

    Of one class, ``FP/(FP + TN)``, with FP and TN the numbers of rows of other classes that are and
    are not predicted as it: 1 minus its specificity. The true positive rate is `recall`.

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
    average : {"positive", "macro", "weighted"}
        Of the positive class; the mean over the classes that occur in the rows; or their mean
        weighted by the rows of each, as in Weka.
    positive : int, optional
        The positive class; the rarer one if not given.

    Returns
    -------
    float
        From 0 to 1; undefined if all rows are of one class (Weka: 0) and it is asked for.

    References
    ----------
    I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, chapter 5.
    """
    counts = Counts(proba, y, weights)
    value = _averaged(counts.false_rates, counts, rarer, average, positive)
    return Undefined(classes.ALL_POSITIVE) if math.isnan(value) else value


@measure(greater_is_better=True, label="F score", over="set")
def f_score(
    proba: Proba,
    y: Labels,
    *,
    weights: Weights = None,
    rarer: Class = None,
    beta: float = 1.0,
    average: Average = "positive",
    positive: Class = None,
) -> float:
    """F score: weighted harmonic mean of precision and recall.

    van Rijsbergen 1979: of one class, ``(1 + β²) TP/((1 + β²) TP + β² FN + FP)``, with TP, FP and
    FN as in `precision` and `recall`. With β = 1, 2 TP/(2 TP + FP + FN), the F-measure of Witten,
    Frank & Hall 2011, section 5.7.

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
    beta : float > 0
        The weight β of recall relative to precision.
    average : {"positive", "macro", "weighted"}
        Of the positive class; the mean over the classes that occur in the rows; or their mean
        weighted by the rows of each, as in Weka.
    positive : int, optional
        The positive class; the rarer one if not given.

    Returns
    -------
    float
        From 0 to 1. As in Weka, 0 for a class that is never predicted; also 0 for a class without
        rows.

    References
    ----------
    C. J. van Rijsbergen (1979). Information Retrieval, second edition. Butterworths.

    I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, chapter 5.
    """
    classes.require(0 < beta < math.inf, "beta", beta, "it must be above 0 and finite")
    counts, square = Counts(proba, y, weights), beta * beta
    # TP + FN are the rows of the class, TP + FP those predicted as it.
    below = square * counts.actual + counts.predicted
    by_class = divided((1.0 + square) * counts.right, below, absent=0.0)
    return _averaged(by_class, counts, rarer, average, positive)


def _averaged(
    by_class: FloatArray, counts: Counts, rarer: Class, average: Average, positive: Class
) -> float:
    """Return the value of the positive class, or the mean over the classes that occur."""
    classes.require_one_of("average", average, get_args(Average))
    chosen = classes.positive_class(positive, rarer, counts.y, counts.classes, counts.weights)
    if average == "positive":
        value = float(by_class[chosen])
    else:
        present = counts.actual > 0
        weight = counts.actual[present] if average == "weighted" else np.ones(int(present.sum()))
        value = float((by_class[present] * weight).sum() / weight.sum())
    return Undefined(classes.NO_POSITIVE) if math.isnan(value) else value
