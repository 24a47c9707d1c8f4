"""AODE models: a mixture with one component per attribute as the parent of the others.

Hope & Korb (2004), figure 4a and section 5.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simstudy.networks.model import Model
from simstudy.sources.families.base import Family, attribute_parents


@dataclass(frozen=True)
class AODEFamily(Family):
    """AODE models: a mixture of one-dependence networks, one per parent attribute.

    In component i, attribute i and the target are the parents of every other attribute, and the
    target is the only parent of attribute i. Components are equally likely and have CPTs of their
    own, except that they share the prior of the target (Hope & Korb 2004, section 5.1 and
    figure 4a).

    References
    ----------
    L. R. Hope & K. B. Korb (2004). A Bayesian metric for evaluating machine learning algorithms.
    AI 2004, LNAI 3339.
    """

    max_parents = 2

    @property
    def draws_trees(self) -> bool:
        return self.variables[1] < 3  # with one attribute there is one component

    def draw(self, rng: np.random.Generator) -> Model:
        cards = self.draw_cards(rng)
        attributes = range(len(cards) - 1)
        structures = [
            attribute_parents([[] if child == parent else [parent] for child in attributes])
            for parent in attributes
        ]
        return self.draw_model(rng, cards, *structures)
