"""The checks of the contract of families catch what breaks it."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.sample import Sample
from simstudy.networks.model import Component, Model
from simstudy.sources.families.base import Family, attribute_parents
from simstudy.sources.families.naive_bayes import NaiveBayesFamily
from simstudy.testing import (
    check_family,
)


@dataclass(frozen=True)
class NoModel(NaiveBayesFamily):
    def draw(self, rng: np.random.Generator) -> Any:
        return super().draw(rng).joint()


@dataclass(frozen=True)
class Crashing(NaiveBayesFamily):
    def draw(self, rng: np.random.Generator) -> Model:
        raise KeyError("lost")


class ColumnWise(Model):
    """Draws variable by variable, so rows depend on how many there are."""

    def sample(self, n: int, rng: np.random.Generator) -> Sample:
        uniform = rng.random((len(self.cards), n)).T
        return super().sample(n, FromUniform(uniform))  # type: ignore[arg-type]


class FromUniform:
    def __init__(self, uniform: FloatArray) -> None:
        self.uniform = uniform

    def random(self, shape: tuple[int, int]) -> FloatArray:
        return self.uniform


class Unconditional(Model):
    """Draws every variable from the first row of its table."""

    def sample(self, n: int, rng: np.random.Generator) -> Sample:
        tables = [cpt.reshape(-1, cpt.shape[-1])[0] for cpt in self.components[0].cpts]
        uniform = rng.random((n, len(tables)))
        bounds = [np.cumsum(table)[:-1] for table in tables]
        codes = [(uniform[:, [v]] >= b).sum(axis=1) for v, b in enumerate(bounds)]
        return Sample(np.stack(codes, axis=1), self.cards)


class Overconfident(Model):
    def posterior(self, codes: IntArray) -> FloatArray:
        squared = super().posterior(codes) ** 2
        return squared / squared.sum(axis=1, keepdims=True)


class Unnormalised(Model):
    def posterior(self, codes: IntArray) -> FloatArray:
        return np.exp(self.log_joint(codes))


class HalfJoint(Model):
    def joint(self) -> FloatArray:
        return super().joint() / 2


@dataclass(frozen=True)
class FamilyOf(NaiveBayesFamily):
    """Naive Bayes models turned into another kind of model."""

    kind: type[Model] = Model

    def draw(self, rng: np.random.Generator) -> Model:
        model = super().draw(rng)
        return self.kind(model.cards, model.components)


@dataclass(frozen=True)
class IgnoresTheStream(NaiveBayesFamily):
    def draw(self, rng: np.random.Generator) -> Model:
        return super().draw(np.random.default_rng())


@dataclass(frozen=True)
class AlwaysTheSame(NaiveBayesFamily):
    def draw(self, rng: np.random.Generator) -> Model:
        return super().draw(np.random.default_rng(1))


@dataclass(frozen=True)
class TooManyValues(Family):
    def draw(self, rng: np.random.Generator) -> Model:
        return self.draw_model(rng, (2, 9, 2, 3), attribute_parents([[], [], []]))


@dataclass(frozen=True)
class TooFewVariables(Family):
    def draw(self, rng: np.random.Generator) -> Model:
        return self.draw_model(rng, (2, 3), attribute_parents([[]]))


@dataclass(frozen=True)
class OneClass(Family):
    def draw(self, rng: np.random.Generator) -> Model:
        cpts = (rng.dirichlet(np.ones(2)), np.ones(1))
        return Model((2, 1), [Component(1.0, ((), ()), cpts)])


@dataclass
class Changeable:
    def draw(self, rng: np.random.Generator) -> Model:
        return NaiveBayesFamily().draw(rng)


@dataclass(frozen=True)
class Unpicklable(NaiveBayesFamily):
    helper: Any = field(default_factory=lambda: lambda: None)


@dataclass(frozen=True)
class Forgetful(NaiveBayesFamily):
    note: str = "kept"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "note": "lost"}


@pytest.mark.parametrize(
    ("family", "words"),
    [
        (NoModel(), r"NoModel: draw\(rng\) must return a Model; it returned a ndarray"),
        (Crashing(), r"draw\(rng\) must return a Model; it raised KeyError: 'lost'"),
        (FamilyOf(kind=ColumnWise), "a long sample must start .*; .* of the first 50 rows"),
        (FamilyOf(kind=Unconditional), r"frequencies must agree with joint\(\); chi-square is"),
        (FamilyOf(kind=Overconfident), r"posterior must agree with joint\(\); they differ by up"),
        (FamilyOf(kind=Unnormalised), "posterior must return one distribution .* differs from 1"),
        (FamilyOf(kind=HalfJoint), r"joint\(\) must give .*; its shape is .* its sum .*0?\.5"),
        (IgnoresTheStream(), "the same stream must draw the same model"),
        (AlwaysTheSame(), "different streams must draw different models; 20 streams drew 1 "),
        (TooManyValues(), r"must stay within values = \(2, 5\); one has .* \(2, 9, 2, 3\) values"),
        (TooFewVariables(), r"must stay within variables = \(4, 8\); one has 2 variables"),
        (OneClass(), r"a target of at least two values; its variables have \(2, 1\) values"),
        (Changeable(), "Changeable: it must be a frozen dataclass"),
        (NaiveBayesFamily, "it must be a frozen dataclass instance; it is <class"),
        (Unpicklable(), "it must pickle; it raised"),
        (Forgetful(), "it must equal its pickled copy; .*note='kept'.* became .*note='lost'"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_family_that_breaks_its_contract_is_named_with_the_reason(
    family: Any, words: str
) -> None:
    with pytest.raises(AssertionError, match=words):
        check_family(family)
