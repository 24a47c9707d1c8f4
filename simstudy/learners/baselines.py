"""The baseline, class frequencies, and the oracle, the true probabilities.

With alpha = 1 the baseline is Weka's ZeroR; with alpha = 1/2 its information reward against the
training prior of Hope & Korb (2002) is exactly 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.attribute_arrays import attribute_values
from simstudy.data.sample import Sample
from simstudy.learners.base import Fitted, Generative, Learner, require_positive


@dataclass(frozen=True)
class Prior(Learner):
    """Baseline: training class frequencies, ignoring the attributes.

    P(c) = (n_c + α)/(N + kα).

    Parameters
    ----------
    alpha : float > 0
        Pseudocount added to every class count.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"numeric", "missing"})

    alpha: float = 0.5

    def __post_init__(self) -> None:
        require_positive(self, "alpha")

    @property
    def transforms(self) -> dict[str, str]:
        """Nothing but the classes is used."""
        return dict.fromkeys(("numeric", "scaled", "nominal", "missing"), "not used")

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> FittedPrior:
        return FittedPrior(sample.cards, sample.class_frequencies(self.alpha))


class FittedPrior(Generative):
    """Class frequencies; the attributes are taken as uniform and cancel."""

    def __init__(self, cards: tuple[int, ...], prior: FloatArray) -> None:
        self.cards = cards
        self._prior = prior

    def _facts(self) -> list[str]:
        return [*super()._facts(), "P = " + ", ".join(f"{p:.3g}" for p in self._prior)]

    def log_joint(self, codes: IntArray) -> FloatArray:
        log_uniform = -float(np.log(np.maximum(self.cards[:-1], 1)).sum())
        return np.tile(np.log(self._prior) + log_uniform, (len(codes), 1))

    def predict_proba(self, codes: IntArray) -> FloatArray:
        """Return the class frequencies directly, without rounding by logarithms."""
        return np.tile(self._prior, (len(attribute_values(codes, self.cards[:-1])), 1))


@dataclass(frozen=True)
class Truth(Learner):
    """The true class probabilities of the generated model; for studies only.

    No learner can expect a greater reward. Nothing is fitted.
    """

    knows_model: ClassVar[bool] = True

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> Fitted:
        raise ValueError("truth is for studies only: a sample does not contain the true posterior")
