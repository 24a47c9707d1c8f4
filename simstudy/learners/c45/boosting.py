"""Boosted C4.5."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.sample import Sample
from simstudy.learners.base import Learner, normalise, require
from simstudy.learners.c45.learner import C45, FittedC45
from simstudy.learners.c45.search import first_best
from simstudy.learners.c45.table import Attributes, Table
from simstudy.learners.c45.tree import SMALL


@dataclass(frozen=True)
class BoostedC45(Learner):
    """Pruned trees that vote, each grown on rows that the ones before it had wrong.

    AdaBoost.M1 (Freund & Schapire 1996) as Weka's AdaBoostM1 over J48: a tree of weighted error
    ε has ln((1−ε)/ε) votes, and the rows it has wrong get (1−ε)/ε times their weight, after which
    all weights are scaled to their old sum. P(c) ∝ exp(votes for c). Boosting ends before a tree
    with ε = 0 or ε ≥ ½, unless it is the first. A tree alone answers with its leaf frequencies.

    Parameters
    ----------
    rounds : int
        How many trees at most.
    confidence, min_leaf
        As for `C45`.

    Notes
    -----
    Answers are Weka's where all attributes are nominal and no value is missing. Elsewhere they may
    differ: Weka asks for a number of rows, whatever they weigh, before it cuts a numeric
    attribute, and lets rounding decide between classes that a row with a missing value has in
    equal parts.

    The boosting of C5.0, which Korb, Hope & Hughes (2001) used, is its kin. It differs as Kuhn &
    Johnson (2013, section 14.6) tell: the rows that a tree has wrong gain weight by the same sum
    each, not by a factor, until half of the way to equal totals of right and wrong is gone; the
    trees vote with the confidence of their leaves and all alike; and it stops early when wrong
    rows weigh less than a tenth.
    """

    rounds: int = 10
    confidence: float = 0.25
    min_leaf: float = 2

    def __post_init__(self) -> None:
        require(self.rounds >= 1, "rounds", self.rounds, "it must be at least 1")
        self._tree()

    def _tree(self) -> C45:
        return C45(self.confidence, self.min_leaf)

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> FittedBoostedC45:
        # Equal rows have equal weights throughout, so that distinct ones do.
        return self.fit_table(Table.of(sample))

    def fit_table(self, table: Table) -> FittedBoostedC45:
        """Learn from a table with numeric attributes, or with missing values."""
        learner, total = self._tree(), table.total
        trees: list[FittedC45] = []
        votes: list[float] = []
        for _ in range(self.rounds):
            tree = learner.fit_table(table)
            wrong = classes(tree, table) != table.target
            error = float(table.weights[wrong].sum()) / total if total else 0.0
            if error < SMALL or error > 0.5 - SMALL:
                break
            trees.append(tree)
            votes.append(math.log((1 - error) / error))
            weights = np.where(wrong, table.weights * ((1 - error) / error), table.weights)
            table = table.with_weights(weights * (total / weights.sum()))
        return FittedBoostedC45(trees or [tree], votes or [1.0])


class FittedBoostedC45:
    """Trees and how many votes each of them has; a tree alone answers with its leaves."""

    def __init__(self, trees: Sequence[FittedC45], votes: Sequence[float]) -> None:
        self.trees, self.votes = list(trees), list(votes)

    def predict_proba(self, codes: IntArray) -> FloatArray:
        """One row of class probabilities for each row of attribute codes."""
        return self.predict_table(self.trees[0].attributes(codes))

    def predict_table(self, attributes: Attributes) -> FloatArray:
        """The same for rows with numeric attributes or missing values."""
        if len(self.trees) == 1:
            return self.trees[0].predict_table(attributes)
        rows = np.arange(len(attributes))
        sums = np.zeros((len(rows), self.trees[0].probabilities.shape[1]))
        for tree, votes in zip(self.trees, self.votes, strict=True):
            sums[rows, classes(tree, attributes)] += votes
        return normalise(sums)


def classes(tree: FittedC45, attributes: Attributes) -> IntArray:
    """The most probable class of each row, the first of equal ones."""
    return first_best(tree.predict_table(attributes).T)
