"""Growing trees: the best splits of all nodes of a level at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from simstudy.arrays import BoolArray, FloatArray, IntArray, weights_in
from simstudy.learners.trees.c45.table import Entries, TrainingRows
from simstudy.learners.trees.c45.tree import LEAF, SMALL, Tree

# A split must gain the average of all less this, in bits (as in Weka).
BELOW_AVERAGE = 1e-3
# Minimum distance of numeric values to split between.
_APART = 1e-5
# A side of a numeric split needs a tenth of an even share of the rows, but at most this many.
_MAX_NEEDED = 25.0
# Maximum number of cells of (class, node, value) counted at once.
_MAX_CELLS = 2**22


class Splits(NamedTuple):
    """One split per attribute and node, shapes (attributes, nodes)."""

    valid: BoolArray
    gained: FloatArray  # bits times the weight at the node; 0 where a split is not valid
    ratio: FloatArray
    threshold: FloatArray  # NaN for a nominal attribute; empty if all are nominal


def xlogx(weights: FloatArray) -> FloatArray:
    """Return w·log2 w, 0 for weight 0."""
    result: FloatArray = np.where(weights > SMALL, weights, 1.0)
    np.log2(result, out=result)
    result *= weights
    return result


def counting(cards: Sequence[int], total: float) -> list[bool]:
    """Return which attributes count in the average gain: nominal ones with many values do not."""
    many = [card > 0 and card > 0.3 * total - SMALL for card in cards]
    return [not m or all(many) for m in many]


class Search:
    """Search for the best split of each node of a level.

    The nodes of the entries are numbered from 0; ``total`` is the weight at each. ``counted`` are
    the attributes that count in the average gain.
    """

    def __init__(self, table: TrainingRows, min_leaf: float, counted: Sequence[bool]) -> None:
        self.table, self._min_leaf = table, min_leaf
        self._counting = np.array(counted, dtype=bool)
        self._all_count = bool(self._counting.all())
        # No path tests a nominal attribute twice.
        self._deepest = np.inf if table.any_numeric else len(table.cards)

    def best(
        self, entries: Entries, counts: FloatArray, depth: int
    ) -> tuple[IntArray, FloatArray, Entries]:
        """Return the test of each node of a level, its threshold, and the entries to be tested.

        Entries at an index past the last node are ignored.
        """
        total = np.add.reduce(counts, axis=0)
        attribute, threshold = np.full(len(total), LEAF), np.full(len(total), np.nan)
        if depth == self._deepest:
            return attribute, threshold, entries
        mixed = total - np.maximum.reduce(counts, axis=0) > SMALL
        mixed &= total > 2 * self._min_leaf - SMALL
        nodes = mixed.nonzero()[0]
        if not len(nodes):
            return attribute, threshold, entries
        number = np.full(len(total) + 1, -1)
        number[nodes] = np.arange(len(nodes))
        node = number.take(entries.nodes)
        places = (node >= 0).nonzero()[0]
        if len(places) < len(node):
            node, entries = node.take(places), entries.take(places)
        block = max(_MAX_CELLS // (self.table.layout.size * (len(counts) + 1)), 1)
        for start in range(0, len(nodes), block):
            part, few = nodes[start : start + block], entries._replace(nodes=node)
            if len(part) < len(nodes):
                few = entries._replace(nodes=node - start)
                few = few.where((few.nodes >= 0) & (few.nodes < len(part)))
            splits = self.splits(few, counts.take(part, axis=1))
            attribute[part] = chosen = self._chosen(splits, total.take(part))
            if splits.threshold.size:
                threshold[part] = splits.threshold[chosen, np.arange(len(part))]
        return attribute, threshold, entries

    def _chosen(self, splits: Splits, total: FloatArray) -> IntArray:
        """Return the attribute of maximum gain ratio among those of at least average gain, or −1.

        Ties go to the first.
        """
        valid, gained = splits.valid, splits.gained
        if not self._all_count:
            valid, gained = valid[self._counting], gained[self._counting]
        number = np.add.reduce(valid, axis=0)
        enough = np.add.reduce(gained, axis=0) / np.maximum(number, 1) - BELOW_AVERAGE * total
        if not self._all_count:
            enough[number == 0] = np.inf
        return first_best(splits.ratio * (splits.gained >= enough))

    def splits(self, entries: Entries, counts: FloatArray) -> Splits:
        """Return the split of each node on each attribute, given the class weights there."""
        table = self.table
        nominal = self._nominal(self._values(entries, counts))
        if not table.any_numeric:
            return nominal
        shape = (len(table.cards), counts.shape[1])
        valid, gained, ratio = np.zeros(shape, dtype=bool), np.zeros(shape), np.zeros(shape)
        for field, values in zip((valid, gained, ratio), nominal, strict=False):
            field[table.nominal] = values
        splits = Splits(valid, gained, ratio, np.full(shape, np.nan))
        for column in table.ranked:
            self._numeric(entries, counts.sum(axis=0), column, splits)
        return splits

    def _values(self, entries: Entries, counts: FloatArray) -> FloatArray:
        """Return the weight of each class, slot and node.

        After the last class comes the sum of all. Nodes are on the last axis: sums over classes and
        slots run along contiguous memory.
        """
        table = self.table
        shape = (table.classes + 1, table.layout.size, counts.shape[1])
        cells = table.cells.take(entries.rows, axis=1)
        cells *= counts.shape[1]
        cells += entries.nodes
        weights = None
        if not table.unit:
            weights = np.broadcast_to(entries.weights, cells.shape)
            if not table.complete:
                weights = weights * table.present.take(entries.rows, axis=1)
            weights = weights.ravel()
        values = weights_in(cells.ravel(), weights, math.prod(shape)).reshape(shape)
        values[:-1, -1] = counts
        np.add.reduce(values[:-1], axis=0, out=values[-1])
        return values

    def _nominal(self, values: FloatArray) -> Splits:
        """Return splits on nominal attributes, one branch per value."""
        table, total = self.table, values[-1, -1]
        logs = xlogx(values)
        inside = table.by_attribute(logs)
        if table.complete:
            present, outside = total, logs[:, -1:]
            information = outside[-1] - inside[-1]
        else:
            in_classes = table.by_attribute(values)
            present, outside = in_classes[-1], xlogx(in_classes)
            information = logs[-1, -1] - inside[-1] - xlogx(total - present)
        inside -= outside
        gained = np.add.reduce(inside[:-1], axis=0)
        gained -= inside[-1]
        large = (values[-1] > self._min_leaf - SMALL).astype(np.float64)
        valid = table.by_attribute(large) > 1
        gained *= valid & (gained * present >= SMALL * total)
        return Splits(valid, gained, gained / np.maximum(information, SMALL), np.empty(0))

    def _numeric(self, entries: Entries, total: FloatArray, column: int, splits: Splits) -> None:
        """Set the binary splits of a numeric attribute."""
        table = self.table
        values, ranks = table.ranked[column]
        rank = ranks.take(entries.rows)
        order = (entries.nodes * (len(values) + 1) + rank).argsort(kind="stable")
        rank = rank.take(order)
        if not table.complete:
            present = (rank < len(values)).nonzero()[0]
            order, rank = order.take(present), rank.take(present)
        value, node = values.take(rank), entries.nodes.take(order)
        # A cut follows an entry whose successor at the same node has a greater value.
        cut = ((node[1:] == node[:-1]) & (value[:-1] + _APART < value[1:])).nonzero()[0]
        if not len(cut):
            return
        rows = entries.rows.take(order)
        target, weights = table.target.take(rows), entries.weights.take(order)
        below, classes = _running(node, target, weights, cut, table.classes, len(total))
        present = classes.sum(axis=1)
        at = node[cut]
        above = np.maximum(classes[at] - below, 0.0)
        sizes = np.stack([below.sum(axis=1), above.sum(axis=1)])
        needed = np.maximum(np.minimum(0.1 * present / table.classes, _MAX_NEEDED), self._min_leaf)
        enough = (sizes > needed[at] - SMALL).all(axis=0)
        if table.repeats is not None:  # as in Weka, reweighted rows must also be enough in number
            number = weights_in(node, table.repeats.take(rows), len(total))
            enough &= (number > 2 * needed - SMALL)[at]
        in_bags = xlogx(sizes).sum(axis=0)
        before = (xlogx(present) - xlogx(classes).sum(axis=1))[at]
        gained = before - in_bags + xlogx(below).sum(axis=1) + xlogx(above).sum(axis=1)
        gain = np.where(enough & (gained * present[at] >= SMALL * total[at]), gained, 0.0)
        gain /= total[at]
        choices = weights_in(at, enough, len(total))
        best = _best_cuts(gain, at)
        cut, at, in_bags, total = cut[best], at[best], in_bags[best], total[at[best]]
        # The gain is reduced by the cost of stating the cut (Quinlan 1996).
        gained = gain[best] * total - np.log2(np.maximum(choices[at], 1.0))
        information = xlogx(total) - in_bags - xlogx(total - present[at])
        valid = gained >= SMALL * total
        gained *= valid
        splits.valid[column, at] = valid
        splits.gained[column, at] = gained
        splits.ratio[column, at] = gained / np.maximum(information, SMALL)
        middle = value[cut] / 2 + value[cut + 1] / 2  # whose sum is always finite
        splits.threshold[column, at] = _value_below(values, middle)


def grow(search: Search, entries: Entries, trees: int) -> tuple[Tree, list[Entries]]:
    """Return the full trees before pruning, and the rows at the mixed nodes of each level.

    The entries are at the roots of the trees, which are the first nodes of the result.
    """
    table = search.table
    # The number of branches of a test, and of attribute −1.
    branches = np.array([*(card or 2 for card in table.cards), 0], dtype=np.intp)
    counts = table.class_counts(entries, trees)
    layers: list[Tree] = []
    rows: list[Entries] = []
    start = 0
    while True:
        attribute, threshold, entries = search.best(entries, counts, len(layers))
        number = branches.take(attribute)
        ends = number.cumsum()
        children = int(ends[-1])
        # Rows at leaves move to an index past the last child.
        first = np.where(number, ends - number, children)
        layer = Tree(attribute, threshold, first, number, counts)
        layers.append(layer)
        if not children:
            break
        rows.append(Entries(entries.rows, entries.nodes + start, entries.weights))
        start += len(layer)
        entries = layer.step(table, entries, partial(table.sizes, nodes=children + 1))
        counts = table.class_counts(entries, children + 1)[:, :-1]
    branches = np.concatenate([layer.branches for layer in layers])
    # Nodes are in the order of their levels, and of their parents in each.
    first = np.where(branches, branches.cumsum() - branches + trees, np.arange(len(branches)))
    attribute = np.concatenate([layer.attribute for layer in layers])
    threshold = np.concatenate([layer.threshold for layer in layers])
    counts = np.concatenate([layer.counts for layer in layers], axis=1)
    return Tree(attribute, threshold, first, branches, counts), rows


def _running(
    node: IntArray, target: IntArray, weights: FloatArray, cut: IntArray, classes: int, nodes: int
) -> tuple[FloatArray, FloatArray]:
    """Return the class weights below each cut of its node, and those of every node."""
    indicator = np.zeros((len(node), classes))
    indicator[np.arange(len(node)), target] = weights
    running = np.cumsum(indicator, axis=0)
    first = np.searchsorted(node, node[cut])
    below = np.maximum(running[cut] - running[first] + indicator[first], 0.0)
    cells = weights_in(node * classes + target, weights, nodes * classes)
    return below, cells.reshape(nodes, classes)


def first_best(scores: FloatArray) -> IntArray:
    """Return for each column the row of the greatest score above 0, or −1.

    In order, a score replaces the current best if it is greater by more than `SMALL`.
    """
    top = np.maximum.reduce(scores, axis=0, initial=0.0)
    top -= SMALL
    best = (scores >= top).argmax(axis=0)
    best[top <= 0] = -1
    # The first score near the maximum may itself be near an earlier one that is not.
    top -= SMALL
    for column in ((scores >= top).argmax(axis=0) < best).nonzero()[0]:
        best[column] = _in_turn(scores[:, column])
    return best


def _in_turn(scores: FloatArray) -> int:
    best, reached = -1, 0.0
    for place, score in enumerate(scores.tolist()):
        if score > reached + SMALL:
            best, reached = place, score
    return best


def _best_cuts(gain: FloatArray, node: IntArray) -> IntArray:
    """Return the index of each node's best gain, as `first_best`; nodes are contiguous."""
    starts = np.flatnonzero(np.r_[True, node[1:] != node[:-1]])
    sizes = np.diff(np.r_[starts, len(node)])
    top = np.repeat(np.maximum.reduceat(gain, starts), sizes)
    near = gain >= top - SMALL
    places = np.where(near, np.arange(len(gain)), len(gain))
    best = np.minimum.reduceat(places, starts)
    doubtful = np.add.reduceat((gain >= top - 2 * SMALL) & ~near, starts, dtype=np.intp) > 0
    for group in np.flatnonzero(doubtful):
        start = starts[group]
        best[group] = start + _in_turn(gain[start : start + sizes[group]])
    return best[gain[best] > SMALL]


def _value_below(values: FloatArray, middle: FloatArray) -> FloatArray:
    """Return the greatest of the sorted values up to each cut, less than `SMALL` above it."""
    place = np.searchsorted(values, middle + SMALL)
    # As in Weka, it is the difference that is compared: it may be rounded to the other side.
    place -= values[place - 1] - middle >= SMALL
    place += values[np.minimum(place, len(values) - 1)] - middle < SMALL
    return np.asarray(values[np.minimum(place, len(values)) - 1])
