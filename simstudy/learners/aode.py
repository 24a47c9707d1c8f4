"""Averaged one-dependence estimators.

Webb, Boughton & Wang (2005); the estimates are those of Weka's AODE.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simstudy.arrays import FloatArray, IntArray
from simstudy.learners.base import (
    Factor,
    Generative,
    Learner,
    product_on_grid,
    require,
    sum_of_gathered,
)
from simstudy.learners.naive_bayes import FittedNaiveBayes, NaiveBayes
from simstudy.sample import Sample, SlotLayout


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
        diagonal = np.arange(layout.size)
        child[:, diagonal, diagonal] = parent
        return FittedAODE(
            sample.cards,
            layout,
            np.log(child),
            singles.sum(axis=0) >= self.min_frequency,
            NaiveBayes().fit(sample),
        )


class FittedAODE(Generative):
    """log P(x_j | c, x_i) of every pair of slots, with log P(c, x_i) on the diagonal."""

    def __init__(
        self,
        cards: tuple[int, ...],
        layout: SlotLayout,
        log_tables: FloatArray,
        qualifies: npt.NDArray[np.bool_],
        naive_bayes: FittedNaiveBayes,
    ) -> None:
        self.cards = cards
        self._layout = layout
        self._log_tables = log_tables.reshape(cards[-1], -1)
        self._qualifies = qualifies
        self._naive_bayes = naive_bayes

    def log_joint(self, codes: IntArray) -> FloatArray:
        slots = self._layout.slots(codes.T)
        qualifies = self._qualifies[slots]
        log_estimators = np.stack(
            [
                sum_of_gathered(self._log_tables, parent * self._layout.size + slots)
                for parent in slots
            ]
        )
        log_estimators[~qualifies] = -np.inf
        used = qualifies.sum(axis=0)
        alone = used == 0
        largest = log_estimators.max(axis=0)
        largest[alone] = 0.0
        with np.errstate(divide="ignore"):
            log_sum = np.log(np.exp(log_estimators - largest).sum(axis=0)) + largest
        log_sum -= np.log(np.maximum(used, 1))[:, None]
        if alone.any():
            log_sum[alone] = self._naive_bayes.log_joint(codes[alone])
        return log_sum

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
        if alone.any():
            total[:, alone] = self._naive_bayes.joint_grid()[:, alone]
        return total
