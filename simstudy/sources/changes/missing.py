"""Missing values, completely at random or at random given an attribute."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from simstudy.errors import require
from simstudy.sources.changes.base import Change
from simstudy.sources.changes.world import Gaps, Population, World


@dataclass(frozen=True)
class Missing(Change):
    """Values of attributes are missing, in training and test rows.

    Completely at random, or at random given an attribute that is always seen. Both are ignorable:
    the truth is the exact posterior given the values that are seen (Rubin 1976).

    Parameters
    ----------
    rate : float or list of float, each >= 0, < 1
        How often a value is missing. With ``given``, a list has the rates from its first value to
        its last; for another number of values they are interpolated.
    given : str, optional
        The attribute that the rate depends on.
    attributes : list of str, optional
        The attributes that lose values; all but ``given`` if omitted.

    References
    ----------
    D. B. Rubin (1976). Inference and missing data. Biometrika 63.
    """

    makes_missing = True

    rate: float | tuple[float, ...] = 0.1
    given: str | None = None
    attributes: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        probabilities = self._rates and all(0 <= rate < 1 for rate in self._rates)
        require(probabilities, "rate", self.rate, "it must be at least 0, below 1")
        if self.given is None and len(self._rates) > 1:
            text = f"rate = {list(self._rates)} needs 'given', the attribute that it depends on"
            raise ValueError(text)

    @property
    def _rates(self) -> tuple[float, ...]:
        return tuple(self.rate) if isinstance(self.rate, tuple | list) else (self.rate,)

    def apply(self, world: World, rng: np.random.Generator) -> World:
        return world.changed(self._with_gaps)

    def _with_gaps(self, population: Population) -> Population:
        cause = None if self.given is None else population.attribute(self.given)
        if self.attributes is None:
            lost = [v for v in range(len(population.cards) - 1) if v != cause]
        else:
            lost = [*map(population.attribute, self.attributes)]
        rates = self._rates
        if cause is not None:
            places = np.linspace(0, 1, population.cards[cause])
            rates = tuple(np.interp(places, np.linspace(0, 1, len(rates)), rates).tolist())
        return replace(population, gaps=(*population.gaps, Gaps(tuple(lost), rates, cause)))
