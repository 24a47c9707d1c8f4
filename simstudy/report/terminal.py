"""A study's findings for the terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from simstudy.report.prose.design import conventions
from simstudy.report.prose.phrases import opening
from simstudy.report.tables.table import Table
from simstudy.report.tables.terminal import print_table
from simstudy.results.results import Results
from simstudy.study.constants import FAILURES
from simstudy.texts import counted, printable

_MAX_WARNINGS = 5  # that are printed


class _Console(Console):
    """A console that prints names as they are: no control characters, no pictures for words."""

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(printable(text), **options)


def make_console() -> Console:
    """A console for what others have named."""
    return _Console(emoji=False)


def print_summary(results: Results, console: Console, brief: bool = False) -> None:
    """Print the finding and means of the primary measure and, unless brief, what the tests say."""
    study, page = results.study, results.study.page
    console.print(study.heading, style="bold", markup=False)
    finding = page.finding(results.findings())
    console.print(f"{finding}\n", highlight=False, markup=False)
    console.print(f"{page.design(study)}.", markup=False)
    console.print(f"{opening(conventions(study))}.\n", markup=False)
    for table in page.means(results):
        print_table(table, console)
    for part in page.summary(results, brief):
        if isinstance(part, Table):
            print_table(part, console)
        else:
            how: dict[str, Any] = {"style": part.style, "soft_wrap": part.whole}
            console.print(part.text, highlight=False, markup=False, **how)
    for line in [*_troubles(results), *page.gaps(results)]:
        console.print(line, style="yellow", markup=False)


def _troubles(results: Results) -> list[str]:
    """How many cells failed, and which warnings there were."""
    manifest, lines = results.manifest, []
    if manifest["failures"]:
        where = results.directory / FAILURES
        lines.append(f"{manifest['failures']} of {manifest['cells']} cells failed; see {where}.")
    warned = list(manifest["warnings"].items())[:_MAX_WARNINGS]
    return lines + [f"warned in {counted(count, 'cell')}, {warning}" for warning, count in warned]
