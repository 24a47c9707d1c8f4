"""Boosted C4.5."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.learners.base import Fitted, Learner, normalise, require
from simstudy.learners.c45.learner import C45, FittedC45
from simstudy.learners.c45.table import Attributes, Table
from simstudy.learners.c45.tree import SMALL
from simstudy.sample import Sample, distinct_rows


@dataclass(frozen=True)
class BoostedC45(Learner):
    """Trees on reweighted rows, voting: AdaBoost.M1 (Freund & Schapire 1996) as Weka's.
    """

    rounds: int = 10
    confidence: float = 0.25
    min_leaf: float = 2

    def __post_init__(self) -> None:
        require(self.rounds >= 1, "rounds", self.rounds, "it must be at least 1")
        self._tree_learner()

    def _tree_learner(self) -> C45:
        return C45(self.confidence, self.min_leaf)

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> Fitted:
        """Learn from a sample; equal rows keep equal weights, so they are one row here."""
        first, inverse = distinct_rows(sample.codes, sample.cards)
        weights = np.bincount(inverse, sample.weights, minlength=len(first)).astype(np.float64)
        codes = sample.codes[first]
        total = weights.sum()
        trees: list[FittedC45] = []
        votes: list[float] = []
        learner = self._tree_learner()
        for _ in range(self.rounds):
            fitted = learner.fit(Sample(codes, sample.cards, weights))
            wrong = weights[fitted.predict_proba(codes[:, :-1]).argmax(axis=1) != codes[:, -1]]
            error = wrong.sum() / total
            if error > 0.5 - SMALL or error < SMALL:
                if not trees: return fitted
                break
            trees.append(fitted)
            votes.append(float(np.log((1 - error) / error)))
            missed = classes_of(fitted, codes[:, :-1]) != codes[:, -1]
            weights = np.where(missed, weights * (1 - error) / error, weights)
            weights *= total / weights.sum()
        if len(trees) == 1: return trees[0]
        return FittedBoostedC45(trees, votes)

def classes_of(fitted, codes):
    p = fitted.predict_proba(codes)
    best = np.full(len(p), -1.0); arg = np.zeros(len(p), dtype=np.intp)
    for c in range(p.shape[1]):
        better = p[:, c] > best + SMALL
        best[better] = p[better, c]; arg[better] = c
    return arg

class FittedBoostedC45:
    def __init__(self, trees, votes):
        self.trees, self.votes = trees, votes
    def predict_proba(self, codes):
        k = self.trees[0].probabilities.shape[1]
        sums = np.zeros((len(codes), k))
        for t, v in zip(self.trees, self.votes):
            sums[np.arange(len(codes)), classes_of(t, codes)] += v
        return normalise(sums)
