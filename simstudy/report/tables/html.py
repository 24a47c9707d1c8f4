"""Tables as HTML."""

from __future__ import annotations

from markupsafe import Markup

from simstudy.report.prose.design import design
from simstudy.report.tables.findings import means
from simstudy.report.tables.table import Cell, Table
from simstudy.results.results import Results

_MANY = 8  # columns; tables with more are set closer


def as_html(table: Table) -> Markup:
    """Write the element of a table, without title and caption."""
    heads = Markup("").join(map(_head, table.heads))
    body = Markup("\n").join(
        _row(row, place in table.rules) for place, row in enumerate(table.rows)
    )
    close = Markup(' class="many"') if len(table.heads) > _MANY else ""
    text = Markup("<table{}>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}\n</tbody>\n</table>")
    return text.format(close, heads, body)


def _of(learners: tuple[int, ...]) -> Markup:
    """The attribute by which a page hides learners."""
    return Markup(' data-l="{}"').format(" ".join(map(str, learners))) if learners else Markup("")


def _head(head: Cell) -> Markup:
    if not head.text:
        return Markup("<td></td>")
    text = Markup('<th scope="col" class="{}"{}><span class="w">{}</span></th>')
    return text.format(head.kind, _of(head.learners), head.text)


def _row(row: list[Cell], ruled: bool) -> Markup:
    first, *others = row
    rule = Markup(' class="ruled"') if ruled else ""
    start = Markup("<tr{}{}>").format(rule, _of(first.learners))
    name = Markup('<th scope="row" class="{}"><span class="w">{}</span>{}</th>')
    cells = [name.format(first.kind, first.text, _more(first))]
    text = Markup('<td class="{}"{}>{}{}</td>')
    cells += [text.format(c.kind, _of(c.learners), _text(c), _more(c)) for c in others]
    return start + Markup("").join(cells) + Markup("</tr>")


def _text(cell: Cell) -> Markup:
    text = Markup("{}").format(cell.text)
    if cell.kind == "win":
        return Markup('<strong class="w">{}</strong>').format(text)
    if "t" in cell.kind.split():
        return Markup('<span class="w">{}</span>').format(text)
    text = Markup("<strong>{}</strong>").format(text) if cell.bold else text
    return text + "†" * cell.dagger


def _more(cell: Cell) -> Markup:
    return Markup(' <span class="more">{}</span>').format(cell.more) if cell.more else Markup("")


def notebook_summary(results: Results) -> str:
    """Write a study's design and means, for notebooks."""
    study, table = results.study, means(results.findings())
    text = Markup("<strong>{}</strong><p>{}.</p><p>{}</p>{}<p>{}</p>")
    title = study.title or study.name
    return str(text.format(title, design(study), table.title, as_html(table), table.caption))
