"""Naive Bayes.

Domingos & Pazzani (1997); with alpha = 1 the estimates are those of Weka's NaiveBayes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.sample import Sample, SlotLayout
from simstudy.learners.base import Generative, Learner, product_on_grid, require, sum_of_gathered


@dataclass(frozen=True)
class NaiveBayes(Learner):
    """Naive Bayes with Dirichlet smoothing (Domingos & Pazzani 1997).

    P(c) = (n_c + α)/(N + kα) and P(x_i|c) = (n_{c,x_i} + α)/(n_c + r_i α).

    Parameters
    ----------
    alpha : float > 0
        Pseudocount added to every count; 1 is Laplace smoothing.

    References
    ----------
    P. Domingos & M. Pazzani (1997). On the optimality of the simple Bayesian classifier under
    zero-one loss. Machine Learning 29.
    """

    alpha: float = 1.0

    def __post_init__(self) -> None:
        require(0 < self.alpha < np.inf, "alpha", self.alpha, "it must be above 0 and finite")

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> FittedNaiveBayes:
        layout = sample.layout
        prior = sample.class_frequencies(self.alpha)
        totals = sample.class_counts[:, None] + layout.slot_cards * self.alpha
        values = (sample.slot_counts + self.alpha) / totals
        return FittedNaiveBayes(sample.cards, layout, np.log(prior), np.log(values))


class FittedNaiveBayes(Generative):
    """A fitted Naive Bayes: log P(class), and log P(value | class) for every slot."""

    def __init__(
        self,
        cards: tuple[int, ...],
        layout: SlotLayout,
        log_prior: FloatArray,
        log_values: FloatArray,
    ) -> None:
        self.cards = cards
        self._layout = layout
        self._log_prior = log_prior
        self._log_values = log_values

    def log_joint(self, codes: IntArray) -> FloatArray:
        return sum_of_gathered(self._log_values, self._layout.slots(codes.T)) + self._log_prior

    def joint_grid(self) -> FloatArray:
        spans = self._layout.spans
        values = [((i,), np.exp(self._log_values[:, span])) for i, span in enumerate(spans)]
        return product_on_grid(self.cards, [((), np.exp(self._log_prior)), *values])
