"""Variants of the area under the ROC curve that count the margins of probabilities too."""

import numpy as np

from simstudy.arrays import BoolArray, Class, FloatArray, Labels, Proba
from simstudy.measures.base import Undefined, Weights, measure
from simstudy.measures.positive_class import one_sided, positive_class


@measure(greater_is_better=True, label="scored AUC", over="set")
def scored_auc(
    proba: Proba, y: Labels, *, weights: Weights = None, rarer: Class = None, positive: Class = None
) -> float:
    """Scored AUC: the mean margin by which positive rows are ranked above negative ones.

    Wu, Flach & Ferri 2007. With q the probability of the positive class, over pairs of a positive
    and a negative row, the mean of ``max(q of the positive − q of the negative, 0)``. With more
    than two classes the positive one is taken against the rest.

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
        From 0 to 1; undefined if the positive class has no rows or all.

    References
    ----------
    S. Wu, P. Flach & C. Ferri (2007). An improved model selection heuristic for AUC. ECML.

    S. Vanderlooy & E. Hüllermeier (2008). A critical analysis of variants of the AUC. Machine
    Learning 72.
    """
    q, weight, is_positive, totals, reason = _parts(proba, y, weights, rarer, positive)
    if reason:
        return Undefined(reason)
    order = np.argsort(q)
    q, weight, is_positive = q[order], weight[order], is_positive[order]
    # Rows that tie have the margin 0, so their order does not matter.
    below = np.cumsum(np.where(is_positive, 0.0, weight))
    margin = q * below - np.cumsum(np.where(is_positive, 0.0, weight * q))
    return float((weight * margin)[is_positive].sum() / (totals[0] * totals[1]))


@measure(greater_is_better=True, label="probabilistic AUC", over="set")
def probabilistic_auc(
    proba: Proba, y: Labels, *, weights: Weights = None, rarer: Class = None, positive: Class = None
) -> float:
    """Probabilistic AUC: how much more probable the positive class is made in its rows.

    Ferri, Flach, Hernández-Orallo & Senad 2005. With q the probability of the positive class,
    ``(1 + mean of q over positive rows − mean of q over negative rows)/2``. With more than two
    classes the positive one is taken against the rest.

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
        From 0 to 1; undefined if the positive class has no rows or all.

    References
    ----------
    C. Ferri, P. Flach, J. Hernández-Orallo & A. Senad (2005). Modifying ROC curves to incorporate
    predicted probabilities. ROCML.

    S. Vanderlooy & E. Hüllermeier (2008). A critical analysis of variants of the AUC. Machine
    Learning 72.
    """
    q, weight, is_positive, totals, reason = _parts(proba, y, weights, rarer, positive)
    if reason:
        return Undefined(reason)
    sums = (weight * q)[is_positive].sum(), (weight * q)[~is_positive].sum()
    return float((1 + sums[0] / totals[0] - sums[1] / totals[1]) / 2)


def _parts(
    proba: Proba, y: Labels, weights: Weights, rarer: Class, positive: Class
) -> tuple[FloatArray, FloatArray, BoolArray, tuple[float, float], str]:
    """Return probabilities of the positive class, weights, which rows are of it, both totals.

    The last is why there is no measure: the class that no row has; usually empty.
    """
    chosen = positive_class(positive, rarer, y, np.shape(proba)[1], weights)
    weight = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
    is_positive = np.asarray(y) == chosen
    totals = weight[is_positive].sum(), weight[~is_positive].sum()
    q = np.asarray(proba, dtype=np.float64)[:, chosen]
    return q, weight, is_positive, totals, one_sided(*totals)
