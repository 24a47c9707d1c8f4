"""Tables as text for the terminal."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from simstudy.report.tables.table import Table, TableCell

_MAX_LABEL = 30


def print_table(table: Table, console: Console) -> None:
    """Print a table, in pieces if it is wider than the terminal, and its caption."""
    every = [table.heads, *table.rows]
    label = min(max(len(row[0].text) for row in every), _MAX_LABEL)
    width = max(len(_text(cell)) for row in every for cell in row[1:]) + 2
    for piece in table.pieces(max((console.width - label - 2) // width, 1)):
        shown = RichTable(title=escape(table.title), title_justify="left", title_style="bold")
        shown.box, shown.pad_edge = SIMPLE_HEAD, False
        first, *others = piece.heads
        shown.add_column(escape(first.text), overflow="fold", max_width=_MAX_LABEL)
        for head in others:
            shown.add_column(escape(head.text), justify="right", no_wrap=table.cut)
        for row in piece.rows:
            shown.add_row(*(_marked(cell) for cell in row))
        console.print(shown)
    if table.caption:
        console.print(f"{table.caption}\n", style="dim", markup=False, highlight=False)


def _text(cell: TableCell) -> str:
    return f"{cell.text} {cell.more}".strip() + "†" * cell.dagger


def _marked(cell: TableCell) -> str:
    return f"[bold]{escape(_text(cell))}[/bold]" if cell.bold else escape(_text(cell))
