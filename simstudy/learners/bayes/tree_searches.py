"""Searches for the tree of a tree-augmented Naive Bayes.

Spanning trees by conditional mutual information or by likelihood; `superparent` has the search of
Hope & Korb (2004).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from simstudy.arrays import FloatArray, read_only
from simstudy.data.sample import Sample
from simstudy.data.value_layout import SlotLayout
from simstudy.learners.bayes.incomplete import counts_of_both

Tree: TypeAlias = tuple[int | None, ...]
# Samples of fewer rows use a lookup table of log gamma.
_MAX_TABLE = 2**14


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

    def rows(total: FloatArray) -> FloatArray:
        """Return one column per child attribute, whose totals are on the last axis."""
        keys = [(card, j % total.shape[-1]) for j, card in enumerate(cards)]
        logs = {(r, j): _log_rising(total[..., j], r * alpha, most).sum(axis=0) for r, j in {*keys}}
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
