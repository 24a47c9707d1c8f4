"""Learners based on pgmpy's structure searches, named ``pgmpy:HillClimbSearch`` and so on.

pgmpy does the search; scores, tests, parameters and predictions are computed here. Row weights are
supported, and values and configurations absent from the sample are handled correctly, unlike in
pgmpy 1.1.2:

- K2 adds log Γ(r) for every unobserved parent configuration, which should contribute 0;
- BDeu omits log Γ(β), once per observed parent configuration, for a value that never occurs; a
  variable without parents is scored correctly, so that the two scores are not comparable;
- all scores, BIC included, take the observed values as the set of values;
- the independence tests call a constant variable dependent on every other variable.

Variables are passed to pgmpy as integers. pgmpy breaks ties by set order, which for strings depends
on Python's hash seed. Every learner here is deterministic, but ties may depend on the order of the
attributes.
"""

from __future__ import annotations

import logging
import warnings
from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.sample import Sample
from simstudy.errors import SimstudyError, suggestion
from simstudy.learners import base
from simstudy.learners.bayes.tree_searches import conditional_mutual_information
from simstudy.learners.networks import structure_scores
from simstudy.learners.networks.estimated import Arc, EstimatedNetwork, extension
from simstudy.networks.network import variable_names
from simstudy.texts import arc_text

if TYPE_CHECKING:
    import pandas as pd
    from pgmpy.structure_score import BaseStructureScore


@dataclass(frozen=True)
class StructureLearner(base.Learner):
    """Base class of Bayesian network learners with a structure search of pgmpy.

    Each subclass has the parameters of its search, with pgmpy's names and defaults, and `arcs`.
    Fractions must be above 0 and whole numbers at least 0.

    Parameters
    ----------
    alpha : float > 0
        Pseudocount: P(v|pa) = (n + α)/(N + rα) for a variable of r values.
    """

    alpha: float = 0.5

    def __post_init__(self) -> None:
        whole = ("int", "int | None")
        base.require_choices(self)
        base.require_positive(self, *(f.name for f in fields(self) if f.type == "float"))
        base.require_at_least_0(self, *(f.name for f in fields(self) if f.type in whole))

    @abstractmethod
    def arcs(self, sample: Sample) -> Iterable[Arc]:
        """Return the arcs (parent, child) of the DAG that the search finds."""

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> FittedStructure:
        parents = [0] * len(sample.cards)
        with _silence():
            for u, v in self.arcs(sample):
                parents[v] |= 1 << u
        return FittedStructure(sample, parents, self.alpha)


class FittedStructure(base.Generative):
    """A fitted network with the structure found by pgmpy.

    Attributes
    ----------
    dag : tuple of tuples
        The parents of each variable; the target is the last variable.
    network : EstimatedNetwork
        The structure with its parameters.
    """

    def __init__(self, sample: Sample, parents: Sequence[int], alpha: float) -> None:
        self.cards = sample.cards
        self.network = EstimatedNetwork(sample, parents, alpha)
        self.dag = self.network.parents
        for v, condition in enumerate(self.dag):
            structure_scores.refuse_large_table(self.cards, condition, v)

    def _facts(self) -> list[str]:
        return [*super()._facts(), arc_text(self.dag, variable_names(len(self.cards)))]

    def log_joint(self, codes: IntArray) -> FloatArray:
        return self.network.log_joint(codes)

    def joint_grid(self) -> FloatArray:
        return self.network.joint_grid()


@dataclass(frozen=True)
class ScoreSearch(StructureLearner):
    """Base class of score-based structure searches.

    Parameters
    ----------
    alpha : float > 0
        Pseudocount: P(v|pa) = (n + α)/(N + rα) for a variable of r values.
    score : {"bic", "bdeu", "k2"}
        The score, as `FamilyScore` defines it.
    equivalent_sample_size : float > 0
        Equivalent sample size of the BDeu prior.
    """

    score: Literal["bic", "bdeu", "k2"] = "bic"
    equivalent_sample_size: float = 10.0

    def pgmpy_score(self, sample: Sample) -> BaseStructureScore:
        """Return the score of this sample as an object that pgmpy's searches accept."""
        from pgmpy.structure_score import BaseStructureScore

        score = structure_scores.FamilyScore(sample, self.score, self.equivalent_sample_size)

        class Counted(BaseStructureScore):  # type: ignore[misc]
            def __init__(self) -> None:
                """Take no data frame: `FamilyScore` holds the sample."""

            def local_score(self, variable: int, parents: Collection[int]) -> float:
                return score(variable, parents)

        return Counted()


@dataclass(frozen=True)
class HillClimbSearch(ScoreSearch):
    """pgmpy's hill climbing over arc additions, removals and reversals.

    The search starts from the empty graph. Tables have at most 262,144 cells.

    Parameters
    ----------
    alpha : float > 0
        Pseudocount: P(v|pa) = (n + α)/(N + rα) for a variable of r values.
    score : {"bic", "bdeu", "k2"}
        The score: BIC, BDeu or K2.
    equivalent_sample_size : float > 0
        Equivalent sample size of the BDeu prior.
    max_indegree : int >= 0, optional
        Maximum number of parents per variable.
    tabu_length : int >= 0
        Number of recent steps that must not be undone. pgmpy stops when no allowed step improves
        the score: with 0 the result is a local optimum, otherwise a tabu step might improve it.
    epsilon : float > 0
        Minimum improvement of a step.
    max_iter : int >= 0
        Maximum number of steps.

    References
    ----------
    D. Heckerman, D. Geiger & D. M. Chickering (1995). Learning Bayesian networks: the combination
    of knowledge and statistical data. Machine Learning 20.
    """

    max_indegree: int | None = None
    tabu_length: int = 100
    epsilon: float = 1e-4  # with 0, arcs of equal score would be reversed for ever
    max_iter: int = 1_000_000

    def arcs(self, sample: Sample) -> Iterable[Arc]:
        from pgmpy import causal_discovery

        names = ("max_indegree", "tabu_length", "epsilon", "max_iter")
        options = {name: vars(self)[name] for name in names}
        options |= {"return_type": "dag", "show_progress": False}
        search = causal_discovery.HillClimbSearch(self.pgmpy_score(sample), **options)
        return [*search.fit(_frame(sample)).causal_graph_.edges()]


@dataclass(frozen=True)
class GES(ScoreSearch):
    """pgmpy's greedy equivalence search (Chickering 2002).

    Slow beyond 15 variables. Predictions use the `extension` of the resulting class.

    Parameters
    ----------
    alpha : float > 0
        Pseudocount: P(v|pa) = (n + α)/(N + rα) for a variable of r values.
    score : {"bic", "bdeu"}
        The score: BIC or BDeu; not K2, which is not score-equivalent.
    equivalent_sample_size : float > 0
        Equivalent sample size of the BDeu prior.
    min_improvement : float > 0
        Minimum improvement of a step.

    References
    ----------
    D. M. Chickering (2002). Optimal structure identification with greedy search. Journal of
    Machine Learning Research 3.
    """

    score: Literal["bic", "bdeu"] = "bic"
    min_improvement: float = 1e-6

    def arcs(self, sample: Sample) -> Iterable[Arc]:
        from pgmpy import causal_discovery

        score = self.pgmpy_score(sample)
        search = causal_discovery.GES(score, min_improvement=self.min_improvement)
        return extension(len(sample.cards), search.fit(_frame(sample)).causal_graph_.edges())


@dataclass(frozen=True)
class PC(StructureLearner):
    """pgmpy's PC algorithm, stable variant: structure from independence tests.

    Spirtes, Glymour & Scheines (2000), Colombo & Maathuis (2014). The test is `IndependenceTest`;
    predictions use the `extension` of the resulting pattern. (pgmpy's default variant shares one
    test among threads, which is not thread-safe.)

    Parameters
    ----------
    alpha : float > 0
        Pseudocount: P(v|pa) = (n + α)/(N + rα) for a variable of r values.
    significance_level : float > 0, < 1
        Independence is rejected if the p value is below it.
    max_cond_vars : int >= 0
        Maximum size of the conditioning set.

    References
    ----------
    P. Spirtes, C. Glymour & R. Scheines (2000). Causation, Prediction, and Search. MIT Press.

    D. Colombo & M. H. Maathuis (2014). Order-independent constraint-based causal structure
    learning. Journal of Machine Learning Research 15.
    """

    significance_level: float = 0.01
    max_cond_vars: int = 5

    def __post_init__(self) -> None:
        level = self.significance_level
        base.require(0 < level < 1, "significance_level", level, "it must be between 0 and 1")
        super().__post_init__()

    def arcs(self, sample: Sample) -> Iterable[Arc]:
        from pgmpy import causal_discovery

        search = causal_discovery.PC(
            variant="stable",
            ci_test=structure_scores.IndependenceTest(sample),
            significance_level=self.significance_level,
            max_cond_vars=self.max_cond_vars,
            show_progress=False,
        )
        return extension(len(sample.cards), search.fit(_frame(sample)).causal_graph_.edges())


@dataclass(frozen=True)
class TreeSearch(StructureLearner):
    """pgmpy's tree search: a maximum spanning tree by mutual information (Chow-Liu or TAN).

    Chow & Liu (1968), or Friedman, Geiger & Goldszmidt (1997), for which the built-in ``tan`` is
    faster. The root is the variable with the largest sum of weights, for TAN among the attributes.

    Parameters
    ----------
    alpha : float > 0
        Pseudocount: P(v|pa) = (n + α)/(N + rα) for a variable of r values.
    estimator_type : {"chow-liu", "tan"}
        A tree over all variables by I(X_i; X_j), or over the attributes by I(X_i; X_j | C) with
        the class as an additional parent of each.

    References
    ----------
    C. K. Chow & C. N. Liu (1968). Approximating discrete probability distributions with
    dependence trees. IEEE Transactions on Information Theory 14.

    N. Friedman, D. Geiger & M. Goldszmidt (1997). Bayesian network classifiers. Machine Learning
    29.
    """

    estimator_type: Literal["chow-liu", "tan"] = "chow-liu"

    def arcs(self, sample: Sample) -> Iterable[Arc]:
        from pgmpy import estimators

        kind, target = self.estimator_type, len(sample.cards) - 1
        of_class, of_all = conditional_mutual_information, structure_scores.mutual_information
        weights = (of_class if kind == "tan" else of_all)(sample)
        np.fill_diagonal(weights, 0.0)

        def weight(first: pd.Series[int], second: pd.Series[int]) -> float:
            # In a TAN the class has no weight. Elsewhere pgmpy takes 0 as no edge and drops the
            # variables that the root then does not reach.
            u, v = int(str(first.name)), int(str(second.name))
            return max(float(weights[u, v]), 1e-300) if max(u, v) < len(weights) else 0.0

        root = int(np.argmax(weights.sum(axis=0)))
        search = estimators.TreeSearch(_frame(sample), root_node=root, n_jobs=1)
        tree = search.estimate(kind, class_node=target, edge_weights_fn=weight, show_progress=False)
        return [*tree.edges()]


def pgmpy_learner(path: str) -> type[StructureLearner]:
    """Return the learner class of a pgmpy search, from ``pgmpy:Search``."""
    learners = {f"pgmpy:{cls.__name__}": cls for cls in (HillClimbSearch, GES, PC, TreeSearch)}
    if path not in learners:
        wrong = f"not a supported pgmpy search{suggestion(path, learners)}"
        raise SimstudyError(f"unknown learner '{path}': {wrong}")
    return learners[path]


def _frame(sample: Sample) -> pd.DataFrame:
    """Return a data frame with the right number of columns for pgmpy; its rows are not read."""
    import pandas as pd

    return pd.DataFrame(np.zeros((2, len(sample.cards)), dtype=np.intp))


@contextmanager
def _silence() -> Iterator[None]:
    """Suppress pgmpy's deprecation warnings and those about patterns without extension."""
    logger = logging.getLogger("pgmpy")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            yield
    finally:
        logger.setLevel(level)
