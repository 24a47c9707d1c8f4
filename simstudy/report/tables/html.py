"""Tables as HTML."""

from __future__ import annotations

from markupsafe import Markup, escape

from simstudy.report.tables.table import Table, TableCell
from simstudy.results.analyses import ModelResults

_MANY = 8  # columns; tables with more are set closer


def as_html(table: Table) -> Markup:
    """Write the element of a table, without title and caption."""
    heads = "".join(map(_head, table.heads))
    body = "\n".join(_row(row, place in table.rules) for place, row in enumerate(table.rows))
    close = ' class="many"' if len(table.heads) > _MANY else ""
    return Markup(
        f"<table{close}>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"
    )


# The functions below build text that is escaped where it enters; `as_html` marks it as such.


def _of(learners: tuple[int, ...]) -> str:
    """The attribute by which a page hides learners."""
    numbers = " ".join(map(str, learners))
    return f' data-l="{numbers}"' if learners else ""


def _head(head: TableCell) -> str:
    if not head.text:
        return "<td></td>"
    text = f'<span class="w">{escape(head.text)}</span>'
    return f'<th scope="col" class="{escape(head.kind)}"{_of(head.learners)}>{text}</th>'


def _row(row: list[TableCell], ruled: bool) -> str:
    first, *others = row
    rule = ' class="ruled"' if ruled else ""
    start = f"<tr{rule}{_of(first.learners)}>"
    name = f'<span class="w">{escape(first.text)}</span>{_more(first)}'
    cells = [f'<th scope="row" class="{escape(first.kind)}">{name}</th>']
    cells += [
        f'<td class="{escape(c.kind)}"{_of(c.learners)}>{_text(c)}{_more(c)}</td>' for c in others
    ]
    return f"{start}{''.join(cells)}</tr>"


def _text(cell: TableCell) -> str:
    text = escape(cell.text)
    if cell.kind == "win":
        return f'<strong class="w">{text}</strong>'
    if "t" in cell.kind.split():
        return f'<span class="w">{text}</span>'
    return (f"<strong>{text}</strong>" if cell.bold else text) + "†" * cell.dagger


def _more(cell: TableCell) -> str:
    return f' <span class="more">{escape(cell.more)}</span>' if cell.more else ""


def notebook_summary(results: ModelResults) -> str:
    """Write a study's design and means, for notebooks."""
    study, page = results.study, results.study.page
    text, each = Markup("<strong>{}</strong><p>{}.</p>{}"), Markup("<p>{}</p>{}<p>{}</p>")
    tables = [each.format(one.title, as_html(one), one.caption) for one in page.means(results)]
    return str(text.format(study.heading, page.design(study), Markup("").join(tables)))
