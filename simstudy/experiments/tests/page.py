"""The page of a comparison of tests."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

from simstudy.analysis.models.findings import ModelFindings
from simstudy.analysis.models.standings import Standing
from simstudy.experiments.comparison_page import ComparisonPage
from simstudy.experiments.page import TerminalLine
from simstudy.experiments.tests import GAP, LEVEL, POWER
from simstudy.experiments.tests.results import TestResults
from simstudy.measures.base import MeasureInfo
from simstudy.report.charts.levels import levels
from simstudy.report.charts.spec import Chart
from simstudy.report.prose.numbers import brief, number, percent
from simstudy.report.prose.phrases import all_sizes, grouped, intervals_of_means, listed
from simstudy.report.tables.findings import few_sizes
from simstudy.report.tables.table import Table, TableCell, by_size
from simstudy.study.study import Study
from simstudy.texts import counted

_MAX_JOINED = 3  # tests that are joined by "or"


class TestsPage(ComparisonPage[TestResults]):
    """How often tests reject, with and without a difference."""

    printed = MappingProxyType({"level_and_power": slice(None)})

    def asks(self, study: Study, info: MeasureInfo) -> str:
        """Ask how often tests reject."""
        return (
            f"how often does each of {len(study.labels)} tests reject where two learners differ, "
            f"and where they do not, with {all_sizes(study.doses)} rows available?"
        )

    def aims(self, study: Study) -> str:
        """Return what is compared, and by what."""
        return (
            f"To compare {counted(len(study.labels), 'test')} of two learners by how often each "
            "rejects: without a difference (type I error), and with a known one (power)."
        )

    def estimands(self, study: Study, info: MeasureInfo) -> str:
        """Return the rates of rejection."""
        return (
            "For each test and number of rows available: the share of data sets, of "
            f"{study.data.repeats} drawn from each model, on which it rejects at the 5% level. "
            "Type I error: two copies of a learner, each fitted to a random 80% of the training "
            "rows; or one classifier evaluated on the rows and on others drawn from the same "
            "classes (mirrored), so that both have the same exact performance. In neither null "
            "does a training set favour one of two learners in all splits at once, so these shares "
            "do not show that a test keeps its level between different learners. Power: two "
            "learners, where the test favours the one with the better exact value."
        )

    def evaluated(self, study: Study) -> str:
        """Return the data sets."""
        return f"{study.data.repeats} data sets of each size; differences exact"

    def training_data(self, study: Study) -> str:
        """Return how data sets are drawn."""
        sizes = ", ".join(f"{size:,}" for size in study.doses)
        return (
            f"From each model {study.data.repeats} data sets of each size ({sizes} rows), drawn "
            "independently. All tests compare the learners on the same data sets."
        )

    def shown(self, results: TestResults) -> list[int]:
        """Return the rates, power first: the exact difference is the same for all tests."""
        scores = results.measures
        rates = [place for place, score in enumerate(scores) if not score.startswith(f"{GAP}_")]
        return sorted(rates, key=lambda place: not scores[place].startswith(f"{POWER}_"))

    def finding(self, results: TestResults, findings: ModelFindings) -> str:
        """Return which tests keep their level, and which of these detect most."""
        if not results.rejections:
            return super().finding(results, findings)
        tests = {cell.test for cell in results.rejections}
        kept, learners = results.keeping, listed(results.learners, last="or")
        text = (
            f"On these models {len(kept)} of {len(tests)} tests are not shown to exceed "
            f"{percent(LEVEL, 0)} type I error (copies of {learners}; mirrored pairs)"
        )
        return f"{text}{': ' * bool(kept)}{'; '.join(map(brief, kept))}. {_detect(results)}".strip()

    def statements(self, results: TestResults, findings: ModelFindings) -> list[str]:
        """Return who beats whom, but not by rates of rejection, which alone are no merit."""
        return [] if results.rejections else super().statements(results, findings)

    def summary(self, results: TestResults) -> Iterator[Table | TerminalLine]:
        """Return type I error and power of each test: a low rate of rejection alone is no merit."""
        findings = results.findings()
        sizes, words = few_sizes(findings), findings.design.words
        if not results.rejections:
            yield from super().summary(results)
            return
        cells = {
            (each.test, each.size): TableCell(
                number(each.error.mean, 3), f"/ {number(each.power.mean, 3)}", dagger=each.exceeds
            )
            for each in results.rejections
        }
        title = f"Type I error / {results.detecting}, by {words.dose} rows"
        caption = "Type I error: the largest over the null hypotheses; †: shown to exceed "
        caption += f"{percent(LEVEL, 0)} under one of them."
        rates, labels = findings.intervals, dict.fromkeys(test for test, _ in cells)
        yield by_size("rates", title, words, [*labels], sizes, cells, caption=caption, data=rates)

    def thumbnail(self, results: TestResults, findings: ModelFindings) -> Chart:
        """Return the chart whose labels need little room."""
        drawn = next(iter(self.charts(results, findings, narrow=True)), None)
        return drawn or super().thumbnail(results, findings)

    def charts(
        self, results: TestResults, findings: ModelFindings, narrow: bool = False
    ) -> tuple[Chart, ...]:
        """Return type I error against power."""
        room = (42.0, 17.0) if narrow else (100.0, 25.0)
        shown = results.rejections
        return (levels(shown, results.leading, LEVEL, room),) if shown else ()

    def caption(self, results: TestResults, findings: ModelFindings) -> str:
        """Return what it shows."""
        *fewer, most = results.doses
        small = f"Small: {all_sizes(fewer)} rows; large: {most:,}. " * bool(fewer)
        most_rows = f" Black: of the tests not shown to exceed {percent(LEVEL, 0)}, those that "
        most_rows += f"detect most with {most:,} rows."
        black = most_rows * bool(results.leading)
        return (
            f"How often each test rejects at {percent(LEVEL, 0)}. Up: {results.detecting}, in "
            "favour of the better one. Across: with no true difference, the largest rate over the "
            "null hypotheses, hence a little too high. These compare two copies of a learner, each "
            "fitted to its own 80% of the rows; or one classifier on the rows and on others of the "
            f"same classes (mirrored pairs). {small}Hollow: shown to reject too often under one of "
            "them. Bars: "
            f"{intervals_of_means(findings)} of each rate. Shaded: rates below the level; a full "
            f"mark beyond it is not shown to exceed it.{black}"
        )


def _detect(results: TestResults) -> str:
    """Which of the tests that keep their level detect most with how many rows."""
    if len(results.keeping) < 2:
        return ""
    groups = grouped((_who_detects(at), at.size) for at in results.most_powerful)
    clauses = [f"with {all_sizes(sizes)} rows {text}" for text, sizes in groups.items()]
    joined = any(" or " in text for text in groups)
    clauses += ["tests joined by “or” do not differ significantly"] * joined
    return f"Of these {len(results.keeping)}, {'; '.join(clauses)} ({results.detecting})."


def _who_detects(standing: Standing) -> str:
    """Which tests detect most or, if that may be many, which detect less."""
    if not standing.beaten:
        return "no two of these differ significantly in power"
    if len(standing.contenders) <= _MAX_JOINED:
        return f"{' or '.join(map(brief, standing.contenders))} detects most"
    worse = [brief(test) for test in standing.ranked if test in standing.beaten]
    who = f"{' and '.join(worse)} detect{'s' * (len(worse) == 1)}"
    best = f"{brief(standing.leader)} has the greatest power"
    return f"{best}, and only {who} significantly less than another of them"
