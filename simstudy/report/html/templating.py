"""The templates of the pages, filled in: everything but markup is escaped, and can be printed."""

from __future__ import annotations

from pathlib import Path

from simstudy.report.html.tables import Table
from simstudy.texts import printable

_TEMPLATES = Path(__file__).with_name("templates")


def render(template: str, **content: object) -> str:
    """Fill one of the templates in.

    It may call ``keep`` with a table, which puts the table's file into the page and returns the
    file's name.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    files: dict[str, str] = {}

    def keep(table: Table) -> str:
        files[f"{table.name}.csv"] = table.csv
        return f"{table.name}.csv"

    page = environment.get_template(template).render(keep=keep, files=files, **content)
    return printable(page)
