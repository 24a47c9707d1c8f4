"""Latent class models: attributes and target are independent given a variable that is hidden."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simstudy.networks.model import Component, Model
from simstudy.sources.families.base import Family, check_range


@dataclass(frozen=True)
class LatentClassFamily(Family):
    """Latent class models: all variables are independent given a hidden one.

    The hidden variable is summed out exactly, P(x, y) = Σ_h P(h) P(y|h) Π_i P(x_i|h): a mixture
    with one component for each of its values (Lazarsfeld & Henry 1968).

    Parameters
    ----------
    latent : (int, int), each >= 2, <= 1000000
        Range of the number of values of the hidden variable.

    References
    ----------
    P. F. Lazarsfeld & N. W. Henry (1968). Latent Structure Analysis. Houghton Mifflin.
    """

    draws_trees = False
    max_parents = 0

    latent: tuple[int, int] = (2, 4)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("latent", self.latent)

    def draw(self, rng: np.random.Generator) -> Model:
        cards = self.draw_cards(rng)
        weights = self._draw_cpt(rng, (), int(rng.integers(*self.latent, endpoint=True)))
        no_parents = ((),) * len(cards)
        components = [
            Component(weight, no_parents, tuple(self._draw_cpt(rng, (), card) for card in cards))
            for weight in weights.tolist()
        ]
        return self.with_prior(Model(cards, components))
