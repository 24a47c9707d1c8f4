"""The page of estimates on data sets: a row for each estimator, with its interval."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any

import pandas as pd
from markupsafe import Markup

from simstudy.experiments.estimators.data_results import DataEstimates, EstimateFindings
from simstudy.experiments.page import Goal, Opening, Overall, Page, Passage, Section, TerminalLine
from simstudy.measures.base import MeasureInfo
from simstudy.report.charts import layout, svg
from simstudy.report.charts.estimates import with_intervals
from simstudy.report.charts.layout import Maker, Printed
from simstudy.report.charts.mpl import Style
from simstudy.report.charts.spec import Chart, Panels
from simstudy.report.pages.page import design_section, failures_section
from simstudy.report.prose import design as words
from simstudy.report.prose import estimates as prose
from simstudy.report.prose.numbers import NONE, number
from simstudy.report.prose.phrases import level, listed, opening
from simstudy.report.tables import datasets as build
from simstudy.report.tables import facts
from simstudy.report.tables.table import Row, Table, Text, make_table, table_of
from simstudy.report.tables.table import words as cell
from simstudy.study.study import Study
from simstudy.texts import counted

_MAX_PANELS = 6  # learners on data sets that are drawn first
_ROW, _AROUND = 20.0, 60.0  # heights


class EstimatesPage(Page[EstimateFindings, DataEstimates]):
    """What estimators say of each learner on each data set, without a truth to hold it against."""

    opening_name = "opening"
    needs = ("It needs the data files that it names.",)
    failed_by = ("data set",)

    def question(self, study: Study, findings: EstimateFindings) -> str:
        """Return the question in one sentence."""
        learners = listed([each.label for each in study.learners])
        sets = listed([*dict.fromkeys(findings.estimates["dataset"])], 3)
        return f"What is the {findings.info.label} of {learners} on {sets}, by which estimate?"

    def design(self, study: Study) -> str:
        """Return what was run, in one line."""
        sets, number = counted(len(study.datasets), "data set"), len(study.labels)
        return f"{sets}; {counted(number, 'estimator')}; seed {study.seed}"

    def facts(self, study: Study) -> list[tuple[int, str]]:
        """Return the numbers of data sets, learners and estimators."""
        parts = (
            (study.datasets, "data set"),
            (study.learners, "learner"),
            (study.labels, "estimator"),
        )
        return [(len(each), noun + "s" * (len(each) > 1)) for each, noun in parts]

    def finding(self, results: DataEstimates, findings: EstimateFindings) -> str:
        """Return between which values the estimates lie."""
        return prose.finding(results, findings)

    def statements(self, results: DataEstimates, findings: EstimateFindings) -> list[str]:
        """Return what our study says of the estimators."""
        return prose.statements(results, findings)

    def aims(self, study: Study) -> str:
        """Return what is estimated."""
        learners = counted(len(study.learners), "learner")
        return f"To estimate the performance of {learners} by {listed(study.labels, 9)}."

    def estimands(self, study: Study, info: MeasureInfo) -> str:
        """Return what the estimates are of."""
        return f"The {info.label} on new rows, after training on all rows available."

    def mechanism(self, results: DataEstimates) -> Iterator[Passage]:
        """Return the data sets and their preparation."""
        yield f"Data sets: {listed(results.datasets, len(results.datasets))}.", []
        for subject in ("Preparation", "Random numbers"):
            yield f"{subject}: {words.data_sections(results.study)[subject]}", []

    def consequence(self, study: Study) -> str:
        """Return what is missing then."""
        return "these estimates are missing"

    def analysis(self, results: DataEstimates) -> Iterator[Passage]:
        """Return the intervals."""
        confidence = level(results.study.analysis.confidence)
        yield f"Intervals are those of each estimator, {confidence}, not adjusted.", []

    def shown(self, results: DataEstimates) -> list[int]:
        """Return the column of the first learner by each measure, which stands for all."""
        return [*range(0, len(results.measures), len(results.learners))]

    def view(
        self, results: DataEstimates, findings: EstimateFindings, index: int
    ) -> dict[str, object]:
        """Return nothing more: tables are of all measures."""
        return {"standings": None}

    def opening(self, results: DataEstimates, findings: EstimateFindings, index: int) -> Opening:
        """Return the estimates with their intervals."""
        every = _charts(results, findings)
        wide, narrow = (
            [_picture(chart, f"{name}{index}{place}", width) for place, chart in enumerate(every)]
            for name, width in (("wide", 390.0 if len(every) > 1 else 780.0), ("slim", 350.0))
        )
        caption = (
            f"Estimates with {level(findings.confidence)} intervals, one for each estimator: rows "
            "(circle), naive t over splits (diamond), corrected t (square), nested (upside-down "
            "triangle), percentiles of single bootstrap samples (triangle). Naive intervals, over "
            "rows and t, take for independent what shares rows. How often each kind had the exact "
            "value in our study is in the table of estimates."
        )
        across = svg.element("div", *wide, class_="across")
        return Opening(across, svg.element("div", *narrow), caption)

    def thumbnail(self, results: DataEstimates, findings: EstimateFindings) -> Chart:
        """Return the first of the charts."""
        return _charts(results, findings)[0]

    def sections(self, results: DataEstimates) -> list[Section]:
        """Return estimates, data sets, inputs and the design."""
        study = results.study
        mechanism = {"Data sets": f"{opening(self.design(study))}."} | words.data_sections(study)
        mechanism.pop("Splits")
        properties = {"table": build.properties(results.properties()), "notes": results.notes}
        return [
            Section("findings", "Findings in detail", [], "sets_found"),
            Section("estimates", "Estimates", [_table(results)], "tables"),
            Section("properties", "Data sets", properties),
            Section("inputs", build.GIVEN, build.given(results), "tables", "Inputs"),
            design_section(results, mechanism, facts.methods(results)),
            failures_section(results, self.consequence(study)),
        ]

    def failed(self, results: DataEstimates, failure: Mapping[Hashable, Any]) -> dict[str, str]:
        """Return the data set."""
        return {"data set": results.manifest["parts"][failure["model"]]["dataset"]}

    def figures(self, results: DataEstimates) -> dict[str, Maker]:
        """Return the estimates by the primary measure."""
        return {"estimates": _figure}

    def files(self, results: DataEstimates) -> dict[str, pd.DataFrame]:
        """Return all estimates."""
        return {"estimates.csv": results.estimates, "properties.csv": results.properties()}

    def tables(self, results: DataEstimates) -> dict[str, Any]:
        """Return the same for papers."""
        made = [_table(results), build.properties(results.properties()), *build.given(results)]
        return {table.name: table for table in made}

    def means(self, results: DataEstimates) -> list[Table]:
        """Return the estimates."""
        return [_table(results)]

    def summary(self, results: DataEstimates) -> Iterator[Table | TerminalLine]:
        """Return the estimates by the primary measure, and what our study says."""
        findings = results.findings()
        yield _brief(results, findings)
        yield from map(TerminalLine, [*prose.nearest(results, findings)][:1])

    def details(self, results: DataEstimates) -> Iterator[Table | TerminalLine]:
        """Return all estimates, and all that is said of them."""
        yield _table(results)
        for text in self.statements(results, results.findings()):
            yield TerminalLine(text, lead="  ")

    def gaps(self, results: DataEstimates) -> list[str]:
        """Return what is odd about the data."""
        return results.notes

    def plan(self, study: Study, goal: Goal) -> list[str]:
        """Say how long the estimates of every data set take."""
        from simstudy.workflow.pilot import data_forecast

        return data_forecast(study, goal.jobs)

    def overall(self, results: DataEstimates, measure: str) -> Overall:
        """Return the mean of each estimate over data sets and learners; none is the best."""
        estimates = results.findings(measure).estimates
        means = estimates.groupby("estimator", sort=False)["estimate"].mean()
        where = f"over {counted(len(results.datasets), 'data set')}"
        return Overall({str(label): float(mean) for label, mean in means.items()}, None, where)


def _charts(results: DataEstimates, findings: EstimateFindings) -> list[Chart]:
    """A chart for each learner on each data set, as many as are drawn."""
    pairs = itertools.product(results.datasets, results.learners)
    return [with_intervals(findings, *pair) for pair in itertools.islice(pairs, _MAX_PANELS)]


def _picture(chart: Chart, name: str, width: float) -> Markup:
    """A chart with its heading, as high as its rows need."""
    tall = _AROUND + _ROW * len(chart.y.marks)
    heading = svg.element("p", chart.heading, class_="panel-title")
    picture = svg.draw(chart, name, (width, tall)).picture
    style = f"flex: 1 1 {width:.0f}px; max-width: {1.2 * width:.0f}px"
    return svg.element("div", heading, picture, style=style)


def _figure(results: DataEstimates, style: Style) -> Printed:
    """The estimates for print."""
    findings = results.findings()
    title = f"Estimates of {findings.info.label}"
    panels = Panels(tuple(_charts(results, findings)), across=1, height=2.6)
    text = f"{title}, with {level(findings.confidence)} intervals, each that of its estimator."
    return Printed(title, panels, (text, f"{results.study.page.made(results.study)}"), layout.pages)


def _brief(results: DataEstimates, findings: EstimateFindings) -> Table:
    """A column for each learner on each data set."""
    pairs = [*itertools.product(results.datasets, results.learners)]
    columns = [findings.of(*pair)["estimate"].map(number) for pair in pairs]
    several = len(results.datasets) > 1
    heads = [f"{each} on {dataset}" if several else each for dataset, each in pairs]
    lines = [[cell(label), *row] for label, *row in zip(results.treatments, *columns, strict=True)]
    title = f"Estimates of {findings.info.label}"
    return make_table("brief", title, [cell("estimator"), *heads], lines, cut=True)


def _table(results: DataEstimates) -> Table:
    """All estimates with their intervals."""
    table, study = results.estimates, results.study
    specs = {spec.label: spec for spec in study.estimators}
    learners = {spec.label: spec.name for spec in study.learners}
    several = {"data set": "dataset", "rows": "rows", "learner": "learner", "measure": "measure"}
    kept = {head: key for head, key in several.items() if len({*table[key]}) > 1}

    def subject(key: str) -> Callable[[Row], Text]:
        return lambda row: cell(f"{row[key]:,}" if key == "rows" else str(row[key]))

    def bounds(row: Row) -> Text:
        return f"{number(row['lower'])} to {number(row['upper'])}" if row["interval"] else NONE

    def kind(row: Row) -> str:
        return prose.kind(specs[row["estimator"]], row["interval"])

    def covered(row: Row) -> str:
        of = row["interval"], row["rows"], learners[row["learner"]], row["measure"]
        return prose.coverage(specs[row["estimator"]], *of, study.analysis.confidence)

    columns: dict[str, Callable[[Row], Text]] = {head: subject(key) for head, key in kept.items()}
    columns |= {"estimator": lambda row: cell(row["estimator"])}
    columns |= {"estimate": lambda row: number(row["estimate"])}
    columns |= {"interval": bounds, "kind": lambda row: cell(kind(row) or NONE)}
    columns |= {"coverage in our study": lambda row: cell(covered(row) or NONE)}
    fixed = [f"{head} {table[key].iloc[0]}" for head, key in several.items() if head not in kept]
    title = f"Estimates ({', '.join(fixed)})" if fixed else "Estimates"
    keys = {"dataset": results.datasets, "learner": results.learners}
    order = table.assign(**{key: table[key].map(names.index) for key, names in keys.items()})
    order = order.sort_values([*several.values()], kind="stable")
    rows = table.loc[order.index].to_dict("records")
    confidence = level(study.analysis.confidence)
    caption = f"Intervals: {confidence}, of the kind that each estimator reports. {prose.CAPTION}"
    return table_of(rows, "estimates", title, columns, len(kept) + 1, caption=caption, data=table)
