"""The values of attributes laid end to end."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache

import numpy as np

from simstudy.arrays import FloatArray, IntArray, constant


class SlotLayout:
    """The values of all attributes laid end to end on one axis.

    Value ``x`` of attribute ``i`` is slot ``starts[i] + x``, so that the tables of all attributes,
    or of all pairs of them, form one array. Layouts are shared by samples and immutable.
    """

    cards: IntArray
    starts: IntArray  # the first slot of each attribute
    size: int  # the number of slots
    spans: tuple[slice, ...]  # the slots of each attribute

    def __init__(self, cards: Sequence[int]) -> None:
        whole = np.array(cards, dtype=np.intp)
        ends = np.cumsum(whole)
        self.__dict__.update(
            cards=constant(whole),
            starts=constant(ends - whole),
            size=int(whole.sum()),
            spans=tuple(slice(int(e - c), int(e)) for c, e in zip(cards, ends, strict=True)),
        )

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"the {name} of a layout cannot be changed")

    @cached_property
    def owner(self) -> IntArray:
        """The attribute of each slot."""
        return constant(np.repeat(np.arange(len(self.cards)), self.cards))

    @cached_property
    def value(self) -> IntArray:
        """The value of its attribute that each slot stands for."""
        return constant(np.arange(self.size) - self.starts[self.owner])

    @cached_property
    def slot_cards(self) -> FloatArray:
        """The number of values of each slot's attribute."""
        return constant(np.repeat(self.cards, self.cards).astype(np.float64))

    def slots(self, columns: IntArray) -> IntArray:
        """Return the slot of every code; ``columns`` has one row per attribute."""
        return columns + self.starts[:, None]


@lru_cache(maxsize=16)
def slot_layout(cards: tuple[int, ...]) -> SlotLayout:
    """Return the shared layout of attributes with these numbers of values."""
    return SlotLayout(cards)
