"""The page of a study of data sets: who wins where, over all, and by which measure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from simstudy.analysis.costs import median_by_dataset
from simstudy.analysis.data_findings import DataFindings
from simstudy.errors import SimstudyError
from simstudy.experiments.learners.data_results import DataResults
from simstudy.report.charts import data as charts
from simstudy.report.charts import ranks, svg
from simstudy.report.charts.spec import Chart
from simstudy.report.data_measures import measure_pairs
from simstudy.report.page import common
from simstudy.report.prose import data_finding as prose
from simstudy.report.prose.design import data_sections
from simstudy.report.tables import datasets as build
from simstudy.report.tables import facts
from simstudy.report.tables.table import Table
from simstudy.report.templating import render

_WIDE, _NARROW = 640.0, 350.0  # of pictures made of rows
_ROW = 38.0
_MAX_PANELS = 40  # learning curves


class Pictures(NamedTuple):
    """A chart for wide and for narrow screens."""

    wide: Any
    narrow: Any


def data_page(results: DataResults) -> str:
    """Write the page of a study of data sets: one HTML file, the same bytes each time."""
    study, manifest = results.study, results.manifest
    return render(
        "data.html",
        datasets=len(study.datasets),
        views=[view(results, index) for index in range(len(results.measures))],
        comparisons=[*_comparisons(results)],
        design=data_sections(study),
        methods=facts.learners(results),
        properties=_properties(results),
        notes=[f"{name}: {note}" for name, own in manifest["notes"].items() for note in own],
        costs=build.costs(results, median_by_dataset(results.timings)),
        failures=facts.data_failures(results),
        **common(results),
    )


def view(results: DataResults, index: int) -> dict[str, Any]:
    """The figures, tables and notes of one measure."""
    name, manifest = results.measures[index], results.manifest
    findings = results.data_findings(name)

    def own(table: Table) -> Table:
        return replace(table, name=f"{table.name}_{name}")

    last = build.size_words(results, results.study.doses[-1])
    several = len(findings.learners) > 1
    return {
        "index": index,
        "info": findings.info,
        "question": prose.data_question(results.study, findings),
        "finding": prose.data_finding(findings),
        "others": prose.by_other_measures(
            [results.data_findings(other) for other in results.measures if other != name]
        ),
        "opening": rows_picture(_opening(findings), f"opening{index}"),
        "opening_kind": _opening_kind(findings),
        "statements": prose.data_statements(findings, manifest["failures"], manifest["cells"]),
        "standings": own(build.standings(findings))
        if several and len(findings.datasets) > 1
        else None,
        "means": own(build.means(findings, last)),
        "spread": own(build.means(findings, last, spread=True)),
        "smaller": [own(table) for table in _smaller(results, name)],
        "winners": own(build.winners(findings)) if several else None,
        "over": _over(findings, index, own),
        "learning": _learning(results, name, index),
    }


def _opening_kind(findings: DataFindings) -> str:
    if len(findings.datasets) == 1:
        return "splits"
    return "wins" if len(findings.learners) > 1 else "means"


def _opening(findings: DataFindings) -> Chart:
    """The chart beside the finding."""
    kind = _opening_kind(findings)
    if kind == "splits":
        return charts.splits(findings, findings.datasets[0])
    return charts.wins(findings) if kind == "wins" else charts.by_dataset(findings)


def rows_picture(chart: Chart, name: str) -> Pictures:
    """A chart made of rows, as high as these need."""
    rows = len(chart.y.marks)
    tall = 60 + (_ROW if rows < 16 else 0.55 * _ROW) * rows
    wide, narrow = (
        svg.draw(chart, f"{name}{end}", (width, tall)).picture
        for end, width in (("w", _WIDE), ("n", _NARROW))
    )
    return Pictures(wide, narrow)


def _smaller(results: DataResults, name: str) -> list[Table]:
    """The means at the smaller training sizes, if there are any."""
    return [
        replace(build.means(findings, build.size_words(results, size)), name=f"means_{place}")
        for place, (size, findings) in enumerate(
            zip(results.study.doses[:-1], _by_size(results, name), strict=False)
        )
    ]


def _by_size(results: DataResults, name: str) -> list[DataFindings]:
    """The findings at every training size."""
    return [results.data_findings(name, size=build.given(size)) for size in results.study.doses]


def _over(findings: DataFindings, index: int, own: Any) -> dict[str, Any] | None:
    """Diagrams and tests over data sets, if there are several learners and data sets."""
    found = findings.over_sets
    if found is None:
        return None
    diagram = None
    if len(found.learners) > 2 and not found.friedman.reason:
        chart = ranks.over_sets(found, _WIDE / 7.0)
        rows = len(found.learners)
        tall = 25 * (chart.y.high - chart.y.low) if not chart.frame else 60 + 26.0 * rows
        wide = svg.draw(chart, f"ranks{index}w", (_WIDE, tall)).picture
        listed = ranks.over_sets(found, joined=False)
        narrow = svg.draw(listed, f"ranks{index}n", (_NARROW, 70 + 30.0 * rows)).picture
        diagram = Pictures(wide, narrow)
    posterior = charts.posterior(found)
    return {
        "found": found,
        "diagram": diagram,
        "no_diagram": found.friedman.reason,
        "rule": prose.over_method(found),
        "bars": ranks.bars(found),
        "equivalence": prose.equivalence(found.rope, findings.info),
        "no_posterior": posterior.absent,
        "posterior": None if posterior.absent else rows_picture(posterior, f"posterior{index}"),
        "shown": len(posterior.y.marks),
        "tests": own(build.tests(found)) if len(found.learners) > 2 else None,
        "pairs": own(build.pairs(found, findings.info)),
    }


def _learning(results: DataResults, name: str, index: int) -> list[svg.Panel]:
    """A learning curve for each data set, where sizes were asked for."""
    if len(results.study.doses) < 2:
        return []
    by_size = _by_size(results, name)
    sets = by_size[0].datasets[:_MAX_PANELS]
    return svg.panels((charts.learning(by_size, one) for one in sets), f"learning{index}")


def _comparisons(results: DataResults) -> Iterator[dict[str, Any]]:
    """Every two measures: where they name different winners, and how they correlate."""
    for place, (first, second) in enumerate(measure_pairs(results.measures)):
        one, other = (results.data_findings(name) for name in (first, second))
        labels = (one.info.label, other.info.label)
        several = len(results.treatments) > 1
        found = results.reversals(first, second)
        chart = charts.scatter(one, other, found)
        pictures = Pictures(
            svg.draw(chart, f"scatter{place}w", (_WIDE, 430.0)).picture,
            svg.draw(chart, f"scatter{place}n", (_NARROW, 330.0)).picture,
        )
        yield {
            "title": f"{labels[0]} and {labels[1]}",
            "sentence": prose.reversal_sentence(found, labels) if several else "",
            "scatter": pictures,
            "reversals": build.reversals(found, labels) if found.found else None,
            "examples": build.example_sentences(found, labels) if found.found else [],
            "correlations": build.correlations(results.correlations(first, second), labels),
        }


def _properties(results: DataResults) -> Table | str:
    """The table of properties, or why there is none."""
    try:
        return build.properties(results.properties())
    except SimstudyError as error:
        return f"There is no table of properties: {error}."
