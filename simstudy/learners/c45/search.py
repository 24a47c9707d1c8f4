"""The search for the best split of nodes, all nodes of a level at once."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simstudy.arrays import FloatArray, IntArray, weights_in
from simstudy.data.sample import read_only
from simstudy.learners.c45.table import Entries, Table
from simstudy.learners.c45.tree import LEAF, SMALL

# A split must gain the average of all, less this, in bits (Weka's approach to Quinlan's program).
BELOW_AVERAGE = 1e-3
# Numeric values must lie this far apart to be split between.
_APART = 1e-5
# A side of a numeric split needs a tenth of an even share of the rows, but never more than this.
_MOST_NEEDED = 25.0
# How many cells of (class, node, value) are counted at once.
_MOST_CELLS = 2**22


class Splits(NamedTuple):
    """One split for each attribute and node, shapes (attributes, nodes)."""

    valid: npt.NDArray[np.bool_]
    gain: FloatArray  # in bits; 0 where a split is not valid
    ratio: FloatArray
    threshold: FloatArray  # NaN for a nominal attribute


def xlogx(weights: FloatArray) -> FloatArray:
    """w·log2 w, 0 for no weight."""
    some = weights > SMALL
    result: FloatArray = weights * np.log2(weights, where=some, out=np.zeros_like(weights))
    return result


@lru_cache(maxsize=8)
def xlogx_up_to(end: int) -> FloatArray:
    """`xlogx` of all whole numbers below ``end``."""
    return read_only(xlogx(np.arange(float(end))))


def counting(table: Table) -> list[bool]:
    """Which attributes count in the average gain: not nominal ones with very many values."""
    many = [card is not None and card > 0.3 * table.total - SMALL for card in table.cards]
    return [not m or all(many) for m in many]


class Search:
    """The search for the best split of nodes.

    ``node`` below numbers the nodes of the entries from 0; ``counts`` and ``total`` are the
    classes and all weight at each.
    """

    def __init__(self, table: Table, min_leaf: float) -> None:
        self._table, self._min_leaf = table, min_leaf
        self._counting = np.array(counting(table), dtype=bool)
        if table.whole:
            self._known = xlogx_up_to(2 ** int(table.total).bit_length())
        self._all_count = bool(self._counting.all())
        # No path tests a nominal attribute twice.
        self._deepest = np.inf if table.any_numeric else len(table.cards)

    def _xlogx(self, weights: FloatArray) -> FloatArray:
        """`xlogx`, looked up where all weights are whole."""
        if not self._table.whole:
            return xlogx(weights)
        return self._known.take(weights.astype(np.intp))

    def best(
        self, entries: Entries, counts: FloatArray, depth: int
    ) -> tuple[IntArray, FloatArray, Entries]:
        """What each node of a level should test, with a threshold, and the entries to be tested.

        Entries may also be at a place behind the last node, where nothing is done with them.
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
        """The attribute of greatest gain ratio among those of at least average gain; −1 for none.

        Of equal ratios the first wins.
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
        """The split of each node on each attribute."""
        table = self._table
        block = max(_MOST_CELLS // (table.slots * table.classes), 1)
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
        """The same, for some nodes after the other."""
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
        """Splits of nominal attributes, one branch for each value."""
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
        """The weight in each class, slot and node; in the last slot, all of the class.

        Nodes come last: sums over classes and slots run along whole rows of memory.
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
        gained *= (known / total)[at]
        gain = np.where(enough & (gained >= SMALL), gained, 0.0) / known[at]
        choices = weights_in(at, enough, len(total))
        best = _best_cuts(gain, at)
        cut, at, gain, in_bags = cut[best], at[best], gain[best], in_bags[best]
        # The choice of a cut costs as much as naming it (Quinlan 1996).
        gain = gain - np.log2(np.maximum(choices[at], 1.0)) / total[at]
        information = xlogx(total[at]) - in_bags - xlogx(total[at] - known[at])
        valid = gain >= SMALL
        gain = np.where(valid, gain, 0.0)
        splits.valid[column, at] = valid
        splits.gain[column, at] = gain
        splits.ratio[column, at] = _ratio(gain, information, total[at])
        middle = (values[cut] + values[cut + 1]) / 2
        splits.threshold[column, at] = _value_below(table.values[:, column], middle)


def _ratio(gain: FloatArray, information: FloatArray, total: FloatArray) -> FloatArray:
    """Gain over the information of the split itself, which is never less than the gain."""
    ratio: FloatArray = gain * total / np.maximum(information, SMALL)
    return ratio


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
    """For each column the row of the greatest score above 0; −1 for none.

    In turn, a score replaces the best so far if it is greater by more than `SMALL`.
    """
    top = scores.max(axis=0, initial=0.0)
    near, nearly = scores >= top - SMALL, scores >= top - 2 * SMALL
    best = np.where(top > SMALL, near.argmax(axis=0), -1)
    # The first score near the top may itself be near an earlier one that is not.
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
