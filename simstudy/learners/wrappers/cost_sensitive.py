"""Cost-sensitive learning by weighting rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from simstudy.arrays import FloatArray, read_only
from simstudy.data.sample import Sample
from simstudy.learners.base import Fitted, require
from simstudy.learners.wrappers.wrapper import Wrapper


@dataclass(frozen=True)
class CostSensitive(Wrapper):
    """Cost-sensitive learning: another learner on rows weighted by the costs of their class.

    A row of class i has weight w_i = C_i N/Σ_j C_j N_j, where C_i is the sum of row i of the cost
    matrix over the other classes, N_i the number of rows of class i and N that of all: the total
    weight is unchanged (Ting 2002; Witten, Frank & Hall 2011, section 5.7). The probabilities are
    those of the learner on these rows: its most probable class makes fewer of the expensive errors.

    Parameters
    ----------
    matrix : list of k lists of k floats, optional
        The costs: rows are actual classes, columns predicted ones; costs of correct predictions
        are not used. If omitted, every error costs 1 and rows are not weighted.

    Notes
    -----
    With two classes, this is training on rows repeated in the ratio of the costs, apart from the
    total weight: where rows are repeated five times there are more of them, and smoothing such as
    Laplace's rule has less influence. With more classes, the sum of a row of the matrix stands for
    all errors of that class. If all training rows are of classes without cost, they keep their
    weights.

    References
    ----------
    K. M. Ting (2002). An instance-weighting method to induce cost-sensitive trees. IEEE
    Transactions on Knowledge and Data Engineering 14.

    I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, chapter 5.
    """

    purpose: ClassVar[str] = "weighted by costs"

    matrix: list[list[float]] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.base().takes_weights:
            text = f"the learner '{self.learner}' takes no weights of rows"
            raise ValueError(f"{text}, so it cannot be made cost-sensitive")
        self.class_costs(None if self.matrix is None else len(self.matrix))

    def class_costs(self, classes: int | None) -> FloatArray | None:
        """Return the cost of each class: the sum of its errors; None if all are equal."""
        if self.matrix is None or classes is None:
            return None
        allowed = f"it must have {classes} rows of {classes} numbers, one for each class"
        require([*map(len, self.matrix)] == [classes] * classes, "matrix", self.matrix, allowed)
        costs = np.array(self.matrix, dtype=np.float64)
        np.fill_diagonal(costs, 0.0)
        usable = bool(np.isfinite(costs).all() and (costs >= 0).all() and costs.any())
        allowed = "costs of errors must be finite and not negative, and one of them above 0"
        require(usable, "matrix", self.matrix, allowed)
        return np.asarray(costs.sum(axis=1))

    def check_classes(self, least: int, most: int) -> None:
        """Refuse another number of classes than the matrix has."""
        if self.matrix is not None:
            number = f"{least}" if least == most else f"{least} to {most}"
            allowed = f"it must have a row and a column for each class; there are {number} classes"
            require({least, most} == {len(self.matrix)}, "matrix", self.matrix, allowed)

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> Fitted:
        return self.base().fit(self._weighted(sample), rng)

    def _weighted(self, sample: Sample) -> Sample:
        """Return the rows with weights by cost."""
        costs = self.class_costs(sample.classes)
        total = 0.0 if costs is None else float((costs * sample.class_counts).sum())
        if costs is None or total == 0:
            return sample
        weights = (costs * (sample.total / total))[sample.target]
        if sample.weights is not None:
            weights = weights * sample.weights
        made = sample.copy()  # without tables
        made.weights = read_only(weights)
        return made
