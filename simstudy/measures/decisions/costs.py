"""Costs of decisions."""

from typing import Literal, TypeAlias, get_args

import numpy as np

from simstudy.arrays import Class, FloatArray, IntArray, Labels, Proba
from simstudy.measures.base import Weights, measure, modal_class
from simstudy.measures.positive_class import positive_class, require, require_one_of

Matrix: TypeAlias = list[list[float]]  # of costs, true class × decision
Decision: TypeAlias = Literal["modal", "least_cost"]
_ROUNDING = 1e-12  # expected costs closer than this share of the largest cost are equal


@measure(greater_is_better=False, label="cost", equivalent=0)
def cost(
    proba: Proba, y: Labels, matrix: Matrix | None = None, *, decision: Decision = "modal"
) -> FloatArray:
    """Cost of the predicted classes, by a matrix of costs.

    Witten, Frank & Hall 2011, section 5.7: ``C[c][d]``, where C is the matrix, c the true class and
    d the predicted one: the most probable class, or that of least expected cost Σ_i q_i C[i][d].

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities q; ties for the mode go to the lowest class index.
    y : array of shape (n,)
        The true classes.
    matrix : list of k lists of k floats, optional
        The costs: rows are actual classes, columns predicted ones. Not given, every error costs 1.
    decision : {"modal", "least_cost"}
        Whether the most probable class is predicted (Weka's mean cost), or the class of least
        expected cost; ties go to the lowest class index.

    Returns
    -------
    array of shape (n,)
        One cost per row.

    References
    ----------
    I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, chapter 5.
    """
    require_one_of("decision", decision, get_args(Decision))
    costs = cost_matrix(matrix, np.shape(proba)[1])
    chosen = modal_class(proba) if decision == "modal" else least_cost_class(proba, costs)
    return costs[np.asarray(y, dtype=np.intp), chosen]


def cost_matrix(matrix: Matrix | None, classes: int) -> FloatArray:
    """Return a cost matrix as an array; without one, every error costs 1."""
    if matrix is None:
        return 1.0 - np.eye(classes)
    allowed = f"it must have {classes} rows of {classes} finite numbers, one for each class"
    try:
        costs = np.array(matrix, dtype=np.float64)
    except (TypeError, ValueError):  # rows of different lengths, or no numbers
        costs = np.empty(0)
    square = costs.shape == (classes, classes)
    require(square and bool(np.isfinite(costs).all()), "matrix", matrix, allowed)
    return costs


def least_cost_class(proba: Proba, matrix: Matrix | FloatArray) -> IntArray:
    """Return the class of least expected cost of every row.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities q.
    matrix : array of shape (k, k)
        The costs C: rows are actual classes, columns predicted ones.

    Returns
    -------
    array of shape (n,)
        The class d of least ``Σ_i q_i C[i][d]``; ties go to the lowest class index.
    """
    costs = np.asarray(matrix, dtype=np.float64)
    expected = np.asarray(proba, dtype=np.float64) @ costs
    # How a sum is rounded may depend on the class and on the number of rows.
    least = expected.min(axis=1) + _ROUNDING * np.abs(costs).max()
    return np.argmax(expected <= least[:, None], axis=1)


@measure(greater_is_better=False, label="average cost", equivalent=0)
def average_cost(
    proba: Proba,
    y: Labels,
    *,
    weights: Weights = None,
    rarer: Class = None,
    low: float = 0.0,
    high: float = 1.0,
    positive: Class = None,
) -> FloatArray:
    """Cost averaged over a range of cost ratios, with the decision of least expected cost.

    A false positive costs c, a false negative 1 − c, and the positive class is predicted where its
    probability q exceeds c. With c uniform between low l and high h, and t = min(max(q, l), h), the
    mean cost is ``((1 − t)² − (1 − h)²)/(2(h − l))`` of a positive row and
    ``(t² − l²)/(2(h − l))`` of a negative one. From 0 to 1 it is half of the squared error of q
    (Hernández-Orallo, Flach & Ferri 2012, who count costs twice). With more than two classes the
    positive one is taken against the rest.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities.
    y : array of shape (n,)
        The true classes.
    weights : array of shape (n,), optional
        Row weights, used only to find the rarer class.
    rarer : int, optional
        The class that is rarer in the population.
    low : float >= 0, < 1
        The least share c of a false positive's cost.
    high : float > 0, <= 1
        The greatest share c, above the least.
    positive : int, optional
        The positive class; the rarer one if not given.

    Returns
    -------
    array of shape (n,)
        One mean cost per row.

    References
    ----------
    J. Hernández-Orallo, P. Flach & C. Ferri (2012). A unified view of performance metrics:
    translating threshold choice into expected classification loss. Journal of Machine Learning
    Research 13.
    """
    require(0 <= low < 1, "low", low, "it must be at least 0 and below 1")
    require(low < high <= 1, "high", high, f"it must be above low, {low!r}, and at most 1")
    chosen = positive_class(positive, rarer, y, np.shape(proba)[1], weights)
    cut = np.clip(np.asarray(proba, dtype=np.float64)[:, chosen], low, high)
    missed = np.square(1.0 - cut) - (1.0 - high) ** 2
    false_alarm = np.square(cut) - low**2
    return np.where(np.asarray(y) == chosen, missed, false_alarm) / (2.0 * (high - low))
