"""Reading and writing of networks in the Bayesian interchange format, BIF 0.15.

    network asia { }
    variable smoke { type discrete [ 2 ] { yes, no }; }
    probability ( smoke ) { table 0.5, 0.5; }
    probability ( lung | smoke ) { (yes) 0.1, 0.9; (no) 0.01, 0.99; }

Read are also comments, properties, quoted names, ``default`` entries, whole tables of variables
with parents (the variable itself changes most slowly, as in JavaBayes), lists without commas and
parents after the variable without a bar. The time needed is linear in the length of the file.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple, NoReturn

from simstudy.errors import check_regular, reason
from simstudy.networks.network import Network
from simstudy.networks.tables import Conditional, NetworkAssembly, NetworkError

_MAX_BYTES = 2**28  # of a file, unpacked
_TOKEN = re.compile(
    r"""
    (?P<skipped>\s+|//[^\n]*|/\*.*?\*/)
  | "(?P<quoted>[^"\n]*)"
  | (?P<sign>[{}()\[\],;|])
  | (?P<unclosed>/\*|")
  | (?P<word>[^\s{}()\[\],;|"]+)
    """,
    re.VERBOSE | re.DOTALL,
)
_PLAIN = re.compile(r'(?!//|/\*)[^\s{}()\[\],;|"]+')


class Token(NamedTuple):
    """A word, a quoted text or a sign of a file."""

    text: str
    line: int
    sign: str  # "" for a word


def read_bif(path: str | Path) -> Network:
    """Read a network from a BIF file, which may be packed by gzip.

    Probabilities are often printed rounded. A distribution whose sum differs from one by at most
    0.02 is divided by its sum (up to 1e-12 it is left as it is); any other is an error.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Network
        The network, its variables in the order of their declarations.

    Raises
    ------
    SimstudyError
        Names the file and the line at fault.
    """
    return parse_bif(read_text(Path(path)), str(path))


def read_text(path: Path) -> str:
    """Return the text of a file, unpacked if it is packed by gzip."""
    try:
        check_regular(path)
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        with gzip.open(path) if packed else path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise NetworkError(f"{path} cannot be read: {reason(error)}") from error
    if len(content) > _MAX_BYTES:
        raise NetworkError(f"{path} is larger than {_MAX_BYTES:,} bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def parse_bif(text: str, source: str = "BIF") -> Network:
    """Return the network of a BIF text; ``source`` names it in errors."""
    return _Parser(text, source).network()


class _Parser:
    """A reader of blocks: ``network``, ``variable`` and ``probability``."""

    def __init__(self, text: str, source: str) -> None:
        self._built = NetworkAssembly(source, child_first=True)
        end = text.count("\n") + (not text.endswith("\n"))
        self._tokens = [*_tokens(text, self._built), Token("", max(end, 1), "end")]
        self._place = 0

    def network(self) -> Network:
        blocks = {"network": self._title, "variable": self._variable, "probability": self._table}
        while self._place < len(self._tokens) - 1:
            token = self._next("a block")
            if token.sign or token.text not in blocks:
                where = "where a block must begin: network, variable or probability"
                self._built.fail(token.line, f"'{token.text}' is found {where}")
            blocks[token.text]()
        return self._built.network(self._tokens[-1].line)

    def _next(self, expected: str) -> Token:
        """Return the next token, whatever it is."""
        token = self._tokens[self._place]
        if self._place == len(self._tokens) - 1:
            self._built.fail(token.line, f"the file ends where {expected} is expected")
        self._place += 1
        return token

    def _unexpected(self, token: Token, expected: str) -> NoReturn:
        self._built.fail(token.line, f"'{token.text}' is found where {expected} is expected")

    def _word(self, expected: str) -> Token:
        token = self._next(expected)
        if token.sign:
            self._unexpected(token, expected)
        return token

    def _sign(self, sign: str) -> None:
        token = self._next(f"'{sign}'")
        if token.sign != sign:
            self._unexpected(token, f"'{sign}'")

    def _skip(self, sign: str) -> bool:
        """Skip a sign if it is the next token, and return whether it is."""
        skipped = self._tokens[self._place].sign == sign
        self._place += skipped
        return skipped

    def _words(self, end: str) -> list[Token]:
        """Return words up to a sign; commas between them may be missing."""
        words = list[Token]()
        while not self._skip(end):
            if not self._skip(","):
                words.append(self._word(f"'{end}'"))
        return words

    def _texts(self, end: str) -> tuple[str, ...]:
        return tuple(token.text for token in self._words(end))

    def _property(self) -> None:
        """Skip a property: anything up to a semicolon."""
        while not self._skip(";"):
            self._next("';'")

    def _title(self) -> None:
        self._built.title = " ".join(self._texts("{"))
        while not self._skip("}"):
            self._word("'}'")
            self._property()

    def _variable(self) -> None:
        name = self._word("the name of a variable")
        states: tuple[str, ...] | None = None
        self._sign("{")
        while not self._skip("}"):
            token = self._word("'}'")
            if token.text == "property":
                self._property()
            elif token.text == "type":
                states = self._states(name.text)
            else:
                self._unexpected(token, "type or property")
        if states is None:
            self._built.fail(name.line, f"the variable '{name.text}' has no type")
        self._built.declare(name.text, states, name.line)

    def _states(self, name: str) -> tuple[str, ...]:
        kind = self._word("discrete")
        if kind.text != "discrete":
            wrong = f"is of type {kind.text}; it must be discrete"
            self._built.fail(kind.line, f"the variable '{name}' {wrong}")
        self._sign("[")
        number = self._word("the number of values")
        self._sign("]")
        self._sign("{")
        states = self._texts("}")
        self._skip(";")
        if number.text != str(len(states)):
            wrong = f"declares {number.text} values and lists {len(states)}"
            self._built.fail(number.line, f"the variable '{name}' {wrong}")
        return states

    def _table(self) -> None:
        self._sign("(")
        variable = self._word("the name of a variable")
        self._skip("|")
        table = Conditional(variable.text, self._texts(")"), variable.line, [])
        self._sign("{")
        while not self._skip("}"):
            self._entry(table)
        self._built.define(table)

    def _entry(self, table: Conditional) -> None:
        """Read a table, a default, a row for values of the parents, or a property."""
        line = self._tokens[self._place].line
        if self._skip("("):
            states = self._texts(")")
            table.entries.append((states, self._numbers(), line))
            return
        token = self._word("'}'")
        if token.text == "property":
            self._property()
        elif token.text in ("table", "default"):
            table.entries.append((token.text, self._numbers(), line))
        else:
            self._unexpected(token, "table, default or '('")

    def _numbers(self) -> list[float]:
        return [self._built.number(token.text, token.line) for token in self._words(";")]


def _tokens(text: str, built: NetworkAssembly) -> Iterator[Token]:
    """Split a text, comments left out."""
    line = 1
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        if kind == "unclosed":
            unclosed = "a comment" if match[0] == "/*" else "a quotation mark"
            built.fail(line, f"{unclosed} is not closed")
        if kind != "skipped":
            yield Token(match[kind], line, match["sign"] or "")
        line += match[0].count("\n")


def write_bif(network: Network, path: str | Path) -> None:
    """Write a network as a BIF file at full precision; it is read back as it is.

    Names with spaces or signs of the format are quoted, which other programs may not read; a
    name with a quotation mark or a line break cannot be written.
    """
    Path(path).write_text(bif_text(network), encoding="utf-8", newline="\n")


def bif_text(network: Network) -> str:
    """Return a network as BIF text."""
    parts = [f"network {_name(network.title or 'unknown')} {{\n}}\n"]
    for name, values in zip(network.names, network.states, strict=True):
        listed = ", ".join(map(_name, values))
        kind = f"type discrete [ {len(values)} ] {{ {listed} }}"
        parts.append(f"variable {_name(name)} {{\n  {kind};\n}}\n")
    tables = (cpt.reshape(-1, cpt.shape[-1]).tolist() for cpt in network.cpts)
    parts += [_table_text(network, v, rows) for v, rows in enumerate(tables)]
    return "".join(parts)


def _table_text(network: Network, v: int, rows: Sequence[Sequence[float]]) -> str:
    """Return the block of one variable's probabilities."""
    name, parents = _name(network.names[v]), network.parents[v]
    numbers = [", ".join(map(repr, row)) for row in rows]
    if not parents:
        return f"probability ( {name} ) {{\n  table {numbers[0]};\n}}\n"
    conditions = ", ".join(_name(network.names[p]) for p in parents)
    states = product(*([_name(value) for value in network.states[p]] for p in parents))
    lines = [f"  ({', '.join(s)}) {row};\n" for s, row in zip(states, numbers, strict=True)]
    return "".join([f"probability ( {name} | {conditions} ) {{\n", *lines, "}\n"])


def _name(name: str) -> str:
    """Return a name as it is written, quoted if need be."""
    if _PLAIN.fullmatch(name):
        return name
    if '"' in name or "\n" in name:
        raise ValueError(f"the name {name!r} cannot be written in a BIF file")
    return f'"{name}"'
