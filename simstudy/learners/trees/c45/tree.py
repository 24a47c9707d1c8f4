"""A decision tree as arrays, and the routing of rows through it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from simstudy.arrays import BoolArray, FloatArray, IntArray, weights_in
from simstudy.learners.trees.c45.table import Attributes, Entries, TrainingRows, together

# Values, weights and errors that differ by less count as equal, as in Weka.
SMALL = 1e-6
LEAF = -1


class Level(NamedTuple):
    """Some inner nodes of a tree and all their children, node by node.

    ``offsets`` is the start of each node's children, ``branches`` their number.
    """

    nodes: IntArray
    children: IntArray
    offsets: IntArray
    branches: IntArray


@dataclass(eq=False)
class Tree:
    """Nodes of a decision tree, the root first.

    Attributes
    ----------
    attribute : array of shape (nodes,)
        The attribute tested at a node; −1 at a leaf.
    threshold : array of shape (nodes,)
        For a numeric attribute, values up to it take the first of two branches.
    first : array of shape (nodes,)
        The child for the first value; the others follow it. A leaf points to itself.
    branches : array of shape (nodes,)
        Number of children.
    counts : array of shape (classes, nodes)
        Training rows of each class.
    depth : int
        The maximum number of tests on a path, of a compact tree.
    """

    attribute: IntArray
    threshold: FloatArray
    first: IntArray
    branches: IntArray
    counts: FloatArray
    depth: int = 0

    @cached_property
    def before(self) -> IntArray:
        """The attribute that a leaf tested before it was pruned; −1 if none."""
        return np.full(len(self), LEAF)

    @cached_property
    def raised(self) -> BoolArray:
        """Whether pruning has put another subtree in place of a node's own."""
        return np.zeros(len(self), dtype=bool)

    def __len__(self) -> int:
        return len(self.attribute)

    def make_leaves(self, nodes: IntArray) -> None:
        """Turn some nodes into leaves."""
        self.before[nodes] = self.attribute[nodes]
        self.attribute[nodes] = LEAF
        self.branches[nodes] = 0
        self.first[nodes] = nodes

    def replace(self, nodes: IntArray, by: IntArray) -> None:
        """Replace some nodes by others with their subtrees."""
        for field in (self.attribute, self.threshold, self.first, self.branches):
            field[nodes] = field[by]
        self.raised[nodes] = True
        leaves = nodes[self.branches[nodes] == 0]
        self.first[leaves] = leaves

    def compact(self, root: int) -> Tree:
        """Return the tree of a root, without unreachable nodes, numbered level by level."""
        levels = [np.array([root])]
        while len(children := self.children(levels[-1])):
            levels.append(children)
        order = np.concatenate(levels)
        places = np.empty(len(self), dtype=np.intp)
        places[order] = np.arange(len(order))
        tests = self.attribute[order], self.threshold[order], places[self.first[order]]
        tree = Tree(*tests, self.branches[order], self.counts[:, order], len(levels) - 1)
        tree.before, tree.raised = self.before[order], self.raised[order]
        return tree

    def level(self, nodes: IntArray) -> Level:
        """Return some inner nodes with their children."""
        branches = self.branches[nodes]
        offsets = branches.cumsum() - branches
        firsts = (self.first[nodes] - offsets).repeat(branches)
        return Level(nodes, firsts + np.arange(len(firsts)), offsets, branches)

    def children(self, nodes: IntArray) -> IntArray:
        """Return all children of some nodes, node by node."""
        return self.level(nodes).children

    def inner_levels(self, nodes: IntArray) -> list[Level]:
        """Return the inner nodes of every depth, from some nodes down."""
        levels = []
        while len(nodes := nodes[self.branches[nodes] > 0]):
            levels.append(self.level(nodes))
            nodes = levels[-1].children
        return levels

    def largest_children(self, level: Level) -> IntArray:
        """Return the child with most rows of each node of a level; ties go to the last."""
        sizes = np.add.reduce(self.counts.take(level.children, axis=1), axis=0)
        most = np.maximum.reduceat(sizes, level.offsets).repeat(level.branches)
        largest = np.where(sizes > most - SMALL, level.children, LEAF)
        return np.maximum.reduceat(largest, level.offsets)

    def count(self, table: TrainingRows, entries: Entries, nodes: IntArray) -> None:
        """Set the class counts of some nodes to those of the entries there."""
        self.counts[:, nodes] = table.class_counts(entries, len(self)).take(nodes, axis=1)

    def step(
        self, attributes: Attributes, entries: Entries, sizes: Callable[[Entries], FloatArray]
    ) -> Entries:
        """Move entries to the child of their value, and those with missing values to all children.

        The latter are divided in proportion to the sizes of the children, which are a function of
        the former. Entries at leaves stay.
        """
        tested = self.attribute.take(entries.nodes)
        values = attributes.at(entries.rows, tested)
        missing = None
        if not attributes.complete and (absent := np.isnan(values)).any():
            missing, entries = entries.where(absent), entries.where(~absent)
            tested, values = tested[~absent], values[~absent]
        if attributes.any_numeric:
            with np.errstate(over="ignore"):  # of the largest numbers
                above = values - self.threshold[entries.nodes] >= SMALL
            values = np.where(attributes.numeric[tested] & (tested != LEAF), above, values)
        nodes = self.first.take(entries.nodes)
        nodes += values.astype(np.intp, copy=False)
        entries = Entries(entries.rows, nodes, entries.weights)
        if missing is None:
            return entries
        return together(entries, self._spread(missing, sizes(entries)))

    def _spread(self, entries: Entries, sizes: FloatArray) -> Entries:
        """Divide every entry among all children of its node, in proportion to their sizes."""
        _, children, _, branches = self.level(entries.nodes)
        parts = sizes[children]
        owner = np.repeat(np.arange(len(branches)), branches)
        whole = weights_in(owner, parts, len(branches))[owner]
        shares = np.where(whole > SMALL, parts / np.maximum(whole, SMALL), 1 / branches[owner])
        spread = Entries(entries.rows[owner], children, entries.weights[owner] * shares)
        return spread.where(shares > 0)

    def train_step(self, table: TrainingRows, entries: Entries, children: IntArray) -> Entries:
        """Move training rows from inner nodes to their children, and count them there."""
        entries = self.step(table, entries, lambda present: table.sizes(present, len(self)))
        self.count(table, entries, children)
        return entries

    def leaves(self, attributes: Attributes, entries: Entries) -> Entries:
        """Return the entries at their leaves."""
        while self.attribute[entries.nodes].max(initial=LEAF) > LEAF:
            entries = self.step(attributes, entries, lambda _: self.counts.sum(axis=0))
        return entries

    def plain_leaves(self, attributes: Attributes) -> IntArray:
        """Return the leaf of each row in a compact tree; attributes are nominal and complete."""
        rows = np.arange(len(attributes))
        nodes = np.zeros_like(rows)
        values = attributes.flat.astype(np.intp, copy=False)
        columns = self.attribute * len(rows)
        for _ in range(self.depth):
            places = columns.take(nodes)
            places += rows
            nodes = self.first.take(nodes)
            nodes += values.take(places)
        return nodes
