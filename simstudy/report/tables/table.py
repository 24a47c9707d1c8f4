"""Tables, independent of the format they are written in."""

from __future__ import annotations

from collections.abc import (
    Callable,
    Collection,
    Container,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeVar

import pandas as pd

from simstudy.experiments.base import Words
from simstudy.report.prose.numbers import NONE
from simstudy.report.prose.numbers import rows as row_count
from simstudy.texts import as_csv

_FEW = 6  # with more sizes, and no more learners, sizes are the rows


@dataclass(frozen=True)
class TableCell:
    """One cell."""

    text: str  # markup only in tables of pages
    more: str = ""  # a second line
    kind: str = "n"  # "n" for a number, "t" for text; others are classes of a page
    learners: tuple[int, ...] = ()  # that it belongs to; those of a first cell hold for its row
    bold: bool = False
    dagger: bool = False

    @property
    def filled(self) -> bool:
        """Whether it has more than a dash."""
        return self.text not in ("", NONE) or bool(self.more)


Text: TypeAlias = str | TableCell
Row: TypeAlias = Mapping[Hashable, Any]  # of a data frame
Record = TypeVar("Record")


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
    rules: Collection[int] = ()  # the rows above which there is a rule

    @property
    def columns(self) -> list[tuple[TableCell, ...]]:
        """The cells of each column, its head first."""
        return [*zip(self.heads, *self.rows, strict=True)]

    def pieces(self, across: int) -> Iterator[Table]:
        """Split a table that may be cut into pieces with at most ``across`` columns of numbers."""
        step = across if self.cut else max(len(self.heads), 1)
        for start in range(self.texts, len(self.heads), step):
            kept = [*range(self.texts), *range(start, min(start + step, len(self.heads)))]
            heads, *rows = ([row[i] for i in kept] for row in (self.heads, *self.rows))
            yield replace(self, heads=heads, rows=rows)

    @property
    def filled(self) -> Table:
        """The table without rows, and columns of numbers, that are empty; learners are named."""
        across, places = range(1, len(self.heads)), range(len(self.rows))
        kept = [place for place in places if any(self.rows[place][i].filled for i in across)]
        words = {i for i in across if self.heads[i].kind == "t"}  # where a dash may mean none
        columns = [0, *(i for i in across if i in words or any(r[i].filled for r in self.rows))]
        lost = [self.rows[place][0].text for place in places if place not in kept]
        lost += [self.heads[i].text for i in across if i not in columns and self.heads[i].learners]
        if not kept:
            return self
        lines = [self.heads, *(self.rows[place] for place in kept)]
        heads, *rows = ([line[i] for i in columns] for line in lines)
        lost = [f"“{name}”" for name in dict.fromkeys(lost)]
        names = f"Without an entry: {', '.join(lost)}." if lost else ""
        rules = {sum(place < rule for place in kept) for rule in self.rules}
        caption = f"{self.caption} {names}".strip()
        return replace(self, heads=heads, rows=rows, caption=caption, rules=rules)

    def named_by(self, end: str) -> Table:
        """Return the table with a name that ends so, such as with a measure."""
        return replace(self, name=f"{self.name}_{end}")

    @property
    def csv(self) -> str:
        """The table as CSV with all digits."""
        data = self.data
        if data is None:
            shown = [[cell.text for cell in row] for row in self.rows]
            data = pd.DataFrame(shown, columns=[head.text for head in self.heads])
        return as_csv(data)


def make_table(
    name: str,
    title: str,
    heads: Sequence[Text],
    lines: Iterable[Sequence[Text]],
    texts: int = 1,
    *,
    caption: str = "",
    data: pd.DataFrame | None = None,
    cut: bool = False,
    rules: Collection[int] = (),
) -> Table:
    """Make a table of texts and cells.

    Texts in the first columns are words, others numbers; a head is that of a column of words
    unless one of its cells is a number.
    """

    def row(line: Sequence[Text], numeric: Container[int]) -> list[TableCell]:
        kinds = ["n" if place in numeric else "t" for place in range(len(line))]
        cells = zip(line, kinds, strict=True)
        return [c if isinstance(c, TableCell) else TableCell(c, kind=kind) for c, kind in cells]

    beyond = range(texts, len(heads))
    rows = [row(line, beyond) for line in lines]
    numeric = {i for i in beyond if any(line[i].kind.split()[0] == "n" for line in rows)}
    return Table(name, title, row(heads, numeric), rows, caption, data, texts, cut, rules)


def table_of(
    records: Iterable[Record],
    name: str,
    title: str,
    columns: Mapping[str, Callable[[Record], Text]],
    texts: int = 1,
    *,
    caption: str = "",
    data: pd.DataFrame | None = None,
    cut: bool = False,
) -> Table:
    """Make a table with a row for each record; each column has a function from records to cells."""
    lines = [[cell(record) for cell in columns.values()] for record in records]
    return make_table(name, title, [*columns], lines, texts, caption=caption, data=data, cut=cut)


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
    *,
    caption: str = "",
    data: pd.DataFrame,
) -> Table:
    """Make a table of treatments by sizes, turned if sizes are many; others go below a rule."""
    labels = dict.fromkeys([*learners, *(label for label, _ in cells)])
    names = [words(label, "", *[i] * (i < len(learners))) for i, label in enumerate(labels)]
    lines: list[list[Text]]
    rules = {len(learners)} - {len(names)}
    if len(sizes) <= _FEW or len(names) > _FEW:
        heads = [words(kind.treatment), *(TableCell(row_count(size)) for size in sizes)]
        lines = [[name, *(cells[name.text, size] for size in sizes)] for name in names]
    else:
        heads = [words(f"{kind.dose} rows"), *(replace(name, kind="n") for name in names)]
        lines, rules = [], set()
        for at in sizes:
            named = [replace(cells[name.text, at], learners=name.learners) for name in names]
            lines.append([words(row_count(at)), *named])
    return make_table(table, title, heads, lines, caption=caption, data=data, cut=True, rules=rules)
