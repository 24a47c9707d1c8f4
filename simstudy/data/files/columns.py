"""Columns as a file has them, and how their cells become codes and numbers."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from simstudy.arrays import FloatArray
from simstudy.data.schema import Variable
from simstudy.errors import SimstudyError

NUMERIC, NOMINAL = "numeric", "nominal"
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_EXACT = 2.0**53  # below this every whole number is a double
_LARGE = 1e21  # from which whole numbers are written with an exponent
# Other texts among numbers are suspected to be markers if they are rare, or if they are few
# different ones and the numbers have many values for each.
_RARE, _FEW, _NUMBERS_A_TEXT = 0.1, 3, 4
GAPS = ("", "?")  # what stands for a missing value in any column, unless a list is given
# What stands for one in a column whose other values are numbers, in upper or lower case, unless a
# list is given.
_WORDS = (
    "na n/a n.a. n.a #n/a #na <na> nan -nan null <null> (null) nil none unknown missing "
    "\\n . .. … - -- --- – — − * ? #null! #value! #div/0!"
)
MARKERS = frozenset(_WORDS.split(" "))
_ORDINARY = {"none", "nil", "unknown", "Unknown"}  # not doubted as labels of other columns
_SHOWN = 40  # characters of a value in a sentence


@dataclass
class Column:
    """The cells of a column: text (None if missing), or numbers (NaN if missing).

    Files that declare a kind, or values in an order, have them in ``kind`` and ``values``.
    A column that cannot be used, unless it is ignored, says why in ``refusal``.
    """

    name: str
    cells: Sequence[str | None] | npt.NDArray[np.floating]
    kind: str | None = None
    values: tuple[str, ...] | None = None
    refusal: str = ""

    @property
    def numeric(self) -> bool:
        """Whether its cells are numbers, if nothing is declared."""
        return isinstance(self.cells, np.ndarray) or holds_numbers(self.cells)

    def text(self) -> Sequence[str | None]:
        """The cells as text; whole numbers are written without a decimal point."""
        if not isinstance(self.cells, np.ndarray):
            return self.cells
        distinct, places = np.unique(self.cells, return_inverse=True)
        return np.array([number_text(value) for value in distinct], dtype=object)[places].tolist()

    def declare_labels(self) -> None:
        """Declare its labels, if some of them represent a missing value in files."""
        if self.values or isinstance(self.cells, np.ndarray):
            return
        texts = {text for text in self.cells if text is not None}
        if not (texts.isdisjoint(GAPS) or self.numeric):
            self.kind, self.values = NOMINAL, tuple(sorted({text.strip() for text in texts}))


@dataclass
class RawTable:
    """The columns of a file or frame; ``place(row)`` names a row, as in "line 3"."""

    source: str
    columns: list[Column]
    rows: int
    place: Callable[[int], str]
    remark: str = ""  # how it was read, for an error about the number of columns
    name: str = "table"  # of the data set

    def error(self, text: str, row: int | None = None, column: str | None = None) -> SimstudyError:
        """An error that says where it is."""
        line = "" if row is None else f", {self.place(row)}"
        name = "" if column is None else f", column '{column}'"
        return SimstudyError(f"{self.source}{line}{name}: {text}")


@dataclass(frozen=True)
class Declaration:
    """What is known about a column before its cells are seen."""

    kind: str | None = None
    values: tuple[str, ...] | None = None
    explicit: bool = False  # whether the caller declares it numeric


@dataclass
class Markers:
    """By column: texts that were taken for missing values, or may represent them.

    Attributes
    ----------
    taken : dict
        Markers among numbers that were taken for missing values.
    suspected : dict
        The few texts without which a nominal column would be numeric, and their share of the rows.
    labels : dict
        Labels of nominal columns that look like markers.
    """

    taken: dict[str, tuple[str, ...]] = field(default_factory=dict)
    suspected: dict[str, tuple[tuple[str, ...], float]] = field(default_factory=dict)
    labels: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass
class Coder:
    """Turns columns into variables and numbers."""

    table: RawTable
    missing_values: Collection[str] | None  # the usual ones if None
    noted: Markers = field(default_factory=Markers)

    def __post_init__(self) -> None:
        self.gaps = frozenset(GAPS if self.missing_values is None else self.missing_values)
        self.among_numbers = MARKERS if self.missing_values is None else frozenset()

    def code(self, column: Column, declared: Declaration) -> tuple[Variable, FloatArray]:
        """The variable of a column, with codes or numbers; NaN where a value is missing."""
        if column.refusal:
            wrong = f"it {column.refusal}; ignore it, or convert it"
            raise self.table.error(wrong, None, column.name)
        if declared.kind != NOMINAL:
            if isinstance(column.cells, np.ndarray):
                return Variable(column.name), self._checked(column)
            numbers = self._numbers(column, declared)
            if numbers is not None:
                return Variable(column.name), numbers
        return self._nominal(column, declared)

    def _checked(self, column: Column) -> FloatArray:
        """The numbers of a column that has numbers."""
        numbers = np.asarray(column.cells, dtype=np.float64).copy()
        for marker in filter(is_number, self.gaps):
            numbers[numbers == float(marker)] = np.nan
        if np.isinf(numbers).any():
            row = int(np.isinf(numbers).argmax())
            raise self.table.error(f"{numbers[row]} is not a finite number", row, column.name)
        return numbers

    def _numbers(self, column: Column, declared: Declaration) -> FloatArray | None:
        """The numbers of a column of text; None if it has other values and may be nominal."""
        cells = [*column.cells]
        numbers = self._plain_numbers(cells)
        if numbers is not None:
            return numbers
        counts, meaning = Counter(cells), {}
        for cell in counts:
            text = "" if cell is None else cell.strip()
            if cell is None or text in self.gaps:
                meaning[cell] = np.nan
            elif _NUMBER.fullmatch(text):
                meaning[cell] = self._number(cell, column, declared)
        labels = [str(cell) for cell in counts if cell not in meaning]
        texts = tuple(sorted({cell.strip() for cell in labels}))
        strange = [cell for cell in labels if not is_marker(cell, self.among_numbers)]
        if holds_numbers(counts, self.gaps, self.among_numbers):
            meaning |= dict.fromkeys(labels, np.nan)
            if texts:
                self.noted.taken[column.name] = texts
            return np.fromiter(map(meaning.__getitem__, cells), np.float64, len(cells))
        if declared.kind == NUMERIC:
            text = (strange or labels)[0]
            wrong = f"{shown(text)} is not a finite number, and the column is declared numeric"
            raise self.table.error(wrong, cells.index(text), column.name)
        held = [cell for cell, number in meaning.items() if number == number]
        rare = sum(map(counts.__getitem__, strange)) <= _RARE * sum(map(counts.__getitem__, held))
        if held and (rare or len(texts) <= min(_FEW, len(held) // _NUMBERS_A_TEXT)):
            share = sum(map(counts.__getitem__, labels)) / len(cells)
            self.noted.suspected[column.name] = texts, share
        return None

    def _plain_numbers(self, cells: Sequence[str | None]) -> FloatArray | None:
        """The numbers of a column that has no others than ordinary ones; None if in doubt."""
        gaps = {*self.gaps, None}
        held = [cell for cell in cells if cell not in gaps]
        text = "".join(held)  # type: ignore[arg-type]
        # Python's numbers may have spaces, underscores and digits of any script.
        if not text.isascii() or any(mark in text for mark in " \t\r\n_"):
            return None
        try:
            numbers = np.fromiter(map(float, held), np.float64, len(held))  # type: ignore[arg-type]
        except ValueError:
            return None
        if not np.abs(numbers).max(initial=0) < _EXACT:  # nor NaN
            return None
        if len(held) == len(cells):
            return numbers
        whole = np.full(len(cells), np.nan)
        whole[np.fromiter((cell not in gaps for cell in cells), np.bool_, len(cells))] = numbers
        return whole

    def _number(self, cell: str, column: Column, declared: Declaration) -> float:
        """A number that is written as text; refused if a double cannot hold it."""
        number, text = float(cell), cell.strip()
        beyond = np.isinf(number)
        if not beyond and abs(number) >= _EXACT and not declared.explicit:
            beyond = bool(_WHOLE.fullmatch(text)) and int(text) != int(number)
        if beyond:
            hint = "declare the column nominal, or ignore it"
            wrong = f"{shown(text)} is too large a number to be held exactly; {hint}"
            raise self.table.error(wrong, [*column.cells].index(cell), column.name)
        return number

    def _nominal(self, column: Column, declared: Declaration) -> tuple[Variable, FloatArray]:
        cells, values = column.text(), declared.values
        valid = {*(values or ())}
        labels: dict[str | None, str | None] = {}
        for cell in set(cells):
            label = None if cell is None else cell if cell in valid else cell.strip()
            labels[cell] = None if label in self.gaps and label not in valid else label
        if values is None:
            found = {label for label in labels.values() if label is not None}
            whole = all(map(_WHOLE.fullmatch, found))  # in the order of numbers
            values = tuple(sorted(found, key=lambda text: (float(text) if whole else 0, text)))
        markers = MARKERS if declared.values is None else GAPS
        if doubtful := tuple(v for v in values if is_marker(v, markers) and v not in _ORDINARY):
            self.noted.labels[column.name] = doubtful
        codes: dict[str | None, float] = {label: code for code, label in enumerate(values)}
        codes[None] = np.nan
        unknown = {cell for cell, label in labels.items() if label not in codes}
        if unknown:
            row = next(row for row, cell in enumerate(cells) if cell in unknown)
            allowed = f"none of the declared values: {listed(values) or 'none'}"
            raise self.table.error(f"{shown(cells[row])} is {allowed}", row, column.name)
        meaning = {cell: codes[label] for cell, label in labels.items()}
        numbers = np.fromiter(map(meaning.__getitem__, cells), np.float64, len(cells))
        return Variable(column.name, values), numbers


def is_number(text: str, comma: bool = False) -> bool:
    """Whether text is a number in digits, maybe with a decimal point (or comma) and exponent."""
    return bool(_NUMBER.fullmatch(text.strip().replace(",", ".", 1 if comma else 0)))


def is_marker(text: str, markers: Collection[str] = MARKERS) -> bool:
    """Whether text is a marker of missing values, in upper or lower case."""
    return text.strip().casefold() in markers


def holds_numbers(
    cells: Iterable[str | None], gaps: Collection[str] = GAPS, markers: Collection[str] = MARKERS
) -> bool:
    """Whether a column of text is numeric if not declared: numbers and markers, or only gaps."""
    texts = {cell.strip() for cell in {*cells} if cell is not None}.difference(gaps)
    words = {text for text in texts if not is_number(text)}
    return not texts or (words != texts and all(is_marker(text, markers) for text in words))


def number_text(value: Any) -> str | None:
    """A number as text: without a decimal point if it is whole, unless large; None for NaN."""
    if value != value:
        return None
    whole = math.isfinite(value) and abs(value) < _LARGE and value == int(value)
    return str(int(value)) if whole else str(value)


def shown(value: object) -> str:
    """A value in a sentence, cut off where it is long."""
    text = str(value)
    return f"'{text}'" if len(text) <= _SHOWN else f"'{text[:_SHOWN]}…'"


def listed(values: Iterable[object], limit: int = 8) -> str:
    """Some values in a sentence."""
    texts = [shown(value)[1:-1] for value in values]
    more = f" and {len(texts) - limit:,} more" if len(texts) > limit else ""
    return ", ".join(texts[:limit]) + more
