"""The templates of the pages, filled in: everything but markup is escaped, and can be printed."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from simstudy.experiments import DEFAULT, experiment
from simstudy.report.prose.phrases import indefinite
from simstudy.report.tables.html import as_html
from simstudy.report.tables.table import Table
from simstudy.texts import printable

_TEMPLATES = Path(__file__).with_name("templates")


def render(template: str, **content: object) -> str:
    """Fill in a template; its ``keep`` puts the file of a table into the page, and names it."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    loader = FileSystemLoader(_TEMPLATES)
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    environment.trim_blocks = environment.lstrip_blocks = True
    environment.filters |= {"embedded": _embedded, "indefinite": indefinite}
    files: dict[str, str] = {}

    def keep(table: Table) -> str:
        files[f"{table.name}.csv"] = table.csv
        return f"{table.name}.csv"

    given = {"as_html": as_html, "keep": keep, "files": files, "kind": experiment(DEFAULT)}
    return printable(environment.get_template(template).render(given | content))


def _embedded(content: str) -> Markup:
    """JSON inside an element of its own, from which no text can lead out."""
    letters = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "'": "\\u0027"}
    return Markup("".join(letters.get(letter, letter) for letter in content))
