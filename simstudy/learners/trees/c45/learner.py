"""The C4.5 learner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import ClassVar

import numpy as np

from simstudy.arrays import ArrayLike, FloatArray, IntArray
from simstudy.data.attribute_arrays import attribute_values
from simstudy.data.sample import Sample
from simstudy.learners.base import Described, Fitted, Learner, require, require_positive, shape_text
from simstudy.learners.trees.c45.grow import Search, counting, grow
from simstudy.learners.trees.c45.prune import Pruner, collapse
from simstudy.learners.trees.c45.table import Attributes, Entries, TrainingRows
from simstudy.learners.trees.c45.tree import SMALL, Tree
from simstudy.texts import counted

# With fewer rows, finding duplicates costs more than it saves.
_FEW_ROWS = 2000
# The rows of trees that are grown at once.
_MAX_ROWS = 2**14


@dataclass(frozen=True)
class C45(Learner):
    """C4.5 release 8 decision trees, equal to Weka's J48 (Quinlan 1993, 1996).

    Each node tests the attribute of maximum gain ratio among those of at least average gain.

    Parameters
    ----------
    confidence : float > 0, <= 0.5
        Confidence level of the error limits for pruning, up to 0.5; smaller values prune more.
    min_leaf : float > 0
        Minimum number of rows in at least two branches of a test.
    prune : bool
        Whether to prune. Subtrees that are no better than a leaf on the training rows are
        always collapsed.
    laplace : bool
        Whether leaves predict (n_c + 1)/(n + k) instead of n_c/n.
    subtree_raising : bool
        Whether pruning may replace a node by its largest branch.

    Notes
    -----
    A leaf without training rows predicts as its parent. Row weights count as repetitions. A
    numeric attribute is split in two, at a value of the training rows; as in Weka, values closer
    than 1e-5 are not split. A row whose value of the tested attribute is missing goes down all
    branches, weighted by the shares of the rows with known values.

    References
    ----------
    J. R. Quinlan (1993). C4.5: Programs for Machine Learning. Morgan Kaufmann.

    J. R. Quinlan (1996). Improved use of continuous attributes in C4.5. Journal of Artificial
    Intelligence Research 4.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"numeric", "missing"})

    confidence: float = 0.25
    min_leaf: float = 2
    prune: bool = True
    laplace: bool = False
    subtree_raising: bool = True

    def __post_init__(self) -> None:
        allowed = 0 < self.confidence <= 0.5
        require(allowed, "confidence", self.confidence, "it must lie above 0, up to 0.5")
        require_positive(self, "min_leaf")

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> FittedC45:
        distinct = sample.weights is not None or len(sample) > _FEW_ROWS
        return self.fit_table(TrainingRows(sample, distinct=distinct))

    def fit_parts(
        self, sample: Sample, parts: Iterable[tuple[IntArray, np.random.Generator]]
    ) -> Iterator[Fitted]:
        """Fit to parts of a sample; the trees of many parts are grown at once."""
        if type(self) is not C45 or not sample.plain or sample.weights is not None:
            yield from (self.fit(sample.take(rows), rng) for rows, rng in parts)
            return
        table, many = TrainingRows(sample, distinct=False), max(_MAX_ROWS // (len(sample) + 1), 1)
        alike = groupby((rows for rows, _ in parts), lambda rows: counting(table.cards, len(rows)))
        for counted_in_mean, group in alike:
            while batch := [*islice(group, many)]:
                for tree in self._trees(table, table.entries(batch), counted_in_mean, len(batch)):
                    tree.training_schema = sample.declared
                    yield tree

    def fit_table(self, table: TrainingRows) -> FittedC45:
        """Fit to the rows of a table."""
        counted_in_mean = counting(table.cards, table.total)
        return self._trees(table, table.all_entries(), counted_in_mean, 1)[0]

    def _trees(
        self, table: TrainingRows, entries: Entries, counted: Sequence[bool], trees: int
    ) -> list[FittedC45]:
        """Fit trees to the rows at their roots."""
        tree, rows = grow(Search(table, self.min_leaf, counted), entries, trees)
        collapse(tree)
        if self.prune:
            pruner = Pruner(tree, table, self.confidence, self.subtree_raising)
            pruner.prune(np.arange(trees), rows)
        return [FittedC45(tree.compact(root), table.cards, self.laplace) for root in range(trees)]


class FittedC45(Described):
    """A fitted C4.5 tree with class probabilities in its leaves.

    Attributes
    ----------
    tree : Tree
        The nodes.
    probabilities : array of shape (nodes, classes)
        Class probabilities of each node.
    """

    def __init__(self, tree: Tree, cards: tuple[int, ...], laplace: bool) -> None:
        self.tree, self._cards = tree, cards
        counts = tree.counts.T.copy()
        totals = counts.sum(axis=1)
        if len(empty := (totals[1:] < SMALL).nonzero()[0]):
            # Nodes without training rows predict as their parents. All but the root are children.
            parents = np.repeat(np.arange(len(tree)), tree.branches)
            counts[empty + 1] = counts.take(parents[empty], axis=0)
        if laplace or totals[0] < SMALL:
            counts += 1
        self.probabilities: FloatArray = counts / counts.sum(axis=1, keepdims=True)

    def _facts(self) -> list[str]:
        shape = shape_text(len(self._cards), self.probabilities.shape[1])
        leaves = counted(int((self.tree.branches == 0).sum()), "leaf", "leaves")
        return [shape, f"{leaves}, {counted(len(self.tree), 'node')}"]

    def predict_proba(self, rows: Sample | ArrayLike) -> FloatArray:
        """Return class probabilities, one row for each row of a sample or of attribute values."""
        return self.predict_table(self.attributes(rows))

    def attributes(self, rows: Sample | ArrayLike) -> Attributes:
        """Return the attributes of a sample, or attribute values, as `Attributes`."""
        return Attributes(attribute_values(rows, self._cards), self._cards)

    def predict_table(self, attributes: Attributes) -> FloatArray:
        """Return one row of class probabilities per row of attributes."""
        if attributes.plain:
            return self.probabilities.take(self.tree.plain_leaves(attributes), axis=0)
        rows = np.arange(len(attributes))
        ends = self.tree.leaves(attributes, Entries(rows, np.zeros_like(rows), np.ones(len(rows))))
        if attributes.complete:
            return self.probabilities.take(ends.nodes, axis=0)
        answers = self.probabilities.take(ends.nodes, axis=0) * ends.weights[:, None]
        result = np.zeros((len(rows), answers.shape[1]))
        np.add.at(result, ends.rows, answers)
        return result
