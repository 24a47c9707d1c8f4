"""Cutting a tree back to what a pessimistic estimate of its errors supports."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from simstudy.arrays import FloatArray, IntArray, weights_in
from simstudy.learners.c45.table import Entries, Table
from simstudy.learners.c45.tree import SMALL, Level, Tree

# Fewer training errors than this are none: a subtree that saves no more is cut off.
_SAVED = 1e-3
# The tree of fewest estimated errors wins, but a simpler one may have this many more.
_ALLOWANCE = 0.1


def collapse(tree: Tree) -> None:
    """Make a leaf of every node whose subtree is no better on the training rows."""
    errors = tree.counts.sum(axis=0) - tree.counts.max(axis=0)
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

    def prune(self, rows: list[Entries]) -> None:
        """Prune the whole tree, given the rows at the inner nodes of each of its levels."""
        tree = self._tree
        levels = []
        for level, entries in zip(tree.inner_levels(), rows, strict=False):
            levels.append((level, entries.at(level.nodes, len(tree))))
        self._prune(np.zeros(1, dtype=np.intp), levels)

    def _prune(self, roots: IntArray, levels: list[tuple[Level, Entries]]) -> FloatArray:
        """Prune the subtrees of some nodes, given their levels; return their errors."""
        tree = self._tree
        nodes = np.concatenate([roots, *(level.children for level, _ in levels)])
        as_leaf = np.empty(len(tree))
        as_leaf[nodes] = self.limit(tree.counts.take(nodes, axis=1))
        errors = as_leaf.copy()
        for level, entries in levels[::-1]:
            nodes = level.nodes
            here = as_leaf[nodes] - _ALLOWANCE - SMALL
            staying = np.add.reduceat(errors[level.children], level.offsets)
            raised = np.full(len(nodes), np.inf)
            if self._raising:
                largest = tree.largest_children(level)
                raised = self._errors_of_branches(nodes, largest, entries, as_leaf)
            cut = (here < staying) & (here < raised)
            errors[nodes] = np.where(cut, as_leaf[nodes], staying)
            tree.make_leaves(nodes[cut])
            lifted = ~cut & (raised < staying + _ALLOWANCE + SMALL)
            if lifted.any():
                nodes = nodes[lifted]
                tree.replace(nodes, largest[lifted])
                levels = self._descend(nodes, entries.at(nodes, len(tree)))
                errors[nodes] = self._prune(nodes, levels)
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

    def _errors_of_branches(
        self, nodes: IntArray, largest: IntArray, entries: Entries, as_leaf: FloatArray
    ) -> FloatArray:
        """The errors of each node's largest branch, if it had all rows of the node."""
        tree, table = self._tree, self._table
        errors = as_leaf[nodes]  # of a branch that is a leaf
        deep = np.flatnonzero(tree.branches[largest])
        if not len(deep):
            return errors
        nodes, largest = nodes[deep], largest[deep]
        number = np.full(len(tree), -1)
        number[nodes] = np.arange(len(nodes))
        owner = number.take(entries.nodes)
        entries, owner = entries.where(owner >= 0), owner[owner >= 0]
        entries = Entries(entries.rows, largest.take(owner), entries.weights)
        if not table.complete:
            errors[deep] = self._errors_in_parts(entries, largest)
            return errors
        ends = tree.leaves(table, entries)
        counts = table.class_counts(ends, len(tree))
        number[ends.nodes] = owner
        leaves = np.flatnonzero(counts.sum(axis=0))
        limits = self.limit(counts.take(leaves, axis=1))
        errors[deep] = weights_in(number[leaves], limits, len(nodes))
        return errors

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
        weight = counts.sum(axis=0)
        errors = weight - counts.max(axis=0)
        rows = np.maximum(weight, SMALL)
        many = self._added(rows, np.maximum(errors, 1.0))
        none = rows * (1 - self._confidence ** (1 / rows))
        # Between no error and one the limit is interpolated.
        added = np.where(errors < 1, none + errors * (many - none), many)
        return np.where(weight < SMALL, 0.0, errors + added)

    def _added(self, rows: FloatArray, errors: FloatArray) -> FloatArray:
        """What the limit adds to one error or more, by the normal approximation."""
        square = self._z**2
        share = np.minimum((errors + 0.5) / rows, 1.0)
        spread = np.sqrt((share - share * share + square / (4 * rows)) / rows)
        upper = (share + square / (2 * rows) + self._z * spread) / (1 + square / rows)
        # Close to all rows, no more than all.
        near = errors + 0.5 >= rows
        return np.where(near, np.maximum(rows - errors, 0.0), upper * rows - errors)
