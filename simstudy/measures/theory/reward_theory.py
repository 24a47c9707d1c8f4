"""The optimal report under the information reward of Hope & Korb (2002), for two classes."""

from __future__ import annotations

import math

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.measures.positive_class import require


def log_products(proba: FloatArray, y: IntArray, positive: int = 1) -> tuple[float, float]:
    """Return log wz and log xy of a test set of two classes (Hope & Korb 2002, lemma 1).

    With p the probability of the class predicted, w = Π p over true positives, z = Π (1 − p) over
    false negatives, x = Π (1 − p) over false positives and y = Π p over true negatives: wz is the
    product of the probabilities of the positive class over the positive rows, xy that of the
    negative class over the negative rows.

    Parameters
    ----------
    proba : array of shape (n, 2)
        The learner's probabilities.
    y : array of shape (n,)
        The true classes.
    positive : {0, 1}
        The positive class.
    """
    is_positive = np.asarray(y) == positive
    with np.errstate(divide="ignore"):
        logs = np.log(np.asarray(proba, dtype=np.float64))
    of_positive, of_negative = logs[is_positive, positive], logs[~is_positive, 1 - positive]
    return float(of_positive.sum()), float(of_negative.sum())


def cumulative_reward_2002(log_wz: float, log_xy: float, n: int, prior: float) -> float:
    """Return the total reward of Hope & Korb (2002) of n rows of two classes, by lemma 1.

    Equation 5: ``n − (log wz/log p + log xy/log(1 − p))``, with p the prior probability of the
    positive class; see `log_products` for wz and xy.
    """
    _check("prior", prior)
    return n - (log_wz / math.log(prior) + log_xy / math.log1p(-prior))


def uniform_reward_2002(log_wxyz: float, n: int) -> float:
    """Return the total reward under a uniform prior, by lemma 2: ``n + log2(wxyz)``.

    Equation 6 of Hope & Korb (2002). It is the total of Good's (1952) reward.
    """
    return n + log_wxyz / math.log(2.0)


def ranking_reverses(
    log_wz: tuple[float, float], log_xy: tuple[float, float], prior: float
) -> bool:
    """Whether a prior reverses the ranking of two learners by the uniform reward.

    Hope & Korb 2002, thesis 1, equations 7a and 7b, of n rows of two classes, for two learners of
    which each tuple has log wz, or log xy.
    """
    pairs = [*zip(log_wz, log_xy, strict=True)]
    uniform = [uniform_reward_2002(wz + xy, 0) for wz, xy in pairs]
    by_prior = [cumulative_reward_2002(wz, xy, 0, prior) for wz, xy in pairs]
    return (uniform[0] - uniform[1]) * (by_prior[0] - by_prior[1]) < 0


def expected_reward_2002(report: float, frequency: float, prior: float) -> float:
    """Return the mean reward of Hope & Korb (2002) of one report for rows of two classes.

    Hope & Korb 2004, equation 7: ``1 − f log q/log p − (1 − f) log(1 − q)/log(1 − p)``, with q the
    probability reported for the target class, f its frequency and p its prior.
    """
    _check("report", report)
    _check("prior", prior)
    right = math.log(report) / math.log(prior)
    wrong = math.log1p(-report) / math.log1p(-prior)
    return 1.0 - frequency * right - (1.0 - frequency) * wrong


def expected_information_reward(report: float, frequency: float, prior: float) -> float:
    """Return the mean information reward (2004) of one report for rows of two classes, in nats.

    Hope & Korb 2004, equation 10, of two classes: ``f log(q/p) + (1 − f) log((1 − q)/(1 − p))``.
    It is greatest at q = f.
    """
    _check("report", report)
    _check("prior", prior)
    right = math.log(report / prior)
    wrong = math.log1p(-report) - math.log1p(-prior)
    return frequency * right + (1.0 - frequency) * wrong


def optimal_report_2002(frequency: float, prior: float) -> float:
    """Return the report that earns the greatest mean reward of Hope & Korb (2002).

    Hope & Korb 2004, theorem 1 and equation 9: ``f (1 − q)/(q (1 − f)) = log p/log(1 − p)``, solved
    for q. It is the frequency f only under a uniform prior: with p = .1 and f = .5 it is .0438.
    """
    _check("prior", prior)
    require(0 <= frequency <= 1, "frequency", frequency, "it must be from 0 to 1")
    odds = math.log(prior) / math.log1p(-prior)
    return frequency / (frequency + (1.0 - frequency) * odds)


def _check(name: str, value: float) -> None:
    """Raise an error unless a value is strictly between 0 and 1."""
    require(0 < value < 1, name, value, "it must be between 0 and 1")
