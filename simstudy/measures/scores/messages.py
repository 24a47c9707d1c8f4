"""Message lengths of learners that choose a model by the shortest message."""

import math
from functools import partial
from typing import TypeAlias

from simstudy.arrays import Labels, Proba
from simstudy.measures.base import Undefined, Weights, measure

Parts: TypeAlias = tuple[float, float] | None  # lengths of the model and of the data given it
_REASON = "the learner has no message length"
_length = partial(measure, greater_is_better=False, unit="nats", over="set", equivalent=0)


@_length(label="message length: theory and data")
def message_length(
    proba: Proba, y: Labels, *, message: Parts = None, weights: Weights = None, base: float = math.e
) -> float:
    """Length of the message that states the learner's model and the training data given it.

    Witten, Frank & Hall 2011, section 5.9: ``L[T] + L[E|T]``, the theory T and the examples E
    given it. It depends only on the training set; the test rows are not used.

    Parameters
    ----------
    proba : array of shape (n, k)
        Not used.
    y : array of shape (n,)
        Not used.
    message : pair of float, optional
        The lengths of theory and data in nats, as the fitted learner states them.
    weights : array of shape (n,), optional
        Not used.
    base : float > 1
        The base of the logarithms; e gives nats, 2 gives bits.

    Returns
    -------
    float
        The length; NaN if the learner has none.

    Notes
    -----
    Only lengths of one coding scheme can be compared: CaMML encodes all variables, MML trees and
    graphs encode the target given the attributes. The examples are encoded in their order; as
    a set, n examples would take log n! less for every learner, so differences between learners are
    the same.

    References
    ----------
    I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, chapter 5.
    """
    return Undefined(_REASON) if message is None else sum(message) / math.log(base)


@_length(label="message length: theory")
def message_length_theory(
    proba: Proba, y: Labels, *, message: Parts = None, weights: Weights = None, base: float = math.e
) -> float:
    """Length of the first part of the message: the learner's model.

    Witten, Frank & Hall 2011, section 5.9: ``L[T]``; see `message_length`.

    Parameters
    ----------
    proba : array of shape (n, k)
        Not used.
    y : array of shape (n,)
        Not used.
    message : pair of float, optional
        The lengths of theory and data in nats, as the fitted learner states them.
    weights : array of shape (n,), optional
        Not used.
    base : float > 1
        The base of the logarithms; e gives nats, 2 gives bits.

    Returns
    -------
    float
        The length; NaN if the learner has none.

    References
    ----------
    I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, chapter 5.
    """
    return Undefined(_REASON) if message is None else message[0] / math.log(base)


@_length(label="message length: data")
def message_length_data(
    proba: Proba, y: Labels, *, message: Parts = None, weights: Weights = None, base: float = math.e
) -> float:
    """Length of the second part of the message: the training data given the learner's model.

    Witten, Frank & Hall 2011, section 5.9: ``L[E|T]``; see `message_length`.

    Parameters
    ----------
    proba : array of shape (n, k)
        Not used.
    y : array of shape (n,)
        Not used.
    message : pair of float, optional
        The lengths of theory and data in nats, as the fitted learner states them.
    weights : array of shape (n,), optional
        Not used.
    base : float > 1
        The base of the logarithms; e gives nats, 2 gives bits.

    Returns
    -------
    float
        The length; NaN if the learner has none.

    References
    ----------
    I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, chapter 5.
    """
    return Undefined(_REASON) if message is None else message[1] / math.log(base)
