"""Lines against training size: learning curves, seconds, several studies side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from simstudy.analysis.findings import Findings
from simstudy.report.charts.spec import (
    Axis,
    Bars,
    Chart,
    Floats,
    Layer,
    Line,
    Marks,
    Rule,
    cut_reach,
    dodges,
    drawable,
    powers,
    sizes_axis,
)
from simstudy.report.prose.captions import MAX_BARS, MAX_LIMITS
from simstudy.report.prose.numbers import brief, duration, number, signed
from simstudy.report.prose.phrases import axis_label

if TYPE_CHECKING:
    import pandas as pd

_MAX_NAMED = 5  # cells that are named as not drawn
_MAX_DESCRIBED = 12  # learners in a description
CUT = "Bars that reach the edge are longer than they are drawn."


class Series(NamedTuple):
    """The numbers of a learner by size, with the ends of their intervals."""

    learner: int
    label: str
    means: Floats
    low: Floats
    high: Floats


def learning_curves(findings: Findings, learners: Sequence[str] | None = None) -> Chart:
    """Means against training size with their intervals, the ceiling and limits."""
    design, info = findings.design, findings.info
    every = _means(findings, learners or design.learners)
    bars = len(every) <= MAX_BARS
    limits = {one.learner: findings.limits.get(one.label, ()) for one in every}
    if len(every) > MAX_LIMITS:
        limits = {}
    also = [*findings.ceiling, *(value for limit in limits.values() for value in limit)]
    y, cut = _vertical(every, axis_label(info), bars, also, bool(info.zero))
    layers: list[Layer] = [Rule(0.0, info.zero)] if info.zero and y.holds(0) else []
    if any(map(drawable, findings.ceiling)):
        layers.append(Line(design.sizes, findings.ceiling, "ceiling", "ceiling"))
    for learner, limit in limits.items():
        if any(map(drawable, limit)):
            layers.append(Line(design.sizes, limit, "limit", learner=learner))
    unit = f" {info.unit}" if info.unit else ""
    layers += _lines(every, design.sizes, lambda value: number(value) + unit, bars)
    return Chart(
        "",
        f"{info.label} against training size",
        f"Mean {axis_label(info)} {_described(every, design.sizes, number)}",
        sizes_axis(design.sizes),
        y,
        tuple(layers),
        notes=(*[CUT] * cut, *_not_drawn(findings)),
    )


def _means(findings: Findings, labels: Sequence[str]) -> list[Series]:
    """The means of some learners."""
    found = []
    for label in labels:
        rows = findings.means_of(label)
        columns = ([getattr(row, key) for row in rows] for key in ("mean", "lower", "upper"))
        found.append(Series(findings.design.learners.index(label), label, *columns))
    return found


def _vertical(
    every: Sequence[Series], label: str, bars: bool, also: Floats = (), zero: bool = False
) -> tuple[Axis, bool]:
    """The vertical axis that shows some series, and whether an interval is cut."""
    centres = [*also, *(value for one in every for value in one.means)]
    ends = [value for one in every if bars for value in (*one.low, *one.high)]
    (low, high), cut = cut_reach(centres, ends, [0.0] * zero)
    return Axis(label, low, high), cut


def _lines(
    every: Sequence[Series], sizes: Sequence[int], write: Callable[[float], str], bars: bool
) -> list[Layer]:
    """The line, the bars and the marks of each learner; side by side if there are bars."""
    layers: list[Layer] = []
    bars = bars and any(drawable(value) for one in every for value in one.low)
    asides = dodges(sizes, len(every)) if bars else [1.0] * len(every)
    for aside, one in zip(asides, every, strict=True):
        x = [size * aside for size in sizes]
        if bars:
            layers.append(Bars(x, one.low, one.high, learner=one.learner))
        layers.append(Line(x, one.means, label=one.label, learner=one.learner))
        tips = []
        for size, mean, low, high in zip(sizes, one.means, one.low, one.high, strict=True):
            interval = drawable(low) and drawable(high)
            said = f" [{write(low)}, {write(high)}]" if interval else ""
            tips.append(f"{one.label}, {size:,} rows: {write(mean)}{said}")
        layers.append(Marks(x, one.means, tips, learner=one.learner))
    return layers


def _described(every: Sequence[Series], sizes: Sequence[int], write: Callable[[float], str]) -> str:
    """The series in words."""
    said = [f"{s.label} from {write(s.means[0])} to {write(s.means[-1])}" for s in every]
    more = len(said) - _MAX_DESCRIBED
    listing = "; ".join(said[:_MAX_DESCRIBED]) + (f"; and {more} more" if more > 0 else "")
    return f"from {sizes[0]:,} to {sizes[-1]:,} training rows: {listing}."


def _not_drawn(findings: Findings) -> list[str]:
    """Which means have no place in the figure."""
    missing = [mean for mean in findings.means if not math.isfinite(mean.mean)]
    if not missing:
        return []
    cells = ", ".join(
        f"{brief(mean.learner)} at {mean.size:,} rows ({number(mean.mean)})"
        for mean in missing[:_MAX_NAMED]
    )
    more = f" and {len(missing) - _MAX_NAMED} more" if len(missing) > _MAX_NAMED else ""
    return [f"Not drawn because the mean is infinite or missing: {cells}{more}."]


def seconds(
    medians: pd.DataFrame, learners: Sequence[str], sizes: Sequence[int]
) -> tuple[Chart, Chart]:
    """Median seconds to fit and to predict against training size, both axes logarithmic."""
    columns = {"fit": "fit_seconds", "predict": "predict_seconds"}
    cells = medians.set_index(["learner", "size"])[[*columns.values()]]
    known = [value for value in cells.to_numpy().ravel().tolist() if value > 0]
    low, high = (min(known) / 1.5, max(known) * 1.5) if known else (1e-4, 1e-2)
    y = Axis("", low, high, "log", tuple((tick, duration(tick)) for tick in powers(low, high)))
    none = [math.nan] * len(sizes)
    found = []
    for what, column in columns.items():
        every = []
        for index, label in enumerate(learners):
            values = cells[column].loc[label].loc[[*sizes]]
            every.append(Series(index, label, values.where(values > 0).tolist(), none, none))
        title = f"Median time to {what}"
        told = _described(every, sizes, duration)
        layers = _lines(every, sizes, duration, bars=False)
        x = sizes_axis(sizes)
        found.append(Chart(title, title, f"Median time {told}", x, y, tuple(layers)))
    return found[0], found[1]


def studies(
    every: Sequence[Findings],
    names: Sequence[str],
    learners: Sequence[str],
    shown: Sequence[str],
    reference: str = "",
) -> list[Chart]:
    """The means of several studies, or differences from one learner, a chart for each.

    All have the same axes; if the units of the measure differ, each has its own vertical one.
    ``learners`` are those of all studies: a learner's place there is its look.
    """
    sizes = sorted({size for findings in every for size in findings.design.sizes})
    label = every[0].info.label
    what = f"difference from {reference} in {label}" if reference else label
    zero, write = bool(reference or every[0].info.zero), signed if reference else number
    shared = len({findings.info.unit for findings in every}) == 1
    series = []
    for findings in every:
        own = [label for label in shown if label in findings.design.learners]
        found = _leads(findings, own, reference) if reference else _means(findings, own)
        series.append([one._replace(learner=learners.index(one.label)) for one in found])
    together = [one for part in series for one in part]
    charts = []
    for findings, name, part in zip(every, names, series, strict=True):
        y, cut = _vertical(together if shared else part, "", True, zero=zero)
        y = Axis("", y.low, y.high, signed=bool(reference))
        own_sizes = findings.design.sizes
        layers: list[Layer] = [Rule(0.0)] if zero else []
        layers += _lines(part, own_sizes, write, bars=True)
        told = f"{what} {_described(part, own_sizes, write)}" if part else "Nothing to show."
        title = f"{name}: {what} against training size"
        x = sizes_axis(sizes)
        charts.append(Chart(name, title, told, x, y, tuple(layers), notes=(CUT,) * cut))
    return charts


def _leads(findings: Findings, learners: Sequence[str], reference: str) -> list[Series]:
    """The paired differences from one learner, above 0 where the other is better."""
    found = []
    for label in learners:
        both = {label, reference}
        pairs = [p.seen_from(label) for p in findings.pairs if {p.first, p.second} == both]
        if pairs:
            columns = ([getattr(pair, key) for pair in pairs] for key in ("lead", "low", "high"))
            found.append(Series(0, label, *columns))
    return found
