"""Scores of splits and predicted scores against the number of rows."""

from __future__ import annotations

from simstudy.analysis.outlook import Outlook
from simstudy.report.charts import spec
from simstudy.report.charts.spec import Axis, Chart
from simstudy.report.prose.numbers import number
from simstudy.report.prose.phrases import axis_label


def outlook_chart(one: Outlook) -> Chart:
    """Draw the learning curves of the table, and predicted scores with their intervals."""
    real, sizes = one.present.sizes, one.sizes
    course = one.present.scores.mean(axis=0)
    layers: list[spec.Layer] = [spec.Rule(float(one.rows), upright=True)]
    if one.info.zero:
        layers.append(spec.Rule(0.0, one.info.zero))
    asides = spec.dodges(sizes, len(one.learners))
    heights, ends = [], []
    if one.ceiling_holds:
        level = [one.ceiling.value] * len(sizes)
        layers.append(spec.Line(sizes, level, "ceiling", "ceiling"))
        heights += level
    for place, label in enumerate(one.learners):
        measured = course[:, place].tolist()
        found = [one.predicted(place, size) for size in sizes]
        means, lows = [f.value for f in found], [f.low for f in found]
        highs = [f.high for f in found]
        x = [size * asides[place] for size in sizes]
        layers += [
            spec.Line(real, measured, learner=place),
            spec.Span(x, lows, highs, learner=place),
            spec.Line([real[-1], *x], [measured[-1], *means], "limit", label, learner=place),
        ]
        tips = [
            f"{label}, {n:,} rows: {number(score)} measured"
            for n, score in zip(real, measured, strict=True)
        ]
        tips += [
            f"{label}, {n:,} rows: {number(f.value)} [{number(f.low)}, {number(f.high)}] predicted"
            for n, f in zip(sizes, found, strict=True)
        ]
        layers.append(spec.Marks([*real, *x], [*measured, *means], tips, learner=place))
        heights += [*measured, *means]
        ends += [*lows, *highs]
    (low, high), cut = spec.cut_reach(heights, ends, [0.0] * bool(one.info.zero))
    described = "; ".join(
        f"{label} {number(float(course[-1, place]))} now, "
        f"{number(one.predicted(place, sizes[-1]).value)} predicted with {sizes[-1]:,} rows"
        for place, label in enumerate(one.learners)
    )
    return Chart(
        "",
        f"{one.info.label} against training rows, measured and predicted",
        f"{axis_label(one.info)}: {described}.",
        spec.sizes_axis(sorted({*real, *sizes}), "training rows"),
        Axis(axis_label(one.info), low, high),
        tuple(layers),
        notes=("Bars that reach the edge are longer than they are drawn.",) * cut,
    )
