"""The columns of a table: their names and values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from simstudy.texts import counted


@dataclass(frozen=True)
class Variable:
    """A column: its name and, unless it is numeric, its values in their order."""

    name: str
    values: tuple[str, ...] | None = None

    @property
    def numeric(self) -> bool:
        """Whether it holds numbers."""
        return self.values is None

    @property
    def kind(self) -> str:
        """Whether it is numeric or nominal."""
        return "numeric" if self.numeric else "nominal"

    @property
    def card(self) -> int:
        """The number of values, 0 if it is numeric; 1 if a nominal one has no value at all.

        Whatever counts values can then take a column that is missing in every row for one whose
        only value never occurs.
        """
        return 0 if self.values is None else max(len(self.values), 1)


@dataclass(frozen=True)
class Schema:
    """The columns of a table, the target last.

    The target is nominal. A nominal variable may have values that no row has.
    """

    variables: tuple[Variable, ...]

    def __post_init__(self) -> None:
        if not self.variables:
            raise ValueError("a schema needs at least one variable, the target")
        if self.target.numeric:
            raise ValueError(f"the target '{self.target.name}' must be nominal")
        names: set[str] = set()
        for variable in self.variables:
            if variable.name in names:
                raise ValueError(f"two variables are named '{variable.name}'")
            names.add(variable.name)
            values = variable.values or ()
            if len({*values}) < len(values):
                raise ValueError(f"the variable '{variable.name}' has a value twice")

    @property
    def target(self) -> Variable:
        """The variable to predict."""
        return self.variables[-1]

    @property
    def attributes(self) -> tuple[Variable, ...]:
        """All variables but the target."""
        return self.variables[:-1]

    @cached_property
    def cards(self) -> tuple[int, ...]:
        """The number of values of each variable; 0 for a numeric one."""
        return tuple(variable.card for variable in self.variables)

    @cached_property
    def numeric(self) -> tuple[int, ...]:
        """The places of the numeric attributes."""
        return tuple(i for i, variable in enumerate(self.variables) if variable.numeric)

    def check(self, training: Schema) -> None:
        """Raise a ValueError unless it is the schema of the training rows."""
        if self != training:
            rule = "the rows must have the variables and values of the training rows"
            raise ValueError(f"{rule}; {self._difference(training)}")

    def _difference(self, training: Schema) -> str:
        """The first difference from another schema."""
        number, expected = len(self.variables), len(training.variables)
        if number != expected:
            return f"they have {counted(number, 'variable')}, not {expected}"
        pairs = zip(self.variables, training.variables, strict=True)
        mine, trained = next(pair for pair in pairs if pair[0] != pair[1])
        if mine.name != trained.name:
            return f"they have '{mine.name}' in place of '{trained.name}'"
        if mine.values is None or trained.values is None:
            return f"'{mine.name}' is {mine.kind}, not {trained.kind}"
        for values, declared, verdict in (
            (mine.values, trained.values, "known"),
            (trained.values, mine.values, "declared"),
        ):
            if lacking := [value for value in values if value not in declared]:
                return f"the value '{lacking[0]}' of '{mine.name}' is not {verdict}"
        return f"the values of '{mine.name}' are in another order"

    @staticmethod
    def plain(cards: Sequence[int]) -> Schema:
        """The schema of coded rows: variables x0, x1, … and y, whose values are their codes.

        A variable of 0 values is numeric.
        """
        names = [*(f"x{i}" for i in range(len(cards) - 1)), "y"]
        codes = [tuple(map(str, range(card))) if card else None for card in cards]
        return Schema(tuple(map(Variable, names, codes)))
