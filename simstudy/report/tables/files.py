"""The tables of a study as files for papers."""

from __future__ import annotations

from pathlib import Path

from simstudy.analysis.findings import Absent
from simstudy.errors import SimstudyError
from simstudy.experiments.learners.data_results import DataResults
from simstudy.report.output import make_directory, missing, section, write_files
from simstudy.report.prose.captions import made
from simstudy.report.prose.design import data_design
from simstudy.report.tables import findings as build
from simstudy.report.tables.data_set import data_tables
from simstudy.report.tables.latex import as_latex
from simstudy.report.tables.markdown import as_markdown
from simstudy.report.tables.table import Table
from simstudy.results.analyses import ModelResults
from simstudy.results.results import Results

ENDINGS = {"latex": "tex", "markdown": "md", "csv": "csv"}


def paper_tables(results: Results) -> dict[str, Table | Absent]:
    """The means of every measure and the tests of the primary one, by name."""
    if isinstance(results, DataResults):
        return data_tables(results)
    assert isinstance(results, ModelResults)
    first, *others = results.measures
    primary = results.findings(first)
    found: dict[str, Table | Absent] = {"means": build.means(primary)}
    found |= {f"means_{name}": build.means(results.findings(name)) for name in others}
    found |= build.tests(primary)
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
    sections, absent = [], []
    for name, table in paper_tables(results).items():
        if isinstance(table, Absent):
            absent.append(f"{name}: {table.text}")
            continue
        how = f"{data_design(study)}." if study.datasets else made(study)
        caption = f"{table.title}. {table.caption} {how}"
        file = f"{name}.{ENDINGS[format]}"
        if format == "latex":
            text = as_latex(table, caption, f"tab:{study.name}-{name}")
        else:
            text = as_markdown(table, caption) if format == "markdown" else table.csv
        files[file] = text.encode()
        sections.append(section(file, caption))
    return write_files(directory, files, study, sections + missing("Not made", absent))
