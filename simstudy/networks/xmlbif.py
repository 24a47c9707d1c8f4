"""Reading and writing of networks in XMLBIF 0.3, the XML form of the interchange format."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from simstudy.networks.network import Network
from simstudy.networks.tables import Conditional, NetworkAssembly

if TYPE_CHECKING:
    from xml.parsers.expat import XMLParserType

_DEFINITION = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE BIF [
  <!ELEMENT BIF (NETWORK)*>
  <!ATTLIST BIF VERSION CDATA #REQUIRED>
  <!ELEMENT NETWORK (NAME, (PROPERTY | VARIABLE | DEFINITION)*)>
  <!ELEMENT NAME (#PCDATA)>
  <!ELEMENT VARIABLE (NAME, (OUTCOME | PROPERTY)*)>
  <!ATTLIST VARIABLE TYPE (nature | decision | utility) "nature">
  <!ELEMENT OUTCOME (#PCDATA)>
  <!ELEMENT DEFINITION (FOR | GIVEN | TABLE | PROPERTY)*>
  <!ELEMENT FOR (#PCDATA)>
  <!ELEMENT GIVEN (#PCDATA)>
  <!ELEMENT TABLE (#PCDATA)>
  <!ELEMENT PROPERTY (#PCDATA)>
]>
"""
_ENCODING = re.compile(r"\s*<\?xml[^>]*?\bencoding\s*=\s*[\"']([^\"'>]{1,40})[\"']")
_DECODED = ("utf-8", "ascii", "iso8859-1")  # what the text of a file is decoded from


def read_xmlbif(path: str | Path) -> Network:
    """Read a network from an XMLBIF file, which may be packed by gzip.

    A table lists the probabilities with the variable itself changing fastest. Sums are treated as
    by `read_bif`. Entities other than those of XML itself are refused.
    """
    from simstudy.networks.bif import read_text

    return parse_xmlbif(read_text(Path(path)), str(path))


def parse_xmlbif(text: str, source: str = "XMLBIF") -> Network:
    """Return the network of an XMLBIF text; ``source`` names it in errors."""
    return _Parser(text, source).network()


class _Parser:
    """Collects variables and tables from the elements of a document."""

    def __init__(self, text: str, source: str) -> None:
        self._text = text
        self._built = NetworkAssembly(source, child_first=False)
        self._open: list[str] = []
        self._content: list[str] = []
        self._parts: dict[str, list[str]] = {}
        self._line = 1
        self._expat: XMLParserType

    def network(self) -> Network:
        from xml.parsers import expat

        self._check_encoding()
        # a text is no longer in the encoding that its first line may name
        self._expat = expat.ParserCreate("utf-8")
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._close
        self._expat.CharacterDataHandler = self._content.append
        self._expat.EntityDeclHandler = self._entity
        try:
            self._expat.Parse(self._text.encode(), True)
        except expat.ExpatError as error:
            self._built.fail(error.lineno, f"this is not XML: {expat.ErrorString(error.code)}")
        return self._built.network(self._expat.CurrentLineNumber)

    def _check_encoding(self) -> None:
        """Refuse a declared encoding in which the file was not decoded."""
        if (declared := _ENCODING.match(self._text)) is None:
            return
        with suppress(LookupError):
            if codecs.lookup(declared[1]).name in _DECODED or self._text.isascii():
                return
        self._built.fail(1, f"the encoding '{declared[1]}' is not supported; save it as UTF-8")

    def _entity(self, *_: object) -> NoReturn:
        self._built.fail(self._expat.CurrentLineNumber, "entities are not allowed")

    def _start(self, tag: str, attributes: Mapping[str, str]) -> None:
        line = self._expat.CurrentLineNumber
        if not self._open and tag != "BIF":
            self._built.fail(line, f"the document must be a <BIF>; it is a <{tag}>")
        self._open.append(tag)
        self._content.clear()
        if tag in ("VARIABLE", "DEFINITION"):
            self._parts, self._line = {}, line
        if tag == "VARIABLE" and attributes.get("TYPE", "nature") != "nature":
            self._built.fail(self._line, f"a variable is of type {attributes['TYPE']}, not nature")

    def _close(self, tag: str) -> None:
        self._open.pop()
        text, line = "".join(self._content).strip(), self._line
        self._content.clear()
        if tag == "VARIABLE":
            states = tuple(self._parts.get("OUTCOME", ()))
            self._built.declare(self._only("NAME"), states, line)
        elif tag == "DEFINITION":
            numbers = [self._built.number(word, line) for word in self._only("TABLE").split()]
            variable, parents = self._only("FOR"), tuple(self._parts.get("GIVEN", ()))
            table = Conditional(variable, parents, line, [("table", numbers, line)])
            self._built.define(table)
        elif tag == "NAME" and self._open[-1:] == ["NETWORK"]:
            self._built.title = text
        else:
            self._parts.setdefault(tag, []).append(text)

    def _only(self, tag: str) -> str:
        texts = self._parts.get(tag, [])
        if len(texts) != 1:
            self._built.fail(self._line, f"one <{tag}> is expected here; there are {len(texts)}")
        return texts[0]


def write_xmlbif(network: Network, path: str | Path) -> None:
    """Write a network as an XMLBIF 0.3 file at full precision; it is read back as it is."""
    Path(path).write_text(xmlbif_text(network), encoding="utf-8", newline="\n")


def xmlbif_text(network: Network) -> str:
    """Return a network as XMLBIF text."""
    parts = [_DEFINITION, '<BIF VERSION="0.3">\n<NETWORK>\n']
    parts.append(f"<NAME>{escape(network.title or 'unknown')}</NAME>\n")
    names = [*map(escape, network.names)]
    for name, values in zip(names, network.states, strict=True):
        outcomes = "".join(f"  <OUTCOME>{escape(value)}</OUTCOME>\n" for value in values)
        parts.append(f'<VARIABLE TYPE="nature">\n  <NAME>{name}</NAME>\n{outcomes}</VARIABLE>\n')
    for name, parents, cpt in zip(names, network.parents, network.cpts, strict=True):
        conditions = "".join(f"  <GIVEN>{names[p]}</GIVEN>\n" for p in parents)
        table = f"  <TABLE>{' '.join(map(repr, cpt.ravel().tolist()))}</TABLE>\n"
        parts.append(f"<DEFINITION>\n  <FOR>{name}</FOR>\n{conditions}{table}</DEFINITION>\n")
    return "".join([*parts, "</NETWORK>\n</BIF>\n"])
