"""What every family of random models has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from simstudy.networks.model import Component, Model

Parents = Sequence[Sequence[int]]
_MOST = 10**6  # variables, and values of each
CPTS = ("dirichlet", "normalized_uniform")


@dataclass(frozen=True)
class Family(ABC):
    """Random models over a random number of variables with random numbers of values.

    A family is a frozen dataclass of its parameters with one method, `draw`; a subclass may add
    parameters of its own.

    Parameters
    ----------
    variables : (int, int)
        The least and the greatest number of variables, the target included.
    values : (int, int)
        The least and the greatest number of values of a variable.
    concentration : float
        Of the symmetric Dirichlet distribution that every row of every CPT is drawn from;
        1 makes all distributions equally likely, less makes them more extreme.
    cpts : {"dirichlet", "normalized_uniform"}
        How every row of every CPT is drawn: from that Dirichlet distribution, or as independent
        Uniform(0, 1) numbers divided by their sum, which favours even distributions.
    """

    variables: tuple[int, int] = (4, 8)
    values: tuple[int, int] = (2, 5)
    concentration: float = 1.0
    cpts: Literal["dirichlet", "normalized_uniform"] = field(default="dirichlet", kw_only=True)

    def __post_init__(self) -> None:
        for name, (least, most), floor in (
            ("variables", self.attributes, "2 (an attribute and the target)"),
            ("values", self.values, "2"),
        ):
            if least < 2 or most < least:
                raise ValueError(
                    f"{name} = [{least}, {most}] is not allowed; the range must start at no less "
                    f"than {floor} and must not end before it starts"
                )
            if most > _MOST:
                raise ValueError(
                    f"{name} = [{least}, {most}] is not allowed; the range must end at no more "
                    f"than {_MOST:,}"
                )
        if not 0 < self.concentration < np.inf:
            raise ValueError(
                f"concentration = {self.concentration} is not allowed; "
                "it must be above 0 and finite"
            )
        if self.cpts not in CPTS:
            raise ValueError(
                f"cpts = {self.cpts!r} is not allowed; it must be one of {', '.join(CPTS)}"
            )
        if self.cpts == "normalized_uniform" and self.concentration != 1:
            raise ValueError(
                f"concentration = {self.concentration} is not allowed with cpts = "
                "'normalized_uniform'; it is a parameter of the Dirichlet distribution"
            )

    @property
    def attributes(self) -> tuple[int, int]:
        """`variables` by its earlier name.

        A family written for earlier versions may have a field of this name in its place, so this
        is what the methods of families read.
        """
        return self.variables

    @property
    def draws_trees(self) -> bool:
        """Whether no model is known to be other than a TAN or a Naive Bayes.

        Those are single networks in which the target is a root and a parent of every attribute,
        and each attribute has at most one further parent.
        """
        return True

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Model:
        """Draw one random model."""

    def draw_cards(self, rng: np.random.Generator) -> tuple[int, ...]:
        """Draw how many variables there are and how many values each has, the target last."""
        variables = rng.integers(*self.attributes, endpoint=True)
        cards = rng.integers(*self.values, size=variables, endpoint=True)
        return tuple(int(card) for card in cards)

    def draw_model(
        self, rng: np.random.Generator, cards: Sequence[int], *structures: Parents
    ) -> Model:
        """Draw the CPTs of a model whose variables have the given parents.

        Several structures make a mixture of equally likely components, each with CPTs of its
        own. Where the target has no parents, its prior is common to all components.
        """
        target = len(cards) - 1
        prior = self._draw_cpt(rng, (), cards[target])
        components = []
        for structure in structures:
            cpts = [
                prior
                if variable == target and not parents
                else self._draw_cpt(rng, tuple(cards[p] for p in parents), cards[variable])
                for variable, parents in enumerate(structure)
            ]
            parents = tuple(tuple(parents) for parents in structure)
            components.append(Component(1 / len(structures), parents, tuple(cpts)))
        return Model(cards, components)

    def _draw_cpt(
        self, rng: np.random.Generator, parent_cards: tuple[int, ...], card: int
    ) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        if self.cpts == "dirichlet":
            return rng.dirichlet(np.full(card, self.concentration), size=parent_cards)
        uniform = 1.0 - rng.random((*parent_cards, card))  # in (0, 1]: no row sums to 0
        return uniform / uniform.sum(axis=-1, keepdims=True)


def attribute_parents(tree: Sequence[Sequence[int]]) -> list[list[int]]:
    """Parents of all variables when the target is a root and a parent of every attribute.

    ``tree`` holds for each attribute its parents among the attributes.
    """
    target = len(tree)
    return [[*parents, target] for parents in tree] + [[]]
