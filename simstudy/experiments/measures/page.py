"""The page of a comparison of measures, with tables of their choices between learners."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from types import MappingProxyType
from typing import Any

import pandas as pd

from simstudy.analysis.models.findings import ModelFindings
from simstudy.experiments.comparison_page import ComparisonPage
from simstudy.experiments.measures.results import MeasureResults, written_name, written_names
from simstudy.experiments.page import Section
from simstudy.measures.base import MeasureInfo
from simstudy.report.charts.choices import choices, needed, needed_text
from simstudy.report.charts.spec import Chart
from simstudy.report.prose.numbers import NONE, percent, percentages, rows
from simstudy.report.prose.phrases import MAX_NAMED, level, listed, opening, with_unit
from simstudy.report.tables.table import Table, TableCell, make_table, words
from simstudy.study.study import Study
from simstudy.texts import counted

_ESTIMATES = {"kl_divergence": "log_loss"}  # whose expectation a target is, if not its own


class MeasuresPage(ComparisonPage[MeasureResults]):
    """Which measure finds the better of two learners, and from how many test rows."""

    printed = MappingProxyType({"choices": slice(1), "rows_needed": slice(1, 2)})

    def asks(self, study: Study, info: MeasureInfo) -> str:
        """Ask which measure finds the better learner."""
        labels, sizes = written_names(study.measured), study.doses
        which = listed(labels) if len(labels) <= MAX_NAMED + 1 else f"{len(labels)} measures"
        rows = f"{sizes[0]:,} to {sizes[-1]:,}" if len(sizes) > 1 else f"{sizes[0]:,}"
        return (
            f"which of {which} finds the better of two learners, by {info.label}, from {rows} test "
            "rows?"
        )

    def aims(self, study: Study) -> str:
        """Return what is compared, and by what."""
        several = len(study.doses) > 1
        more = ", and to see how that changes with the number of test rows" * several
        return (
            f"To compare {counted(len(study.labels), 'measure')} by how often each prefers the "
            f"truly better of two learners fitted to the same rows{more}."
        )

    def estimands(self, study: Study, info: MeasureInfo) -> str:
        """Return the shares of right choices and the losses."""
        return (
            f"For each measure and test size: the mean, over the models of the family, of its "
            f"{with_unit(info)}: over all pairs of learners and {study.data.repeats} test sets, "
            "the share in which it prefers the learner that is better by the target. A tie of the "
            "measure counts half; pairs tied by the target are left out. The loss is the mean "
            "shortfall of the preferred learner in the target. For each pair of measures and test "
            "size: the mean paired difference."
        )

    def evaluated(self, study: Study) -> str:
        """Return the test sets."""
        doses = ", ".join(f"{size:,}" for size in study.doses)
        return f"{study.data.repeats} test sets of {doses} rows each; targets exact"

    def test_data(self, study: Study) -> str:
        """Return how test sets are drawn."""
        sizes = ", ".join(f"{size:,}" for size in study.doses)
        return (
            f"From each model {study.data.repeats} sets of each size ({sizes} rows), the same for "
            "all measures; smaller sets are the first rows of larger ones. Targets are exact "
            "expectations over the joint distribution."
        )

    def finding(self, results: MeasureResults, findings: ModelFindings) -> str:
        """Return which measure finds the better learner, and which need more rows for as much."""
        text, needed = super().finding(results, findings), results.rows_needed(findings.measure)
        least = dict(zip(needed["learner"], needed["lower"], strict=True))
        most = max(least.values())
        slowest = [name for name, lower in least.items() if lower == most > results.reference]
        if not slowest:
            return text
        best = needed.loc[needed["note"] == "the reference", "learner"].iloc[0]
        verb = "needs" if len(slowest) == 1 else "need"
        as_good = f"To be as good as {best} with {results.reference:,} rows"
        return f"{text} {as_good}, {listed(slowest)} {verb} more than {rows(round(most))}."

    def charts(
        self, results: MeasureResults, findings: ModelFindings, narrow: bool = False
    ) -> tuple[Chart, ...]:
        """Return choices against test rows, and the rows needed."""
        return choices(findings, narrow), needed(results, findings, narrow)

    def caption(self, results: MeasureResults, findings: ModelFindings) -> str:
        """Return what they show."""
        at = f"{results.reference:,} test rows"
        right = " (how often a measure prefers the truly better of two learners; a tie counts half)"
        right *= findings.info.share
        return (
            f"{opening(findings.info.label)}{right} against test rows; black: measures "
            "with the best mean at some size. Below: with how many test rows each measure "
            f"is as good as the best one with {at} (upright line). Bars: where "
            "tests decide, from the last size at which it is worse to the first at which it is "
            "better, or the interval of the estimate (dot) where sizes are close enough. “More "
            "than”: the last size at which it is worse; at no "
            "larger one is it shown to be better."
        )

    def view(
        self, results: MeasureResults, findings: ModelFindings, index: int
    ) -> dict[str, object]:
        """Return the same as of all models, and which measures the target favours."""
        target = results.column(findings.measure).measure
        same, compared = _ESTIMATES.get(target, target), results.study.measured
        note = f"The target favours {written_name(same)} and similar measures by construction: "
        whose = f"the expectation of {written_name(same)}"
        note += f"{whose} is the target{' plus a constant' * (same != target)}."
        note *= target in _ESTIMATES or same in [measure.name for measure in compared]
        return super().view(results, findings, index) | {"others": note}

    def files(self, results: MeasureResults) -> dict[str, pd.DataFrame]:
        """Return the tables of the analyses that pages show, with labels again."""
        shown = results.shown
        labels = dict(zip(shown.treatments, results.treatments, strict=True))
        tables = super().files(shown)
        for file, table in tables.items():
            words = table.select_dtypes(exclude="number")
            tables[file] = table.assign(**words.map(lambda text: labels.get(text, text)))
        return tables

    def own_sections(self, results: MeasureResults) -> list[Section]:
        """Return how many rows measures need, and what they contradict."""
        tables = [_needed_table(results), _against_truth(results), _contradictions(results)]
        return [Section("choices", "Choices between learners", tables, "tables")]


def _needed_table(results: MeasureResults) -> Table:
    """How many test rows each measure needs to be as good as the best one, by each target."""
    at, study = results.reference, results.study
    targets = _targets(study)
    needed = {name: results.rows_needed(f"right_{label}") for label, name in targets.items()}
    every = pd.concat(needed, names=["target"]).reset_index("target")
    cells = {(row["learner"], row["target"]): _needed(row) for row in every.to_dict("records")}
    confidence, m = level(study.analysis.confidence), int(every["m"].iloc[0])
    caption = (
        f"By the share of right choices, for each target. Best: the measure of best mean at {at:,} "
        f"rows. Intervals have joint {confidence} confidence with the tests between measures, by "
        f"paired t tests, Bonferroni-adjusted for m = {m}. Where sizes are too far apart for an "
        "estimate, the interval runs from the last size at which a measure is worse than the best "
        f"one at {at:,} rows to the first at which it is better. A dash: no size is decided."
    )
    title = f"Test rows needed to be as good as the best measure at {at:,} rows"
    return _table(results, "rows_needed", title, [*targets.values()], cells, caption, every)


def _targets(study: Study) -> dict[str, str]:
    """What the targets are called on pages, by their labels."""
    labels = [target.label for target in study.targets]
    return dict(zip(labels, written_names(study.targets), strict=True))


def _needed(row: Mapping[Hashable, Any]) -> TableCell:
    """The rows that a measure needs, and their interval."""
    return TableCell(*needed_text(row), bold=row["note"] == "the reference")


def _against_truth(results: MeasureResults) -> Table:
    """How often each measure prefers the worse learner, by each target."""
    at, shares = results.reference, results.against_truth()
    targets, cells = _targets(results.study), {}
    for row in shares[shares["size"] == at].to_dict("records"):
        more = f"{percentages(row['lower'], row['upper'])} ties {percent(row['tied'])}"
        place = row["measure"], targets[row["target"]]
        cells[place] = TableCell(percent(row["wrong"]), more.strip())
    left_out = shares.groupby("target")["left_out"].first()
    pairs = int(shares["pairs"].max())
    ties = "; ".join(f"{name} {int(left_out[label]):,}" for label, name in targets.items())
    caption = (
        f"Shares of choices at {at:,} test rows, with {_intervals(results)}; ties: how often the "
        f"measure prefers neither. Pairs tied by a target are left out: of {pairs:,} pairs in all "
        f"models, {ties}."
    )
    title = f"How often a measure prefers the truly worse learner, at {at:,} rows"
    return _table(results, "against_truth", title, [*targets.values()], cells, caption, shares)


def _intervals(results: MeasureResults) -> str:
    confidence = level(results.study.analysis.confidence)
    return f"unadjusted {confidence} Clopper–Pearson intervals between models"


def _contradictions(results: MeasureResults) -> Table:
    """How often two measures prefer different learners."""
    at, shares, cells = results.reference, results.contradictions(), {}
    for row in shares[shares["size"] == at].to_dict("records"):
        cell = TableCell(percent(row["opposite"]), percentages(row["lower"], row["upper"]))
        cells[row["first"], row["second"]] = cells[row["second"], row["first"]] = cell
    title = f"How often two measures prefer different learners, at {at:,} rows"
    caption = (
        f"Shares of all choices, with {_intervals(results)}. If either measure prefers neither "
        "learner, they do not contradict each other."
    )
    return _table(
        results, "contradictions", title, results.treatments, cells, caption, shares, True
    )


def _table(
    results: MeasureResults,
    name: str,
    title: str,
    columns: list[str],
    cells: Mapping[tuple[str, str], TableCell],
    caption: str,
    data: pd.DataFrame,
    cut: bool = False,
) -> Table:
    """A table with a line for each measure."""
    lines = [
        [words(label, "", place), *(cells.get((label, at), TableCell(NONE)) for at in columns)]
        for place, label in enumerate(results.treatments)
    ]
    heads = ["measure", *columns]
    return make_table(name, title, heads, lines, caption=caption, data=data, cut=cut)
