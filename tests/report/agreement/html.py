"""The elements of a page as a tree."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser

from tests.report.packed import unpacked

_VOID = {"meta", "input", "br", "img", "link", "hr"}
_SILENT = {"script", "style"}


class Node:
    """An element with its attributes, children and text."""

    def __init__(self, tag: str = "", attrs: dict[str, str] | None = None) -> None:
        self.tag, self.attrs = tag, attrs or {}
        self.parts: list[Node | str] = []
        self.parent: Node | None = None

    @property
    def text(self) -> str:
        """All text inside, on one line."""
        return " ".join("".join(self._texts()).split())

    def _texts(self) -> Iterator[str]:
        for part in self.parts:
            if isinstance(part, str):
                yield part
            elif part.tag not in _SILENT:
                yield from part._texts()

    @property
    def classes(self) -> list[str]:
        """Its classes."""
        return self.attrs.get("class", "").split()

    def all(self, tag: str = "", kind: str = "", **attrs: str) -> list[Node]:
        """Return the elements inside of a tag, a class and attributes, in their order."""
        found = []
        for part in self.parts:
            if isinstance(part, Node):
                fits = tag in ("", part.tag) and (not kind or kind in part.classes)
                if fits and all(part.attrs.get(key) == value for key, value in attrs.items()):
                    found.append(part)
                found += part.all(tag, kind, **attrs)
        return found

    def within(self) -> Iterator[Node]:
        """Yield the elements around it, from the inside."""
        at = self.parent
        while at is not None:
            yield at
            at = at.parent


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = self.at = Node()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {key: value or "" for key, value in attrs})
        node.parent = self.at
        self.at.parts.append(node)
        if tag not in _VOID:
            self.at = node

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID:
            assert self.at.tag == tag, f"</{tag}> closes <{self.at.tag}>"
            assert self.at.parent is not None
            self.at = self.at.parent

    def handle_data(self, data: str) -> None:
        self.at.parts.append(data)


def parse(text: str) -> Node:
    """Return the root of a page, all of whose elements are closed."""
    builder = _Builder()
    builder.feed(unpacked(text))
    builder.close()
    assert builder.at is builder.root
    return builder.root


def rows_of(table: Node) -> tuple[list[str], list[list[Node]]]:
    """Return the heads of a table, and the cells of its rows."""
    heads = [
        cell.text for row in table.all("thead") for cell in row.all() if cell.tag in ("th", "td")
    ]
    rows = [row for body in table.all("tbody") for row in body.all("tr")]
    return heads, [[cell for cell in row.all() if cell.tag in ("th", "td")] for row in rows]
