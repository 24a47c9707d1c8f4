"""Information rewards: the value of a prediction relative to the prior.

Throughout, q are the learner's probabilities, p the prior, c the true class, k the number of
classes. Rows of q need not sum to one, since clipping does not renormalise. Values of q above one
by rounding count as one. The prior should lie strictly between 0 and 1: where a class of prior 0
occurs, a reward may be infinite or undefined (NaN).
"""

import math
from functools import partial

import numpy as np

from simstudy.arrays import BoolArray, FloatArray, Labels, Prior, Proba
from simstudy.measures.base import NATS, measure, modal_class, pick, shared

REWARDS = ("mean", "sum")
PRIOR = "no better than the prior"  # a reward of 0
gain = partial(measure, greater_is_better=True, logarithmic=True, zero=PRIOR)


def _log_fate(probability: FloatArray, happened: BoolArray) -> FloatArray:
    """Return log x for events that happened and log(1 − x) for those that did not."""
    x = np.minimum(np.asarray(probability, dtype=np.float64), 1.0)
    with np.errstate(divide="ignore"):
        return np.where(happened, np.log(x), np.log1p(-x))


def _reward_2002(q: FloatArray, p: FloatArray, happened: BoolArray) -> FloatArray:
    """Return 1 − log q/log p, or 1 − log(1 − q)/log(1 − p) where the event did not happen."""
    # Absolute values keep the sign of the limit where the prior is certain and its logarithm 0.
    with np.errstate(divide="ignore", invalid="ignore"):
        return 1.0 - np.abs(_log_fate(q, happened)) / np.abs(_log_fate(p, happened))


def _is_true_class(proba: Proba, y: Labels) -> BoolArray:
    """Return a mask of the true class of every row, shaped like the probabilities."""
    # Few classes, many rows: one long vector per class is fastest.
    return (np.arange(np.shape(proba)[1])[:, None] == np.asarray(y)).T


@gain(unit="nats")
def information_reward(
    proba: Proba, y: Labels, prior: Prior, base: float = NATS, reward: str = "mean"
) -> FloatArray:
    """Bayesian information reward over all classes, a proper score (Hope & Korb 2004).

    Hope & Korb 2004, equation 10: ``(1/k) [log(q_c/p_c) + Σ_{i≠c} log((1 − q_i)/(1 − p_i))]``.
    The sum over classes omits the factor 1/k.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities q.
    y : array of shape (n,)
        The true classes.
    prior : array of shape (k,)
        The prior probabilities p.
    base : float > 1
        The base of the logarithms; e gives nats, 2 gives bits.
    reward : {"mean", "sum"}
        Whether the terms of the classes are averaged, as in equation 10, or summed.

    Returns
    -------
    array of shape (n,)
        One reward per row: 0 where q = p, −inf where the true class has q = 0 or another class
        has q = 1.

    References
    ----------
    L. R. Hope & K. B. Korb (2004). A Bayesian metric for evaluating machine learning algorithms.
    AI 2004, LNAI 3339.
    """
    if reward not in REWARDS:
        raise ValueError(f"reward = {reward!r} is not allowed; it must be 'mean' or 'sum'")
    return _information_reward(proba, y, prior, base, reward)


@shared
def _information_reward(
    proba: Proba, y: Labels, prior: Prior, base: float, reward: str
) -> FloatArray:
    true = _is_true_class(proba, y)
    with np.errstate(invalid="ignore"):  # only a prior of exactly 0 or 1 can make inf − inf
        gain = _log_fate(proba, true) - _log_fate(np.asarray(prior), true)
        return (gain.mean(axis=1) if reward == "mean" else gain.sum(axis=1)) / math.log(base)


@gain(label="information reward 2002, modal class")
def information_reward_2002_modal(proba: Proba, y: Labels, prior: Prior) -> FloatArray:
    """Information reward of Hope & Korb (2002), modal class only.

    Hope & Korb 2002, definition 2: with m the modal class, ``1 − log q_m/log p_m`` if it is the
    true class, else ``1 − log(1 − q_m)/log(1 − p_m)``.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities q; ties for the mode go to the lowest class index.
    y : array of shape (n,)
        The true classes.
    prior : array of shape (k,)
        The prior probabilities p.

    Returns
    -------
    array of shape (n,)
        One reward per row, at most 1, independent of the base. A true class with q = 0 is not
        penalised unless the modal class has q = 1.

    References
    ----------
    L. R. Hope & K. B. Korb (2002). Bayesian information reward. AI 2002, LNAI 2557.
    """
    mode = modal_class(proba)
    return _reward_2002(pick(proba, mode), np.asarray(prior)[mode], mode == np.asarray(y))


@gain()
def information_reward_2002(proba: Proba, y: Labels, prior: Prior) -> FloatArray:
    """Information reward of Hope & Korb (2002), mean over classes; not a proper score.

    Hope & Korb 2002, definition 3 (2004, definition 2): the mean over classes of
    ``1 − log q_c/log p_c`` for the true class and ``1 − log(1 − q_i)/log(1 − p_i)`` for the others.

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
        One reward per row, at most 1, independent of the base.

    Notes
    -----
    Unless the prior is uniform, the expected reward is in general not maximal at the true
    probabilities (Hope & Korb 2004, theorem 1 and equation 9).

    References
    ----------
    L. R. Hope & K. B. Korb (2002). Bayesian information reward. AI 2002, LNAI 2557.

    L. R. Hope & K. B. Korb (2004). A Bayesian metric for evaluating machine learning algorithms.
    AI 2004, LNAI 3339.
    """
    return _reward_2002(proba, np.asarray(prior), _is_true_class(proba, y)).mean(axis=1)


@measure(greater_is_better=True, logarithmic=True, label="Good's information reward", unit="bits")
def good_reward(proba: Proba, y: Labels) -> FloatArray:
    """Good's information reward of the modal class, in bits, relative to even odds (Good 1952).

    Good 1952: with m the modal class, ``1 + log2 q_m`` if it is the true class, else
    ``1 + log2(1 − q_m)``.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities q; ties for the mode go to the lowest class index.
    y : array of shape (n,)
        The true classes.

    Returns
    -------
    array of shape (n,)
        One reward per row, at most 1.

    Notes
    -----
    Intended for two classes: with more, a correct prediction of probability below one half is
    penalised (Hope & Korb 2002, section 2).

    References
    ----------
    I. J. Good (1952). Rational decisions. Journal of the Royal Statistical Society B 14.

    L. R. Hope & K. B. Korb (2002). Bayesian information reward. AI 2002, LNAI 2557.
    """
    mode = modal_class(proba)
    return 1.0 + _log_fate(pick(proba, mode), mode == np.asarray(y)) / math.log(2.0)


@gain(label="Kononenko & Bratko's reward", unit="nats")
def kononenko_bratko(proba: Proba, y: Labels, prior: Prior, base: float = NATS) -> FloatArray:
    """Kononenko & Bratko's (1991) information score of the true class.

    Kononenko & Bratko 1991, as Hope & Korb 2004, equation 3: ``log q_c − log p_c`` if q_c ≥ p_c,
    else ``−log(1 − q_c) + log(1 − p_c)``.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities q; only that of the true class matters.
    y : array of shape (n,)
        The true classes.
    prior : array of shape (k,)
        The prior probabilities p.
    base : float > 1
        The base of the logarithms; e gives nats, 2 gives bits.

    Returns
    -------
    array of shape (n,)
        One score per row; never below log(1 − p_c), even where q_c = 0.

    References
    ----------
    I. Kononenko & I. Bratko (1991). Information-based evaluation criterion for classifier's
    performance. Machine Learning 6.

    L. R. Hope & K. B. Korb (2004). A Bayesian metric for evaluating machine learning algorithms.
    AI 2004, LNAI 3339.
    """
    q, p = pick(proba, y), np.asarray(prior, dtype=np.float64)[np.asarray(y, dtype=np.intp)]
    informed = q >= p
    with np.errstate(invalid="ignore"):  # only a prior of exactly 0 or 1 can make inf − inf
        gain = _log_fate(q, informed) - _log_fate(p, informed)
        return np.where(informed, gain, -gain) / math.log(base) + 0.0  # a reward of −0 is 0
