"""Tree-augmented Naive Bayes models: a random tree over the attributes.

Hope & Korb (2004), figure 3a; the tree is uniform over all labelled trees (Prüfer 1918).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from simstudy.networks.model import Model
from simstudy.sources.families.base import Family, attribute_parents


@dataclass(frozen=True)
class TANFamily(Family):
    """TAN models: Naive Bayes with a uniformly random tree over the attributes.

    The target is a parent of every attribute; each attribute but the root of the tree has one more
    parent (Hope & Korb 2004, section 5.1 and figure 3a). All labelled trees and all roots are
    equally likely; the tree is drawn by its Prüfer sequence.

    References
    ----------
    L. R. Hope & K. B. Korb (2004). A Bayesian metric for evaluating machine learning algorithms.
    AI 2004, LNAI 3339.

    H. Prüfer (1918). Neuer Beweis eines Satzes über Permutationen. Archiv der Mathematik und
    Physik 27.
    """

    max_parents = 2

    def draw(self, rng: np.random.Generator) -> Model:
        cards = self.draw_cards(rng)
        return self.draw_model(rng, cards, attribute_parents(random_tree(len(cards) - 1, rng)))


def random_tree(size: int, rng: np.random.Generator) -> list[list[int]]:
    """Return the parents of each node in a uniformly random rooted labelled tree."""
    neighbours: list[list[int]] = [[] for _ in range(size)]
    for first, second in prufer_edges(rng.integers(size, size=max(size - 2, 0)).tolist(), size):
        neighbours[first].append(second)
        neighbours[second].append(first)
    parents: list[list[int]] = [[] for _ in range(size)]
    stack = [int(rng.integers(size))]  # the root
    while stack:
        node = stack.pop()
        for child in neighbours[node]:
            if parents[node] != [child]:
                parents[child] = [node]
                stack.append(child)
    return parents


def prufer_edges(sequence: list[int], size: int) -> list[tuple[int, int]]:
    """Return the edges of the tree of a Prüfer sequence."""
    if size < 2:
        return []
    degree = [1 + sequence.count(node) for node in range(size)]
    leaves = [node for node in range(size) if degree[node] == 1]
    edges = []
    for node in sequence:
        edges.append((heapq.heappop(leaves), node))
        degree[node] -= 1
        if degree[node] == 1:
            heapq.heappush(leaves, node)
    edges.append((heapq.heappop(leaves), heapq.heappop(leaves)))
    return edges
