"""Measures that compare a learner with the known truth."""

import math

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.measures.base import measure
from simstudy.measures.rewards import information_reward


@measure(greater_is_better=False, logarithmic=True, label="KL divergence", unit="nats")
def kl_divergence(
    proba: FloatArray, y: IntArray, truth: FloatArray, base: float = math.e
) -> FloatArray:
    """Kullback-Leibler divergence of the learner's class posterior from the true one.

    Hope & Korb 2004, equation 1: ``Σ_i t_i log(t_i/q_i)``, where 0 log 0 = 0. A divergence is
    defined between distributions, so rows of q that clipping has left with another sum are divided
    by it, in this measure alone: it is never negative, and 0 only where q = t.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities q, normalised row by row.
    y : array of shape (n,)
        The true classes, which have no influence here.
    truth : array of shape (n, k)
        The true class posterior t of every row.
    base : float
        The base of the logarithms; e gives nats, 2 gives bits.

    Returns
    -------
    array of shape (n,)
        One divergence per row, at least 0; inf where a possible class has q = 0.
    """
    q, t = (np.asarray(rows, dtype=np.float64) for rows in (proba, truth))
    q, t = (rows / rows.sum(axis=1, keepdims=True) for rows in (q, t))
    with np.errstate(divide="ignore", invalid="ignore"):  # in the terms of t = 0, left out below
        terms = np.where(t > 0, t * (np.log(t) - np.log(q)), 0.0)
    divergence: FloatArray = terms.sum(axis=1) / math.log(base)
    return np.maximum(divergence, 0.0)  # rounding may leave −10⁻¹⁷


@measure(greater_is_better=False, logarithmic=True, label="regret", unit="nats", zero="the oracle")
def regret(
    proba: FloatArray,
    y: IntArray,
    prior: FloatArray,
    oracle: FloatArray,
    base: float = math.e,
    reward: str = "mean",
) -> FloatArray:
    """Information reward of the true posterior less the learner's.

    Its expectation is never below 0 (Good 1952), also where both are clipped: each class's part of
    the expected reward is greatest at the true probability, or at the end of the interval that is
    nearest to it. It is the sum of `representation` and `estimation`.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities.
    y : array of shape (n,)
        The true classes.
    prior : array of shape (k,)
        The prior probability of every class.
    oracle : array of shape (n, k)
        The true class posterior of every row, clipped as ``proba`` is.
    base : float
        The base of the logarithms; e gives nats, 2 gives bits.
    reward : {"mean", "sum"}
        How the information reward combines the classes.

    Returns
    -------
    array of shape (n,)
        One difference per row, which may have either sign.
    """
    return _difference(oracle, proba, y, prior, base, reward)


@measure(greater_is_better=False, logarithmic=True, label="representation regret", unit="nats")
def representation(
    proba: FloatArray,
    y: IntArray,
    prior: FloatArray,
    oracle: FloatArray,
    limit: FloatArray,
    base: float = math.e,
    reward: str = "mean",
) -> FloatArray:
    """Information reward of the true posterior less that of the learner's limit.

    What the learner could not represent with any amount of data; ``limit`` is what it answers
    after the whole population, scored with the prior and cutoff of the same training set.
    """
    return _difference(oracle, limit, y, prior, base, reward)


@measure(greater_is_better=False, logarithmic=True, label="estimation regret", unit="nats")
def estimation(
    proba: FloatArray,
    y: IntArray,
    prior: FloatArray,
    limit: FloatArray,
    base: float = math.e,
    reward: str = "mean",
) -> FloatArray:
    """Information reward of the learner's limit less its own: what more data would win.

    Below 0 where a learner that cannot represent the truth is nearer to it with few data than
    with all.
    """
    return _difference(limit, proba, y, prior, base, reward)


def _difference(
    better: FloatArray,
    worse: FloatArray,
    y: IntArray,
    prior: FloatArray,
    base: float,
    reward: str,
) -> FloatArray:
    """Information reward of some probabilities less that of others, row by row."""
    one, other = (information_reward(each, y, prior, base, reward) for each in (better, worse))
    with np.errstate(invalid="ignore"):  # infinity less infinity
        difference: FloatArray = one - other
    return difference
