"""The tables of a study as files for papers."""

from __future__ import annotations

from pathlib import Path

from simstudy.analysis.models.findings import Absent
from simstudy.errors import SimstudyError
from simstudy.report.files import make_directory, missing, section, write_files
from simstudy.report.tables.formats import as_latex, as_markdown
from simstudy.results.read.open import Results

ENDINGS = {"latex": "tex", "markdown": "md", "csv": "csv"}


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
    study, page = results.study, results.study.page
    files: dict[str, bytes] = {}
    sections, absent = [], []
    for name, table in page.tables(results).items():
        if isinstance(table, Absent):
            absent.append(f"{name}: {table.text}")
            continue
        caption = f"{table.title}. {table.caption} {page.made(study)}"
        file = f"{name}.{ENDINGS[format]}"
        if format == "latex":
            text = as_latex(table, caption, f"tab:{study.name}-{name}")
        else:
            text = as_markdown(table, caption) if format == "markdown" else table.csv
        files[file] = text.encode()
        sections.append(section(file, caption))
    return write_files(directory, files, study, sections + missing("Not made", absent))
