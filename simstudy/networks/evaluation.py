"""Log probabilities of many rows, and products of tables over all configurations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from simstudy.arrays import FloatArray, IntArray

Factor: TypeAlias = tuple[tuple[int, ...], FloatArray]
_ROWS_AT_ONCE = 2**13  # the numbers gathered for them fit into a processor's cache


class LogTables(NamedTuple):
    """log P(attributes, class) by looking up one number for every attribute and class.

    Parameters
    ----------
    values : array of shape (classes, cells)
        The tables of the factors, side by side.
    starts : array of shape (factors, 1)
        Where the table of each factor begins.
    columns : sequence of arrays of shape (factors,)
        Attributes that a factor depends on; `slice(None)` if factor i depends on attribute i.
    strides : sequence of arrays of shape (factors, 1), or 1
        How many cells apart the values of that attribute are; 0 where there is none.
    last : array of shape (classes,), optional
        Logarithms added at the end, such as those of the class prior.
    """

    values: FloatArray
    starts: IntArray
    columns: Sequence[IntArray | slice]
    strides: Sequence[IntArray | int]
    last: FloatArray | None = None

    def log_joint(self, codes: IntArray, start: float = 0.0) -> FloatArray:
        """Return ``start`` + log P(attributes, class) of complete rows, shape (rows, classes)."""
        columns, rows = codes.T, len(codes)
        if rows <= _ROWS_AT_ONCE:
            return self._sums(columns, start).T
        total = np.empty((len(self.values), rows))
        for first in range(0, rows, _ROWS_AT_ONCE):
            chunk = slice(first, first + _ROWS_AT_ONCE)
            total[:, chunk] = self._sums(columns[:, chunk], start)
        return total.T

    def _sums(self, columns: IntArray, start: float) -> FloatArray:
        """Return the sums over factors, which for a row do not depend on the other rows."""
        cells = self.starts
        for chosen, stride in zip(self.columns, self.strides, strict=True):
            # a stride of 1 spares a multiplication of all codes
            part = columns[chosen]
            cells = cells + (part if isinstance(stride, int) else part * stride)
        if not len(cells):
            total = np.full((len(self.values), columns.shape[1]), start)
        else:
            gathered = self.values.take(cells, axis=1)
            total = gathered[:, 0] + start
            for factor in range(1, len(cells)):
                total += gathered[:, factor]
        if self.last is not None:
            total += self.last[:, None]
        return total


def log_tables(
    parents: Sequence[Sequence[int]], tables: Sequence[FloatArray], cards: Sequence[int]
) -> LogTables:
    """Lay out the tables of a network whose last variable is the class.

    The table of a variable has one axis per parent and a last one for itself.
    """
    target, classes = len(cards) - 1, cards[-1]
    blocks, scopes, last = list[FloatArray](), list[tuple[int, ...]](), None
    for v, table in enumerate(tables):
        axes = (*parents[v], v)
        if axes == (target,):
            last = table
            continue
        scopes.append(tuple(u for u in axes if u != target))
        if target in axes:
            blocks.append(np.moveaxis(table, axes.index(target), 0).reshape(classes, -1))
        else:
            blocks.append(np.broadcast_to(table.reshape(1, -1), (classes, table.size)))
    sizes = [block.shape[1] for block in blocks]
    starts: IntArray = np.cumsum([0, *sizes[:-1]], dtype=np.intp)[: len(sizes), None]
    widest = max(map(len, scopes), default=0)
    columns = np.zeros((widest, len(scopes)), dtype=np.intp)
    strides = np.zeros((widest, len(scopes), 1), dtype=np.intp)
    for factor, scope in enumerate(scopes):
        stride = 1
        for place, u in enumerate(reversed(scope)):
            columns[place, factor], strides[place, factor] = u, stride
            stride *= cards[u]
    values = np.concatenate(blocks, axis=1) if blocks else np.zeros((classes, 0))
    return LogTables(values, starts, list(columns), list(strides), last)


def on_all_axes(table: FloatArray, axes: Sequence[int], cards: Sequence[int]) -> FloatArray:
    """Return a table with an axis for every variable, of length 1 where it has none."""
    shape = [cards[u] if u in axes else 1 for u in range(len(cards))]
    return table.transpose(np.argsort(axes)).reshape(shape)


def product_on_grid(cards: Sequence[int], factors: Iterable[Factor]) -> FloatArray:
    """Return the product of factors over all attribute configurations, shape (classes, rows).

    A factor is the attributes of a table, in increasing order, and the table itself with the
    classes on its first axis, of length 1 if independent of the class. Attributes are added from
    last to first, and each table as soon as possible, while the product is small.
    """
    by_first: dict[int, list[Factor]] = {}
    for axes, table in factors:
        by_first.setdefault(axes[0] if axes else 0, []).append((axes, table))
    product = np.ones((cards[-1], 1))
    for first in range(len(cards) - 2, -1, -1):
        longer = np.repeat(product[:, None], cards[first], axis=1)
        for axes, table in by_first.get(first, ()):
            # Adjacent attributes that the table lacks are merged into one axis, for speed.
            sizes, kept = [cards[first]], [first in axes]
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
