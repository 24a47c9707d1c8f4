"""Contract checks of what makes models: families and changes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import chdtri

from simstudy.arrays import FloatArray, IntArray
from simstudy.networks.model import Model
from simstudy.sources.changes.base import Change
from simstudy.sources.changes.world import Population, World
from simstudy.sources.families.aode import AODEFamily
from simstudy.sources.families.base import Family
from simstudy.sources.families.random_dag import RandomDAGFamily
from simstudy.sources.families.tan import TANFamily
from simstudy.testing.contract import C, Contract, stream

_MAX_JOINT = 2**20
_CHANCE = 1e-6
_TINY = 1e-200  # products of probabilities below it lose precision
_SMALL = ((3, 4), (2, 3))  # variables, and values of each
# A tree, a mixture, and networks whose target is anywhere.
FAMILIES = (TANFamily(*_SMALL), AODEFamily(*_SMALL), RandomDAGFamily(*_SMALL))


def check_family(family: Family, draws: int = 20, varied: bool = True) -> None:
    """Check that a family satisfies its contract.

    - The family is a frozen dataclass and survives pickling unchanged.
    - ``draw(rng)`` returns a `Model` with at least one attribute and at least two classes.
    - The same stream draws the same model; different streams draw different models, unless
      ``varied`` is False.
    - The numbers of variables and of values are within the family's ``variables`` and ``values``,
      if it has such ranges.
    - A long sample starts with the rows of a short one from the same stream.
    - Posteriors are distributions. In models of up to a million configurations the joint sums
      to one, posteriors agree with it, and so do sampled frequencies (chi-square test).

    Parameters
    ----------
    family : Family
        The family, with its parameters.
    draws : int
        Number of models to draw and check.
    varied : bool
        False for a family that may draw the same model more than once.

    Raises
    ------
    AssertionError
        States in one sentence what the contract requires and what was found.
    """
    contract = ModelContract(family)
    copy = contract.pickled()
    texts: set[str] = set()
    for index in range(draws):
        rule = "draw(rng) must return a Model"
        model = contract.attempt(rule, family.draw, stream(index))
        contract.require(isinstance(model, Model), rule, f"it returned a {type(model).__name__}")
        again = {each.draw(stream(index)).to_json() for each in (family, copy)}
        rule = "the same stream must draw the same model, also from a pickled copy"
        finding = f"two draws from stream {index} differ"
        contract.require(again == {model.to_json()}, rule, finding)
        texts |= again
        contract.check_cards(family, model)
        contract.check_rows(model, stream(index, 1))
        if math.prod(model.cards) <= _MAX_JOINT:
            contract.check_joint(model, stream(index, 2), 1000)
    rule = "different streams must draw different models"
    finding = f"{draws} streams drew {len(texts)} different models"
    contract.require(len(texts) == draws or not varied, rule, finding)


def check_change(
    change: Change, families: Sequence[Family] = FAMILIES, draws: int = 4, rows: int = 1000
) -> None:
    """Check that a change satisfies its contract.

    - The change is a frozen dataclass and survives pickling unchanged.
    - ``apply(world, rng)`` returns a `World` and leaves its argument as it was; the same stream
      makes the same world.
    - Training and test rows have the same variables, at least one attribute and two classes.
    - A long sample starts with the rows of a short one from the same stream.
    - The truth stays exact: posteriors agree with the joint distribution, given the values that are
      seen, and so do sampled frequencies, those of missing values included (chi-square test).

    Parameters
    ----------
    change : Change
        The change, with its parameters.
    families : sequence of Family
        Families of small models to change; by default trees, mixtures and networks with the
        target anywhere.
    draws : int
        Number of models of each family to change.
    rows : int
        Number of rows sampled from each.

    Raises
    ------
    AssertionError
        States in one sentence what the contract requires and what was found.
    """
    contract = ModelContract(change)
    copy = contract.pickled()
    for family in families:
        for index in range(draws):
            contract.check_change((change, copy), family.draw(stream(index)), index, rows)


class ModelContract(Contract[C]):
    """The contract of models and of the rows drawn from them."""

    def check_cards(self, family: Family, model: Model) -> None:
        """Check the numbers of variables and values against the ranges of a family."""
        cards = model.cards
        rule = "a model must have at least one attribute and, last, a target of at least two values"
        self.require(len(cards) > 1 < cards[-1], rule, f"its variables have {cards} values")
        variables, values = getattr(family, "variables", None), getattr(family, "values", None)
        classes = family.class_range if isinstance(family, Family) else values
        for field, bounds, numbers in (
            ("variables", variables, (len(cards),)),
            ("values", values, cards[:-1]),
            ("values" if classes == values else "classes", classes, cards[-1:]),
        ):
            if isinstance(bounds, tuple | list) and len(bounds) == 2:
                within = bounds[0] <= min(numbers) and max(numbers) <= bounds[1]
                rule = f"models must stay within {field} = {bounds}"
                finding = f"one has {len(cards)} variables (the target included) of {cards} values"
                self.require(within, rule, finding)

    def check_rows(self, model: Model | Population, rng: np.random.Generator) -> None:
        """Check the shape, the prefixes and the posteriors of sampled rows."""
        seed = int(rng.integers(2**31))
        short, long = (model.sample(n, stream(seed)) for n in (50, 200))
        rule = "sample(200, rng) must give 200 rows over the model's variables"
        finding = f"it gave {long!r} of a model with cards {model.cards}"
        self.require(long.cards == model.cards and len(long) == 200, rule, finding)
        different = int((long.codes[:50] != short.codes).any(axis=1).sum())
        rule = "a long sample must start with the rows of a short one from the same stream"
        finding = f"{different} of the first 50 rows differ between samples of 50 and of 200 rows"
        self.require(different == 0, rule, finding)
        posterior = model.posterior(long.attributes)
        self.require_distributions("posterior", posterior, (200, model.cards[-1]))

    def check_joint(self, model: Model | Population, rng: np.random.Generator, rows: int) -> None:
        """Check posteriors and sampled frequencies against the joint distribution."""
        joint, cards = model.joint(), model.cards
        rule = "joint() must give every configuration its probability"
        finding = f"its shape is {joint.shape} for cards {cards}, its sum {joint.sum()!r}"
        self.require(joint.shape == cards and abs(joint.sum() - 1) <= 1e-9, rule, finding)
        by_class = joint.reshape(-1, cards[-1])
        possible = np.flatnonzero(by_class.sum(axis=1) > _TINY)
        chosen = rng.choice(possible, size=min(len(possible), 200), replace=False)
        posterior = model.posterior(np.stack(np.unravel_index(chosen, cards[:-1]), axis=1))
        expected = by_class[chosen] / by_class[chosen].sum(axis=1, keepdims=True)
        rule = "posterior must agree with joint()"
        self.require_close(posterior, expected, rule, "they differ by")
        rule = "sampled frequencies must agree with joint()"
        self._check_frequencies(model.sample(rows, rng).codes, joint, rule)

    def _check_frequencies(self, rows: IntArray, joint: FloatArray, rule: str) -> None:
        """Check sampled rows against the probabilities of all configurations."""
        places = np.ravel_multi_index(tuple(rows.T), joint.shape)
        impossible = int((joint.ravel()[places] == 0).sum())
        self.require(impossible == 0, rule, f"{impossible} of {len(rows)} rows have probability 0")
        observed = np.bincount(places, minlength=joint.size)
        statistic, limit = _chi_square(observed, len(rows) * joint.ravel())
        finding = f"chi-square is {statistic:.1f}; its upper limit at level 1e-6 is {limit:.1f}"
        self.require(statistic <= limit, rule, finding)

    def check_change(
        self, changes: tuple[Change, Change], model: Model, index: int, rows: int
    ) -> None:
        """Check what a change and its copy make of a model."""
        world, before = World.of(model), model.to_json()
        rule = "apply(world, rng) must return a World"
        made, *again = (
            self.attempt(rule, change.apply, world, stream(index))
            for change in (changes[0], *changes)
        )
        self.require(isinstance(made, World), rule, f"it returned a {type(made).__name__}")
        kept = model.to_json() == before and world.digest() == model.digest()
        rule = "the world must stay as it is"
        self.require(kept, rule, "apply changed its model")
        rule = "the same stream must make the same world, also with a pickled copy"
        same = {copy.digest() for copy in again} == {made.digest()}
        self.require(same, rule, f"two changes with stream {index} differ")
        train, test = made.train, made.test
        fits = train.cards == test.cards and len(test.cards) > 1 < test.cards[-1]
        rule = "training and test rows must have the same variables and two classes or more"
        self.require(fits, rule, f"they have {train.cards} and {test.cards} values")
        for place, population in enumerate([train] if train is test else [train, test]):
            self.check_rows(population, stream(index, 1))
            check = self._check_seen if population.gaps else self.check_joint
            check(population, stream(index, 2 + place), rows)

    def _check_seen(self, population: Population, rng: np.random.Generator, rows: int) -> None:
        """Check posteriors and sampled frequencies of rows with missing values."""
        joint, sample = seen_joint(population), population.sample(rows, rng)
        # a missing value is one more, after the others
        places = np.where(sample.codes < 0, np.array(population.cards), sample.codes)
        posterior = population.posterior(sample)
        self.require_distributions("posterior", posterior, (rows, joint.shape[-1]))
        expected = joint[tuple(places[:, :-1].T)]
        expected = expected / expected.sum(axis=1, keepdims=True)
        rule = "the posterior must be that given the values seen"
        self.require_close(posterior, expected, rule, "it differs by")
        rule = "sampled frequencies, those of missing values included, must agree with the "
        self._check_frequencies(places, joint, rule + "population's")


def seen_joint(population: Population) -> FloatArray:
    """Return the probability of every row as seen, a missing value being one more, the last."""
    joint = replace(population, gaps=()).joint()
    kept: list[FloatArray] = [np.ones(())] * (joint.ndim - 1)  # how often, by the value given
    for gap in population.gaps:
        shape = [-1 if axis == gap.given else 1 for axis in range(joint.ndim)]
        for attribute in gap.attributes:
            kept[attribute] = kept[attribute] * (1 - np.reshape(gap.rates, shape))
    # those that are never missing, one of which may be given, come last
    for axis in sorted(range(joint.ndim - 1), key=lambda attribute: kept[attribute].ndim == 0):
        lost = (joint * (1 - kept[axis])).sum(axis=axis, keepdims=True)
        joint = np.concatenate([joint * kept[axis], lost], axis=axis)
    return joint


def _chi_square(observed: IntArray, expected: FloatArray) -> tuple[float, float]:
    """Return Pearson's statistic with rare cells grouped, and its critical value."""
    order = np.argsort(expected, kind="stable")
    observed, expected = observed[order], expected[order]
    # In ascending order, cutting the cumulative sum every 10 leaves at least 5 in each group
    # except perhaps the last.
    begins = np.cumsum(expected) - expected
    starts = np.flatnonzero(np.diff(begins // 10, prepend=-1.0))
    if len(starts) > 1 and expected[starts[-1] :].sum() < 5:
        starts = starts[:-1]
    seen, due = np.add.reduceat(observed, starts), np.add.reduceat(expected, starts)
    freedom = len(starts) - 1
    if freedom == 0:
        return 0.0, 0.0
    return float(np.sum((seen - due) ** 2 / due)), float(chdtri(freedom, _CHANCE))
