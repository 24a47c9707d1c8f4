"""pgmpy's structure learners as learners, named ``pgmpy:HillClimbSearch`` and so on.

The search is pgmpy's; what it goes by is counted here, as are the parameters and the prediction.
So weights count, and values and configurations absent from the rows are treated right, which
pgmpy 1.1.2 does not do:

- its K2 adds log Γ(r) for every parent configuration that was not seen, whose true share is 0;
- its BDeu leaves out log Γ(β), once for every parent configuration seen, for a value that no row
  has; a variable without parents it scores right, so that the two cannot be compared;
- its searches take the values seen for all there are, also by BIC;
- its tests of independence call a constant variable dependent on every other.

Variables go to pgmpy as whole numbers instead of names: between equals pgmpy chooses by the order
of a set, which for text depends on Python's hash seed. So every learner here is deterministic;
which of two equals it takes may hang on the order of the attributes.
"""

from __future__ import annotations

import logging
import warnings
from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.sample import Sample
from simstudy.errors import SimstudyError, suggestion
from simstudy.learners.base import Generative, Learner, require
from simstudy.learners.network import Arc, Network, extension, members
from simstudy.learners.structure import (
    FamilyScore,
    IndependenceTest,
    mutual_information,
    refuse_large_table,
)
from simstudy.learners.trees import conditional_mutual_information

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class StructureLearner(Learner):
    """A Bayesian network whose structure one of pgmpy's searches finds.

    A subclass for each search has its parameters, with pgmpy's names and defaults, and `arcs`.

    Parameters
    ----------
    alpha : float
        Added to every count: P(v|pa) = (n + α)/(N + rα) for a variable of r values.
    """

    alpha: float = 0.5

    def __post_init__(self) -> None:
        require(0 < self.alpha < np.inf, "alpha", self.alpha, "it must be above 0 and finite")

    @abstractmethod
    def arcs(self, sample: Sample) -> Iterable[Arc]:
        """The arcs of the DAG that the search finds, each from parent to child."""

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> FittedStructure:
        parents = [0] * len(sample.cards)
        with _silence():
            for u, v in self.arcs(sample):
                parents[v] |= 1 << u
        return FittedStructure(sample, parents, self.alpha)


class FittedStructure(Generative):
    """A network of the structure that pgmpy found.

    Attributes
    ----------
    dag : tuple of tuples
        The parents of each variable; the target is the last variable.
    network : Network
        The structure with its parameters.
    """

    def __init__(self, sample: Sample, parents: Sequence[int], alpha: float) -> None:
        self.cards = sample.cards
        self.dag = tuple(members(mask) for mask in parents)
        for v, others in enumerate(self.dag):
            refuse_large_table(self.cards, others, v)
        self.network = Network(sample, parents, alpha)

    def log_joint(self, codes: IntArray) -> FloatArray:
        return self.network.log_joint(codes)

    def joint_grid(self) -> FloatArray:
        return self.network.joint_grid()


@dataclass(frozen=True)
class ScoreSearch(StructureLearner):
    """A search for the structure of the highest score.

    Parameters
    ----------
    alpha : float
        Added to every count: P(v|pa) = (n + α)/(N + rα) for a variable of r values.
    score : {"bic", "bdeu", "k2"}
        The score, as `FamilyScore` defines it.
    equivalent_sample_size : float
        How many rows the prior of BDeu weighs.
    """

    score: Literal["bic", "bdeu", "k2"] = "bic"
    equivalent_sample_size: float = 10.0

    def __post_init__(self) -> None:
        super().__post_init__()
        known = f"it must be one of {', '.join(SCORES)}"
        require(self.score in SCORES, "score", self.score, known)
        size = self.equivalent_sample_size
        require(0 < size < np.inf, "equivalent_sample_size", size, "it must be above 0 and finite")

    def pgmpy_score(self, sample: Sample) -> Any:
        """The score of this sample, in the shape that pgmpy's searches want."""
        from pgmpy.structure_score import BaseStructureScore

        score = FamilyScore(sample, self.score, self.equivalent_sample_size)

        class Counted(BaseStructureScore):  # type: ignore[misc]
            def __init__(self) -> None:
                """Take no data frame: `FamilyScore` has the sample."""

            def local_score(self, variable: int, parents: Collection[int]) -> float:
                return score(variable, parents)

        return Counted()


@dataclass(frozen=True)
class HillClimbSearch(ScoreSearch):
    """pgmpy's hill climbing: the arc to add, remove or turn that wins most, until none wins.

    It starts without arcs and gives no variable a table of more than 262,144 cells.

    Parameters
    ----------
    alpha, score, equivalent_sample_size
        See `ScoreSearch`.
    max_indegree : int, optional
        How many parents a variable has at most.
    tabu_length : int
        How many of the latest steps must not be undone. pgmpy stops when no step that is left
        wins: with 0 the result is a local optimum, otherwise a tabu step might still win.
    epsilon : float
        A step that wins less is not taken.
    max_iter : int
        How many steps are taken at most.
    """

    max_indegree: int | None = None
    tabu_length: int = 100
    epsilon: float = 1e-4
    max_iter: int = 1_000_000

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_at_least(0, self, "max_indegree", "tabu_length", "max_iter")
        # With 0 it would turn arcs of equal score for ever.
        require(0 < self.epsilon < np.inf, "epsilon", self.epsilon, "it must be above 0")

    def arcs(self, sample: Sample) -> Iterable[Arc]:
        from pgmpy import causal_discovery

        search = causal_discovery.HillClimbSearch(
            self.pgmpy_score(sample),
            max_indegree=self.max_indegree,
            tabu_length=self.tabu_length,
            epsilon=self.epsilon,
            max_iter=self.max_iter,
            return_type="dag",
            show_progress=False,
        )
        arcs: Iterable[Arc] = search.fit(_frame(sample)).causal_graph_.edges()
        return arcs


@dataclass(frozen=True)
class GES(ScoreSearch):
    """pgmpy's greedy search over equivalence classes: arcs are added, then removed, then turned.

    Chickering (2002). Slow beyond 15 variables. Of the class it ends in, `extension` predicts.

    Parameters
    ----------
    alpha, score, equivalent_sample_size
        See `ScoreSearch`; not "k2", which tells members of a class apart.
    min_improvement : float
        A step that wins less is not taken.
    """

    score: Literal["bic", "bdeu"] = "bic"
    min_improvement: float = 1e-6

    def __post_init__(self) -> None:
        super().__post_init__()
        known = "it must be one of bic, bdeu: GES needs a score that is equal within a class"
        require(self.score in ("bic", "bdeu"), "score", self.score, known)
        least = self.min_improvement
        require(0 < least < np.inf, "min_improvement", least, "it must be above 0")

    def arcs(self, sample: Sample) -> Iterable[Arc]:
        from pgmpy import causal_discovery

        score = self.pgmpy_score(sample)
        search = causal_discovery.GES(score, min_improvement=self.min_improvement)
        return extension(len(sample.cards), search.fit(_frame(sample)).causal_graph_.edges())


@dataclass(frozen=True)
class PC(StructureLearner):
    """pgmpy's PC, in its stable variant: arcs go that a test calls independent.

    Spirtes, Glymour & Scheines (2000), Colombo & Maathuis (2014). The test is `IndependenceTest`;
    of the pattern it ends in, `extension` predicts. (pgmpy's default variant shares one test among
    threads, which it says is not safe.)

    Parameters
    ----------
    alpha : float
        Added to every count: P(v|pa) = (n + α)/(N + rα) for a variable of r values.
    significance_level : float
        Variables are called independent if the p-value is not below it.
    max_cond_vars : int
        How many variables a test is given at most.
    """

    significance_level: float = 0.01
    max_cond_vars: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        level = self.significance_level
        require(0 < level < 1, "significance_level", level, "it must be between 0 and 1")
        _require_at_least(0, self, "max_cond_vars")

    def arcs(self, sample: Sample) -> Iterable[Arc]:
        from pgmpy import causal_discovery

        search = causal_discovery.PC(
            variant="stable",
            ci_test=IndependenceTest(sample),
            significance_level=self.significance_level,
            max_cond_vars=self.max_cond_vars,
            show_progress=False,
        )
        return extension(len(sample.cards), search.fit(_frame(sample)).causal_graph_.edges())


@dataclass(frozen=True)
class TreeSearch(StructureLearner):
    """pgmpy's trees: the spanning tree of greatest mutual information, with or without the class.

    Chow & Liu (1968), or Friedman, Geiger & Goldszmidt (1997), for which simstudy's own ``tan`` is
    faster. The root is the variable whose weights sum to most, for TAN among the attributes.

    Parameters
    ----------
    alpha : float
        Added to every count: P(v|pa) = (n + α)/(N + rα) for a variable of r values.
    estimator_type : {"chow-liu", "tan"}
        A tree over all variables by I(X_i; X_j), or one over the attributes by I(X_i; X_j | C)
        with the class as a further parent of each.
    """

    estimator_type: Literal["chow-liu", "tan"] = "chow-liu"

    def __post_init__(self) -> None:
        super().__post_init__()
        known = f"it must be one of {', '.join(TREES)}"
        require(self.estimator_type in TREES, "estimator_type", self.estimator_type, known)

    def arcs(self, sample: Sample) -> Iterable[Arc]:
        from pgmpy import estimators

        target = len(sample.cards) - 1
        if self.estimator_type == "tan":
            weights = conditional_mutual_information(sample)
        else:
            weights = mutual_information(sample)
        np.fill_diagonal(weights, 0.0)

        def weight(first: pd.Series[int], second: pd.Series[int]) -> float:
            # The class has no weight in a TAN. Elsewhere pgmpy takes 0 for no edge, and forgets
            # what the root then does not reach.
            u, v = int(str(first.name)), int(str(second.name))
            return max(float(weights[u, v]), 1e-300) if max(u, v) < len(weights) else 0.0

        root = int(np.argmax(weights.sum(axis=0)))
        search = estimators.TreeSearch(_frame(sample), root_node=root, n_jobs=1)
        arcs: Iterable[Arc] = search.estimate(
            self.estimator_type, class_node=target, edge_weights_fn=weight, show_progress=False
        ).edges()
        return arcs


def pgmpy_learner(path: str) -> type[StructureLearner]:
    """The learner class of one of pgmpy's searches, from ``pgmpy:Search``."""
    known = {f"pgmpy:{learner.__name__}": learner for learner in LEARNERS}
    if path not in known:
        raise SimstudyError(
            f"unknown learner '{path}': it is none of pgmpy's searches that can be used here"
            f"{suggestion(path, known)}"
        )
    return known[path]


def _frame(sample: Sample) -> pd.DataFrame:
    """A data frame that tells pgmpy how many variables there are; nothing reads its rows."""
    import pandas as pd

    return pd.DataFrame(np.zeros((2, len(sample.cards)), dtype=np.intp))


def _require_at_least(least: int, learner: Learner, *parameters: str) -> None:
    for parameter in parameters:
        value = getattr(learner, parameter)
        allowed = f"it must be at least {least}"
        require(value is None or value >= least, parameter, value, allowed)


@contextmanager
def _silence() -> Iterator[None]:
    """Keep pgmpy from warning of its own deprecations and of patterns without extension."""
    logger = logging.getLogger("pgmpy")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            yield
    finally:
        logger.setLevel(level)


SCORES = ("bic", "bdeu", "k2")
TREES = ("chow-liu", "tan")
LEARNERS = (HillClimbSearch, GES, PC, TreeSearch)
