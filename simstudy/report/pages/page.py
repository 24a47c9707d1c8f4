"""The report of a study as one page of HTML that needs nothing else."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from markupsafe import Markup

from simstudy.data.sizes import size_text
from simstudy.experiments import DEFAULT, experiment
from simstudy.experiments.page import Section
from simstudy.report.charts import svg
from simstudy.report.methods import documents
from simstudy.report.pages.curve_section import CurveSection
from simstudy.report.pages.packing import Parts
from simstudy.report.prose.design import conventions
from simstudy.report.prose.phrases import indefinite
from simstudy.report.prose.reproduction import needed, same_scores
from simstudy.report.tables import facts
from simstudy.report.tables.formats import as_html
from simstudy.report.tables.table import Table
from simstudy.results.read.open import Results
from simstudy.study.constants import STUDY
from simstudy.texts import printable

TEMPLATES = Path(__file__).parents[1] / "templates"
_MAX_WARNINGS = 10
_DESIGN: dict[str, object] = {"aims": "", "estimands": "", "examples": None}


def render(template: str, **content: object) -> str:
    """Fill in a template: everything but markup is escaped, and can be printed.

    Its ``parts`` are what is packed: files of tables, and views of further measures.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    loader = FileSystemLoader(TEMPLATES)
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    environment.trim_blocks = environment.lstrip_blocks = True
    environment.filters |= {"embedded": _embedded, "indefinite": indefinite}
    content = {"kind": experiment(DEFAULT), "as_html": as_html, "parts": Parts(), **content}
    return printable(environment.get_template(template).render(content))


def _embedded(content: str) -> Markup:
    """JSON for a script element, escaped so that no text can close it."""
    return Markup(content.translate({ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&'"}))


def report_page(results: Results) -> str:
    """Write the report page of a study: one HTML file, the same bytes each time.

    The `Page` of the experiment provides the opening, the views of the measures and the sections.
    """
    results = results.shown
    study, page = results.study, results.study.page
    content = {"study": study, "kind": study.experiment, "page": page, "title": study.heading}
    content |= {"manifest": results.manifest, "facts": page.facts(study)}
    learners = svg.swatches(results.treatments, study.names)
    content |= {"learners": learners, "decisions": study.keep_answers}
    views = [view(results, index) for index in page.shown(results)]
    texts = documents(results)
    pasted = Section("methods", "Methods and results to paste", texts, entry="To paste")
    sections = [*page.sections(results), pasted, _reproduction(results)]
    if not results.manifest["failures"] and not results.manifest["warnings"]:
        sections = [section for section in sections if section.name != "failures"]
    return render("page.html", written="sections.html", views=views, sections=sections, **content)


def view(results: Results, index: int) -> dict[str, object]:
    """The finding, figures, tables and notes of one measure."""
    findings, page = results.findings(results.measures[index]), results.study.page
    return {
        "index": index,
        "info": findings.info,
        "finding": page.finding(results, findings),
        "opening": page.opening(results, findings, index),
        "statements": page.statements(results, findings),
        "others": "",
        "above": [],
        "below": [],
        **page.view(results, findings, index),
        "question": page.question(results.study, findings),
    }


def curves_section(curves: Sequence[CurveSection]) -> list[Section]:
    """The curves of kept predictions, if any; for several data sets, one at a time."""
    if not curves:
        return []
    name = "curves" if len(curves) > 1 else curves[0].name
    return [Section(name, "", curves, "decisions", "Curves")]


def design_section(
    results: Results,
    mechanism: Mapping[str, str],
    methods: Sequence[Table],
    **more: str | tuple[Sequence[svg.Panel], str],
) -> Section:
    """How data were generated or split (``mechanism``), the methods, and the measures.

    ``more`` may have the ``aims``, the ``estimands``, and ``examples`` of models with a note.
    """
    facts_of = {"measures": facts.measures(results), "conventions": conventions(results.study)}
    content = {"mechanism": mechanism, "methods": methods, **facts_of}
    return Section("design", "Design", _DESIGN | content | more)


def failures_section(results: Results, consequence: str) -> Section:
    """The failed cells, the consequence for the analysis, and warnings."""
    content = {
        "consequence": consequence,
        "tables": facts.failures(results),
        "command": f"simstudy failures {_place(results)}",
        "warnings": list(results.manifest["warnings"].items())[:_MAX_WARNINGS],
    }
    return Section("failures", "Failures and warnings", content, entry="Failures")


def _reproduction(results: Results) -> Section:
    """How to run the study again, and one cell of it."""
    manifest, size = results.manifest, size_text(results.study.doses[0])
    cell = ("--model", "0", "--size", size, "--learner", results.study.labels[0])
    content = {
        "needed": [*needed(manifest), *results.study.page.needs],
        "same_scores": same_scores(manifest),
        "toml": (results.directory / STUDY).read_text(encoding="utf-8"),
        "run": f"simstudy run study.toml --out {_place(results)}",
        "cell": f"simstudy cell study.toml {shlex.join(cell)}",
        "versions": facts.versions(results),
    }
    return Section("reproduce", "Reproduce", content)


def _place(results: Results) -> str:
    """The directory for a command; of an absolute path only its name, valid on other machines."""
    place = results.directory
    return shlex.quote(place.name if place.is_absolute() else place.as_posix())
