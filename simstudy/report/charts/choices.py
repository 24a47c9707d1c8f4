"""Measures: how often they find the better of two learners, and the test rows they need."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

from simstudy.analysis.models.findings import ModelFindings
from simstudy.experiments.measures.results import MeasureResults
from simstudy.report.charts import spec
from simstudy.report.charts.spec import Axis, Chart, Line, Marks, Rule, Text, drawable
from simstudy.report.prose.numbers import NONE, brief, number, percent, rows
from simstudy.report.prose.phrases import axis_label

_ROOM = (0.42, 1.1)  # for texts beside the rows needed, in the width of the sizes; if narrow


def choices(findings: ModelFindings, narrow: bool) -> Chart:
    """The means of measures; those with the best mean at some size are black.

    All lines have labels at their ends or, if narrow, the black ones alone.
    """
    sizes, info, layers = findings.design.sizes, findings.info, list[spec.Layer]()
    write, best = percent if info.share else number, {at.leader for at in findings.standings}
    low, high = spec.reach(mean.mean for mean in findings.means)
    ends: list[tuple[str, float, int]] = []
    for place, name in sorted(enumerate(findings.treatments), key=lambda each: each[1] in best):
        line, mark = ("best", "ink") if name in best else ("rest", "grey")
        means = findings.means_of(name)
        tips = [
            f"{name}, {m.size:,} rows: {write(m.mean)} [{write(m.lower)}, {write(m.upper)}]"
            for m in means
        ]
        heights, beside = [mean.mean for mean in means], brief(name, 28)
        layers.append(Line(sizes, heights, line, "" if narrow else beside, treatment=place))
        areas = [0.5] * len(tips)
        layers.append(Marks(sizes, heights, tips, mark, areas, form=0, treatment=place))
        ends += [(beside, heights[-1], place)] * (narrow and name in best)
    x = spec.sizes_axis(sizes, f"{findings.design.words.dose} rows")
    if drawn := [end for end in ends if drawable(end[1])]:
        moved = spec.spread([end[1] for end in drawn], 0.06 * (high - low), low, high)
        for (name, _, place), at in zip(drawn, moved or [end[1] for end in drawn], strict=True):
            layers.append(Text(x.high, at, name, 1, "name", treatment=place))
        x = replace(x, high=x.high * (x.high / x.low) ** 0.7)
    ticks = [(tick, percent(tick, 0)) for tick in spec.steps(low, high, 6)] if info.share else []
    y = Axis(axis_label(info), low, high, marks=tuple(ticks))
    title = f"{info.label} against {findings.design.words.size}"
    text = "; ".join(f"{mean.learner} {write(mean.mean)}" for mean in findings.means)
    return Chart("", title, text, x, y, tuple(layers), "plain")


def needed(results: MeasureResults, findings: ModelFindings, narrow: bool) -> Chart:
    """The test rows with which measures are as good as the best one at a size: by brackets."""
    each = results.rows_needed(findings.measure).to_dict("records")
    sizes, at = spec.sizes_axis(findings.design.sizes, "test rows needed"), results.reference
    layers: list[spec.Layer] = [Rule(at, upright=True, kind="promise")]
    order, tips = sorted(range(len(each)), key=lambda place: _place(each[place])), []
    for line, place in enumerate(order):
        row, (text, interval) = each[place], needed_text(each[place])
        text += f" ({interval})" * bool(interval)
        tips.append(f"{row['learner']}: {text}")
        low, high = max(row["lower"], sizes.low), min(row["upper"], sizes.high)
        if math.isfinite(row["upper"]) or row["lower"] > 0:  # tests decide at some size
            layers.append(Line([low, high], [line, line], "whisker", treatment=place))
        if drawable(row["rows"]):
            mark = Marks([row["rows"]], [line], tips[-1:], "ink", [1.4], form=0, treatment=place)
            layers.append(mark)
        layers.append(Text(sizes.high, line, f"\u00a0{text}", 1, "note", treatment=place))
    y = spec.rows_axis([brief(each[place]["learner"], 22 if narrow else 28) for place in order])
    x = replace(sizes, high=sizes.high * (sizes.high / sizes.low) ** _ROOM[narrow])
    heading = f"Test rows needed to be as good as the best with {at:,} rows"
    return Chart(heading, heading, "; ".join(tips), x, y, tuple(layers), "plain")


def _place(row: Mapping[Hashable, Any]) -> tuple[float, float]:
    """The order of measures: by the rows needed, else by the sizes between which they are."""
    return row["rows"] if drawable(row["rows"]) else row["upper"], row["lower"] or math.inf


def needed_text(row: Mapping[Hashable, Any]) -> tuple[str, str]:
    """The rows that a measure needs, and their interval."""
    if row["note"] == "the reference":
        return rows(int(row["at"])), "best"
    low, high = row["lower"], row["upper"]
    if math.isinf(high):
        interval = NONE if low <= 0 else f"more than {rows(round(low))}"
    else:
        interval = f"{rows(round(low))} to" if low > 0 else "up to"
        interval += f" {rows(round(high))}"
    return (interval, "") if math.isnan(row["rows"]) else (rows(round(row["rows"])), interval)
