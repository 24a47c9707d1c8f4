"""Label noise: some rows are labelled with another class than theirs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from simstudy.arrays import FloatArray
from simstudy.errors import require
from simstudy.sources.changes.base import Change, Extent
from simstudy.sources.changes.duplicate import replaced
from simstudy.sources.changes.world import World


@dataclass(frozen=True)
class LabelNoise(Change):
    """Labels are wrong in some rows, whatever the attributes.

    On training rows only, the truth is the posterior of the true class, and the limit of a learner
    is its fit to the rows with wrong labels. On both, the truth is the posterior of the label.

    Parameters
    ----------
    rate : float >= 0, <= 1
        How often a label is wrong; all wrong classes are equally likely.
    confusion : list of lists of float, optional
        Instead of a rate: in row i the probabilities of the labels of a row of class i.
    on : {"train", "both"}
        Whether only the labels of training rows are wrong, or those of test rows too.

    References
    ----------
    D. Angluin & P. Laird (1988). Learning from noisy examples. Machine Learning 2.
    """

    rate: float = 0.1
    confusion: tuple[tuple[float, ...], ...] | None = None
    on: Literal["train", "both"] = "train"

    def __post_init__(self) -> None:
        require(0 <= self.rate <= 1, "rate", self.rate, "it must be from 0 to 1")
        require(self.on in ("train", "both"), "on", self.on, "it must be 'train' or 'both'")
        if self.confusion is None:
            return
        rows = [np.array(row, dtype=np.float64) for row in self.confusion]
        if len(rows) < 2 or {len(row) for row in rows} != {len(rows)}:
            raise ValueError("confusion must have as many columns as rows, one for each class")
        if not all((row >= 0).all() and abs(row.sum() - 1) <= 1e-9 for row in rows):
            raise ValueError("every row of confusion must hold probabilities that sum to 1")

    def extent(self, extent: Extent) -> Extent:
        if self.confusion is not None:
            extent.demand_classes("confusion", len(self.confusion))
        return extent

    def apply(self, world: World, rng: np.random.Generator) -> World:
        confusion = self._matrix(world.train.cards[-1])
        if self.on == "both":
            return world.changed(lambda population: population.with_labels(confusion))
        return World(world.train.with_labels(confusion), world.test)

    def _matrix(self, classes: int) -> FloatArray:
        if self.confusion is None:
            return replaced(classes, self.rate)
        if len(self.confusion) != classes:
            text = f"confusion is for {len(self.confusion)} classes, and the model has {classes}"
            raise ValueError(text)
        return np.array(self.confusion)
