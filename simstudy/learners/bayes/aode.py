"""Averaged one-dependence estimators.

Webb, Boughton & Wang (2005); the estimates are those of Weka's AODE.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, TypeAlias

import numpy as np

from simstudy.arrays import BoolArray, FloatArray, IntArray
from simstudy.data.sample import Sample
from simstudy.data.value_layout import SlotLayout
from simstudy.learners.base import Generative, Learner, require, require_at_least_0
from simstudy.learners.bayes.incomplete import known_counts, known_pair_counts, widened_layout
from simstudy.learners.bayes.naive_bayes import FittedNaiveBayes, fit_nominal
from simstudy.networks.evaluation import Factor, product_on_grid

Block: TypeAlias = tuple[range, FloatArray]  # some attributes, and a table of their products
# Rows are predicted in chunks, so that arrays have at most this many elements: small arrays are
# fast to allocate and stay in the cache.
_CHUNK_SIZE = 10_000
# Elements per class of a table of products; building it should take no longer than looking up a
# thousand rows.
_BLOCK_SIZE = 3_000
# A product of probabilities no smaller than this is exact to the last few bits.
_SMALL = 1e-290


@dataclass(frozen=True)
class AODE(Learner):
    """Averaged one-dependence estimators (Webb, Boughton & Wang 2005).

    score(c) is the mean over attributes i with at least ``min_frequency`` training rows of
    value x_i of P(c, x_i) Π_{j≠i} P(x_j|c, x_i). Where no attribute qualifies, Naive Bayes
    (Laplace) is used. Missing values are left out, as in Weka: in training, N and n_{c,x_i} are
    without the rows that lack x_i or x_j; in a row to be predicted, so are the parents and factors
    that are missing.

    Parameters
    ----------
    m : float > 0, optional
        Weight of an m-estimate, P(c,x_i) = (n + m/(k r_i))/(N + m) and
        P(x_j|c,x_i) = (n + m/r_j)/(n_{c,x_i} + m); if omitted, Laplace smoothing,
        (n + 1)/(N + k r_i) and (n + 1)/(n_{c,x_i} + r_j).
    min_frequency : float >= 0
        Minimum number of training rows of a value for its attribute to be the parent.

    References
    ----------
    G. I. Webb, J. R. Boughton & Z. Wang (2005). Not so Naive Bayes: aggregating one-dependence
    estimators. Machine Learning 58.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"missing"})

    m: float | None = None
    min_frequency: float = 1.0

    def __post_init__(self) -> None:
        allowed = "it must be above 0 and finite, or left out"
        require(self.m is None or 0 < self.m < np.inf, "m", self.m, allowed)
        require_at_least_0(self, "min_frequency")

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> FittedAODE:
        layout, pairs, singles = sample.layout, sample.pair_counts, sample.slot_counts
        cards, parents = layout.slot_cards, known_pair_counts(sample)
        total = sample.total if sample.plain else known_counts(sample).sum(axis=0)
        if self.m is None:
            child = (pairs + 1.0) / (parents + cards)
            parent = (singles + 1.0) / (total + sample.classes * cards)
        else:
            child = (pairs + self.m / cards) / (parents + self.m)
            parent = (singles + self.m / (sample.classes * cards)) / (total + self.m)
        # The diagonal holds P(c, x_i), so that one product over all attributes includes the
        # parent.
        diagonal = child.reshape(sample.classes, -1)[:, :: layout.size + 1]
        diagonal[:] = parent
        least = float(child.min())
        qualifies = singles.sum(axis=0) >= self.min_frequency
        diagonal *= qualifies
        naive_bayes = None if qualifies.all() else fit_nominal(sample, 1.0)
        return FittedAODE(sample.cards, layout, child, least, sample, qualifies, naive_bayes)


@dataclass(eq=False, repr=False)
class FittedAODE(Generative):
    """A fitted AODE: P(x_j | c, x_i) of every pair of slots, with P(c, x_i) on the diagonal.

    No probability is below ``least``, except zeros on the diagonal at values that do not qualify.
    ``qualifies`` marks those that do; ``naive_bayes`` predicts where no attribute qualifies, and
    is None if all values qualify.
    """

    cards: tuple[int, ...]
    _layout: SlotLayout
    _tables: FloatArray
    _least: float
    _sample: Sample
    _qualifies: BoolArray
    _naive_bayes: FittedNaiveBayes | None

    def __post_init__(self) -> None:
        # The product of many probabilities may underflow; sums of logarithms do not, but are
        # slower.
        self._logs = self._least ** len(self._layout.spans) < _SMALL
        self._times = np.add if self._logs else np.multiply

    def _facts(self) -> list[str]:
        rare = "rare values excluded as parents" if self._naive_bayes is not None else ""
        return [*super()._facts(), rare]

    @cached_property
    def widened(self) -> FittedAODE:
        cards, layout, old, new = widened_layout(self.cards)
        tables = np.ones((self.cards[-1], layout.size, layout.size))
        tables[:, old[:, None], old] = self._tables
        tables[:, new, new] = 0.0  # a missing value is no parent
        qualifies = np.zeros(layout.size, dtype=bool)
        qualifies[old] = self._qualifies
        fallback = (self._naive_bayes or fit_nominal(self._sample, 1.0)).widened
        return FittedAODE(cards, layout, tables, self._least, self._sample, qualifies, fallback)

    def _proba(self, codes: IntArray) -> FloatArray:
        if self._logs:
            return super()._proba(codes)
        joint = self._sums(codes)
        total = joint.sum(axis=0)
        if self._naive_bayes is not None and not total.all():
            alone = total == 0
            joint[:, alone] = self._naive_bayes._proba(codes[alone]).T
            total[alone] = 1.0
        joint /= total
        return joint.T

    def log_joint(self, codes: IntArray) -> FloatArray:
        sums = self._sums(codes)
        log_sums = sums if self._logs else _log(sums)
        if self._naive_bayes is None:
            return log_sums.T - np.log(codes.shape[1])
        number = self._qualifies[self._layout.slots(codes.T)].sum(axis=0)
        log_mean: FloatArray = (log_sums - np.log(np.maximum(number, 1))).T
        alone = number == 0
        log_mean[alone] = self._naive_bayes.log_joint(codes[alone])
        return log_mean

    def _sums(self, codes: IntArray) -> FloatArray:
        """Return Σ_i P(c, x_i) Π_{j≠i} P(x_j|c, x_i) of every row, or its logarithm if ``_logs``.

        Shape (classes, rows).
        """
        sums = np.empty((self.cards[-1], len(codes)))
        blocks = self._blocks
        few = max(_CHUNK_SIZE // codes.shape[1], 1)
        for start in range(0, len(codes), few):
            columns = codes[start : start + few].T
            slots = self._layout.slots(columns)
            places = [self._places(columns, slots, attributes) for attributes, _ in blocks]
            for label, row in enumerate(sums[:, start : start + few]):
                products = blocks[0][1][label].take(places[0])
                for (_, table), place in zip(blocks[1:], places[1:], strict=True):
                    self._times(products, table[label].take(place), out=products)
                row[:] = _log_of_sum(products) if self._logs else products.sum(axis=0)
        return sums

    @cached_property
    def _blocks(self) -> list[Block]:
        """Return tables of the product of P(x_j|c, x_i) over blocks of attributes j.

        A block is as many adjacent attributes as make a small table, so that a row needs few
        lookups. The tables have shape (classes, slots times values).
        """
        layout, classes = self._layout, self.cards[-1]
        tables = _log(self._tables) if self._logs else self._tables
        blocks = []
        first, end = 0, len(layout.spans)
        while first < end:
            product, last = tables[:, :, layout.spans[first]], first + 1
            while last < end and product[0].size * self.cards[last] <= _BLOCK_SIZE:
                further = tables[:, :, layout.spans[last], None]
                product = self._times(product[:, :, None], further)
                product = product.reshape(classes, layout.size, -1)
                last += 1
            blocks.append((range(first, last), product.reshape(classes, -1)))
            first = last
        return blocks

    def _places(self, columns: IntArray, slots: IntArray, attributes: range) -> IntArray:
        """Return the index of every row's product in a block, shape (parents, rows)."""
        place, values = columns[attributes[0]], self.cards[attributes[0]]
        for attribute in attributes[1:]:
            place = place + columns[attribute] * values
            values *= self.cards[attribute]
        places = slots * values
        places += place
        return places

    def joint_grid(self) -> FloatArray:
        spans = self._layout.spans
        total = np.zeros((self.cards[-1], math.prod(self.cards[:-1])))
        for i, span in enumerate(spans):
            joint = np.diagonal(self._tables[:, span, span], axis1=1, axis2=2)
            factors: list[Factor] = [((i,), joint)]
            for j, of_child in enumerate(spans):
                block = self._tables[:, span, of_child]
                if j != i:
                    factors.append(((i, j), block) if i < j else ((j, i), block.transpose(0, 2, 1)))
            total += product_on_grid(self.cards, factors)
        # The sum is 0 where no attribute qualifies.
        alone = ~total.any(axis=0)
        if self._naive_bayes is not None and alone.any():
            total[:, alone] = self._naive_bayes.joint_grid()[:, alone]
        return total


def _log(numbers: FloatArray) -> FloatArray:
    """Return logarithms, minus infinity for 0."""
    with np.errstate(divide="ignore"):
        logs: FloatArray = np.log(numbers)
    return logs


def _log_of_sum(logs: FloatArray) -> FloatArray:
    """Return the log of the sum of exponentials over the first axis."""
    largest = logs.max(axis=0)
    largest[np.isneginf(largest)] = 0.0
    return _log(np.exp(logs - largest).sum(axis=0)) + largest
