"""Searches for the tree of a tree-augmented Naive Bayes.

Spanning trees by conditional mutual information or by likelihood, and SuperParent (Keogh & Pazzani
1999), the TAN of Hope & Korb (2004).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from simstudy.arrays import FloatArray, IntArray, read_only
from simstudy.data.codes import MISSING
from simstudy.data.sample import Sample
from simstudy.data.value_layout import SlotLayout
from simstudy.learners.bayes.incomplete import counts_of_both

Tree: TypeAlias = tuple[int | None, ...]
# Samples of fewer rows use a lookup table of log gamma.
_MAX_TABLE = 2**14
# Log scores within this tolerance are ties up to rounding.
_TIE = 1e-9
_CACHE_BYTES = 2**28


def cmi_tree(sample: Sample, alpha: float) -> Tree:
    """Return the tree of maximum conditional mutual information, I(X_i; X_j | C).

    Friedman & Goldszmidt (1996). The root, arbitrary in the paper, is the attribute of maximum
    I(X_i; C), so that the order of the attributes does not matter. Frequencies are not smoothed;
    ``alpha`` has no effect.
    """
    weights = conditional_mutual_information(sample)
    return spanning_tree(weights, root=int(np.argmax(class_information(sample))))


def likelihood_tree(sample: Sample, alpha: float) -> Tree:
    """Return the tree of maximum Dirichlet marginal likelihood, α in every cell (as Weka's TAN).

    The weight of an undirected edge is the larger of its two directed gains; the root is the
    attribute with the greatest sum of directed gains.
    """
    gains = likelihood_gains(sample, alpha)
    weights, worth = np.maximum(gains, gains.T), gains.tolist()
    trees = [spanning_tree(weights, root) for root in range(len(weights))]
    return max(trees, key=lambda t: sum(worth[p][i] for i, p in enumerate(t) if p is not None))


def conditional_mutual_information(sample: Sample) -> FloatArray:
    """Return I(X_i; X_j | C) in nats for every pair of attributes, from training frequencies.

    Σ n log(n n_c / (n_ci n_cj)) over N, written as sums of n log n. All counts of a pair are from
    the rows that have both attributes; N is all rows, so that information is worth less where
    values are missing.
    """
    pairs = _block_sums(xlogx(sample.pair_counts).sum(axis=0), sample.layout)
    within, both = counts_of_both(sample)
    single = np.add.reduceat(xlogx(within).sum(axis=0), sample.layout.starts, axis=0)
    information: FloatArray = pairs + xlogx(both).sum(axis=0) - single - single.T
    return information / (sample.total or 1.0)


def class_information(sample: Sample) -> FloatArray:
    """Return I(X_i; C) in nats for every attribute, up to a common constant.

    From the rows that have the attribute, over the number of all rows.
    """
    by_class = np.add.reduceat(xlogx(sample.slot_counts).sum(axis=0), sample.layout.starts)
    alone = np.add.reduceat(xlogx(sample.slot_counts.sum(axis=0)), sample.layout.starts)
    difference: FloatArray = by_class - alone
    if not sample.plain:  # the rows that have the attribute are no longer common to all
        present = np.add.reduceat(sample.slot_counts, sample.layout.starts, axis=1)
        difference += xlogx(present.sum(axis=0)) - xlogx(present).sum(axis=0)
    return difference / (sample.total or 1.0)


def likelihood_gains(sample: Sample, alpha: float) -> FloatArray:
    """Return ``gains[i, j]``, the gain in log marginal likelihood of adding i as parent of j.

    It is that of the rows that have both.
    """
    cards, starts = sample.layout.cards.tolist(), sample.layout.starts
    most = sample.total if sample.weights is None else math.inf

    def cells(counts: FloatArray) -> FloatArray:
        return _log_rising(counts, alpha, most).sum(axis=0)

    def rows(totals: FloatArray) -> FloatArray:
        """Return one column per child attribute, whose totals are on the last axis."""
        keys = [(card, j % totals.shape[-1]) for j, card in enumerate(cards)]
        logs = {
            (r, j): _log_rising(totals[..., j], r * alpha, most).sum(axis=0) for r, j in {*keys}
        }
        return np.stack([logs[key] for key in keys], axis=-1)

    of_cells = _block_sums(cells(sample.pair_counts), sample.layout)
    within, both = counts_of_both(sample)
    without = np.add.reduceat(cells(within), starts, axis=0).T - rows(both)
    gains: FloatArray = of_cells - np.add.reduceat(rows(within), starts, axis=0) - without
    return gains


def spanning_tree(weights: FloatArray, root: int) -> Tree:
    """Return the maximum spanning tree rooted at ``root`` (Prim 1957); ties to low indices."""
    table = weights.tolist()  # for few numbers, lists are faster
    parents: list[int | None] = [None] * len(table)
    nearest = dict.fromkeys(range(len(table)), root)
    del nearest[root]
    best = table[root][:]
    while nearest:
        node = max(nearest, key=best.__getitem__)
        parents[node] = nearest.pop(node)
        for outside in nearest:
            if table[node][outside] > best[outside]:
                best[outside] = table[node][outside]
                nearest[outside] = node
    return tuple(parents)


def _block_sums(table: FloatArray, layout: SlotLayout) -> FloatArray:
    """Return the sums of the (attribute, attribute) blocks of a (slots, slots) table."""
    by_row = np.add.reduceat(table, layout.starts, axis=0)
    return np.add.reduceat(by_row, layout.starts, axis=1)


def xlogx(counts: FloatArray) -> FloatArray:
    """Return n log n, 0 for 0."""
    return counts * np.log(counts + (counts == 0))


def _log_rising(counts: FloatArray, start: float, most: float) -> FloatArray:
    """Return ln Γ(start + n) − ln Γ(start); counts n are integers if ``most`` is finite."""
    if most < _MAX_TABLE:
        # Few distinct table lengths, so that samples of similar size share tables.
        table = _rising_table(start, 2 ** int(most).bit_length())
        return table.take(counts.astype(np.intp))
    from scipy.special import gammaln  # slow to import

    logs: FloatArray = gammaln(counts + start) - math.lgamma(start)
    return logs


@lru_cache(maxsize=64)
def _rising_table(start: float, length: int) -> FloatArray:
    logs = np.fromiter((math.lgamma(start + n) for n in range(length)), np.float64, length)
    return read_only(logs - math.lgamma(start))


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
        self._codes = rows.codes
        self._weights = np.ones(len(rows)) if rows.weights is None else rows.weights
        self._removed = np.minimum(self._weights, 1.0)
        self._target = self._codes[:, -1]
        self._rows = np.arange(len(self._codes))
        # The denominator is the same for every class and does not affect the maximum.
        prior = np.tile(sample.class_counts[:, None], len(self._codes))
        cells = (self._target, self._rows)
        prior[cells] = self._without_row(prior[cells])
        self.log_prior: FloatArray = np.log(prior + alpha)
        bytes_each = 8 * max(len(self._codes), 1) * sample.classes
        self.log_terms = lru_cache(maxsize=max(_CACHE_BYTES // bytes_each, 1))(self._log_terms)

    def _log_terms(self, child: int, parent: int | None) -> FloatArray:
        """Return log P(x_child | class, x_parent) without the row itself, shape (classes, rows)."""
        sample, spans, values = self._sample, self._sample.layout.spans, self._codes[:, child]
        if not sample.cards[child]:  # never known
            return np.zeros((sample.classes, len(values)))
        table = sample.slot_counts[:, None, spans[child]]
        totals = sample.class_counts[:, None] if sample.plain else table.sum(axis=2)
        condition: IntArray | int = MISSING  # in the last place, where a missing parent is
        if parent is not None:
            condition = self._codes[:, parent]
            pairs = sample.pair_counts[:, spans[parent], spans[child]]
            table = pairs if sample.plain else np.concatenate([pairs, table], axis=1)
            totals = sample.slot_counts[:, spans[parent]] if sample.plain else table.sum(axis=2)
        counts, totals = table[:, condition, values], totals[:, condition]
        terms = self._log_ratio(counts, totals.reshape(sample.classes, -1), sample.cards[child])
        return terms if sample.plain else np.where(values == MISSING, 0.0, terms)

    def _log_ratio(self, counts: FloatArray, totals: FloatArray, card: int) -> FloatArray:
        """Return log((n + α)/(N + rα)) with each row's weight removed from its own class."""
        alpha, rows, target = self._alpha, self._rows, self._target
        ratio = (counts + alpha) / (totals + card * alpha)
        count = self._without_row(counts[target, rows])
        total = self._without_row(np.broadcast_to(totals, ratio.shape)[target, rows])
        ratio[target, rows] = (count + alpha) / (total + card * alpha)
        return np.log(ratio)

    def _without_row(self, counts: FloatArray) -> FloatArray:
        """Return the counts of the rows' cells without the rows themselves, at least 0."""
        return np.maximum(counts - self._removed, 0.0)

    def gain(self, child: int, parent: int) -> FloatArray:
        """Return the gain of the scores when an orphan gets this parent."""
        return self.log_terms(child, parent) - self.log_terms(child, None)

    def hits(self, scores: FloatArray) -> float:
        """Return the weight of correctly classified rows; ties go to the lowest class."""
        best = scores.max(axis=0)
        predicted = (scores >= best - _TIE).argmax(axis=0)
        return float(self._weights[predicted == self._target].sum())

    def exceeds(self, hits: float, fewer: float) -> bool:
        """Return whether one count of hits exceeds another by more than rounding."""
        return hits > fewer + 1e-12 * self._sample.total

    def first_best(self, hits: dict[int, float]) -> int:
        """Return the lowest index with the most hits."""
        most = max(hits.values())
        return min(index for index, count in hits.items() if not self.exceeds(most, count))
