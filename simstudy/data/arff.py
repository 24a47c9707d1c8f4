r"""Tables in Weka's attribute-relation file format (ARFF).

Comments, quoted names and values with escapes (``\'``), sparse rows; no relational attributes and
no weights of rows. Dates are refused unless ignored; strings are nominal.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from simstudy.data.table import NOMINAL, NUMERIC, Column, RawTable, shown
from simstudy.errors import SimstudyError
from simstudy.texts import counted

_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s'\"{{]+)\s*(.*)", re.IGNORECASE)
_END = r"(?:\s*+(,)|[^\S\t]*+(\t)|\s*+$)"  # of a value
_VALUE = re.compile(rf"\s*+(?:({_QUOTED})|([^,\t'\"{{}}]*+)){_END}")
_PAIR = re.compile(rf"\s*(\d+)\s+({_QUOTED}|[^,\s'\"{{}}]+)\s*(?:,|$)")
_COMMENT = re.compile(rf"((?:{_QUOTED}|[^%'\"])*)%.*", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
_SPECIAL = re.compile("['\"{}%\t]")
_NUMBERS = {"numeric", "real", "integer"}
_MAX_DIGITS = 9  # of the index of an attribute
_WEIGHTS = "weights of rows are not supported"


def read_arff(text: str, source: str) -> RawTable:
    """The columns of an ARFF file."""
    return _Reader(re.split("\r\n|\n|\r", text), source).read()


@dataclass
class _Reader:
    lines: list[str]
    source: str

    def error(self, line: int, text: str) -> SimstudyError:
        """An error at a line, counted from 0."""
        return SimstudyError(f"{self.source}, line {line + 1}: {text}")

    def read(self) -> RawTable:
        columns, start = self._header()
        rows, numbers = [], []
        for number in range(start, len(self.lines)):
            line = self.lines[number].strip()
            if not line or line[0] == "%":
                continue
            if line[0] == "{":
                row = self._sparse(number, line, columns)
            elif _SPECIAL.search(line):
                row = self._values(number, line)
            else:
                row = line.split(",")
            if len(row) != len(columns):
                raise self.error(
                    number,
                    f"it has {counted(len(row), 'value')}, and there are {len(columns)} attributes",
                )
            rows.append(row)
            numbers.append(number + 1)
        for column, cells in zip(columns, zip(*rows, strict=True), strict=bool(rows)):
            column.cells = cells
        return RawTable(self.source, columns, len(rows), lambda row: f"line {numbers[row]}")

    def _header(self) -> tuple[list[Column], int]:
        """The attributes, and the line after @data."""
        columns: list[Column] = []
        for number, line in enumerate(self.lines):
            text = line.strip()
            keyword = text.lower().split(None, 1)[0] if text else "%"
            if keyword == "@data":
                if not columns:
                    raise self.error(number, "@data comes before any @attribute")
                return columns, number + 1
            if keyword == "@attribute":
                columns.append(self._attribute(number, text))
            elif keyword[0] != "%" and keyword != "@relation":
                raise self.error(number, f"{shown(text)} is neither @attribute nor @data")
        raise SimstudyError(f"{self.source}: an ARFF file needs a line @data")

    def _attribute(self, number: int, text: str) -> Column:
        found = _ATTRIBUTE.fullmatch(self._uncommented(text))
        name = _plain(found[1]) if found else ""
        kind = found[2].strip() if found else ""
        if not kind:
            raise self.error(number, f"{shown(text)} must be @attribute, a name and a type")
        if kind[0] == "{":
            if kind[-1] != "}":
                raise self.error(number, f"the values of '{name}' must end with a brace")
            inner = kind[1:-1].strip().removesuffix(",")
            values = tuple(self._values(number, inner)) if inner else ()
            if len({*values}) < len(values):
                twice = min(value for value, times in Counter(values).items() if times > 1)
                raise self.error(number, f"'{name}' has the value {shown(twice)} twice")
            return Column(name, (), NOMINAL, values)
        word = kind.lower().split()[0]
        if word in _NUMBERS:
            return Column(name, (), NUMERIC)
        if word == "string":
            return Column(name, (), NOMINAL)
        if word == "date":
            return Column(name, (), refusal="holds dates")
        if word == "relational":
            raise self.error(number, f"'{name}' is relational, which is not supported")
        raise self.error(
            number,
            f"'{name}' has the unknown type {shown(kind)}; known: numeric, real, integer, string, "
            "or values in braces",
        )

    def _uncommented(self, text: str) -> str:
        found = _COMMENT.fullmatch(text)
        return found[1].strip() if found else text

    def _values(self, number: int, line: str) -> list[str]:
        """The values of a line that may have quotes, tabs and a comment."""
        line, values, place, more = self._uncommented(line), [], 0, True
        while more:
            found = _VALUE.match(line, place)
            if found is None:
                rest = line[place:].strip()
                if rest[:1] == "{":
                    raise self.error(number, _WEIGHTS)
                raise self.error(number, f"the quotation marks of {shown(rest)} do not match")
            values.append(_plain(found[1] or found[2].strip()))
            place, more = found.end(), bool(found[3] or found[4])
        return values

    def _sparse(self, number: int, line: str, columns: list[Column]) -> list[str]:
        """The values of a sparse row; those left out are 0 or the first value of a list."""
        line = self._uncommented(line)
        if line[-1] != "}":
            raise self.error(number, "a sparse row must end with a brace, without a weight")
        row: list[str | None] = [None] * len(columns)
        inner, place = line[1:-1].strip(), 0
        while place < len(inner):
            found = _PAIR.match(inner, place)
            if found is None:
                rest = inner[place:]
                if "}" in rest:
                    raise self.error(number, _WEIGHTS)
                raise self.error(
                    number, f"{shown(rest)} must be the number of an attribute and a value"
                )
            beyond = len(found[1]) > _MAX_DIGITS or int(found[1]) >= len(columns)
            index, place = len(columns) if beyond else int(found[1]), found.end()
            if beyond or row[index] is not None:
                what = f"of {len(columns)}, counted from 0" if beyond else "twice"
                raise self.error(
                    number, f"it has a value of attribute {shown(found[1])[1:-1]} {what}"
                )
            row[index] = _plain(found[2])
        return [
            self._left_out(number, column) if value is None else value
            for column, value in zip(columns, row, strict=True)
        ]

    def _left_out(self, number: int, column: Column) -> str:
        if column.kind == NUMERIC:
            return "0"
        if not column.values:
            raise self.error(number, f"a sparse row must have a value of '{column.name}'")
        return column.values[0]


def _plain(token: str) -> str:
    """A token without its quotes and escapes."""
    if token[:1] not in ("'", '"'):
        return token
    return _ESCAPE.sub(_unescaped, token[1:-1])


def _unescaped(found: re.Match[str]) -> str:
    mark = found[1]
    return chr(int(mark[1:], 16)) if len(mark) > 1 else _ESCAPED.get(mark, mark)
