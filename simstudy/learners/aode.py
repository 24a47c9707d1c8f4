"""Averaged one-dependence estimators.

Webb, Boughton & Wang (2005); the estimates are those of Weka's AODE.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from simstudy.arrays import FloatArray, IntArray
from simstudy.learners.base import (
    Factor,
    Generative,
    Learner,
    product_on_grid,
    require,
)
from simstudy.learners.naive_bayes import FittedNaiveBayes, NaiveBayes
from simstudy.sample import Sample, SlotLayout

Head: TypeAlias = tuple[int, FloatArray]
# Rows are answered a few at a time, so that arrays have no more numbers than this: small ones are
# fast to get from the system and to reach.
_NUMBERS = 10_000


@dataclass(frozen=True)
class AODE(Learner):
    """The mean of all models in which one attribute is a parent of every other.

    score(c) is the mean over attributes i with at least ``min_frequency`` training rows of
    value x_i of P(c, x_i) Π_{j≠i} P(x_j|c, x_i). Where no attribute qualifies, Naive Bayes
    (Laplace) answers.

    Parameters
    ----------
    m : float, optional
        Weight of an m-estimate, P(c,x_i) = (n + m/(k r_i))/(N + m) and
        P(x_j|c,x_i) = (n + m/r_j)/(n_{c,x_i} + m); without it Laplace's rule,
        (n + 1)/(N + k r_i) and (n + 1)/(n_{c,x_i} + r_j).
    min_frequency : float
        Training rows that a value needs before its attribute may be the parent.
    """

    m: float | None = None
    min_frequency: float = 1.0

    def __post_init__(self) -> None:
        allowed = "it must be above 0 and finite, or left out"
        require(self.m is None or 0 < self.m < np.inf, "m", self.m, allowed)
        require(
            self.min_frequency >= 0, "min_frequency", self.min_frequency, "it must be at least 0"
        )

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> FittedAODE:
        layout, pairs, singles = sample.layout, sample.pair_counts, sample.slot_counts
        cards = layout.slot_cards
        if self.m is None:
            child = (pairs + 1.0) / (singles[:, :, None] + cards)
            parent = (singles + 1.0) / (sample.total + sample.classes * cards)
        else:
            child = (pairs + self.m / cards) / (singles[:, :, None] + self.m)
            parent = (singles + self.m / (sample.classes * cards)) / (sample.total + self.m)
        # An attribute meets itself only at the same value: that place holds its own P(c, x_i),
        # so one sum over all attributes gives parent and children together.
        child.reshape(sample.classes, -1)[:, :: layout.size + 1] = parent
        qualifies = singles.sum(axis=0) >= self.min_frequency
        alone = None if qualifies.all() else NaiveBayes().fit(sample)
        return FittedAODE(sample.cards, layout, np.log(child), qualifies, alone)


class FittedAODE(Generative):
    """log P(x_j | c, x_i) of every pair of slots, with log P(c, x_i) on the diagonal.

    ``naive_bayes`` answers where no attribute qualifies; None if all values do.
    """

    def __init__(
        self,
        cards: tuple[int, ...],
        layout: SlotLayout,
        log_tables: FloatArray,
        qualifies: npt.NDArray[np.bool_],
        naive_bayes: FittedNaiveBayes | None,
    ) -> None:
        self.cards = cards
        self._layout = layout
        self._log_tables = log_tables.reshape(cards[-1], -1)
        self._qualifies = qualifies
        self._naive_bayes = naive_bayes

    def log_joint(self, codes: IntArray) -> FloatArray:
        log_mean = np.empty((self.cards[-1], len(codes)))
        few = max(_NUMBERS // (len(log_mean) * codes.shape[1]), 1)
        head = self._head(codes.size)
        for start in range(0, len(codes), few):
            rows = slice(start, start + few)
            log_mean[:, rows] = self._log_mean(codes[rows], head)
        return log_mean.T

    def _log_mean(self, codes: IntArray, head: Head) -> FloatArray:
        """log P(attributes, class) of a few rows, shape (classes, rows)."""
        slots = self._layout.slots(codes.T)
        log_estimators = self._log_estimators(codes.T, slots, head)
        if self._naive_bayes is None:
            return _log_of_mean(log_estimators, len(slots))
        qualifies = self._qualifies[slots]
        log_estimators[:, ~qualifies] = -np.inf
        alone = ~qualifies.any(axis=0)
        log_estimators[:, :, alone] = 0.0
        log_mean = _log_of_mean(log_estimators, np.maximum(qualifies.sum(axis=0), 1))
        if alone.any():
            log_mean[:, alone] = self._naive_bayes.log_joint(codes[alone]).T
        return log_mean

    def _head(self, most: int) -> Head:
        """Σ_j log P(x_j|c, x_i) over the first attributes, for all values that they can have.

        As many attributes as make a table that is no larger than ``most`` for each class; their
        number, and the table of shape (classes, slots times values).
        """
        layout, classes = self._layout, self.cards[-1]
        tables = self._log_tables.reshape(classes, layout.size, layout.size)
        sums, first = tables[:, :, layout.spans[0]], 1
        while first < len(layout.spans) and sums[0].size * self.cards[first] <= most:
            further = tables[:, :, layout.spans[first], None]
            sums = (sums[:, :, None] + further).reshape(classes, layout.size, -1)
            first += 1
        return first, sums.reshape(classes, -1)

    def _log_estimators(self, columns: IntArray, slots: IntArray, head: Head) -> FloatArray:
        """log P(c, x_i) Π_{j≠i} P(x_j|c, x_i) of every row, shape (classes, parents i, rows).

        The sum over j goes from the first attribute to the last.
        """
        first, table = head
        place, values = columns[0], self.cards[0]
        for column, card in zip(columns[1:first], self.cards[1:first], strict=True):
            place = place + column * values
            values *= card
        sums: FloatArray = table.take(slots * values + place, axis=1)
        starts = slots * self._layout.size
        for child in slots[first:]:
            sums += self._log_tables.take(starts + child, axis=1)
        return sums

    def joint_grid(self) -> FloatArray:
        spans = self._layout.spans
        tables = np.exp(self._log_tables).reshape(self.cards[-1], self._layout.size, -1)
        total = np.zeros((self.cards[-1], math.prod(self.cards[:-1])))
        for i, span in enumerate(spans):
            own = np.diagonal(tables[:, span, span], axis1=1, axis2=2)
            factors: list[Factor] = [((i,), own * self._qualifies[span])]
            for j, other in enumerate(spans):
                block = tables[:, span, other]
                if j != i:
                    factors.append(((i, j), block) if i < j else ((j, i), block.transpose(0, 2, 1)))
            total += product_on_grid(self.cards, factors)
        # Where no attribute qualifies the sum is 0.
        alone = ~total.any(axis=0)
        if self._naive_bayes is not None and alone.any():
            total[:, alone] = self._naive_bayes.joint_grid()[:, alone]
        return total


def _log_of_mean(logs: FloatArray, number: int | IntArray) -> FloatArray:
    """The logarithm of the mean over axis 1 of so many numbers, given theirs, which are lost."""
    largest = logs.max(axis=1)
    logs -= largest[:, None]
    sums: FloatArray = np.log(np.exp(logs, out=logs).sum(axis=1)) + largest
    return sums - np.log(number)
