"""The report of a study as one page of HTML that needs nothing else."""

from __future__ import annotations

import math
import shlex
from dataclasses import replace
from typing import Any

from simstudy.analysis.costs import median_seconds
from simstudy.analysis.findings import Absent, Findings
from simstudy.analysis.regret import regret
from simstudy.analysis.thresholds import Course
from simstudy.report.charts import curves, pairs, spread, svg
from simstudy.report.charts.network import network
from simstudy.report.charts.svg import Panel
from simstudy.report.curve_section import curve_sections
from simstudy.report.prose import captions
from simstudy.report.prose.design import conventions, question, sections
from simstudy.report.prose.finding import finding
from simstudy.report.prose.headline import statements
from simstudy.report.prose.numbers import brief, digits
from simstudy.report.prose.phrases import count_range
from simstudy.report.prose.reproduction import needed, same_scores
from simstudy.report.tables import facts
from simstudy.report.tables import findings as build
from simstudy.report.tables.table import Table
from simstudy.report.templating import render
from simstudy.results.analyses import ModelResults
from simstudy.results.results import Results
from simstudy.study.sizes import size_text
from simstudy.study.study import Study

_MAX_WARNINGS = 10
_EXAMPLES = 3  # models that are drawn


def report_page(results: ModelResults) -> str:
    """Write the report page of a study: one HTML file, the same bytes each time."""
    study, platform = results.study, results.manifest["platform"]
    own = study.experiment.page()
    split, medians = regret(results.scores), median_seconds(results.timings)
    return render(
        "page.html",
        views=[view(results, index) for index in own.shown(results.measures)],
        aims=own.aims(study),
        estimands=own.estimands(study, results.info()),
        design=sections(study, results.about),
        methods=facts.methods(results),
        choices=own.tables(results),
        choices_heading=own.heading,
        examples=_examples(results),
        regret=None
        if split is None
        else {
            "panels": svg.panels(
                spread.regret(split, results.treatments, results.info("regret").unit).charts,
                "regret",
            ),
            "table": facts.regret(results, split),
            "caption": captions.regret(split, study),
            "unit": results.info("regret").unit,
        },
        costs=None
        if not own.shows_costs
        else {
            "panels": svg.panels(
                curves.seconds(medians, results.treatments, results.doses), "seconds", svg.TIMES
            ),
            "table": facts.costs(results, medians),
            "caption": captions.costs(platform, study.data.test_size),
        },
        failures=facts.failures(results),
        dots=min(study.models, spread.MAX_DOTS),
        **common(results),
    )


def view(results: ModelResults, index: int) -> dict[str, Any]:
    """The figures, tables and notes of one measure."""
    findings, study = results.findings(results.measures[index]), results.study
    chart, many = curves.learning_curves(findings), len(results.treatments) > captions.MAX_BARS
    wide, narrow = (svg.MANY_CURVES, svg.MANY_NARROW) if many else (svg.CURVES, svg.NARROW)
    each = curves.each_learner(findings).charts if many else ()
    # The courses of many learners take long: only the primary measure has them then.
    overtaking = index == 0 or len(pairs.all_pairs(findings)) <= pairs.MAX_PAIRS
    panels, notes, thresholds = _differences(findings, index, overtaking)
    tests, test_notes = _tests(findings, study)
    design = findings.design
    compared = [build.pairs(findings, at) for at in design.sizes if len(design.learners) > 1]
    precision = [build.standard_errors(findings)]
    if isinstance(needed := build.models_needed(findings), Table):
        precision.append(needed)

    def own(table: Table) -> Table:
        return replace(table, name=f"{table.name}_{findings.measure}")

    lost = results.manifest["failures"], results.manifest["cells"]
    return {
        "index": index,
        "info": findings.info,
        "finding": finding(findings),
        "statements": statements(findings, *lost, overtaking=overtaking),
        "reading": captions.reading(findings, overtaking),
        "wide": svg.draw(chart, f"curves{index}w", wide, labels=True),
        "narrow": svg.draw(chart, f"curves{index}n", narrow),
        "each": svg.panels(each, f"each{index}"),
        "each_note": captions.curve_panels(findings, alone=False),
        "curve_notes": [
            captions.curves(findings, alone=False),
            *_unmeasured_limits(findings),
            *chart.notes,
        ],
        "means": own(build.means(findings, alone=False)),
        "differences": panels,
        "difference_notes": notes,
        "thresholds": None if thresholds is None else own(thresholds),
        "tests": [own(table) for table in tests],
        "test_notes": test_notes,
        "pairs": [own(table) for table in compared],
        "pair_notes": captions.pairs(findings, len(design.learners) <= build.MAX_IN_MATRIX),
        "models": svg.panels(spread.models(findings), f"models{index}"),
        "precision": [own(table) for table in precision],
        "precision_note": captions.precision(findings),
        "question": question(study, findings.info),
    }


def _unmeasured_limits(findings: Findings) -> list[str]:
    """How to show the ceiling and the limits."""
    if findings.ceiling or findings.measure != "information_reward":
        return []
    return [
        "To show the ceiling and the learners’ limits, add “regret”, “representation” and "
        "“estimation” to “also” under [measures] in the study."
    ]


def _differences(
    findings: Findings, index: int, overtaking: bool
) -> tuple[list[Panel], list[str], Table | None]:
    """The paired differences against size, notes on them, and who overtakes whom."""
    design = findings.design
    if len(design.learners) < 2:
        return [], [captions.alone(findings)], None
    if len(design.sizes) < 2:
        text = f"With one {design.kind.size} there is no curve; see the table of pairs."
        return [], [text], None
    every, chosen = pairs.all_pairs(findings), pairs.shown_pairs(findings)
    courses: list[Course] = []
    table = None
    if overtaking:
        shown = [{*pair} for pair in chosen]
        courses = [one for one in findings.courses if {one.first, one.second} in shown]
        made = build.thresholds(findings, courses, alone=False)
        table = None if isinstance(made, Absent) else made
    charts = pairs.differences(findings, chosen, crossings=overtaking)
    notes = [captions.differences(findings, courses, alone=False)]
    if len(chosen) < len(every):
        notes.append(
            f"Of {len(every)} pairs {len(chosen)} are shown: {brief(chosen[0][1])}, whose mean is "
            "best at the largest size, against others; all are in pairwise.csv and, for the "
            "primary measure, in thresholds.csv."
        )
    notes += dict.fromkeys(note for chart in charts for note in chart.notes)
    return svg.panels(charts, f"difference{index}"), notes, table


def _tests(findings: Findings, study: Study) -> tuple[list[Table], list[str]]:
    """The ANOVA and, if cells are missing, a mixed model; and notes on them."""
    found = build.tests(findings)
    tables = [table for table in found.values() if isinstance(table, Table)]
    note = captions.size_effect(findings, study)
    return tables, [*build.missing_tests(found), *[note] * bool(note and tables)]


def _examples(results: Results) -> tuple[list[Panel], str]:
    """The first models, as the manifest has them, and a note on them."""
    made: list[Panel] = []
    mixture, whole = False, results.study.models
    for index, model in sorted(results.manifest["networks"].items())[:_EXAMPLES]:
        cards, parts = model["cards"], model["components"]
        note = f"{len(cards)} variables of {count_range(min(cards), max(cards))} values; "
        note += f"{math.prod(cards):,} configurations"
        if parts > 1:
            mixture = True
            note += f"; component 1 of {parts}, weight {digits(model['weight'], 3)}"
        laid_out = network(model["parents"], model["names"], brief=True)
        picture = svg.draw_network(laid_out, f"network{len(made)}", f"Model {index}")
        made.append(Panel(f"Model {index}", picture, "", note))
    if not made:
        return made, "None is shown: the manifest of these results has no models."
    note = f"The first {len(made)} of {whole} models. The target is on top, filled; its arcs are "
    also = " Each model is a mixture of networks with weights; its first component is shown."
    return made, note + "drawn lighter." + also * mixture


def common(results: Results) -> dict[str, Any]:
    """What pages of all studies say: the study, its conventions, and how to run it again."""
    study, manifest, place = results.study, results.manifest, results.directory
    # Of an absolute path only the last part is of use elsewhere.
    named = shlex.quote(place.name if place.is_absolute() else place.as_posix())
    size = size_text(results.study.doses[0])
    cell = ["--model", "0", "--size", size, "--learner", results.treatments[0]]
    return {
        "study": study,
        "kind": study.kind,
        "manifest": manifest,
        "title": study.heading,
        "learners": svg.swatches(results.treatments),
        "decisions": curve_sections(results),
        "measures": facts.measures(results),
        "conventions": conventions(study),
        "warnings": list(manifest["warnings"].items())[:_MAX_WARNINGS],
        "versions": facts.versions(results),
        "needed": needed(manifest, bool(study.datasets)),
        "same_scores": same_scores(manifest),
        "toml": (place / "study.toml").read_text(encoding="utf-8"),
        "run_command": f"simstudy run study.toml --out {named}",
        "cell_command": f"simstudy cell study.toml {shlex.join(cell)}",
        "failures_command": f"simstudy failures {named}",
    }
