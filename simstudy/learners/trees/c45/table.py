"""Rows with nominal and numeric attributes and missing values."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from simstudy.arrays import AnyArray, BoolArray, FloatArray, IntArray, weights_in
from simstudy.data.sample import Sample
from simstudy.data.value_layout import SlotLayout, slot_layout

# Sums over slots are matrix products up to this many (attribute, slot) pairs.
_FEW_PAIRS = 2**14


class Entries(NamedTuple):
    """Rows, each at a node of a tree with a weight.

    A row with a missing value of a tested attribute is at several nodes, with a fraction of its
    weight at each.
    """

    rows: IntArray
    nodes: IntArray
    weights: FloatArray

    def where(self, chosen: BoolArray) -> Entries:
        """Return the entries selected by a mask."""
        places = chosen.nonzero()[0]
        return self if len(places) == len(chosen) else self.take(places)

    def take(self, places: IntArray) -> Entries:
        """Return the entries at some indices."""
        return Entries(self.rows[places], self.nodes[places], self.weights[places])

    def at(self, nodes: IntArray, size: int) -> Entries:
        """Return the entries at some nodes of a tree of this size."""
        wanted = np.zeros(size, dtype=bool)
        wanted[nodes] = True
        return self.where(wanted[self.nodes])


class Attributes:
    """The attribute columns of a table.

    Parameters
    ----------
    values : array of shape (rows, attributes)
        Codes from 0 for nominal attributes, any number for numeric ones; NaN is missing.
    cards : tuple of int
        Number of values of each nominal attribute; 0 for a numeric one.

    Attributes
    ----------
    complete : bool
        Whether no value is missing.
    plain : bool
        Whether, in addition, all attributes are nominal.
    """

    def __init__(self, values: AnyArray, cards: tuple[int, ...]) -> None:
        self.cards = cards
        # Column-major in memory.
        self.values = np.asfortranarray(values)
        self.complete = self.values.dtype.kind in "iu" or not bool(np.isnan(self.values).any())
        self.any_numeric = 0 in cards
        self.plain = self.complete and not self.any_numeric

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def numeric(self) -> BoolArray:
        """Whether each attribute is numeric."""
        return np.array([card == 0 for card in self.cards], dtype=bool)

    @cached_property
    def flat(self) -> AnyArray:
        """All values, column by column, followed by zeros for attribute −1."""
        zeros = np.zeros((1, len(self)), dtype=self.values.dtype)
        return np.concatenate([self.values.T, zeros]).ravel()

    def at(self, rows: IntArray, attributes: IntArray) -> AnyArray:
        """Return the value of one attribute per row; 0 for attribute −1."""
        places = attributes * len(self)
        places += rows
        return self.flat.take(places)


class TrainingRows(Attributes):
    """Training rows of a sample: attributes, classes and weights.

    Rows of weight 0 are left out. With ``distinct``, duplicates are merged, with their number as
    weight; else the sample must not be weighted.

    Attributes
    ----------
    unit : bool
        Whether every row has weight 1 at every node of a tree.
    repeats : array of shape (rows,) or None
        The weights that the rows had before `with_weights` changed them.
    """

    def __init__(self, sample: Sample, *, distinct: bool = True) -> None:
        rows = sample.distinct if distinct else sample
        values = rows.attributes if rows.plain else rows.values[:, :-1]
        super().__init__(values, rows.cards[:-1])
        self.target, self.classes = rows.target, rows.classes
        self.unit = rows.weights is None and self.complete
        self.weights = np.ones(len(rows)) if rows.weights is None else rows.weights
        self.total = float(len(rows) if rows.weights is None else rows.weights.sum())
        self.repeats: FloatArray | None = None

    def with_weights(self, weights: FloatArray) -> TrainingRows:
        """Return the same rows with other weights."""
        table = copy(self)
        table.weights, table.total, table.unit = weights, float(weights.sum()), False
        table.repeats = self.weights if self.repeats is None else self.repeats
        return table

    @cached_property
    def ranked(self) -> dict[int, tuple[FloatArray, IntArray]]:
        """The sorted values of each numeric attribute, and the rank of each row's value.

        The rank of missing values follows that of all others.
        """
        ranked = {}
        for column in np.flatnonzero(self.numeric).tolist():
            values, ranks = np.unique(self.values[:, column], return_inverse=True)
            ranked[column] = (values[~np.isnan(values)], ranks)
        return ranked

    @cached_property
    def nominal(self) -> IntArray:
        """The indices of the nominal attributes."""
        return np.flatnonzero(~self.numeric)

    @cached_property
    def layout(self) -> SlotLayout:
        """The slots of the values of nominal attributes, and a last one for all rows."""
        return slot_layout((*filter(None, self.cards), 1))

    def by_attribute(self, weights: FloatArray) -> FloatArray:
        """Sum over the slots, on the second-last axis, of each nominal attribute."""
        if len(self.layout.cards) * self.layout.size > _FEW_PAIRS:
            return np.add.reduceat(weights, self.layout.starts, axis=-2)[..., :-1, :]
        return _owners(self.layout) @ weights

    @cached_property
    def cells(self) -> IntArray:
        """The cell of every value, class·slots + slot, shape (nominal attributes, rows).

        Missing values are in the first slot of their attribute.
        """
        values = self.values.T[self.nominal] if self.any_numeric else self.values.T
        codes = values if self.complete else np.nan_to_num(values)
        starts = self.layout.starts[:-1, None]
        return codes.astype(np.intp) + starts + self.target * self.layout.size

    @cached_property
    def present(self) -> BoolArray:
        """Whether nominal values are known, shape (nominal attributes, rows)."""
        return ~np.isnan(self.values.T[self.nominal])

    def all_entries(self) -> Entries:
        """Return every row at the root of a tree."""
        return Entries(np.arange(len(self)), np.zeros(len(self), dtype=np.intp), self.weights)

    def entries(self, parts: Sequence[IntArray]) -> Entries:
        """Return the rows of each part at the root of its tree."""
        rows = np.concatenate(parts)
        nodes = np.arange(len(parts)).repeat([*map(len, parts)])
        return Entries(rows, nodes, self.weights.take(rows))

    def class_counts(self, entries: Entries, nodes: int) -> FloatArray:
        """Return the class weights of the entries at each node, shape (classes, nodes)."""
        cells = self.target.take(entries.rows) * nodes
        cells += entries.nodes
        weights = None if self.unit else entries.weights
        return weights_in(cells, weights, self.classes * nodes).reshape(-1, nodes)

    def sizes(self, entries: Entries, nodes: int) -> FloatArray:
        """Return the weight of the entries at each node."""
        return self.class_counts(entries, nodes).sum(axis=0)


@lru_cache(maxsize=16)
def _owners(layout: SlotLayout) -> FloatArray:
    """Return 1 where a slot belongs to an attribute, 0 elsewhere; the last slot to none."""
    return np.repeat(np.eye(len(layout.cards)), layout.cards, axis=1)[:-1]


def together(left: Entries, right: Entries) -> Entries:
    """Concatenate two sets of entries."""
    return Entries(*(np.concatenate(fields) for fields in zip(left, right, strict=True)))
