"""Two learners against each other: paired differences, and who overtakes whom."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from simstudy.analysis.findings import ModelFindings
from simstudy.analysis.thresholds import Course, Overtaking
from simstudy.report.charts import spec
from simstudy.report.charts.spec import Axis, Chart
from simstudy.report.prose.crossings import estimate
from simstudy.report.prose.numbers import signed

MAX_PAIRS = 15  # more make no readable figure
_CUT = "Bands that reach the edge are wider than they are drawn."


def all_pairs(findings: ModelFindings) -> list[tuple[str, str]]:
    """Every two learners."""
    return list(itertools.combinations(findings.design.learners, 2))


def shown_pairs(findings: ModelFindings) -> list[tuple[str, str]]:
    """The pairs that get a panel: all, or others with the best learner at the largest size."""
    pairs, learners = all_pairs(findings), findings.design.learners
    if len(pairs) <= MAX_PAIRS:
        return pairs
    best = findings.ranked(findings.design.sizes[-1])[0]
    return [(other, best) for other in learners if other != best][:MAX_PAIRS]


def differences(
    findings: ModelFindings, chosen: Sequence[tuple[str, str]], crossings: bool = True
) -> list[Chart]:
    """The differences of some pairs, on one vertical scale."""
    charts = [difference(findings, *pair, crossings) for pair in chosen]
    layers = [layer for chart in charts for layer in chart.layers]
    middles = [v for one in layers if isinstance(one, spec.Line) for v in one.y]
    bands = [layer for layer in layers if isinstance(layer, spec.Span)]
    ends = [limit for band in bands for limit in (*band.low, *band.high)]
    (low, high), cut = spec.cut_reach([0.0, *middles], ends)
    return [
        replace(chart, y=replace(chart.y, low=low, high=high), notes=(_CUT,) * cut)
        for chart in charts
    ]


def difference(findings: ModelFindings, first: str, second: str, crossings: bool = True) -> Chart:
    """How far the second learner is ahead against training size, with its band and crossings."""
    sizes, unit = findings.design.sizes, findings.info.unit
    curve = findings.curve(first, second)
    tested = curve[curve["lower"].notna()]
    columns = ("size", "difference", "lower", "upper")
    x, middle, low, high = (tested[key].tolist() for key in columns)
    ends, cut = spec.cut_reach([0.0, *middle], low + high)
    tips = [
        f"{second} over {first} at {row['size']:,.0f} rows: {signed(row['difference'])} "
        f"[{signed(row['lower'])}, {signed(row['upper'])}] {unit}".rstrip()
        for row in tested.to_dict("records")
    ]
    layers: list[spec.Layer] = [
        spec.Span(x, low, high, "band"),
        spec.Rule(0.0, kind="base"),
        spec.Line(x, middle),
        spec.Marks(x, middle, tips, "dot"),
    ]
    description = f"{second} over {first}."
    if x:
        description = (
            f"{second} over {first}: {signed(middle[0])} at {x[0]:,} rows and "
            f"{signed(middle[-1])} at {x[-1]:,}{f', in {unit}' * bool(unit)}."
        )
    for course in findings.courses if crossings else ():
        for change in course.changes:
            if change.estimated and {course.first, course.second} == {first, second}:
                layers += _crossing(change, 0.0, "interval")
                description += f" Crossing at about {change.crossing:,.0f} rows."
    return Chart(
        f"{second}\nvs {first}",
        f"{second} vs {first}",
        description,
        spec.sizes_axis(sizes, f"{findings.design.words.dose} rows"),
        Axis(f"difference ({unit})" if unit else "difference", *ends, signed=True),
        tuple(layers),
        kind="difference",
        learners=tuple(findings.design.learners.index(label) for label in (first, second)),
        notes=(_CUT,) * cut,
        absent="" if x else "not tested at any size",
    )


def _crossing(change: Overtaking, y: float, kind: str) -> list[spec.Layer]:
    """The estimate of a crossing with its interval."""
    tip = f"crossing at about {estimate(change)} rows"
    line = spec.Line([change.lower, change.upper], [y, y], kind)
    return [line, spec.Marks([change.crossing], [y], [tip], "crossing")]


class PairRow(NamedTuple):
    """A line of the overview: a change of the learner ahead, or a pair without one."""

    course: Course
    change: Overtaking | None

    @property
    def ahead(self) -> str | None:
        """The learner that overtakes, or the one ahead wherever one is."""
        return self.course.leader if self.change is None else self.change.ahead

    @property
    def label(self) -> str:
        """Whom the line is about."""
        if self.ahead is None:
            return f"{self.course.first}\nand {self.course.second}"
        verb = "overtakes" if self.change else "ahead of"
        return f"{self.ahead}\n{verb} {self.course.other(self.ahead)}"


def threshold_rows(courses: Sequence[Course], most: int, leader: str) -> tuple[list[PairRow], str]:
    """The lines that there is room for, by their first change, and which these are."""
    ordered = sorted(courses, key=lambda c: c.changes[0].after if c.changes else math.inf)
    every = [
        PairRow(course, change) for course in ordered for change in (course.changes or (None,))
    ]
    if len(every) <= most:
        return every, ""
    changing = [row for row in every if row.change]
    best = [row for row in every if leader in (row.course.first, row.course.second)]
    for kept, what in (
        (changing, "all in which one overtakes the other"),
        (best, f"those of {leader}, the best at the largest size"),
    ):
        if 0 < len(kept) <= most:
            return kept, f"Of {len(every)} lines {what}."
    return (changing or best)[:most], f"Of {len(every)} lines the first {most}."


def thresholds(rows: Sequence[PairRow], sizes: Sequence[int], label: str, measure: str) -> Chart:
    """Who overtakes whom, one line for each change or pair without one."""
    layers: list[spec.Layer] = []
    for place, row in enumerate(rows):
        (course, change), y = row, float(place)
        if row.ahead is None:
            words = "none shown" if course.analysed else "not analysed"
            layers.append(spec.Text(sizes[0], y, words, side=1))
            continue
        if change:
            layers.append(spec.Line([change.before, change.after], [y, y], "bracket"))
        for learner, kind in ((row.ahead, "dot"), (course.other(row.ahead), "behind")):
            at = course.ahead_at(learner)
            tips = [f"{learner} is ahead at {size:,.0f} rows" for size in at]
            layers.append(spec.Marks(at, [y] * len(at), tips, kind))
        if change and change.estimated:
            layers += _crossing(change, y, "estimate")
    labels = [row.label for row in rows]
    title, description = f"Who overtakes whom in {measure}", "; ".join(labels).replace("\n", " ")
    axes = spec.sizes_axis(sizes, label), spec.rows_axis(labels)
    return Chart("", title, f"{description}.", *axes, tuple(layers))
