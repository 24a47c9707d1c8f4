"""The page of a comparison of learners on data sets: who wins where, over all, by which measure."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd
from markupsafe import Markup

from simstudy.analysis.costs import median_by_dataset
from simstudy.analysis.data_findings import DataFindings
from simstudy.analysis.findings import Absent
from simstudy.analysis.reversals import measure_pairs
from simstudy.errors import SimstudyError
from simstudy.experiments.learners.data_results import DataResults
from simstudy.experiments.learners.data_tables import data_files, data_tables
from simstudy.experiments.page import Goal, Opening, Overall, Page, Section, TerminalLine
from simstudy.experiments.planning import data_forecast
from simstudy.report.charts import data as charts
from simstudy.report.charts import ranks, svg
from simstudy.report.charts.spec import Chart
from simstudy.report.curve_section import data_curve_sections
from simstudy.report.page import curves_section, design_section, failures_section
from simstudy.report.printed import Maker
from simstudy.report.printed.datasets import data_makers
from simstudy.report.printed.decisions import decision_makers
from simstudy.report.prose import data_statements as prose
from simstudy.report.prose import design as words
from simstudy.report.prose.finding import by_other_measures, data_finding
from simstudy.report.prose.numbers import brief as shortened
from simstudy.report.prose.phrases import MAX_NAMED, listed
from simstudy.report.tables import datasets as build
from simstudy.report.tables import facts
from simstudy.report.tables.table import Table
from simstudy.study.sizes import size_text
from simstudy.study.study import Study

if TYPE_CHECKING:
    from simstudy.workflow.progress import Step

_WIDE, _NARROW = 640.0, 350.0  # of pictures
_ROW = 38.0
_MAX_PANELS = 40  # learning curves


class DataPage(Page[DataFindings, DataResults]):
    """Winners on single data sets, tests over all of them, and measures compared."""

    opening_name = "opening"
    extra = "data"
    leaves = "Scores and tables"
    needs = ("It needs the data files that it names.",)
    failed_by = ("data set",)

    # What is said

    def question(self, study: Study, findings: DataFindings) -> str:
        """Return the question in one sentence."""
        sets, learners = findings.datasets, findings.learners
        place = f"On {shortened(sets[0])}" if len(sets) == 1 else f"On {len(sets)} data sets"
        if len(learners) == 1:
            return f"{place}, how well does {learners[0]} predict, by {findings.info.label}?"
        which = listed(learners) if len(learners) <= MAX_NAMED + 1 else f"{len(learners)} learners"
        sizes = ", and after how many training rows" if len(study.train_sizes) > 1 else ""
        return f"{place}, which of {which} predicts best, by {findings.info.label}{sizes}?"

    def design(self, study: Study) -> str:
        """Return how data sets were split, in one line."""
        return words.data_design(study)

    def facts(self, study: Study) -> list[tuple[int, str]]:
        """Return the numbers of data sets, splits and learners."""
        sets, learners = len(study.datasets), len(study.labels)
        return [
            (sets, "data set" + "s" * (sets > 1)),
            (study.problems, "splits"),
            (learners, "learner" + "s" * (learners > 1)),
        ]

    def finding(self, findings: DataFindings) -> str:
        """Return who has the best mean on how many data sets, and what holds over all."""
        return data_finding(findings)

    def statements(self, results: DataResults, findings: DataFindings) -> list[str]:
        """Return what the tests say."""
        manifest = results.manifest
        return prose.data_statements(findings, manifest["failures"], manifest["cells"])

    # The page

    def opening(self, findings: DataFindings, index: int) -> Opening:
        """Return who wins how often; the splits of one data set, or the means of one learner."""
        name = f"opening{index}"
        if len(findings.datasets) == 1:
            caption = (
                "Dots: splits, moved up and down so that they do not hide each other; the larger "
                "mark is their mean. Splits share rows, so the spread of the dots is no measure of "
                "the error of the mean."
            )
            return Opening(*_rows(charts.splits(findings, findings.datasets[0]), name), caption)
        if len(findings.learners) == 1:
            caption = "Means over the splits of each data set."
            return Opening(*_rows(charts.by_dataset(findings), name), caption, "learner-key")
        chips = (
            ("pale", "best mean"),
            ("full", "significantly better than another learner, worse than none"),
        )
        caption = "The number of data sets that each learner wins."
        return Opening(*_rows(charts.wins(findings), name), caption, chips=chips)

    def view(self, results: DataResults, findings: DataFindings, index: int) -> dict[str, object]:
        """Return the figures, tables and notes of one measure."""
        name, several = findings.measure, len(findings.learners) > 1
        by_size = _by_size(results, name)
        after = [build.size_words(results, size) for size in results.study.doses]

        def own(table: Table) -> Table:
            return replace(table, name=f"{table.name}_{name}")

        smaller = [
            replace(build.means(one, text), name=f"means_{place}")
            for place, (one, text) in enumerate(zip(by_size[:-1], after, strict=False))
        ]
        panels = (charts.learning(by_size, one) for one in findings.datasets[:_MAX_PANELS])
        return {
            "others": by_other_measures(
                [results.data_findings(other) for other in results.measures if other != name]
            ),
            "standings": own(build.standings(findings))
            if several and len(findings.datasets) > 1
            else None,
            "means": own(build.means(findings, after[-1])),
            "spread": own(build.means(findings, after[-1], spread=True)),
            "smaller": [own(table) for table in smaller],
            "winners": own(build.winners(findings)) if several else None,
            "over": _over(findings, index, own),
            "learning": svg.panels(panels, f"learning{index}") if len(by_size) > 1 else [],
        }

    def sections(self, results: DataResults) -> list[Section]:
        """Return winners, tests over data sets and measures compared, as far as there are any."""
        several, failures = len(results.treatments) > 1, results.manifest["failures"]
        over = results.data_findings().over_sets is not None
        compared = [*_comparisons(results)]
        design = words.data_sections(results.study), [facts.learners(results)]
        consequence = (
            "a learner has no mean on a data set where one of its splits failed, and tests say "
            "what they could use"
        )
        shared = (
            f"On {results.manifest['platform']}. A table of counts that several learners share is "
            "counted once and charged to each that uses it."
        )
        costs = build.costs(results, median_by_dataset(results.timings))
        found = Section("findings", "Findings in detail", compared if several else [], "sets_found")
        return [
            *[found] * bool(several or failures),
            Section("datasets", "Results by data set"),
            *[Section("winners", "Winners and losers")] * several,
            *[Section("over", "Over the data sets")] * over,
            *[Section("measures", "Measures compared", compared)] * bool(compared),
            *[Section("learning", "Learning curves")] * (len(results.study.doses) > 1),
            *curves_section(data_curve_sections(results)),
            Section("properties", "Data sets", _properties(results)),
            design_section(results, *design),
            failures_section(results, consequence),
            Section("cost", "Cost", {"panels": [], "table": costs, "note": shared}),
        ]

    def failed(self, results: DataResults, failure: Mapping[Hashable, Any]) -> dict[str, str]:
        """Return the data set, the split and the training size."""
        part = results.manifest["parts"][failure["model"]]
        split = f"repeat {part['repeat'] + 1}, fold {part['fold'] + 1}"
        return {"data set": part["dataset"], "split": split, "rows": size_text(failure["size"])}

    # Files and the terminal

    def figures(self, results: DataResults) -> dict[str, Maker]:
        """Return wins, means, ranks and posteriors by every measure, and measures compared."""
        names = [*dict.fromkeys(part["dataset"] for part in results.manifest["parts"])]
        return data_makers(results) | decision_makers(results, names)

    def files(self, results: DataResults) -> dict[str, pd.DataFrame]:
        """Return means, winners and tests of every measure, and measures compared."""
        return data_files(results)

    def tables(self, results: DataResults) -> dict[str, Table | Absent]:
        """Return the same for papers."""
        return data_tables(results)

    def means(self, results: DataResults) -> list[Table]:
        """Return the means by data set, a table for each training size."""
        each = zip(results.study.doses, _by_size(results, results.measures[0]), strict=True)
        return [build.means(one, build.size_words(results, size)) for size, one in each]

    def summary(self, results: DataResults, brief: bool) -> Iterator[Table | TerminalLine]:
        """Return, unless brief, who wins; and what is odd about the data."""
        findings, several = results.data_findings(), len(results.treatments) > 1
        if not brief and several and len(findings.datasets) > 1:
            yield build.standings(findings)
        for sentence in [] if brief else prose.data_statements(findings, 0, 0):
            yield TerminalLine(f"  {sentence}", whole=True)
        for pair in measure_pairs(results.measures) if several and not brief else []:
            found = results.reversals(*pair, examples=False)
            labels = results.info(pair[0]).label, results.info(pair[1]).label
            yield TerminalLine(f"  {prose.reversal_sentence(found, labels)}", whole=True)
        for note in _notes(results):
            yield TerminalLine(note, "yellow")

    def plan(
        self,
        study: Study,
        goal: Goal,
        models: int,
        jobs: int | None,
        progress: Callable[[Step], object] | None,
    ) -> list[str]:
        """Say how many cells there are, and how long they take; models are not planned for."""
        from simstudy.workflow.data_pilot import run_data_pilot

        for name, value in (("--mcse", goal.mcse), ("--difference", goal.difference)):
            if value is not None:
                study.demand_models(name)
        return data_forecast(run_data_pilot(study, jobs))

    def overall(self, results: DataResults, measure: str) -> Overall:
        """Return the means over data sets."""
        found = results.data_findings(measure)
        where = f"over {len(found.datasets)} data sets"
        return Overall(found.overall, found.best_overall, where)


def _rows(chart: Chart, name: str) -> tuple[Markup, Markup]:
    """A chart made of rows, as high as these need, for wide and for narrow screens."""
    number = len(chart.y.marks)
    return _both(chart, name, *[60 + (_ROW if number < 16 else 0.55 * _ROW) * number] * 2)


def _both(chart: Chart, name: str, tall: float, narrow: float) -> tuple[Markup, Markup]:
    """A chart for wide and for narrow screens."""
    return (
        svg.draw(chart, f"{name}w", (_WIDE, tall)).picture,
        svg.draw(chart, f"{name}n", (_NARROW, narrow)).picture,
    )


def _by_size(results: DataResults, name: str) -> list[DataFindings]:
    """The findings at every training size."""
    return [results.data_findings(name, size=build.given(size)) for size in results.study.doses]


def _over(
    findings: DataFindings, index: int, own: Callable[[Table], Table]
) -> dict[str, object] | None:
    """Diagrams and tests over data sets, if there are several learners and data sets."""
    found = findings.over_sets
    if found is None:
        return None
    diagram = None
    if len(found.learners) > 2 and not found.friedman.reason:
        chart, rows = ranks.over_sets(found, _WIDE / 7.0), len(found.learners)
        tall = 25 * (chart.y.high - chart.y.low) if not chart.frame else 60 + 26.0 * rows
        wide = svg.draw(chart, f"ranks{index}w", (_WIDE, tall)).picture
        listed = ranks.over_sets(found, joined=False)
        narrow = svg.draw(listed, f"ranks{index}n", (_NARROW, 70 + 30.0 * rows)).picture
        diagram = wide, narrow
    posterior = charts.posterior(found)
    return {
        "found": found,
        "diagram": diagram,
        "no_diagram": found.friedman.reason,
        "rule": prose.over_method(found),
        "bars": ranks.bars(found),
        "equivalence": prose.equivalence(found.rope, findings.info),
        "no_posterior": posterior.absent,
        "posterior": None if posterior.absent else _rows(posterior, f"posterior{index}"),
        "shown": len(posterior.y.marks),
        "tests": own(build.tests(found)) if len(found.learners) > 2 else None,
        "pairs": own(build.pairs(found, findings.info)),
    }


def _comparisons(results: DataResults) -> Iterator[dict[str, object]]:
    """Every two measures: where they name different winners, and how they correlate."""
    for place, (first, second) in enumerate(measure_pairs(results.measures)):
        one, other = (results.data_findings(name) for name in (first, second))
        labels = (one.info.label, other.info.label)
        found = results.reversals(first, second)
        chart = charts.scatter(one, other, found)
        yield {
            "title": f"{labels[0]} and {labels[1]}",
            "sentence": prose.reversal_sentence(found, labels) if len(one.learners) > 1 else "",
            "scatter": _both(chart, f"scatter{place}", 430.0, 330.0),
            "reversals": build.reversals(found, labels) if found.found else None,
            "examples": build.example_sentences(found, labels) if found.found else [],
            "correlations": build.correlations(results.correlations(first, second), labels),
        }


def _properties(results: DataResults) -> dict[str, object]:
    """The table of properties, or why there is none, and what is odd about the data."""
    content: dict[str, object] = {"table": None, "absent": "", "notes": _notes(results)}
    try:
        return content | {"table": build.properties(results.properties())}
    except SimstudyError as error:
        return content | {"absent": f"There is no table of properties: {error}."}


def _notes(results: DataResults) -> list[str]:
    """What is odd about the data sets."""
    return [f"{name}: {note}" for name, own in results.manifest["notes"].items() for note in own]
