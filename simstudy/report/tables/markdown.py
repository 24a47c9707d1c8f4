"""Tables as Markdown."""

from __future__ import annotations

import re

from simstudy.report.tables.table import Table, TableCell
from simstudy.texts import on_one_line

_SPECIAL = re.compile(r"([\\|*_`\[\]<>#~$])")
_ACROSS = 5  # columns of numbers that fit beside each other where a table may be cut


def markdown_text(text: str) -> str:
    """Write text for Markdown, on one line."""
    return _SPECIAL.sub(r"\\\1", on_one_line(text)).replace("&", "&amp;")


def as_markdown(table: Table, caption: str) -> str:
    """Write a table with its caption above it."""
    parts = [f"**Table.** {markdown_text(caption)}"]
    for piece in table.pieces(_ACROSS):
        lines = [[_cell(head) for head in piece.heads]]
        lines.append([":---"] * table.texts + ["---:"] * (len(piece.heads) - table.texts))
        lines += [[_cell(cell) for cell in row] for row in piece.rows]
        parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    return "\n\n".join(parts) + "\n"


def _cell(cell: TableCell) -> str:
    text = markdown_text(f"{cell.text} {cell.more}")
    return (f"**{text}**" if cell.bold else text) + "†" * cell.dagger
