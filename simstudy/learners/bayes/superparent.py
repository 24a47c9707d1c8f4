"""SuperParent, the search for a tree by leave-one-out accuracy (Keogh & Pazzani 1999)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.codes import MISSING, distinct_rows
from simstudy.data.sample import Sample

# Log scores within this tolerance are ties up to rounding.
_TIE = 1e-9
_CACHE_BYTES = 2**28


def superparent_tree(sample: Sample, alpha: float) -> tuple[int | None, ...]:
    """Add arcs one at a time while leave-one-out accuracy increases.

    An orphan is an attribute without an attribute parent. Each round makes every attribute in
    turn the parent of all eligible orphans (neither itself nor its ancestors), takes the one with
    the most leave-one-out hits as SuperParent, and adds its best single arc if that increases the
    hits. Ties go to the lowest index.
    """
    accuracy = LeaveOneOutScores(sample, alpha)
    tree: list[int | None] = [None] * (len(sample.cards) - 1)
    scores = accuracy.naive_bayes
    hits = accuracy.hits(scores)
    while candidates := {s: orphans for s in range(len(tree)) if (orphans := _orphans(tree, s))}:
        tried = candidates.items()
        together = {s: accuracy.hits(scores + accuracy.gains(orphans, s)) for s, orphans in tried}
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
    and from N. Missing values are treated as by the fitted TAN. Rows that differ only in the class
    share a column. Scores have the shape (2, classes, columns): first those of each class without
    subtraction, then those of a row of each class for this class.
    """

    def __init__(self, sample: Sample, alpha: float) -> None:
        self._sample, self._alpha = sample, alpha
        # Without weights, duplicate rows are merged.
        rows = sample.distinct if sample.weights is None else sample
        first, columns = self._columns(rows)
        self.codes = rows.codes[first, :-1]
        self._weights = np.zeros((sample.classes, len(first)))
        self._weights[rows.codes[:, -1], columns] = rows.weights
        self._light = np.nonzero((self._weights > 0) & (self._weights < 1))
        self._removed = self._weights[self._light]
        # The denominator is the same for every class and does not affect the maximum.
        counts = sample.class_counts[:, None] + alpha
        self.naive_bayes = np.empty((2, *self._weights.shape))
        self.naive_bayes[0] = np.log(counts)
        self.naive_bayes[1] = np.log(np.maximum(counts - 1, alpha))
        lighter = np.maximum(counts[self._light[0], 0] - self._removed, alpha)
        self.naive_bayes[1][self._light] = np.log(lighter)
        held = _CACHE_BYTES // max(self.naive_bayes.nbytes, 1)
        self.log_terms = lru_cache(maxsize=max(held, 1))(self._log_terms)
        for child in range(len(sample.cards) - 1):
            self.naive_bayes += self.log_terms(child, None)
        self._holds_sums = held > 2 * len(sample.cards)
        self._sums: dict[int, tuple[list[int], FloatArray]] = {}

    @staticmethod
    def _columns(rows: Sample) -> tuple[IntArray, IntArray]:
        """Return a row of each column, and the column of each row."""
        missing = 0 if rows.plain else 1  # a missing value is one more
        cards = [card + missing for card in rows.cards]
        first, columns = distinct_rows(rows.codes[:, :-1] + missing, cards[:-1])
        cells = columns * cards[-1] + rows.codes[:, -1]
        if len(cells) and np.bincount(cells).max() > 1:
            first = columns = np.arange(len(rows))  # equal rows that are removed one at a time
        return first, columns

    def _log_terms(self, child: int, parent: int | None) -> FloatArray:
        """Return log P(x_child | class, x_parent), the log of (n + α)/(N + rα)."""
        sample, alpha, card = self._sample, self._alpha, self._sample.cards[child]
        if not card:  # never known
            return np.zeros_like(self.naive_bayes)
        spans, cells = sample.layout.spans, self.codes[:, child]
        table = sample.slot_counts[:, None, spans[child]]
        if parent is not None:
            pairs = sample.pair_counts[:, spans[parent], spans[child]]
            table = pairs if sample.plain else np.concatenate([pairs, table], axis=1)
            # Without the parent's value, the last row of the table.
            cells = cells + card * (self.codes[:, parent] % table.shape[1])
        totals = np.repeat(table.sum(axis=2) + card * alpha, card, axis=1)
        counts = table.reshape(sample.classes, -1) + alpha
        lessened = np.maximum(counts - 1, alpha) / np.maximum(totals - 1, card * alpha)
        terms = np.log(np.stack([counts / totals, lessened])).take(cells, axis=2)
        if len(self._removed):
            light = self._light[0], cells[self._light[1]]
            ratio = np.maximum(counts[light] - self._removed, alpha)
            ratio /= np.maximum(totals[light] - self._removed, card * alpha)
            terms[1][self._light] = np.log(ratio)
        if not sample.plain:
            terms[:, :, self.codes[:, child] == MISSING] = 0.0
        return terms

    def gain(self, child: int, parent: int) -> FloatArray:
        """Return the gain of the scores when an orphan gets this parent."""
        return self.log_terms(child, parent) - self.log_terms(child, None)

    def gains(self, children: list[int], parent: int) -> FloatArray:
        """Return the gain of the scores when some orphans get this parent."""
        before, total = self._sums.get(parent, ([], np.zeros_like(self.naive_bayes)))
        for child in sorted(set(children) - set(before)):
            total = total + self.gain(child, parent)
        for child in sorted(set(before) - set(children)):
            total = total - self.gain(child, parent)
        if self._holds_sums:
            self._sums[parent] = children, total
        return total

    def hits(self, scores: FloatArray) -> float:
        """Return the weight of correctly classified rows; ties go to the lowest class."""
        classes, of_row = scores
        before = np.full_like(classes, -np.inf)  # the best of the classes before each
        for label in range(1, len(classes)):
            np.maximum(before[label - 1], classes[label - 1], out=before[label])
        best = np.maximum(before, of_row)
        after = classes[-1]
        for label in range(len(classes) - 2, -1, -1):
            np.maximum(best[label], after, out=best[label])
            after = np.maximum(after, classes[label])
        best -= _TIE
        return float(self._weights[(of_row >= best) & (before < best)].sum())

    def exceeds(self, hits: float, fewer: float) -> bool:
        """Return whether one count of hits exceeds another by more than rounding."""
        return hits > fewer + 1e-12 * self._sample.total

    def first_best(self, hits: dict[int, float]) -> int:
        """Return the lowest index with the most hits."""
        most = max(hits.values())
        return min(index for index, count in hits.items() if not self.exceeds(most, count))
