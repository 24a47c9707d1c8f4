"""Ranked lists of labelled examples, and lists with perturbed probabilities (Huang & Ling 2007).

A ranked list has its examples in order of increasing probability of being positive. Its upper half
is predicted to be positive.
"""

from __future__ import annotations

import itertools
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from simstudy.arrays import BoolArray, FloatArray, IntArray
from simstudy.measures.positive import require, require_one_of

Reading: TypeAlias = Literal["as_written", "clipped_top_half"]
MAX_LENGTH = 20  # 184,756 balanced lists
EPSILONS = (0.3, 0.5, 0.7, 0.8, 0.9)


def balanced_lists(n: int) -> BoolArray:
    """Return all ranked lists of n examples, half of them positive, one per row.

    Parameters
    ----------
    n : int >= 2, <= 20, even
        The number of examples.
    """
    allowed = f"it must be even and from 2 to {MAX_LENGTH}"
    require(n in range(2, MAX_LENGTH + 1, 2), "n", n, allowed)
    chosen = np.array(list(itertools.combinations(range(n), n // 2)), dtype=np.intp)
    lists = np.zeros((len(chosen), n), dtype=np.bool_)
    lists[np.arange(len(chosen))[:, None], chosen] = True
    return lists


def list_probabilities(n: int) -> FloatArray:
    """Return probabilities (n, 2) that stand for the ranks of a list: (i − ½)/n for rank i."""
    positive = (np.arange(n) + 0.5) / n
    return np.column_stack([1.0 - positive, positive])


def auc_numerators(lists: BoolArray) -> IntArray:
    """Return Σ (r_i − i) over the positive examples of ranks r_i, the AUC times n_0 n_1.

    Huang & Ling 2007, footnote 3, after Hand & Till 2001. It counts the pairs in which the
    positive example is above the negative one.
    """
    return np.where(lists, np.cumsum(~lists, axis=1), 0).sum(axis=1)


class RmsCorrelation(NamedTuple):
    """Pearson correlations of accuracy, AUC and AUC:acc with 1 − RMS, over repetitions."""

    epsilon: float
    mean: list[float]
    sd: list[float]


def perturbed_values(
    true: FloatArray, perturbed: FloatArray, predicted: BoolArray | None = None
) -> FloatArray:
    """Compare perturbed probabilities with the true ones (Huang & Ling 2007, table 4).

    Parameters
    ----------
    true : array of shape (n,)
        The true probabilities; an example is positive if its probability is above ½.
    perturbed : array of shape (lists, n)
        The perturbed probabilities.
    predicted : array of shape (lists, n), optional
        Which examples are predicted to be positive; by default those above ½.

    Returns
    -------
    array of shape (4, lists)
        RMS, accuracy, AUC, and AUC:acc as the number AUC + .01 acc, not cut at 1.
    """
    positive = true > 0.5
    predicted = perturbed > 0.5 if predicted is None else predicted
    rms = np.sqrt(np.square(perturbed - true).mean(axis=1))
    accuracy = (predicted == positive).mean(axis=1)
    ups, downs = perturbed[:, positive, None], perturbed[:, None, ~positive]
    auc = ((ups > downs).mean(axis=(1, 2)) + (ups >= downs).mean(axis=(1, 2))) / 2
    return np.array([rms, accuracy, auc, auc + 0.01 * accuracy])


def table5(
    reading: Reading = "clipped_top_half",
    n: int = 20,
    tuples: int = 200,
    repeats: int = 5,
    epsilons: tuple[float, ...] = EPSILONS,
    rng: int | np.random.Generator = 0,
) -> list[RmsCorrelation]:
    """Correlate accuracy, AUC and AUC:acc with 1 − RMS on perturbed lists.

    Huang & Ling 2007, section 4 and table 5. The paper does not say how long its lists are, and
    what it says gives other correlations, at any length, than those it prints.

    Parameters
    ----------
    reading : {"as_written", "clipped_top_half"}
        ``as_written``: a perturbed probability is uniform on the interval of half-width ε around
        the true one, cut to [0, 1]; those above ½ are predicted to be positive.
        ``clipped_top_half``: noise uniform on [−ε, ε] is added and the sum clipped to [0, 1]; the
        upper half of the ranks is predicted to be positive, ties at random. With n = 20 it gives
        the published figures, and is thus likely what was computed.
    n : int >= 2
        The number of examples of a list.
    tuples : int >= 2
        The number of lists of which correlations are taken.
    repeats : int >= 1
        The number of repetitions of which means are taken.
    epsilons : tuple of float > 0
        The bounds of the perturbation.
    rng : int or numpy.random.Generator
        A seed or a source of random numbers.

    Returns
    -------
    list of RmsCorrelation
        One for each ε.

    References
    ----------
    J. Huang & C. X. Ling (2007). Constructing new and better evaluation measures for machine
    learning. IJCAI 2007.
    """
    require_one_of("reading", reading, get_args(Reading))
    for name, value, least in (("n", n, 2), ("tuples", tuples, 2), ("repeats", repeats, 1)):
        require(value >= least, name, value, f"it must be at least {least}")
    for epsilon in epsilons:
        require(epsilon > 0, "epsilon", epsilon, "it must be above 0")
    source, true, shape = np.random.default_rng(rng), np.arange(1, n + 1) / n, (tuples, n)

    def correlations(epsilon: float) -> FloatArray:
        if reading == "as_written":
            low, high = np.maximum(true - epsilon, 0.0), np.minimum(true + epsilon, 1.0)
            rms, *values = perturbed_values(true, source.uniform(low, high, shape))
        else:
            perturbed = np.clip(true + source.uniform(-epsilon, epsilon, shape), 0.0, 1.0)
            ranks = np.lexsort((source.random(shape), perturbed), axis=1).argsort(axis=1)
            rms, *values = perturbed_values(true, perturbed, ranks >= n - n // 2)
        return np.corrcoef([1.0 - rms, *values])[0, 1:]

    table = []
    for epsilon in epsilons:
        values = np.array([correlations(epsilon) for _ in range(repeats)])
        sd = values.std(axis=0, ddof=1) if repeats > 1 else np.full(3, np.nan)
        table.append(RmsCorrelation(epsilon, values.mean(axis=0).tolist(), sd.tolist()))
    return table
