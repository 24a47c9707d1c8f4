"""A decision tree as arrays, and the way of rows through it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simstudy.arrays import FloatArray, IntArray, weights_in
from simstudy.learners.c45.table import Attributes, Table

# Values, weights and errors that differ by less are equal, as in Weka.
SMALL = 1e-6
LEAF = -1


class Entries(NamedTuple):
    """Rows, each at a node of a tree with a weight.

    A row whose value of a tested attribute is missing is at several nodes, with a part of its
    weight at each.
    """

    rows: IntArray
    nodes: IntArray
    weights: FloatArray

    def where(self, chosen: npt.NDArray[np.bool_]) -> Entries:
        """Some of the entries."""
        places = np.flatnonzero(chosen)
        if len(places) == len(chosen):
            return self
        return Entries(self.rows.take(places), self.nodes.take(places), self.weights.take(places))

    def at(self, nodes: IntArray, size: int) -> Entries:
        """The entries at some nodes of a tree of this size."""
        wanted = np.zeros(size, dtype=bool)
        wanted[nodes] = True
        return self.where(wanted.take(self.nodes))


class Level(NamedTuple):
    """Some inner nodes of a tree and all their children, one node's after the other's.

    ``offsets`` says where each node's children start, ``branches`` how many they are.
    """

    nodes: IntArray
    children: IntArray
    offsets: IntArray
    branches: IntArray


class Tree:
    """Nodes of a decision tree, the first of them the root.

    Attributes
    ----------
    attribute : array of shape (nodes,)
        What a node tests; −1 at a leaf.
    threshold : array of shape (nodes,)
        Values up to it take the first of two branches, where the attribute is numeric.
    first : array of shape (nodes,)
        The child for the first value, those for the other values follow it; a leaf has itself.
    branches : array of shape (nodes,)
        How many children a node has.
    counts : array of shape (nodes, classes)
        Training rows of each class.
    """

    def __init__(self, classes: int) -> None:
        self.attribute: IntArray = np.full(1, LEAF)
        self.threshold: FloatArray = np.full(1, np.nan)
        self.first: IntArray = np.zeros(1, dtype=np.intp)
        self.branches: IntArray = np.zeros(1, dtype=np.intp)
        self.counts: FloatArray = np.zeros((1, classes))

    def __len__(self) -> int:
        return len(self.attribute)

    def split(
        self, nodes: IntArray, attribute: IntArray, threshold: FloatArray, branches: IntArray
    ) -> None:
        """Give leaves a test and children, numbered on from the last node."""
        ends = np.cumsum(branches)
        size, more = len(self), int(ends[-1])
        self.attribute[nodes] = attribute
        self.threshold[nodes] = threshold
        self.first[nodes] = size + ends - branches
        self.branches[nodes] = branches
        self.attribute = np.concatenate([self.attribute, np.full(more, LEAF)])
        self.threshold = np.concatenate([self.threshold, np.full(more, np.nan)])
        self.first = np.concatenate([self.first, np.arange(size, size + more)])
        self.branches = np.concatenate([self.branches, np.zeros(more, dtype=np.intp)])
        self.counts = np.concatenate([self.counts, np.zeros((more, self.counts.shape[1]))])

    def make_leaves(self, nodes: IntArray) -> None:
        """Cut off what is below some nodes."""
        self.attribute[nodes] = LEAF
        self.branches[nodes] = 0
        self.first[nodes] = nodes

    def replace(self, nodes: IntArray, by: IntArray) -> None:
        """Put other nodes, with all that is below them, in the place of some."""
        for field in (self.attribute, self.threshold, self.first, self.branches):
            field[nodes] = field[by]
        leaves = nodes[self.branches[nodes] == 0]
        self.first[leaves] = leaves

    def compact(self) -> None:
        """Drop the nodes that were cut off, and number the rest level by level."""
        root = np.zeros(1, dtype=np.intp)
        order = np.concatenate([root, *(level.children for level in self.inner_levels())])
        places = np.empty(len(self), dtype=np.intp)
        places[order] = np.arange(len(order))
        self.first = places[self.first[order]]
        self.attribute, self.threshold = self.attribute[order], self.threshold[order]
        self.branches, self.counts = self.branches[order], self.counts[order]

    def level(self, nodes: IntArray) -> Level:
        """Some inner nodes with their children."""
        branches = self.branches.take(nodes)
        offsets = branches.cumsum() - branches
        firsts = np.repeat(self.first.take(nodes) - offsets, branches)
        return Level(nodes, firsts + np.arange(len(firsts)), offsets, branches)

    def children(self, nodes: IntArray) -> IntArray:
        """All children of some nodes, one node's after the other's."""
        return self.level(nodes).children

    def inner_levels(self) -> list[Level]:
        """The inner nodes of every depth, from the root on."""
        levels = []
        nodes = np.zeros(1, dtype=np.intp)
        while len(nodes := nodes[self.branches[nodes] > 0]):
            levels.append(self.level(nodes))
            nodes = levels[-1].children
        return levels

    def largest_children(self, level: Level) -> IntArray:
        """The child with most rows of each node of a level, the last of several."""
        sizes = self.counts[level.children].sum(axis=1)
        most = np.repeat(np.maximum.reduceat(sizes, level.offsets), level.branches)
        largest = np.where(sizes > most - SMALL, level.children, LEAF)
        return np.maximum.reduceat(largest, level.offsets)

    def class_counts(self, table: Table, entries: Entries) -> FloatArray:
        """The classes of entries at every node, shape (nodes, classes)."""
        cells = entries.nodes * table.classes + table.target.take(entries.rows)
        return weights_in(cells, entries.weights, self.counts.size).reshape(self.counts.shape)

    def count(self, table: Table, entries: Entries, nodes: IntArray) -> None:
        """Set the class counts of some nodes to those of the entries there."""
        self.counts[nodes] = self.class_counts(table, entries)[nodes]

    def step(self, attributes: Attributes, entries: Entries) -> tuple[Entries, Entries | None]:
        """Move entries to the child of their value, and return those without a value apart.

        Entries at leaves stay.
        """
        tested = self.attribute.take(entries.nodes)
        values = attributes.at(entries.rows, tested)
        missing = None
        if not attributes.complete:
            absent = np.isnan(values) & (tested != LEAF)
            missing, entries = entries.where(absent), entries.where(~absent)
            tested, values = tested[~absent], values[~absent]
        if attributes.any_numeric:
            above = values - self.threshold.take(entries.nodes) >= SMALL
            values = np.where(attributes.numeric[tested], above, values)
        moves = np.where(tested == LEAF, 0, values).astype(np.intp, copy=False)
        nodes = self.first.take(entries.nodes) + moves
        return Entries(entries.rows, nodes, entries.weights), missing

    def spread(self, entries: Entries) -> Entries:
        """Every entry at all children of its node, in parts like the rows already there."""
        _, children, _, branches = self.level(entries.nodes)
        parts = self.counts[children].sum(axis=1)
        owner = np.repeat(np.arange(len(branches)), branches)
        whole = weights_in(owner, parts, len(branches))[owner]
        shares = np.where(whole > SMALL, parts / np.maximum(whole, SMALL), 1 / branches[owner])
        spread = Entries(entries.rows[owner], children, entries.weights[owner] * shares)
        return spread.where(shares > 0)

    def train_step(self, table: Table, entries: Entries, children: IntArray) -> Entries:
        """Move training rows from inner nodes to their children, and count them there."""
        entries, missing = self.step(table, entries)
        self.count(table, entries, children)
        if missing is not None and len(missing.rows):
            entries = together(entries, self.spread(missing))
            self.count(table, entries, children)
        return entries

    def leaves(self, attributes: Attributes, entries: Entries) -> Entries:
        """Where entries end."""
        while self.attribute.take(entries.nodes).max(initial=LEAF) > LEAF:
            entries, missing = self.step(attributes, entries)
            if missing is not None and len(missing.rows):
                entries = together(entries, self.spread(missing))
        return entries


def together(one: Entries, other: Entries) -> Entries:
    """Two lots of entries as one."""
    return Entries(*(np.concatenate(fields) for fields in zip(one, other, strict=True)))
