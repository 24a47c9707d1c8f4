"""Two learners against each other: paired differences, and who overtakes whom."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

from simstudy.analysis.models.findings import ModelFindings
from simstudy.analysis.models.thresholds import Course, Overtaking
from simstudy.report.charts import spec
from simstudy.report.charts.spec import Axis, Chart
from simstudy.report.prose.numbers import brief, signed
from simstudy.report.prose.pairwise import estimate, interval, overtaking

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


def changes_shown(courses: Sequence[Course], most: int) -> tuple[list[Overtaking], str]:
    """The changes of the learner ahead that there is room for, by size, and which these are."""
    every = [change for course in courses for change in course.changes]
    every.sort(key=lambda change: (_about(change), change.after))
    left = f"Shown: the first {most} of {len(every)} changes; the table has all."
    return every[:most], left * (len(every) > most)


def _about(change: Overtaking) -> float:
    """The estimated size of a change, or the middle of its bracket."""
    return change.crossing if change.estimated else math.sqrt(change.before * change.after)


def thresholds(changes: Sequence[Overtaking], findings: ModelFindings, letters: int = 11) -> Chart:
    """When one learner overtakes another: a row for each change, names of so many letters."""
    design, layers, labels = findings.design, list[spec.Layer](), list[str]()
    axis = spec.sizes_axis(design.sizes, f"{design.words.dose} rows", 0.08)
    for row, change in enumerate(changes):
        learner = design.learners.index(change.ahead)
        labels.append(f"{brief(change.ahead, letters)}\novertakes {brief(change.behind, letters)}")
        bracket, tip = [change.before, change.after], overtaking(change)
        layers.append(spec.Span(bracket, [row - 0.2] * 2, [row + 0.2] * 2, "bracket"))
        if change.estimated:
            ends, text = (
                [change.lower, change.upper],
                interval(change).strip("[]").replace(", ", "–"),
            )
            low, high = min(*bracket, *ends), max(*bracket, *ends)
            side = 1 if axis.share(high) < 0.85 else -1
            layers += [
                spec.Line(ends, [row, row], "estimate", learner=learner),
                spec.Marks([change.crossing], [row], [tip], learner=learner),
                spec.Text(change.crossing, row - 0.4, f"{change.crossing:,.0f}", kind="tick"),
                spec.Text(high if side > 0 else low, row, f"\u00a0{text}\u00a0", side),
            ]
    title = f"Who overtakes whom in {findings.info.label}"
    description = "; ".join(map(overtaking, changes))
    axes = axis, spec.rows_axis(labels)
    return Chart("", title, f"{description}.", *axes, tuple(layers), names=design.names)
