"""Measures that compare a learner with the known truth."""

import math

import numpy as np

from simstudy.arrays import FloatArray, Labels, Prior, Proba
from simstudy.measures.base import NATS, measure
from simstudy.measures.scores.rewards import information_reward

TRUTH = "the true probabilities"  # a regret of 0
_ROUNDING = 64 * float(np.finfo(np.float64).eps)  # of a reward


@measure(greater_is_better=False, logarithmic=True, label="KL divergence", unit="nats")
def kl_divergence(proba: Proba, y: Labels, truth: Proba, base: float = NATS) -> FloatArray:
    """Kullback-Leibler divergence of the learner's class posterior from the true one.

    Hope & Korb 2004, equation 1: ``Σ_i t_i log(t_i/q_i)``, where 0 log 0 = 0. Only in this
    measure, rows of q that do not sum to one after clipping are renormalised, so that it is never
    negative, and 0 only where q = t.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities q, normalised row by row.
    y : array of shape (n,)
        The true classes; not used.
    truth : array of shape (n, k)
        The true class posterior t of every row.
    base : float > 1
        The base of the logarithms; e gives nats, 2 gives bits.

    Returns
    -------
    array of shape (n,)
        One divergence per row, at least 0; inf where a possible class has q = 0.

    References
    ----------
    S. Kullback & R. A. Leibler (1951). On information and sufficiency. Annals of Mathematical
    Statistics 22.

    L. R. Hope & K. B. Korb (2004). A Bayesian metric for evaluating machine learning algorithms.
    AI 2004, LNAI 3339.
    """
    q, t = (np.asarray(rows, dtype=np.float64) for rows in (proba, truth))
    with np.errstate(divide="ignore", invalid="ignore"):  # terms with t = 0 are omitted below
        q, t = (rows / rows.sum(axis=1, keepdims=True) for rows in (q, t))
        terms = np.where(t > 0, t * (np.log(t) - np.log(q)), 0.0)
    return np.maximum(terms.sum(axis=1) / math.log(base), 0.0)  # rounding may leave −10⁻¹⁷


@measure(greater_is_better=False, logarithmic=True, label="regret", unit="nats", zero=TRUTH)
def regret(
    proba: Proba, y: Labels, prior: Prior, oracle: Proba, base: float = NATS, reward: str = "mean"
) -> FloatArray:
    """Regret: information reward of the true posterior minus that of the learner.

    ``IR(t) − IR(q)``, with IR the `information_reward`, t the true posterior and q the learner's
    probabilities.

    Its expectation is never negative (Good 1952), even if both are clipped: the term of each class
    in the expected reward is maximal at the true probability, or at the nearest end of the
    interval. It is the sum of `representation` and `estimation`.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities.
    y : array of shape (n,)
        The true classes.
    prior : array of shape (k,)
        The prior probability of every class.
    oracle : array of shape (n, k)
        The true class posterior of every row, clipped like ``proba``.
    base : float > 1
        The base of the logarithms; e gives nats, 2 gives bits.
    reward : {"mean", "sum"}
        How the information reward combines the classes.

    Returns
    -------
    array of shape (n,)
        One difference per row, of either sign.

    References
    ----------
    I. J. Good (1952). Rational decisions. Journal of the Royal Statistical Society B 14.

    L. R. Hope & K. B. Korb (2004). A Bayesian metric for evaluating machine learning algorithms.
    AI 2004, LNAI 3339.
    """
    return _difference(oracle, proba, y, prior, base, reward)


@measure(greater_is_better=False, logarithmic=True, label="representation regret", unit="nats")
def representation(
    proba: Proba,
    y: Labels,
    prior: Prior,
    oracle: Proba,
    limit: Proba,
    base: float = NATS,
    reward: str = "mean",
) -> FloatArray:
    """Representation regret: information reward of the true posterior minus the learner's limit.

    ``IR(t) − IR(l)``, with IR the `information_reward`, t the true posterior and l the learner's
    limit: its prediction after training on the population, scored with the prior and cutoff of the
    same training set. It is the part of the regret that remains with unlimited data.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities; not used.
    y : array of shape (n,)
        The true classes.
    prior : array of shape (k,)
        The prior probability of every class.
    oracle : array of shape (n, k)
        The true class posterior of every row, clipped like ``proba``.
    limit : array of shape (n, k)
        The learner's prediction with unlimited training data, clipped like ``proba``.
    base : float > 1
        The base of the logarithms; e gives nats, 2 gives bits.
    reward : {"mean", "sum"}
        How the information reward combines the classes.

    Returns
    -------
    array of shape (n,)
        One difference per row, of either sign.

    References
    ----------
    L. R. Hope & K. B. Korb (2004). A Bayesian metric for evaluating machine learning algorithms.
    AI 2004, LNAI 3339.
    """
    return _difference(oracle, limit, y, prior, base, reward)


@measure(greater_is_better=False, logarithmic=True, label="estimation regret", unit="nats")
def estimation(
    proba: Proba, y: Labels, prior: Prior, limit: Proba, base: float = NATS, reward: str = "mean"
) -> FloatArray:
    """Estimation regret: information reward of the learner's limit minus that of the learner.

    ``IR(l) − IR(q)``, with IR the `information_reward`, l the learner's limit and q its
    probabilities. It is negative where a learner that cannot represent the truth is closer to it
    with few data than with unlimited data.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities.
    y : array of shape (n,)
        The true classes.
    prior : array of shape (k,)
        The prior probability of every class.
    limit : array of shape (n, k)
        The learner's prediction with unlimited training data, clipped like ``proba``.
    base : float > 1
        The base of the logarithms; e gives nats, 2 gives bits.
    reward : {"mean", "sum"}
        How the information reward combines the classes.

    Returns
    -------
    array of shape (n,)
        One difference per row, of either sign.

    References
    ----------
    L. R. Hope & K. B. Korb (2004). A Bayesian metric for evaluating machine learning algorithms.
    AI 2004, LNAI 3339.
    """
    return _difference(limit, proba, y, prior, base, reward)


def _difference(
    better: Proba, worse: Proba, y: Labels, prior: Prior, base: float, reward: str
) -> FloatArray:
    """Return the difference of the information rewards of two predictions, row by row."""
    high, low = (information_reward(proba, y, prior, base, reward) for proba in (better, worse))
    with np.errstate(invalid="ignore"):  # infinity minus infinity
        difference = high - low
        # Equal predictions that were computed in different ways have the same reward.
        rounded = np.abs(difference) <= _ROUNDING * np.maximum(np.abs(high), 1.0)
    return np.where(rounded & np.isfinite(high), 0.0, difference)
