"""Growing the tree of a small table that is nominal, complete and unweighted.

With hundreds of rows, `grow.grow` spends most of its time on numpy call overhead. Here a level
takes about half as many calls: nothing is weighted, and leaves are searched like other nodes. With
fewer rows plain Python is faster still, see `FewRows`. All grow the same tree.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from simstudy.arrays import FloatArray, IntArray
from simstudy.learners.c45.few import MAX_FEW, FewRows
from simstudy.learners.c45.nodes import Nodes
from simstudy.learners.c45.search import BELOW_AVERAGE, counting, first_best, xlogx_up_to
from simstudy.learners.c45.table import TrainingRows
from simstudy.learners.c45.tree import LEAF, SMALL

# With more rows, or more (value, class) pairs, `grow.grow` and `Pruner` are as fast.
MAX_ROWS = 2000
_MAX_CELLS = 2**11
# Pruning recurses once per test on a path.
_MAX_ATTRIBUTES = 100


def is_small(table: TrainingRows) -> bool:
    """Return whether a table is small, nominal, complete and unweighted."""
    if not (table.plain and table.single and len(table) <= MAX_ROWS):
        return False
    cards = table.cards
    return 0 < sum(cards) * table.classes <= _MAX_CELLS and len(cards) <= _MAX_ATTRIBUTES


def grow(table: TrainingRows, min_leaf: float) -> Nodes:
    """Return the full tree before pruning."""
    if len(table) <= MAX_FEW:
        return FewRows(table, min_leaf).grow()
    search = _LevelSearch(table, min_leaf)
    branches = np.array([*search.cards, 0], dtype=np.intp)  # attribute −1 has none
    rows, node, number = np.arange(len(table)), np.zeros(len(table), dtype=np.intp), 1
    attributes, counts = [], []
    while number:
        by_slot = search.count(rows, node, number)
        attribute = search.best(by_slot)
        attributes.append(attribute)
        counts.append(by_slot[:, -1])
        tested = attribute.take(node)
        if len(kept := (tested != LEAF).nonzero()[0]) < len(rows):
            rows, node, tested = rows.take(kept), node.take(kept), tested.take(kept)
        widths = branches.take(attribute)
        ends = widths.cumsum()
        number = int(ends[-1])
        node = (ends - widths).take(node)
        node += table.at(rows, tested)
    return Nodes.of_levels(search.cards, attributes, counts)


class _LevelSearch:
    """Search for the best splits of all nodes of a level.

    Slots are those of `TrainingRows`: the values of all attributes, and a last one for all rows.
    """

    def __init__(self, table: TrainingRows, min_leaf: float) -> None:
        self.cards = table.cards
        self._classes, self._fewest = table.classes, 2 * min_leaf - SMALL
        self._too_few = math.floor(min_leaf - SMALL)  # rows of a branch
        self._xlogx = xlogx_up_to(2 ** len(table).bit_length())
        counts = counting(table)
        self._counting = None if all(counts) else np.array(counts)
        starts = np.cumsum([0, *self.cards])
        self._slots = int(starts[-1]) + 1
        # The class and slot of every value, and of all rows.
        self._cells = table.target * self._slots + starts[:, None]
        self._cells[:-1] += table.values.T
        # Sums over the slots of each attribute, less the last slot.
        self._sums = np.repeat(np.eye(len(self.cards), len(starts)), [*self.cards, 1], axis=1)
        self._sums[:, -1] = -1

    def count(self, rows: IntArray, node: IntArray, number: int) -> IntArray:
        """Count the rows of each class and slot at each of ``number`` nodes."""
        shape = (self._classes, self._slots, number)
        cells = self._cells.take(rows, axis=1)
        cells *= number
        cells += node
        counts: IntArray = np.bincount(cells.ravel(), minlength=math.prod(shape))
        return counts.reshape(shape)

    def best(self, counts: IntArray) -> IntArray:
        """Return the test of each node, as `Search.best`."""
        _, slots, nodes = counts.shape
        terms = np.empty((slots, 3, nodes))
        bags = np.add.reduce(counts, axis=0)
        np.greater(bags, self._too_few, out=terms[:, 0])
        terms[:, 1] = self._xlogx.take(bags)
        np.add.reduce(self._xlogx.take(counts), axis=0, out=terms[:, 2])
        # The last slot, all rows, always counts as large and is subtracted.
        sums = (self._sums @ terms.reshape(slots, -1)).reshape(-1, 3, nodes)
        more, in_bags, in_classes = sums.transpose(1, 0, 2)
        total = bags[-1].astype(np.float64)
        valid = more > 0
        valid &= total > self._fewest
        gained = in_classes - in_bags
        gained *= valid & (gained >= SMALL)
        enough = self._average(valid, gained) - BELOW_AVERAGE * total
        scores = gained / np.maximum(-in_bags, SMALL)
        scores *= gained >= enough
        return first_best(scores)

    def _average(self, valid: npt.NDArray[np.bool_], gained: FloatArray) -> FloatArray:
        """Return the average gain of the valid splits at each node; infinite if none counts."""
        if self._counting is not None:
            valid, gained = valid[self._counting], gained[self._counting]
        number = np.add.reduce(valid, axis=0, dtype=np.float64)
        average: FloatArray = np.add.reduce(gained, axis=0) / np.maximum(number, 1.0)
        if self._counting is not None:
            average[number == 0] = np.inf
        return average
