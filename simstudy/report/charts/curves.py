"""Lines against training size: learning curves, seconds, several studies side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import pandas as pd

from simstudy.analysis.findings import ModelFindings
from simstudy.experiments import shared_words
from simstudy.report.charts import spec
from simstudy.report.charts.spec import Axis, Chart, Floats, Panels, drawable
from simstudy.report.prose.captions import MAX_BARS
from simstudy.report.prose.numbers import brief, duration, number, signed
from simstudy.report.prose.phrases import axis_label

_MAX_NAMED = 5  # cells that are named as not drawn
_MAX_DESCRIBED = 12  # learners in a description
_MAX_ROWS = 6  # of panels, four side by side
_CUT = "Bars that reach the edge are longer than they are drawn."


class Series(NamedTuple):
    """The numbers of a learner by size, with the ends of their intervals."""

    learner: int
    label: str
    means: Floats
    low: Floats
    high: Floats


def learning_curves(findings: ModelFindings, learners: Sequence[str] | None = None) -> Chart:
    """Means against training size with their intervals, unless many, the ceiling and limits."""
    every = _means(findings, learners or findings.design.learners)
    return _curves(findings, every, every, bars=len(every) <= MAX_BARS)


def each_learner(findings: ModelFindings, learners: Sequence[str] | None = None) -> Panels:
    """A panel for each learner with its intervals, before all others; the best mean first."""
    shown = learners or findings.design.learners
    ranked = [one for one in findings.ranked(findings.design.sizes[-1]) if one in shown]
    every = _means(findings, ranked)
    charts = [_curves(findings, [one], every, heading=one.label) for one in every]
    return Panels(tuple(charts), across=4 if len(every) <= _MAX_ROWS * 4 else 6, shared=True)


def _curves(
    findings: ModelFindings,
    front: Sequence[Series],
    every: Sequence[Series],
    heading: str = "",
    bars: bool = True,
) -> Chart:
    """Some learners in front of every other, on axes that show them all."""
    sizes, info, ceiling = findings.design.sizes, findings.info, findings.ceiling
    limits = {one.learner: findings.limits.get(one.label, ()) for one in every if bars}
    also = [*ceiling, *(value for limit in limits.values() for value in limit)]
    y, cut = _vertical(every, axis_label(info), also, bool(info.zero), bars=bars)
    layers: list[spec.Layer] = []
    if info.zero:
        first, last = (min(abs(one.means[at]) for one in every) for at in (0, -1))
        layers.append(spec.Rule(0.0, "" if heading else info.zero, at_left=first > last))
    if any(map(drawable, ceiling)):
        layers.append(spec.Line(sizes, ceiling, "ceiling", "ceiling"))
    if len(front) < len(every):  # one line, broken between learners
        heights = [value for one in every for value in (*one.means, math.nan)]
        layers.append(spec.Line([*sizes, math.nan] * len(every), heights, "others"))
    layers += [
        spec.Line(sizes, limits[one.learner], "limit", learner=one.learner)
        for one in front
        if limits.get(one.learner)
    ]
    layers += _lines(front, sizes, number, info.unit, bars)
    kind = findings.design.words
    title, rows = f"{info.label} against {kind.size}", f"{kind.dose} rows"
    return Chart(
        heading,
        f"{heading}: {title}" if heading else title,
        f"Mean {axis_label(info)} {_described(front, sizes, rows, number)}",
        spec.sizes_axis(sizes, rows),
        y,
        tuple(layers),
        learners=tuple(one.learner for one in front) if heading else (),
        notes=(*[_CUT] * cut, *_not_drawn(findings)),
    )


def _means(findings: ModelFindings, labels: Sequence[str]) -> list[Series]:
    """The means of some learners."""
    found = []
    for label in labels:
        rows = findings.means_of(label)
        ends = [row.lower for row in rows], [row.upper for row in rows]
        place = findings.design.learners.index(label)
        found.append(Series(place, label, [row.mean for row in rows], *ends))
    return found


def _vertical(
    every: Sequence[Series],
    label: str,
    also: Floats,
    zero: bool,
    signs: bool = False,
    bars: bool = True,
) -> tuple[Axis, bool]:
    """The vertical axis that shows some series, and whether an interval is cut."""
    centres = [*also, *(value for one in every for value in one.means)]
    ends = [value for one in every if bars for value in (*one.low, *one.high)]
    (low, high), cut = spec.cut_reach(centres, ends, [0.0] * zero)
    return Axis(label, low, high, signed=signs), cut


def _lines(
    every: Sequence[Series],
    sizes: Sequence[int],
    write: Callable[[float], str],
    unit: str = "",
    bars: bool = True,
) -> list[spec.Layer]:
    """The line, the bars and the marks of each learner; side by side only if there are bars."""
    layers: list[spec.Layer] = []
    bars = bars and any(drawable(value) for one in every for value in one.low)
    asides = spec.dodges(sizes, len(every)) if bars else [1.0] * len(every)
    for aside, (learner, label, means, lows, highs) in zip(asides, every, strict=True):
        x = [size * aside for size in sizes]
        if bars:
            layers.append(spec.Span(x, lows, highs, learner=learner))
        layers.append(spec.Line(x, means, label=label, learner=learner))
        tips = []
        for size, mean, low, high in zip(sizes, means, lows, highs, strict=True):
            interval = f" [{write(low)}, {write(high)}]" if drawable(high - low) else ""
            tips.append(f"{label}, {size:,} rows: {write(mean)}{interval} {unit}".rstrip())
        layers.append(spec.Marks(x, means, tips, learner=learner))
    return layers


def _described(
    every: Sequence[Series], sizes: Sequence[int], rows: str, write: Callable[[float], str]
) -> str:
    """The series in words; ``rows`` says what rows the sizes are of."""
    parts = [f"{s.label} from {write(s.means[0])} to {write(s.means[-1])}" for s in every]
    more = len(parts) - _MAX_DESCRIBED
    listing = "; ".join(parts[:_MAX_DESCRIBED]) + f"; and {more} more" * (more > 0)
    return f"from {sizes[0]:,} to {sizes[-1]:,} {rows}: {listing}."


def _not_drawn(findings: ModelFindings) -> list[str]:
    """Which means have no place in the figure."""
    missing = [mean for mean in findings.means if not math.isfinite(mean.mean)]
    cells = [f"{brief(m.learner)} at {m.size:,} rows ({number(m.mean)})" for m in missing]
    more = f" and {len(cells) - _MAX_NAMED} more" * (len(cells) > _MAX_NAMED)
    listing = ", ".join(cells[:_MAX_NAMED]) + more
    return [f"Not drawn, as the mean is infinite or missing: {listing}."] if cells else []


def seconds(medians: pd.DataFrame, learners: Sequence[str], sizes: Sequence[int]) -> list[Chart]:
    """Median seconds to fit and to predict against training size, both axes logarithmic."""
    cells = medians.set_index(["learner", "size"])[["fit_seconds", "predict_seconds"]]
    cells = cells.where(cells > 0)
    known = [v for v in cells.to_numpy().ravel().tolist() if v > 0] or [1e-4, 1e-2]
    low, high = min(known) / 1.5, max(known) * 1.5
    marks = tuple((tick, duration(tick)) for tick in spec.powers(low, high))
    none, charts, rows = [math.nan] * len(sizes), [], "training rows"
    for what in ("fit", "predict"):
        column = cells[f"{what}_seconds"]
        values = [[float(column[label, size]) for size in sizes] for label in learners]
        every = [Series(i, learners[i], each, none, none) for i, each in enumerate(values)]
        title, description = f"Median time to {what}", _described(every, sizes, rows, duration)
        layers = tuple(_lines(every, sizes, duration))
        axes = spec.sizes_axis(sizes, rows), Axis("", low, high, "log", marks)
        charts.append(Chart(title, title, f"Median time {description}", *axes, layers))
    return charts


def studies(
    every: Sequence[ModelFindings],
    names: Sequence[str],
    learners: Sequence[str],
    shown: Sequence[str],
    reference: str = "",
) -> list[Chart]:
    """The means of several studies, or differences from one learner, a chart for each study."""
    kind = shared_words([findings.design.words for findings in every])
    rows = f"{kind.dose} rows"
    sizes = sorted({size for findings in every for size in findings.design.sizes})
    x = spec.sizes_axis(sizes, rows)
    label = every[0].info.label
    what = f"difference from {reference} in {label}" if reference else label
    zero, write = bool(reference or every[0].info.zero), signed if reference else number
    bars = len(shown) <= MAX_BARS
    series = []
    for findings in every:
        own = [label for label in shown if label in findings.design.learners]
        found = _leads(findings, own, reference) if reference else _means(findings, own)
        series.append([one._replace(learner=learners.index(one.label)) for one in found])
    shared = len({findings.info.unit for findings in every}) == 1  # the vertical axis
    together, charts = [one for part in series for one in part], []
    for findings, name, part in zip(every, names, series, strict=True):
        on = together if shared else part
        y, cut = _vertical(on, "", (), zero, bool(reference), bars)
        own_sizes = findings.design.sizes
        layers: list[spec.Layer] = [spec.Rule(0.0)] if zero else []
        layers += _lines(part, own_sizes, write, findings.info.unit, bars)
        description = "Nothing to show."
        if part:
            description = f"{what} {_described(part, own_sizes, rows, write)}"
        title = f"{name}: {what} against {kind.size}"
        charts.append(Chart(name, title, description, x, y, tuple(layers), notes=(_CUT,) * cut))
    return charts


def _leads(findings: ModelFindings, learners: Sequence[str], reference: str) -> list[Series]:
    """The paired differences from one learner, above 0 where the other is better."""
    found = []
    for label in learners:
        both = {label, reference}
        pairs = [p.seen_from(label) for p in findings.pairs if {p.first, p.second} == both]
        ends = [pair.low for pair in pairs], [pair.high for pair in pairs]
        found += [Series(0, label, [pair.lead for pair in pairs], *ends)] if pairs else []
    return found
