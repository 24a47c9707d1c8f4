"""Duplicate attributes: copies of others, exact or with some values replaced."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simstudy.arrays import FloatArray
from simstudy.errors import require
from simstudy.sources.changes.base import Change, Extent
from simstudy.sources.changes.world import World, extended


@dataclass(frozen=True)
class Duplicate(Change):
    """Copies of attributes are added, exact or with some values replaced.

    Parameters
    ----------
    number : int >= 1, <= 1000
        How many copies are added, after the other attributes. The attributes to copy are chosen at
        random, all of them before one is copied twice.
    rate : float >= 0, <= 1
        How often a copy has one of the other values, all equally likely; 0 for exact copies.
    attributes : list of str, optional
        The attributes to copy instead, ``number`` times each.

    References
    ----------
    P. Langley & S. Sage (1994). Induction of selective Bayesian classifiers. UAI-94.
    """

    keeps_trees = False

    number: int = 1
    rate: float = 0.0
    attributes: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        require(1 <= self.number <= 1000, "number", self.number, "it must be from 1 to 1000")
        require(0 <= self.rate <= 1, "rate", self.rate, "it must be from 0 to 1")

    def extent(self, extent: Extent) -> Extent:
        named = 1 if self.attributes is None else len(self.attributes)
        return extent.with_attributes(self.number * named, extent.values)

    def apply(self, world: World, rng: np.random.Generator) -> World:
        model, chosen = world.train.model, list[int]()
        if self.attributes is not None:
            chosen = [*map(world.train.attribute, self.attributes)] * self.number
        else:
            while len(chosen) < self.number:
                chosen += rng.permutation(len(model.cards) - 1).tolist()
            del chosen[self.number :]
        names, cards = model.names, model.cards
        copies = [(f"{names[v]}_copy", (v,), replaced(cards[v], self.rate)) for v in chosen]
        return world.with_models(lambda each: extended(each, copies))


def replaced(values: int, rate: float) -> FloatArray:
    """Return P(value shown | value): at this rate another value is shown, all equally likely."""
    if values == 1:
        return np.ones((1, 1))
    table = np.full((values, values), rate / (values - 1))
    np.fill_diagonal(table, 1 - rate)
    return table
