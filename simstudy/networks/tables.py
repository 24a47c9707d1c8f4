"""Tables of a network as a file gives them, checked as far as a line number helps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from simstudy.arrays import FloatArray
from simstudy.errors import SimstudyError, suggestion
from simstudy.networks.network import Network, topological_order

# Probabilities of a distribution are printed rounded: a sum this far from one is an error ...
MAX_ROUNDING = 0.02
# ... and one this close to one is left as it is, so that a network is read as it was written.
_EXACT = 1e-12
MAX_TABLE = 2**26  # cells


class NetworkError(SimstudyError):
    """A file that holds no network, with the line at fault."""


@dataclass
class Declared:
    """A variable as a file declares it."""

    name: str
    states: tuple[str, ...]
    line: int


@dataclass
class Conditional:
    """A table as a file gives it: the names of its variables, and numbers where they are known."""

    variable: str
    parents: tuple[str, ...]
    line: int
    entries: list[tuple[tuple[str, ...] | None, list[float], int]] = field(default_factory=list)
    default: tuple[list[float], int] | None = None


class NetworkAssembly:
    """Puts a network together; every error names the file and the line.

    ``child_first`` says how a whole table is listed: the child is the variable that changes most
    slowly (BIF), or the one that changes fastest (XMLBIF).
    """

    def __init__(self, source: str, child_first: bool) -> None:
        self._source, self._child_first = source, child_first
        self.title = ""
        self._variables: dict[str, Declared] = {}
        self._tables: dict[str, Conditional] = {}

    def fail(self, line: int, text: str) -> NoReturn:
        """Raise the error about a line."""
        raise NetworkError(f"{self._source}, line {line}: {text}")

    def declare(self, variable: Declared) -> None:
        """Add a variable."""
        if variable.name in self._variables:
            first = self._variables[variable.name].line
            self.fail(
                variable.line,
                f"the variable '{variable.name}' is declared already, in line {first}",
            )
        if not variable.states:
            self.fail(variable.line, f"the variable '{variable.name}' has no values")
        seen: set[str] = set()
        for state in variable.states:
            if state in seen:
                self.fail(
                    variable.line, f"the variable '{variable.name}' has the value '{state}' twice"
                )
            seen.add(state)
        self._variables[variable.name] = variable

    def define(self, table: Conditional) -> None:
        """Add the table of a variable."""
        if table.variable in self._tables:
            first = self._tables[table.variable].line
            self.fail(
                table.line,
                f"the variable '{table.variable}' has probabilities already, in line {first}",
            )
        self._tables[table.variable] = table

    def network(self, end: int) -> Network:
        """Return the network; ``end`` is the last line of the file."""
        if not self._variables:
            self.fail(end, "the file ends without a variable")
        place = {name: v for v, name in enumerate(self._variables)}
        for table in self._tables.values():
            for name in (table.variable, *table.parents):
                if name not in place:
                    known = suggestion(name, place)
                    self.fail(table.line, f"the variable '{name}' is not declared{known}")
            if len({table.variable, *table.parents}) <= len(table.parents):
                self.fail(table.line, f"a variable is named twice in '{table.variable}'")
        for variable in self._variables.values():
            if variable.name not in self._tables:
                self.fail(variable.line, f"the variable '{variable.name}' has no probabilities")
        tables = [self._tables[name] for name in place]
        parents = tuple(tuple(place[name] for name in table.parents) for table in tables)
        self._refuse_cycle(parents, tables)
        return Network(
            parents,
            [self._filled(table) for table in tables],
            list(place),
            [variable.states for variable in self._variables.values()],
            self.title,
        )

    def _refuse_cycle(
        self, parents: tuple[tuple[int, ...], ...], tables: Sequence[Conditional]
    ) -> None:
        try:
            topological_order(parents)
        except ValueError:
            v, seen = next(v for v in range(len(parents)) if _in_cycle(v, parents)), []
            while v not in seen:
                seen.append(v)
                v = next(u for u in parents[v] if _in_cycle(u, parents))
            names = [tables[u].variable for u in (*seen[seen.index(v) :], v)]
            arcs = " → ".join(f"'{name}'" for name in reversed(names))
            self.fail(tables[v].line, f"the parents form a cycle: {arcs}")

    def _filled(self, table: Conditional) -> FloatArray:
        """Return the table as an array, the parents first."""
        cards = [len(self._variables[name].states) for name in (*table.parents, table.variable)]
        cells, card = math.prod(cards), cards[-1]
        if cells > MAX_TABLE:
            self.fail(
                table.line,
                f"the table of '{table.variable}' has {cells:,} cells; at most {MAX_TABLE:,} are "
                "allowed",
            )
        rows = np.full((cells // card, card), np.nan)
        lines = np.full(len(rows), table.line)
        if table.default is not None:
            numbers, line = table.default
            self._expect(numbers, card, line, table)
            rows[:], lines[:] = numbers, line
        given: set[int] = set()
        for states, numbers, line in table.entries:
            if states is None:
                rows[:], lines[:] = self._whole(numbers, cards, line, table), line
                given.update(range(len(rows)))
                continue
            row = self._row(states, line, table)
            if row in given:
                self.fail(line, f"the probabilities of '{table.variable}' are given twice here")
            self._expect(numbers, card, line, table)
            given.add(row)
            rows[row], lines[row] = numbers, line
        self._check(rows, lines, given, table)
        sums = rows.sum(axis=1, keepdims=True)
        rows = np.where(np.abs(sums - 1) <= _EXACT, rows, rows / sums)
        return rows.reshape(cards)

    def _whole(
        self, numbers: list[float], cards: list[int], line: int, table: Conditional
    ) -> FloatArray:
        """Return the rows of a table listed as a whole."""
        self._expect(numbers, math.prod(cards), line, table)
        if not self._child_first:
            return np.reshape(numbers, (-1, cards[-1]))
        return np.reshape(numbers, (cards[-1], -1)).T

    def _row(self, states: tuple[str, ...], line: int, table: Conditional) -> int:
        """Return the number of a configuration of the parents."""
        if len(states) != len(table.parents):
            self.fail(
                line,
                f"'{table.variable}' has {len(table.parents)} parents, and values of "
                f"{len(states)} are named",
            )
        row = 0
        for name, state in zip(table.parents, states, strict=True):
            known = self._variables[name].states
            if state not in known:
                self.fail(line, f"'{name}' has no value '{state}'{suggestion(state, known)}")
            row = row * len(known) + known.index(state)
        return row

    def _expect(self, numbers: list[float], expected: int, line: int, table: Conditional) -> None:
        if len(numbers) != expected:
            self.fail(
                line,
                f"'{table.variable}' needs {expected:,} probabilities here, and "
                f"{len(numbers):,} are given",
            )

    def _check(
        self, rows: FloatArray, lines: np.ndarray, given: set[int], table: Conditional
    ) -> None:
        """Refuse gaps, and numbers that are no distribution."""
        if table.default is None and len(given) < len(rows):
            row = next(row for row in range(len(rows)) if row not in given)
            states = []
            for name in reversed(table.parents):
                row, place = divmod(row, len(self._variables[name].states))
                states.append(f"{name} = {self._variables[name].states[place]}")
            where = f" for {', '.join(reversed(states))}" if states else ""
            self.fail(table.line, f"the probabilities of '{table.variable}'{where} are not given")
        wrong = ~((rows >= 0) & (rows <= 1 + MAX_ROUNDING)).all(axis=1)
        if wrong.any():
            row = int(wrong.argmax())
            value = next(x for x in rows[row].tolist() if not 0 <= x <= 1 + MAX_ROUNDING)
            self.fail(
                int(lines[row]), f"{value:g} is no probability, among those of '{table.variable}'"
            )
        sums = rows.sum(axis=1)
        far = np.abs(sums - 1) > MAX_ROUNDING
        if far.any():
            row = int(far.argmax())
            self.fail(
                int(lines[row]),
                f"the probabilities of '{table.variable}' sum to {sums[row]:.6g}, not to 1",
            )


def _in_cycle(v: int, parents: Sequence[Sequence[int]]) -> bool:
    """Whether a variable is its own ancestor."""
    seen: set[int] = set()
    waiting = [*parents[v]]
    while waiting:
        u = waiting.pop()
        if u == v:
            return True
        if u not in seen:
            seen.add(u)
            waiting += parents[u]
    return False
