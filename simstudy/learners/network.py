"""Bayesian networks with parameters estimated from a sample."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.sample import Sample
from simstudy.learners.base import product_on_grid
from simstudy.networks.exchange import to_pgmpy
from simstudy.networks.model import variable_names
from simstudy.texts import arc_text, counted, summary

if TYPE_CHECKING:
    from pgmpy.models import DiscreteBayesianNetwork

Arc: TypeAlias = tuple[int, int]


@lru_cache(maxsize=4096)
def members(mask: int) -> tuple[int, ...]:
    """Return the variables of a bit mask, in order."""
    return tuple(v for v in range(mask.bit_length()) if mask >> v & 1)


def parameters(sample: Sample, axes: Sequence[int], alpha: float = 0.5) -> FloatArray:
    """Return P(last variable | the others), (n + α)/(N + kα)."""
    counts = sample.counts(*axes)
    total = counts.sum(axis=-1, keepdims=True) + counts.shape[-1] * alpha
    table: FloatArray = (counts + alpha) / total
    return table


class Network:
    """A Bayesian network of given structure, with P(v|pa) = (n + α)/(N + kα).

    Parameters
    ----------
    sample : Sample
        The training sample.
    parents : sequence of int
        The parents of every variable, as a bit mask.
    alpha : float
        Pseudocount added to every count.
    tables : dict, optional
        Cache of ``log_tables`` by their axes, shared by networks with the same sample and alpha.
    """

    def __init__(
        self,
        sample: Sample,
        parents: Sequence[int],
        alpha: float = 0.5,
        tables: dict[tuple[int, ...], FloatArray] | None = None,
    ) -> None:
        self.cards = sample.cards
        self.parents = tuple(int(mask) for mask in parents)
        self._sample, self._alpha = sample, alpha
        self._tables = {} if tables is None else tables

    def __repr__(self) -> str:
        arcs = arc_text(map(members, self.parents), variable_names(len(self.cards)))
        return summary(self, counted(len(self.cards), "variable"), arcs)

    @cached_property
    def axes(self) -> list[tuple[int, ...]]:
        """The axes of every variable's table: its parents in order, then itself."""
        return [(*members(mask), v) for v, mask in enumerate(self.parents)]

    @cached_property
    def log_tables(self) -> list[FloatArray]:
        """log P(v | parents) of every variable, with the axes of `axes`."""
        for axes in self.axes:
            if axes not in self._tables:
                self._tables[axes] = np.log(parameters(self._sample, axes, self._alpha))
        return [self._tables[axes] for axes in self.axes]

    @property
    def arcs(self) -> int:
        """The number of arcs."""
        return sum(mask.bit_count() for mask in self.parents)

    @cached_property
    def data_cost(self) -> float:
        """−log likelihood of the sample under the parameters, in nits."""
        terms = (
            (self._sample.counts(*axes) * table).sum()
            for axes, table in zip(self.axes, self.log_tables, strict=True)
        )
        return -float(sum(terms))

    def log_joint(self, codes: IntArray) -> FloatArray:
        """Return log P(attributes, class) for rows of attribute codes, shape (rows, classes)."""
        columns = [*codes.T, np.arange(self.cards[-1])[:, None]]
        total = np.zeros((self.cards[-1], len(codes)))
        for axes, table in zip(self.axes, self.log_tables, strict=True):
            total += table[tuple(columns[u] for u in axes)]
        return total.T

    def joint_grid(self) -> FloatArray:
        """Return the joint over all attribute configurations, shape (classes, rows)."""
        target, factors = len(self.cards) - 1, []
        for axes, table in zip(self.axes, self.log_tables, strict=True):
            order = [i for _, _, i in sorted((u != target, u, i) for i, u in enumerate(axes))]
            scope = tuple(axes[i] for i in order if axes[i] != target)
            factors.append((scope, np.exp(table).transpose(order)))
        return product_on_grid(self.cards, factors)

    def log_density(self) -> FloatArray:
        """Return log P of every joint configuration, flattened."""
        total = np.zeros(self.cards)
        for axes, table in zip(self.axes, self.log_tables, strict=True):
            shape = [self.cards[u] if u in axes else 1 for u in range(len(self.cards))]
            total += table.transpose(np.argsort(axes)).reshape(shape)
        return total.ravel()

    def to_pgmpy(self, names: Sequence[str]) -> DiscreteBayesianNetwork:
        """Return the network as a pgmpy network."""
        tables = [np.exp(table) for table in self.log_tables]
        return to_pgmpy([axes[:-1] for axes in self.axes], tables, self.cards, names)

    def marginal(self, wanted: tuple[int, ...]) -> FloatArray:
        """Return the marginal of some variables, axes in the given order, by elimination."""
        relevant = members(self.ancestors(sum(1 << u for u in wanted)))
        factors = [(self.axes[v], np.exp(self.log_tables[v])) for v in relevant]
        waiting = set(relevant) - set(wanted)
        while waiting:
            v = min(waiting, key=lambda v: _cells_together(factors, v, self.cards))
            touching = [factor for factor in factors if v in factor[0]]
            factors = [factor for factor in factors if v not in factor[0]]
            axes = tuple(sorted({u for scope, _ in touching for u in scope} - {v}))
            factors.append((axes, _product(touching, axes)))
            waiting.remove(v)
        return _product(factors, wanted)

    def ancestors(self, variables: int) -> int:
        """Return a set of variables with all their ancestors, as bit masks."""
        found = 0
        for v in members(variables):
            found |= self._ancestors[v]
        return found

    @cached_property
    def _ancestors(self) -> list[int]:
        """Every variable with its ancestors, as bit masks."""
        found = [0] * len(self.parents)

        def trace(v: int) -> int:
            if not found[v]:
                found[v] = 1 << v
                for u in members(self.parents[v]):
                    found[v] |= trace(u)
            return found[v]

        return [trace(v) for v in range(len(found))]


def _cells_together(
    factors: Sequence[tuple[tuple[int, ...], FloatArray]], v: int, cards: Sequence[int]
) -> int:
    return math.prod(cards[u] for u in {u for scope, _ in factors if v in scope for u in scope})


def _product(
    factors: Sequence[tuple[tuple[int, ...], FloatArray]], wanted: tuple[int, ...]
) -> FloatArray:
    """Return the product of factors, summed over the variables not wanted."""
    names = {u: i for i, u in enumerate(sorted({u for scope, _ in factors for u in scope}))}
    operands: list[Any] = []
    for scope, table in factors:
        operands += [table, [names[u] for u in scope]]
    product: FloatArray = np.einsum(*operands, [names[u] for u in wanted])
    return product


def extension(variables: int, edges: Iterable[Arc]) -> list[Arc]:
    """Return a DAG that extends a pattern; undirected edges are given in both directions.

    Dor & Tarsi (1992): a potential sink, the lowest first, takes all its neighbours as parents and
    is removed. The DAG has the pattern's arcs and no additional colliders. If a pattern of PC has
    no such extension, the variable with the fewest outgoing arcs is removed.
    """
    given = set(edges)
    joined = given | {(v, u) for u, v in given}
    remaining = list(range(variables))

    def unfit(v: int) -> tuple[int, bool, int]:
        around = [u for u in remaining if (u, v) in joined]
        free = [u for u in around if (u, v) in given and (v, u) in given]
        arcs_out = sum((u, v) not in given for u in around)
        collides = any(u != w and (u, w) not in joined for u in free for w in around)
        return arcs_out, collides, v

    arcs: list[Arc] = []
    while remaining:
        sink = min(remaining, key=unfit)
        remaining.remove(sink)
        arcs += [(u, sink) for u in remaining if (u, sink) in joined]
    return arcs
