"""Two learners against each other: paired differences, and who overtakes whom."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from simstudy.analysis.models.findings import ModelFindings
from simstudy.analysis.models.thresholds import Course, Overtaking
from simstudy.report.charts import spec
from simstudy.report.charts.spec import Axis, Chart
from simstudy.report.prose.numbers import signed
from simstudy.report.prose.pairwise import estimate

MAX_PAIRS = 15  # more make no readable figure
_CUT = "Bands that reach the edge are truncated."


def all_pairs(findings: ModelFindings) -> list[tuple[str, str]]:
    """Each pair of learners."""
    return list(itertools.combinations(findings.design.learners, 2))


def shown_pairs(findings: ModelFindings) -> list[tuple[str, str]]:
    """The pairs that get a panel: all, or others with the best learner at the largest size."""
    pairs, learners = all_pairs(findings), findings.design.learners
    if len(pairs) <= MAX_PAIRS:
        return pairs
    best = findings.ranked(findings.design.sizes[-1])[0]
    return [(label, best) for label in learners if label != best][:MAX_PAIRS]


def differences(
    findings: ModelFindings, chosen: Sequence[tuple[str, str]], crossings: bool = True
) -> list[Chart]:
    """The differences of some pairs, on one vertical scale."""
    charts = [difference(findings, *pair, crossings) for pair in chosen]
    layers = [layer for chart in charts for layer in chart.layers]
    middles = [v for layer in layers if isinstance(layer, spec.Line) for v in layer.y]
    bands = [layer for layer in layers if isinstance(layer, spec.Span)]
    ends = [limit for band in bands for limit in (*band.low, *band.high)]
    (low, high), cut = spec.cut_reach([0.0, *middles], ends)
    notes = (_CUT,) * cut
    return [replace(c, y=replace(c.y, low=low, high=high), notes=notes) for c in charts]


def difference(findings: ModelFindings, first: str, second: str, crossings: bool = True) -> Chart:
    """How far the second learner is ahead against training size, with its band and crossings."""
    sizes, unit = findings.design.sizes, findings.info.unit
    curve = findings.curve(first, second)
    tested = curve[curve["lower"].notna()]
    columns = [tested[key].tolist() for key in ("size", "difference", "lower", "upper")]
    x, middle, low, high = columns
    ends, cut = spec.cut_reach([0.0, *middle], low + high)
    tips = [
        f"{second} over {first} at {size:,.0f} rows: {signed(lead)} "
        f"[{signed(lower)}, {signed(upper)}] {unit}".rstrip()
        for size, lead, lower, upper in zip(*columns, strict=True)
    ]
    layers: list[spec.Layer] = [
        spec.Span(x, low, high, "band"),
        spec.Rule(0.0, kind="base"),
        spec.Line(x, middle),
        spec.Marks(x, middle, tips, "dot"),
    ]
    description = f"{second} over {first}"
    if x:
        description += f": {signed(middle[0])} at {x[0]:,} rows and {signed(middle[-1])} at "
        description += f"{x[-1]:,}" + f", in {unit}" * bool(unit)
    description += "."
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


# A line of the overview: a change of the learner ahead, or a pair without one.
PairRow: TypeAlias = tuple[Course, Overtaking | None]


def threshold_rows(courses: Sequence[Course], most: int, leader: str) -> tuple[list[PairRow], str]:
    """The rows that there is room for, ordered by their first change, and which these are."""
    ordered = sorted(courses, key=lambda c: c.changes[0].after if c.changes else math.inf)
    every: list[PairRow] = [(c, change) for c in ordered for change in (c.changes or (None,))]
    if len(every) <= most:
        return every, ""
    changing = [row for row in every if row[1]]
    best = [row for row in every if leader in (row[0].first, row[0].second)]
    of_all = f"of {len(every)} rows"
    if 0 < len(changing) <= most:
        return changing, f"Shown: the {len(changing)} {of_all} in which one overtakes the other."
    if 0 < len(best) <= most:
        return best, f"Shown: the {len(best)} {of_all} with {leader}, the best at the largest size."
    return (changing or best)[:most], f"Shown: the first {most} {of_all}."


def thresholds(rows: Sequence[PairRow], sizes: Sequence[int], label: str, measure: str) -> Chart:
    """Who overtakes whom, one line for each change or pair without one."""
    layers, labels = list[spec.Layer](), []
    for y, (course, change) in enumerate(rows):
        ahead = change.ahead if change else course.leader
        if ahead is None:
            words = "no significant difference" if course.analysed else "not analysed"
            layers.append(spec.Text(sizes[0], y, words, side=1))
            labels.append(f"{course.first}\nand {course.second}")
            continue
        behind, verb = course.opponent(ahead), "overtakes" if change else "ahead of"
        labels.append(f"{ahead}\n{verb} {behind}")
        if change:
            layers.append(spec.Line([change.before, change.after], [y, y], "bracket"))
        for learner, kind in ((ahead, "dot"), (behind, "behind")):
            at = course.ahead_at(learner)
            tips = [f"{learner} is ahead at {size:,.0f} rows" for size in at]
            layers.append(spec.Marks(at, [y] * len(at), tips, kind))
        if change and change.estimated:
            layers += _crossing(change, y, "estimate")
    title, description = f"Who overtakes whom in {measure}", "; ".join(labels).replace("\n", " ")
    axes = spec.sizes_axis(sizes, label), spec.rows_axis(labels)
    return Chart("", title, f"{description}.", *axes, tuple(layers))
