"""Growing a tree, all nodes of a level at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simstudy.arrays import FloatArray, IntArray, weights_in
from simstudy.learners.c45.table import Table
from simstudy.learners.c45.tree import SMALL, Entries, Tree

# A split must gain the average of all, less this, in bits (Weka's approach to Quinlan's program).
_BELOW_AVERAGE = 1e-3
# Numeric values must lie this far apart to be split between.
_APART = 1e-5
# A side of a numeric split needs a tenth of an even share of the rows, but never more than this.
_MOST_NEEDED = 25.0
# How many cells of (class, node, value) are counted at once.
_MOST_CELLS = 2**22


class Splits(NamedTuple):
    """One split for each node and attribute, shapes (nodes, attributes)."""

    valid: npt.NDArray[np.bool_]
    gain: FloatArray  # in bits
    ratio: FloatArray
    threshold: FloatArray


def grow(table: Table, min_leaf: float) -> Tree:
    """The full tree, before anything is pruned."""
    tree = Tree(table.classes)
    entries = root_entries(table)
    level = np.zeros(1, dtype=np.intp)
    tree.count(table, entries, level)
    branches = np.array([2 if card is None else card for card in table.cards], dtype=np.intp)
    search = Search(table, min_leaf)
    while True:
        counts = tree.counts[level]
        total = counts.sum(axis=1)
        open_ = (total > 2 * min_leaf - SMALL) & (total - counts.max(axis=1) > SMALL)
        nodes = level[open_]
        if not len(nodes):
            return tree
        entries, number = _narrowed(entries, nodes, len(tree))
        splits = search.splits(entries, number, counts[open_], total[open_])
        attribute = search.chosen(splits)
        found = np.flatnonzero(attribute >= 0)
        nodes, attribute = nodes[found], attribute[found]
        if not len(nodes):
            return tree
        tree.split(nodes, attribute, splits.threshold[found, attribute], branches[attribute])
        level = tree.children(nodes)
        entries = tree.train_step(table, entries, level)


def root_entries(table: Table) -> Entries:
    """All training rows at the root."""
    return Entries(np.arange(len(table)), np.zeros(len(table), dtype=np.intp), table.weights)


def _narrowed(entries: Entries, nodes: IntArray, size: int) -> tuple[Entries, IntArray]:
    """The entries at some nodes, and for each the place of its node among these."""
    places = np.full(size, -1)
    places[nodes] = np.arange(len(nodes))
    number = places.take(entries.nodes)
    if number.min(initial=0) == 0:
        return entries, number
    at_them = number >= 0
    return entries.where(at_them), number[at_them]


def xlogx(weights: FloatArray) -> FloatArray:
    """w·log2 w, 0 for no weight."""
    some = weights > SMALL
    result: FloatArray = weights * np.log2(weights, where=some, out=np.zeros_like(weights))
    return result


class Search:
    """The search for the best split of nodes.

    ``node`` below numbers the nodes of the entries from 0; ``counts`` and ``total`` are the
    classes and all weight at each.
    """

    def __init__(self, table: Table, min_leaf: float) -> None:
        self._table, self._min_leaf = table, min_leaf
        many = [card is not None and card > 0.3 * table.total - SMALL for card in table.cards]
        # A nominal attribute with very many values does not count in the average gain.
        self._counting = np.array([not m or all(many) for m in many], dtype=bool)
        if table.whole:
            self._known = xlogx(np.arange(table.total + 1))

    def _xlogx(self, weights: FloatArray) -> FloatArray:
        """`xlogx`, looked up where all weights are whole."""
        if not self._table.whole:
            return xlogx(weights)
        return self._known.take(weights.astype(np.intp))

    def chosen(self, splits: Splits) -> IntArray:
        """The attribute of greatest gain ratio among those of at least average gain; −1 for none.

        Of equal ratios the first wins.
        """
        counting = splits.valid & self._counting
        number = counting.sum(axis=1)
        average = (splits.gain * counting).sum(axis=1) / np.maximum(number, 1)
        needed = np.where(number > 0, average - _BELOW_AVERAGE, np.inf)
        eligible = splits.valid & (splits.gain >= needed[:, None])
        return first_best(np.where(eligible, splits.ratio, 0.0))

    def splits(
        self, entries: Entries, node: IntArray, counts: FloatArray, total: FloatArray
    ) -> Splits:
        """The split of each node on each attribute."""
        table = self._table
        block = max(_MOST_CELLS // max(int(table.starts[-1]) * table.classes, 1), 1)
        if len(total) > block:
            return self._splits_in_blocks(entries, node, counts, total, block)
        shape = (len(total), len(table.cards))
        splits = Splits(
            np.zeros(shape, dtype=bool), np.zeros(shape), np.zeros(shape), np.full(shape, np.nan)
        )
        if len(table.nominal):
            self._nominal(entries, node, counts, total, splits)
        for column in np.flatnonzero(table.numeric):
            self._numeric(entries, node, total, int(column), splits)
        return splits

    def _splits_in_blocks(
        self, entries: Entries, node: IntArray, counts: FloatArray, total: FloatArray, block: int
    ) -> Splits:
        """The same, for some nodes after the other."""
        parts = []
        for start in range(0, len(total), block):
            here = (node >= start) & (node < start + block)
            few = slice(start, start + block)
            parts.append(
                self.splits(entries.where(here), node[here] - start, counts[few], total[few])
            )
        return Splits(*(np.concatenate(fields) for fields in zip(*parts, strict=True)))

    def _nominal(
        self,
        entries: Entries,
        node: IntArray,
        counts: FloatArray,
        total: FloatArray,
        splits: Splits,
    ) -> None:
        """Splits of nominal attributes, one branch for each value."""
        table = self._table
        starts, slots = table.starts[:-1], int(table.starts[-1])
        cells = table.slots.take(entries.rows, axis=1)
        cells += (table.target.take(entries.rows) * len(total) + node) * slots
        weights = np.tile(entries.weights, (len(starts), 1))
        if not table.complete:
            weights *= table.known[:, entries.rows]
        size = table.classes * len(total) * slots
        values = weights_in(cells.ravel(), weights.ravel(), size)
        values = values.reshape(table.classes, len(total), slots)
        bags = values.sum(axis=0)
        large = np.add.reduceat(bags > self._min_leaf - SMALL, starts, axis=1, dtype=np.intp)
        in_bags = np.add.reduceat(self._xlogx(bags), starts, axis=1)
        in_classes = np.add.reduceat(self._xlogx(values).sum(axis=0), starts, axis=1)
        whole = self._xlogx(total)[:, None]
        if table.complete:
            before = whole - self._xlogx(counts).sum(axis=1)[:, None]
            gained = before - in_bags + in_classes
            known, information = total[:, None], whole - in_bags
        else:
            classes = np.add.reduceat(values, starts, axis=2)
            known = classes.sum(axis=0)
            before = xlogx(known) - xlogx(classes).sum(axis=0)
            gained = (before - in_bags + in_classes) * (known / total[:, None])
            information = whole - in_bags - xlogx(total[:, None] - known)
        gain = _gain(gained, known)
        splits.valid[:, table.nominal] = large > 1
        splits.gain[:, table.nominal] = gain
        splits.ratio[:, table.nominal] = _ratio(gain, information, total[:, None])

    def _numeric(
        self, entries: Entries, node: IntArray, total: FloatArray, column: int, splits: Splits
    ) -> None:
        """Splits of a numeric attribute in two."""
        table = self._table
        values = table.values[entries.rows, column]
        order = np.lexsort((values, node))
        order = order[~np.isnan(values[order])]
        values, node = values[order], node[order]
        # A cut lies after an entry whose successor at the same node has a greater value.
        cut = np.flatnonzero((node[1:] == node[:-1]) & (values[:-1] + _APART < values[1:]))
        if not len(cut):
            return
        target, weights = table.target[entries.rows[order]], entries.weights[order]
        below, classes = _running(node, target, weights, cut, table.classes, len(total))
        known = classes.sum(axis=1)
        at = node[cut]
        above = np.maximum(classes[at] - below, 0.0)
        sizes = np.stack([below.sum(axis=1), above.sum(axis=1)])
        needed = np.maximum(np.minimum(0.1 * known / table.classes, _MOST_NEEDED), self._min_leaf)
        enough = (sizes > needed[at] - SMALL).all(axis=0)
        in_bags = xlogx(sizes).sum(axis=0)
        before = (xlogx(known) - xlogx(classes).sum(axis=1))[at]
        gained = before - in_bags + xlogx(below).sum(axis=1) + xlogx(above).sum(axis=1)
        gain = np.where(enough, _gain(gained * (known / total)[at], known[at]), 0.0)
        choices = weights_in(at, enough, len(total))
        best = _best_cuts(gain, at)
        cut, at, gain, in_bags = cut[best], at[best], gain[best], in_bags[best]
        # The choice of a cut costs as much as naming it (Quinlan 1996).
        gain = gain - np.log2(np.maximum(choices[at], 1.0)) / total[at]
        information = xlogx(total[at]) - in_bags - xlogx(total[at] - known[at])
        splits.valid[at, column] = gain >= SMALL
        splits.gain[at, column] = gain
        splits.ratio[at, column] = _ratio(gain, information, total[at])
        middle = (values[cut] + values[cut + 1]) / 2
        splits.threshold[at, column] = _value_below(table.values[:, column], middle)


def _gain(gained: FloatArray, known: FloatArray) -> FloatArray:
    """Bits gained by each row of those with a known value; next to nothing is nothing."""
    return np.where(np.abs(gained) < SMALL, 0.0, gained / np.maximum(known, SMALL))


def _ratio(gain: FloatArray, information: FloatArray, total: FloatArray) -> FloatArray:
    """Gain over the information of the split itself, 0 where the split says nothing."""
    said = np.maximum(information, SMALL)
    return np.where(information < SMALL, 0.0, gain * total / said)


def _running(
    node: IntArray, target: IntArray, weights: FloatArray, cut: IntArray, classes: int, nodes: int
) -> tuple[FloatArray, FloatArray]:
    """The classes below each cut of its node, and those of every node."""
    indicator = np.zeros((len(node), classes))
    indicator[np.arange(len(node)), target] = weights
    running = np.cumsum(indicator, axis=0)
    first = np.searchsorted(node, node[cut])
    below = np.maximum(running[cut] - running[first] + indicator[first], 0.0)
    cells = weights_in(node * classes + target, weights, nodes * classes)
    return below, cells.reshape(nodes, classes)


def first_best(scores: FloatArray) -> IntArray:
    """For each row the column of the greatest score above 0; −1 for none.

    In turn, a score replaces the best so far if it is greater by more than `SMALL`.
    """
    top = scores.max(axis=1, initial=0.0)[:, None]
    near = scores >= top - SMALL
    best = near.argmax(axis=1)
    best[top[:, 0] <= SMALL] = -1
    # The first score near the top may itself be near an earlier one that is not.
    for row in np.flatnonzero(((scores >= top - 2 * SMALL) & ~near).any(axis=1) & (best >= 0)):
        best[row] = _in_turn(scores[row])
    return best


def _in_turn(scores: FloatArray) -> int:
    best, reached = -1, 0.0
    for place, score in enumerate(scores.tolist()):
        if score > reached + SMALL:
            best, reached = place, score
    return best


def _best_cuts(gain: FloatArray, node: IntArray) -> IntArray:
    """The place of the best gain above 0 of each node, as by `first_best`; nodes lie together."""
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


def _value_below(column: FloatArray, middle: FloatArray) -> FloatArray:
    """The greatest value of the whole training set up to each cut."""
    values = np.unique(column[~np.isnan(column)])
    below: FloatArray = values[np.searchsorted(values, middle + SMALL) - 1]
    return below
