"""Base class of families of random models."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from simstudy.arrays import FloatArray
from simstudy.errors import require
from simstudy.networks.model import Component, Model
from simstudy.networks.priors import with_marginal

Parents = Sequence[Sequence[int]]
_MAX = 10**6  # variables, and values of each
CPTS = ("dirichlet", "normalized_uniform")


@dataclass(frozen=True)
class Family(ABC):
    """Base class of families: a frozen dataclass of parameters with one method, `draw`.

    Models have a random number of variables with random numbers of values. Subclasses may add
    parameters.

    Parameters
    ----------
    variables : (int, int), each >= 2, <= 1000000
        Range of the number of variables, target included.
    values : (int, int), each >= 2, <= 1000000
        Range of the number of values of a variable.
    concentration : float > 0
        Concentration of the symmetric Dirichlet distribution of every row of every CPT; 1 is
        uniform over all distributions, smaller values give more extreme probabilities.
    cpts : {"dirichlet", "normalized_uniform"}
        Distribution of every row of every CPT: that Dirichlet distribution, or independent
        Uniform(0, 1) numbers divided by their sum, which favours even distributions.
    classes : int or (int, int), each >= 2, <= 1000000, optional
        Number of values of the target, or its range; by default that of ``values``.
    class_prior : "uniform" or list of float, optional
        The prior of the classes, in place of that drawn; P(attributes | class) stays as it is.
    """

    _allowed_cpts: ClassVar[tuple[str, ...]] = CPTS
    # Parameters that name files. A study passes on what `file_text` says of them, so that models
    # can be drawn where the files are not; the copies with its results end in `file_suffix`.
    files: ClassVar[tuple[str, ...]] = ()
    file_suffix: ClassVar[str] = ".txt"

    variables: tuple[int, int] = (4, 8)
    values: tuple[int, int] = (2, 5)
    concentration: float = 1.0
    cpts: Literal["dirichlet", "normalized_uniform"] = field(default="dirichlet", kw_only=True)
    classes: int | tuple[int, int] | None = field(default=None, kw_only=True)
    class_prior: Literal["uniform"] | tuple[float, ...] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_range("variables", self.variables, "2 (an attribute and the target)")
        check_range("values", self.values)
        check_range("classes", self.class_range)
        self._check_prior()
        self._check_cpts()

    def _take_cards(self, cards: Sequence[int], classes: int) -> None:
        """Set the ranges of a family whose models all have these numbers of values."""
        object.__setattr__(self, "variables", (len(cards),) * 2)
        object.__setattr__(self, "values", (min(cards), max(cards)))
        object.__setattr__(self, "classes", classes)
        self._check_cpts()
        self._check_prior()

    def _check_cpts(self) -> None:
        finite = 0 < self.concentration < np.inf
        require(finite, "concentration", self.concentration, "it must be above 0 and finite")
        allowed = f"it must be one of {', '.join(self._allowed_cpts)}"
        require(self.cpts in self._allowed_cpts, "cpts", self.cpts, allowed)
        if self.cpts != "dirichlet" and self.concentration != 1:
            text = f"concentration = {self.concentration} is not allowed with cpts = {self.cpts!r}"
            raise ValueError(f"{text}; it is a parameter of the Dirichlet distribution")

    def _check_prior(self) -> None:
        if self.class_prior is None or self.class_prior == "uniform":
            return
        prior = np.array(self.class_prior, dtype=np.float64)
        classes, listed = sorted({*self.class_range}), prior.ndim == 1 and (prior > 0).all()
        for kept, allowed in (
            (listed and (prior < 1).all(), "it must be 'uniform' or list probabilities above 0"),
            (abs(prior.sum() - 1) <= 1e-9, "the probabilities must sum to 1"),
            (
                classes == [prior.size],
                f"it lists {prior.size} probabilities, and models have "
                f"{' to '.join(map(str, classes))} classes",
            ),
        ):
            require(kept, "class_prior", self.class_prior, allowed)

    @property
    def class_range(self) -> tuple[int, int]:
        """The range of the number of classes."""
        if self.classes is None:
            return self.values
        return (self.classes, self.classes) if isinstance(self.classes, int) else self.classes

    @property
    def card_limits(self) -> list[int] | None:
        """The number of values of each variable, if it is the same in all models."""
        return None

    @property
    def draws_trees(self) -> bool:
        """Whether every model may be a TAN or a Naive Bayes.

        That is, a single network in which the target is a root and a parent of every attribute,
        and each attribute has at most one other parent.
        """
        return True

    @property
    def max_parents(self) -> int | None:
        """The largest number of parents of a variable, None if unknown."""
        return None

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Model:
        """Draw one random model."""

    def draw_cards(self, rng: np.random.Generator) -> tuple[int, ...]:
        """Draw the number of variables and the number of values of each, target last."""
        variables = rng.integers(*self.variables, endpoint=True)
        cards = rng.integers(*self.values, size=variables, endpoint=True)
        if self.classes is not None:
            cards[-1] = rng.integers(*self.class_range, endpoint=True)
        return tuple(int(card) for card in cards)

    def draw_causes(
        self, rng: np.random.Generator, cards: Sequence[int], most: int
    ) -> tuple[list[int], list[FloatArray]]:
        """Choose at most ``most`` parents of the target, and draw the marginals of attributes."""
        attributes = len(cards) - 1
        chosen = rng.choice(attributes, size=min(most, attributes), replace=False)
        return sorted(chosen.tolist()), [self._draw_cpt(rng, (), card) for card in cards[:-1]]

    def draw_model(
        self, rng: np.random.Generator, cards: Sequence[int], *structures: Parents
    ) -> Model:
        """Draw the CPTs of a model with the given structure.

        Several structures make a mixture of equally likely components with separate CPTs. Where
        the target has no parents, its prior is common to all components.
        """
        target = len(cards) - 1
        prior = self._draw_cpt(rng, (), cards[target])
        components = []
        for structure in structures:
            cpts, parents = [], tuple(map(tuple, structure))
            for variable, those in enumerate(parents):
                shared = variable == target and not those
                shape = tuple(cards[parent] for parent in those)
                cpts.append(prior if shared else self._draw_cpt(rng, shape, cards[variable]))
            components.append(Component(1 / len(structures), parents, tuple(cpts)))
        return self.with_prior(Model(cards, components))

    def with_prior(self, model: Model) -> Model:
        """Return a model with the class prior that the family states, if it states one."""
        if self.class_prior is None:
            return model
        classes = model.cards[-1]
        uniform = self.class_prior == "uniform"
        prior = np.full(classes, 1 / classes) if uniform else np.array(self.class_prior)
        return with_marginal(model, len(model.cards) - 1, prior)

    @classmethod
    def file_text(cls, key: str, path: Path) -> str:
        """Return the text that stands for the file of a parameter, whatever the file is called."""
        return path.read_text(encoding="utf-8")

    def _draw_cpt(
        self, rng: np.random.Generator, parent_cards: tuple[int, ...], card: int
    ) -> FloatArray:
        if self.cpts == "dirichlet":
            return rng.dirichlet(np.full(card, self.concentration), size=parent_cards)
        uniform = 1.0 - rng.random((*parent_cards, card))  # in (0, 1]: no row sums to 0
        return uniform / uniform.sum(axis=-1, keepdims=True)


def check_range(name: str, bounds: Sequence[int], floor: str = "2") -> None:
    """Refuse a range that starts below 2, ends before it starts or ends too high."""
    least, most = bounds
    rule = f"the range must start at no less than {floor} and must not end before it starts"
    require(2 <= least <= most, name, [least, most], rule)
    require(most <= _MAX, name, [least, most], f"the range must end at no more than {_MAX:,}")


def attribute_parents(tree: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """Return the parents of all variables with the target as a parent of every attribute.

    ``tree`` holds the attribute parents of each attribute.
    """
    return (*((*parents, len(tree)) for parents in tree), ())
