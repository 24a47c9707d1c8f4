"""Cutting a tree back to what a pessimistic estimate of its errors supports."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.learners.c45.grow import root_entries
from simstudy.learners.c45.table import Table
from simstudy.learners.c45.tree import SMALL, Entries, Tree

# Fewer training errors than this are none: a subtree that saves no more is cut off.
_SAVED = 1e-3
# The tree of fewest estimated errors wins, but a simpler one may have this many more.
_ALLOWANCE = 0.1


def collapse(tree: Tree) -> None:
    """Make a leaf of every node whose subtree is no better on the training rows."""
    errors = tree.counts.sum(axis=1) - tree.counts.max(axis=1)
    below = errors.copy()
    for nodes in reversed(tree.levels()):
        inner = nodes[tree.branches[nodes] > 0]
        if len(inner):
            below[inner] = tree.sums_of_children(inner, below)
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
        for nodes, entries in reversed(levels):
            errors[nodes] = tree.sums_of_children(nodes, errors)
            by_branch = np.full(len(nodes), np.inf)
            if self._raising:
                largest = tree.largest_children(nodes)
                by_branch = self._errors_of_branch(nodes, largest, entries)
            cut = as_leaf[nodes] < errors[nodes] + _ALLOWANCE + SMALL
            cut &= as_leaf[nodes] < by_branch + _ALLOWANCE + SMALL
            tree.make_leaves(nodes[cut])
            errors[nodes[cut]] = as_leaf[nodes[cut]]
            lifted = ~cut & (by_branch < errors[nodes] + _ALLOWANCE + SMALL)
            if lifted.any():
                tree.replace(nodes[lifted], largest[lifted])
                there = np.zeros(len(tree), dtype=bool)
                there[nodes[lifted]] = True
                again = entries.where(there[entries.nodes])
                errors[nodes[lifted]] = self._prune(nodes[lifted], again)
        return errors[roots]

    def _descend(self, nodes: IntArray, entries: Entries) -> list[tuple[IntArray, Entries]]:
        """The inner nodes of each level from some nodes on with their entries, counted anew."""
        tree = self._tree
        tree.count(self._table, entries, nodes)
        levels = []
        while True:
            nodes = nodes[tree.branches[nodes] > 0]
            if not len(nodes):
                return levels
            entries = entries.where(tree.branches.take(entries.nodes) > 0)
            levels.append((nodes, entries))
            nodes = tree.children(nodes)
            entries = tree.train_step(self._table, entries, nodes)

    def _errors_of_branch(
        self, nodes: IntArray, largest: IntArray, entries: Entries
    ) -> FloatArray:
        """The errors of each node's largest branch, if it had all rows of the node."""
        tree, table, kept = self._tree, self._table, self._tree.counts
        branch = np.empty(len(tree), dtype=np.intp)
        branch[nodes] = largest
        entries = Entries(entries.rows, branch.take(entries.nodes), entries.weights)
        tree.counts = kept.copy()
        if table.complete:
            tree.count(table, tree.leaves(table, entries), np.arange(len(tree)))
        else:  # Rows with missing values go in parts like the rows that are now at a node.
            self._descend(largest, entries)
        counts, tree.counts = tree.counts, kept
        owner, errors = np.arange(len(nodes)), np.zeros(len(nodes))
        nodes = largest
        while len(nodes):
            leaf = tree.branches[nodes] == 0
            errors += np.bincount(owner[leaf], self.limit(counts[nodes[leaf]]), len(errors))
            owner = np.repeat(owner, tree.branches[nodes])
            nodes = tree.children(nodes)
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
