"""Counts and models of rows with missing values.

Every estimate is from the rows that have its variables. In a row to be predicted, a missing value
is one more value of its attribute, for which models are widened: it says nothing of the class, and
as a parent it is left out of the condition.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.sample import Sample
from simstudy.data.slots import SlotLayout, slot_layout
from simstudy.learners.base import Generative


def known_counts(sample: Sample) -> FloatArray:
    """Return n_c without the rows that lack the attribute, shape (classes, slots).

    One column does for all slots if nothing is missing.
    """
    if sample.plain:
        return sample.class_counts[:, None]
    nominal = sample.layout.cards > 0
    sums = np.add.reduceat(sample.slot_counts, sample.layout.starts[nominal], axis=1)
    return sums.repeat(sample.layout.cards[nominal], axis=1)


def known_pair_counts(sample: Sample) -> FloatArray:
    """Return n_{c,x_i} without the rows that lack x_j, shape (classes, slots of i, slots of j).

    One layer does for all slots of j if nothing is missing.
    """
    if sample.plain:
        return sample.slot_counts[:, :, None]
    return counts_of_both(sample)[0][:, :, sample.layout.owner]


def counts_of_both(sample: Sample) -> tuple[FloatArray, FloatArray]:
    """Return n_{c,x_i} and n_c of the rows that have attributes i and j; j is the last axis."""
    starts = sample.layout.starts
    counts: FloatArray = np.add.reduceat(sample.pair_counts, starts, axis=2)
    return counts, np.add.reduceat(counts, starts, axis=1)


def widened_cards(cards: Sequence[int]) -> tuple[int, ...]:
    """Return the numbers of values with one more value, missing, of every attribute."""
    return (*(card + 1 for card in cards[:-1]), cards[-1])


def widened_layout(cards: Sequence[int]) -> tuple[SlotLayout, IntArray, IntArray]:
    """Return the slots of the attributes with one more value, and which of them are old and new."""
    layout = slot_layout(widened_cards(cards)[:-1])
    new = layout.starts + layout.cards - 1
    return layout, np.delete(np.arange(layout.size), new), new


class Families(Generative):
    """A model of P(class) and one log table per attribute given the class and its parents.

    Attributes
    ----------
    parents : sequence of tuples
        The attribute parents of each attribute.
    """

    def __init__(
        self,
        cards: tuple[int, ...],
        parents: Sequence[tuple[int, ...]],
        log_prior: FloatArray,
        log_tables: list[FloatArray],
    ) -> None:
        self.cards = cards
        self.parents = parents
        self._log_prior = log_prior
        self._log_tables = log_tables

    def log_joint(self, codes: IntArray) -> FloatArray:
        columns = codes.T
        total = np.repeat(self._log_prior[:, None], len(codes), axis=1)
        for attribute, (others, table) in enumerate(
            zip(self.parents, self._log_tables, strict=True)
        ):
            total += table[:, *(columns[u] for u in (*others, attribute))]
        return total.T


def widened_families(sample: Sample, parents: Sequence[tuple[int, ...]], alpha: float) -> Families:
    """Return the model for rows with missing values.

    P(x_i | c, known parents) = (n + α)/(N + r_i α), each from the rows that have these variables.
    """
    cards, target = sample.cards, len(sample.cards) - 1
    tables = []
    for attribute, others in enumerate(parents):
        axes = (target, *others, attribute)
        table = np.zeros([cards[target], *(cards[u] + 1 for u in axes[1:])])
        for known in itertools.product((True, False), repeat=len(others)):
            pairs = list(zip(others, known, strict=True))
            counts = sample.counts(target, *(u for u, is_known in pairs if is_known), attribute)
            smoothed = counts + alpha
            place = [slice(cards[u]) if is_known else cards[u] for u, is_known in pairs]
            table[:, *place, :-1] = np.log(smoothed / smoothed.sum(axis=-1, keepdims=True))
        tables.append(table)
    log_prior = np.log(sample.class_frequencies(alpha))
    return Families(widened_cards(cards), parents, log_prior, tables)
