"""Naive Bayes models: the target is the only parent of every attribute.

Hope & Korb (2004), figure 2a.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simstudy.networks.model import Model
from simstudy.sources.families.base import Family, attribute_parents


@dataclass(frozen=True)
class NaiveBayesFamily(Family):
    """Naive Bayes models: attributes independent given the target.

    The target is the only parent of every attribute (Hope & Korb 2004, section 5.1 and figure
    2a).

    References
    ----------
    L. R. Hope & K. B. Korb (2004). A Bayesian metric for evaluating machine learning algorithms.
    AI 2004, LNAI 3339.
    """

    max_parents = 1

    def draw(self, rng: np.random.Generator) -> Model:
        cards = self.draw_cards(rng)
        return self.draw_model(rng, cards, attribute_parents([[] for _ in cards[:-1]]))
