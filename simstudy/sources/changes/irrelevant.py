"""Irrelevant attributes: independent of the class and of everything else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simstudy.errors import require
from simstudy.sources.changes.base import Change, Extent
from simstudy.sources.changes.world import World, extended
from simstudy.sources.families.base import check_range


@dataclass(frozen=True)
class Irrelevant(Change):
    """Irrelevant attributes are added, independent of all other variables.

    The distribution of each is drawn uniformly from all distributions over its values.

    Parameters
    ----------
    number : int >= 1, <= 1000
        How many attributes are added, after the others.
    values : (int, int), each >= 2, <= 1000000
        Range of the number of values of each.

    References
    ----------
    R. Kohavi & G. H. John (1997). Wrappers for feature subset selection. Artificial Intelligence
    97.
    """

    keeps_trees = False

    number: int = 5
    values: tuple[int, int] = (2, 5)

    def __post_init__(self) -> None:
        require(1 <= self.number <= 1000, "number", self.number, "it must be from 1 to 1000")
        check_range("values", self.values)

    def extent(self, extent: Extent) -> Extent:
        return extent.with_attributes(self.number, self.values)

    def apply(self, world: World, rng: np.random.Generator) -> World:
        additions = []
        for place in range(self.number):
            card = int(rng.integers(*self.values, endpoint=True))
            additions.append((f"irrelevant_{place + 1}", (), rng.dirichlet(np.ones(card))))
        return world.with_models(lambda model: extended(model, additions))
