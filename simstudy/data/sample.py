"""Rows of data and their contingency tables."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property, partial
from time import perf_counter
from typing import TypeVar, cast

import numpy as np

from simstudy.arrays import ArrayLike, FloatArray, IntArray, read_only, smoothed, weights_in
from simstudy.data.codes import MISSING, check_codes, distinct_rows, flat_index
from simstudy.data.schema import Schema
from simstudy.data.value_layout import SlotLayout, slot_layout

Counted = TypeVar("Counted")

# Below this many rows, counts are exact in single precision.
_EXACT_IN_FLOAT32 = 2**24
# Up to this many pairs of values are counted at once: call overhead dominates.
_FEW_PAIRS = 2**15


class Sample:
    """Rows over some variables, the target last.

    Rows of nominal variables without gaps are made of codes, as below; `of` makes rows that may
    hold numbers and missing values. A learner that takes them says so in ``accepts``.

    Parameters
    ----------
    codes : array of shape (rows, variables)
        ``codes[r, v]`` is the value of variable ``v`` in row ``r``, from 0 to ``cards[v] - 1``.
    cards : sequence of int
        Number of values of each variable, from the model and not from the data: values and
        classes may be absent from the rows.
    weights : array of shape (rows,), optional
        Row weights. With the probability of every joint configuration as weights, a Sample
        represents the population.

    Attributes
    ----------
    codes : array of shape (rows, variables)
        The codes of nominal values; −1 if missing or numeric.
    cards : tuple of int
        The number of values of each variable; 0 for a numeric one.
    plain : bool
        Whether all variables are nominal and no value is missing.
    groups : array of shape (rows,), or None
        A number for each row; rows with the same number are never separated by resampling.

    Notes
    -----
    Rows with a missing value are left out of the tables of that variable; the target is never
    missing. A numeric variable has no table.

    Tables are counted once and cached. Rows and tables are read-only, which prevents accidental
    but not deliberate changes: in a study, third-party code gets a `copy`, and each built-in
    learner a `metered` sample, which shares the tables and adds up what they cost.
    """

    groups: IntArray | None = None
    declared: Schema | None = None  # the schema, if names and values were given

    def __init__(
        self, codes: ArrayLike, cards: Sequence[int], weights: ArrayLike | None = None
    ) -> None:
        self.cards: tuple[int, ...] = tuple(int(card) for card in cards)
        if not self.cards:
            raise ValueError("a sample needs at least one variable, the target")
        self.codes: IntArray = read_only(check_codes(codes, self.cards, "variable"))
        self.plain = True
        self._set_weights(weights)
        self._use_tables({})

    @classmethod
    def of(cls, values: ArrayLike, schema: Schema, weights: ArrayLike | None = None) -> Sample:
        """Make a sample of values: codes from 0 if nominal, numbers if numeric, NaN if missing."""
        cards, numbers = schema.cards, np.asfortranarray(values, dtype=np.float64)
        if numbers.ndim != 2 or numbers.shape[1] != len(cards):
            columns = f"one column for each of the {len(cards)} variables"
            raise ValueError(f"values must have {columns}; their shape is {numbers.shape}")
        codes = np.full(numbers.shape, MISSING, dtype=np.intp, order="F")
        for place, (variable, column) in enumerate(zip(schema.variables, numbers.T, strict=True)):
            held = column[~np.isnan(column)]
            if variable.numeric:
                wrong, allowed = np.isinf(held), "finite numbers"
            else:
                wrong = (held < 0) | (held >= cards[place]) | (held % 1 != 0)
                allowed = f"codes from 0 to {cards[place] - 1}"
                codes[:, place] = np.where(np.isnan(column), MISSING, column)
            if wrong.any():
                rule = f"must be {allowed}, or NaN if missing; one is {held[wrong][0]:g}"
                raise ValueError(f"the values of '{variable.name}' {rule}")
        if (codes[:, -1] == MISSING).any():
            raise ValueError(f"the target '{schema.target.name}' must be known in every row")
        made = cls.__new__(cls)
        made.cards, made.codes = cards, read_only(codes)
        made.plain = not schema.numeric and bool((codes >= 0).all())
        made.declared = schema
        if not made.plain:
            made.values = read_only(numbers)
        made._set_weights(weights)
        made._use_tables({})
        return made

    def _set_weights(self, weights: ArrayLike | None) -> None:
        self.weights: FloatArray | None = None
        if weights is not None:
            self.weights = np.ascontiguousarray(weights, dtype=np.float64)
            if self.weights.shape != (len(self.codes),):
                text = f"weights must hold one number for each of the {len(self.codes)} rows"
                raise ValueError(f"{text}; their shape is {self.weights.shape}")
            if not (np.isfinite(self.weights).all() and (self.weights >= 0).all()):
                raise ValueError("weights must be finite and not negative")
            self.weights = read_only(self.weights)

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        kind = "" if self.weights is None else ", weighted"
        return f"Sample({len(self)} rows, cards={self.cards}{kind})"

    def copy(self) -> Sample:
        """Return a copy of the rows, without cached tables."""
        return self.take(np.arange(len(self)))

    def take(self, rows: ArrayLike) -> Sample:
        """Return some of the rows, by their places or by a mask; all declared values are kept."""
        rows = np.asarray(rows)
        if rows.dtype == bool and rows.shape != (len(self),):
            raise ValueError(f"a mask must have a value for each of the {len(self)} rows")
        places = np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.intp)
        taken = self._with_tables({})
        taken.codes = read_only(self.codes.T.take(places, axis=1).T)
        if not self.plain:
            taken.values = read_only(self.values.T.take(places, axis=1).T)
            taken.plain = not self.schema.numeric and bool((taken.codes >= 0).all())
        taken.weights = None if self.weights is None else read_only(self.weights[places])
        taken.groups = None if self.groups is None else read_only(self.groups[places])
        return taken

    def with_values(self, values: ArrayLike, schema: Schema) -> Sample:
        """Return the same rows with other values, their weights and groups kept."""
        made = Sample.of(values, schema, self.weights)
        made.groups = self.groups
        return made

    @cached_property
    def schema(self) -> Schema:
        """The names and values of the variables."""
        return self.declared or Schema.plain(self.cards)

    @cached_property
    def values(self) -> FloatArray:
        """All columns as numbers: codes of nominal values, NaN where a value is missing."""
        return read_only(self.codes.astype(np.float64))

    def metered(self) -> Sample:
        """Return a sample of the same rows for one learner, with shared tables.

        Its ``shared_seconds`` is the time that others needed for the tables that it has used, each
        table counted once; tables that it counts itself are shared but take its own time.
        """
        return self._with_tables(self._shared)

    def _with_tables(self, shared: dict[Hashable, tuple[object, float]]) -> Sample:
        """Return a sample of the same rows that uses these shared tables."""
        same = Sample.__new__(Sample)
        same.cards, same.codes, same.weights = self.cards, self.codes, self.weights
        same.plain, same.declared, same.groups = self.plain, self.declared, self.groups
        if "schema" in self.__dict__:
            same.schema = self.schema
        if not self.plain:
            same.values = self.values
        same._use_tables(shared)
        return same

    def _use_tables(self, shared: dict[Hashable, tuple[object, float]]) -> None:
        self._shared = shared  # tables with the seconds that they took
        self._counts: dict[tuple[int, ...], FloatArray] = {}  # those of `counts` in use here
        self.shared_seconds = 0.0

    def _table(self, key: Hashable, count: Callable[[], Counted]) -> Counted:
        """Return a shared table, charged if it is there already; asked for once per sample.

        ``count`` uses no other shared table: what a table is made from is asked for before.
        """
        if key in self._shared:
            table, seconds = self._shared[key]
            self.shared_seconds += seconds
            return cast(Counted, table)
        started = perf_counter()
        counted = count()
        self._shared[key] = counted, perf_counter() - started
        return counted

    @property
    def attributes(self) -> IntArray:
        """The columns of the attributes, without the target."""
        return self.codes[:, :-1]

    @property
    def target(self) -> IntArray:
        """The column of the target."""
        return self.codes[:, -1]

    @property
    def class_names(self) -> tuple[str, ...]:
        """Return the names of the classes."""
        values = self.schema.variables[-1].values
        assert values is not None, "the target is nominal"
        return values

    @property
    def classes(self) -> int:
        """The number of values of the target."""
        return self.cards[-1]

    @property
    def incomplete(self) -> bool:
        """Whether a value is missing."""
        return not self.plain and bool(np.isnan(self.values).any())

    @cached_property
    def total(self) -> float:
        """The number of rows, or the sum of their weights."""
        return float(len(self)) if self.weights is None else float(self.weights.sum())

    @cached_property
    def layout(self) -> SlotLayout:
        """The positions of attribute values on the axes of the pair tables."""
        return slot_layout(self.cards[:-1])

    @cached_property
    def distinct(self) -> Sample:
        """The distinct rows, in order of their codes, with counts as weights.

        Rows of weight 0 are omitted; rows with numbers stay as they are. Tables counted from the
        distinct rows are not shared.
        """
        return self._table("distinct", self._find_distinct)._with_tables({})

    def _find_distinct(self) -> Sample:
        if self.plain:
            first, place = distinct_rows(self.codes, self.cards)
        elif self.schema.numeric:
            first = place = np.arange(len(self))
        else:  # a missing value is one more
            first, place = distinct_rows(self.codes + 1, [card + 1 for card in self.cards])
        weights = weights_in(place, self.weights, len(first))
        present = np.flatnonzero(weights > 0)
        rows = self.take(first[present])
        rows.weights = read_only(weights[present])
        return rows

    def counts(self, *variables: int) -> FloatArray:
        """Return the contingency table of some variables, axes in the given order."""
        key = tuple(sorted(variables))
        if len(set(key)) != len(key) or (key and not 0 <= key[0] <= key[-1] < len(self.cards)):
            rule = f"must name different variables from 0 to {len(self.cards) - 1}"
            raise ValueError(f"counts{variables} {rule}")
        if key not in self._counts:
            self._counts[key] = self._table(key, lambda: self._count(key))
        return self._counts[key].transpose([key.index(v) for v in variables])

    def _count(self, key: tuple[int, ...]) -> FloatArray:
        shape, weights = tuple(self.cards[v] for v in key), self.weights
        flat = flat_index(self.codes, key, shape)
        if not self.plain:
            for variable in (self.schema.variables[v] for v in key):
                if variable.numeric:
                    raise ValueError(f"the variable '{variable.name}' is numeric and has no table")
            present = (self.codes[:, key] != MISSING).all(axis=1)
            flat, weights = flat[present], None if weights is None else weights[present]
        return read_only(weights_in(flat, weights, math.prod(shape)).reshape(shape))

    @cached_property
    def class_counts(self) -> FloatArray:
        """Return the number of rows of each class, shape (classes,)."""
        return self._table("class_counts", self._count_classes)

    def _count_classes(self) -> FloatArray:
        return read_only(weights_in(self.target, self.weights, self.classes))

    def class_frequencies(self, alpha: float = 0.5) -> FloatArray:
        """Return smoothed class frequencies, (n_c + α)/(N + kα)."""
        return smoothed(self.class_counts, alpha, self.total)

    @cached_property
    def slot_counts(self) -> FloatArray:
        """Return the counts of each class and attribute value, shape (classes, slots)."""
        if "pair_counts" in self.__dict__:  # whoever has these pays for nothing else
            diagonal = np.diagonal(self.pair_counts, axis1=1, axis2=2)
            return read_only(np.ascontiguousarray(diagonal))
        return self._table("slot_counts", self._count_slots)

    def _count_slots(self) -> FloatArray:
        size = self.layout.size
        cells = self.layout.slots(self.attributes.T) + self.target * size
        return read_only(self._counted(cells, self.classes * size).reshape(self.classes, size))

    @cached_property
    def pair_counts(self) -> FloatArray:
        """Return the counts of each class and pair of values, shape (classes, slots, slots).

        Slots are the values of all attributes laid end to end (see `layout`). Diagonal blocks,
        of an attribute with itself, hold `slot_counts` on the diagonal and zeros elsewhere.
        """
        count: Callable[[], FloatArray]
        if len(self) * (len(self.cards) - 1) ** 2 <= _FEW_PAIRS:
            count = self._pairs_at_once
        elif self.weights is None:
            count = partial(self._pairs_by_products, self.class_counts)
        else:
            count = partial(self._pairs_one_by_one, self.slot_counts, self._pair_blocks())
        return self._table("pair_counts", lambda: read_only(count()))

    def _pairs_at_once(self) -> FloatArray:
        """Count all pairs at once, for small tables."""
        size, slots = self.layout.size, self.layout.slots(self.attributes.T)
        cells = (slots * size)[:, None] + (slots + self.target * size**2)
        return self._counted(cells, self.classes * size**2).reshape(self.classes, size, size)

    def _counted(self, cells: IntArray, size: int) -> FloatArray:
        """Count cells, attributes (or pairs of them) × rows, except those of missing values."""
        flat, weights = cells.ravel(), self.weights
        if weights is not None:
            weights = np.tile(weights, math.prod(cells.shape[:-1]))
        if not self.plain:
            present = self.attributes.T != MISSING
            held = (present if cells.ndim == 2 else present[:, None] & present).ravel()
            flat, weights = flat[held], None if weights is None else weights[held]
        return weights_in(flat, weights, size)

    def _pairs_by_products(self, class_counts: FloatArray) -> FloatArray:
        """Count by one-hot matrix products; integer counts are exact in any order of summation."""
        layout = self.layout
        table = np.empty((self.classes, layout.size, layout.size))
        small = np.min_scalar_type(max(self.cards))  # few bytes sort and compare faster
        by_class = np.argsort(self.target.astype(small), kind="stable")
        columns = self.attributes.T.astype(small).take(by_class, axis=1)
        holds = columns[layout.owner] == layout.value.astype(small)[:, None]
        indicator = holds.astype(np.float32 if len(self) < _EXACT_IN_FLOAT32 else np.float64)
        end = 0
        for label, rows in enumerate(class_counts.astype(np.intp)):
            start, end = end, end + rows
            part = indicator[:, start:end]
            table[label] = part @ part.T
        return table

    def _pair_blocks(self) -> dict[tuple[int, int], FloatArray]:
        """Return the table of the target and each pair of attributes, the earlier one first."""
        target = len(self.cards) - 1
        nominal = [place for place in range(target) if self.cards[place]]
        return {(j, i): self.counts(target, j, i) for j, i in itertools.combinations(nominal, 2)}

    def _pairs_one_by_one(
        self, singles: FloatArray, blocks: dict[tuple[int, int], FloatArray]
    ) -> FloatArray:
        """Lay out weighted counts of pairs, which are always summed in the order of rows."""
        size, spans = self.layout.size, self.layout.spans
        table = np.zeros((self.classes, size, size))
        table[:, np.arange(size), np.arange(size)] = singles
        for (j, i), block in blocks.items():
            table[:, spans[j], spans[i]] = block
            table[:, spans[i], spans[j]] = block.transpose(0, 2, 1)
        return table
