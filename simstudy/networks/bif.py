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
import math
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from simstudy.errors import check_regular, reason
from simstudy.networks.network import Network
from simstudy.networks.tables import Conditional, Declared, NetworkAssembly, NetworkError

_MAX_BYTES = 2**28  # of a file, unpacked
_TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<comment>//[^\n]*|/\*)
  | (?P<quoted>"[^"\n]*")
  | (?P<sign>[{}()\[\],;|])
  | (?P<word>[^\s{}()\[\],;|"]+)
  | (?P<open>")
    """,
    re.VERBOSE,
)
_PLAIN = re.compile(r'(?!//|/\*)[^\s{}()\[\],;|"]+')
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eEdD][+-]?\d+)?|[+-]?(inf|nan)", re.IGNORECASE)


class Token(NamedTuple):
    """A word, a quoted text or a sign of a file."""

    text: str
    line: int
    sign: bool


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
        self._tokens = list(_tokens(text, self._built))
        self._end = text.count("\n") + (not text.endswith("\n"))
        self._place = 0

    def network(self) -> Network:
        blocks = {
            "network": self._network,
            "variable": self._variable,
            "probability": self._probability,
        }
        while (token := self._peek()) is not None:
            if token.sign or token.text not in blocks:
                self._built.fail(
                    token.line,
                    f"'{token.text}' is found where a block must begin: network, variable or "
                    "probability",
                )
            self._place += 1
            blocks[token.text](token.line)
        return self._built.network(max(self._end, 1))

    def _peek(self) -> Token | None:
        return self._tokens[self._place] if self._place < len(self._tokens) else None

    def _next(self, expected: str) -> Token:
        """Return the next token, whatever it is."""
        token = self._peek()
        if token is None:
            self._built.fail(max(self._end, 1), f"the file ends where {expected} is expected")
        self._place += 1
        return token

    def _sign(self, sign: str) -> Token:
        token = self._next(f"'{sign}'")
        if not token.sign or token.text != sign:
            self._built.fail(token.line, f"'{token.text}' is found where '{sign}' is expected")
        return token

    def _word(self, expected: str) -> Token:
        token = self._next(expected)
        if token.sign:
            self._built.fail(token.line, f"'{token.text}' is found where {expected} is expected")
        return token

    def _is(self, *signs: str) -> bool:
        token = self._peek()
        return token is not None and token.sign and token.text in signs

    def _property(self) -> None:
        """Skip a property: anything up to a semicolon."""
        while not self._is(";"):
            self._next("';'")
        self._place += 1

    def _network(self, line: int) -> None:
        titles = []
        while not self._is("{"):
            titles.append(self._word("'{'").text)
        self._built.title = " ".join(titles)
        self._sign("{")
        while not self._is("}"):
            self._word("'}'")
            self._property()
        self._sign("}")

    def _variable(self, line: int) -> None:
        name = self._word("the name of a variable")
        self._sign("{")
        states: tuple[str, ...] | None = None
        while not self._is("}"):
            token = self._word("'}'")
            if token.text == "property":
                self._property()
            elif token.text == "type":
                states = self._states(name.text)
            else:
                self._built.fail(
                    token.line, f"'{token.text}' is found where type or property is expected"
                )
        self._sign("}")
        if states is None:
            self._built.fail(name.line, f"the variable '{name.text}' has no type")
        self._built.declare(Declared(name.text, states, name.line))

    def _states(self, name: str) -> tuple[str, ...]:
        kind = self._word("discrete")
        if kind.text != "discrete":
            self._built.fail(
                kind.line, f"the variable '{name}' is of type {kind.text}; it must be discrete"
            )
        self._sign("[")
        number = self._word("the number of values")
        self._sign("]")
        self._sign("{")
        states = self._list("}")
        if self._is(";"):
            self._place += 1
        if number.text != str(len(states)):
            self._built.fail(
                number.line,
                f"the variable '{name}' is said to have {number.text} values and lists "
                f"{len(states)}",
            )
        return tuple(token.text for token in states)

    def _list(self, end: str) -> list[Token]:
        """Return words up to a sign; commas between them may be missing."""
        found: list[Token] = []
        while not self._is(end):
            if self._is(","):
                self._place += 1
            else:
                found.append(self._word(f"'{end}'"))
        self._place += 1
        return found

    def _probability(self, line: int) -> None:
        self._sign("(")
        variable = self._word("the name of a variable")
        if self._is("|"):
            self._place += 1
        parents = tuple(token.text for token in self._list(")"))
        table = Conditional(variable.text, parents, variable.line)
        self._sign("{")
        while not self._is("}"):
            self._entry(table)
        self._sign("}")
        self._built.define(table)

    def _entry(self, table: Conditional) -> None:
        """Read a table, a default, a row for values of the parents, or a property."""
        if self._is("("):
            line = self._sign("(").line
            states = tuple(token.text for token in self._list(")"))
            table.entries.append((states, self._numbers(), line))
            return
        token = self._word("'}'")
        if token.text == "property":
            self._property()
        elif token.text == "table":
            table.entries.append((None, self._numbers(), token.line))
        elif token.text == "default":
            table.default = self._numbers(), token.line
        else:
            self._built.fail(
                token.line, f"'{token.text}' is found where table, default or '(' is expected"
            )

    def _numbers(self) -> list[float]:
        numbers = []
        for token in self._list(";"):
            if not _NUMBER.fullmatch(token.text):
                self._built.fail(token.line, f"'{token.text}' is not a number")
            number = float(token.text.lower().replace("d", "e"))
            if not math.isfinite(number):
                self._built.fail(token.line, f"{token.text} is no probability")
            numbers.append(number)
        return numbers


def _tokens(text: str, built: NetworkAssembly) -> Iterator[Token]:
    """Split a text, comments left out."""
    place, line = 0, 1
    while place < len(text):
        found = _TOKEN.match(text, place)
        assert found is not None, "every character begins a token"
        kind, content = found.lastgroup, found[0]
        if kind == "comment" and content == "/*":
            end = text.find("*/", found.end())
            if end < 0:
                built.fail(line, "a comment is not closed")
            content = text[place : end + 2]
        elif kind == "quoted":
            yield Token(content[1:-1], line, False)
        elif kind == "open":
            built.fail(line, "a quotation mark is not closed")
        elif kind in ("word", "sign"):
            yield Token(content, line, kind == "sign")
        line += content.count("\n")
        place += len(content)


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
        parts.append(
            f"variable {_name(name)} {{\n  type discrete [ {len(values)} ] {{ {listed} }};\n}}\n"
        )
    for v, cpt in enumerate(network.cpts):
        parts.append(_table_text(network, v, cpt.reshape(-1, network.cards[v]).tolist()))
    return "".join(parts)


def _table_text(network: Network, v: int, rows: Sequence[Sequence[float]]) -> str:
    """Return the block of one variable's probabilities."""
    parents = network.parents[v]
    if not parents:
        numbers = ", ".join(map(repr, rows[0]))
        return f"probability ( {_name(network.names[v])} ) {{\n  table {numbers};\n}}\n"
    given = ", ".join(_name(network.names[p]) for p in parents)
    lines = [f"probability ( {_name(network.names[v])} | {given} ) {{\n"]
    states = [[_name(value) for value in network.states[p]] for p in parents]
    for number, row in enumerate(rows):
        chosen = []
        for values in reversed(states):
            number, place = divmod(number, len(values))
            chosen.append(values[place])
        lines.append(f"  ({', '.join(reversed(chosen))}) {', '.join(map(repr, row))};\n")
    return "".join([*lines, "}\n"])


def _name(name: str) -> str:
    """Return a name as it is written, quoted if need be."""
    if _PLAIN.fullmatch(name):
        return name
    if '"' in name or "\n" in name:
        raise ValueError(f"the name {name!r} cannot be written in a BIF file")
    return f'"{name}"'
