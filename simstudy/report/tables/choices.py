"""The tables of the choices that measures make between learners."""

from __future__ import annotations

import math

from simstudy.report.prose.numbers import NONE, rows
from simstudy.report.prose.phrases import level
from simstudy.report.tables.table import Cell, Table, make_table, words
from simstudy.results.results import Results


def choice_tables(results: Results) -> list[Table]:
    """How many rows measures need, which contradict the truth, and which each other."""
    if results.study.compare != "measures":
        return []
    return [needed(results), against_truth(results), contradictions(results)]


def needed(results: Results) -> Table:
    """How many test rows each measure needs to be as good as the best one at some rows."""
    at, info = results.reference, results.info()
    found = results.rows_needed()
    best = found.loc[found["note"] == "the reference", "learner"].iloc[0]
    lines: list[list[str | Cell]] = []
    for index, row in enumerate(found.to_dict("records")):
        exact = not math.isnan(row["rows"])
        own = row["learner"] == best
        estimate = rows(round(row["rows"])) if exact else NONE
        lines.append(
            [
                words(row["learner"], "", index),
                Cell(estimate),
                Cell(NONE if own else between(row["lower"], row["upper"])),
                Cell(f"{row['efficiency']:.2f}" if exact else NONE),
                Cell(row["note"], kind="t"),
            ]
        )
    title = f"Test rows needed to be as good as {best} at {at:,} rows"
    caption = (
        f"By {info.label}. {best} has the best mean at {at:,} rows. Intervals: "
        f"{level(results.study.analysis.confidence)} confidence for all of them together, by "
        f"paired t tests, Bonferroni-adjusted for m = {int(found['m'].iloc[0])}; without an "
        "estimate, from the last size at which a measure is worse than that to the first at which "
        "it is better. "
        f"Efficiency: {at:,} over the rows needed."
    )
    heads: list[str | Cell] = ["measure", "rows", "interval", "efficiency", words("note")]
    return make_table("rows_needed", title, heads, lines, caption=caption, data=found)


def between(low: float, high: float) -> str:
    """Write an interval of numbers of rows, open where there is no limit."""
    if low <= 0 and math.isinf(high):
        return NONE
    if low <= 0:
        return f"up to {rows(round(high))}"
    if math.isinf(high):
        return f"above {rows(round(low))}"
    return f"{rows(round(low))} to {rows(round(high))}"


def against_truth(results: Results) -> Table:
    """How often each measure prefers the worse learner, by each target."""
    at, found = results.reference, results.against_truth()
    here = found[found["size"] == at]
    targets = [*dict.fromkeys(here["target"])]
    lines: list[list[str | Cell]] = []
    for index, measure in enumerate(results.learners):
        line: list[str | Cell] = [words(measure, "", index)]
        for target in targets:
            row = here[(here["target"] == target) & (here["measure"] == measure)].iloc[0]
            tied = f"ties {row['tied']:.1%}"
            line.append(Cell(f"{row['wrong']:.1%} ± {row['mcse']:.1%}", tied))
        lines.append(line)
    left_out = {
        target: int(found.loc[found["target"] == target, "left_out"].iloc[0]) for target in targets
    }
    pairs = int(found["pairs"].max())
    ties = "; ".join(f"{target} {number:,}" for target, number in left_out.items())
    caption = (
        f"Shares of choices at {at:,} test rows, ± Monte-Carlo standard error; below, how often "
        "the measure prefers neither. Pairs of learners that a target ties are left out: of "
        f"{pairs:,} pairs in all models, {ties}."
    )
    title = f"How often a measure prefers the truly worse learner, at {at:,} rows"
    return make_table(
        "against_truth", title, ["measure", *targets], lines, caption=caption, data=found
    )


def contradictions(results: Results) -> Table:
    """How often two measures prefer different learners."""
    at, found = results.reference, results.contradictions()
    here = found[found["size"] == at]
    shares = {
        frozenset((row["first"], row["second"])): row["opposite"] for row in here.to_dict("records")
    }
    labels = results.learners
    lines: list[list[str | Cell]] = []
    for index, one in enumerate(labels):
        cells = [
            Cell(NONE if one == other else f"{shares[frozenset((one, other))]:.1%}")
            for other in labels
        ]
        lines.append([words(one, "", index), *cells])
    title = f"How often two measures prefer different learners, at {at:,} rows"
    caption = "Shares of all choices; where one of the two prefers neither, they do not contradict."
    heads = ["measure", *labels]
    return make_table("contradictions", title, heads, lines, caption=caption, data=found, cut=True)
