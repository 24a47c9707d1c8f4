"""Error-based pruning by a pessimistic estimate of the errors."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from simstudy.arrays import FloatArray, IntArray, weights_in
from simstudy.learners.trees.c45.table import Entries, TrainingRows
from simstudy.learners.trees.c45.tree import LEAF, SMALL, Level, Tree

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

    def prune(self, roots: IntArray, rows: list[Entries]) -> None:
        """Prune the trees, given the rows at (at least) all inner nodes of each level."""
        self._prune(roots, [*zip(self._tree.inner_levels(roots), rows, strict=False)])

    def _prune(self, roots: IntArray, levels: list[tuple[Level, Entries]]) -> FloatArray:
        """Prune the subtrees of some nodes, given their levels; return their errors."""
        tree = self._tree
        errors = class_limits(tree.counts, self._confidence)
        for level, entries in levels[::-1]:
            nodes = level.nodes
            as_leaf = errors.take(nodes)
            staying = np.add.reduceat(errors.take(level.children), level.offsets)
            largest = tree.largest_children(level)
            raised = self._errors_of_branches(nodes, largest, entries, as_leaf)
            cut = as_leaf - ALLOWANCE - SMALL < np.minimum(staying, raised)
            errors[nodes] = np.where(cut, as_leaf, staying)
            tree.make_leaves(nodes[cut])
            lift = (~cut & (raised < staying + ALLOWANCE + SMALL)).nonzero()[0]
            if len(lift):
                lifted = nodes[lift]
                tree.replace(lifted, largest[lift])
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
        inner = tree.branches.take(largest).nonzero()[0]
        if not len(inner):
            return as_leaf
        nodes, largest, raised = nodes[inner], largest[inner], as_leaf.copy()
        entries = entries.at(nodes, len(tree))
        branch = np.empty(len(tree), dtype=np.intp)
        branch[nodes] = largest
        moved = Entries(entries.rows, branch.take(entries.nodes), entries.weights)
        if not table.complete:
            raised[inner] = self._errors_in_parts(moved, largest)
            return raised
        ends = tree.leaves(table, moved)
        counts = table.class_counts(ends, len(tree))
        leaves = np.flatnonzero(counts.any(axis=0))
        limits = class_limits(counts.take(leaves, axis=1), self._confidence)
        owner = np.empty(len(tree), dtype=np.intp)
        owner[ends.nodes] = entries.nodes
        raised[inner] = weights_in(owner.take(leaves), limits, len(tree)).take(nodes)
        return raised

    def _errors_in_parts(self, entries: Entries, roots: IntArray) -> FloatArray:
        """Return the errors of the subtrees of some nodes with these entries.

        Rows with missing values are divided as the rows now at the node.
        """
        tree, kept = self._tree, self._tree.counts
        tree.counts = kept.copy()
        self._descend(roots, entries)
        limits = class_limits(tree.counts, self._confidence)
        tree.counts = kept
        errors, owner = np.zeros(len(roots)), np.arange(len(roots))
        while len(roots):
            leaf = tree.branches[roots] == 0
            errors += weights_in(owner[leaf], limits[roots[leaf]], len(errors))
            owner = np.repeat(owner, tree.branches[roots])
            roots = tree.children(roots)
        return errors


def class_limits(counts: FloatArray, confidence: float) -> FloatArray:
    """Return the `error_limits` of leaves with these class weights, shape (classes, leaves)."""
    weight = np.add.reduce(counts, axis=0)
    return error_limits(weight, weight - np.maximum.reduce(counts, axis=0), confidence)


def error_limits(weight: FloatArray, errors: FloatArray, confidence: float) -> FloatArray:
    """Return the upper confidence limits of the errors of leaves, given their weight and errors."""
    z = NormalDist().inv_cdf(1 - confidence)
    rows = np.maximum(weight, SMALL)
    # The normal approximation with a continuity correction of half an error (Wilson 1927).
    half_more = np.minimum(np.maximum(errors, 1.0) + 0.5, rows)
    spread = np.sqrt(half_more * (1 - half_more / rows) + z**2 / 4)
    limit = (half_more + z * spread + z**2 / 2) / (1 + z**2 / rows)
    none = weight * (1 - confidence ** (1 / rows))
    # Between 0 and 1 errors the limit is interpolated.
    few = none + errors * (np.maximum(limit, 1.0) - none)
    return np.where(errors < 1, few, limit)
