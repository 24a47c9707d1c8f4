"""Rows with nominal and numeric attributes and missing values."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simstudy.arrays import FloatArray, IntArray, weights_in
from simstudy.data.sample import Sample

# Sums over slots are matrix products up to this many (attribute, slot) pairs.
_FEW_PAIRS = 2**14


class Entries(NamedTuple):
    """Rows, each at a node of a tree with a weight.

    A row with a missing value of a tested attribute is at several nodes, with a fraction of its
    weight at each.
    """

    rows: IntArray
    nodes: IntArray
    weights: FloatArray

    def where(self, chosen: npt.NDArray[np.bool_]) -> Entries:
        """Return the entries selected by a mask."""
        places = chosen.nonzero()[0]
        return self if len(places) == len(chosen) else self.take(places)

    def take(self, places: IntArray) -> Entries:
        """Return the entries at some indices."""
        return Entries(self.rows[places], self.nodes[places], self.weights[places])

    def at(self, nodes: IntArray, size: int) -> Entries:
        """Return the entries at some nodes of a tree of this size."""
        wanted = np.zeros(size, dtype=bool)
        wanted[nodes] = True
        return self.where(wanted[self.nodes])


class Attributes:
    """The attribute columns of a table.

    Parameters
    ----------
    values : array of shape (rows, attributes)
        Codes from 0 for nominal attributes, any number for numeric ones; NaN is missing.
    cards : sequence of int or None
        Number of values of each nominal attribute; None for a numeric one.

    Attributes
    ----------
    complete : bool
        Whether no value is missing.
    plain : bool
        Whether, in addition, all attributes are nominal.
    """

    def __init__(self, values: npt.NDArray[Any], cards: Sequence[int | None]) -> None:
        self.cards = tuple(cards)
        if values.ndim != 2 or values.shape[1] != len(self.cards):
            raise ValueError(
                f"values must have one column for each of the {len(self.cards)} attributes; their "
                f"shape is {values.shape}"
            )
        if values.dtype.kind not in "iuf":
            raise ValueError("the values of a table must be numbers, NaN if missing")
        # Column-major in memory.
        self.values = np.asfortranarray(values)
        self.complete = self.values.dtype.kind in "iu" or not bool(np.isnan(self.values).any())
        self.any_numeric = None in self.cards
        self.plain = self.complete and not self.any_numeric

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def numeric(self) -> npt.NDArray[np.bool_]:
        """Whether each attribute is numeric."""
        return np.array([card is None for card in self.cards], dtype=bool)

    @cached_property
    def flat(self) -> npt.NDArray[Any]:
        """All values, column by column, followed by zeros for attribute −1."""
        zeros = np.zeros((1, len(self)), dtype=self.values.dtype)
        return np.concatenate([self.values.T, zeros]).ravel()

    def at(self, rows: IntArray, attributes: IntArray) -> npt.NDArray[Any]:
        """Return the value of one attribute per row; 0 for attribute −1."""
        places = attributes * len(self)
        places += rows
        return self.flat.take(places)


class Table(Attributes):
    """Training rows: attributes, classes and weights.

    Parameters
    ----------
    values, cards
        See `Attributes`.
    target : array of shape (rows,)
        The class of each row, from 0.
    classes : int
        Number of classes.
    weights : array of shape (rows,), optional
        Row weights; if omitted, every row counts once and ``single`` is true.
    checked : bool
        Whether the arguments are known to be valid, with no weight 0.
    """

    def __init__(
        self,
        values: npt.NDArray[Any],
        cards: Sequence[int | None],
        target: IntArray,
        classes: int,
        weights: npt.ArrayLike | None = None,
        *,
        checked: bool = False,
    ) -> None:
        values, target = np.asarray(values), np.asarray(target)
        self.single = weights is None
        weights = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=float)
        if not checked:
            _check_rows(values, target, classes, weights)
            if not weights.all():
                kept = np.flatnonzero(weights)
                values, target, weights = values[kept], target[kept], weights[kept]
        super().__init__(values, cards)
        if not checked:
            self._check_codes()
        self.target, self.classes, self.weights = target, classes, weights
        self.total = float(len(target) if self.single else weights.sum())

    def _check_codes(self) -> None:
        """Raise an error for invalid codes of nominal attributes."""
        for column, card in enumerate(self.cards):
            values = self.values[:, column]
            known = values if self.complete else values[~np.isnan(values)]
            if card is not None and not ((known >= 0) & (known < card) & (known % 1 == 0)).all():
                raise ValueError(
                    f"attribute {column} has {card} values, so its codes must be from 0 to "
                    f"{card - 1}"
                )

    @classmethod
    def of(cls, sample: Sample, *, distinct: bool = True) -> Table:
        """Return the rows of a sample, which are nominal and complete.

        With ``distinct``, duplicates are merged and counted as weights.
        """
        rows = sample.distinct if distinct else sample
        fields = rows.attributes, rows.cards[:-1], rows.target, rows.classes, rows.weights
        return cls(*fields, checked=True)

    def with_weights(self, weights: FloatArray) -> Table:
        """Return the same rows with other weights."""
        other = copy(self)
        other.__dict__.pop("whole", None)
        other.weights, other.total, other.single = weights, float(weights.sum()), False
        return other

    @cached_property
    def whole(self) -> bool:
        """Whether all weights are integers, at every node."""
        whole = self.complete and self.total < 2**20
        return whole and bool((self.weights == np.floor(self.weights)).all())

    @cached_property
    def nominal(self) -> IntArray:
        """The indices of the nominal attributes."""
        return np.flatnonzero(~self.numeric)

    @cached_property
    def _sizes(self) -> list[int]:
        """The number of slots of each nominal attribute.

        Slots are the values of all nominal attributes laid end to end, and a last one for all
        rows, as if of an extra attribute. An attribute without values also has a slot.
        """
        return [*(max(card, 1) for card in self.cards if card is not None), 1]

    @cached_property
    def slots(self) -> int:
        """The number of slots."""
        return sum(self._sizes)

    @cached_property
    def _starts(self) -> IntArray:
        """The first slot of each nominal attribute, and the last slot."""
        return np.cumsum([0, *self._sizes[:-1]])

    @cached_property
    def _owner(self) -> FloatArray:
        """1 where a slot belongs to an attribute, shape (nominal attributes + 1, slots)."""
        return np.repeat(np.eye(len(self._sizes)), self._sizes, axis=1)

    def by_attribute(self, weights: FloatArray) -> FloatArray:
        """Sum over the slots of each nominal attribute, and the last slot.

        Slots are on the second-last axis.
        """
        if len(self._sizes) * self.slots > _FEW_PAIRS:
            return np.add.reduceat(weights, self._starts, axis=-2)
        return self._owner @ weights

    @cached_property
    def cells(self) -> IntArray:
        """The cell of every value, class·slots + slot, shape (nominal attributes, rows).

        Missing values are in the first slot of their attribute.
        """
        values = self.values.T[self.nominal]
        codes = values if self.complete else np.nan_to_num(values)
        return codes.astype(np.intp) + self._starts[:-1, None] + self.target * self.slots

    @cached_property
    def known(self) -> npt.NDArray[np.bool_]:
        """Whether nominal values are known, shape (nominal attributes, rows)."""
        return ~np.isnan(self.values.T[self.nominal])

    def all_entries(self) -> Entries:
        """Return every row at the root of a tree."""
        return Entries(np.arange(len(self)), np.zeros(len(self), dtype=np.intp), self.weights)

    def class_counts(self, entries: Entries, nodes: int) -> FloatArray:
        """Return the class weights of the entries at each node, shape (classes, nodes)."""
        cells = self.target[entries.rows] * nodes + entries.nodes
        return weights_in(cells, entries.weights, self.classes * nodes).reshape(-1, nodes)


def together(one: Entries, other: Entries) -> Entries:
    """Concatenate two sets of entries."""
    return Entries(*(np.concatenate(fields) for fields in zip(one, other, strict=True)))


def _check_rows(
    values: npt.NDArray[Any], target: npt.NDArray[Any], classes: int, weights: FloatArray
) -> None:
    """Raise an error for invalid classes or weights."""
    if not (len(values) == len(target) == len(weights)):
        raise ValueError("target, and weights if given, must have one entry per row")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError("weights must be finite and not negative")
    if len(target) and not (target.min() >= 0 and target.max() < classes):
        raise ValueError(f"classes must be from 0 to {classes - 1}")
