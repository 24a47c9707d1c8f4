"""Base class of families of random models."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Sequence
from dataclasses import Field, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from simstudy.networks.model import Component, Model
from simstudy.networks.priors import with_class_prior

Parents = Sequence[Sequence[int]]
_MAX = 10**6  # variables, and values of each
CPTS = ("dirichlet", "normalized_uniform")


class _Renamed(ABCMeta):
    """Lets families be made with ``attributes``, the earlier name of ``variables``."""

    __dataclass_fields__: dict[str, Field[object]]

    def __call__(cls, *arguments: object, **options: object) -> Any:
        if "attributes" in options and "attributes" not in cls.__dataclass_fields__:
            options["variables"] = options.pop("attributes")
        return super().__call__(*arguments, **options)


@dataclass(frozen=True)
class Family(metaclass=_Renamed):
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
        for name, bounds, floor in (
            ("variables", self.attributes, "2 (an attribute and the target)"),
            ("values", self.values, "2"),
            ("classes", self.class_range, "2"),
        ):
            check_range(name, bounds, floor)
        self._check_prior()
        self._check_cpts()

    def _check_cpts(self) -> None:
        if not 0 < self.concentration < np.inf:
            raise ValueError(
                f"concentration = {self.concentration} is not allowed; "
                "it must be above 0 and finite"
            )
        if self.cpts not in self._allowed_cpts:
            allowed = f"it must be one of {', '.join(self._allowed_cpts)}"
            raise ValueError(f"cpts = {self.cpts!r} is not allowed; {allowed}")
        if self.cpts != "dirichlet" and self.concentration != 1:
            raise ValueError(
                f"concentration = {self.concentration} is not allowed with cpts = "
                f"{self.cpts!r}; it is a parameter of the Dirichlet distribution"
            )

    def _check_prior(self) -> None:
        if self.class_prior is None or self.class_prior == "uniform":
            return
        prior = np.array(self.class_prior, dtype=np.float64)
        stated = f"class_prior = {self.class_prior!r} is not allowed; "
        if prior.ndim != 1 or not ((prior > 0) & (prior < 1)).all():
            raise ValueError(f"{stated}it must be 'uniform' or list probabilities above 0")
        if abs(prior.sum() - 1) > 1e-9:
            raise ValueError(f"{stated}the probabilities must sum to 1")
        if {*self.class_range} != {len(prior)}:
            raise ValueError(
                f"{stated}it lists {len(prior)} probabilities, and models have "
                f"{' to '.join(map(str, sorted({*self.class_range})))} classes"
            )

    @property
    def class_range(self) -> tuple[int, int]:
        """The range of the number of classes."""
        if self.classes is None:
            least, most = self.values
            return least, most
        return (self.classes, self.classes) if isinstance(self.classes, int) else self.classes

    @property
    def card_limits(self) -> list[int] | None:
        """The number of values of each variable, if it is the same in all models."""
        return None

    @property
    def attributes(self) -> tuple[int, int]:
        """`variables` by its earlier name.

        A family written for earlier versions may have a field of this name in its place, so this
        is what the methods of families read.
        """
        return self.variables

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
        variables = rng.integers(*self.attributes, endpoint=True)
        cards = rng.integers(*self.values, size=variables, endpoint=True)
        if self.classes is not None:
            cards[-1] = rng.integers(*self.class_range, endpoint=True)
        return tuple(int(card) for card in cards)

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
            cpts = [
                prior
                if variable == target and not parents
                else self._draw_cpt(rng, tuple(cards[p] for p in parents), cards[variable])
                for variable, parents in enumerate(structure)
            ]
            parents = tuple(tuple(parents) for parents in structure)
            components.append(Component(1 / len(structures), parents, tuple(cpts)))
        return self.with_prior(Model(cards, components))

    def with_prior(self, model: Model) -> Model:
        """Return a model with the class prior that the family states, if it states one."""
        if self.class_prior is None:
            return model
        classes = model.cards[-1]
        uniform = self.class_prior == "uniform"
        return with_class_prior(
            model, np.full(classes, 1 / classes) if uniform else np.array(self.class_prior)
        )

    @classmethod
    def file_text(cls, key: str, path: Path) -> str:
        """Return the text that stands for the file of a parameter, whatever the file is called."""
        return path.read_text(encoding="utf-8")

    def _draw_cpt(
        self, rng: np.random.Generator, parent_cards: tuple[int, ...], card: int
    ) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        if self.cpts == "dirichlet":
            return rng.dirichlet(np.full(card, self.concentration), size=parent_cards)
        uniform = 1.0 - rng.random((*parent_cards, card))  # in (0, 1]: no row sums to 0
        return uniform / uniform.sum(axis=-1, keepdims=True)


def check_range(name: str, bounds: Sequence[int], floor: str) -> None:
    """Refuse a range that starts below 2, ends before it starts or ends too high."""
    least, most = bounds
    if least < 2 or most < least:
        raise ValueError(
            f"{name} = [{least}, {most}] is not allowed; the range must start at no less "
            f"than {floor} and must not end before it starts"
        )
    if most > _MAX:
        raise ValueError(
            f"{name} = [{least}, {most}] is not allowed; the range must end at no more "
            f"than {_MAX:,}"
        )


def attribute_parents(tree: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the parents of all variables with the target as a parent of every attribute.

    ``tree`` holds the attribute parents of each attribute.
    """
    target = len(tree)
    return [[*parents, target] for parents in tree] + [[]]
