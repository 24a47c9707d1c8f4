"""Counts and models of rows with missing values.

Every estimate is from the rows that have its variables. In a row to be predicted, a missing value
is one more value of its attribute, for which models are widened: it carries no information about
the class, and as a parent it is left out of the condition.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.sample import Sample
from simstudy.data.value_layout import SlotLayout, slot_layout
from simstudy.learners.base import Generative
from simstudy.networks.evaluation import Factor, product_on_grid

Parents: TypeAlias = Sequence[tuple[int, ...]]  # of each attribute


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
    counts = counts_of_both(sample)[0]
    return counts if sample.plain else counts[:, :, sample.layout.owner]


def counts_of_both(sample: Sample) -> tuple[FloatArray, FloatArray]:
    """Return n_{c,x_i} and n_c of the rows that have attributes i and j; j is the last axis.

    The axes of attributes have length 1 where all of them have the same counts.
    """
    if sample.plain:
        return sample.slot_counts[:, :, None], sample.class_counts[:, None, None]
    starts = sample.layout.starts
    counts: FloatArray = np.add.reduceat(sample.pair_counts, starts, axis=2)
    return counts, np.add.reduceat(counts, starts, axis=1)


def widened_layout(cards: Sequence[int]) -> tuple[tuple[int, ...], SlotLayout, IntArray, IntArray]:
    """Return the numbers of values with one more, missing, of every attribute, and their slots.

    The last two are the old and the new slots.
    """
    attributes = tuple(card + 1 for card in cards[:-1])
    layout = slot_layout(attributes)
    new = layout.starts + layout.cards - 1
    return (*attributes, cards[-1]), layout, np.delete(np.arange(layout.size), new), new


class Families(Generative):
    """A model of P(class) and one log table per attribute given the class and its parents.

    Attributes
    ----------
    parents : sequence of tuples
        The attribute parents of each attribute.
    """

    def __init__(
        self, sample: Sample, alpha: float, parents: Parents, log_tables: Sequence[FloatArray] = ()
    ) -> None:
        self.cards, self.parents = sample.cards, parents
        self._sample, self._alpha = sample, alpha
        self._axes = [(*condition, attribute) for attribute, condition in enumerate(parents)]
        self._log_tables = log_tables or [log_table(sample, axes, alpha) for axes in self._axes]
        self._log_prior = np.log(sample.class_frequencies(alpha))

    @cached_property
    def widened(self) -> Families:
        """The model for rows with missing values.

        P(x_i | c, known parents) = (n + α)/(N + r_i α), each from the rows that have these
        variables.
        """
        cards, tables = self.cards, []
        for attribute, parents in enumerate(self.parents):
            table = np.zeros([cards[-1], *(cards[u] + 1 for u in self._axes[attribute])])
            for present in itertools.product((True, False), repeat=len(parents)):
                condition = itertools.compress(parents, present)
                pairs = zip(parents, present, strict=True)
                place = [slice(cards[u]) if is_present else cards[u] for u, is_present in pairs]
                logs = log_table(self._sample, (*condition, attribute), self._alpha)
                table[:, *place, :-1] = logs
            tables.append(table)
        widened = Families(self._sample, self._alpha, self.parents, tables)
        widened.cards = widened_layout(cards)[0]
        return widened

    def log_joint(self, codes: IntArray) -> FloatArray:
        columns = codes.T
        total = np.repeat(self._log_prior[:, None], len(codes), axis=1)
        for axes, table in zip(self._axes, self._log_tables, strict=True):
            total += table[:, *(columns[u] for u in axes)]
        return total.T

    def joint_grid(self) -> FloatArray:
        factors: list[Factor] = [((), np.exp(self._log_prior))]
        for axes, table in zip(self._axes, self._log_tables, strict=True):
            order = sorted(range(len(axes)), key=axes.__getitem__)
            ordered = np.exp(table).transpose(0, *(i + 1 for i in order))
            factors.append((tuple(sorted(axes)), ordered))
        return product_on_grid(self.cards, factors)


def log_table(sample: Sample, axes: Sequence[int], alpha: float) -> FloatArray:
    """Return log P(last attribute | class, the others), from the rows that have all of them."""
    counts = sample.counts(len(sample.cards) - 1, *axes) + alpha
    table: FloatArray = np.log(counts / counts.sum(axis=-1, keepdims=True))
    return table
