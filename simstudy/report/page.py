"""The report of a study as one page of HTML that needs nothing else."""

from __future__ import annotations

import itertools
import math
import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from simstudy.analysis.findings import Absent, Findings
from simstudy.analysis.thresholds import Course
from simstudy.measures.base import MeasureInfo
from simstudy.report import pictures
from simstudy.report.html.charts import MOST_BARS, MOST_LIMITS, Drawn, swatch
from simstudy.report.html.panels import MOST_DOTS, Panel
from simstudy.report.prose import captions
from simstudy.report.prose.design import conventions, question, sections
from simstudy.report.prose.headline import headline
from simstudy.report.prose.notes import ALONE, costs_note, pair_notes, precision_note
from simstudy.report.prose.numbers import brief, number
from simstudy.report.tables import facts
from simstudy.report.tables import findings as build
from simstudy.report.tables.table import Table
from simstudy.report.templating import render

if TYPE_CHECKING:
    from simstudy.results.results import Results
    from simstudy.study.study import Study

MAX_PAIRS = 15  # of learners whose differences are drawn
_MAX_NAMED = 5  # means that are not drawn, by name
_MAX_WARNINGS = 10


@dataclass(frozen=True)
class View:
    """The figures, tables and notes of one measure."""

    index: int
    info: MeasureInfo
    wide: Drawn
    narrow: Drawn
    curve_notes: list[str]
    means: Table
    differences: list[Panel]
    difference_notes: list[str]
    thresholds: Table | None
    tests: list[Table]
    test_notes: list[str]
    pairs: list[Table]
    pair_notes: list[str]
    models: list[Panel]
    precision: list[Table]
    precision_note: str


def report_page(results: Results) -> str:
    """Write the report page of a study: one HTML file, the same bytes each time."""
    study, manifest = results.study, results.manifest
    failed, cells = manifest["failures"], manifest["cells"]
    split = results.regret_parts
    return render(
        "page.html",
        study=study,
        manifest=manifest,
        title=study.title or study.name,
        question=question(study, results.info()),
        headline=headline(results.findings(), failed, cells),
        learners=[(index, label, swatch(index)) for index, label in enumerate(results.learners)],
        views=[view(results, index) for index in range(len(results.measures))],
        design=sections(study, results.about("family", study.family.name)),
        methods=facts.learners(results),
        measures=facts.measures(results),
        conventions=conventions(study),
        examples=pictures.examples(results),
        regret=None
        if split is None
        else {
            "panels": pictures.regret(results, split),
            "table": facts.regret(results, split),
            "caption": captions.regret(split, study),
        },
        costs={
            "panels": pictures.seconds(results),
            "table": facts.costs(results),
            "caption": costs_note(manifest["platform"], study.data.test_size),
        },
        failures=facts.failures(results),
        warnings=list(manifest["warnings"].items())[:_MAX_WARNINGS],
        versions=facts.versions(results),
        dots=min(study.models, MOST_DOTS),
        **_commands(results),
    )


def view(results: Results, index: int) -> View:
    """Present one of the measures."""
    findings, study = results.findings(results.measures[index]), results.study
    wide, narrow = pictures.curves(findings, index)
    panels, notes, thresholds = _differences(findings, index)
    tests, test_notes = _tests(findings, study)
    design = findings.design
    pairs = [build.pairs(findings, at) for at in design.sizes if len(design.learners) > 1]
    precision = [build.standard_errors(findings)]
    if isinstance(needed := build.models_needed(findings), Table):
        precision.append(needed)

    def own(table: Table) -> Table:
        return replace(table, name=f"{table.name}_{findings.measure}")

    return View(
        index,
        findings.info,
        wide,
        narrow,
        _curve_notes(findings, wide),
        own(build.means(findings)),
        panels,
        notes,
        None if thresholds is None else own(thresholds),
        [own(table) for table in tests],
        test_notes,
        [own(table) for table in pairs],
        pair_notes(findings, len(design.learners) <= build.MAX_IN_MATRIX),
        pictures.models(findings, index),
        [own(table) for table in precision],
        precision_note(findings),
    )


def _curve_notes(findings: Findings, drawn: Drawn) -> list[str]:
    """The caption of the learning curves."""
    many = len(findings.design.learners)
    bars = f"Bars: {captions.intervals(findings)}. {captions.CURVES_NOTE}"
    if many > MOST_BARS:
        bars = "Intervals are not drawn for so many learners; the table has them. "
        bars += captions.CURVES_NOTE
    notes = [f"Means {captions.models(findings)}. {bars} Marks of one size stand side by side."]
    if findings.ceiling:
        limits = findings.limits and many <= MOST_LIMITS
        notes.append(
            "Grey dashed line: the ceiling, what the true class probabilities earn"
            + "; dotted lines: the learners’ limits, what each earns of the population"
            * bool(limits)
            + "."
        )
    elif findings.measure == "information_reward":
        notes.append(
            "To show the ceiling and the learners’ limits, add “regret”, “representation” and "
            "“estimation” to “also” under [measures] in the study."
        )
    if drawn.cut:
        notes.append("Bars that reach the edge are longer than drawn.")
    missing = [mean for mean in findings.means if not math.isfinite(mean.mean)]
    if missing:
        cells = [
            f"{brief(mean.learner)} at {mean.size:,} rows ({number(mean.mean)})"
            for mean in missing[:_MAX_NAMED]
        ]
        more = f" and {len(missing) - _MAX_NAMED} more" * (len(missing) > _MAX_NAMED)
        notes.append(f"Not drawn, as the mean is infinite or missing: {', '.join(cells)}{more}.")
    return notes


def _differences(findings: Findings, index: int) -> tuple[list[Panel], list[str], Table | None]:
    """The paired differences against size, notes on them, and who overtakes whom."""
    design = findings.design
    if len(design.learners) < 2:
        return [], [ALONE], None
    if len(design.sizes) < 2:
        return [], ["With one training size there is no curve; see the table of pairs."], None
    every = list(itertools.combinations(design.learners, 2))
    pairs = every
    if len(every) > MAX_PAIRS:
        best = findings.ranked(design.sizes[-1])[0]
        pairs = [(other, best) for other in design.learners if other != best][:MAX_PAIRS]
    courses: list[Course] = []
    table = None
    # Those of many learners take long: only the primary measure has them then.
    if len(pairs) == len(every) or index == 0:
        shown = [{*pair} for pair in pairs]
        courses = [one for one in findings.courses if {one.first, one.second} in shown]
        made = build.thresholds(findings, courses)
        table = None if isinstance(made, Absent) else made
    panels, cut = pictures.differences(findings, index, pairs, courses)
    notes = [f"{captions.differences(findings, courses)} Each panel has its own vertical scale."]
    if len(pairs) < len(every):
        notes.append(
            f"Of {len(every)} pairs {len(pairs)} are shown: {brief(pairs[0][1])}, whose mean is "
            "best at the largest size, against others; all are in pairwise.csv and, for the "
            "primary measure, in thresholds.csv."
        )
    if cut:
        notes.append("Bands that reach the edge are wider than drawn.")
    return panels, notes, table


def _tests(findings: Findings, study: Study) -> tuple[list[Table], list[str]]:
    """The ANOVA and, if cells are missing, a mixed model; and notes on them."""
    found = {"ANOVA": build.anova(findings), "": build.sphericity(findings)}
    if findings.incomplete:
        found["mixed model"] = build.mixed(findings)
    tables = [table for table in found.values() if isinstance(table, Table)]
    notes = [
        f"No {name}: {table.reason}."
        for name, table in found.items()
        if name and isinstance(table, Absent)
    ]
    note = captions.size_effect(findings, study)
    return tables, [*notes, *[note] * bool(note and tables)]


def _commands(results: Results) -> dict[str, Any]:
    """The study, and commands to run it again and to list failures."""
    place = results.directory
    # Of an absolute path only the last part is of use elsewhere.
    named = shlex.quote(place.name if place.is_absolute() else place.as_posix())
    cell = ["--model", "0", "--size", str(results.sizes[0]), "--learner", results.learners[0]]
    return {
        "toml": (place / "study.toml").read_text(encoding="utf-8"),
        "run_command": f"simstudy run study.toml --out {named}",
        "cell_command": f"simstudy cell study.toml {shlex.join(cell)}",
        "failures_command": f"simstudy failures {named}",
    }
