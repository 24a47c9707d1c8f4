"""Cutting a tree back to what a pessimistic estimate of its errors supports."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from simstudy.arrays import FloatArray, IntArray, weights_in
from simstudy.learners.c45.grow import root_entries
from simstudy.learners.c45.table import Table
from simstudy.learners.c45.tree import SMALL, Entries, Level, Tree

# Fewer training errors than this are none: a subtree that saves no more is cut off.
_SAVED = 1e-3
# The tree of fewest estimated errors wins, but a simpler one may have this many more.
_ALLOWANCE = 0.1


def collapse(tree: Tree) -> None:
    """Make a leaf of every node whose subtree is no better on the training rows."""
    errors = tree.counts.sum(axis=1) - tree.counts.max(axis=1)
    below = errors.copy()
    for level in reversed(tree.inner_levels()):
        below[level.nodes] = np.add.reduceat(below[level.children], level.offsets)
    inner = np.flatnonzero(tree.branches)
    tree.make_leaves(inner[below[inner] >= errors[inner] - _SAVED])


class Pruner:
    """Error-based pruning with subtree raising (Quinlan 1993, chapter 4).

    From the leaves up, a node becomes a leaf, or is replaced by its largest branch, or stays,
    by the upper confidence limit of the errors that each would make.
    """

    def __init__(self, tree: Tree, table: Table, confidence: float, raising: bool) -> None:
        self._tree, self._table = tree, table
        self._confidence, self._raising = confidence, raising
        self._z = NormalDist().inv_cdf(1 - confidence)

    def prune(self) -> None:
        """Prune the whole tree."""
        self._prune(np.zeros(1, dtype=np.intp), root_entries(self._table))

    def _prune(self, roots: IntArray, entries: Entries) -> FloatArray:
        """Count the entries in the subtrees of some nodes, prune these; return their errors."""
        tree = self._tree
        levels = self._descend(roots, entries)
        as_leaf = self.limit(tree.counts)
        errors = as_leaf.copy()
        for level, entries in reversed(levels):
            nodes = level.nodes
            here = as_leaf[nodes] - _ALLOWANCE - SMALL
            staying = np.add.reduceat(errors[level.children], level.offsets)
            raised = np.full(len(nodes), np.inf)
            if self._raising:
                largest = tree.largest_children(level)
                raised = self._errors_of_branch(nodes, largest, entries)
            cut = (here < staying) & (here < raised)
            errors[nodes] = np.where(cut, as_leaf[nodes], staying)
            tree.make_leaves(nodes[cut])
            lifted = ~cut & (raised < staying + _ALLOWANCE + SMALL)
            if lifted.any():
                nodes = nodes[lifted]
                tree.replace(nodes, largest[lifted])
                errors[nodes] = self._prune(nodes, entries.at(nodes, len(tree)))
        return errors[roots]

    def _descend(self, nodes: IntArray, entries: Entries) -> list[tuple[Level, Entries]]:
        """The inner nodes of each level from some nodes on with their entries, counted anew."""
        tree = self._tree
        tree.count(self._table, entries, nodes)
        levels = []
        while len(nodes := nodes[tree.branches[nodes] > 0]):
            level = tree.level(nodes)
            entries = entries.where(tree.branches.take(entries.nodes) > 0)
            levels.append((level, entries))
            nodes = level.children
            entries = tree.train_step(self._table, entries, nodes)
        return levels

    def _errors_of_branch(self, nodes: IntArray, largest: IntArray, entries: Entries) -> FloatArray:
        """The errors of each node's largest branch, if it had all rows of the node."""
        tree, table = self._tree, self._table
        number, branch = np.empty((2, len(tree)), dtype=np.intp)
        number[nodes] = np.arange(len(nodes))
        branch[nodes] = largest
        owners = number.take(entries.nodes)
        entries = Entries(entries.rows, branch.take(entries.nodes), entries.weights)
        if not table.complete:
            return self._errors_in_parts(entries, largest)
        ends = tree.leaves(table, entries)
        counts = tree.class_counts(table, ends)
        owner = number
        owner[ends.nodes] = owners
        leaves = np.flatnonzero(counts.sum(axis=1))
        return weights_in(owner[leaves], self.limit(counts[leaves]), len(nodes))

    def _errors_in_parts(self, entries: Entries, roots: IntArray) -> FloatArray:
        """The errors of the subtrees of some nodes with these entries.

        Rows with missing values go in parts like the rows that are now at a node.
        """
        tree, kept = self._tree, self._tree.counts
        tree.counts = kept.copy()
        self._descend(roots, entries)
        limits = self.limit(tree.counts)
        tree.counts = kept
        errors, owner = np.zeros(len(roots)), np.arange(len(roots))
        while len(roots):
            leaf = tree.branches[roots] == 0
            errors += weights_in(owner[leaf], limits[roots[leaf]], len(errors))
            owner = np.repeat(owner, tree.branches[roots])
            roots = tree.children(roots)
        return errors

    def limit(self, counts: FloatArray) -> FloatArray:
        """The upper confidence limit of the errors of leaves with these class counts."""
        rows = counts.sum(axis=1)
        errors = rows - counts.max(axis=1)
        rows = np.maximum(rows, SMALL)
        many = self._added(rows, np.maximum(errors, 1.0))
        none = rows * (1 - self._confidence ** (1 / rows))
        # Between no error and one the limit is interpolated.
        added = np.where(errors < 1, none + errors * (many - none), many)
        return np.where(counts.sum(axis=1) < SMALL, 0.0, errors + added)

    def _added(self, rows: FloatArray, errors: FloatArray) -> FloatArray:
        """What the limit adds to one error or more, by the normal approximation."""
        z, share = self._z, np.minimum((errors + 0.5) / rows, 1.0)
        spread = np.sqrt(share / rows - share**2 / rows + z**2 / (4 * rows**2))
        upper = (share + z**2 / (2 * rows) + z * spread) / (1 + z**2 / rows)
        near_all = errors + 0.5 >= rows
        return np.where(near_all, np.maximum(rows - errors, 0.0), upper * rows - errors)
