"""Contract checks of changes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simstudy.arrays import FloatArray
from simstudy.networks.model import Model
from simstudy.sources.aode import AODEFamily
from simstudy.sources.base import Family
from simstudy.sources.changes.base import Change
from simstudy.sources.changes.world import Population, World
from simstudy.sources.random_dag import RandomDAGFamily
from simstudy.sources.tan import TANFamily
from simstudy.testing.contract import Contract, check_distributions, check_parameters, stream
from simstudy.testing.families import check_frequencies, check_joint, check_rows

_SMALL = ((3, 4), (2, 3))  # variables, and values of each
# A tree, a mixture, and networks whose target is anywhere.
FAMILIES = (TANFamily(*_SMALL), AODEFamily(*_SMALL), RandomDAGFamily(*_SMALL))


def check_change(
    change: Change, families: Sequence[Family] = FAMILIES, draws: int = 4, rows: int = 1000
) -> None:
    """Check that a change satisfies its contract.

    - The change is a frozen dataclass and survives pickling unchanged.
    - ``apply(world, rng)`` returns a `World` and leaves the given one as it was; the same stream
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
    contract = Contract(change)
    copy = check_parameters(contract, change)
    for family in families:
        for index in range(draws):
            _check_model(contract, (change, copy), family.draw(stream(index)), index, rows)


def _check_model(
    contract: Contract, changes: tuple[Change, Change], model: Model, index: int, rows: int
) -> None:
    world, before = World.of(model), model.to_json()
    rule = "apply(world, rng) must return a World"
    made, *again = (
        contract.attempt(rule, change.apply, world, stream(index))
        for change in (changes[0], *changes)
    )
    contract.require(isinstance(made, World), rule, f"it returned a {type(made).__name__}")
    contract.require(
        model.to_json() == before and world.digest() == model.digest(),
        "the given world must stay as it is",
        "its model is another one after apply",
    )
    contract.require(
        {copy.digest() for copy in again} == {made.digest()},
        "the same stream must make the same world, also with a pickled copy",
        f"two changes with stream {index} differ",
    )
    contract.require(
        made.train.cards == made.test.cards and len(made.test.cards) > 1 < made.test.cards[-1],
        "training and test rows must have the same variables and two classes or more",
        f"they have {made.train.cards} and {made.test.cards} values",
    )
    both = [made.train] if made.train is made.test else [made.train, made.test]
    for place, population in enumerate(both):
        check_rows(contract, population, stream(index, 1))
        if population.gaps:
            _check_seen(contract, population, stream(index, 2 + place), rows)
        else:
            check_joint(contract, population, stream(index, 2 + place), rows)


def _check_seen(
    contract: Contract, population: Population, rng: np.random.Generator, rows: int
) -> None:
    """Check posteriors and sampled frequencies of rows with missing values."""
    joint, sample = seen_joint(population), population.sample(rows, rng)
    # a missing value is one more, after the others
    places = np.where(sample.codes < 0, np.array(population.cards), sample.codes)
    posterior = population.posterior(sample)
    check_distributions(contract, "posterior", posterior, (rows, joint.shape[-1]))
    expected = joint[tuple(places[:, :-1].T)]
    expected = expected / expected.sum(axis=1, keepdims=True)
    rule = "the posterior must be that given the values seen"
    contract.require_close(posterior, expected, rule, "it differs by")
    rule = "sampled frequencies, those of missing values included, must agree with the population's"
    check_frequencies(contract, places, joint, rule)


def seen_joint(population: Population) -> FloatArray:
    """Return the probability of every row as seen, a missing value being one more, the last."""
    cards = population.cards
    joint = population.model.joint()
    if population.labels is not None:
        joint = np.einsum("...c,cl->...l", joint, population.labels)
    total = np.zeros([*(card + 1 for card in cards[:-1]), cards[-1]])
    attributes = len(cards) - 1
    for index in np.ndindex(*cards[:-1]):
        kept = np.ones(attributes)
        for gap in population.gaps:
            rate = gap.rates[0 if gap.given is None else index[gap.given]]
            kept[list(gap.attributes)] *= 1 - rate
        for pattern in np.ndindex(*(2,) * attributes):
            lost = np.array(pattern, dtype=bool)
            place = tuple(np.where(lost, cards[:-1], index).tolist())
            total[place] += np.where(lost, 1 - kept, kept).prod() * joint[index]
    return total
