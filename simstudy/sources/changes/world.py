"""What rows are drawn from, and what is seen of them: models, wrong labels, missing values."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from simstudy.arrays import BoolArray, FloatArray, IntArray
from simstudy.data.codes import MISSING
from simstudy.data.sample import Sample
from simstudy.data.schema import Schema
from simstudy.errors import suggestion
from simstudy.networks.model import Model


@dataclass(frozen=True)
class Gaps:
    """Which attributes lose values, and with what probability.

    A value is lost independently of all others and of the class, given the attribute ``given``.
    That one is always observed, so what is lost depends only on what is seen: the posterior given
    the values that are seen is the same as if the others had never been measured (Rubin 1976).

    Attributes
    ----------
    attributes : tuple of int
        The attributes that lose values.
    rates : tuple of float
        The probability, for each value of ``given``; one number without it.
    given : int, optional
        The attribute that the probability depends on.
    """

    attributes: tuple[int, ...]
    rates: tuple[float, ...]
    given: int | None = None

    def lost(self, codes: IntArray, rng: np.random.Generator) -> BoolArray:
        """Draw which values of these attributes are lost in complete rows."""
        rates = np.array(self.rates)
        rate = rates[0] if self.given is None else rates[codes[:, self.given]][:, None]
        # Row by row, so that a longer draw starts with the same rows.
        return rng.random((len(codes), len(self.attributes))) < rate


@dataclass(frozen=True, eq=False)
class Population:
    """Rows of a model as they are seen: their labels may be wrong, values may be missing.

    Everything is exact: the posterior is that of the label seen, given the values seen.

    Attributes
    ----------
    model : Model
        What complete rows with true classes are drawn from.
    labels : array of shape (classes, classes), optional
        P(label seen | class); without it, the class is seen.
    gaps : tuple of Gaps
        Which values are missing.
    """

    model: Model
    labels: FloatArray | None = None
    gaps: tuple[Gaps, ...] = ()

    def __post_init__(self) -> None:
        lost = {attribute for gap in self.gaps for attribute in gap.attributes}
        for gap in self.gaps:
            if gap.given in lost:
                always = f"'{self.model.names[gap.given]}', which must itself never be missing"
                raise ValueError(f"values are missing given {always}")

    @property
    def cards(self) -> tuple[int, ...]:
        """The number of values of each variable, the target last."""
        return self.model.cards

    def sample(self, n: int, rng: np.random.Generator) -> Sample:
        """Draw ``n`` rows; a longer draw from the same stream starts with the same rows.

        Labels and missing values use separate streams, so that rows are those of the model
        but for what is changed.
        """
        drawn = self.model.sample(n, rng)
        if self.labels is None and not self.gaps:
            return drawn
        of_labels, *of_gaps = rng.spawn(1 + len(self.gaps))
        codes = drawn.codes.copy(order="F")
        if self.labels is not None:
            bounds = np.cumsum(self.labels, axis=1)[:, :-1].take(codes[:, -1], axis=0)
            codes[:, -1] = (of_labels.random(n)[:, None] >= bounds).sum(axis=1)
        complete = codes.copy(order="F") if self.gaps else codes
        for gap, stream in zip(self.gaps, of_gaps, strict=True):
            for column, lost in zip(gap.attributes, gap.lost(complete, stream).T, strict=True):
                codes[lost, column] = MISSING
        if (codes >= 0).all():
            return Sample(codes, self.cards)
        return Sample.of(np.where(codes < 0, np.nan, codes), Schema.plain(self.cards))

    def joint(self) -> FloatArray:
        """Return the probability of every joint configuration, an array of shape ``cards``."""
        if self.gaps:
            raise ValueError("with missing values there is no joint distribution of complete rows")
        joint = self.model.joint()
        return joint if self.labels is None else joint @ self.labels

    def posterior(self, rows: IntArray | Sample) -> FloatArray:
        """Return P(label | attributes seen), shape (rows, classes).

        ``rows`` are a Sample, or codes of the attributes, −1 where a value is missing.
        """
        codes = rows.attributes if isinstance(rows, Sample) else rows
        complete = (codes >= 0).all(axis=1)
        if complete.all():
            return self._seen(self.model.posterior(codes))
        posterior = np.empty((len(codes), self.cards[-1]))
        posterior[complete] = self.model.posterior(codes[complete])
        posterior[~complete] = self.model.partial_posterior(codes[~complete])
        return self._seen(posterior)

    def class_prior(self) -> FloatArray:
        """Return the marginal P(label)."""
        return self._seen(self.model.class_prior())

    def _seen(self, classes: FloatArray) -> FloatArray:
        """Return probabilities of labels from those of classes."""
        return classes if self.labels is None else classes @ self.labels

    def with_labels(self, confusion: FloatArray) -> Population:
        """Return the same rows with labels confused once more."""
        before = np.eye(self.cards[-1]) if self.labels is None else self.labels
        return replace(self, labels=before @ confusion)

    def attribute(self, name: str) -> int:
        """Return the number of an attribute."""
        names = self.model.names[:-1]
        if name not in names:
            raise ValueError(f"no attribute is named '{name}'{suggestion(name, names)}")
        return names.index(name)

    def digest(self) -> str:
        """Return a short digest; that of the model if nothing hides its rows."""
        if self.labels is None and not self.gaps:
            return self.model.digest()
        content = hashlib.blake2b(self.model.digest().encode(), digest_size=8)
        if self.labels is not None:
            content.update(np.round(self.labels, 6).tobytes())
        content.update(repr(self.gaps).encode())
        return content.hexdigest()


@dataclass(frozen=True, eq=False)
class World:
    """Where a study's rows come from: training rows from one population, test rows from another.

    Without changes both are the same. The truth and the best possible scores are those of the
    test; the limit of a learner is its fit to the training population.

    Attributes
    ----------
    train, test : Population
        What training rows and what test rows are drawn from.
    """

    train: Population
    test: Population

    @classmethod
    def of(cls, model: Model) -> World:
        """Return the world of a model, with nothing changed."""
        population = Population(model)
        return cls(population, population)

    def changed(self, change: Callable[[Population], Population]) -> World:
        """Return the world with both populations changed; one that is both is changed once."""
        train = change(self.train)
        return World(train, train if self.test is self.train else change(self.test))

    def with_models(self, change: Callable[[Model], Model]) -> World:
        """Return the world with its models changed, and what is seen of their rows as it was."""
        return self.changed(lambda population: _with_model(population, change(population.model)))

    def digest(self) -> str:
        """Return a short digest of both populations."""
        if self.test is self.train:
            return self.train.digest()
        both = f"{self.train.digest()}|{self.test.digest()}"
        return hashlib.blake2b(both.encode(), digest_size=8).hexdigest()


def _with_model(population: Population, model: Model) -> Population:
    """Return a population of another model of the same classes."""
    if population.gaps and model.cards != population.cards:
        raise ValueError("the attributes must be changed before values are made missing")
    if population.labels is not None and model.cards[-1] != population.cards[-1]:
        raise ValueError("the classes must be changed before their labels are")
    return replace(population, model=model)


def extended(model: Model, additions: Sequence[tuple[str, tuple[int, ...], FloatArray]]) -> Model:
    """Return a model with further attributes after its own, each with a name, parents and a CPT.

    The parents are attributes of the model. A name that is taken gets a number.
    """
    target, more = len(model.cards) - 1, len(additions)
    names = list(model.names[:-1])
    for name, _, _ in additions:
        fresh, number = name, 2
        while fresh in (*names, model.names[-1]):
            fresh, number = f"{name}_{number}", number + 1
        names.append(fresh)
    cards = [*model.cards[:-1], *(cpt.shape[-1] for _, _, cpt in additions), model.cards[-1]]
    components = []
    for component in model.components:
        moved = [tuple(p + more * (p == target) for p in those) for those in component.parents]
        parents = (*moved[:-1], *(those for _, those, _ in additions), moved[-1])
        cpts = (*component.cpts[:-1], *(cpt for _, _, cpt in additions), component.cpts[-1])
        components.append(replace(component, parents=parents, cpts=cpts))
    return Model(cards, components, [*names, model.names[-1]])
