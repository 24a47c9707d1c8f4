"""Search for the best splits, all nodes of a level at once."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simstudy.arrays import FloatArray, IntArray, read_only, weights_in
from simstudy.learners.c45.table import Entries, TrainingRows
from simstudy.learners.c45.tree import LEAF, SMALL

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

    valid: npt.NDArray[np.bool_]
    gain: FloatArray  # in bits; 0 where a split is not valid
    ratio: FloatArray
    threshold: FloatArray  # NaN for a nominal attribute


def xlogx(weights: FloatArray) -> FloatArray:
    """Return w·log2 w, 0 for weight 0."""
    some = weights > SMALL
    result: FloatArray = weights * np.log2(weights, where=some, out=np.zeros_like(weights))
    return result


@lru_cache(maxsize=8)
def xlogx_up_to(end: int) -> FloatArray:
    """Return `xlogx` of all integers below ``end``."""
    return read_only(xlogx(np.arange(float(end))))


def counting(table: TrainingRows) -> list[bool]:
    """Return which attributes count in the average gain: nominal ones with many values do not."""
    many = [card > 0 and card > 0.3 * table.total - SMALL for card in table.cards]
    return [not m or all(many) for m in many]


class Search:
    """Search for the best split of each node.

    ``node`` below numbers the nodes of the entries from 0; ``counts`` and ``total`` are the class
    weights and the total weight at each.
    """

    def __init__(self, table: TrainingRows, min_leaf: float) -> None:
        self._table, self._min_leaf = table, min_leaf
        self._counting = np.array(counting(table), dtype=bool)
        if table.whole:
            self._known = xlogx_up_to(2 ** int(table.total).bit_length())
        self._all_count = bool(self._counting.all())
        # No path tests a nominal attribute twice.
        self._deepest = np.inf if table.any_numeric else len(table.cards)

    def _xlogx(self, weights: FloatArray) -> FloatArray:
        """Return `xlogx`, by lookup if all weights are integers."""
        if not self._table.whole:
            return xlogx(weights)
        return self._known.take(weights.astype(np.intp))

    def best(
        self, entries: Entries, counts: FloatArray, depth: int
    ) -> tuple[IntArray, FloatArray, Entries]:
        """Return the test of each node of a level, its threshold, and the entries to be tested.

        Entries at an index past the last node are ignored.
        """
        total = counts.sum(axis=0)
        mixed = total - counts.max(axis=0) > SMALL
        nodes = (mixed & (total > 2 * self._min_leaf - SMALL)).nonzero()[0]
        attribute, threshold = np.full(len(total), LEAF), np.full(len(total), np.nan)
        if not len(nodes) or depth == self._deepest:
            return attribute, threshold, entries
        number = np.full(len(total) + 1, -1)
        number[nodes] = np.arange(len(nodes))
        node = number[entries.nodes]
        here = (node >= 0).nonzero()[0]
        if len(here) < len(node):
            entries, node = entries.take(here), node[here]
        splits = self.splits(entries, node, counts.take(nodes, axis=1), total[nodes])
        chosen = self.chosen(splits)
        attribute[nodes] = chosen
        if self._table.any_numeric:
            threshold[nodes] = splits.threshold[chosen, np.arange(len(nodes))]
        return attribute, threshold, entries

    def chosen(self, splits: Splits) -> IntArray:
        """Return the attribute of maximum gain ratio among those of at least average gain, or −1.

        Ties go to the first.
        """
        valid, gain = splits.valid, splits.gain
        if not self._all_count:
            valid, gain = valid[self._counting], gain[self._counting]
        number = valid.sum(axis=0)
        average = gain.sum(axis=0) / np.maximum(number, 1)
        if not self._all_count:
            average[number == 0] = np.inf
        return first_best(np.where(splits.gain >= average - BELOW_AVERAGE, splits.ratio, 0.0))

    def splits(
        self, entries: Entries, node: IntArray, counts: FloatArray, total: FloatArray
    ) -> Splits:
        """Return the split of each node on each attribute."""
        table = self._table
        block = max(_MAX_CELLS // (table.slots * table.classes), 1)
        if len(total) > block:
            return self._splits_in_blocks(entries, node, counts, total, block)
        if not table.any_numeric:
            return self._nominal(entries, node, counts, total)
        shape = (len(table.cards), len(total))
        splits = Splits(
            np.zeros(shape, dtype=bool), np.zeros(shape), np.zeros(shape), np.full(shape, np.nan)
        )
        if len(table.nominal):
            nominal = self._nominal(entries, node, counts, total)
            for field, values in zip(splits, nominal, strict=True):
                field[table.nominal] = values
        for column in np.flatnonzero(table.numeric):
            self._numeric(entries, node, total, int(column), splits)
        return splits

    def _splits_in_blocks(
        self, entries: Entries, node: IntArray, counts: FloatArray, total: FloatArray, block: int
    ) -> Splits:
        """Return the splits, computed for blocks of nodes."""
        parts = []
        for start in range(0, len(total), block):
            here = (node >= start) & (node < start + block)
            few = slice(start, start + block)
            parts.append(
                self.splits(entries.where(here), node[here] - start, counts[:, few], total[few])
            )
        return Splits(*(np.concatenate(fields, axis=1) for fields in zip(*parts, strict=True)))

    def _nominal(
        self,
        entries: Entries,
        node: IntArray,
        counts: FloatArray,
        total: FloatArray,
    ) -> Splits:
        """Return splits on nominal attributes, one branch per value."""
        table = self._table
        values = self._values(entries, node, counts)
        bags = values.sum(axis=0)
        large = table.by_attribute((bags > self._min_leaf - SMALL).astype(np.float64))
        valid = large[:-1] > 1
        in_bags = table.by_attribute(self._xlogx(bags))
        in_classes = table.by_attribute(self._xlogx(values).sum(axis=0))
        whole, before = in_bags[-1], in_bags[-1] - in_classes[-1]
        in_bags, in_classes = in_bags[:-1], in_classes[:-1]
        if table.complete:
            gained = before - in_bags + in_classes
            known, information = total, whole - in_bags
        else:
            classes = table.by_attribute(values)[:, :-1]
            known = classes.sum(axis=0)
            before = xlogx(known) - xlogx(classes).sum(axis=0)
            gained = (before - in_bags + in_classes) * (known / total)
            information = whole - in_bags - xlogx(total - known)
        gain = np.where(valid & (gained >= SMALL), gained, 0.0) / np.maximum(known, SMALL)
        return Splits(valid, gain, _ratio(gain, information, total), np.full(gain.shape, np.nan))

    def _values(self, entries: Entries, node: IntArray, counts: FloatArray) -> FloatArray:
        """Return the weight of each class, slot and node; the last slot is the class total.

        Nodes are on the last axis: sums over classes and slots run along contiguous memory.
        """
        table = self._table
        shape = (table.classes, table.slots, counts.shape[1])
        cells = table.cells.take(entries.rows, axis=1)
        cells *= counts.shape[1]
        cells += node
        weights = np.concatenate([entries.weights] * len(cells))
        if not table.complete:
            weights *= table.known[:, entries.rows].ravel()
        values = weights_in(cells.ravel(), weights, math.prod(shape)).reshape(shape)
        values[:, -1] = counts
        return values

    def _numeric(
        self, entries: Entries, node: IntArray, total: FloatArray, column: int, splits: Splits
    ) -> None:
        """Return binary splits of a numeric attribute."""
        table = self._table
        values = table.values[entries.rows, column]
        order = np.lexsort((values, node))
        order = order[~np.isnan(values[order])]
        values, node = values[order], node[order]
        # A cut follows an entry whose successor at the same node has a greater value.
        cut = np.flatnonzero((node[1:] == node[:-1]) & (values[:-1] + _APART < values[1:]))
        if not len(cut):
            return
        target, weights = table.target[entries.rows[order]], entries.weights[order]
        below, classes = _running(node, target, weights, cut, table.classes, len(total))
        known = classes.sum(axis=1)
        at = node[cut]
        above = np.maximum(classes[at] - below, 0.0)
        sizes = np.stack([below.sum(axis=1), above.sum(axis=1)])
        needed = np.maximum(np.minimum(0.1 * known / table.classes, _MAX_NEEDED), self._min_leaf)
        enough = (sizes > needed[at] - SMALL).all(axis=0)
        if table.repeats is not None:  # as in Weka, reweighted rows must also be enough in number
            rows = weights_in(node, table.repeats[entries.rows[order]], len(total))
            enough &= (rows > 2 * needed - SMALL)[at]
        in_bags = xlogx(sizes).sum(axis=0)
        before = (xlogx(known) - xlogx(classes).sum(axis=1))[at]
        gained = before - in_bags + xlogx(below).sum(axis=1) + xlogx(above).sum(axis=1)
        gained *= (known / total)[at]
        gain = np.where(enough & (gained >= SMALL), gained, 0.0) / known[at]
        choices = weights_in(at, enough, len(total))
        best = _best_cuts(gain, at)
        cut, at, gain, in_bags = cut[best], at[best], gain[best], in_bags[best]
        # The gain is reduced by the cost of stating the cut (Quinlan 1996).
        gain = gain - np.log2(np.maximum(choices[at], 1.0)) / total[at]
        information = xlogx(total[at]) - in_bags - xlogx(total[at] - known[at])
        valid = gain >= SMALL
        gain = np.where(valid, gain, 0.0)
        splits.valid[column, at] = valid
        splits.gain[column, at] = gain
        splits.ratio[column, at] = _ratio(gain, information, total[at])
        middle = values[cut] / 2 + values[cut + 1] / 2  # whose sum is always finite
        splits.threshold[column, at] = _value_below(table.values[:, column], middle)


def _ratio(gain: FloatArray, information: FloatArray, total: FloatArray) -> FloatArray:
    """Return the gain divided by the split information, which is never less than the gain."""
    ratio: FloatArray = gain * total / np.maximum(information, SMALL)
    return ratio


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
    top = scores.max(axis=0, initial=0.0)
    near, nearly = scores >= top - SMALL, scores >= top - 2 * SMALL
    best = np.where(top > SMALL, near.argmax(axis=0), -1)
    # The first score near the maximum may itself be near an earlier one that is not.
    if np.count_nonzero(near) < np.count_nonzero(nearly):
        for column in np.flatnonzero((near < nearly).any(axis=0) & (best >= 0)):
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


def _value_below(column: FloatArray, middle: FloatArray) -> FloatArray:
    """Return the greatest value in the training set up to each cut, less than `SMALL` above it."""
    values = np.unique(column[~np.isnan(column)])
    place = np.searchsorted(values, middle + SMALL)
    # As in Weka, it is the difference that is compared: it may be rounded to the other side.
    place -= values[place - 1] - middle >= SMALL
    place += values[np.minimum(place, len(values) - 1)] - middle < SMALL
    below: FloatArray = values[np.minimum(place, len(values)) - 1]
    return below
