"""Error-based pruning by a pessimistic estimate of the errors."""

from __future__ import annotations

from statistics import NormalDist
from typing import TypeVar

import numpy as np

from simstudy.arrays import FloatArray, IntArray, weights_in
from simstudy.learners.c45.table import Entries, TrainingRows
from simstudy.learners.c45.tree import LEAF, SMALL, Level, Tree

Number = TypeVar("Number", float, FloatArray)

# A subtree that saves no more training errors than this is collapsed.
_SAVED = 1e-3
# A simpler tree is preferred if it has at most this many more estimated errors.
ALLOWANCE = 0.1


def collapse(tree: Tree) -> None:
    """Replace every subtree that is no better on the training rows by a leaf."""
    errors = tree.counts.sum(axis=0) - tree.counts.max(axis=0)
    below = errors.copy()
    inner = np.flatnonzero(tree.branches)
    first = tree.first[inner]
    # In a grown tree the children of consecutive nodes are consecutive, so that these are sums over
    # children; each iteration is correct for one more level.
    while (below[inner] != (sums := np.add.reduceat(below, first))).any():
        below[inner] = sums
    tree.make_leaves(inner[below[inner] >= errors[inner] - _SAVED])


class Pruner:
    """Error-based pruning with subtree raising (Quinlan 1993, chapter 4).

    From the leaves up, a node becomes a leaf, is replaced by its largest branch, or is kept,
    according to the upper confidence limits of the errors.
    """

    def __init__(self, tree: Tree, table: TrainingRows, confidence: float, raising: bool) -> None:
        self._tree, self._table = tree, table
        self._confidence, self._raising = confidence, raising
        self._z = NormalDist().inv_cdf(1 - confidence)

    def prune(self, rows: list[Entries]) -> None:
        """Prune the tree, given the rows at (at least) all inner nodes of each level."""
        tree = self._tree
        levels = []
        for level, entries in zip(tree.inner_levels(), rows, strict=False):
            levels.append((level, entries.at(level.nodes, len(tree))))
        self._prune(np.zeros(1, dtype=np.intp), levels)

    def _prune(self, roots: IntArray, levels: list[tuple[Level, Entries]]) -> FloatArray:
        """Prune the subtrees of some nodes, given their levels; return their errors."""
        tree = self._tree
        nodes = np.concatenate([roots, *(level.children for level, _ in levels)])
        errors = np.empty(len(tree))
        errors[nodes] = self.limit(tree.counts.take(nodes, axis=1))
        largest = np.empty(len(tree), dtype=np.intp)
        if levels:
            inner = np.concatenate([level.nodes for level, _ in levels])
            largest[inner] = tree.largest_children(inner)
        for level, entries in levels[::-1]:
            nodes = level.nodes
            as_leaf = errors[nodes]
            here = as_leaf - ALLOWANCE - SMALL
            staying = np.add.reduceat(errors[level.children], level.offsets)
            raised = self._errors_of_branches(nodes, largest, entries, as_leaf)
            cut = here < np.minimum(staying, raised)
            errors[nodes] = np.where(cut, as_leaf, staying)
            tree.make_leaves(nodes[cut])
            lifted = nodes[~cut & (raised < staying + ALLOWANCE + SMALL)]
            if len(lifted):
                tree.replace(lifted, largest[lifted])
                levels = self._descend(lifted, entries.at(lifted, len(tree)))
                for below in (lifted, *(level.children for level, _ in levels)):
                    tree.before[below] = LEAF
                errors[lifted] = self._prune(lifted, levels)
        return errors[roots]

    def _descend(self, nodes: IntArray, entries: Entries) -> list[tuple[Level, Entries]]:
        """Return the inner nodes of each level below some nodes, with their entries recounted."""
        tree = self._tree
        tree.count(self._table, entries, nodes)
        levels = []
        while len(nodes := nodes[tree.branches[nodes] > 0]):
            level = tree.level(nodes)
            entries = entries.where(tree.branches[entries.nodes] > 0)
            levels.append((level, entries))
            nodes = level.children
            entries = tree.train_step(self._table, entries, nodes)
        return levels

    def _errors_of_branches(
        self, nodes: IntArray, largest: IntArray, entries: Entries, as_leaf: FloatArray
    ) -> FloatArray:
        """Return the errors of each node's largest branch if it had all rows of the node."""
        if not self._raising:
            return np.full(len(nodes), np.inf)
        tree, table = self._tree, self._table
        branches = largest[nodes]
        if not tree.branches[branches].any():
            return as_leaf
        raised = Entries(entries.rows, largest[entries.nodes], entries.weights)
        if not table.complete:
            return self._errors_in_parts(raised, branches)
        ends = tree.leaves(table, raised)
        counts = table.class_counts(ends, len(tree))
        leaves = (counts.sum(axis=0) > 0).nonzero()[0]
        owner = np.empty(len(tree), dtype=np.intp)
        owner[ends.nodes] = entries.nodes
        limits = self.limit(counts.take(leaves, axis=1))
        return weights_in(owner[leaves], limits, len(tree))[nodes]

    def _errors_in_parts(self, entries: Entries, roots: IntArray) -> FloatArray:
        """Return the errors of the subtrees of some nodes with these entries.

        Rows with missing values are divided as the rows now at the node.
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
        """Return the upper confidence limit of the errors of leaves with these class counts."""
        weight = counts.sum(axis=0)
        errors = weight - counts.max(axis=0)
        rows = np.maximum(weight, SMALL)
        limit = normal_limit(rows, np.minimum(np.maximum(errors, 1.0) + 0.5, rows), self._z)
        none = limit_without_errors(rows, self._confidence)
        # Between 0 and 1 errors the limit is interpolated.
        few = none + errors * (np.maximum(limit, 1.0) - none)
        return np.where(errors < 1, np.where(weight < SMALL, 0.0, few), limit)


def limit_without_errors(rows: Number, confidence: float) -> Number:
    """Return the upper confidence limit of the errors of a leaf without errors."""
    return rows * (1 - confidence ** (1 / rows))


def normal_limit(rows: Number, errors: Number, z: float) -> Number:
    """Return the upper limit of one or more errors by the normal approximation (Wilson 1927).

    ``errors`` includes the continuity correction of half an error, up to ``rows``.
    """
    spread = (errors * (1 - errors / rows) + z**2 / 4) ** 0.5
    return (errors + z * spread + z**2 / 2) / (1 + z**2 / rows)
