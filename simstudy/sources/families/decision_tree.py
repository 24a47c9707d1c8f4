"""Decision tree models: the class depends on the attributes through a random tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simstudy.errors import require
from simstudy.networks.model import Component, Model
from simstudy.sources.families.base import Family

if TYPE_CHECKING:
    from simstudy.arrays import FloatArray


@dataclass(frozen=True)
class DecisionTreeFamily(Family):
    """Decision tree models: independent attributes, and classes that a random tree decides on.

    The tree is grown from its root. Each node tests an attribute, chosen at random among those
    not yet tested above it, and has a branch for each value; below the root, a branch ends in a
    leaf with probability ``leaf``, and always at the largest depth. P(class) of each leaf and the
    marginals of the attributes are drawn as CPTs are. C4.5's world (Quinlan 1993).

    Parameters
    ----------
    depth : int >= 1
        Largest number of tests on a path.
    leaf : float >= 0, < 1
        Probability that a branch ends before the largest depth.
    relevant : int >= 1
        Largest number of attributes that the tree may test, chosen at random.

    References
    ----------
    J. R. Quinlan (1993). C4.5: Programs for Machine Learning. Morgan Kaufmann.
    """

    draws_trees = False

    depth: int = 3
    leaf: float = 0.25
    relevant: int = 6

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.depth >= 1, "depth", self.depth, "it must be at least 1")
        require(self.relevant >= 1, "relevant", self.relevant, "it must be at least 1")
        require(0 <= self.leaf < 1, "leaf", self.leaf, "it must be at least 0 and below 1")

    @property
    def max_parents(self) -> int:
        return min(self.relevant, self.variables[1] - 1)

    def draw(self, rng: np.random.Generator) -> Model:
        cards = self.draw_cards(rng)
        chosen, cpts = self.draw_causes(rng, cards, self.relevant)
        attributes, number = len(cards) - 1, len(chosen)
        table = np.empty([*(cards[u] for u in chosen), cards[-1]])
        tested: set[int] = set()
        self._grow(rng, table, list(range(number)), 0, tested)
        # attributes that the tree does not test are no parents
        place = tuple(slice(None) if u in tested else 0 for u in range(number))
        parents = (*[()] * attributes, tuple(chosen[u] for u in sorted(tested)))
        component = Component(1.0, parents, (*cpts, table[place].copy()))
        return self.with_prior(Model(cards, [component]))

    def _grow(
        self,
        rng: np.random.Generator,
        part: FloatArray,
        free: list[int],
        depth: int,
        tested: set[int],
    ) -> None:
        """Fill the part of the table that a branch leads to; ``free`` are its axes' attributes."""
        if not free or depth == self.depth or (depth and rng.random() < self.leaf):
            part[...] = self._draw_cpt(rng, (), part.shape[-1])
            return
        axis = int(rng.integers(len(free)))
        tested.add(free[axis])
        below = [*free[:axis], *free[axis + 1 :]]
        for value in range(part.shape[axis]):
            self._grow(rng, part[(slice(None),) * axis + (value,)], below, depth + 1, tested)
