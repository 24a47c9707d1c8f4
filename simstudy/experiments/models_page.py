"""The page of an experiment on models, whose truth is known."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import pandas as pd

from simstudy.analysis.models.findings import Absent, ModelFindings
from simstudy.analysis.models.regret import regret
from simstudy.analysis.models.thresholds import Course
from simstudy.analysis.tests.anova import Anova
from simstudy.analysis.tests.mixed_model import MixedModel
from simstudy.components.registry import CHANGES, FAMILIES
from simstudy.experiments.page import Goal, Opening, Overall, Page, Passage, Section, TerminalLine
from simstudy.measures.base import MeasureInfo
from simstudy.report.charts import curves, pairs, spread, svg
from simstudy.report.charts.layout import Maker
from simstudy.report.charts.network_plot import network, network_picture
from simstudy.report.charts.spec import Chart
from simstudy.report.charts.svg import Panel
from simstudy.report.pages.page import design_section, failures_section
from simstudy.report.prose import captions, pairwise, phrases
from simstudy.report.prose import design as words
from simstudy.report.prose.finding import finding
from simstudy.report.prose.numbers import brief, digits, rows
from simstudy.report.prose.pairwise import MAX_COMPARED, pair_method, verdicts
from simstudy.report.prose.phrases import count_range, opening
from simstudy.report.prose.statements import mean_text, method, statements
from simstudy.report.references import cited
from simstudy.report.tables import facts
from simstudy.report.tables import findings as build
from simstudy.report.tables.table import Table
from simstudy.results.read.model_analyses import ModelResults
from simstudy.study.study import Study
from simstudy.texts import counted

_EXAMPLES = 3  # models that are drawn
MANY_SIZES, _MAX_CHANGES = 6, 12  # sizes that ask for thresholds, and changes that are drawn
M = TypeVar("M", bound=ModelResults, contravariant=True)


class ModelsPage(Page[ModelFindings, M]):
    """Curves against the dose, tests of pairs and the analysis of variance, over models."""

    joined = True

    # What is said

    @abstractmethod
    def asks(self, study: Study, info: MeasureInfo) -> str:
        """Return the question, after "On random … models, "."""

    def evaluated(self, study: Study) -> str:
        """Return on what learners were evaluated, for the line on the design."""
        return study.source.test_note or words.evaluated_on(study.data.test_size)

    def training_data(self, study: Study) -> str:
        """Return where training rows come from."""
        return words.training_section(study)

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
        return f"{self.design(study)}; {words.conventions(study)}."

    def facts(self, study: Study) -> list[tuple[int, str]]:
        """Return the numbers of models, treatments and doses."""
        labels, doses, kind = len(study.labels), len(study.doses), study.experiment
        return [
            (study.source.units, study.source.unit + "s"),
            (labels, kind.treatment + "s" * (labels > 1)),
            (doses, kind.size + "s" * (doses > 1)),
        ]

    def finding(self, results: M, findings: ModelFindings) -> str:
        """Return who does best with how many rows."""
        return finding(findings)

    def statements(self, results: M, findings: ModelFindings) -> list[str]:
        """Return who beats whom and who overtakes whom."""
        lost = results.manifest["failures"], results.manifest["cells"]
        return statements(findings, *lost, overtaking=_overtaking(results, findings))

    def drawn(self, results: M) -> dict[str, str]:
        """Return how models, training and test data are drawn, by subject."""
        study = results.study
        rows_drawn = self.training_data(study), self.test_data(study)
        return words.sections(study, results.about, *rows_drawn)

    def mechanism(self, results: M) -> Iterator[Passage]:
        """Return the same as passages."""
        study = results.study
        of = {"Models": (FAMILIES, [study.demanded_family]), "Changes": (CHANGES, study.changes)}
        for subject, text in self.drawn(results).items():
            references = cited(*of[subject]) if subject in of else []
            yield f"{subject}: {text.removesuffix('.')}.", references

    def consequence(self, study: Study) -> str:
        """Return over which models means and tests are then."""
        return (
            "the notes say which models each mean is over; tests use the models that both "
            f"{study.experiment.name} have"
        )

    def analysis(self, results: M) -> Iterator[Passage]:
        """Return means, their intervals, and the tests of pairs."""
        findings, adjustment = results.findings(), results.study.analysis.adjustment
        adjusted, share = ["bonferroni"] * (adjustment != "none"), findings.info.share
        intervals = phrases.intervals_of_means(findings)
        text = f"Means are {captions.models(findings)}, with {intervals}."
        yield text, [*adjusted, *["pearson", "korn"] * share]
        if len(findings.treatments) > 1:
            exact = ["mcnemar"] * (phrases.paired_tests(findings) == phrases.EXACT_TESTS)
            holm = ["holm"] * findings.design.holm
            yield f"{method(findings)} Tests are two-sided.", [*(holm or adjusted), *exact]

    def results(self, results: M) -> list[str]:
        """Return finding, statements and the means at the largest dose, with their intervals."""
        findings = results.findings()
        last = [mean for mean in findings.means if mean.size == findings.design.sizes[-1]]
        texts = [f"{mean.learner} {mean_text(mean, findings)}" for mean in last]
        means = phrases.listed(texts, most=len(texts))
        means = f"Mean {findings.info.label} with {last[0].size:,} rows: {means}."
        return [self.finding(results, findings), *self.statements(results, findings), means]

    # The page

    def opening(self, results: M, findings: ModelFindings, index: int) -> Opening:
        """Return the means against the dose."""
        chart, many = curves.learning_curves(findings), len(findings.treatments) > captions.MAX_BARS
        notes = [captions.curves(findings, alone=False), *_unmeasured_limits(findings)]
        sizes = svg.MANY_LINES if many else svg.LINES
        return drawn("Learning curves", lambda _: chart, f"curves{index}", sizes, notes)

    def thumbnail(self, results: M, findings: ModelFindings) -> Chart:
        """Return the means against the dose."""
        return curves.learning_curves(findings)

    def view(self, results: M, findings: ModelFindings, index: int) -> dict[str, object]:
        """Return the figures, tables and notes of one measure."""
        overtaking = _overtaking(results, findings)
        timeline = _timeline(findings, index) if overtaking else []
        first = len(findings.design.sizes) >= MANY_SIZES  # whether it is among the opening figures
        panels, notes, thresholds = _differences(findings, index, overtaking)
        analyses, design = build.tests(findings), findings.design
        tests = [table for table in analyses.values() if isinstance(table, Table)]
        note = captions.size_effect(findings, results.study)
        compared = [build.pairs(findings, at) for at in design.sizes if len(design.learners) > 1]
        many = len(design.learners) > captions.MAX_BARS
        each, measure = curves.each_learner(findings).charts if many else (), findings.measure
        return {
            "above": timeline if first else [],
            "timeline": [] if first else timeline,
            "reading": captions.reading(findings, overtaking),
            "each": svg.panels(each, f"each{index}"),
            "each_note": captions.curve_panels(findings, alone=False),
            "means": build.means(findings, alone=False).named_by(measure),
            "differences": panels,
            "difference_notes": notes,
            "thresholds": thresholds and thresholds.named_by(measure),
            "tests": [table.named_by(measure) for table in tests],
            "test_notes": [*build.missing_tests(analyses), *[note] * bool(note and tests)],
            "pairs": [table.named_by(measure) for table in compared],
            "forests": (),
            "pair_notes": captions.pairs(findings, len(design.learners) <= build.MAX_IN_MATRIX),
            "models": svg.panels(spread.models(findings), f"models{index}"),
            "precision": [table.named_by(measure) for table in _precision(findings)],
            "precision_note": captions.precision(findings),
        }

    def sections(self, results: M) -> list[Section]:
        """Return differences, tests and precision, and what the experiment adds."""
        study, kind = results.study, results.study.experiment
        lost = self.consequence(study)
        dots = min(study.models, spread.MAX_DOTS)
        design = design_section(
            results,
            self.drawn(results),
            facts.methods(results),
            aims=self.aims(study),
            estimands=self.estimands(study, results.info()),
            examples=_examples(results),
        )
        return [
            Section("findings", "Findings in detail"),
            Section("differences", f"Differences between {kind.name}", entry="Differences"),
            *self.own_sections(results),
            Section("anova", "Analysis of variance"),
            Section("pairs", "Who beats whom"),
            Section("models", "Single models", dots),
            design,
            failures_section(results, lost),
            Section("precision", "Precision"),
        ]

    def own_sections(self, results: M) -> list[Section]:
        """Return the sections before the analysis of variance that only this page has."""
        return []

    def failed(self, results: M, failure: Mapping[Hashable, Any]) -> dict[str, str]:
        """Return the model and the dose."""
        return {"model": str(failure["model"]), "rows": rows(failure["size"])}

    # Files and the terminal

    def figures(self, results: M) -> dict[str, Maker]:
        """Return curves of every measure, and what else the primary one shows."""
        from simstudy.report.charts.printed import model_makers  # a terminal needs no figures

        return model_makers(results)

    def kept_figures(self, results: M) -> dict[str, Maker]:
        """Return the curves of the primary measure."""
        from simstudy.report.charts.printed import learning_curves

        return {"learning_curves": partial(learning_curves, measure=results.measures[0])}

    def files(self, results: M) -> dict[str, pd.DataFrame]:
        """Return the tables of every measure, and of the primary one those that it has."""
        findings = [results.findings(name) for name in results.measures]
        parts: dict[str, Callable[[ModelFindings], pd.DataFrame]] = {
            "anova.csv": lambda at: _table(at.anova) if at.factors else pd.DataFrame(),
            "intervals.csv": lambda at: at.intervals.assign(confidence=at.design.confidence),
            "pairwise.csv": lambda at: at.pairwise.assign(
                confidence=at.design.confidence, adjustment=at.design.adjustment
            ),
            "left_out.csv": lambda at: pd.DataFrame(at.left_out, columns=["model", "reason"]),
            "precision.csv": lambda at: at.precision,
        }
        tables = {}
        for name, part in parts.items():
            each = {at.measure: part(at) for at in findings}
            tables[name] = pd.concat(each, names=["measure"]).reset_index("measure")
        split = regret(results.scores)
        further = {"thresholds.csv": findings[0].thresholds}
        further |= {} if split is None else {"regret.csv": split.table}
        if findings[0].incomplete:
            further["mixed_model.csv"] = _table(findings[0].mixed)
        return tables | {name: table for name, table in further.items() if not table.empty}

    def tables(self, results: M) -> dict[str, Table | Absent]:
        """Return the means of every measure and the tests of the primary one."""
        first, *further = results.measures
        primary = results.findings(first)
        tables: dict[str, Table | Absent] = {"means": build.means(primary)}
        tables |= {f"means_{name}": build.means(results.findings(name)) for name in further}
        tables |= build.tests(primary)
        for make in (build.pairwise, build.thresholds, build.precision, build.ranks):
            tables[make.__name__] = make(primary)
        return tables

    def means(self, results: M) -> list[Table]:
        """Return the means with their intervals."""
        return [build.means(results.findings())]

    def summary(self, results: M) -> Iterator[Table | TerminalLine]:
        """Return the means and who beats whom at a few sizes."""
        findings = results.findings()
        yield build.few_means(findings)
        yield from beaten(findings)
        for note in captions.few_models(findings)[:1]:
            yield TerminalLine(note, "yellow")

    def details(self, results: M) -> Iterator[Table | TerminalLine]:
        """Return means, tests, who beats whom by how much, and who overtakes whom."""
        findings = results.findings()
        yield from self.means(results)
        if few := captions.few_models(findings):
            yield TerminalLine(" ".join([*few, "\n"]), "yellow")
        for name, table in build.tests(findings).items():
            for note in build.missing_tests({name: table}):
                yield TerminalLine(f"{note}\n")
            if isinstance(table, Table):
                yield table
        yield from _verdict_lines(findings)
        yield from _course_lines(findings)
        yield from _precision(findings)

    def plan(self, study: Study, goal: Goal) -> list[str]:
        """Say how many models are needed, and how long they take."""
        from simstudy.workflow.pilot import forecast, run_pilot

        pilot = run_pilot(study, goal.models, goal.jobs, goal.progress)
        return forecast(pilot, goal.mcse, goal.difference, goal.power)

    def gaps(self, results: M) -> list[str]:
        """Return the measures that have no finite score in some cell."""
        lost = {name: len(results.findings(name).left_out) for name in results.measures[1:]}
        return [
            f"{counted(number, 'model')} {'lacks' if number == 1 else 'lack'} a finite "
            f"{results.info(name).label} in some cell; see left_out.csv"
            for name, number in lost.items()
            if number
        ]

    def overall(self, results: M, measure: str) -> Overall:
        """Return the means at the last dose."""
        last, findings = results.doses[-1], results.findings(measure)
        means = {cell.learner: cell.mean for cell in findings.means if cell.size == last}
        where = f"over {results.problems} models, after {last:,} rows"
        tested = (findings.standings, pair_method(findings)) if len(findings.treatments) > 1 else ()
        return Overall(means, findings.best_at(last), where, *tested)


def beaten(findings: ModelFindings) -> Iterator[TerminalLine]:
    """Who beats whom at a few sizes, and by which tests."""
    sizes, (least, most) = build.few_sizes(findings), findings.models_used
    for size in sizes if len(findings.design.learners) > 1 else ():
        yield TerminalLine(pairwise.beaten_at(findings, size), lead=_lead(size))
    whole = least == most == findings.design.models
    used = "" if whole else f"Means {captions.models(findings)}. "
    yield TerminalLine(used + pairwise.brief_method(findings, len(sizes)), "dim")


def _precision(findings: ModelFindings) -> list[Table]:
    """The standard errors of means, and the models that smaller ones need."""
    made = build.standard_errors(findings), build.models_needed(findings)
    return [table for table in made if isinstance(table, Table)]


def _lead(size: int) -> str:
    """The rows before what is said of them."""
    return f"{size:>8,} rows: "


def drawn(
    name: str,
    make: Callable[[svg.Extent], Chart],
    file: str,
    sizes: tuple[svg.Extent, svg.Extent],
    notes: Sequence[str],
) -> Opening:
    """Lines for wide and for narrow screens, with a key where they have no labels."""
    charts = [make(size) for size in sizes]
    wide = svg.draw(charts[0], f"{file}w", sizes[0], labels=True)
    narrow = svg.draw(charts[1], f"{file}n", sizes[1]).picture
    key = "curve-key" + " narrow-only" * wide.labelled
    return Opening(wide.picture, narrow, " ".join([*notes, *charts[0].notes]), key, name=name)


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


def _timeline(findings: ModelFindings, index: int) -> list[Opening]:
    """When which learner overtakes which, if any does."""
    shown = [{*pair} for pair in pairs.shown_pairs(findings)]
    courses = [each for each in findings.courses if {each.first, each.second} in shown]
    changes, which = pairs.changes_shown(courses, _MAX_CHANGES)
    if not changes:
        return []
    tall = 66 + 38.0 * len(changes)
    wide, narrow = (
        svg.draw(
            pairs.thresholds(changes, findings, letters), f"thresholds{index}{end}", (width, tall)
        ).picture
        for end, width, letters in (("w", svg.CURVES[0], 20), ("n", svg.NARROW[0], 11))
    )
    texts = (captions.thresholds(findings, alone=False), which, pairwise.unchanged(courses))
    return [Opening(wide, narrow, " ".join(filter(None, texts)))]


def _differences(
    findings: ModelFindings, index: int, overtaking: bool
) -> tuple[list[Panel], list[str], Table | None]:
    """The paired differences against size, notes on them, and who overtakes whom."""
    design = findings.design
    if len(design.learners) < 2 or len(design.sizes) < 2:
        single = f"With one {design.words.size} there is no curve; see the table of pairs."
        return [], [captions.alone(findings) if len(design.learners) < 2 else single], None
    every, chosen = pairs.all_pairs(findings), pairs.shown_pairs(findings)
    courses: list[Course] = []
    table = None
    if overtaking:
        shown = [{*pair} for pair in chosen]
        courses = [each for each in findings.courses if {each.first, each.second} in shown]
        made = build.thresholds(findings, courses, alone=False)
        table = None if isinstance(made, Absent) else made
    charts = pairs.differences(findings, chosen, crossings=overtaking)
    notes = [captions.differences(findings, courses, alone=False)]
    if len(chosen) < len(every):
        notes.append(
            f"{len(chosen)} of {len(every)} pairs are shown: {brief(chosen[0][1])}, with the best "
            "mean at the largest size, against the others; all are in pairwise.csv and, for the "
            "primary measure, in thresholds.csv."
        )
    notes += dict.fromkeys(note for chart in charts for note in chart.notes)
    charts = [chart for chart in charts if not chart.absent]
    return svg.panels(charts, f"difference{index}"), notes, table


def _examples(results: ModelResults) -> tuple[list[Panel], str]:
    """The first models, as the manifest has them, and a note on them."""
    made: list[Panel] = []
    models = sorted(results.manifest["networks"].items())[:_EXAMPLES]
    for index, model in models:
        cards, parts = model["cards"], model["components"]
        note = f"{len(cards)} variables of {count_range(min(cards), max(cards))} values; "
        note += f"{math.prod(cards):,} configurations"
        if parts > 1:
            note += f"; component 1 of {parts}, weight {digits(model['weight'], 3)}"
        laid_out = network(model["parents"], model["names"], brief=True)
        picture = network_picture(laid_out, f"network{len(made)}", f"Model {index}")
        made.append(Panel(f"Model {index}", picture, "", note))
    if not made:
        return made, "None is shown: the manifest has no models."
    note = f"The first {len(made)} of {results.study.models} models. The target is on top, filled; "
    mixture = any(model["components"] > 1 for _, model in models)
    also = " Each model is a mixture of networks with weights; its first component is shown."
    return made, note + "its arcs are drawn lighter." + also * mixture


def _table(analysis: Anova | MixedModel | Absent) -> pd.DataFrame:
    """The table of an analysis, or one that says why there is none."""
    if isinstance(analysis, Absent):
        return pd.DataFrame({"note": [analysis.reason]})
    return analysis.table


def _verdict_lines(findings: ModelFindings) -> Iterator[TerminalLine]:
    """Who beats whom at each size."""
    if not (at_sizes := verdicts(findings)):
        return
    unit = findings.info.unit or findings.info.label
    yield TerminalLine(f"Who beats whom (differences in {unit})", "bold")
    for size, sentences in at_sizes.items():
        for index, sentence in enumerate(sentences):
            yield TerminalLine(sentence, lead=_lead(size) if index == 0 else " " * 15)
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
        where = f"in the pairs of {many} {kind.name}"
        yield TerminalLine(f"  {changes} changes of the lead {where}: see thresholds.csv.\n")
        return
    for sentence in pairwise.course_sentences(findings):
        yield TerminalLine(sentence, lead="  ")
    notes = (pairwise.crossing_method(findings, alone=False), pairwise.added_sizes(findings))
    yield TerminalLine(" ".join(filter(None, notes)) + "\n", "dim")
