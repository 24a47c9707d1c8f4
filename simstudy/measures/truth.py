"""Measures that compare a learner with the known truth."""

import math

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.measures.base import measure


@measure(greater_is_better=False, logarithmic=True, label="KL divergence", unit="nats")
def kl_divergence(
    proba: FloatArray, y: IntArray, truth: FloatArray, base: float = math.e
) -> FloatArray:
    """Kullback-Leibler divergence of the learner's class posterior from the true one.

    Hope & Korb 2004, equation 1: ``Σ_i t_i log(t_i/q_i)``, where 0 log 0 = 0.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities q.
    y : array of shape (n,)
        The true classes, which have no influence here.
    truth : array of shape (n, k)
        The true class posterior t of every row.
    base : float
        The base of the logarithms; e gives nats, 2 gives bits.

    Returns
    -------
    array of shape (n,)
        One divergence per row; inf where a possible class has q = 0. Where clipping has left a
        row of q summing to more than one, it can fall slightly below 0.
    """
    q = np.asarray(proba, dtype=np.float64)
    t = np.asarray(truth, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):  # in the terms of t = 0, left out below
        terms = np.where(t > 0, t * (np.log(t) - np.log(q)), 0.0)
    divergence: FloatArray = terms.sum(axis=1) / math.log(base)
    return divergence
