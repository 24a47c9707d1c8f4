"""Variable elimination: marginals and posteriors without the joint distribution."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from simstudy.arrays import ArrayLike, FloatArray, IntArray

if TYPE_CHECKING:
    from simstudy.networks.network import Network

# A factor: the variables of its axes, and its table. The label of rows is one of them, if the
# table has a part for each row.
Factor: TypeAlias = tuple[tuple[int, ...], FloatArray]

MAX_CELLS = 2**26  # of one table
_CELLS_AT_ONCE = 2**22  # of one table for all rows of a chunk
_OPERANDS_AT_ONCE = 24  # einsum takes at most 32
# An elimination costs about as much as this many cells of tables; see `_merge_patterns`.
_CELLS_FOR_EACH_STEP = 10_000


class TooLargeError(ValueError):
    """A table has more cells than there is room for."""


def marginal(network: Network, wanted: tuple[int, ...]) -> FloatArray:
    """Return the marginal of some variables, axes in the given order."""
    relevant = network.ancestors(wanted)
    factors: list[Factor] = [(network.axes[v], network.cpts[v]) for v in relevant]
    waiting = set(relevant) - set(wanted)
    order, sizes = _elimination_order([axes for axes, _ in factors], waiting, network.cards)
    _refuse_large(max(sizes, default=1))
    for v in order:
        touching, axes = _taken(factors, v)
        factors.append((axes, _product(touching, axes)))
    return _product(factors, wanted)


def _taken(factors: list[Factor], v: int) -> tuple[list[Factor], tuple[int, ...]]:
    """Take the factors that depend on a variable out of a list; return them and their others."""
    touching = [factor for factor in factors if v in factor[0]]
    factors[:] = [factor for factor in factors if v not in factor[0]]
    return touching, tuple(sorted({u for scope, _ in touching for u in scope} - {v}))


def posteriors(
    network: Network, target: int | None, codes: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return P(target | evidence) and log P(evidence) for every row.

    Parameters
    ----------
    network : Network
        The network.
    target : int or None
        The query variable, observed in no row; None for only the evidence.
    codes : array of shape (rows, variables)
        The rows; −1 where a value is not observed.

    Returns
    -------
    posterior : array of shape (rows, values of the target)
        NaN in rows of probability 0.
    log_evidence : array of shape (rows,)
        The logarithm of the probability of what was observed.
    """
    values = 1 if target is None else network.cards[target]
    posterior, evidence = np.empty((len(codes), values)), np.empty(len(codes))
    if not len(codes):
        return posterior, evidence
    for rows, always, sometimes in _patterns(network, target, codes):
        query = _Query(network, target, always, sometimes)
        most = max(_CELLS_AT_ONCE // query.largest, 1)
        for chunk in np.array_split(rows, -(-len(rows) // most)):
            posterior[chunk], evidence[chunk] = query.answers(codes[chunk].T)
    return posterior, evidence


class _Query:
    """The posterior of one variable for rows in which the same variables are observed.

    Variables that are observed in every row are left out of the tables. Those that are observed
    in some rows stay, with a factor that is 0 for all values but the one observed.
    """

    def __init__(self, network: Network, target: int | None, always: int, sometimes: int) -> None:
        self._network, self._target, self._always = network, target, always
        self._row = len(network.cards)  # the label of the axis of rows, after all variables
        query = () if target is None else (target,)
        self._relevant = network.ancestors((*members(always | sometimes), *query))
        self._sometimes = members(sometimes)
        scopes = filter(None, map(self._free, self._relevant))
        waiting = {*self._relevant}.difference(members(always), query)
        self._order, sizes = _elimination_order(scopes, waiting, network.cards)
        self.cells, self.largest = sum(sizes), max([*sizes, 1])
        self.steps = len(self._order) + len(self._relevant)  # tables looked up or summed
        _refuse_large(self.largest)

    def _free(self, v: int) -> tuple[int, ...]:
        """Return the variables of a table that are not observed in every row."""
        return tuple(u for u in self._network.axes[v] if not self._always >> u & 1)

    def answers(self, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the posterior and the logarithm of the evidence of some rows."""
        log_evidence = np.zeros(columns.shape[1])
        factors: list[Factor] = []
        with np.errstate(divide="ignore"):
            for v in self._relevant:
                axes, table = self._observed(v, columns)
                if axes == (self._row,):
                    log_evidence += np.log(table)
                else:
                    factors.append((axes, table))
            factors += [self._indicator(u, columns[u]) for u in self._sometimes]
            for v in self._order:
                touching, axes = _taken(factors, v)
                factors.append((axes, self._scaled(touching, axes, log_evidence)))
            wanted = (self._row,) if self._target is None else (self._target, self._row)
            factors.append(((self._row,), np.ones(columns.shape[1])))
            joint = self._scaled(factors, wanted, log_evidence).reshape(-1, columns.shape[1])
            total = joint.sum(axis=0)
            log_evidence += np.log(total)
        with np.errstate(invalid="ignore"):
            posterior = joint / np.where(np.isneginf(log_evidence), np.nan, total)
        return posterior.T, log_evidence

    def _observed(self, v: int, columns: IntArray) -> Factor:
        """Return the table of a variable, at the values observed in every row."""
        axes, table, free = self._network.axes[v], self._network.cpts[v], self._free(v)
        if free == axes:
            return axes, table
        fixed = [u for u in axes if u not in free]
        places = [axes.index(u) for u in (*free, *fixed)]
        shape = [self._network.cards[u] for u in free]
        cells = columns[fixed[0]]
        for u in fixed[1:]:
            cells = cells * self._network.cards[u] + columns[u]
        return (*free, self._row), table.transpose(places).reshape(*shape, -1).take(cells, axis=-1)

    def _indicator(self, u: int, column: IntArray) -> Factor:
        """Return 1 for the values of a variable that a row allows, else 0."""
        values = np.arange(self._network.cards[u])[:, None]
        return (u, self._row), ((column == values) | (column < 0)).astype(np.float64)

    def _scaled(
        self, factors: list[Factor], wanted: tuple[int, ...], log_evidence: FloatArray
    ) -> FloatArray:
        """Return the product of factors summed over other variables, each row's largest being 1.

        The logarithms of what rows were divided by are added to the evidence, so that products of
        many probabilities do not vanish.
        """
        while len(factors) > _OPERANDS_AT_ONCE:
            first, factors = factors[:_OPERANDS_AT_ONCE], factors[_OPERANDS_AT_ONCE:]
            axes = tuple(sorted({u for scope, _ in first for u in scope}))
            factors.insert(0, (axes, self._scaled(first, axes, log_evidence)))
        product = _product(factors, wanted)
        if self._row not in wanted:
            return product
        largest = product.reshape(-1, product.shape[-1]).max(axis=0)
        log_evidence += np.log(largest)
        scaled: FloatArray = product / np.where(largest > 0, largest, 1.0)
        return scaled


def _patterns(
    network: Network, target: int | None, codes: IntArray
) -> list[tuple[IntArray, int, int]]:
    """Return groups of rows, with what is observed in all and in some of their rows.

    Rows in which the same variables are observed are a group. If there are too many groups, all
    rows are one.
    """
    observed = codes >= 0
    if target is not None:
        observed[:, target] = False
    packed = np.packbits(observed, axis=1)
    keys = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}").ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    groups = np.split(np.argsort(inverse, kind="stable"), np.cumsum(np.bincount(inverse))[:-1])
    masks = [_mask(observed[row]) for row in first]
    if len(masks) > 1:
        always, ever = _mask(observed.all(axis=0)), _mask(observed.any(axis=0))
        with suppress(TooLargeError):  # unless more is observed
            merged = _Query(network, target, always, ever & ~always)
            if len(codes) * merged.cells < len(masks) * merged.steps * _CELLS_FOR_EACH_STEP:
                return [(np.arange(len(codes)), always, ever & ~always)]
    return [(rows, mask, 0) for rows, mask in zip(groups, masks, strict=True)]


def _refuse_large(cells: int) -> None:
    """Raise an error if a table has too many cells."""
    if cells > MAX_CELLS:
        allowed = f"at most {MAX_CELLS:,} are allowed: more variables must be observed"
        raise TooLargeError(f"the probabilities need a table of {cells:,} cells; {allowed}")


def _mask(flags: ArrayLike) -> int:
    """Return the variables that are marked, as a bit mask."""
    return sum(1 << int(v) for v in np.flatnonzero(flags))


@lru_cache(maxsize=4096)
def members(mask: int) -> tuple[int, ...]:
    """Return the variables of a bit mask, in order."""
    return tuple(v for v in range(mask.bit_length()) if mask >> v & 1)


def _elimination_order(
    scopes: Iterable[tuple[int, ...]], waiting: set[int], cards: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Return an order in which to sum variables out, and the cells of the table for each.

    The next is always one whose table, of all variables that share a factor with it, is smallest.
    The set of those waiting is used up.
    """
    near: dict[int, set[int]] = {}
    for scope in scopes:
        for u in scope:
            near.setdefault(u, set()).update(scope)
    cells = {v: math.prod(cards[u] for u in near[v]) for v in waiting}
    order, sizes = [], []
    while waiting:
        v = min(waiting, key=cells.__getitem__)
        waiting.remove(v)
        order.append(v)
        sizes.append(cells[v])
        around = near.pop(v)
        around.discard(v)
        for u in around:
            near[u] |= around
            near[u].discard(v)
            if u in waiting:
                cells[u] = math.prod(cards[w] for w in near[u])
    return order, sizes


def _product(factors: Sequence[Factor], wanted: tuple[int, ...]) -> FloatArray:
    """Return the product of factors, summed over the variables not wanted."""
    names = {u: i for i, u in enumerate(sorted({u for scope, _ in factors for u in scope}))}
    operands: list[Any] = []
    for scope, table in factors:
        operands += [table, [names[u] for u in scope]]
    product: FloatArray = np.einsum(*operands, [names[u] for u in wanted])
    return product
