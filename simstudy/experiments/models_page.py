"""The page of an experiment on models, whose truth is known."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from simstudy.analysis.anova import Anova
from simstudy.analysis.findings import Absent, ModelFindings
from simstudy.analysis.mixed import MixedModel
from simstudy.analysis.regret import regret
from simstudy.analysis.thresholds import Course
from simstudy.experiments.page import Goal, Opening, Overall, Page, Section, TerminalLine
from simstudy.experiments.planning import forecast
from simstudy.measures.base import MeasureInfo
from simstudy.report.charts import curves, pairs, spread, svg
from simstudy.report.charts.network import network
from simstudy.report.charts.svg import Panel
from simstudy.report.page import design_section, failures_section
from simstudy.report.printed import Maker
from simstudy.report.printed.models import curves as printed_curves
from simstudy.report.printed.models import model_makers
from simstudy.report.prose import captions, crossings
from simstudy.report.prose import design as words
from simstudy.report.prose.finding import finding
from simstudy.report.prose.numbers import brief, digits, rows
from simstudy.report.prose.phrases import count_range, opening
from simstudy.report.prose.statements import statements
from simstudy.report.prose.verdicts import MAX_COMPARED, pair_method, verdicts
from simstudy.report.tables import facts
from simstudy.report.tables import findings as build
from simstudy.report.tables.table import Table
from simstudy.results.analyses import ModelResults
from simstudy.study.study import Study
from simstudy.texts import counted

if TYPE_CHECKING:
    from simstudy.workflow.progress import Step

_EXAMPLES = 3  # models that are drawn


class ModelsPage(Page[ModelFindings, ModelResults]):
    """Curves against the dose, tests of pairs and the analysis of variance, over models."""

    joined = True

    # What is said

    @abstractmethod
    def asks(self, study: Study, info: MeasureInfo) -> str:
        """Return the question, after "On random … models, "."""

    @abstractmethod
    def aims(self, study: Study) -> str:
        """Return what the study is for."""

    @abstractmethod
    def estimands(self, study: Study, info: MeasureInfo) -> str:
        """Return what is estimated."""

    def evaluated(self, study: Study) -> str:
        """Return on what learners were evaluated, for the line on the design."""
        return study.source.test_note or words.evaluated_on(study.data.test_size)

    def test_data(self, study: Study) -> str:
        """Return where test rows come from."""
        return words.test_section(study.data.test_size)

    def question(self, study: Study, findings: ModelFindings) -> str:
        """Return the question in one sentence."""
        return f"On random {words.models_of(study)}, {self.asks(study, findings.info)}"

    def design(self, study: Study) -> str:
        """Return what was run, in one line."""
        return words.model_design(study, self.evaluated(study))

    def made(self, study: Study) -> str:
        """Return the design and the conventions."""
        return captions.made(study)

    def facts(self, study: Study) -> list[tuple[int, str]]:
        """Return the numbers of models, treatments and doses."""
        labels, doses, kind = len(study.labels), len(study.doses), study.experiment
        return [
            (study.source.units, study.source.unit + "s"),
            (labels, kind.treatment + "s" * (labels > 1)),
            (doses, kind.size + "s" * (doses > 1)),
        ]

    def finding(self, findings: ModelFindings) -> str:
        """Return who does best with how many rows."""
        return finding(findings)

    def statements(self, results: ModelResults, findings: ModelFindings) -> list[str]:
        """Return who beats whom and who overtakes whom."""
        lost = results.manifest["failures"], results.manifest["cells"]
        return statements(findings, *lost, overtaking=_overtaking(results, findings))

    # The page

    def opening(self, findings: ModelFindings, index: int) -> Opening:
        """Return the means against the dose."""
        chart, many = curves.learning_curves(findings), len(findings.treatments) > captions.MAX_BARS
        sizes = (svg.MANY_CURVES, svg.MANY_NARROW) if many else (svg.CURVES, svg.NARROW)
        wide = svg.draw(chart, f"curves{index}w", sizes[0], labels=True)
        narrow = svg.draw(chart, f"curves{index}n", sizes[1]).picture
        notes = [captions.curves(findings, alone=False), *_unmeasured_limits(findings)]
        key = "curve-key" + " narrow-only" * wide.labelled
        return Opening(wide.picture, narrow, " ".join([*notes, *chart.notes]), key)

    def view(self, results: ModelResults, findings: ModelFindings, index: int) -> dict[str, object]:
        """Return the figures, tables and notes of one measure."""
        overtaking = _overtaking(results, findings)
        panels, notes, thresholds = _differences(findings, index, overtaking)
        found, design = build.tests(findings), findings.design
        tests = [table for table in found.values() if isinstance(table, Table)]
        note = captions.size_effect(findings, results.study)
        compared = [build.pairs(findings, at) for at in design.sizes if len(design.learners) > 1]
        precision = [build.standard_errors(findings), build.models_needed(findings)]
        many = len(design.learners) > captions.MAX_BARS
        each = curves.each_learner(findings).charts if many else ()

        def own(table: Table) -> Table:
            return replace(table, name=f"{table.name}_{findings.measure}")

        return {
            "reading": captions.reading(findings, overtaking),
            "each": svg.panels(each, f"each{index}"),
            "each_note": captions.curve_panels(findings, alone=False),
            "means": own(build.means(findings, alone=False)),
            "differences": panels,
            "difference_notes": notes,
            "thresholds": None if thresholds is None else own(thresholds),
            "tests": [own(table) for table in tests],
            "test_notes": [*build.missing_tests(found), *[note] * bool(note and tests)],
            "pairs": [own(table) for table in compared],
            "pair_notes": captions.pairs(findings, len(design.learners) <= build.MAX_IN_MATRIX),
            "models": svg.panels(spread.models(findings), f"models{index}"),
            "precision": [own(table) for table in precision if isinstance(table, Table)],
            "precision_note": captions.precision(findings),
        }

    def sections(self, results: ModelResults) -> list[Section]:
        """Return differences, tests and precision, and what the experiment adds."""
        study = results.study
        dots = min(study.models, spread.MAX_DOTS)
        design = design_section(
            results,
            words.sections(study, results.about, self.test_data(study)),
            facts.methods(results),
            aims=self.aims(study),
            estimands=self.estimands(study, results.info()),
            examples=_examples(results),
        )
        consequence = (
            "the notes on means say which models they are over, and tests use the models that both "
            f"{study.experiment.name} have"
        )
        return [
            Section("findings", "Findings in detail"),
            Section(
                "differences", f"Differences between {study.experiment.name}", entry="Differences"
            ),
            *self.own_sections(results),
            Section("anova", "Analysis of variance"),
            Section("pairs", "Who beats whom"),
            Section("models", "Single models", dots),
            design,
            failures_section(results, consequence),
            Section("precision", "Precision"),
            *self.last_sections(results),
        ]

    def own_sections(self, results: ModelResults) -> list[Section]:
        """Return the sections that only this page has."""
        return []

    def last_sections(self, results: ModelResults) -> list[Section]:
        """Return those of them that come last."""
        return []

    def failed(self, results: ModelResults, failure: Mapping[Hashable, Any]) -> dict[str, str]:
        """Return the model and the dose."""
        return {"model": str(failure["model"]), "rows": rows(failure["size"])}

    # Files and the terminal

    def figures(self, results: ModelResults) -> dict[str, Maker]:
        """Return curves of every measure, and what else the primary one shows."""
        return model_makers(results)

    def kept_figures(self, results: ModelResults) -> dict[str, Maker]:
        """Return the curves of the primary measure."""
        return {"learning_curves": partial(printed_curves, measure=results.measures[0])}

    def files(self, results: ModelResults) -> dict[str, pd.DataFrame]:
        """Return the tables of every measure, and of the primary one those that it has."""
        findings = [results.findings(name) for name in results.measures]
        parts: dict[str, Callable[[ModelFindings], pd.DataFrame]] = {
            "anova.csv": lambda one: _table(one.anova) if one.factors else pd.DataFrame(),
            "intervals.csv": lambda one: one.intervals.assign(confidence=one.design.confidence),
            "pairwise.csv": lambda one: one.pairwise.assign(
                confidence=one.design.confidence, adjustment=one.design.adjustment
            ),
            "left_out.csv": lambda one: pd.DataFrame(one.left_out, columns=["model", "reason"]),
            "precision.csv": lambda one: one.precision,
        }
        tables = {}
        for name, part in parts.items():
            each = {one.measure: part(one) for one in findings}
            tables[name] = pd.concat(each, names=["measure"]).reset_index("measure")
        split = regret(results.scores)
        further = {"thresholds.csv": findings[0].thresholds}
        further |= {} if split is None else {"regret.csv": split.table}
        if findings[0].incomplete:
            further["mixed_model.csv"] = _table(findings[0].mixed)
        return tables | {name: table for name, table in further.items() if not table.empty}

    def tables(self, results: ModelResults) -> dict[str, Table | Absent]:
        """Return the means of every measure and the tests of the primary one."""
        first, *others = results.measures
        primary = results.findings(first)
        found: dict[str, Table | Absent] = {"means": build.means(primary)}
        found |= {f"means_{name}": build.means(results.findings(name)) for name in others}
        found |= build.tests(primary)
        for make in (build.pairwise, build.thresholds, build.precision, build.ranks):
            found[make.__name__] = make(primary)
        return found

    def means(self, results: ModelResults) -> list[Table]:
        """Return the means with their intervals."""
        return [build.means(results.findings())]

    def summary(self, results: ModelResults, brief: bool) -> Iterator[Table | TerminalLine]:
        """Return, unless brief, tests, who beats whom and who overtakes whom."""
        findings = results.findings()
        for note in captions.few_models(findings):
            yield TerminalLine(f"{note}\n", "yellow")
        if brief:
            return
        for name, table in build.tests(findings).items():
            for note in build.missing_tests({name: table}):
                yield TerminalLine(f"{note}\n")
            if isinstance(table, Table):
                yield table
        yield from _verdict_lines(findings)
        yield from _course_lines(findings)

    def plan(
        self,
        study: Study,
        goal: Goal,
        models: int,
        jobs: int | None,
        progress: Callable[[Step], object] | None,
    ) -> list[str]:
        """Say how many models are needed, and how long they take."""
        from simstudy.workflow.pilot import run_pilot

        return forecast(run_pilot(study, models, jobs, progress), *goal)

    def gaps(self, results: ModelResults) -> list[str]:
        """Return the measures that have no finite score in some cell."""
        lost = {name: len(results.findings(name).left_out) for name in results.measures[1:]}
        return [
            f"{counted(number, 'model')} {'lacks' if number == 1 else 'lack'} a finite {name} in "
            "some cell; see left_out.csv"
            for name, number in lost.items()
            if number
        ]

    def on_scale(self, results: ModelResults, measure: str) -> ModelFindings:
        """Return the findings by a measure."""
        return results.findings(measure)

    def overall(self, results: ModelResults, measure: str) -> Overall:
        """Return the means at the last dose."""
        last, found = results.doses[-1], results.findings(measure)
        means = {one.learner: one.mean for one in found.means if one.size == last}
        where = f"over {results.problems} models, after {last:,} rows"
        return Overall(means, found.best_at(last), where)


def _overtaking(results: ModelResults, findings: ModelFindings) -> bool:
    """Whether it is said who overtakes whom: of many pairs, which take long, by one measure."""
    few = len(pairs.all_pairs(findings)) <= pairs.MAX_PAIRS
    return few or findings.measure == results.measures[0]


def _unmeasured_limits(findings: ModelFindings) -> list[str]:
    """How to show the ceiling and the limits."""
    if findings.ceiling or findings.measure != "information_reward":
        return []
    return [
        "To show the ceiling and the learners’ limits, add “regret”, “representation” and "
        "“estimation” to “also” under [measures] in the study."
    ]


def _differences(
    findings: ModelFindings, index: int, overtaking: bool
) -> tuple[list[Panel], list[str], Table | None]:
    """The paired differences against size, notes on them, and who overtakes whom."""
    design = findings.design
    if len(design.learners) < 2:
        return [], [captions.alone(findings)], None
    if len(design.sizes) < 2:
        text = f"With one {design.words.size} there is no curve; see the table of pairs."
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


def _examples(results: ModelResults) -> tuple[list[Panel], str]:
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


def _table(found: Anova | MixedModel | Absent) -> pd.DataFrame:
    """The table of an analysis, or one that says why there is none."""
    return pd.DataFrame({"note": [found.reason]}) if isinstance(found, Absent) else found.table


def _verdict_lines(findings: ModelFindings) -> Iterator[TerminalLine]:
    """Who beats whom at each size."""
    if not (found := verdicts(findings)):
        return
    what = findings.info.unit or findings.info.label
    yield TerminalLine(f"Who beats whom (differences in {what})", "bold")
    for size, sentences in found.items():
        for index, sentence in enumerate(sentences):
            lead = f"{size:>8,} rows: " if index == 0 else " " * 15
            yield TerminalLine(f"{lead}{sentence}", whole=True)
    named = bool(findings.standings)  # below the table of means
    method = "By the paired tests named above" if named else opening(pair_method(findings))
    first = f"numbers are in favour of the {findings.design.words.treatment} named first."
    yield TerminalLine(f"{method}; {first}\n", "dim")


def _course_lines(findings: ModelFindings) -> Iterator[TerminalLine]:
    """Who overtakes whom."""
    if not findings.courses:
        return
    kind = findings.design.words
    yield TerminalLine("Who overtakes whom", "bold")
    if (many := len(findings.design.learners)) > MAX_COMPARED:
        changes = sum(len(course.changes) for course in findings.courses)
        ahead = f"{kind.treatment} ahead between {many} {kind.name}"
        yield TerminalLine(f"  {changes} changes of the {ahead}: see thresholds.csv.\n")
        return
    for sentence in crossings.course_sentences(findings):
        yield TerminalLine(f"  {sentence}", whole=True)
    notes = (crossings.method(findings, alone=False), crossings.added_sizes(findings))
    yield TerminalLine(" ".join(filter(None, notes)) + "\n", "dim")
