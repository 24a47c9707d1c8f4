"""Bayesian networks with parameters estimated from a sample."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np

from simstudy.arrays import FloatArray
from simstudy.data.sample import Sample
from simstudy.networks.elimination import members
from simstudy.networks.network import Network

Arc: TypeAlias = tuple[int, int]

ALPHA = 0.5  # the pseudocount of CaMML


def parameters(sample: Sample, axes: Sequence[int], alpha: float = ALPHA) -> FloatArray:
    """Return P(last variable | the others), (n + α)/(N + kα)."""
    counts = sample.counts(*axes)
    total = counts.sum(axis=-1, keepdims=True) + counts.shape[-1] * alpha
    return np.asarray((counts + alpha) / total)


class FamilyTables:
    """What networks with the same sample and alpha share, by the axes of a variable's table."""

    def __init__(self, sample: Sample, alpha: float) -> None:
        self._sample, self._alpha = sample, alpha
        self._log_tables: dict[tuple[int, ...], FloatArray] = {}
        self._log_likelihoods: dict[tuple[int, ...], float] = {}

    def log_table(self, axes: tuple[int, ...]) -> FloatArray:
        """Return log P(v | parents)."""
        if axes not in self._log_tables:
            self._log_tables[axes] = np.log(parameters(self._sample, axes, self._alpha))
        return self._log_tables[axes]

    def log_likelihood(self, axes: tuple[int, ...]) -> float:
        """Return the log likelihood of the sample's values of v given its parents."""
        if axes not in self._log_likelihoods:
            logs = self._sample.counts(*axes) * self.log_table(axes)
            self._log_likelihoods[axes] = logs.sum()
        return self._log_likelihoods[axes]


class EstimatedNetwork(Network):
    """A Bayesian network of given structure, with P(v|pa) = (n + α)/(N + kα).

    Parameters
    ----------
    sample : Sample
        The training sample.
    masks : sequence of int
        The parents of every variable, as a bit mask.
    alpha : float
        Pseudocount added to every count.
    families : FamilyTables, optional
        What it shares with networks with the same sample and alpha.
    """

    def __init__(
        self,
        sample: Sample,
        masks: Sequence[int],
        alpha: float = ALPHA,
        families: FamilyTables | None = None,
    ) -> None:
        self.cards = sample.cards
        self.masks = tuple(int(mask) for mask in masks)
        self.parents = tuple(members(mask) for mask in self.masks)
        self._families = families or FamilyTables(sample, alpha)

    @cached_property
    def log_tables(self) -> list[FloatArray]:
        """log P(v | parents) of every variable, with the axes of `axes`."""
        return [self._families.log_table(axes) for axes in self.axes]

    @cached_property
    def data_cost(self) -> float:
        """−log likelihood of the sample under the parameters, in nits."""
        return -float(sum(self._families.log_likelihood(axes) for axes in self.axes))


def extension(variables: int, edges: Iterable[Arc]) -> list[Arc]:
    """Return a DAG that extends a pattern; undirected edges are listed in both directions.

    Dor & Tarsi (1992): a potential sink, the lowest first, takes all its neighbours as parents and
    is removed. The DAG has the pattern's arcs and no additional colliders. If a pattern of PC has
    no such extension, the variable with the fewest outgoing arcs is removed.
    """
    pattern = set(edges)
    joined = pattern | {(v, u) for u, v in pattern}
    remaining = list(range(variables))

    def unfit(v: int) -> tuple[int, bool, int]:
        around = [u for u in remaining if (u, v) in joined]
        free = [u for u in around if {(u, v), (v, u)} <= pattern]
        arcs_out = sum((u, v) not in pattern for u in around)
        collides = any(u != w and (u, w) not in joined for u in free for w in around)
        return arcs_out, collides, v

    arcs: list[Arc] = []
    while remaining:
        sink = min(remaining, key=unfit)
        remaining.remove(sink)
        arcs += [(u, sink) for u in remaining if (u, sink) in joined]
    return arcs
