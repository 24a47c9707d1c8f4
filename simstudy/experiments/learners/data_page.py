"""The page of a comparison of learners on data sets: who wins where, over all, by which measure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
from markupsafe import Markup

from simstudy.analysis.datasets.across_datasets import OverSets
from simstudy.analysis.datasets.findings import DataFindings
from simstudy.analysis.datasets.two_measures import measure_pairs
from simstudy.analysis.models.computing_time import median_seconds
from simstudy.analysis.models.findings import Absent
from simstudy.data.sizes import size_text
from simstudy.experiments.learners.data_results import DataResults
from simstudy.experiments.page import Goal, Opening, Overall, Page, Passage, Section, TerminalLine
from simstudy.measures.base import MeasureInfo
from simstudy.report.charts import data as charts
from simstudy.report.charts import ranks, svg
from simstudy.report.charts.decisions import decision_makers
from simstudy.report.charts.layout import Maker
from simstudy.report.charts.printed import data_makers
from simstudy.report.charts.spec import Chart
from simstudy.report.pages.curve_section import data_curve_sections
from simstudy.report.pages.page import curves_section, design_section, failures_section
from simstudy.report.prose import captions
from simstudy.report.prose import data_statements as prose
from simstudy.report.prose import design as words
from simstudy.report.prose.finding import by_other_measures, data_finding
from simstudy.report.prose.inputs import NOT_THERE, different_inputs, inputs
from simstudy.report.prose.numbers import brief as shortened
from simstudy.report.prose.pairwise import MAX_COMPARED, who_beats_whom
from simstudy.report.prose.phrases import MAX_NAMED, grouped, listed, opening, with_unit
from simstudy.report.tables import datasets as build
from simstudy.report.tables import facts
from simstudy.report.tables.table import Table
from simstudy.study.study import Study
from simstudy.texts import counted

_WIDE, _NARROW = 640.0, 350.0  # of pictures
_ROW = 38.0
_MAX_PANELS = 40  # learning curves
_FEW_SETS, _FEW_ROWS, _FEW_MEASURES = 6, 8, 3  # that a terminal shows one by one
_ALONE = Absent("it needs at least two learners")
_TOO_FEW = Absent("it needs two learners and two data sets with all means")


class DataPage(Page[DataFindings, DataResults]):
    """Winners on single data sets, tests over all of them, and measures compared."""

    opening_name = "opening"
    extra = "data"
    needs = ("It needs the data files that it names.",)
    failed_by = ("data set",)
    design = staticmethod(words.data_design)

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

    def facts(self, study: Study) -> list[tuple[int, str]]:
        """Return the numbers of data sets, splits and learners."""
        sets, learners = len(study.datasets), len(study.labels)
        return [
            (sets, "data set" + "s" * (sets > 1)),
            (study.problems, "splits"),
            (learners, "learner" + "s" * (learners > 1)),
        ]

    def finding(self, results: DataResults, findings: DataFindings) -> str:
        """Return who has the best mean on how many data sets, and what holds over all."""
        return data_finding(findings)

    def statements(self, results: DataResults, findings: DataFindings) -> list[str]:
        """Return what the tests say."""
        manifest = results.manifest
        texts = prose.data_statements(findings, manifest["failures"], manifest["cells"])
        texts += prose.resolution_sentences(findings, results.study)
        return [*texts, *filter(None, [different_inputs(results)])]

    def aims(self, study: Study) -> str:
        """Return what is compared, on what."""
        sets, learners = len(study.datasets), counted(len(study.labels), "learner")
        return f"To compare {learners} by their predictions on {counted(sets, 'data set')}."

    def estimands(self, study: Study, info: MeasureInfo) -> str:
        """Return the means and differences."""
        return (
            f"For each learner and data set: the mean {with_unit(info)} over the test parts of the "
            "splits. For each pair of learners: the difference on each data set and over them."
        )

    def mechanism(self, results: DataResults) -> Iterator[Passage]:
        """Return the data sets, how they are split and how rows are prepared."""
        tables, prepared = results.manifest["tables"].values(), results.study.preparation
        parts = {"Data sets": f"{listed(results.datasets, most=len(results.datasets))}."}
        for key in ("rows", "attributes", "classes"):
            numbers = sorted({table[key] for table in tables})
            parts["Data sets"] += f" {opening(key)}: {numbers[0]:,} to {numbers[-1]:,}."
        for subject, text in (parts | words.data_sections(results.study)).items():
            yield f"{subject}: {text}", [prepared.discretize] * (subject == "Preparation")
        kinds = {"numbers": "Numbers", "missing": "Missing values", "nominal": "Nominal values"}
        for key, values in kinds.items():
            forms = grouped((getattr(row, key), row.learner) for row in inputs(results))
            given = [f"{form} for {listed(each, len(each))}" for form, each in forms.items()]
            if given and [*forms] != [NOT_THERE]:
                yield f"{values}: {'; '.join(given)}.", []

    def consequence(self, study: Study) -> str:
        """Return which means are missing then."""
        return (
            "a learner has no mean on a data set where one of its splits failed; tests state which "
            "data they use"
        )

    def analysis(self, results: DataResults) -> Iterator[Passage]:
        """Return the tests on single data sets and over them."""
        findings, adjusted = results.data_findings(), [results.data_findings().adjustment]
        yield "Means are over the splits of a data set, which share rows.", []
        if len(findings.learners) > 1:
            text = f"On single data sets: {prose.method(findings)}, two-sided."
            yield text, [findings.winners.test, *adjusted]
        if over := findings.over_sets:
            zeros = "two-sided; differences of 0 are left out, tied ranks averaged"
            text = f"Over data sets: {prose.over_method(over)}; {zeros}."
            yield text, ["wilcoxon", "friedman", "demsar", *adjusted]

    # The page

    def opening(self, results: DataResults, findings: DataFindings, index: int) -> Opening:
        """Return the means of every data set, or the splits of the only one."""
        name = f"opening{index}"
        if len(findings.datasets) == 1:
            caption = (
                "Dots: splits, offset vertically to avoid overlap; larger mark: mean. Splits share "
                "rows, so the spread of the dots does not measure the error of the mean."
            )
            return Opening(*_rows(charts.splits(findings, findings.datasets[0]), name), caption)
        caption = "Means over the splits of each data set, the one of the best mean on top."
        if len(findings.learners) > 1:
            caption += " Ringed: the best mean of a data set. Marks that would hide each other are "
            caption += "moved a little up or down. Tests on single data sets: "
            caption += f"{prose.method(findings)}."
        return Opening(*_rows(charts.by_dataset(findings), name), caption, "learner-key")

    def thumbnail(self, results: DataResults, findings: DataFindings) -> Chart:
        """Return average ranks, if there are any; else splits or means of each data set."""
        if (over := _ranked(findings)) is not None:
            return ranks.over_sets(over, findings.names, 45, joined=len(over.learners) <= 6)
        if len(findings.datasets) == 1:
            return charts.splits(findings, findings.datasets[0])
        return charts.by_dataset(findings)

    def view(self, results: DataResults, findings: DataFindings, index: int) -> dict[str, object]:
        """Return the figures, tables and notes of one measure."""
        name, several = findings.measure, len(findings.learners) > 1
        rivals = several and len(findings.datasets) > 1
        further = [results.data_findings(each) for each in results.measures if each != name]
        by_size = _by_size(results, name)
        after = [build.size_words(results, size) for size in results.study.doses]
        smaller = zip(by_size[:-1], after, strict=False)
        panels = (charts.learning(by_size, name) for name in findings.datasets[:_MAX_PANELS])
        return {
            "others": by_other_measures(further),
            "below": _ranks(findings, index),
            "standings": build.standings(findings).named_by(name) if rivals else None,
            "means": build.means(findings, after[-1]).named_by(name),
            "spread": build.means(findings, after[-1], spread=True).named_by(name),
            "smaller": [
                build.means(at, text).named_by(f"{place}_{name}")
                for place, (at, text) in enumerate(smaller)
            ],
            "winners": build.winners(findings).named_by(name) if several else None,
            "over": _over(findings, index),
            "learning": svg.panels(panels, f"learning{index}") if len(by_size) > 1 else [],
        }

    def sections(self, results: DataResults) -> list[Section]:
        """Return winners, tests over data sets and comparisons of measures, where there are any."""
        several, failures = len(results.treatments) > 1, results.manifest["failures"]
        over = results.data_findings().over_sets is not None
        compared, given = [*_comparisons(results)], build.given(results)
        design = words.data_sections(results.study), [facts.learners(results)]
        shared = f"On {results.manifest['platform']}. {captions.SHARED}"
        properties = {"table": build.properties(results.properties()), "notes": results.notes}
        costs = build.costs(results, median_seconds(results.timings, ("dataset", "learner")))
        shown = compared if several else []
        detail = Section("findings", "Findings in detail", shown, "sets_found")
        return [
            *[detail] * bool(several or failures),
            Section("datasets", "Results by data set"),
            *[Section("winners", "Winners and losers")] * several,
            *[Section("over", "Over the data sets")] * over,
            *[Section("measures", "Measures compared", compared)] * bool(compared),
            *[Section("learning", "Learning curves")] * (len(results.study.doses) > 1),
            *curves_section(data_curve_sections(results)),
            Section("properties", "Data sets", properties),
            *[Section("inputs", build.GIVEN, given, "tables", "Inputs")] * bool(given),
            design_section(results, *design),
            failures_section(results, self.consequence(results.study)),
            Section("cost", "Cost", _times(results) | {"table": costs, "note": shared}),
        ]

    def failed(self, results: DataResults, failure: Mapping[Hashable, Any]) -> dict[str, str]:
        """Return the data set, the split and the training size."""
        part = results.manifest["parts"][failure["model"]]
        split = f"repeat {part['repeat'] + 1}, fold {part['fold'] + 1}"
        return {"data set": part["dataset"], "split": split, "rows": size_text(failure["size"])}

    # Files and the terminal

    def figures(self, results: DataResults) -> dict[str, Maker]:
        """Return wins, means, ranks and posteriors by every measure, and measures compared."""
        return data_makers(results) | decision_makers(results, results.datasets)

    def files(self, results: DataResults) -> dict[str, pd.DataFrame]:
        """Return means, winners and tests of every measure, and measures compared."""
        several = len(results.treatments) > 1
        parts: defaultdict[str, dict[str, pd.DataFrame]] = defaultdict(dict)
        for name in results.measures:
            findings = results.data_findings(name)
            parts["means"][name] = results.dataset_means(name)
            if several:
                parts["winners"][name] = findings.winners.table.reset_index()
                parts["pairwise"][name] = findings.winners.pairs
                parts["standings"][name] = pd.DataFrame(findings.standings)
            if findings.over_sets:
                parts["across"][name] = findings.over_sets.table
        tables = {
            file: pd.concat(each, names=["measure"]).reset_index("measure")
            for file, each in parts.items()
        }
        compared: defaultdict[str, list[pd.DataFrame]] = defaultdict(list)
        for pair in measure_pairs(results.measures):
            names = dict(zip(("first", "second"), pair, strict=True))
            if several:
                reversals = results.reversals(*pair, examples=False)
                compared["reversals"].append(reversals.table.assign(**names))
            compared["correlations"].append(results.correlations(*pair).cells.assign(**names))
        tables |= {file: pd.concat(each) for file, each in compared.items()}
        tables["properties"] = results.properties()
        kept = [file for file, table in tables.items() if file == "means" or not table.empty]
        return {f"{file}.csv": tables[file] for file in kept}

    def tables(self, results: DataResults) -> dict[str, Table | Absent]:
        """Return the same for papers."""
        several = len(results.treatments) > 1
        tables: dict[str, Table | Absent] = {}
        for place, name in enumerate(results.measures):
            findings, end = results.data_findings(name), f"_{name}" if place else ""
            over = findings.over_sets
            tables[f"means{end}"] = build.means(findings, spread=True)
            tables[f"standings{end}"] = build.standings(findings) if several else _ALONE
            tables[f"winners{end}"] = build.winners(findings) if several else _ALONE
            tables[f"across{end}"] = build.pairs(over, findings.info) if over else _TOO_FEW
            if over and len(results.treatments) > 2:
                tables[f"tests{end}"] = build.tests(over)
        for pair in measure_pairs(results.measures):
            labels, end = _labels(results, pair), "_".join(pair)
            reversals = results.reversals(*pair, examples=False)
            same = Absent(prose.reversal_sentence(reversals, labels).removesuffix("."))
            made = build.reversals(reversals, labels) if reversals.cases else same
            tables[f"reversals_{end}"] = made
            tables[f"correlations_{end}"] = build.correlations(results.correlations(*pair), labels)
        tables["properties"] = build.properties(results.properties())
        tables |= {table.name: table for table in build.given(results)}
        return tables

    def means(self, results: DataResults) -> list[Table]:
        """Return the means by data set, a table for each training size."""
        each = zip(results.study.doses, _by_size(results, results.measures[0]), strict=True)
        return [build.means(at, build.size_words(results, size)) for size, at in each]

    def summary(self, results: DataResults) -> Iterator[Table | TerminalLine]:
        """Return means or, of many data sets, how often each learner is best; who beats whom."""
        findings = results.data_findings()
        sets, learners = len(findings.datasets), len(findings.learners)
        few = sets == 1 or learners == 1 or (sets <= _FEW_SETS and learners <= MAX_COMPARED)
        table = self.means(results)[-1] if few else build.standings(findings)
        if sets == 1 and learners > 1:
            every = map(results.data_findings, results.measures[:_FEW_MEASURES])
            table = build.on_one_set([*every], build.size_words(results, results.study.doses[-1]))
        rest = learners - _FEW_ROWS if sets == 1 else 0
        more = f" {counted(rest, 'further learner')}: see --details." if rest > 0 else ""
        yield replace(table, rows=table.rows[:_FEW_ROWS], caption=table.caption + more)
        if (over := findings.over_sets) and len(over.learners) <= MAX_COMPARED:
            ranked, sets = [name for name, _ in over.ranked], len(over.datasets)
            won = [(pair.winner, pair.loser) for pair in over.pairs if pair.winner]
            text = who_beats_whom(won, ranked, "learner")
            yield TerminalLine(f"Over {sets} data sets {text} ({prose.over_method(over)}).")
        for sentence in prose.resolution_sentences(findings, results.study):
            yield TerminalLine(sentence)

    def details(self, results: DataResults) -> Iterator[Table | TerminalLine]:
        """Return means, who wins, what the tests say, and what is odd about the data."""
        findings, several = results.data_findings(), len(results.treatments) > 1
        yield from self.means(results)
        if several and len(findings.datasets) > 1:
            yield build.standings(findings)
        sentences = prose.data_statements(findings, 0, 0)
        for sentence in sentences + prose.resolution_sentences(findings, results.study):
            yield TerminalLine(sentence, lead="  ")
        for pair in measure_pairs(results.measures) if several else []:
            reversals = results.reversals(*pair, examples=False)
            sentence = prose.reversal_sentence(reversals, _labels(results, pair))
            yield TerminalLine(sentence, lead="  ")

    def gaps(self, results: DataResults) -> list[str]:
        """Return what is odd about the data, and whether learners were given the same."""
        return [*filter(None, [different_inputs(results, brief=True)]), *results.notes]

    def plan(self, study: Study, goal: Goal) -> list[str]:
        """Say how many cells there are, how long they take, and what a difference needs."""
        from simstudy.workflow.pilot import data_forecast
        from simstudy.workflow.split_pilot import data_power

        if goal.mcse is not None:
            study.demand_models("--mcse")
        lines = data_forecast(study, goal.jobs)
        if goal.difference is not None:
            lines += data_power(study, goal.difference, goal.power, goal.jobs)
        return lines

    def overall(self, results: DataResults, measure: str) -> Overall:
        """Return the means over data sets."""
        findings = results.data_findings(measure)
        where = f"over {len(findings.datasets)} data sets"
        tested = ((over.standing,), prose.over_method(over)) if (over := findings.over_sets) else ()
        return Overall(findings.overall, findings.best_overall, where, *tested)


def _times(results: DataResults) -> dict[str, object]:
    """Scores against seconds by every measure, and who is on the Pareto fronts."""
    every = [results.data_findings(name) for name in results.measures]
    panels = [charts.against_time(findings, results.seconds()) for findings in every]
    caption = prose.against_time(every, results.seconds(), results.manifest["platform"])
    shown = len(results.treatments) > 1
    return {"panels": svg.panels(panels, "time", svg.TIMES) if shown else [], "caption": caption}


def _labels(results: DataResults, pair: tuple[str, str]) -> tuple[str, str]:
    return results.info(pair[0]).label, results.info(pair[1]).label


def _rows(chart: Chart, name: str) -> tuple[Markup, Markup]:
    """A chart made of rows, as high as these need, for wide and for narrow screens."""
    number = len(chart.y.marks)
    tall = 60 + (_ROW if number < 16 else 0.63 * _ROW) * number
    return _both(chart, name, tall, tall, svg.CURVES[0])


def _both(
    chart: Chart, name: str, tall: float, narrow: float, width: float = _WIDE
) -> tuple[Markup, Markup]:
    """A chart for wide and for narrow screens."""
    return (
        svg.draw(chart, f"{name}w", (width, tall)).picture,
        svg.draw(chart, f"{name}n", (_NARROW, narrow)).picture,
    )


def _by_size(results: DataResults, name: str) -> list[DataFindings]:
    """The findings at every training size."""
    return [results.data_findings(name, size=size) for size in results.sizes]


def _ranked(findings: DataFindings) -> OverSets | None:
    """The comparison over data sets, if it has average ranks of several learners."""
    over = findings.over_sets
    return None if over is None or len(over.learners) < 3 or over.friedman.reason else over


def _ranks(findings: DataFindings, index: int) -> list[Opening]:
    """The diagram of average ranks over data sets, if there is one."""
    if (over := _ranked(findings)) is None:
        return []
    chart, rows = ranks.over_sets(over, findings.names, svg.CURVES[0] / 7.0), len(over.learners)
    tall = 25 * (chart.y.high - chart.y.low) if not chart.frame else 60 + 26.0 * rows
    wide = svg.draw(chart, f"ranks{index}w", (svg.CURVES[0], tall)).picture
    narrow = ranks.over_sets(over, findings.names, joined=False)
    size, sets = (_NARROW, 70 + 30.0 * rows), counted(len(over.datasets), "data set")
    caption = (
        f"Average ranks over {sets}; 1 is best. {ranks.bars(over)} ({prose.over_method(over)})."
    )
    return [Opening(wide, svg.draw(narrow, f"ranks{index}n", size).picture, caption)]


def _over(findings: DataFindings, index: int) -> dict[str, object] | None:
    """The tests over data sets, if there are several learners and data sets."""
    over = findings.over_sets
    if over is None:
        return None
    posterior = charts.posterior(over)
    return {
        "found": over,
        "no_diagram": over.friedman.reason,
        "equivalence": prose.equivalence(over.rope, findings.info),
        "no_posterior": posterior.absent,
        "posterior": None if posterior.absent else _rows(posterior, f"posterior{index}"),
        "shown": len(posterior.y.marks),
        "tests": build.tests(over).named_by(findings.measure) if len(over.learners) > 2 else None,
        "pairs": build.pairs(over, findings.info).named_by(findings.measure),
    }


def _comparisons(results: DataResults) -> Iterator[dict[str, object]]:
    """Each pair of measures: where they name different winners, and how they correlate."""
    for place, pair in enumerate(measure_pairs(results.measures)):
        first, second = (results.data_findings(name) for name in pair)
        labels, reversals = _labels(results, pair), results.reversals(*pair)
        chart = charts.scatter(first, second, reversals)
        several, differ = len(first.learners) > 1, bool(reversals.cases)
        yield {
            "title": " and ".join(labels),
            "sentence": prose.reversal_sentence(reversals, labels) if several else "",
            "scatter": _both(chart, f"scatter{place}", 430.0, 330.0),
            "reversals": build.reversals(reversals, labels) if differ else None,
            "examples": build.example_sentences(reversals, labels) if differ else [],
            "correlations": build.correlations(results.correlations(*pair), labels),
        }
