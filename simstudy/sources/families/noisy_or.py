"""Noisy-or models: independent attributes, each of which may cause the class by itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simstudy.arrays import FloatArray
from simstudy.errors import require
from simstudy.networks.model import Component, Model
from simstudy.sources.families.base import Family


@dataclass(frozen=True)
class NoisyOrFamily(Family):
    """Noisy-or models: attributes are independent causes of the class.

    A cause i in state x_i brings about a class Z_i; the class is the largest of them and of a leak
    Z_0, so that P(y ≤ k | x) = P(Z_0 ≤ k) Π_i P(Z_i ≤ k | x_i). In state 0 a cause is absent and
    Z_i = 0. With two values and two classes this is the noisy-or of Pearl (1988), else the
    noisy-max of Henrion (1989) and Díez (1993). The rows P(Z_i | x_i), x_i > 0, and the marginals
    of the attributes are drawn as other CPTs are.

    Parameters
    ----------
    causes : int >= 1
        Largest number of attributes that are causes, chosen at random; others are irrelevant.
    leak : float >= 0, < 1
        P(Z_0 > 0), shared evenly by the other classes.

    References
    ----------
    J. Pearl (1988). Probabilistic Reasoning in Intelligent Systems. Morgan Kaufmann.

    M. Henrion (1989). Some practical issues in constructing belief networks. Uncertainty in
    Artificial Intelligence 3.

    F. J. Díez (1993). Parameter adjustment in Bayes networks: the generalized noisy OR-gate.
    UAI-93.
    """

    draws_trees = False

    causes: int = 6
    leak: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.causes >= 1, "causes", self.causes, "it must be at least 1")
        require(0 <= self.leak < 1, "leak", self.leak, "it must be at least 0 and below 1")

    @property
    def max_parents(self) -> int:
        return min(self.causes, self.variables[1] - 1)

    def draw(self, rng: np.random.Generator) -> Model:
        cards = self.draw_cards(rng)
        chosen, cpts = self.draw_causes(rng, cards, self.causes)
        links = [self._draw_cpt(rng, (cards[u] - 1,), cards[-1]) for u in chosen]
        parents = (*[()] * (len(cards) - 1), tuple(chosen))
        component = Component(1.0, parents, (*cpts, noisy_max(links, self.leak, cards[-1])))
        return self.with_prior(Model(cards, [component]))


def noisy_max(links: list[FloatArray], leak: float, classes: int) -> FloatArray:
    """Return P(class | causes) with an axis for each cause.

    ``links`` are P(Z_i | x_i) for x_i = 1, 2, …, one array of shape (values − 1, classes) each.
    """
    below = 1 - leak + leak * np.arange(classes) / (classes - 1)  # P(Z_0 ≤ k)
    for place, link in enumerate(links):
        at_most = np.minimum(np.cumsum(link, axis=1), 1.0)
        at_most[:, -1] = 1.0
        cause = np.concatenate([np.ones((1, classes)), at_most])
        below = below[..., None, :] * cause.reshape([1] * place + [len(cause), classes])
    table: FloatArray = np.diff(below, axis=-1, prepend=0.0)
    return np.maximum(table, 0.0)
