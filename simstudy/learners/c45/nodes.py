"""A tree as plain lists, for trees so small that numpy call overhead dominates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import sub

import numpy as np

from simstudy.arrays import IntArray
from simstudy.learners.c45.tree import LEAF, Tree


@dataclass
class Nodes:
    """Nodes of a decision tree over nominal attributes, the root first.

    Each training row counts once. Parents come before their children. ``totals`` and ``errors``
    are the training rows of each node, and those outside its most frequent class; the other fields
    are those of `Tree`.
    """

    cards: Sequence[int]
    attribute: list[int]
    first: list[int]
    counts: list[Sequence[int]]
    totals: list[int]
    errors: list[int]

    @classmethod
    def of_levels(
        cls, cards: Sequence[int], attributes: list[IntArray], counts: list[IntArray]
    ) -> Nodes:
        """Build a tree from the tests and the counts, (classes, nodes), of each level."""
        attribute, by_class = np.concatenate(attributes), np.concatenate(counts, axis=1)
        branches = np.array([*cards, 0], dtype=np.intp).take(attribute)
        first = branches.cumsum() - branches + 1
        totals = by_class.sum(axis=0)
        errors = totals - by_class.max(axis=0)
        return cls(cards, *(a.tolist() for a in (attribute, first, by_class.T, totals, errors)))

    def __len__(self) -> int:
        return len(self.attribute)

    def children(self, node: int) -> range:
        """Return the children of an inner node, in the order of the values of its attribute."""
        first = self.first[node]
        return range(first, first + self.cards[self.attribute[node]])

    def add(self, counts: Sequence[Sequence[int]], totals: Sequence[int]) -> None:
        """Add leaves with these class counts and totals."""
        self.attribute += [LEAF] * len(totals)
        self.first += [LEAF] * len(totals)
        self.counts += counts
        self.totals += totals
        self.errors += map(sub, totals, map(max, counts))

    def split(
        self, leaf: int, attribute: int, counts: Sequence[Sequence[int]], totals: Sequence[int]
    ) -> None:
        """Give a leaf children with these class counts."""
        self.attribute[leaf], self.first[leaf] = attribute, len(self.attribute)
        self.add(counts, totals)

    def tree(self) -> Tree:
        """Return the nodes reachable from the root, numbered level by level."""
        order: list[int] = []
        first: list[int] = []
        level, depth = [0], -1
        while level:
            order += level
            depth += 1
            below: list[int] = []
            for node in level:
                leaf = self.attribute[node] == LEAF
                first.append(len(first) if leaf else len(order) + len(below))
                if not leaf:
                    below += self.children(node)
            level = below
        attribute = [self.attribute[node] for node in order]
        branches = [*self.cards, 0]  # attribute −1 has none
        return Tree(
            np.array(attribute, dtype=np.intp),
            np.full(len(order), np.nan),
            np.array(first, dtype=np.intp),
            np.array([branches[a] for a in attribute], dtype=np.intp),
            np.array([[*self.counts[node]] for node in order], dtype=np.float64).T,
            depth,
        )
