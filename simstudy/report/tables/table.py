"""A table, whatever it is written as."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from simstudy.report.prose.numbers import rows as row_count
from simstudy.texts import as_csv

if TYPE_CHECKING:
    import pandas as pd

_FEW = 5  # with more sizes, and no more learners, sizes are the rows


@dataclass(frozen=True)
class Cell:
    """One cell.

    Attributes
    ----------
    text, more : str
        The text, and a second line; markup is for pages alone.
    kind : str
        "n" for a number, "t" for text; others are classes of a page.
    learners : tuple of int
        The numbers of the learners that it belongs to; of a first cell, its whole row.
    bold, dagger : bool
        How it is marked.
    """

    text: str
    more: str = ""
    kind: str = "n"
    learners: tuple[int, ...] = ()
    bold: bool = False
    dagger: bool = False


@dataclass(frozen=True)
class Table:
    """A table with its caption and the data behind it.

    Attributes
    ----------
    name : str
        The name of its file, without the ending.
    title : str
        A few words on what it shows.
    heads : list of Cell
        The heads of its columns.
    rows : list of list of Cell
        Its body.
    caption : str
        What the title does not say: over what, and how intervals and tests are adjusted.
    data : DataFrame, optional
        All digits, for CSV; the texts of the cells if left out.
    texts : int
        How many columns, from the left, hold text; a table that is cut repeats them.
    cut : bool
        Whether it may be cut into pieces where it is too wide.
    rules : set of int
        The rows above which there is a rule.
    """

    name: str
    title: str
    heads: list[Cell]
    rows: list[list[Cell]]
    caption: str = ""
    data: pd.DataFrame | None = field(default=None, repr=False)
    texts: int = 1
    cut: bool = False
    rules: set[int] = field(default_factory=set)

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
        import pandas as pd

        data = self.data
        if data is None:
            shown = [[cell.text for cell in row] for row in self.rows]
            data = pd.DataFrame(shown, columns=[head.text for head in self.heads])
        return as_csv(data)


def make_table(
    name: str,
    title: str,
    heads: Sequence[str | Cell],
    lines: Iterable[Sequence[str | Cell]],
    texts: int = 1,
    **more: Any,
) -> Table:
    """Make a table of texts and cells; texts in the first columns are words, others numbers."""

    def row(line: Sequence[str | Cell]) -> list[Cell]:
        return [
            given if isinstance(given, Cell) else Cell(given, kind="t" if i < texts else "n")
            for i, given in enumerate(line)
        ]

    return Table(name, title, row(heads), [row(line) for line in lines], texts=texts, **more)


def words(text: str, more: str = "", *learners: int) -> Cell:
    """Make a cell of text that belongs to learners."""
    return Cell(text, more, "t", learners)


def by_size(
    table: str,
    title: str,
    learners: Sequence[str],
    sizes: Sequence[int],
    cells: Mapping[Any, Cell],
    **more: Any,
) -> Table:
    """Make a table of learners by sizes, turned if there are many sizes and few learners.

    Cells are by label and size; labels other than those of learners come last, below a rule.
    """
    names = [words(label, "", place) for place, label in enumerate(learners)]
    others = dict.fromkeys(label for label, _ in cells if label not in learners)
    names += map(words, others)
    lines: list[list[str | Cell]]
    if len(sizes) <= _FEW or len(names) > _FEW:
        heads = [words("learner"), *(Cell(row_count(size)) for size in sizes)]
        lines = [[one, *(cells[one.text, size] for size in sizes)] for one in names]
        more["rules"] = {len(learners)} if others else set()
    else:
        heads = [words("training rows"), *(replace(one, kind="n") for one in names)]
        own = {one.text: one.learners for one in names}
        lines = [
            [row_count(at), *(replace(cells[name, at], learners=own[name]) for name in own)]
            for at in sizes
        ]
    return make_table(table, title, heads, lines, cut=True, **more)
