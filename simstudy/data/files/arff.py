r"""Tables in Weka's attribute-relation file format (ARFF), read and written.

Comments, quoted names and values with escapes (``\'``), sparse rows; no relational attributes and
no weights of rows. Dates are refused unless ignored; strings are nominal.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from simstudy.data.files.columns import NOMINAL, NUMERIC, Column, Declaration, RawTable, shown
from simstudy.data.sample import Sample
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
_PLAIN = re.compile(r"[^\s,'\"{}%\\]+")
_ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"})
_SPECIAL = re.compile("['\"{}%\t]")
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
        rows, numbers = list[Sequence[str | None]](), []
        for number in range(start, len(self.lines)):
            line = self.lines[number].strip()
            if not line or line[0] == "%":
                continue
            if line[0] == "{":
                row: Sequence[str | None] = self._sparse(number, line, columns)
            else:
                row = self._values(number, line) if _SPECIAL.search(line) else line.split(",")
            if len(row) != len(columns):
                wrong = f"it has {counted(len(row), 'value')}"
                raise self.error(number, f"{wrong}, and there are {len(columns)} attributes")
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
        match = _ATTRIBUTE.fullmatch(_uncommented(text))
        if match is None or not match[2].strip():
            raise self.error(number, f"{shown(text)} must be @attribute, a name and a type")
        name, kind = _plain(match[1]), match[2].strip()
        if kind[0] == "{":
            if kind[-1] != "}":
                raise self.error(number, f"the values of '{name}' must end with a brace")
            inner = kind[1:-1].strip().removesuffix(",")
            values = tuple(self._values(number, inner)) if inner else ()
            if twice := [value for value, times in Counter(values).items() if times > 1]:
                raise self.error(number, f"'{name}' has the value {shown(min(twice))} twice")
            return Column(name, (), NOMINAL, values)
        match kind.lower().split()[0]:
            case "numeric" | "real" | "integer":
                return Column(name, (), NUMERIC)
            case "string":
                return Column(name, (), NOMINAL)
            case "date":
                return Column(name, (), refusal="holds dates")
            case "relational":
                raise self.error(number, f"'{name}' is relational, which is not supported")
        types = "numeric, real, integer, string, or values in braces"
        raise self.error(number, f"'{name}' has the unknown type {shown(kind)}; known: {types}")

    def _values(self, number: int, line: str) -> list[str]:
        """The values of a line that may have quotes, tabs and a comment."""
        line, values, place, more = _uncommented(line), [], 0, True
        while more:
            match = _VALUE.match(line, place)
            if match is None:
                rest = line[place:].strip()
                quotes = f"the quotation marks of {shown(rest)} do not match"
                raise self.error(number, _WEIGHTS if rest[:1] == "{" else quotes)
            values.append(_plain(match[1] or match[2].strip()))
            place, more = match.end(), bool(match[3] or match[4])
        return values

    def _sparse(self, number: int, line: str, columns: list[Column]) -> list[str | None]:
        """The values of a sparse row; those left out are 0 or the first value of a list."""
        line = _uncommented(line)
        if line[-1] != "}":
            raise self.error(number, "a sparse row must end with a brace, without a weight")
        row: list[str | None] = [None] * len(columns)
        inner, place = line[1:-1].strip(), 0
        while place < len(inner):
            match = _PAIR.match(inner, place)
            if match is None:
                rest = inner[place:]
                pair = f"{shown(rest)} must be the number of an attribute and a value"
                raise self.error(number, _WEIGHTS if "}" in rest else pair)
            beyond = len(match[1]) > _MAX_DIGITS or int(match[1]) >= len(columns)
            index, place = len(columns) if beyond else int(match[1]), match.end()
            if beyond or row[index] is not None:
                wrong = f"of {len(columns)}, counted from 0" if beyond else "twice"
                attribute = shown(match[1])[1:-1]
                raise self.error(number, f"it has a value of attribute {attribute} {wrong}")
            row[index] = _plain(match[2])
        for index, column in enumerate(columns):
            default = "0" if column.kind == NUMERIC else next(iter(column.values or ()), None)
            row[index] = default if row[index] is None else row[index]
            if row[index] is None:
                raise self.error(number, f"a sparse row must have a value of '{column.name}'")
        return row


def _uncommented(text: str) -> str:
    match = _COMMENT.fullmatch(text)
    return match[1].strip() if match else text


def _plain(token: str) -> str:
    """A token without its quotes and escapes."""
    return _ESCAPE.sub(_unescaped, token[1:-1]) if token[:1] in ("'", '"') else token


def _unescaped(escape: re.Match[str]) -> str:
    mark = escape[1]
    return chr(int(mark[1:], 16)) if len(mark) > 1 else _ESCAPED.get(mark, mark)


def arff_text(
    table: RawTable, declared: Mapping[str, Declaration], target: str | None = None
) -> str:
    """Write a table as ARFF, with the column ``target`` last.

    A column of which nothing is declared is numeric if its values are numbers, otherwise of
    strings. The text of a table that was read from such text is the same text.
    """
    columns = sorted(table.columns, key=lambda column: column.name == target)  # stable
    header = [f"@attribute {_quoted(c.name)} {_kind(c, declared)}" for c in columns]
    cells = [_cells(column, table.rows) for column in columns]
    rows = map(",".join, zip(*cells, strict=True))
    return "\n".join(["@relation data", *header, "@data", *rows, ""])


def sample_text(sample: Sample) -> str:
    """Write the rows of a sample as ARFF, from which the same schema and values are read."""
    columns = []
    for place, variable in enumerate(sample.schema.variables):
        numbers, values = sample.values[:, place], variable.values
        if values is None:
            columns.append(Column(variable.name, numbers, NUMERIC))
            continue
        labels = np.array([*values, None], dtype=object)
        codes = np.where(np.isnan(numbers), len(values), numbers).astype(np.intp)
        columns.append(Column(variable.name, labels[codes].tolist(), NOMINAL, values))
    return arff_text(RawTable("", columns, len(sample), str), {})


def _kind(column: Column, declared: Mapping[str, Declaration]) -> str:
    if column.refusal:
        return "date"  # is refused again, unless ignored
    declaration = declared.get(column.name, Declaration(column.kind, column.values))
    if declaration.kind == NOMINAL and declaration.values is not None:
        return "{" + ",".join(map(_quoted, declaration.values)) + "}"
    numeric = column.numeric if declaration.kind is None else declaration.kind == NUMERIC
    return "numeric" if numeric else "string"


def _cells(column: Column, rows: int) -> list[str]:
    if column.refusal:
        return ["?"] * rows
    texts = column.text()
    declared = {*(column.values or ())}
    if {"", "?"} <= declared and any(cell is None for cell in texts):
        raise SimstudyError(f"'{column.name}' has the values '' and '?', so none is left for a gap")
    gap = "''" if "?" in declared else "?"  # a value that is declared is not missing
    written = {cell: gap if cell is None else _quoted(cell) for cell in {*texts}}
    return [written[cell] for cell in texts]


def _quoted(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else f"'{text.translate(_ESCAPES)}'"
