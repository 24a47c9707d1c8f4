"""Errors and complexities of class probabilities, as Weka reports them.

Throughout, q are the learner's probabilities, p the prior, a_j is 1 for the true class and 0 for
the others, c the true class, k the number of classes. Sums over rows are weighted if weights are
given; probabilities are never renormalised.
"""

import math

import numpy as np

from simstudy.arrays import FloatArray, Labels, Proba, weights_in
from simstudy.measures.base import Undefined, Weights, measure, pick, score
from simstudy.measures.scores.losses import brier_score
from simstudy.measures.scores.rewards import gain, kononenko_bratko

SMALLEST = 5e-324  # the smallest positive double, 2^-1074


@measure(greater_is_better=False, label="mean absolute error")
def mean_absolute_error(proba: Proba, y: Labels) -> FloatArray:
    """Mean absolute error of the probabilities, over rows and classes.

    Weka's: ``(1/k) Σ_j |q_j − a_j|``, with a_j = 1 for the true class and 0 for the others.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities q.
    y : array of shape (n,)
        The true classes.

    Returns
    -------
    array of shape (n,)
        One error per row, 0 to 2/k if the probabilities sum to one.

    Notes
    -----
    Not a proper score: it is least if the most probable class gets probability 1.

    References
    ----------
    I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, section 5.8.
    """
    q = np.asarray(proba, dtype=np.float64)
    true = pick(q, y)
    # |q_c − 1| replaces |q_c|
    return (np.abs(q).sum(axis=1) - np.abs(true) + np.abs(true - 1.0)) / q.shape[1]


@measure(greater_is_better=False, label="root mean squared error", over="set")
def rmse(proba: Proba, y: Labels, *, weights: Weights = None) -> float:
    """Root mean squared error of the probabilities, over rows and classes.

    Weka's: ``sqrt(mean of (q_j − a_j)²)`` over rows and classes, the root of the mean `brier_score`
    divided by k. Huang & Ling 2007 call it RMS.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities q.
    y : array of shape (n,)
        The true classes.
    weights : array of shape (n,), optional
        Row weights.

    Returns
    -------
    float
        The error, at least 0.

    References
    ----------
    I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, section 5.8.
    """
    return math.sqrt(score(brier_score, proba, y, weights=weights) / np.shape(proba)[1])


@measure(greater_is_better=False, label="relative absolute error", unit="%", over="set")
def relative_absolute_error(
    proba: Proba, y: Labels, *, prior: FloatArray, weights: Weights = None
) -> float:
    """Mean absolute error as a percentage of that of the prior.

    Weka's: ``100 Σ |q_j − a_j| / Σ |p_j − a_j|`` over rows and classes.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities q.
    y : array of shape (n,)
        The true classes.
    prior : array of shape (k,)
        The prior probabilities p.
    weights : array of shape (n,), optional
        Row weights.

    Returns
    -------
    float
        The ratio in percent; 100 if no better than the prior. Undefined if the prior is never
        wrong.

    Notes
    -----
    Weka's prior is (n_c + 1)/(n + k), of the n_c training rows of each class.

    References
    ----------
    I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, section 5.8.
    """
    return _relative(proba, y, prior, weights, squared=False)


@measure(greater_is_better=False, label="root relative squared error", unit="%", over="set")
def root_relative_squared_error(
    proba: Proba, y: Labels, *, prior: FloatArray, weights: Weights = None
) -> float:
    """Root mean squared error as a percentage of that of the prior.

    Weka's: ``100 sqrt(Σ (q_j − a_j)² / Σ (p_j − a_j)²)`` over rows and classes.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities q.
    y : array of shape (n,)
        The true classes.
    prior : array of shape (k,)
        The prior probabilities p.
    weights : array of shape (n,), optional
        Row weights.

    Returns
    -------
    float
        The ratio in percent; 100 if no better than the prior. Undefined if the prior is never
        wrong.

    Notes
    -----
    Weka's prior is (n_c + 1)/(n + k), of the n_c training rows of each class.

    References
    ----------
    I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, section 5.8.
    """
    return _relative(proba, y, prior, weights, squared=True)


@gain(label="total Kononenko & Bratko reward", unit="bits", over="set", equivalent=0)
def kononenko_bratko_total(proba: Proba, y: Labels, *, prior: FloatArray) -> float:
    """Kononenko & Bratko's information score, summed over all rows, in bits.

    Kononenko & Bratko 1991: ``Σ_rows I``, with I the `kononenko_bratko` score of a row in bits.
    It grows with the number of rows: compare only test sets of equal size.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities; only that of the true class matters.
    y : array of shape (n,)
        The true classes.
    prior : array of shape (k,)
        The prior probabilities.

    Returns
    -------
    float
        The total in bits.

    References
    ----------
    I. Kononenko & I. Bratko (1991). Information-based evaluation criterion for classifier's
    performance. Machine Learning 6.
    """
    mean = score(kononenko_bratko, proba, y, prior=prior, base=2.0)
    return mean if math.isnan(mean) else mean * len(y)


@gain(label="relative Kononenko & Bratko reward", unit="%", over="set")
def kononenko_bratko_relative(
    proba: Proba, y: Labels, *, prior: FloatArray, weights: Weights = None, total: bool = False
) -> float:
    """Kononenko & Bratko's relative information score: a percentage of the entropy of the prior.

    Kononenko & Bratko 1991: ``100 · mean of I / H(p)``, with I the `kononenko_bratko` score of a
    row and ``H(p) = −Σ_j p_j log p_j``.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities; only that of the true class matters.
    y : array of shape (n,)
        The true classes.
    prior : array of shape (k,)
        The prior probabilities p.
    weights : array of shape (n,), optional
        Row weights.
    total : bool
        Whether the total over all rows, ``Σ I``, is divided by the entropy, as in Weka 3.6, not the
        mean: the figure is then n times as large, or as many times as the weights sum to.

    Returns
    -------
    float
        The percentage; 0 if no better than the prior, about 100 if always certain and right.
        Undefined if the prior is certain.

    References
    ----------
    I. Kononenko & I. Bratko (1991). Information-based evaluation criterion for classifier's
    performance. Machine Learning 6.
    """
    p = np.asarray(prior, dtype=np.float64)
    p = p[p > 0]
    entropy = -float((p * np.log2(p)).sum())
    if not entropy > 0:
        return Undefined("the prior is certain and has no entropy")
    mean = score(kononenko_bratko, proba, y, prior=prior, weights=weights, base=2.0)
    if math.isnan(mean):
        return mean
    rows = 1.0 if not total else len(y) if weights is None else float(np.sum(weights))
    return 100.0 * mean / entropy * rows


@measure(greater_is_better=False, logarithmic=True, label="class complexity", unit="bits")
def class_complexity(proba: Proba, y: Labels) -> FloatArray:
    """Class complexity: the bits that encode the true class, given the learner's probabilities.

    Weka's scheme complexity per row: ``−log2 q_c``, with q_c the probability of the true class. The
    `log_loss` in bits, but for a class of probability 0, which costs 1074 bits, as the smallest
    positive double would.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities q.
    y : array of shape (n,)
        The true classes.

    Returns
    -------
    array of shape (n,)
        One number of bits per row, at most 1074.

    Notes
    -----
    Summed over the training rows, the length of the data given the theory, L[E|T], of Witten,
    Frank & Hall 2011, section 5.9.

    References
    ----------
    I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, sections 5.6 and 5.9.
    """
    return -np.log2(np.maximum(pick(proba, y), SMALLEST)) + 0.0  # −0 is 0


@gain(unit="bits")
def complexity_improvement(proba: Proba, y: Labels, *, prior: FloatArray) -> FloatArray:
    """Complexity improvement: the bits that the learner saves compared with the prior.

    Weka's: ``log2 q_c − log2 p_c``, with c the true class: the `class_complexity` of the prior
    minus that of the learner.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities q.
    y : array of shape (n,)
        The true classes.
    prior : array of shape (k,)
        The prior probabilities p.

    Returns
    -------
    array of shape (n,)
        One number of bits per row, between −1074 and 1074.

    References
    ----------
    I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, section 5.6.
    """
    by_prior = class_complexity(np.broadcast_to(prior, np.shape(proba)), y)
    return by_prior - class_complexity(proba, y)


def _relative(proba: Proba, y: Labels, prior: FloatArray, weights: Weights, squared: bool) -> float:
    """Return the mean error, absolute or root squared, as a percentage of that of the prior."""
    function, k = brier_score if squared else mean_absolute_error, len(prior)
    # The prior gives all rows of a class one value.
    rows, counts = np.broadcast_to(prior, (k, k)), weights_in(y, weights, k)
    by_prior = score(function, rows, np.arange(k), weights=counts)
    if not by_prior > 0:
        return Undefined("the prior is certain and never wrong")
    ratio = score(function, proba, y, weights=weights) / by_prior
    return 100.0 * (math.sqrt(ratio) if squared else ratio)
