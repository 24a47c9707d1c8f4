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

_ROOM = 0.42  # for texts beside the rows needed, in the width of the sizes


def choices(findings: ModelFindings) -> Chart:
    """The means of measures; those that have the best mean at some size are black."""
    results: MeasureResults = findings.results
    sizes, info, layers = findings.design.sizes, findings.info, list[spec.Layer]()
    write, best = percent if info.share else number, {at.leader for at in findings.standings}
    named = [*enumerate(zip(results.names, findings.treatments, strict=True))]
    texts = []
    for place, (name, label) in sorted(named, key=lambda each: each[1][1] in best):
        means, kinds = (
            findings.means_of(label),
            ("best", "ink") if label in best else ("rest", "grey"),
        )
        heights = [mean.mean for mean in means]
        limits = [f"[{write(mean.lower)}, {write(mean.upper)}]" for mean in means]
        each = zip(means, limits, strict=True)
        tips = [f"{name}, {m.size:,} rows: {write(m.mean)} {limit}" for m, limit in each]
        layers.append(Line(sizes, heights, kinds[0], brief(name, 21), treatment=place))
        areas = [0.5] * len(tips)
        layers.append(Marks(sizes, heights, tips, kinds[1], areas, form=0, treatment=place))
        texts.append(tips[-1])
    low, high = spec.reach(mean.mean for mean in findings.means)
    ticks = [(tick, percent(tick, 0)) for tick in spec.steps(low, high, 6)] if info.share else []
    x = spec.sizes_axis(sizes, f"{findings.design.words.dose} rows")
    y = Axis(axis_label(info), low, high, marks=tuple(ticks))
    title = f"{info.label} against {findings.design.words.size}"
    return Chart("", title, "; ".join(texts), x, y, tuple(layers), "plain")


def needed(findings: ModelFindings) -> Chart:
    """The test rows with which measures are as good as the best one at a size: by brackets."""
    results: MeasureResults = findings.results
    each = results.rows_needed(findings.measure).to_dict("records")
    sizes, at = spec.sizes_axis(findings.design.sizes, "test rows needed"), results.reference
    x = replace(sizes, high=sizes.high * (sizes.high / sizes.low) ** _ROOM)
    layers: list[spec.Layer] = [Rule(at, upright=True, kind="promise")]
    order, texts = sorted(range(len(each)), key=lambda place: _place(each[place])), []
    for line, place in enumerate(order):
        row, text = each[place], " ".join(needed_text(each[place]))
        low, high = max(row["lower"], sizes.low), min(row["upper"], sizes.high)
        if math.isfinite(row["upper"]) or row["lower"] > 0:  # tests decide at some size
            layers.append(Line([low, high], [line, line], "whisker", treatment=place))
        if drawable(row["rows"]):
            tip = [f"{results.names[place]}: {text}"]
            layers.append(Marks([row["rows"]], [line], tip, "ink", form=0, treatment=place))
        layers.append(Text(sizes.high, line, f" {text}", 1, "note", treatment=place))
        texts.append(f"{results.names[place]}: {text}")
    y = spec.rows_axis([brief(results.names[place], 22) for place in order])
    title = f"test rows needed to be as good as the best measure at {at:,} rows"
    return Chart("", title, "; ".join(texts), x, y, tuple(layers), "plain")


def _place(row: Mapping[Hashable, Any]) -> tuple[float, float]:
    """The order of measures: by the rows needed, else by the sizes between which they are."""
    decided = row["rows"] if drawable(row["rows"]) else row["upper"]
    return decided, row["lower"] or math.inf


def needed_text(row: Mapping[Hashable, Any]) -> tuple[str, str]:
    """The rows that a measure needs, and their interval."""
    if row["note"] == "the reference":
        return rows(int(row["at"])), "best"
    low, high = row["lower"], row["upper"]
    if math.isinf(high):
        interval = NONE if low <= 0 else f"above {rows(round(low))}"
    else:
        interval = f"{rows(round(low))} to" if low > 0 else "up to"
        interval += f" {rows(round(high))}"
    return (interval, "") if math.isnan(row["rows"]) else (rows(round(row["rows"])), interval)
