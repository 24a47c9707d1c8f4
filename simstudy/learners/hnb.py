"""Hidden Naive Bayes.

Zhang, Jiang & Su (2005); the estimates are those of Weka's HNB.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.sample import Sample, SlotLayout
from simstudy.learners.base import Generative, Learner, sum_of_gathered

# Weka leaves out of the mutual information what has a probability product below this.
_SMALL = 1e-6
# An attribute that shares less than this with all others, in bits, shares nothing but rounding.
_NOTHING = 1e-12


@dataclass(frozen=True)
class HNB(Learner):
    """Naive Bayes in which each attribute has a hidden parent that blends all other attributes.

    P(x_i | hidden parent, c) = Σ_{j≠i} W_ij P(x_i | x_j, c), with W_ij in proportion to
    I(X_i; X_j | C); an attribute that shares nothing with the others has P(x_i | c). One row is
    spread over the cells of each table: P(c) = (n_c + 1/k)/(N + 1),
    P(x_i | x_j, c) = (n + 1/r_i)/(n_{c,x_j} + 1) and P(x_i | c) = (n + 1/r_i)/(n_c + 1).
    """

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> FittedHNB:
        layout, owner = sample.layout, sample.layout.owner
        shared = shared_information(sample)
        total = shared.sum(axis=1, keepdims=True)
        alone = total[:, 0] <= _NOTHING
        weights = np.divide(shared, total, out=np.zeros_like(shared), where=total > _NOTHING)
        share = 1.0 / layout.slot_cards
        tables = (sample.pair_counts + share) / (sample.slot_counts[:, :, None] + 1.0)
        tables *= weights.T[np.ix_(owner, owner)]
        # An attribute meets itself only at the same value: there stands P(x_i | c) if it has no
        # hidden parent, so one sum over all attributes does for both kinds.
        plain = (sample.slot_counts + share) / (sample.class_counts[:, None] + 1.0)
        diagonal = np.arange(layout.size)
        tables[:, diagonal, diagonal] = np.where(alone[owner], plain, 0.0)
        log_prior = np.log(sample.class_frequencies(1.0 / sample.classes))
        return FittedHNB(sample.cards, layout, log_prior, tables)


def shared_information(sample: Sample) -> FloatArray:
    """I(X_i; X_j | C) in bits as Weka's HNB sums it, 0 for an attribute with itself.

    Σ P(c,x_i,x_j) log₂(P(c,x_i,x_j) P(c) / P(c,x_i) P(c,x_j)), without the cells where the
    product above or below is under 10^-6. What that leaves below 0 counts as 0.
    """
    layout, total = sample.layout, sample.total or 1.0
    # In this order of dividing and multiplying, rounding puts a product that is just 10^-6 on
    # the side where Weka has it.
    singles = sample.slot_counts / total
    information = np.zeros((layout.size, layout.size))
    for pairs, values, prior in zip(
        sample.pair_counts, singles, sample.class_counts / total, strict=True
    ):
        joint = pairs / total
        above, below = joint * prior, values[:, None] * values
        counts = (above >= _SMALL) & (below >= _SMALL)
        ratio = np.divide(above, below, out=np.ones_like(above), where=counts)
        information += joint * np.log2(ratio)
    by_parent = np.add.reduceat(information, layout.starts, axis=0)
    shared: FloatArray = np.maximum(np.add.reduceat(by_parent, layout.starts, axis=1), 0.0)
    np.fill_diagonal(shared, 0.0)
    return shared


class FittedHNB(Generative):
    """Every slot's share in the hidden parent of every other, W_ij P(x_i | x_j, c)."""

    def __init__(
        self,
        cards: tuple[int, ...],
        layout: SlotLayout,
        log_prior: FloatArray,
        tables: FloatArray,
    ) -> None:
        self.cards = cards
        self._layout = layout
        self._log_prior = log_prior
        self._tables = tables.reshape(cards[-1], -1)

    def log_joint(self, codes: IntArray) -> FloatArray:
        slots = self._layout.slots(codes.T)
        total = np.zeros((len(codes), self.cards[-1]))
        for child in slots:
            parents = slots * self._layout.size
            total += np.log(sum_of_gathered(self._tables, parents + child))
        return total + self._log_prior
