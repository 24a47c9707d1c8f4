"""SuperParent search for a tree-augmented Naive Bayes.

Keogh & Pazzani (1999), the TAN of Hope & Korb (2004).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from simstudy.arrays import FloatArray
from simstudy.data.sample import Sample
from simstudy.learners.trees import Tree

# Scores this close are ties that rounding has parted; log scores differ by far more otherwise.
_TIE = 1e-9
_CACHE_BYTES = 2**28


def superparent_tree(sample: Sample, alpha: float) -> Tree:
    """Arcs added one at a time while leave-one-out accuracy rises.

    An orphan is an attribute without an attribute parent. Each round makes every attribute in
    turn the parent of all orphans it may have (neither itself nor its ancestors), takes the one
    with most leave-one-out hits as SuperParent, and keeps its best single arc if that raises the
    hits. All ties go to the lowest index.
    """
    accuracy = LeaveOneOut(sample, alpha)
    tree: list[int | None] = [None] * (len(sample.cards) - 1)
    scores = accuracy.log_prior + sum(accuracy.log_terms(i, None) for i in range(len(tree)))
    hits = accuracy.hits(scores)
    while candidates := {s: orphans for s in range(len(tree)) if (orphans := _orphans(tree, s))}:
        together = {
            s: accuracy.hits(scores + sum(accuracy.gain(child, s) for child in orphans))
            for s, orphans in candidates.items()
        }
        parent = accuracy.first_best(together)
        single = {c: accuracy.hits(scores + accuracy.gain(c, parent)) for c in candidates[parent]}
        child = accuracy.first_best(single)
        if not accuracy.exceeds(single[child], hits):
            break
        tree[child] = parent
        hits = single[child]
        scores = scores + accuracy.gain(child, parent)
    return tuple(tree)


def _orphans(tree: Sequence[int | None], parent: int) -> list[int]:
    """The attributes that ``parent`` may be given as children without making a circle."""
    ancestors = {parent}
    node = tree[parent]
    while node is not None:
        ancestors.add(node)
        node = tree[node]
    return [i for i, p in enumerate(tree) if p is None and i not in ancestors]


class LeaveOneOut:
    """Leave-one-out class scores of every training row, from counts alone.

    A row of weight w takes min(w, 1) out of the tables of its own class, and out of N, when it
    is classified.
    """

    def __init__(self, sample: Sample, alpha: float) -> None:
        self._sample, self._alpha = sample, alpha
        # Without weights, equal rows are one row that comes several times.
        rows = sample.distinct if sample.weights is None else sample
        self._codes, self._weights = rows.codes, rows.weights
        assert self._weights is not None
        self._own = np.minimum(self._weights, 1.0)
        self._target = self._codes[:, -1]
        self._rows = np.arange(len(self._codes))
        # The denominator is the same for every class, so it cannot change which scores highest.
        prior = np.tile(sample.class_counts[:, None], len(self._codes))
        own = (self._target, self._rows)
        prior[own] = self._without_own(prior[own])
        self.log_prior: FloatArray = np.log(prior + alpha)
        bytes_each = 8 * max(len(self._codes), 1) * sample.classes
        self.log_terms = lru_cache(maxsize=max(_CACHE_BYTES // bytes_each, 1))(self._log_terms)

    def _log_terms(self, child: int, parent: int | None) -> FloatArray:
        """log P(x_child | class, x_parent) without the row itself, shape (classes, rows)."""
        sample, spans = self._sample, self._sample.layout.spans
        values = self._codes[:, child]
        if parent is None:
            counts = sample.slot_counts[:, spans[child]][:, values]
            totals = sample.class_counts[:, None]
        else:
            given = self._codes[:, parent]
            counts = sample.pair_counts[:, spans[parent], spans[child]][:, given, values]
            totals = sample.slot_counts[:, spans[parent]][:, given]
        return self._log_ratio(counts, totals, sample.cards[child])

    def _log_ratio(self, counts: FloatArray, totals: FloatArray, card: int) -> FloatArray:
        """log((n + α)/(N + rα)) with each row's own weight taken out of its own class."""
        alpha, rows, target = self._alpha, self._rows, self._target
        ratio = (counts + alpha) / (totals + card * alpha)
        own = self._without_own(counts[target, rows])
        own_total = self._without_own(np.broadcast_to(totals, ratio.shape)[target, rows])
        ratio[target, rows] = (own + alpha) / (own_total + card * alpha)
        return np.log(ratio)

    def _without_own(self, counts: FloatArray) -> FloatArray:
        """Counts of the rows' own cells less the rows themselves, never below zero by rounding."""
        return np.maximum(counts - self._own, 0.0)

    def gain(self, child: int, parent: int) -> FloatArray:
        """What the scores gain when an orphan child is given this parent."""
        return self.log_terms(child, parent) - self.log_terms(child, None)

    def hits(self, scores: FloatArray) -> float:
        """The weight of the rows whose class scores highest, ties to the lowest class."""
        best = scores.max(axis=0)
        predicted = (scores >= best - _TIE).argmax(axis=0)
        assert self._weights is not None
        return float(self._weights[predicted == self._target].sum())

    def exceeds(self, hits: float, other: float) -> bool:
        """Whether one count of hits is above another by more than rounding."""
        return hits > other + 1e-12 * self._sample.total

    def first_best(self, hits: dict[int, float]) -> int:
        """The lowest index whose hits no other exceeds."""
        most = max(hits.values())
        return min(index for index, count in hits.items() if not self.exceeds(most, count))
