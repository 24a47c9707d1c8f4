"""Sets of answers over which measures are compared: all ranked lists, or random ones.

A ranked list has its examples in order of increasing probability of being positive. Its upper half
is predicted to be positive (Huang & Ling 2007).
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simstudy.arrays import BoolArray, FloatArray, IntArray, Labels, Proba
from simstudy.measures.base import MeasureFunction, info_of, keywords, measure, score
from simstudy.measures.positive_class import require


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
    rows: int,
    samples: int,
    classes: int,
    prior: Sequence[float] | FloatArray | None,
    rng: int | np.random.Generator,
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


MAX_LENGTH = 20  # 184,756 balanced lists


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
