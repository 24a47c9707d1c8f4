"""Contract checks of families."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.networks.model import Model
from simstudy.sources.base import Family
from simstudy.sources.changes.world import Population
from simstudy.testing.contract import Contract, check_distributions, check_parameters, stream

_LARGEST_JOINT = 2**20
_CHANCE = 1e-6
_TINY = 1e-200  # products of probabilities below it lose precision


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
    contract = Contract(family)
    copy = check_parameters(contract, family)
    texts: set[str] = set()
    for index in range(draws):
        rule = "draw(rng) must return a Model"
        model = contract.attempt(rule, family.draw, stream(index))
        contract.require(isinstance(model, Model), rule, f"it returned a {type(model).__name__}")
        again = {each.draw(stream(index)).to_json() for each in (family, copy)}
        contract.require(
            again == {model.to_json()},
            "the same stream must draw the same model, also from a pickled copy",
            f"two draws from stream {index} differ",
        )
        texts |= again
        _check_cards(contract, family, model)
        check_rows(contract, model, stream(index, 1))
        if math.prod(model.cards) <= _LARGEST_JOINT:
            check_joint(contract, model, stream(index, 2))
    contract.require(
        len(texts) == draws or not varied,
        "different streams must draw different models",
        f"{draws} streams drew {len(texts)} different models",
    )


def _check_cards(contract: Contract, family: Family, model: Model) -> None:
    cards = model.cards
    contract.require(
        len(cards) >= 2 and cards[-1] >= 2,
        "a model must have at least one attribute and, last, a target of at least two values",
        f"its variables have {cards} values",
    )
    variables, values = getattr(family, "variables", None), getattr(family, "values", None)
    classes = family.class_range if isinstance(family, Family) else values
    for field, bounds, numbers in (
        ("variables", variables, (len(cards),)),
        ("values", values, cards[:-1]),
        ("values" if classes == values else "classes", classes, cards[-1:]),
    ):
        if isinstance(bounds, tuple | list) and len(bounds) == 2:
            contract.require(
                bounds[0] <= min(numbers) and max(numbers) <= bounds[1],
                f"models must stay within {field} = {bounds}",
                f"one has {len(cards)} variables (the target included) of {cards} values",
            )


def check_rows(contract: Contract, model: Model | Population, rng: np.random.Generator) -> None:
    """Check the shape, the prefixes and the posteriors of sampled rows."""
    seed = int(rng.integers(2**31))
    short, long = (model.sample(n, stream(seed)) for n in (50, 200))
    contract.require(
        long.cards == model.cards and len(long) == 200,
        "sample(200, rng) must give 200 rows over the model's variables",
        f"it gave {long!r} of a model with cards {model.cards}",
    )
    different = int((long.codes[:50] != short.codes).any(axis=1).sum())
    contract.require(
        different == 0,
        "a long sample must start with the rows of a short one from the same stream",
        f"{different} of the first 50 rows differ between samples of 50 and of 200 rows",
    )
    check_distributions(
        contract, "posterior", model.posterior(long.attributes), (200, model.cards[-1])
    )


def check_joint(
    contract: Contract, model: Model | Population, rng: np.random.Generator, number: int = 1000
) -> None:
    """Check posteriors and sampled frequencies against the joint distribution."""
    joint, cards = model.joint(), model.cards
    contract.require(
        joint.shape == cards and abs(joint.sum() - 1) <= 1e-9,
        "joint() must give every configuration its probability",
        f"its shape is {joint.shape} for cards {cards}, its sum {joint.sum()!r}",
    )
    by_class = joint.reshape(-1, cards[-1])
    possible = np.flatnonzero(by_class.sum(axis=1) > _TINY)
    chosen = rng.choice(possible, size=min(len(possible), 200), replace=False)
    posterior = model.posterior(np.stack(np.unravel_index(chosen, cards[:-1]), axis=1))
    expected = by_class[chosen] / by_class[chosen].sum(axis=1, keepdims=True)
    rule = "posterior must agree with joint()"
    contract.require_close(posterior, expected, rule, "they differ by")
    rule = "sampled frequencies must agree with joint()"
    check_frequencies(contract, model.sample(number, rng).codes, joint, rule)


def check_frequencies(contract: Contract, rows: IntArray, joint: FloatArray, rule: str) -> None:
    """Check sampled rows against the probabilities of all configurations."""
    places = np.ravel_multi_index(tuple(rows.T), joint.shape)
    impossible = int((joint.ravel()[places] == 0).sum())
    contract.require(impossible == 0, rule, f"{impossible} of {len(rows)} rows have probability 0")
    observed = np.bincount(places, minlength=joint.size)
    statistic, limit = chi_square(observed, len(rows) * joint.ravel())
    finding = f"chi-square is {statistic:.1f}; its upper limit at level 1e-6 is {limit:.1f}"
    contract.require(statistic <= limit, rule, finding)


def chi_square(observed: IntArray, expected: FloatArray) -> tuple[float, float]:
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
    spread = 2 / (9 * freedom)  # Wilson & Hilferty (1931)
    limit = freedom * (1 - spread + NormalDist().inv_cdf(1 - _CHANCE) * spread**0.5) ** 3
    return float(np.sum((seen - due) ** 2 / due)), limit
