"""Tree-augmented Naive Bayes.

Friedman & Goldszmidt (1996), with their tree search, that of Keogh & Pazzani (1999) and that of
Weka.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.sample import Sample
from simstudy.learners.base import Learner, Limits, require, require_choices, require_positive
from simstudy.learners.bayes.incomplete import Families
from simstudy.learners.bayes.superparent import superparent_tree
from simstudy.learners.bayes.tree_searches import Tree, cmi_tree, likelihood_tree
from simstudy.networks.evaluation import LogTables
from simstudy.texts import arc_text

TRUE_TREE = "true"
SEARCHES = {"cmi": cmi_tree, "superparent": superparent_tree, "likelihood": likelihood_tree}


@dataclass(frozen=True)
class TAN(Learner):
    """Tree-augmented Naive Bayes: one attribute parent each (Friedman & Goldszmidt 1996).

    P(c) = (n_c + α)/(N + kα) and P(x_i|c, pa) = (n + α)/(n_{c,pa} + r_i α).

    Every count is of the rows that have the variables concerned, and so are the scores of a search
    (information: over all rows, so that it is worth less where values are missing). In a row to
    be predicted, missing values are left out of the product, and P(x_i|c) stands for P(x_i|c, pa)
    where the parent is missing. Weka's TAN replaces missing values by the training mode instead.

    Parameters
    ----------
    alpha : float > 0
        Pseudocount added to every count.
    search : {"cmi", "superparent", "likelihood"}
        Tree search: the spanning tree of maximum conditional mutual information (Friedman &
        Goldszmidt 1996); arcs added while leave-one-out accuracy increases (Keogh & Pazzani 1999,
        the TAN of Hope & Korb 2004); or the spanning tree of maximum Dirichlet marginal
        likelihood with α in every cell (Weka's default).
    tree : sequence or "true", optional
        The attribute parent of each attribute, or None (in TOML: -1); replaces the search.
        "true", for studies only, is the structure of the generated model.

    References
    ----------
    N. Friedman & M. Goldszmidt (1996). Building classifiers using Bayesian networks. AAAI-96.

    E. Keogh & M. Pazzani (1999). Learning augmented Bayesian classifiers: a comparison of
    distribution-based and classification-based approaches. AI & Statistics 1999.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"missing"})

    alpha: float = 0.5
    search: Literal["cmi", "superparent", "likelihood"] = "cmi"
    tree: tuple[int | None, ...] | str | None = None

    def __post_init__(self) -> None:
        require_positive(self, "alpha")
        require_choices(self)
        if isinstance(self.tree, str):
            allowed = "it must be 'true' or name a parent for each attribute"
            require(self.tree == TRUE_TREE, "tree", self.tree, allowed)
        elif self.tree is not None:
            object.__setattr__(self, "tree", _checked_tree(self.tree))

    def check_design(self, variables: Limits, values: Limits, sizes: Sequence[int]) -> None:
        """Refuse a given tree if models may have another number of attributes."""
        if isinstance(self.tree, tuple):
            least, most = (number - 1 for number in variables)
            number = f"{least}" if least == most else f"{least} to {most}"
            allowed = f"it must name a parent for each attribute; there are {number} attributes"
            require({*variables} == {len(self.tree) + 1}, "tree", self.tree, allowed)

    @property
    def needs_structure(self) -> bool:
        return self.tree == TRUE_TREE

    def given_structure(self, structures: Sequence[Sequence[Sequence[int]]]) -> TAN:
        """Return the learner with the true tree if ``tree`` is "true"; called before `fit`.

        Parameters
        ----------
        structures : sequence
            For each component of the true model, the parents of every variable, target last.
        """
        return replace(self, tree=_true_tree(structures)) if self.needs_structure else self

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> FittedTAN:
        attributes = len(sample.cards) - 1
        if self.tree is None:
            return FittedTAN(sample, self.alpha, SEARCHES[self.search](sample, self.alpha))
        if isinstance(self.tree, str):
            raise ValueError("tree = 'true' is for studies only: a sample does not contain it")
        allowed = f"it must name a parent for each of the {attributes} attributes"
        require(len(self.tree) == attributes, "tree", self.tree, allowed)
        return FittedTAN(sample, self.alpha, self.tree)


class FittedTAN(Families):
    """A fitted TAN with its log probability tables.

    Attributes
    ----------
    tree : tuple
        The attribute parent of each attribute, or None.
    """

    def __init__(self, sample: Sample, alpha: float, tree: Tree) -> None:
        self.tree = tree
        singles, spans, classes = sample.slot_counts, sample.layout.spans, sample.classes
        counts, totals = list[FloatArray](), list[FloatArray]()
        for card, span, parent in zip(sample.cards[:-1], spans, tree, strict=True):
            block, total = singles[:, span], sample.class_counts[:, None]
            if parent is not None:
                block = sample.pair_counts[:, spans[parent], span].reshape(classes, -1)
                total = singles[:, spans[parent]]
            if not sample.plain:  # without the rows that lack the attribute
                total = block.reshape(classes, -1, card).sum(axis=2)
            counts.append(block + alpha)
            totals.append((total + card * alpha).repeat(card, axis=1))
        log_values = np.log(np.concatenate(counts, axis=1) / np.concatenate(totals, axis=1))
        starts = [0, *itertools.accumulate(block.shape[1] for block in counts)]
        parents = [() if parent is None else (parent,) for parent in tree]
        log_tables = [
            log_values[:, start:end].reshape(classes, *(sample.cards[u] for u in condition), -1)
            for condition, (start, end) in zip(parents, itertools.pairwise(starts), strict=True)
        ]
        super().__init__(sample, alpha, parents, log_tables)
        # The parent column of a root is its own, with stride 0.
        columns = np.array([i if parent is None else parent for i, parent in enumerate(tree)])
        strides = np.where([parent is None for parent in tree], 0, self.cards[:-1])[:, None]
        places, chosen = np.array(starts[:-1])[:, None], (slice(None), columns)
        self._lookup = LogTables(log_values, places, chosen, (1, strides), self._log_prior)

    def _facts(self) -> list[str]:
        return [*super()._facts(), f"tree: {arc_text(self.parents)}"]

    def log_joint(self, codes: IntArray) -> FloatArray:
        return self._lookup.log_joint(codes)


def _true_tree(structures: Sequence[Sequence[Sequence[int]]]) -> Tree:
    """Return the attribute parents; raise an error unless the model is a TAN or Naive Bayes."""
    *attributes, of_target = structures[0]
    target = len(attributes)
    is_tree = all(target in parents and len(parents) <= 2 for parents in attributes)
    if len(structures) > 1 or of_target or not is_tree:
        text = "tree = 'true' needs a model that is a single network in which the target is a root "
        text += "and a parent of every attribute, and each attribute has at most one other parent"
        raise ValueError(text)
    return tuple(next((u for u in parents if u != target), None) for parents in attributes)


def _checked_tree(tree: Sequence[int | None]) -> Tree:
    """Return the tree with -1 read as None; raise an error for unknown parents or a cycle."""
    parents = tuple(None if parent == -1 else parent for parent in tree)
    for start in range(len(parents)):
        seen, node = {start}, parents[start]
        while node is not None:
            allowed = f"parents go from 0 to {len(parents) - 1}, or -1 for none"
            require(0 <= node < len(parents), "tree", tree, allowed)
            require(node not in seen, "tree", tree, "its arcs must not form a cycle")
            seen.add(node)
            node = parents[node]
    return parents
