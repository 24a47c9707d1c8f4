"""Products of tables over all configurations of the variables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np

from simstudy.arrays import FloatArray

Factor: TypeAlias = tuple[tuple[int, ...], FloatArray]


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
