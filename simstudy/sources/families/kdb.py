"""k-dependence models: up to k attribute parents per attribute, besides the target.

The model class is that of Sahami (1996).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simstudy.errors import require
from simstudy.networks.model import Model
from simstudy.sources.families.base import Family, attribute_parents


@dataclass(frozen=True)
class KDBFamily(Family):
    """k-dependence models: k random earlier attributes as parents of each (Sahami 1996).

    Parameters
    ----------
    k : int >= 0
        Number of attribute parents per attribute; the first k attributes in the random order
        have all earlier attributes as parents.

    References
    ----------
    M. Sahami (1996). Learning limited dependence Bayesian classifiers. KDD-96.
    """

    k: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.k >= 0, "k", self.k, "it must be at least 0")

    @property
    def draws_trees(self) -> bool:
        return self.k < 2 or self.variables[1] < 4  # the third attribute has two parents

    @property
    def max_parents(self) -> int:
        return 1 + min(self.k, self.variables[1] - 2)

    def draw(self, rng: np.random.Generator) -> Model:
        cards = self.draw_cards(rng)
        order = [int(attribute) for attribute in rng.permutation(len(cards) - 1)]
        parents: list[list[int]] = [[] for _ in order]
        for place, attribute in enumerate(order):
            chosen = rng.choice(place, size=min(self.k, place), replace=False)
            parents[attribute] = sorted(order[index] for index in chosen)
        return self.draw_model(rng, cards, attribute_parents(parents))
