"""Tables, independent of the format they are written in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict, Unpack

import pandas as pd

from simstudy.experiments.base import Words
from simstudy.report.prose.numbers import rows as row_count
from simstudy.texts import as_csv

_FEW = 5  # with more sizes, and no more learners, sizes are the rows


@dataclass(frozen=True)
class TableCell:
    """One cell."""

    text: str  # markup only in tables of pages
    more: str = ""  # a second line
    kind: str = "n"  # "n" for a number, "t" for text; others are classes of a page
    learners: tuple[int, ...] = ()  # that it belongs to; those of a first cell hold for its row
    bold: bool = False
    dagger: bool = False


@dataclass(frozen=True)
class Table:
    """A table with its caption and the data behind it."""

    name: str  # of its file, without the ending
    title: str
    heads: list[TableCell]
    rows: list[list[TableCell]]
    caption: str = ""  # over what means are, and how intervals and tests are adjusted
    data: pd.DataFrame | None = field(default=None, repr=False)  # for CSV; default: the texts
    texts: int = 1  # columns of text, from the left; repeated if the table is split
    cut: bool = False  # whether it may be split if it is too wide
    rules: set[int] = field(default_factory=set)  # the rows above which there is a rule

    def pieces(self, across: int) -> Iterator[Table]:
        """Split a table that may be cut into pieces with at most so many columns of numbers."""
        step = across if self.cut else max(len(self.heads), 1)
        for start in range(self.texts, len(self.heads), step):
            kept = [*range(self.texts), *range(start, min(start + step, len(self.heads)))]
            heads, *rows = ([row[i] for i in kept] for row in (self.heads, *self.rows))
            yield replace(self, heads=heads, rows=rows)

    @property
    def csv(self) -> str:
        """The table as CSV with all digits."""
        data = self.data
        if data is None:
            shown = [[cell.text for cell in row] for row in self.rows]
            data = pd.DataFrame(shown, columns=[head.text for head in self.heads])
        return as_csv(data)


class Options(TypedDict, total=False):
    """What else a `Table` has."""

    caption: str
    data: pd.DataFrame
    cut: bool
    rules: set[int]


def make_table(
    name: str,
    title: str,
    heads: Sequence[str | TableCell],
    lines: Iterable[Sequence[str | TableCell]],
    texts: int = 1,
    **more: Unpack[Options],
) -> Table:
    """Make a table of texts and cells; texts in the first columns are words, others numbers."""

    def row(line: Sequence[str | TableCell]) -> list[TableCell]:
        return [
            given
            if isinstance(given, TableCell)
            else TableCell(given, kind="t" if i < texts else "n")
            for i, given in enumerate(line)
        ]

    return Table(name, title, row(heads), [row(line) for line in lines], texts=texts, **more)


def words(text: str, more: str = "", *learners: int) -> TableCell:
    """Make a cell of text that belongs to learners."""
    return TableCell(text, more, "t", learners)


def by_size(
    table: str,
    title: str,
    kind: Words,
    learners: Sequence[str],
    sizes: Sequence[int],
    cells: Mapping[Any, TableCell],
    **more: Unpack[Options],
) -> Table:
    """Make a table of treatments by sizes, turned if sizes are many; others go below a rule."""
    names = [words(label, "", place) for place, label in enumerate(learners)]
    others = dict.fromkeys(label for label, _ in cells if label not in learners)
    names += map(words, others)
    lines: list[list[str | TableCell]]
    if len(sizes) <= _FEW or len(names) > _FEW:
        heads = [words(kind.treatment), *(TableCell(row_count(size)) for size in sizes)]
        lines = [[one, *(cells[one.text, size] for size in sizes)] for one in names]
        more["rules"] = {len(learners)} if others else set()
    else:
        heads = [words(f"{kind.dose} rows"), *(replace(one, kind="n") for one in names)]
        own = {one.text: one.learners for one in names}
        lines = [
            [row_count(at), *(replace(cells[name, at], learners=own[name]) for name in own)]
            for at in sizes
        ]
    more["cut"] = True
    return make_table(table, title, heads, lines, **more)
