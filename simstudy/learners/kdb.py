"""k-dependence Bayesian classifiers (Sahami 1996)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from simstudy.arrays import FloatArray
from simstudy.data.sample import Sample
from simstudy.learners.base import Learner, require
from simstudy.learners.incomplete import Families, widened_families
from simstudy.learners.trees import class_information, conditional_mutual_information
from simstudy.networks.grid import Factor, product_on_grid
from simstudy.texts import arc_text


@dataclass(frozen=True)
class KDB(Learner):
    """k-dependence Bayesian classifier: up to k attribute parents per attribute (Sahami 1996).

    Attributes are added in descending order of I(X_i; C). Each takes as parents the k attributes
    already added with the greatest I(X_i; X_j | C). Ties go to the lowest index.

    Every count, also for the information, is of the rows that have the variables concerned
    (information: over all rows, so that it is worth less where values are missing). In a row to
    be predicted, missing values are left out of the product, and missing parents out of the
    condition: P(x_i | c, known parents).

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

    accepts: ClassVar[frozenset[str]] = frozenset({"missing"})

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


class FittedKDB(Families):
    """A fitted k-dependence network with its log probability tables.

    Attributes
    ----------
    parents : list of tuples
        The attribute parents of each attribute.
    """

    def __init__(self, sample: Sample, alpha: float, parents: list[tuple[int, ...]]) -> None:
        self._sample, self._alpha = sample, alpha
        log_tables: list[FloatArray] = []
        target = len(sample.cards) - 1
        for attribute, others in enumerate(parents):
            counts = sample.counts(target, *others, attribute) + alpha
            log_tables.append(np.log(counts / counts.sum(axis=-1, keepdims=True)))
        log_prior = np.log(sample.class_frequencies(alpha))
        super().__init__(sample.cards, parents, log_prior, log_tables)

    @cached_property
    def widened(self) -> Families:
        return widened_families(self._sample, self.parents, self._alpha)

    def _facts(self) -> list[str]:
        return [*super()._facts(), f"between attributes: {arc_text(self.parents)}"]

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
