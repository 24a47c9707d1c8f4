"""Tables of a network as stated in a file, checked with line numbers."""

from __future__ import annotations

import math
import re
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from typing import Literal, NamedTuple, NoReturn

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.errors import SimstudyError, suggestion
from simstudy.networks.network import Network

# Probabilities of a distribution are printed rounded: a sum this far from one is an error ...
MAX_ROUNDING = 0.02
# ... and one this close to one is left as it is, so that a network is read as it was written.
_EXACT = 1e-12
MAX_TABLE = 2**26  # cells
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eEdD][+-]?\d+)?|[+-]?(inf|nan)", re.IGNORECASE)


class NetworkError(SimstudyError):
    """An error in a file of a network, with its line."""


class Conditional(NamedTuple):
    """A table as a file states it: the names of its variables, and its entries.

    An entry is the values of the parents, "table" for all of them or "default" for the rest; its
    numbers; and its line.
    """

    variable: str
    parents: tuple[str, ...]
    line: int
    entries: list[tuple[tuple[str, ...] | str, list[float], int]]


class NetworkAssembly:
    """Puts a network together; every error names the file and the line.

    ``child_first`` says how a whole table is listed: the child is the variable that changes most
    slowly (BIF), or the one that changes fastest (XMLBIF).
    """

    def __init__(self, source: str, child_first: bool) -> None:
        self._source, self._child_first = source, child_first
        self.title = ""
        self._states: dict[str, tuple[str, ...]] = {}
        self._lines: dict[str, int] = {}
        self._tables: dict[str, Conditional] = {}

    def fail(self, line: int, text: str) -> NoReturn:
        """Raise the error about a line."""
        raise NetworkError(f"{self._source}, line {line}: {text}")

    def declare(self, name: str, states: tuple[str, ...], line: int) -> None:
        """Add a variable."""
        if name in self._lines:
            first = self._lines[name]
            self.fail(line, f"the variable '{name}' is declared already, in line {first}")
        if not states:
            self.fail(line, f"the variable '{name}' has no values")
        for state, times in Counter(states).items():
            if times > 1:
                self.fail(line, f"the variable '{name}' has the value '{state}' twice")
        self._states[name], self._lines[name] = states, line

    def define(self, table: Conditional) -> None:
        """Add the table of a variable."""
        name = table.variable
        if name in self._tables:
            wrong = f"has probabilities already, in line {self._tables[name].line}"
            self.fail(table.line, f"the variable '{name}' {wrong}")
        self._tables[name] = table

    def number(self, text: str, line: int) -> float:
        """Return the number that a word stands for."""
        if not _NUMBER.fullmatch(text):
            self.fail(line, f"'{text}' is not a number")
        number = float(text.lower().replace("d", "e"))
        if not math.isfinite(number):
            self.fail(line, f"{text} is not a probability")
        return number

    def network(self, end: int) -> Network:
        """Return the network; ``end`` is the last line of the file."""
        if not self._states:
            self.fail(end, "the file ends without a variable")
        place = {name: v for v, name in enumerate(self._states)}
        for table in self._tables.values():
            for name in (table.variable, *table.parents):
                if name not in place:
                    near = suggestion(name, place)
                    self.fail(table.line, f"the variable '{name}' is not declared{near}")
            if len({table.variable, *table.parents}) <= len(table.parents):
                self.fail(table.line, f"a variable is named twice in '{table.variable}'")
        for name, line in self._lines.items():
            if name not in self._tables:
                self.fail(line, f"the variable '{name}' has no probabilities")
        tables = [self._tables[name] for name in place]
        parents = tuple(tuple(place[name] for name in table.parents) for table in tables)
        try:
            TopologicalSorter(dict(enumerate(parents))).prepare()
        except CycleError as error:
            cycle = [tables[v] for v in error.args[1]]
            arcs = " → ".join(f"'{table.variable}'" for table in cycle)
            self.fail(cycle[0].line, f"the parents form a cycle: {arcs}")
        cpts, states = [*map(self._filled, tables)], [*self._states.values()]
        return Network(parents, cpts, [*place], states, self.title)

    def _filled(self, table: Conditional) -> FloatArray:
        """Return the table as an array, the parents first."""
        cards = [len(self._states[name]) for name in (*table.parents, table.variable)]
        cells, card, variable = math.prod(cards), cards[-1], table.variable
        if cells > MAX_TABLE:
            wrong = f"has {cells:,} cells; at most {MAX_TABLE:,} are allowed"
            self.fail(table.line, f"the table of '{variable}' {wrong}")
        rows = np.full((cells // card, card), np.nan)
        lines, stated = np.full(len(rows), table.line), np.zeros(len(rows), dtype=np.bool_)
        for states, numbers, line in sorted(table.entries, key=lambda entry: entry[0] != "default"):
            row = slice(None) if isinstance(states, str) else self._row(states, line, table)
            if isinstance(row, int) and stated[row]:
                self.fail(line, f"the probabilities of '{variable}' are stated twice")
            expected = cells if states == "table" else card
            if len(numbers) != expected:
                wrong = f"{expected:,} probabilities here, and {len(numbers):,} are listed"
                self.fail(line, f"'{variable}' needs {wrong}")
            child_first = self._child_first and states == "table"
            order: Literal["C", "F"] = "F" if child_first else "C"
            rows[row], lines[row] = np.reshape(numbers, (-1, card), order=order), line
            stated[row] = states != "default"
        self._check(rows, lines, table)
        sums = rows.sum(axis=1, keepdims=True)
        rows = np.where(np.abs(sums - 1) <= _EXACT, rows, rows / sums)
        return rows.reshape(cards)

    def _row(self, states: tuple[str, ...], line: int, table: Conditional) -> int:
        """Return the number of a configuration of the parents."""
        if len(states) != len(table.parents):
            wrong = f"has {len(table.parents)} parents, and values of {len(states)} are named"
            self.fail(line, f"'{table.variable}' {wrong}")
        row = 0
        for name, state in zip(table.parents, states, strict=True):
            declared = self._states[name]
            if state not in declared:
                self.fail(line, f"'{name}' has no value '{state}'{suggestion(state, declared)}")
            row = row * len(declared) + declared.index(state)
        return row

    def _check(self, rows: FloatArray, lines: IntArray, table: Conditional) -> None:
        """Refuse gaps, and numbers that are no distribution."""
        gaps = np.isnan(rows[:, 0])
        if gaps.any():
            declared = [self._states[name] for name in table.parents]
            places = np.unravel_index(gaps.argmax(), [*map(len, declared)])
            states = [values[place] for values, place in zip(declared, places, strict=True)]
            pairs = ", ".join(map(" = ".join, zip(table.parents, states, strict=True)))
            where = f" for {pairs}" if pairs else ""
            self.fail(table.line, f"the probabilities of '{table.variable}'{where} are missing")
        wrong = (rows < 0) | (rows > 1 + MAX_ROUNDING)
        if wrong.any():
            row, place = np.unravel_index(wrong.argmax(), wrong.shape)
            value = f"{rows[row, place]:g} is not a probability"
            self.fail(int(lines[row]), f"{value}, among those of '{table.variable}'")
        sums = rows.sum(axis=1)
        far = np.abs(sums - 1) > MAX_ROUNDING
        if far.any():
            row, total = far.argmax(), f"{sums[far][0]:.6g}"
            text = f"the probabilities of '{table.variable}' sum to {total}, not to 1"
            self.fail(int(lines[row]), text)
