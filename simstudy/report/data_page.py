"""The page of a study of data sets: its means, and the curves of its kept answers."""

from __future__ import annotations

from dataclasses import replace

from simstudy.report.charts import svg
from simstudy.report.curve_section import curve_sections
from simstudy.report.tables.datasets import dataset_tables
from simstudy.report.templating import render
from simstudy.results.results import Results


def data_page(results: Results) -> str:
    """Write the page of a study of data sets: one HTML file, the same bytes each time."""
    tables = dataset_tables(results)
    return render(
        "data.html",
        study=results.study,
        manifest=results.manifest,
        title=results.study.title or results.study.name,
        learners=[(at, label, svg.swatch(at)) for at, label in enumerate(results.learners)],
        tables=[replace(one, name=f"{one.name}_{at}") for at, one in enumerate(tables)],
        decisions=curve_sections(results),
    )
