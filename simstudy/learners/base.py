"""What every learner has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeAlias

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.sample import Sample, check_codes, configurations

Factor: TypeAlias = tuple[tuple[int, ...], FloatArray]


class Fitted(Protocol):
    """What `Learner.fit` gives back: something that predicts class probabilities."""

    def predict_proba(self, codes: IntArray) -> FloatArray:
        """One row of class probabilities for each row of attribute codes."""
        ...


@dataclass(frozen=True)
class Learner(ABC):
    """A learner is a frozen dataclass of its parameters with one method, `fit`.

    One that can use the true structure has a method ``given_structure`` as well, by which a study
    tells it before `fit`; see `simstudy.learners.tan.TAN`.
    """

    knows_model: ClassVar[bool] = False  # instead of fitting, the engine hands over the truth

    @abstractmethod
    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> Fitted:
        """Learn from a sample; ``rng`` is for learners that draw at random."""


class Generative(ABC):
    """The fitted half of a learner that models attributes and class together.

    A subclass sets ``cards`` and writes `log_joint`; normalising is written here once.
    """

    cards: tuple[int, ...]

    @abstractmethod
    def log_joint(self, codes: IntArray) -> FloatArray:
        """log P(attributes, class) in nats, shape (rows, classes)."""

    def predict_proba(self, codes: IntArray) -> FloatArray:
        """P(class | attributes), shape (rows, classes)."""
        return normalise(self.log_joint(check_codes(codes, self.cards[:-1], "attribute")))

    def joint_grid(self) -> FloatArray:
        """P of every class with every row there can be, up to a factor, shape (classes, rows).

        The rows are those of `simstudy.data.sample.configurations`. A subclass that can multiply
        tables along axes, as by `product_on_grid`, is faster than row by row.
        """
        log_joint = self.log_joint(configurations(self.cards[:-1])).T
        joint: FloatArray = np.exp(log_joint - log_joint.max(axis=0))
        return joint

    def predict_grid(self) -> FloatArray:
        """What `predict_proba` answers for every row there can be, shape (rows, classes)."""
        joint = self.joint_grid()
        return (joint / joint.sum(axis=0)).T


def normalise(log_joint: FloatArray) -> FloatArray:
    """Class probabilities from their unnormalised logarithms, row by row."""
    # Few classes, many rows: one long vector for each class is the fast way round.
    by_class = np.ascontiguousarray(log_joint.T)
    scaled = np.exp(by_class - by_class.max(axis=0))
    scaled /= scaled.sum(axis=0)
    return scaled.T


def sum_of_gathered(tables: FloatArray, cells: IntArray) -> FloatArray:
    """Σ_i tables[c, cells[i, r]] for every row r and class c, shape (rows, classes).

    Added attribute by attribute, so that a row's sum never depends on the other rows.
    """
    total: FloatArray = tables.take(cells, axis=1).sum(axis=1)
    return total.T


def product_on_grid(cards: Sequence[int], factors: Iterable[Factor]) -> FloatArray:
    """The product of tables over all rows there can be, shape (classes, rows).

    A factor is the attributes of a table, in increasing order, and the table itself with the
    classes on its first axis, or 1 if they make no difference. Attributes enter from the last to
    the first, and a table as soon as its first attribute has an axis, while the product is small.
    """
    by_first: dict[int, list[Factor]] = {}
    for axes, table in factors:
        by_first.setdefault(axes[0] if axes else 0, []).append((axes, table))
    product = np.ones((cards[-1], 1))
    for first in range(len(cards) - 2, -1, -1):
        longer = np.repeat(product[:, None], cards[first], axis=1)
        for axes, table in by_first.get(first, ()):
            # Neighbouring attributes that the table lacks are one axis, for the sake of speed.
            sizes = [cards[first]]
            kept = [first in axes]
            for attribute in range(first + 1, len(cards) - 1):
                if attribute in axes or kept[-1]:
                    sizes.append(cards[attribute])
                    kept.append(attribute in axes)
                else:
                    sizes[-1] *= cards[attribute]
            shape = [size if keep else 1 for size, keep in zip(sizes, kept, strict=True)]
            grid = longer.reshape(cards[-1], *sizes)
            grid *= table.reshape(-1, *shape)
        product = longer.reshape(cards[-1], -1)
    return product


def require(condition: bool, parameter: str, value: object, allowed: str) -> None:
    """Refuse a parameter's value with a sentence that says what is allowed."""
    if not condition:
        raise ValueError(f"{parameter} = {value!r} is not allowed; {allowed}")
