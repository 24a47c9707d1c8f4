"""A study's findings for the terminal."""

from __future__ import annotations

from textwrap import shorten
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable
from rich.text import Text

from simstudy.report.prose.design import conventions
from simstudy.report.prose.phrases import opening
from simstudy.report.tables.table import Table, TableCell
from simstudy.results.read.open import Results
from simstudy.study.constants import FAILURES
from simstudy.texts import counted, printable

_MAX_LABEL = 30  # letters
_MAX_WARNINGS = 5  # that are printed
_LINE = 72  # letters of a warning, unless there are details


class _Console(Console):
    """A console that prints names as they are: no control characters, no pictures for words."""

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(printable(text), **options)


def make_console() -> Console:
    """A console for names that users choose."""
    return _Console(emoji=False, highlight=False)


def print_summary(results: Results, console: Console, details: bool = False) -> None:
    """Print the finding, means and who beats whom by the primary measure; or all tests of it."""
    results = results.shown
    study, page = results.study, results.study.page
    console.print(study.heading, style="bold", markup=False)
    finding = page.finding(results, results.findings())
    console.print(finding, markup=False)
    facts = ", ".join(f"{number:,} {what}" for number, what in page.facts(study))
    design = f"{page.design(study)}. {opening(conventions(study))}" if details else facts
    console.print(f"{design}." + "\n" * details, markup=False)
    for part in page.details(results) if details else page.summary(results):
        if isinstance(part, Table):
            print_table(part, console)
        elif not part.lead:
            console.print(part.text, style=part.style, markup=False)
        else:
            indented = RichTable.grid()
            indented.add_column(no_wrap=True)
            indented.add_row(printable(part.lead), Text(printable(part.text), part.style))
            console.print(indented)
    if failed := results.manifest["failures"]:
        text = f"{failed} of {results.manifest['cells']} cells failed; see "
        console.print(f"{text}{results.directory / FAILURES}.", style="yellow", markup=False)
    warned = [w if details else shorten(w, _LINE, placeholder=" […]") for w in _warnings(results)]
    warned += page.gaps(results)
    if not details and len(warned) > _MAX_WARNINGS:
        warned = [f"{len(warned)} warnings and remarks: see --details."]
    for text in warned:
        console.print(text, style="yellow", markup=False)


def _warnings(results: Results) -> list[str]:
    """The first warnings, and in how many cells each was raised."""
    warned = [*results.manifest["warnings"].items()][:_MAX_WARNINGS]
    return [f"warning in {counted(count, 'cell')}: {warning}" for warning, count in warned]


def print_table(table: Table, console: Console) -> None:
    """Print a table, in pieces if it is wider than the terminal, and its caption."""
    every = [table.heads, *table.rows]
    label = min(max(len(row[0].text) for row in every), _MAX_LABEL)
    width = max(len(_cell(cell)) for row in every for cell in row[1:]) + 2
    for piece in table.pieces(max((console.width - label - 2) // width, 1)):
        if table.title:
            console.print(table.title, style="bold", markup=False)
        shown = RichTable(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
        first, *numbers = piece.heads
        shown.add_column(escape(first.text), overflow="fold", max_width=_MAX_LABEL)
        for head in numbers:
            shown.add_column(escape(head.text), no_wrap=table.cut, overflow="fold")
            shown.columns[-1].justify = "right" if head.kind == "n" else "left"
        for row in piece.rows:
            shown.add_row(*(_marked(cell) for cell in row))
        console.print(shown)
    if table.caption:
        console.print(table.caption, style="dim", markup=False)
    console.print()


def _cell(cell: TableCell) -> str:
    return f"{cell.text} {cell.more}".strip() + "†" * cell.dagger


def _marked(cell: TableCell) -> str:
    return f"[bold]{escape(_cell(cell))}[/bold]" if cell.bold else escape(_cell(cell))
