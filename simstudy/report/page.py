"""The report of a study as one page of HTML that needs nothing else."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from simstudy.experiments.page import Section
from simstudy.report.charts import svg
from simstudy.report.curve_section import CurveSection
from simstudy.report.prose.design import conventions
from simstudy.report.prose.reproduction import needed, same_scores
from simstudy.report.tables import facts
from simstudy.report.tables.table import Table
from simstudy.report.templating import render
from simstudy.results.results import Results
from simstudy.study.sizes import size_text

_MAX_WARNINGS = 10


def report_page(results: Results) -> str:
    """Write the report page of a study: one HTML file, the same bytes each time.

    What the page has of its own is said by the `Page` of its experiment: the opening, the views of
    the measures and the sections.
    """
    study, page = results.study, results.study.page
    return render(
        "page.html",
        written="sections.html",
        study=study,
        kind=study.experiment,
        manifest=results.manifest,
        title=study.heading,
        page=page,
        facts=page.facts(study),
        learners=svg.swatches(results.treatments),
        views=[view(results, index) for index in page.shown(results.measures)],
        sections=[*page.sections(results), _reproduction(results)],
        decisions=study.keep_answers,
    )


def view(results: Results, index: int) -> dict[str, object]:
    """The finding, figures, tables and notes of one measure."""
    study, findings = results.study, results.findings(results.measures[index])
    page = study.page
    made = {
        "index": index,
        "info": findings.info,
        "finding": page.finding(findings),
        "opening": page.opening(findings, index),
        "statements": page.statements(results, findings),
        "others": "",
        **page.view(results, findings, index),
    }
    return made | {"question": page.question(study, findings)}


def curves_section(curves: Sequence[CurveSection]) -> list[Section]:
    """The curves of kept answers, if there are any; of several data sets, one at a time."""
    if not curves:
        return []
    name = "curves" if len(curves) > 1 else curves[0].name
    return [Section(name, "", curves, "decisions", "Curves")]


def design_section(
    results: Results,
    mechanism: Mapping[str, str],
    methods: Sequence[Table],
    *,
    aims: str = "",
    estimands: str = "",
    examples: tuple[Sequence[svg.Panel], str] | None = None,
) -> Section:
    """How data were made or split (``mechanism``), by which methods, and how they are measured."""
    content = {
        "aims": aims,
        "mechanism": mechanism,
        "examples": examples,
        "estimands": estimands,
        "methods": methods,
        "measures": facts.measures(results),
        "conventions": conventions(results.study),
    }
    return Section("design", "Design", content)


def failures_section(results: Results, consequence: str) -> Section:
    """The cells that failed, what follows from that, and warnings."""
    content = {
        "consequence": consequence,
        "tables": facts.failures(results),
        "command": f"simstudy failures {_place(results)}",
        "warnings": list(results.manifest["warnings"].items())[:_MAX_WARNINGS],
    }
    return Section("failures", "Failures and warnings", content, entry="Failures")


def _reproduction(results: Results) -> Section:
    """How to run the study again, and one cell of it."""
    place, manifest = results.directory, results.manifest
    cell = [
        "--model",
        "0",
        "--size",
        size_text(results.study.doses[0]),
        "--learner",
        results.treatments[0],
    ]
    content = {
        "needed": [*needed(manifest), *results.study.page.needs],
        "same_scores": same_scores(manifest),
        "toml": (place / "study.toml").read_text(encoding="utf-8"),
        "run": f"simstudy run study.toml --out {_place(results)}",
        "cell": f"simstudy cell study.toml {shlex.join(cell)}",
        "versions": facts.versions(results),
    }
    return Section("reproduce", "Reproduce", content)


def _place(results: Results) -> str:
    """The directory for a command; of an absolute path only the last part is of use elsewhere."""
    place = results.directory
    return shlex.quote(place.name if place.is_absolute() else place.as_posix())
