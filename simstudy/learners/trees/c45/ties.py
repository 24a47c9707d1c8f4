"""Ties between classes, decided by the last bit of sums in Weka's order.

A sum of floating-point weights depends on their order. Where two classes are equally probable,
the order decides which of them a tree predicts. `numpy.bincount` and `numpy.cumsum` add in the
order of their arguments.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simstudy.arrays import BoolArray, FloatArray, IntArray, weights_in
from simstudy.data.sample import Sample
from simstudy.learners.trees.c45.grow import first_best
from simstudy.learners.trees.c45.learner import FittedC45
from simstudy.learners.trees.c45.table import Attributes, Entries, TrainingRows, together
from simstudy.learners.trees.c45.tree import LEAF, SMALL, Tree
from simstudy.learners.weka_order import MAX_SORTED, quicksort

# Probabilities that differ by less than this are equal but for rounding.
_EQUAL = 1e-9


class TieBreaker:
    """The classes that boosted trees predict for training rows when their errors are counted.

    Classes are compared exactly. Where they tie, the weights of the training rows are recomputed
    from the first tree on, one row at a time and in order.
    """

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        self._table: TrainingRows | None = None
        self._done = 0

    def predicted(
        self, trees: Sequence[FittedC45], tree: FittedC45, queries: Attributes, proba: FloatArray
    ) -> IntArray:
        """Return the classes by a tree, given the trees before it and its probabilities."""
        classes = proba.argmax(axis=1)
        if len(rows := _tied(proba)):
            sums = OrderedSums(tree.tree, self._reweighted(trees), queries)
            classes[rows] = sums.probabilities(rows).argmax(axis=1)
        return classes

    def _reweighted(self, trees: Sequence[FittedC45]) -> TrainingRows:
        """Return the training rows with their weights after some trees."""
        table = self._table
        if table is None:
            table = TrainingRows(self._sample, distinct=self._sample.weights is not None)
        for place in range(self._done, len(trees)):
            # The tree's own ties, if any, are decided by the weights before it.
            self._table, self._done = table, place
            probabilities = trees[place].predict_table(table)
            wrong = first_best(probabilities.T) != table.target
            counted = self.predicted(trees[:place], trees[place], table, probabilities)
            whole = total(table.weights)
            error = total(table.weights[counted != table.target]) / whole
            weights = np.where(wrong, table.weights * ((1 - error) / error), table.weights)
            table = table.with_weights(weights * whole / total(weights))
        self._table, self._done = table, len(trees)
        return table


def _tied(probabilities: FloatArray) -> IntArray:
    """Return the rows whose two largest probabilities are equal but for rounding."""
    if probabilities.shape[1] < 2:
        return np.zeros(0, dtype=np.intp)
    ordered = np.partition(probabilities, -2, axis=1)
    return np.flatnonzero(ordered[:, -1] - ordered[:, -2] < _EQUAL)


def total(weights: FloatArray) -> float:
    """Return the sum of the weights, added in their order."""
    return float(weights.cumsum()[-1]) if len(weights) else 0.0


class OrderedSums:
    """Class probabilities by a tree, with all sums in Weka's order of its training rows.

    This is their original order, but the search for the best split of a node sorts its rows by
    each numeric attribute in turn, and rows whose tested value is missing come last.

    Parameters
    ----------
    tree : Tree
        The fitted tree.
    table : TrainingRows
        The training rows in their original order, with the weights to which the tree was fitted.
    queries : Attributes
        The rows to be predicted.
    """

    def __init__(self, tree: Tree, table: TrainingRows, queries: Attributes) -> None:
        self._tree, self._table, self._queries = tree, table, queries

    def probabilities(self, rows: IntArray) -> FloatArray:
        """Return the class probabilities of some of the queries."""
        asked = Entries(rows, np.zeros_like(rows), np.ones(len(rows)))
        sort = self._table.any_numeric and len(self._table) <= MAX_SORTED
        return self._answers(0, self._table.all_entries(), asked, sort)

    def _answers(self, node: int, entries: Entries, asked: Entries, sort: bool) -> FloatArray:
        """Return the weighted probabilities of queries at a node, given its training rows."""
        tree = self._tree
        tested = int(tree.attribute[node] if tree.branches[node] else tree.before[node])
        present, absent, entries = self._ordered(entries, tested, sort, bool(tree.raised[node]))
        frequencies = self._frequencies(together(present, absent))
        if not tree.branches[node]:
            return asked.weights[:, None] * frequencies
        sort &= not tree.raised[node]
        shares = self._shares(node, present, absent)
        branch = self._branches(self._table, entries, node)
        taken = self._branches(self._queries, asked, node)
        result = np.zeros((len(taken), self._table.classes))
        for place, share in enumerate(shares.tolist()):
            asking, here = _in_branch(asked, taken, place, share)
            if not len(asking):
                continue
            _, below = _in_branch(entries, branch, place, share)
            if total(below.weights) > SMALL:
                child = int(tree.first[node]) + place
                result[asking] += self._answers(child, below, here, sort)
            else:
                result[asking] += here.weights[:, None] * frequencies
        return result

    def _ordered(
        self, entries: Entries, tested: int, sort: bool, raised: bool
    ) -> tuple[Entries, Entries, Entries]:
        """Return the entries with and without a value of the tested attribute, and all of them.

        A raised subtree is counted after the search, in its last order.
        """
        counted = entries
        if sort and (tested != LEAF or raised):
            for column in np.flatnonzero(self._table.numeric):
                entries = entries.take(quicksort(self._table.values[entries.rows, column]))
                if column <= tested or raised:
                    counted = entries
        if tested == LEAF:
            return counted, counted.take(np.zeros(0, dtype=np.intp)), entries
        present = counted.where(~self._missing(counted, tested))
        return present, entries.where(self._missing(entries, tested)), entries

    def _missing(self, entries: Entries, column: int) -> BoolArray:
        """Return whether each entry lacks a value of an attribute."""
        return np.isnan(self._table.values[entries.rows, column])

    def _branches(self, attributes: Attributes, entries: Entries, node: int) -> IntArray:
        """Return the branch of each entry at a node; −1 where the tested value is missing."""
        column = int(self._tree.attribute[node])
        values = attributes.values[entries.rows, column]
        missing = np.isnan(values)
        if not attributes.cards[column]:
            with np.errstate(over="ignore"):  # of the largest numbers
                values = values - self._tree.threshold[node] >= SMALL
        return np.where(missing, -1, values).astype(np.intp)

    def _frequencies(self, entries: Entries) -> FloatArray:
        """Return the class frequencies of entries."""
        counts = weights_in(self._table.target[entries.rows], entries.weights, self._table.classes)
        return counts / total(entries.weights)

    def _shares(self, node: int, present: Entries, absent: Entries) -> FloatArray:
        """Return the shares of the branches of a node in the weight of its training rows."""
        branches = int(self._tree.branches[node])
        branch = self._branches(self._table, present, node)
        sizes, whole = weights_in(branch, present.weights, branches), total(present.weights)
        if not self._table.cards[self._tree.attribute[node]] and not self._tree.raised[node]:
            whole = float(sizes[0] + sizes[1])  # the sides of a numeric split are added up first
        parts = sizes / whole if whole > SMALL else np.full(branches, 1 / branches)
        # The rows with a missing value follow, divided among all branches.
        places = np.concatenate([branch, np.tile(np.arange(branches), len(absent.rows))])
        divided = np.outer(absent.weights, parts).ravel()
        sizes = weights_in(places, np.concatenate([present.weights, divided]), branches)
        return sizes / total(np.concatenate([[whole], absent.weights]))


def _in_branch(
    entries: Entries, branch: IntArray, place: int, share: float
) -> tuple[IntArray, Entries]:
    """Return the indices of the entries that go down a branch, and these entries."""
    missing = branch < 0
    chosen: BoolArray = (branch == place) | (missing & (share > SMALL))
    places = np.flatnonzero(chosen)
    here = entries.take(places)
    weights = np.where(missing[places], share * here.weights, here.weights)
    return places, here._replace(weights=weights)
