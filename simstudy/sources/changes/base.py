"""Base class of changes to the models of a family."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from simstudy.sources.changes.world import World


@dataclass(frozen=True)
class Extent:
    """How large the models of a study may be, before any is drawn.

    Attributes
    ----------
    variables, values, classes : (int, int)
        Ranges of the number of variables, of the values of an attribute, and of the target.
    cards : tuple of int, optional
        The largest number of values of each variable, target last, if all models are alike.
    """

    variables: tuple[int, int]
    values: tuple[int, int]
    classes: tuple[int, int]
    cards: tuple[int, ...] | None = None

    def demand_classes(self, key: str, number: int) -> None:
        """Raise a ValueError unless all models have this number of classes."""
        if {*self.classes} != {number}:
            classes = " to ".join(map(str, sorted({*self.classes})))
            raise ValueError(f"{key} is for {number} classes, and models have {classes}")

    def with_attributes(self, number: int, values: tuple[int, int]) -> Extent:
        """Return the extent of models with this number of further attributes."""
        fewest, most = self.variables
        variables = fewest + number, most + number
        ends = min(self.values[0], values[0]), max(self.values[1], values[1])
        cards = self.cards and (*self.cards[:-1], *([values[1]] * number), self.cards[-1])
        return replace(self, variables=variables, values=ends, cards=cards)


@dataclass(frozen=True)
class Change(ABC):
    """Base class of changes: a frozen dataclass of parameters with one method, `apply`."""

    makes_missing: ClassVar[bool] = False  # whether rows then have missing values
    keeps_trees: ClassVar[bool] = True  # whether a TAN or Naive Bayes stays one

    @abstractmethod
    def apply(self, world: World, rng: np.random.Generator) -> World:
        """Return the changed world; the given one stays as it is."""

    def extent(self, extent: Extent) -> Extent:
        """Return how large models may be after the change."""
        return extent
