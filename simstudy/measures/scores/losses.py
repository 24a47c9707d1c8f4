"""Accuracy, log loss and Brier score."""

import math

import numpy as np

from simstudy.arrays import FloatArray, Labels, Proba
from simstudy.measures.base import measure, modal_class, pick


@measure(greater_is_better=True, label="accuracy")
def accuracy(proba: Proba, y: Labels) -> FloatArray:
    """Accuracy: the share of rows whose most probable class is the true class.

    With m the modal class, ``1`` if m is the true class, else ``0``.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities; ties for the mode go to the lowest class index.
    y : array of shape (n,)
        The true classes.

    Returns
    -------
    array of shape (n,)
        1 for a correct prediction, 0 for a wrong one.
    """
    return (modal_class(proba) == np.asarray(y)).astype(np.float64)


@measure(greater_is_better=False, logarithmic=True, label="log loss", unit="nats")
def log_loss(proba: Proba, y: Labels, base: float = math.e) -> FloatArray:
    """Log loss: minus the logarithm of the probability of the true class.

    With c the true class, ``−log q_c``. In base 2, the informational loss of Witten, Frank & Hall
    2011, section 5.6.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities q.
    y : array of shape (n,)
        The true classes.
    base : float > 1
        The base of the logarithm; e gives nats, 2 gives bits.

    Returns
    -------
    array of shape (n,)
        One loss per row; inf where the true class has probability 0.

    References
    ----------
    I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, chapter 5.
    """
    with np.errstate(divide="ignore"):
        return -np.log(pick(proba, y)) / math.log(base) + 0.0  # a loss of −0 is 0


@measure(greater_is_better=False, label="Brier score")
def brier_score(proba: Proba, y: Labels) -> FloatArray:
    """Brier score: squared distance of the probabilities from the true class, 0 to 2.

    Brier 1950; the quadratic loss of Witten, Frank & Hall 2011, section 5.6:
    ``Σ_j (q_j − a_j)²`` with a_j = 1 for the true class and 0 for the others. For two classes,
    some authors define the Brier score as half of it.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities q.
    y : array of shape (n,)
        The true classes.

    Returns
    -------
    array of shape (n,)
        One loss per row.

    References
    ----------
    G. W. Brier (1950). Verification of forecasts expressed in terms of probability. Monthly Weather
    Review 78.

    I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, chapter 5.
    """
    error = np.array(proba, dtype=np.float64)
    error[np.arange(len(error)), np.asarray(y, dtype=np.intp)] -= 1.0
    return np.square(error).sum(axis=1)
