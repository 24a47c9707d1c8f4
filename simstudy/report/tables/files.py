"""The tables of a study as files for papers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from simstudy.analysis.findings import Absent
from simstudy.errors import SimstudyError
from simstudy.report.output import make_directory, write_files
from simstudy.report.prose.captions import made
from simstudy.report.tables import findings as build
from simstudy.report.tables.latex import as_latex
from simstudy.report.tables.markdown import as_markdown, markdown_text
from simstudy.report.tables.table import Table

if TYPE_CHECKING:
    from simstudy.results.results import Results

ENDINGS = {"latex": "tex", "markdown": "md", "csv": "csv"}
CAPTIONS = "captions.md"


def paper_tables(results: Results) -> dict[str, Table | Absent]:
    """The means of every measure and the tests of the primary one, by name."""
    first, *others = results.measures
    primary = results.findings(first)
    found: dict[str, Table | Absent] = {"means": build.means(primary)}
    found |= {f"means_{name}": build.means(results.findings(name)) for name in others}
    found |= {"anova": build.anova(primary), "sphericity": build.sphericity(primary)}
    if primary.incomplete:
        found["mixed_model"] = build.mixed(primary)
    for make in (build.pairwise, build.thresholds, build.precision, build.ranks):
        found[make.__name__] = make(primary)
    return found


def write_tables(results: Results, directory: Path, format: str = "latex") -> list[Path]:
    """Write a study's findings as tables: means of every measure, and the tests of the primary.

    Parameters
    ----------
    results : Results
        The results of the study.
    directory : Path
        Where to write; created if needed.
    format : str
        ``"latex"`` (with booktabs), ``"markdown"`` or ``"csv"``; the last has all digits.

    Returns
    -------
    list of Path
        The files. ``captions.md``, the last, has the captions of all of them and says which tables
        the study does not allow, and why.
    """
    if format not in ENDINGS:
        raise SimstudyError(f"unknown format '{format}'; it must be one of {', '.join(ENDINGS)}")
    make_directory(directory)
    study = results.study
    files: dict[str, bytes] = {}
    sections = [f"# {markdown_text(study.title or study.name)}"]
    absent: list[str] = []
    for name, table in paper_tables(results).items():
        if isinstance(table, Absent):
            absent.append(f"- {markdown_text(f'{name}: {table.reason}')}")
            continue
        caption = f"{table.title}. {table.caption} {made(study)}"
        file = f"{name}.{ENDINGS[format]}"
        files[file] = _written(replace(table, name=name), format, caption, study.name).encode()
        sections.append(f"## {file}\n\n{markdown_text(caption)}")
    sections += ["## Not made\n\n" + "\n".join(absent)] * bool(absent)
    files[CAPTIONS] = ("\n\n".join(sections) + "\n").encode()
    return write_files(directory, files)


def _written(table: Table, format: str, caption: str, study: str) -> str:
    if format == "latex":
        return as_latex(table, caption, f"tab:{study}-{table.name}")
    return as_markdown(table, caption) if format == "markdown" else table.csv
