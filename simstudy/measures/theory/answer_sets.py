"""Sets of answers over which measures are compared: all ranked lists, or random ones.

A ranked list has its examples in order of increasing probability of being positive. Its upper half
is predicted to be positive (Huang & Ling 2007).
"""

import itertools
import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from simstudy.arrays import ArrayLike, BoolArray, FloatArray, IntArray, Labels, Proba
from simstudy.measures.base import MeasureFunction, info_of, keywords, measure, score
from simstudy.measures.positive_class import require, require_one_of


@dataclass(frozen=True)
class AnswerSet:
    """A number of answers, each the probabilities and true classes of some rows.

    Parameters
    ----------
    proba : array of shape (answers, n, k)
        The probabilities.
    y : array of shape (answers, n)
        The true classes.
    prior : array of shape (k,)
        The prior that measures are given.
    """

    proba: Proba
    y: Labels
    prior: FloatArray

    def values(self, function: MeasureFunction) -> FloatArray:
        """Return the value of a measure for every answer; NaN where it does not exist."""
        if function is auc:
            numerators = auc_numerators(self.y == 1)
            return numerators / ((self.y == 1).sum(axis=1) * (self.y == 0).sum(axis=1))
        first = self._score(function, 0)  # has an error for what cannot be scored
        info = info_of(function)
        if info is None or info.over != "row":
            rest = (self._score(function, answer) for answer in range(1, len(self.y)))
            return np.array([first, *rest], dtype=np.float64)
        context = {"prior": self.prior, "base": math.e, "reward": "mean"}
        declared = {key: context[key] for key in keywords(function) if key in context}
        rows = self.proba.reshape(-1, self.proba.shape[2])  # of all answers at once
        by_row = np.asarray(function(rows, self.y.reshape(-1), **declared), dtype=np.float64)
        with np.errstate(invalid="ignore"):  # infinity minus infinity
            return by_row.reshape(self.y.shape).mean(1)

    def _score(self, function: MeasureFunction, answer: int) -> float:
        return score(function, self.proba[answer], self.y[answer], prior=self.prior)


@measure(greater_is_better=True, label="AUC", over="set")
def auc(proba: Proba, y: Labels) -> float:
    """Return the AUC of one ranked list: rows in order of increasing probability of class 1.

    Huang & Ling 2007, footnote 3: ``Σ (r_i − i)/(n_0 n_1)`` over the positive rows of ranks r_i.
    """
    positive = np.asarray(y)[None] == 1
    return float(auc_numerators(positive)[0] / (positive.sum() * (~positive).sum()))


def ranked_answers(n: int) -> AnswerSet:
    """Return all balanced ranked lists of n examples; rank i has probability (i − ½)/n."""
    y = balanced_lists(n).astype(np.intp)
    proba = np.broadcast_to(list_probabilities(n), (*y.shape, 2))
    return AnswerSet(proba, y, np.array([0.5, 0.5]))


def random_answers(
    rows: int, samples: int, classes: int, prior: ArrayLike | None, rng: int | np.random.Generator
) -> AnswerSet:
    """Return answers to one set of rows, with probabilities uniform over the simplex."""
    limits = (("rows", rows, 1), ("samples", samples, 2), ("classes", classes, 2))
    for name, value, least in limits:
        require(value >= least, name, value, f"it must be at least {least}")
    shares = np.full(classes, 1 / classes) if prior is None else np.asarray(prior, dtype=np.float64)
    proper = shares.shape == (classes,) and bool((shares >= 0).all())
    proper = proper and math.isclose(shares.sum(), 1.0, abs_tol=1e-9)
    require(proper, "prior", prior, f"it must be {classes} probabilities that sum to 1")
    y = np.repeat(np.arange(classes), _apportion(shares, rows))
    proba = np.random.default_rng(rng).dirichlet(np.ones(classes), (samples, rows))
    return AnswerSet(proba, np.broadcast_to(y, (samples, rows)), shares)


def _apportion(shares: FloatArray, rows: int) -> IntArray:
    """Return whole numbers of rows by class, as near to the shares as possible."""
    exact = shares * rows
    counts = np.floor(exact + 1e-9).astype(np.intp)
    left = rows - int(counts.sum())
    counts[np.argsort(counts - exact, kind="stable")[:left]] += 1  # the greatest remainders
    return counts


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
