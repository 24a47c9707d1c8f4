"""Boosted C4.5."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from simstudy.arrays import ArrayLike, FloatArray
from simstudy.data.sample import Sample
from simstudy.learners.base import Described, Learner, normalise, require
from simstudy.learners.trees.c45.grow import first_best
from simstudy.learners.trees.c45.learner import C45, FittedC45
from simstudy.learners.trees.c45.table import TrainingRows
from simstudy.learners.trees.c45.ties import TieBreaker
from simstudy.learners.trees.c45.tree import SMALL
from simstudy.texts import counted


@dataclass(frozen=True)
class BoostedC45(Learner):
    """Boosted C4.5: AdaBoost.M1 over pruned trees (Freund & Schapire 1996).

    As Weka's AdaBoostM1 over J48: a tree of weighted error ε has ln((1−ε)/ε) votes, and the
    weights of the rows it misclassifies are multiplied by (1−ε)/ε, after which all weights are
    rescaled to their previous sum. P(c) ∝ exp(votes for c). Boosting stops before a tree with
    ε = 0 or ε ≥ ½, unless it is the first. A single tree predicts its leaf frequencies.

    Parameters
    ----------
    rounds : int >= 1
        Maximum number of trees.
    confidence : float > 0, <= 0.5
        Confidence level of the error limits for pruning; smaller values prune more.
    min_leaf : float > 0
        Minimum weight of the rows in at least two branches of a test.

    Notes
    -----
    As in Weka, a split of a numeric attribute needs 2·min_leaf rows, however large their weights.

    Predictions equal Weka's. Where two classes of a training row are equally probable, the row
    belongs to the first class when rows are reweighted. If some values are missing, ε is counted
    after exact comparison, as in Weka, where the last bit of sums in the order of the rows decides;
    such ties are common after a tree of a single leaf, whose errors then have half of the weight.
    Two departures are left: without missing values, the first class is taken for ε too; and in
    more than 5000 rows with numeric attributes, sums are in the original order, not in that of
    Weka's sorting.

    C5.0's boosting, used by Hope & Korb (2002), is similar. According to Kuhn & Johnson
    (2013, section 14.6), it adds the same weight to each misclassified row instead of multiplying,
    moving half of the way to equal totals of correct and misclassified rows; trees have equal
    votes, weighted by the confidence of their leaves; and it stops early when misclassified rows
    weigh less than a tenth.

    References
    ----------
    Y. Freund & R. E. Schapire (1996). Experiments with a new boosting algorithm. ICML-96.

    M. Kuhn & K. Johnson (2013). Applied Predictive Modeling. Springer.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"numeric", "missing"})

    rounds: int = 10
    confidence: float = 0.25
    min_leaf: float = 2

    def __post_init__(self) -> None:
        require(self.rounds >= 1, "rounds", self.rounds, "it must be at least 1")
        self._tree()

    def _tree(self) -> C45:
        return C45(self.confidence, self.min_leaf)

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> FittedBoostedC45:
        # Duplicate rows keep equal weights, so distinct rows suffice.
        table = TrainingRows(sample)
        learner, total = self._tree(), table.total
        trees: list[FittedC45] = []
        votes: list[float] = []
        ties = TieBreaker(sample)
        for _ in range(self.rounds):
            tree = learner.fit_table(table)
            probabilities = tree.predict_table(table)
            predicted = counted = first_best(probabilities.T)
            if not table.complete:
                counted = ties.predicted(trees, tree, table, probabilities)
            error = float(table.weights[counted != table.target].sum()) / total if total else 0.0
            if error < SMALL or error > 0.5 - SMALL:
                break
            trees.append(tree)
            votes.append(math.log((1 - error) / error))
            wrong = predicted != table.target
            weights = np.where(wrong, table.weights * ((1 - error) / error), table.weights)
            table = table.with_weights(weights * (total / weights.sum()))
        return FittedBoostedC45(trees or [tree], votes or [1.0])


class FittedBoostedC45(Described):
    """A fitted boosted C4.5: trees and their votes."""

    def __init__(self, trees: Sequence[FittedC45], votes: Sequence[float]) -> None:
        self.trees, self.votes = list(trees), list(votes)

    def _facts(self) -> list[str]:
        nodes = sum(len(fitted.tree) for fitted in self.trees)
        shape = self.trees[0]._facts()[0]
        return [shape, f"{counted(len(self.trees), 'tree')}, {counted(nodes, 'node')}"]

    def predict_proba(self, rows: Sample | ArrayLike) -> FloatArray:
        """Return class probabilities, one row for each row of a sample or of attribute values."""
        attributes = self.trees[0].attributes(rows)
        if len(self.trees) == 1:
            return self.trees[0].predict_table(attributes)
        each = np.arange(len(attributes))
        sums = np.zeros((len(each), self.trees[0].probabilities.shape[1]))
        for tree, votes in zip(self.trees, self.votes, strict=True):
            sums[each, first_best(tree.predict_table(attributes).T)] += votes
        return normalise(sums)
