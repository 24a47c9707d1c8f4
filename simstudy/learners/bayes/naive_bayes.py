"""Naive Bayes.

Domingos & Pazzani (1997); with alpha = 1 the estimates are those of Weka's NaiveBayes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np

from simstudy.arrays import ArrayLike, FloatArray, IntArray
from simstudy.data.attribute_arrays import attribute_values
from simstudy.data.sample import Sample
from simstudy.data.value_layout import SlotLayout
from simstudy.learners import base
from simstudy.learners.bayes.incomplete import known_counts, widened_layout
from simstudy.networks.evaluation import product_on_grid


@dataclass(frozen=True)
class NaiveBayes(base.Learner):
    """Naive Bayes with Dirichlet smoothing (Domingos & Pazzani 1997).

    P(c) = (n_c + α)/(N + kα) and P(x_i|c) = (n_{c,x_i} + α)/(n_c + r_i α).

    Missing values are left out, as in Weka: n_c is of the rows that have the attribute, and a row
    to be predicted has the factors of its known values.

    Parameters
    ----------
    alpha : float > 0
        Pseudocount added to every count; 1 is Laplace smoothing.
    numeric : {"gaussian", "kernel", "discretize"}
        P(x_i|c) of numeric attributes: of an interval around x_i by a normal distribution, or by
        one around every training value (John & Langley 1995, as in Weka; see
        `simstudy.learners.bayes.density`); or of its bin, cut by Fayyad & Irani's criterion in the
        training rows.

    References
    ----------
    P. Domingos & M. Pazzani (1997). On the optimality of the simple Bayesian classifier under
    zero-one loss. Machine Learning 29.

    G. H. John & P. Langley (1995). Estimating continuous distributions in Bayesian classifiers.
    UAI-95.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"numeric", "missing"})

    alpha: float = 1.0
    numeric: Literal["gaussian", "kernel", "discretize"] = "gaussian"

    def __post_init__(self) -> None:
        base.require_positive(self, "alpha")
        base.require_choices(self)

    @property
    def transforms(self) -> dict[str, str]:
        """Numbers may be cut, by a rule of its own."""
        cut = "cut by Fayyad & Irani's (1993) criterion, by the learner"
        return {"numeric": cut} if self.numeric == "discretize" else {}

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> base.Fitted:
        nominal = sample.plain or not sample.schema.numeric
        if not nominal and self.numeric == "discretize":
            return FittedDiscretizedNaiveBayes(sample, self.alpha)
        fitted = fit_nominal(sample, self.alpha)
        if nominal:
            return fitted
        from simstudy.learners.bayes.density import FittedNumericNaiveBayes  # needs scipy

        return FittedNumericNaiveBayes(fitted, sample, kernel=self.numeric == "kernel")


def fit_nominal(sample: Sample, alpha: float) -> FittedNaiveBayes:
    """Return the Naive Bayes of the nominal attributes."""
    prior = sample.class_frequencies(alpha)
    totals = known_counts(sample) + sample.layout.slot_cards * alpha
    values = (sample.slot_counts + alpha) / totals
    return FittedNaiveBayes(sample.cards, sample.layout, np.log(prior), np.log(values))


@dataclass(eq=False, repr=False)
class FittedNaiveBayes(base.Generative):
    """A fitted Naive Bayes: log P(class), and log P(value | class) for every slot."""

    cards: tuple[int, ...]
    _layout: SlotLayout
    _log_prior: FloatArray
    _log_values: FloatArray

    @cached_property
    def widened(self) -> FittedNaiveBayes:
        cards, layout, old, _ = widened_layout(self.cards)
        log_values = np.zeros((self.cards[-1], layout.size))
        log_values[:, old] = self._log_values
        return FittedNaiveBayes(cards, layout, self._log_prior, log_values)

    def log_joint(self, codes: IntArray) -> FloatArray:
        # Summed attribute by attribute: the result for a row does not depend on other rows.
        total = self._log_values.take(self._layout.slots(codes.T), axis=1).sum(axis=1)
        return total.T + self._log_prior

    def joint_grid(self) -> FloatArray:
        spans = self._layout.spans
        values = [((i,), np.exp(self._log_values[:, span])) for i, span in enumerate(spans)]
        return product_on_grid(self.cards, [((), np.exp(self._log_prior)), *values])


class FittedDiscretizedNaiveBayes(base.Described):
    """A Naive Bayes fitted to discretised rows, with the cuts of the training rows."""

    def __init__(self, sample: Sample, alpha: float) -> None:
        from simstudy.data.preparation.discretize import Discretizer

        self._discretized = Discretizer.fit(sample)
        self._schema = sample.schema
        self._fitted = fit_nominal(self._discretized(sample), alpha)

    def _facts(self) -> list[str]:
        return [*self._fitted._facts(), "numbers discretised"]

    def predict_proba(self, codes: Sample | ArrayLike) -> FloatArray:
        """Return P(class | attributes), shape (rows, classes)."""
        values = attribute_values(codes, self._schema.cards[:-1])
        rows = Sample.of(np.column_stack([values, np.zeros(len(values))]), self._schema)
        return self._fitted.predict_proba(self._discretized(rows).attributes)
