"""A study's findings for the terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from simstudy.analysis.findings import Findings
from simstudy.experiments.learners.data_results import DataResults
from simstudy.report.data_measures import measure_pairs
from simstudy.report.prose import captions, crossings
from simstudy.report.prose.data_finding import data_finding, data_statements, reversal_sentence
from simstudy.report.prose.design import conventions, data_design, design
from simstudy.report.prose.finding import finding
from simstudy.report.prose.phrases import opening
from simstudy.report.prose.verdicts import MAX_COMPARED, pair_method, verdicts
from simstudy.report.tables import datasets as build_data
from simstudy.report.tables import findings as build
from simstudy.report.tables.datasets import dataset_tables
from simstudy.report.tables.table import Table
from simstudy.report.tables.terminal import print_table
from simstudy.results.analyses import ModelResults
from simstudy.results.results import Results
from simstudy.study.constants import FAILURES
from simstudy.texts import counted, printable

_MAX_WARNINGS = 5  # that are printed


class _Console(Console):
    """A console that prints names as they are: no control characters, no pictures for words."""

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(printable(text), **options)


def make_console() -> Console:
    """A console for what others have named."""
    return _Console(emoji=False)


def print_summary(results: Results, console: Console, brief: bool = False) -> None:
    """Print the finding and means of the primary measure and, unless brief, tests and verdicts."""
    if isinstance(results, DataResults):
        _print_datasets(results, console, brief)
        return
    assert isinstance(results, ModelResults)
    study, findings = results.study, results.findings()
    console.print(study.heading, style="bold", markup=False)
    console.print(f"{finding(findings)}\n", highlight=False, markup=False)
    console.print(f"{design(study)}.", markup=False)
    console.print(f"{opening(conventions(study))}.\n", markup=False)
    print_table(build.means(findings), console)
    for note in captions.few_models(findings):
        console.print(f"{note}\n", style="yellow", highlight=False, markup=False)
    if not brief:
        _print_tests(findings, console)
        _print_verdicts(findings, console)
        _print_courses(findings, console)
    _print_failures(results, console)


def _print_tests(findings: Findings, console: Console) -> None:
    for name, table in build.tests(findings).items():
        for note in build.missing_tests({name: table}):
            console.print(f"{note}\n", markup=False)
        if isinstance(table, Table):
            print_table(table, console)


def _print_datasets(results: DataResults, console: Console, brief: bool) -> None:
    """Print the finding and the means of data sets and, unless brief, who wins."""
    study = results.study
    findings = results.data_findings()
    console.print(study.heading, style="bold", markup=False)
    console.print(f"{data_finding(findings)}\n", highlight=False, markup=False)
    console.print(f"{data_design(study)}.", markup=False)
    console.print(f"{opening(conventions(study))}.\n", markup=False)
    for table in dataset_tables(results):
        print_table(table, console)
    if not brief and len(findings.learners) > 1 and len(findings.datasets) > 1:
        print_table(build_data.standings(findings), console)
    for sentence in [] if brief else data_statements(findings, 0, 0):
        console.print(f"  {sentence}", highlight=False, markup=False, soft_wrap=True)
    for first, second in [] if brief else measure_pairs(results.measures):
        if len(results.treatments) > 1:
            found = results.reversals(first, second, examples=False)
            labels = (results.info(first).label, results.info(second).label)
            text = f"  {reversal_sentence(found, labels)}"
            console.print(text, highlight=False, markup=False, soft_wrap=True)
    for name, notes in results.manifest["notes"].items():
        for note in notes:
            console.print(f"{name}: {note}", style="yellow", markup=False)
    _print_troubles(results, console)


def _print_verdicts(findings: Findings, console: Console) -> None:
    if not (found := verdicts(findings)):
        return
    what = findings.info.unit or findings.info.label
    console.print(f"Who beats whom (differences in {what})", style="bold", markup=False)
    for size, sentences in found.items():
        for index, sentence in enumerate(sentences):
            lead = f"{size:>8,} rows: " if index == 0 else " " * 15
            console.print(f"{lead}{sentence}", highlight=False, markup=False, soft_wrap=True)
    named = bool(findings.standings)  # below the table of means
    method = "By the paired tests named above" if named else opening(pair_method(findings))
    first = f"numbers are in favour of the {findings.design.kind.treatment} named first."
    console.print(f"{method}; {first}\n", style="dim")


def _print_courses(findings: Findings, console: Console) -> None:
    if not findings.courses:
        return
    console.print("[bold]Who overtakes whom[/bold]")
    if (many := len(findings.design.learners)) > MAX_COMPARED:
        changes = sum(len(course.changes) for course in findings.courses)
        kind = findings.design.kind
        ahead = f"{kind.treatment} ahead between {many} {kind.name}"
        console.print(f"  {changes} changes of the {ahead}: see thresholds.csv.\n", highlight=False)
        return
    for sentence in crossings.course_sentences(findings):
        console.print(f"  {sentence}", highlight=False, markup=False, soft_wrap=True)
    notes = (crossings.method(findings, alone=False), crossings.added_sizes(findings))
    text = " ".join(part for part in notes if part)
    console.print(f"{text}\n", style="dim", highlight=False, markup=False)


def _print_troubles(results: Results, console: Console) -> None:
    manifest, lines = results.manifest, []
    if manifest["failures"]:
        where = results.directory / FAILURES
        lines.append(f"{manifest['failures']} of {manifest['cells']} cells failed; see {where}.")
    warned = list(manifest["warnings"].items())[:_MAX_WARNINGS]
    lines += [f"warned in {counted(count, 'cell')}, {warning}" for warning, count in warned]
    for line in lines:
        console.print(line, style="yellow", markup=False)


def _print_failures(results: ModelResults, console: Console) -> None:
    _print_troubles(results, console)
    lost = {name: len(results.findings(name).left_out) for name in results.measures[1:]}
    lines = [
        f"{counted(number, 'model')} {'lacks' if number == 1 else 'lack'} a finite {name} in some "
        "cell; see left_out.csv"
        for name, number in lost.items()
        if number
    ]
    for line in lines:
        console.print(line, style="yellow", markup=False)
