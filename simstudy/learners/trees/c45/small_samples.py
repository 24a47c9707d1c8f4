"""Trees of small samples, node by node in plain Python.

With few rows, `grow` and `Pruner` spend their time on the overhead of numpy calls. Here a set of
rows is a bit mask in a Python integer, and a count the number of bits of an intersection. The tree
is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

import numpy as np

from simstudy.learners.trees.c45.prune import ALLOWANCE, error_limits
from simstudy.learners.trees.c45.search import BELOW_AVERAGE, counting, xlogx
from simstudy.learners.trees.c45.table import TrainingRows
from simstudy.learners.trees.c45.tree import LEAF, SMALL, Tree

# With more rows, or more pairs of a value and a class, whole levels are faster.
_MAX_ROWS = 600
_MAX_PAIRS = 2**9
# Growing and pruning recurse once per test on a path.
_MAX_ATTRIBUTES = 100


def is_small(table: TrainingRows) -> bool:
    """Return whether a table is small, nominal, complete and unweighted."""
    pairs = sum(table.cards) * table.classes
    small = 0 < len(table) <= _MAX_ROWS and 0 < pairs <= _MAX_PAIRS
    return small and table.plain and table.unit and len(table.cards) <= _MAX_ATTRIBUTES


@lru_cache(maxsize=8)
def _xlogx_up_to(end: int) -> list[float]:
    """Return `xlogx` of all integers below ``end``."""
    logs: list[float] = xlogx(np.arange(float(end))).tolist()
    return logs


@lru_cache(maxsize=2**12)
def _limits(rows: int, confidence: float) -> list[float]:
    """Return the upper limit of the errors of a leaf for each number of errors."""
    errors = np.arange(rows + 1.0)
    limits: list[float] = error_limits(np.full(rows + 1, float(rows)), errors, confidence).tolist()
    return limits


@dataclass(slots=True)
class _Node:
    """A node with its rows, their number, and their number in each class."""

    rows: int
    total: int
    counts: list[int]
    attribute: int = LEAF
    children: Sequence[_Node] = ()

    @property
    def errors(self) -> int:
        return self.total - max(self.counts)


class SmallSample:
    """Grow and prune the tree of a small table; ``raising`` is `C45.subtree_raising`."""

    def __init__(
        self, table: TrainingRows, min_leaf: float, confidence: float, raising: bool
    ) -> None:
        self._min_leaf, self._confidence, self._raising = min_leaf, confidence, raising
        self._counting = counting(table)
        self._xlogx = _xlogx_up_to(2 ** len(table).bit_length()).__getitem__
        cards = [*table.cards, table.classes]
        columns = np.concatenate([table.values.T, table.target[None]]).repeat(cards, axis=0)
        values = np.concatenate([*map(np.arange, cards)])
        packed = np.packbits(columns == values[:, None], axis=1)
        masks = map(int.from_bytes, packed.view(f"V{packed.shape[1]}").ravel().tolist())
        # The rows with each value of every attribute, with each class, and with both.
        *self._values, self._classes = [[*islice(masks, card)] for card in cards]
        self._pairs = [[v & c for v in values for c in self._classes] for values in self._values]

    def tree(self, prune: bool) -> Tree:
        """Return the fitted tree."""
        root = self._node(sum(self._classes))
        self._grow(root, range(len(self._values)))
        if prune:
            self._prune(root)
        levels = [[root]]
        while below := [child for node in levels[-1] for child in node.children]:
            levels.append(below)
        nodes = [node for level in levels for node in level]
        attribute = np.array([node.attribute for node in nodes], dtype=np.intp)
        branches = np.array([len(node.children) for node in nodes], dtype=np.intp)
        counts = np.array([node.counts for node in nodes], dtype=np.float64).T
        tree = Tree.by_level(attribute, np.full(len(nodes), np.nan), branches, counts)
        tree.depth = len(levels) - 1
        return tree

    def _node(self, rows: int) -> _Node:
        """Return a leaf with these rows."""
        counts = [(rows & having).bit_count() for having in self._classes]
        return _Node(rows, rows.bit_count(), counts)

    def _grow(self, node: _Node, attributes: Sequence[int]) -> int:
        """Grow the subtree of a leaf, and return its errors on the training rows."""
        errors = node.errors
        if not errors or node.total <= 2 * self._min_leaf - SMALL:
            return errors
        splits = self._splits(node, attributes)
        attribute = self._chosen(splits, node.total)
        if attribute == LEAF:
            return errors
        children = [self._node(node.rows & having) for having in self._values[attribute]]
        # A test that is not valid here is not valid further down.
        rest = [candidate for candidate, _, _ in splits if candidate != attribute]
        below = sum([self._grow(child, rest) for child in children])
        if below < errors:  # a subtree that is no better on the training rows is left out
            node.attribute, node.children = attribute, children
        return below

    def _splits(self, node: _Node, attributes: Sequence[int]) -> list[tuple[int, float, float]]:
        """Return attributes with valid splits, their weighted gain and split information."""
        rows, xlogx, least = node.rows, self._xlogx, self._min_leaf - SMALL
        whole = xlogx(node.total)
        before = whole - sum(map(xlogx, node.counts))
        splits = []
        for attribute in attributes:
            sizes = [(rows & having).bit_count() for having in self._values[attribute]]
            if sum([size > least for size in sizes]) > 1:
                cells = [(rows & having).bit_count() for having in self._pairs[attribute]]
                in_bags = sum(map(xlogx, sizes))
                gained = before - in_bags + sum(map(xlogx, cells))
                splits.append((attribute, gained if gained >= SMALL else 0.0, whole - in_bags))
        return splits

    def _chosen(self, splits: list[tuple[int, float, float]], total: int) -> int:
        """Return the attribute that a node tests, as `Search` does."""
        gains = [gained for attribute, gained, _ in splits if self._counting[attribute]]
        best, reached = LEAF, 0.0
        enough = sum(gains) / len(gains) - BELOW_AVERAGE * total if gains else np.inf
        for attribute, gained, information in splits:
            if gained >= enough and gained / max(information, SMALL) > reached + SMALL:
                best, reached = attribute, gained / max(information, SMALL)
        return best

    def _prune(self, node: _Node) -> float:
        """Prune a subtree as `Pruner` does, and return its estimated errors."""
        as_leaf = _limits(node.total, self._confidence)[node.errors]
        if node.attribute == LEAF:
            return as_leaf
        staying, raised = sum([self._prune(child) for child in node.children]), np.inf
        largest = max(reversed(node.children), key=lambda child: child.total)
        if self._raising:
            raised = as_leaf
            if largest.attribute != LEAF:
                raised = self._errors(largest, node.rows)
        if as_leaf - ALLOWANCE - SMALL < min(staying, raised):
            node.attribute, node.children = LEAF, ()
            return as_leaf
        if raised < staying + ALLOWANCE + SMALL:
            moved = self._moved(largest, node.rows)
            node.attribute, node.children = moved.attribute, moved.children
            return self._prune(node)
        return staying

    def _errors(self, node: _Node, rows: int) -> float:
        """Return the estimated errors of a subtree if it had these rows."""
        if node.attribute == LEAF:
            leaf = self._node(rows)
            return _limits(leaf.total, self._confidence)[leaf.errors]
        branches = zip(node.children, self._values[node.attribute], strict=True)
        return sum([self._errors(child, rows & having) for child, having in branches])

    def _moved(self, node: _Node, rows: int) -> _Node:
        """Return a subtree with these rows instead of its own."""
        moved, values = self._node(rows), self._values[node.attribute]
        if node.attribute != LEAF:
            moved.attribute = node.attribute
            branches = zip(node.children, values, strict=True)
            moved.children = [self._moved(child, rows & having) for child, having in branches]
        return moved
