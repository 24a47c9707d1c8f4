"""k-dependence models: each attribute has up to k others as parents, beside the target.

The worked example of an extension; the class of models is that of Sahami (1996).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simstudy.networks.model import Model
from simstudy.sources.base import Family, attribute_parents


@dataclass(frozen=True)
class KDBFamily(Family):
    """Attributes in a random order, each with k random earlier ones as parents.

    Parameters
    ----------
    k : int
        How many attribute parents an attribute has; those that come before the (k+1)-th in the
        random order have all attributes before them.
    """

    k: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.k < 0:
            raise ValueError(f"k = {self.k} is not allowed; it must be at least 0")

    @property
    def draws_trees(self) -> bool:
        return self.k < 2 or self.attributes[1] < 4  # the third attribute has two before it

    def draw(self, rng: np.random.Generator) -> Model:
        cards = self.draw_cards(rng)
        order = [int(attribute) for attribute in rng.permutation(len(cards) - 1)]
        parents: list[list[int]] = [[] for _ in order]
        for place, attribute in enumerate(order):
            chosen = rng.choice(place, size=min(self.k, place), replace=False)
            parents[attribute] = sorted(order[index] for index in chosen)
        return self.draw_model(rng, cards, attribute_parents(parents))
