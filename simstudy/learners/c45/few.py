"""Growing a tree node by node in plain Python, for few rows.

Each row is one long integer: the bytes of its values, and of its values with its class, are 1 and
all others 0. The bytes of the sum over the rows of a node are then the counts of every value, and
of every value with each class. A sum costs less than a numpy call.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import accumulate, pairwise, repeat

import numpy as np

from simstudy.arrays import IntArray
from simstudy.learners.c45.nodes import Nodes
from simstudy.learners.c45.search import BELOW_AVERAGE, counting, xlogx
from simstudy.learners.c45.table import TrainingRows
from simstudy.learners.c45.tree import LEAF, SMALL

# A count must fit in a byte; with more rows, growing whole levels is faster.
MAX_FEW = 255
# n·log2 n is 0 for counts of 0 and 1.
_NO_INFORMATION = bytes([0, 1])

Splits = list[tuple[int, float, float]]  # attribute, information gain, split information


@cache
def _xlogx_of_bytes() -> list[float]:
    """Return n·log2 n for all values of a byte."""
    table: list[float] = xlogx(np.arange(256.0)).tolist()
    return table


class FewRows:
    """Grow the tree of a complete, nominal and unweighted table with at most `MAX_FEW` rows."""

    def __init__(self, table: TrainingRows, min_leaf: float) -> None:
        cards = table.cards
        self._classes = table.classes
        self._xlogx = _xlogx_of_bytes().__getitem__
        self._counting = counting(table)
        # Nodes with fewer rows are not split; branches with these numbers of rows are too small.
        self._fewest = 2 * min_leaf - SMALL
        self._too_few = bytes(range(min(math.floor(min_leaf - SMALL) + 1, MAX_FEW + 1)))
        # The bytes of each attribute: the count of each value, and of each value with each class.
        starts = [*accumulate(cards, initial=0)]
        slots = starts[-1]
        self._width = slots * (table.classes + 1)
        ends = [slots + table.classes * start for start in starts]
        self._bags = [slice(*span) for span in pairwise(starts)]
        self._cells = [slice(*span) for span in pairwise(ends)]
        self._columns: list[list[int]] = table.values.T.tolist()
        self._numbers = self._packed(table.values.T, table.target, starts)
        root = np.bincount(table.target, minlength=table.classes).tolist()
        self._nodes = Nodes(cards, [], [], [], [], [])
        self._nodes.add([root], [len(table)])

    def _packed(self, columns: IntArray, target: IntArray, starts: list[int]) -> list[int]:
        """Return every row as an integer."""
        width, classes, slots = self._width, self._classes, starts.pop()
        bags = columns + np.array(starts, dtype=np.intp)[:, None]
        cells = bags * classes
        cells += target + slots
        ones = np.zeros((len(target), width), dtype=np.uint8)
        row_starts = np.arange(len(target)) * width
        ones.put(bags + row_starts, 1)
        ones.put(cells + row_starts, 1)
        return [*map(int.from_bytes, ones.view(f"V{width}").ravel().tolist())]

    def grow(self) -> Nodes:
        """Return the full tree before pruning."""
        nodes, number = self._nodes, self._numbers.__getitem__
        rows: Sequence[int] = range(len(self._numbers))
        attributes: Sequence[int] = range(len(self._columns))
        waiting = [(0, rows, attributes)]
        for node, rows, attributes in waiting:
            if not nodes.errors[node] or nodes.totals[node] <= self._fewest:
                continue
            counts = sum(map(number, rows)).to_bytes(self._width)
            splits = self._splits(counts, nodes.counts[node], len(rows), attributes)
            attribute = chosen(splits, len(rows), self._counting)
            if attribute == LEAF:
                continue
            self._split(node, attribute, counts)
            # A test that is not valid here is not valid further down.
            if attributes := [other for other, _, _ in splits if other != attribute]:
                branches = self._branches(rows, attribute)
                waiting += zip(nodes.children(node), branches, repeat(attributes))
        return nodes

    def _branches(self, rows: Iterable[int], attribute: int) -> list[list[int]]:
        """Return the rows with each value of an attribute."""
        branches: list[list[int]] = [[] for _ in range(self._nodes.cards[attribute])]
        column = self._columns[attribute]
        for row in rows:
            branches[column[row]].append(row)
        return branches

    def _splits(
        self, counts: bytes, classes: Sequence[int], total: int, attributes: Iterable[int]
    ) -> Splits:
        """Return the valid splits of a node on some attributes."""
        xlogx, too_few = self._xlogx, self._too_few
        whole = xlogx(total)
        before = whole - sum(map(xlogx, classes))
        splits = []
        for attribute in attributes:
            bags = counts[self._bags[attribute]]
            if len(bags.translate(None, too_few)) > 1:
                in_bags = sum(map(xlogx, bags))
                cells = counts[self._cells[attribute]].translate(None, _NO_INFORMATION)
                gained = before - in_bags + sum(map(xlogx, cells))
                splits.append((attribute, gained if gained >= SMALL else 0.0, whole - in_bags))
        return splits

    def _split(self, node: int, attribute: int, counts: bytes) -> None:
        """Turn a leaf into an inner node."""
        cells, classes = counts[self._cells[attribute]], self._classes
        by_value = [cells[at : at + classes] for at in range(0, len(cells), classes)]
        self._nodes.split(node, attribute, by_value, counts[self._bags[attribute]])


def chosen(splits: Splits, total: int, counting: Sequence[bool]) -> int:
    """Return the attribute that a node of ``total`` rows tests, as in `Search.chosen`."""
    gains = [gained for attribute, gained, _ in splits if counting[attribute]]
    if not gains:
        return LEAF
    enough = sum(gains) / len(gains) - BELOW_AVERAGE * total
    best, reached = LEAF, 0.0
    for attribute, gained, information in splits:
        if gained >= enough:
            ratio = gained / max(information, SMALL)
            if ratio > reached + SMALL:
                best, reached = attribute, ratio
    return best
