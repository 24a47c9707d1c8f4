"""Cost-sensitive learning by weighting rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import simstudy.learners
from simstudy.arrays import FloatArray
from simstudy.data.sample import Sample, read_only
from simstudy.errors import suggestion
from simstudy.learners.base import Fitted, Learner, require

# Names of study files, and public names here.
LEARNERS = {
    "prior": "Prior",
    "naive_bayes": "NaiveBayes",
    "tan": "TAN",
    "aode": "AODE",
    "kdb": "KDB",
    "camml": "CaMML",
    "hnb": "HNB",
    "lbr": "LBR",
    "c45": "C45",
    "boosted_c45": "BoostedC45",
    "mml_tree": "MMLTree",
    "mml_graph": "MMLGraph",
    "decision_stump": "DecisionStump",
    "one_r": "OneR",
}


@dataclass(frozen=True)
class CostSensitive(Learner):
    """Cost-sensitive learning: another learner on rows weighted by the costs of their class.

    A row of class i has weight w_i = C_i N/Σ_j C_j N_j, where C_i is the sum of row i of the cost
    matrix over the other classes, N_i the number of rows of class i and N that of all: the total
    weight is unchanged (Ting 2002; Witten, Frank & Hall 2011, section 5.7). The probabilities are
    those of the learner on these rows: its most probable class makes fewer of the expensive errors.

    Parameters
    ----------
    learner : str
        The name of the learner: a built-in one, or a classifier by its path.
    parameters : table, optional
        The parameters of that learner; its defaults if not given.
    matrix : list of k lists of k floats, optional
        The costs: rows are actual classes, columns predicted ones; costs of correct predictions
        are not used. Not given, every error costs 1, and no row is weighted.

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

    learner: str = "naive_bayes"
    parameters: dict[str, Any] | None = None
    matrix: list[list[float]] | None = None

    def __post_init__(self) -> None:
        base = self.base()
        if getattr(base, "takes_weights", True) is False:
            raise ValueError(
                f"the learner '{self.learner}' takes no weights of rows, so it cannot be made "
                "cost-sensitive"
            )
        if getattr(base, "tree", None) == "true":
            raise ValueError("tree = 'true' is not possible for a learner made cost-sensitive")
        self.class_costs(None if self.matrix is None else len(self.matrix))

    def base(self) -> Learner:
        """Return the learner that is fitted to the weighted rows."""
        cls, given = _find(self.learner), self.parameters or {}
        known = [field.name for field in dataclasses.fields(cls) if field.init]
        for key in given:
            if key not in known:
                of = f"parameters: '{key}' is no parameter of '{self.learner}'"
                raise ValueError(f"{of}{suggestion(key, known)}")
        try:
            return cls(**given)
        except TypeError as error:  # a value of another type
            raise ValueError(f"parameters = {given!r} do not fit '{self.learner}'") from error

    @property
    def accepts(self) -> frozenset[str]:  # type: ignore[override]
        """Rows that the learner accepts."""
        return self.base().accepts

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
        sums: FloatArray = costs.sum(axis=1)
        return sums

    def check_design(
        self, variables: tuple[int, int], values: tuple[int, int], sizes: Sequence[int]
    ) -> None:
        """Refuse what the learner refuses."""
        base = self.base()
        if hasattr(base, "check_design"):
            base.check_design(variables, values, sizes)

    def check_classes(self, least: int, most: int) -> None:
        """Refuse another number of classes than the matrix has."""
        if self.matrix is not None:
            number = f"{least}" if least == most else f"{least} to {most}"
            allowed = f"it must have a row and a column for each class; there are {number} classes"
            require({least, most} == {len(self.matrix)}, "matrix", self.matrix, allowed)

    def warm_up(self) -> None:
        """Prepare the learner, so that this is not timed as part of a fit."""
        base = self.base()
        if hasattr(base, "warm_up"):
            base.warm_up()

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> Fitted:
        return self.base().fit(self._weighted(sample), rng)

    def _weighted(self, sample: Sample) -> Sample:
        """Return the rows with weights by cost."""
        costs = self.class_costs(sample.classes)
        if costs is None:
            return sample
        total = float((costs * sample.class_counts).sum())
        if total == 0:
            return sample
        weights = (costs * (sample.total / total))[sample.target]
        if sample.weights is not None:
            weights = weights * sample.weights
        made = sample.copy()  # without tables
        made.weights = read_only(weights)
        return made


def _find(name: str) -> Any:
    """Return a learner by its name or path."""
    if name in LEARNERS:
        return getattr(simstudy.learners, LEARNERS[name])
    if name.startswith("pgmpy:"):
        from simstudy.learners.pgmpy import pgmpy_learner

        return pgmpy_learner(name)
    if ":" in name:
        from simstudy.learners.scikit import scikit_learner

        return scikit_learner(name)
    raise ValueError(f"learner = '{name}' cannot be weighted by costs{suggestion(name, LEARNERS)}")
