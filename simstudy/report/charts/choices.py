"""Measures: how often they find the better of two learners, and the test rows they need."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from simstudy.analysis.models.findings import ModelFindings
from simstudy.report.charts import spec
from simstudy.report.charts.spec import Axis, Chart, Line, Marks, Rule, Text, drawable
from simstudy.report.prose.numbers import brief, number, percent
from simstudy.report.prose.phrases import axis_label

Row = Mapping[str, Any]  # of the table of rows needed


def choices(findings: ModelFindings, names: Sequence[str]) -> Chart:
    """The means of measures, by their names; those that are best at some size are black."""
    sizes, info, layers = findings.design.sizes, findings.info, list[spec.Layer]()
    write = percent if info.share else number
    best = {standing.leader for standing in findings.standings}
    labels = findings.design.learners
    for place in sorted(range(len(labels)), key=lambda place: labels[place] in best):
        means, leads = findings.means_of(labels[place]), labels[place] in best
        heights = [mean.mean for mean in means]
        tips = [
            f"{names[place]}, {mean.size:,} rows: {write(mean.mean)} "
            f"[{write(mean.lower)}, {write(mean.upper)}]"
            for mean in means
        ]
        kind, mark = ("best", "ink") if leads else ("rest", "grey")
        layers.append(Line(sizes, heights, kind, brief(names[place], 21), treatment=place))
        areas = [0.5] * len(tips)
        layers.append(Marks(sizes, heights, tips, mark, areas, form=0, treatment=place))
    low, high = spec.reach(mean.mean for mean in findings.means)
    marks = [(tick, percent(tick, 0)) for tick in spec.steps(low, high, 6)] if info.share else []
    words, x = findings.design.words, spec.sizes_axis(sizes, f"{findings.design.words.dose} rows")
    title = f"{info.label} against {words.size}"
    ends = [
        f"{name} {write(findings.means_of(label)[-1].mean)}"
        for name, label in zip(names, labels, strict=True)
    ]
    text = f"At {sizes[-1]:,} rows: {', '.join(ends)}."
    y = Axis(axis_label(info), low, high, marks=tuple(marks))
    return Chart("", title, text, x, y, tuple(layers), "plain")


def needed(
    rows: Sequence[Row], texts: Sequence[str], names: Sequence[str], sizes: Sequence[int]
) -> Chart:
    """The rows that measures need to be as good as the best one at a size: estimate and bracket."""
    x = spec.sizes_axis(sizes, "test rows needed")
    order = sorted(range(len(rows)), key=lambda i: (_middle(rows[i]), rows[i]["lower"]))
    layers: list[spec.Layer] = [Rule(rows[0]["at"], upright=True, kind="promise")]
    for row, place in enumerate(order):
        each, tip = rows[place], f"{names[place]}: {texts[place]}"
        low, high = x.inside(each["lower"]), x.inside(each["upper"])
        if low > x.low or high < x.high:  # some size is decided
            layers.append(Line([low, high], [row, row], "whisker", treatment=place))
        layers += [Marks([each["rows"]], [row], [tip], "ink", form=0, treatment=place)] * drawable(
            each["rows"]
        )
        layers.append(Text(x.high, row, f" {texts[place]}", 1, "note", treatment=place))
    labels = [brief(names[place], 22) for place in order]
    title = f"test rows needed to be as good as the best measure at {rows[0]['at']:,} rows"
    text = "; ".join(f"{names[place]}: {texts[place]}" for place in order)
    return Chart("", title, text, x, spec.rows_axis(labels), tuple(layers), "plain")


def _middle(row: Row) -> float:
    """The rows needed, or between which sizes they are; infinite if no size is decided."""
    if drawable(row["rows"]):
        return float(row["rows"])
    return math.inf if math.isinf(row["upper"]) else float(row["upper"])
