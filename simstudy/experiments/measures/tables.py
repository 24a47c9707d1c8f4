"""The tables of the choices that measures make between learners."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from simstudy.experiments.measures.results import MeasureResults
from simstudy.report.prose.numbers import NONE, percent, percentages, rows
from simstudy.report.prose.phrases import level
from simstudy.report.tables.table import Table, TableCell, make_table, words


def choice_tables(results: MeasureResults) -> list[Table]:
    """How many rows measures need, which contradict the truth, and which each other."""
    return [needed(results), against_truth(results), contradictions(results)]


def needed(results: MeasureResults) -> Table:
    """How many test rows each measure needs to be as good as the best one, by each target."""
    at, study = results.reference, results.study
    columns = {target.label: f"right_{target.label}" for target in study.targets}
    found = {target: results.rows_needed(column) for target, column in columns.items()}
    every = pd.concat(found, names=["target"]).reset_index("target")
    lines: list[list[str | TableCell]] = []
    for index, measure in enumerate(results.treatments):
        rows_of = every[every["learner"] == measure].set_index("target")
        cells = [_needed(rows_of.loc[target].to_dict()) for target in found]
        lines.append([words(measure, "", index), *cells])
    confidence, m = level(study.analysis.confidence), int(every["m"].iloc[0])
    caption = (
        f"By the share of right choices, for each target. Best: the measure of best mean at {at:,} "
        "rows. Below the estimate, or without one, an interval: "
        f"{confidence} confidence for all of these and the tests between measures together, by "
        f"paired t tests, Bonferroni-adjusted for m = {m}; where neighbouring sizes are too far "
        "apart for an estimate, from the last size at which a measure is worse than the best one "
        f"at {at:,} rows to the first at which it is better. A dash: no size is decided."
    )
    title = f"Test rows needed to be as good as the best measure at {at:,} rows"
    heads: list[str | TableCell] = ["measure", *found]
    return make_table("rows_needed", title, heads, lines, caption=caption, data=every)


def _needed(row: Mapping[Hashable, Any]) -> TableCell:
    """The rows that a measure needs, and their interval."""
    if row["note"] == "the reference":
        return TableCell(rows(int(row["at"])), "best", bold=True)
    interval = between(row["lower"], row["upper"])
    if math.isnan(row["rows"]):
        return TableCell(interval)
    return TableCell(rows(round(row["rows"])), interval)


def between(low: float, high: float) -> str:
    """Write an interval of numbers of rows, open where there is no limit."""
    if low <= 0 and math.isinf(high):
        return NONE
    if low <= 0:
        return f"up to {rows(round(high))}"
    if math.isinf(high):
        return f"above {rows(round(low))}"
    return f"{rows(round(low))} to {rows(round(high))}"


def against_truth(results: MeasureResults) -> Table:
    """How often each measure prefers the worse learner, by each target."""
    at, found = results.reference, results.against_truth()
    here = found[found["size"] == at]
    targets = [*dict.fromkeys(here["target"])]
    lines: list[list[str | TableCell]] = []
    for index, measure in enumerate(results.treatments):
        line: list[str | TableCell] = [words(measure, "", index)]
        for target in targets:
            row = here[(here["target"] == target) & (here["measure"] == measure)].iloc[0]
            more = f"{percentages(row['lower'], row['upper'])} ties {percent(row['tied'])}"
            line.append(TableCell(percent(row["wrong"]), more.strip()))
        lines.append(line)
    left_out = {
        target: int(found.loc[found["target"] == target, "left_out"].iloc[0]) for target in targets
    }
    pairs = int(found["pairs"].max())
    ties = "; ".join(f"{target} {number:,}" for target, number in left_out.items())
    caption = (
        f"Shares of choices at {at:,} test rows, with {_intervals(results)}; ties: how often the "
        "measure prefers neither. Pairs of learners that a target ties are left out: of "
        f"{pairs:,} pairs in all models, {ties}."
    )
    title = f"How often a measure prefers the truly worse learner, at {at:,} rows"
    return make_table(
        "against_truth", title, ["measure", *targets], lines, caption=caption, data=found
    )


def _intervals(results: MeasureResults) -> str:
    confidence = level(results.study.analysis.confidence)
    return f"unadjusted {confidence} Clopper–Pearson intervals between models"


def contradictions(results: MeasureResults) -> Table:
    """How often two measures prefer different learners."""
    at, found = results.reference, results.contradictions()
    here = found[found["size"] == at]
    shares = {
        frozenset((row["first"], row["second"])): TableCell(
            percent(row["opposite"]), percentages(row["lower"], row["upper"])
        )
        for row in here.to_dict("records")
    }
    labels = results.treatments
    lines: list[list[str | TableCell]] = []
    for index, one in enumerate(labels):
        cells = [
            TableCell(NONE) if one == other else shares[frozenset((one, other))] for other in labels
        ]
        lines.append([words(one, "", index), *cells])
    title = f"How often two measures prefer different learners, at {at:,} rows"
    caption = (
        f"Shares of all choices, with {_intervals(results)}; where one of the two prefers neither, "
        "they do not contradict."
    )
    heads = ["measure", *labels]
    return make_table("contradictions", title, heads, lines, caption=caption, data=found, cut=True)
