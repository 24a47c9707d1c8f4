"""k-dependence Bayesian classifiers (Sahami 1996)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.sample import Sample
from simstudy.learners.base import Factor, Generative, Learner, product_on_grid, require
from simstudy.learners.trees import class_information, conditional_mutual_information
from simstudy.texts import arc_text


@dataclass(frozen=True)
class KDB(Learner):
    """k-dependence Bayesian classifier: up to k attribute parents per attribute (Sahami 1996).

    Attributes are added in descending order of I(X_i; C). Each takes as parents the k attributes
    already added with the greatest I(X_i; X_j | C). Ties go to the lowest index.

    Parameters
    ----------
    k : int >= 0
        Maximum number of attribute parents per attribute; 0 is Naive Bayes.
    alpha : float > 0
        Pseudocount added to every count.

    References
    ----------
    M. Sahami (1996). Learning limited dependence Bayesian classifiers. KDD-96.
    """

    k: int = 1
    alpha: float = 0.5

    def __post_init__(self) -> None:
        require(self.k >= 0, "k", self.k, "it must be at least 0")
        require(0 < self.alpha < np.inf, "alpha", self.alpha, "it must be above 0 and finite")

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> FittedKDB:
        shared = conditional_mutual_information(sample)
        order = np.argsort(-class_information(sample), kind="stable").tolist()
        parents: list[tuple[int, ...]] = [()] * len(order)
        for place, attribute in enumerate(order):
            earlier = sorted(order[:place])
            ranked = sorted(earlier, key=lambda j: -shared[attribute, j])
            parents[attribute] = tuple(sorted(ranked[: self.k]))
        return FittedKDB(sample, self.alpha, parents)


class FittedKDB(Generative):
    """A fitted k-dependence network with its log probability tables.

    Attributes
    ----------
    parents : list of tuples
        The attribute parents of each attribute.
    """

    def __init__(self, sample: Sample, alpha: float, parents: list[tuple[int, ...]]) -> None:
        self.cards = sample.cards
        self.parents = parents
        self._log_prior = np.log(sample.class_frequencies(alpha))
        self._log_tables: list[FloatArray] = []
        target = len(self.cards) - 1
        for attribute, others in enumerate(parents):
            counts = sample.counts(target, *others, attribute) + alpha
            self._log_tables.append(np.log(counts / counts.sum(axis=-1, keepdims=True)))

    def _facts(self) -> list[str]:
        return [*super()._facts(), f"between attributes: {arc_text(self.parents)}"]

    def log_joint(self, codes: IntArray) -> FloatArray:
        columns = codes.T
        total = np.repeat(self._log_prior[:, None], len(codes), axis=1)
        for attribute, (others, table) in enumerate(
            zip(self.parents, self._log_tables, strict=True)
        ):
            total += table[:, *(columns[u] for u in (*others, attribute))]
        return total.T

    def joint_grid(self) -> FloatArray:
        factors: list[Factor] = [((), np.exp(self._log_prior))]
        for attribute, (others, table) in enumerate(
            zip(self.parents, self._log_tables, strict=True)
        ):
            axes = (*others, attribute)
            order = np.argsort(axes)
            ordered = np.exp(table).transpose(0, *(order + 1))
            factors.append((tuple(axes[i] for i in order), ordered))
        return product_on_grid(self.cards, factors)
