"""k-dependence Bayesian classifiers (Sahami 1996)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from simstudy.data.sample import Sample
from simstudy.learners.base import Learner, require_at_least_0, require_positive
from simstudy.learners.bayes.incomplete import Families
from simstudy.learners.bayes.tree_searches import class_information, conditional_mutual_information
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
        require_at_least_0(self, "k")
        require_positive(self, "alpha")

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

    def _facts(self) -> list[str]:
        return [*super()._facts(), f"between attributes: {arc_text(self.parents)}"]
