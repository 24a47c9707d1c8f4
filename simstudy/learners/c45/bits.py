"""Pruning of a small tree node by node, with sets of rows as bit masks in Python integers.

With few rows, `Pruner` spends most of its time on numpy call overhead. Here the rows at the end of
a path are the bitwise AND of the rows with each of its values.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from statistics import NormalDist

import numpy as np

from simstudy.learners.c45.nodes import Nodes
from simstudy.learners.c45.prune import ALLOWANCE, limit_without_errors, normal_limit
from simstudy.learners.c45.table import TrainingRows
from simstudy.learners.c45.tree import LEAF, SMALL

Path = tuple[tuple[int, int], ...]  # (attribute, value) pairs from the root


@lru_cache(maxsize=8)
def limits(confidence: float) -> Callable[[int, int], float]:
    """Return the upper limit of leaf errors, as `Pruner.limit`, as a function of (rows, errors)."""
    z = NormalDist().inv_cdf(1 - confidence)

    @lru_cache(maxsize=2**16)
    def limit(rows: int, errors: int) -> float:
        if not rows:
            return 0.0
        if not errors:
            return limit_without_errors(rows, confidence)
        return normal_limit(rows, min(errors + 0.5, rows), z)

    return limit


def collapse(nodes: Nodes) -> None:
    """Replace every subtree that is no better on the training rows by a leaf."""
    errors, below = nodes.errors, nodes.errors.copy()
    for node in reversed(range(len(nodes))):
        if nodes.attribute[node] != LEAF:
            children = nodes.children(node)
            below[node] = sum(below[children.start : children.stop])
            if below[node] >= errors[node]:
                nodes.attribute[node] = LEAF


class BitPruner:
    """Error-based pruning as in `Pruner`, for a nominal, complete and unweighted table."""

    def __init__(self, nodes: Nodes, table: TrainingRows, confidence: float, raising: bool) -> None:
        self._nodes, self._table, self._raising = nodes, table, raising
        self._limit = limits(confidence)

    def prune(self, node: int = 0, path: Path = ()) -> float:
        """Prune the subtree at the end of a path and return its estimated errors."""
        nodes, limit = self._nodes, self._limit
        attribute, totals, errors = nodes.attribute, nodes.totals, nodes.errors
        as_leaf, tested = limit(totals[node], errors[node]), attribute[node]
        if tested == LEAF:
            return as_leaf
        staying, only_leaves = 0.0, True
        for value, child in enumerate(nodes.children(node)):
            if attribute[child] == LEAF:
                staying += limit(totals[child], errors[child])
            else:
                staying += self.prune(child, (*path, (tested, value)))
                only_leaves &= attribute[child] == LEAF
        raised = math.inf
        if self._raising:
            raised = as_leaf if only_leaves else self._raised(node, path, as_leaf, staying)
        if as_leaf - ALLOWANCE - SMALL < min(staying, raised):
            attribute[node] = LEAF
            return as_leaf
        if raised < staying + ALLOWANCE + SMALL:
            largest = self._largest(node)
            attribute[node], nodes.first[node] = attribute[largest], nodes.first[largest]
            self._count(node, self._rows(path))
            return self.prune(node, path)
        return staying

    def _raised(self, node: int, path: Path, as_leaf: float, staying: float) -> float:
        """Return the errors of a node's largest branch if it had all rows of the node.

        Or a lower bound, if that is enough to decide against raising.
        """
        largest = self._largest(node)
        if self._nodes.attribute[largest] == LEAF:
            return as_leaf
        here = as_leaf - ALLOWANCE - SMALL
        enough = here if here < staying else staying + ALLOWANCE + SMALL
        return self._errors(largest, self._rows(path), enough)

    def _largest(self, node: int) -> int:
        """Return the child with most rows; ties go to the last."""
        children = self._nodes.children(node)
        totals = self._nodes.totals[children.start : children.stop]
        totals.reverse()
        return children[-1 - totals.index(max(totals))]

    def _errors(self, node: int, rows: int, enough: float) -> float:
        """Return the errors of a subtree with these rows, or a lower bound above ``enough``."""
        nodes, (*values, classes) = self._nodes, self._sets
        errors = 0.0
        waiting = [(node, rows)]
        while waiting and errors <= enough:
            node, rows = waiting.pop()
            attribute = nodes.attribute[node]
            if attribute == LEAF:
                counts = [(rows & having).bit_count() for having in classes]
                total = rows.bit_count()
                errors += self._limit(total, total - max(counts))
            else:
                branches = (rows & having for having in values[attribute])
                waiting += zip(nodes.children(node), branches, strict=True)
        return errors

    def _count(self, node: int, rows: int) -> None:
        """Recount the rows at a node and below."""
        nodes, attribute = self._nodes, self._nodes.attribute[node]
        counts = [(rows & having).bit_count() for having in self._sets[-1]]
        nodes.counts[node], nodes.totals[node] = counts, rows.bit_count()
        nodes.errors[node] = nodes.totals[node] - max(counts)
        if attribute != LEAF:
            for child, having in zip(nodes.children(node), self._sets[attribute], strict=True):
                self._count(child, rows & having)

    def _rows(self, path: Path) -> int:
        """Return the rows at the end of a path."""
        rows = sum(self._sets[-1])  # of any class
        for attribute, value in path:
            rows &= self._sets[attribute][value]
        return rows

    @cached_property
    def _sets(self) -> list[list[int]]:
        """The rows with each value of every attribute and, last, with each class."""
        table = self._table
        cards = [*self._nodes.cards, table.classes]
        starts = [*accumulate(cards, initial=0)]
        few_bytes = np.min_scalar_type(max(cards))
        columns = np.concatenate([table.values.T, table.target[None]]).astype(few_bytes)
        values = np.concatenate([*map(np.arange, cards)]).astype(few_bytes)
        holds = columns.take(np.repeat(np.arange(len(cards)), cards), axis=0) == values[:, None]
        packed = np.packbits(holds, axis=1)
        sets = [*map(int.from_bytes, packed.view(f"V{packed.shape[1]}").ravel().tolist())]
        return [sets[start:end] for start, end in pairwise(starts)]
