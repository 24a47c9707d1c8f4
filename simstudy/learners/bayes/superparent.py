"""SuperParent, the search for a tree by leave-one-out accuracy (Keogh & Pazzani 1999)."""

from __future__ import annotations

from collections.abc import Sequence

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
        together = {s: accuracy.hits(scores, accuracy.gains(orphans, s)) for s, orphans in tried}
        parent = accuracy.first_best(together)
        single = {c: accuracy.hits(scores, accuracy.gain(c, parent)) for c in candidates[parent]}
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
        self._alpha, self._total, layout = alpha, sample.total, sample.layout
        # Without weights, duplicate rows are merged.
        rows = sample.distinct if sample.weights is None else sample
        first, columns = self._columns(rows)
        self.codes = rows.codes[first, :-1]
        self._slots = np.where(self.codes == MISSING, layout.size, layout.slots(self.codes.T).T).T
        self._weights = np.zeros((sample.classes, len(first)))
        self._weights[rows.codes[:, -1], columns] = rows.weights
        self._light = np.nonzero((self._weights > 0) & (self._weights < 1))
        self._removed = self._weights[self._light]
        self._lighter_alone: dict[int, FloatArray] = {}  # by child, without a parent
        self._counts, self._totals, self._cards = self._tables(sample)
        counts, totals, cards = self._counts, self._totals, self._cards
        lessened = np.maximum(counts - 1, alpha) / np.maximum(totals - 1, cards * alpha)
        self._logs = np.log(np.stack([counts / totals, lessened]))
        self._logs[..., -1] = 0.0
        self._gains = self._logs - self._logs[:, :, -1:]
        # The denominator is the same for every class and does not affect the maximum.
        counts = sample.class_counts[:, None] + alpha
        self.naive_bayes = np.empty((2, *self._weights.shape))
        self.naive_bayes[0] = np.log(counts)
        self.naive_bayes[1] = np.log(np.maximum(counts - 1, alpha))
        lighter = np.maximum(counts[self._light[0], 0] - self._removed, alpha)
        self.naive_bayes[1][self._light] = np.log(lighter)
        for child in range(len(self._slots)):
            self.naive_bayes += self.log_terms(child, None)
        self._gained = np.empty_like(self.naive_bayes)
        self._compared = np.full_like(self.naive_bayes, -np.inf)
        self._holds_sums = len(self._slots) * self.naive_bayes.nbytes <= _CACHE_BYTES
        self._sums: dict[int, tuple[list[int], FloatArray]] = {}

    def _tables(self, sample: Sample) -> tuple[FloatArray, FloatArray, IntArray]:
        """Return n + α and N + rα of each class, parent value and child value, and all r.

        The values of all attributes are laid end to end. The last parent is none, or a missing
        value, and the last child a missing value.
        """
        size, cards = sample.layout.size, sample.layout.cards
        counts, totals = np.ones((2, sample.classes, size + 1, size + 1))
        counts[:, :size, :size] = sample.pair_counts
        counts[:, size, :size] = sample.slot_counts
        owners = np.flatnonzero(cards)  # the others are never known
        if len(owners):
            sums = np.add.reduceat(counts[:, :, :size], sample.layout.starts[owners], axis=2)
            totals[:, :, :size] = np.repeat(sums, cards[owners], axis=2)
        cards_of_slots = np.append(np.repeat(cards, cards), 1)
        return counts + self._alpha, totals + cards_of_slots * self._alpha, cards_of_slots

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

    def log_terms(self, child: int, parent: int | None) -> FloatArray:
        """Return log P(x_child | class, x_parent), the log of (n + α)/(N + rα)."""
        terms = self._at(self._logs, child, parent)
        if len(self._removed):
            terms[1][self._light] = self._lighter(child, parent)
        return terms

    def gain(self, child: int, parent: int) -> FloatArray:
        """Return the gain of the scores when an orphan gets this parent."""
        gain = self._at(self._gains, child, parent)
        if len(self._removed):
            if child not in self._lighter_alone:
                self._lighter_alone[child] = self._lighter(child, None)
            gain[1][self._light] = self._lighter(child, parent) - self._lighter_alone[child]
        return gain

    def _at(self, table: FloatArray, child: int, parent: int | None) -> FloatArray:
        """Return what a table has for a child and a parent, in each column."""
        size = table.shape[-1]
        above = size - 1 if parent is None else self._slots[parent]
        return table.reshape(*table.shape[:-2], -1).take(above * size + self._slots[child], axis=-1)

    def _lighter(self, child: int, parent: int | None) -> FloatArray:
        """Return the log terms of the rows that weigh less than 1, each for its class."""
        label, column = self._light
        above = -1 if parent is None else self._slots[parent, column]
        cell = label, above, self._slots[child, column]
        ratio = np.maximum(self._counts[cell] - self._removed, self._alpha)
        least = self._cards[cell[-1]] * self._alpha
        logs = np.log(ratio / np.maximum(self._totals[cell] - self._removed, least))
        return np.where(cell[-1] == len(self._cards) - 1, 0.0, logs)

    def gains(self, children: list[int], parent: int) -> FloatArray:
        """Return the gain of the scores when some orphans get this parent."""
        before, total = self._sums.get(parent, ([], np.zeros_like(self.naive_bayes)))
        for child in sorted(set(children) - set(before)):
            total += self.gain(child, parent)
        for child in sorted(set(before) - set(children)):
            total -= self.gain(child, parent)
        if self._holds_sums:
            self._sums[parent] = children, total
        return total

    def hits(self, scores: FloatArray, gain: FloatArray | float = 0.0) -> float:
        """Return the weight of correctly classified rows; ties go to the lowest class."""
        classes, of_row = np.add(scores, gain, out=self._gained)
        before, best = self._compared
        for label in range(1, len(classes)):  # the best of the classes before each
            np.maximum(before[label - 1], classes[label - 1], out=before[label])
        np.maximum(before, of_row, out=best)
        for label in range(len(classes) - 1, 0, -1):  # and of those after it
            np.maximum(best[label - 1], classes[label], out=best[label - 1])
            np.maximum(classes[label - 1], classes[label], out=classes[label - 1])
        best -= _TIE
        right = (of_row >= best) & (before < best)
        return float(np.multiply(self._weights, right, out=best).sum())

    def exceeds(self, hits: float, fewer: float) -> bool:
        """Return whether one count of hits exceeds another by more than rounding."""
        return hits > fewer + 1e-12 * self._total

    def first_best(self, hits: dict[int, float]) -> int:
        """Return the lowest index with the most hits."""
        most = max(hits.values())
        return min(index for index, count in hits.items() if not self.exceeds(most, count))
