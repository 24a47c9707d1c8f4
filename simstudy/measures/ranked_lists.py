"""Ranked lists of labelled examples, and lists with perturbed probabilities (Huang & Ling 2007).

A ranked list has its examples in order of increasing probability of being positive. Its upper half
is predicted to be positive.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from simstudy.arrays import FloatArray, IntArray

BoolArray: TypeAlias = npt.NDArray[np.bool_]
Reading: TypeAlias = Literal["as_written", "clipped_top_half"]
MAX_LENGTH = 20  # 184,756 balanced lists
READINGS: tuple[Reading, ...] = ("as_written", "clipped_top_half")
EPSILONS = (0.3, 0.5, 0.7, 0.8, 0.9)
_CHUNK = 10_000


def balanced_lists(n: int) -> BoolArray:
    """Return all ranked lists of n examples, half of them positive, one per row.

    Parameters
    ----------
    n : int >= 2, <= 20, even
        The number of examples.
    """
    if n not in range(2, MAX_LENGTH + 1, 2):
        raise ValueError(f"n = {n!r} is not allowed; it must be even and from 2 to {MAX_LENGTH}")
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
    below = np.cumsum(~lists, axis=1)
    pairs: IntArray = np.where(lists, below, 0).sum(axis=1)
    return pairs


def correct_predictions(lists: BoolArray) -> IntArray:
    """Return the number of examples predicted correctly if the upper half is positive."""
    n = lists.shape[1]
    predicted = np.arange(n) >= n - n // 2
    correct: IntArray = (lists == predicted).sum(axis=1)
    return correct


def histogram(n: int) -> IntArray:
    """Return the number of balanced lists by AUC and accuracy.

    Returns
    -------
    array of shape (cells, 3)
        AUC numerator, correct predictions and number of lists, of the cells that occur.
    """
    lists = balanced_lists(n)
    pairs = np.column_stack([auc_numerators(lists), correct_predictions(lists)])
    cells, counts = np.unique(pairs, axis=0, return_counts=True)
    return np.column_stack([cells, counts])


@dataclass(frozen=True)
class PerturbedValues:
    """Values of perturbed lists compared with the true one (Huang & Ling 2007, table 4)."""

    rms: FloatArray
    auc: FloatArray
    accuracy: FloatArray

    @property
    def auc_accuracy(self) -> FloatArray:
        """AUC:acc as the number AUC + .01 acc, not cut at 1."""
        return self.auc + 0.01 * self.accuracy


@dataclass(frozen=True)
class RmsCorrelation:
    """Pearson correlations with 1 − RMS: the mean and standard deviation over repetitions."""

    epsilon: float
    accuracy: float
    auc: float
    auc_accuracy: float
    sd: tuple[float, float, float]

    @property
    def mean(self) -> tuple[float, float, float]:
        """The three correlations, in the order of table 5."""
        return self.accuracy, self.auc, self.auc_accuracy


def perturbed_values(
    true: FloatArray, perturbed: FloatArray, predicted: BoolArray | None = None
) -> PerturbedValues:
    """Compare perturbed probabilities with the true ones.

    Parameters
    ----------
    true : array of shape (n,)
        The true probabilities; an example is positive if its probability is above ½.
    perturbed : array of shape (lists, n)
        The perturbed probabilities.
    predicted : array of shape (lists, n), optional
        Which examples are predicted to be positive; by default those above ½.
    """
    positive = true > 0.5
    rms = np.sqrt(np.square(perturbed - true).mean(axis=1))
    ups, downs = perturbed[:, positive, None], perturbed[:, None, ~positive]
    auc = ((ups > downs).mean(axis=(1, 2)) + (ups >= downs).mean(axis=(1, 2))) / 2
    predicted = perturbed > 0.5 if predicted is None else predicted
    return PerturbedValues(rms, auc, (predicted == positive).mean(axis=1))


def draw_perturbed(
    epsilon: float, n: int, lists: int, reading: Reading, rng: np.random.Generator
) -> PerturbedValues:
    """Draw perturbed lists around the true probabilities i/n and compare them with these.

    Parameters
    ----------
    epsilon : float > 0
        The bound of the perturbation.
    n : int >= 2
        The number of examples.
    lists : int >= 1
        The number of lists.
    reading : {"as_written", "clipped_top_half"}
        See `table5`.
    rng : numpy.random.Generator
        The source of random numbers.
    """
    true = np.arange(1, n + 1) / n
    if reading == "as_written":
        low, high = np.maximum(true - epsilon, 0.0), np.minimum(true + epsilon, 1.0)
        return perturbed_values(true, rng.uniform(low, high, (lists, n)))
    noise = rng.uniform(-epsilon, epsilon, (lists, n))
    perturbed = np.clip(true + noise, 0.0, 1.0)
    ranks = np.lexsort((rng.random((lists, n)), perturbed), axis=1).argsort(axis=1)
    return perturbed_values(true, perturbed, ranks >= n - n // 2)


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
    if reading not in READINGS:
        raise ValueError(
            f"reading = {reading!r} is not allowed; it must be 'as_written' or 'clipped_top_half'"
        )
    for name, value, least in (("n", n, 2), ("tuples", tuples, 2), ("repeats", repeats, 1)):
        if value < least:
            raise ValueError(f"{name} = {value!r} is not allowed; it must be at least {least}")
    for epsilon in epsilons:
        if not epsilon > 0:
            raise ValueError(f"epsilon = {epsilon!r} is not allowed; it must be above 0")
    source = np.random.default_rng(rng)
    return [_correlation(epsilon, n, tuples, repeats, reading, source) for epsilon in epsilons]


def _correlation(
    epsilon: float, n: int, tuples: int, repeats: int, reading: Reading, rng: np.random.Generator
) -> RmsCorrelation:
    """Return the mean correlations with 1 − RMS over all repetitions."""
    found = np.empty((repeats, 3))
    for repeat in range(repeats):
        sizes = [min(_CHUNK, tuples - start) for start in range(0, tuples, _CHUNK)]
        parts = [draw_perturbed(epsilon, n, size, reading, rng) for size in sizes]
        every = [(part.rms, part.accuracy, part.auc, part.auc_accuracy) for part in parts]
        columns = [np.concatenate(column) for column in zip(*every, strict=True)]
        found[repeat] = [_pearson(1.0 - columns[0], column) for column in columns[1:]]
    accuracy, auc, both = found.mean(axis=0).tolist()
    spread = found.std(axis=0, ddof=1) if repeats > 1 else np.full(3, math.nan)
    return RmsCorrelation(epsilon, accuracy, auc, both, tuple(spread.tolist()))


def _pearson(one: FloatArray, other: FloatArray) -> float:
    """Return Pearson's correlation; NaN if either is constant."""
    one, other = one - one.mean(), other - other.mean()
    scale = math.sqrt(float(one @ one) * float(other @ other))
    return float(one @ other) / scale if scale > 0 else math.nan
