"""SuperParent search for a tree-augmented Naive Bayes.

Keogh & Pazzani (1999), the TAN of Hope & Korb (2004).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.codes import MISSING
from simstudy.data.sample import Sample
from simstudy.learners.trees import Tree

# Log scores within this tolerance are ties up to rounding.
_TIE = 1e-9
_CACHE_BYTES = 2**28


def superparent_tree(sample: Sample, alpha: float) -> Tree:
    """Add arcs one at a time while leave-one-out accuracy increases.

    An orphan is an attribute without an attribute parent. Each round makes every attribute in
    turn the parent of all eligible orphans (neither itself nor its ancestors), takes the one with
    the most leave-one-out hits as SuperParent, and adds its best single arc if that increases the
    hits. Ties go to the lowest index.
    """
    accuracy = LeaveOneOutScores(sample, alpha)
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
    """Return the orphans that ``parent`` may have as children without creating a cycle."""
    ancestors = {parent}
    node = tree[parent]
    while node is not None:
        ancestors.add(node)
        node = tree[node]
    return [i for i, p in enumerate(tree) if p is None and i not in ancestors]


class LeaveOneOutScores:
    """Leave-one-out class scores of every training row, computed from counts.

    When a row of weight w is classified, min(w, 1) is subtracted from the tables of its own class
    and from N. Missing values are treated as by the fitted TAN.
    """

    def __init__(self, sample: Sample, alpha: float) -> None:
        self._sample, self._alpha = sample, alpha
        # Without weights, duplicate rows are merged.
        rows = sample.distinct if sample.weights is None else sample
        self._codes, self._weights = rows.codes, rows.weights
        assert self._weights is not None
        self._own = np.minimum(self._weights, 1.0)
        self._target = self._codes[:, -1]
        self._rows = np.arange(len(self._codes))
        # The denominator is the same for every class and does not affect the maximum.
        prior = np.tile(sample.class_counts[:, None], len(self._codes))
        own = (self._target, self._rows)
        prior[own] = self._without_own(prior[own])
        self.log_prior: FloatArray = np.log(prior + alpha)
        bytes_each = 8 * max(len(self._codes), 1) * sample.classes
        self.log_terms = lru_cache(maxsize=max(_CACHE_BYTES // bytes_each, 1))(self._log_terms)

    def _log_terms(self, child: int, parent: int | None) -> FloatArray:
        """Return log P(x_child | class, x_parent) without the row itself, shape (classes, rows)."""
        sample, spans = self._sample, self._sample.layout.spans
        if not sample.plain:
            return self._log_terms_of_known(child, parent)
        values = self._codes[:, child]
        if parent is None:
            counts = sample.slot_counts[:, spans[child]][:, values]
            totals = sample.class_counts[:, None]
        else:
            given = self._codes[:, parent]
            counts = sample.pair_counts[:, spans[parent], spans[child]][:, given, values]
            totals = sample.slot_counts[:, spans[parent]][:, given]
        return self._log_ratio(counts, totals, sample.cards[child])

    def _log_terms_of_known(self, child: int, parent: int | None) -> FloatArray:
        """Return the terms where values may be missing."""
        sample, spans = self._sample, self._sample.layout.spans
        values = self._codes[:, child]
        if not sample.cards[child]:  # never known
            return np.zeros((sample.classes, len(values)))
        table = sample.slot_counts[:, None, spans[child]]
        given: IntArray | int = MISSING  # in the last place, where a missing parent is
        if parent is not None:
            given = self._codes[:, parent]
            pairs = sample.pair_counts[:, spans[parent], spans[child]]
            table = np.concatenate([pairs, table], axis=1)
        totals = table.sum(axis=2)[:, given].reshape(sample.classes, -1)
        terms = self._log_ratio(table[:, given, values], totals, sample.cards[child])
        return np.where(values == MISSING, 0.0, terms)

    def _log_ratio(self, counts: FloatArray, totals: FloatArray, card: int) -> FloatArray:
        """Return log((n + α)/(N + rα)) with each row's weight removed from its own class."""
        alpha, rows, target = self._alpha, self._rows, self._target
        ratio = (counts + alpha) / (totals + card * alpha)
        own = self._without_own(counts[target, rows])
        own_total = self._without_own(np.broadcast_to(totals, ratio.shape)[target, rows])
        ratio[target, rows] = (own + alpha) / (own_total + card * alpha)
        return np.log(ratio)

    def _without_own(self, counts: FloatArray) -> FloatArray:
        """Return the counts of the rows' cells without the rows themselves, at least 0."""
        return np.maximum(counts - self._own, 0.0)

    def gain(self, child: int, parent: int) -> FloatArray:
        """Return the gain of the scores when an orphan gets this parent."""
        return self.log_terms(child, parent) - self.log_terms(child, None)

    def hits(self, scores: FloatArray) -> float:
        """Return the weight of correctly classified rows; ties go to the lowest class."""
        best = scores.max(axis=0)
        predicted = (scores >= best - _TIE).argmax(axis=0)
        assert self._weights is not None
        return float(self._weights[predicted == self._target].sum())

    def exceeds(self, hits: float, other: float) -> bool:
        """Return whether one count of hits exceeds another by more than rounding."""
        return hits > other + 1e-12 * self._sample.total

    def first_best(self, hits: dict[int, float]) -> int:
        """Return the lowest index with the most hits."""
        most = max(hits.values())
        return min(index for index, count in hits.items() if not self.exceeds(most, count))
