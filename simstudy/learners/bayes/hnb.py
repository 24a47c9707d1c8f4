"""Hidden Naive Bayes.

Zhang, Jiang & Su (2005); the estimates are those of Weka's HNB.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.sample import Sample
from simstudy.data.value_layout import SlotLayout
from simstudy.learners.base import Generative, Learner
from simstudy.learners.bayes import incomplete

# Weka omits terms of the mutual information with a probability product below this.
_SMALL = 1e-6
# Total mutual information with the other attributes below this, in bits, is rounding error.
_NEGLIGIBLE = 1e-12


@dataclass(frozen=True)
class HNB(Learner):
    """Hidden Naive Bayes: one hidden parent per attribute mixes all others (Zhang et al. 2005).

    P(x_i | hidden parent, c) = Σ_{j≠i} W_ij P(x_i | x_j, c), with W_ij proportional to
    I(X_i; X_j | C); an attribute that is independent of all others given the class has P(x_i | c).
    Pseudocounts sum to one in each table: P(c) = (n_c + 1/k)/(N + 1),
    P(x_i | x_j, c) = (n + 1/r_i)/(n_{c,x_j} + 1) and P(x_i | c) = (n + 1/r_i)/(n_c + 1).

    Weka's HNB takes no missing values. Here every count, also for the information, is of the rows
    that have the variables concerned (information: over all rows, so that it is worth less where
    values are missing). In a row to be predicted, missing values are left out of the product, and
    P(x_i | c) stands for P(x_i | x_j, c) where x_j is missing.

    References
    ----------
    H. Zhang, L. Jiang & J. Su (2005). Hidden Naive Bayes. AAAI-05.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"missing"})

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> FittedHNB:
        layout, owner = sample.layout, sample.layout.owner
        shared = shared_information(sample)
        total = shared.sum(axis=1, keepdims=True)
        alone = total[:, 0] <= _NEGLIGIBLE
        weights = np.divide(shared, total, out=np.zeros_like(shared), where=total > _NEGLIGIBLE)
        share = 1.0 / layout.slot_cards
        tables = (sample.pair_counts + share) / (incomplete.known_pair_counts(sample) + 1.0)
        tables *= weights.T[np.ix_(owner, owner)]
        # The diagonal holds P(x_i | c) for attributes without a hidden parent, so that one sum over
        # all attributes covers both cases.
        plain = (sample.slot_counts + share) / (incomplete.known_counts(sample) + 1.0)
        diagonal = np.arange(layout.size)
        tables[:, diagonal, diagonal] = np.where(alone[owner], plain, 0.0)
        log_prior = np.log(sample.class_frequencies(1.0 / sample.classes))
        flat = tables.reshape(sample.classes, -1)
        return FittedHNB(sample.cards, layout, log_prior, flat, weights, plain)


def shared_information(sample: Sample) -> FloatArray:
    """Return I(X_i; X_j | C) in bits as Weka's HNB computes it, with a zero diagonal.

    Σ P(c,x_i,x_j) log₂(P(c,x_i,x_j) P(c) / P(c,x_i) P(c,x_j)), without the cells whose numerator
    or denominator is below 10^-6. Negative results are set to 0.
    """
    layout, total = sample.layout, sample.total or 1.0
    prior = incomplete.counts_of_both(sample)[1]
    if not sample.plain:
        prior = prior[:, layout.owner][:, :, layout.owner]
    # This order of operations rounds a product of exactly 10^-6 to the same side as Weka does.
    singles = incomplete.known_pair_counts(sample) / total
    information = np.zeros((layout.size, layout.size))
    for pairs, values, classes in zip(sample.pair_counts, singles, prior / total, strict=True):
        joint = pairs / total
        above, below = joint * classes, values * values.T
        counts = (above >= _SMALL) & (below >= _SMALL)
        ratio = np.divide(above, below, out=np.ones_like(above), where=counts)
        information += joint * np.log2(ratio)
    by_parent = np.add.reduceat(information, layout.starts, axis=0)
    shared: FloatArray = np.maximum(np.add.reduceat(by_parent, layout.starts, axis=1), 0.0)
    np.fill_diagonal(shared, 0.0)
    return shared


@dataclass(eq=False, repr=False)
class FittedHNB(Generative):
    """A fitted HNB: W_ij P(x_i | x_j, c) for every pair of slots, W_ij, and P(x_i | c)."""

    cards: tuple[int, ...]
    _layout: SlotLayout
    _log_prior: FloatArray
    _tables: FloatArray
    _weights: FloatArray
    _plain: FloatArray

    @cached_property
    def widened(self) -> FittedHNB:
        cards, layout, old, new = incomplete.widened_layout(self.cards)
        size = self._layout.size
        tables = np.zeros((self.cards[-1], layout.size, layout.size))
        tables[:, old[:, None], old] = self._tables.reshape(-1, size, size)
        without = self._weights.T[:, self._layout.owner] * self._plain[:, None]
        tables[:, new[:, None], old] = without
        tables[:, new, new] = 1.0
        flat = tables.reshape(self.cards[-1], -1)
        return FittedHNB(cards, layout, self._log_prior, flat, self._weights, self._plain)

    def log_joint(self, codes: IntArray) -> FloatArray:
        slots = self._layout.slots(codes.T)
        total = np.zeros((len(codes), self.cards[-1]))
        for child in slots:
            parents = slots * self._layout.size
            total += np.log(self._tables.take(parents + child, axis=1).sum(axis=1).T)
        return total + self._log_prior
