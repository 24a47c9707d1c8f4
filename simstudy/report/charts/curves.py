"""Lines against training size: learning curves, seconds, several studies or variants of one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import pandas as pd

from simstudy.analysis.models.findings import ModelFindings
from simstudy.analysis.models.standings import Pair
from simstudy.analysis.models.thresholds import Overtaking
from simstudy.experiments import shared_words
from simstudy.experiments.base import Words
from simstudy.report.charts import spec
from simstudy.report.charts.spec import Axis, Chart, Floats, Limits, Panels, drawable
from simstudy.report.prose.captions import MAX_BARS
from simstudy.report.prose.numbers import brief, duration, number, signed
from simstudy.report.prose.pairwise import overtaking
from simstudy.report.prose.phrases import axis_label, in_unit
from simstudy.study.study import Study

Studies: TypeAlias = Mapping[str, ModelFindings]
Write: TypeAlias = Callable[[float], str]  # how a number is written
_MAX_NAMED = 5  # cells that are named as not drawn
_MAX_DESCRIBED = 12  # learners in a description
_MAX_ROWS = 6  # of panels, four side by side
_MAX_PAIRS = 6  # whose thresholds are drawn by variant
_SIDE = 0.07  # between the thresholds of two pairs, in the way to the next variant
_SHORT = 7  # as many learners as would be dodged over a short line
_CUT = "Bars that reach the edge are truncated."


class Series(NamedTuple):
    """The numbers of a learner by size, with the ends of their intervals."""

    learner: int
    label: str
    means: Floats
    low: Floats = ()
    high: Floats = ()
    leads: Sequence[str] = ()  # what the intervals say, if they are not of the means


def learning_curves(findings: ModelFindings, learners: Sequence[str] | None = None) -> Chart:
    """Means against training size with their intervals, unless many, the ceiling and limits."""
    every = _means(findings, learners or findings.design.learners)
    return _curves(findings, every, every, "", len(every) <= MAX_BARS)


def each_learner(findings: ModelFindings, learners: Sequence[str] | None = None) -> Panels:
    """A panel for each learner with its intervals, before all others; the best mean first."""
    shown = learners or findings.design.learners
    ranked = [label for label in findings.ranked(findings.design.sizes[-1]) if label in shown]
    every = _means(findings, ranked)
    charts = tuple(_curves(findings, [series], every, series.label, True) for series in every)
    return Panels(charts, across=4 if len(every) <= _MAX_ROWS * 4 else 6, shared=True)


def _curves(
    findings: ModelFindings, front: list[Series], every: list[Series], heading: str, bars: bool
) -> Chart:
    """Some learners in front of every other, on axes that show them all."""
    sizes, info, ceiling = findings.design.sizes, findings.info, findings.ceiling
    limits = {s.learner: findings.limits.get(s.label, ()) for s in every if bars}
    also = [*ceiling, *(value for limit in limits.values() for value in limit)]
    ends, cut = _reach(every, also, bool(info.zero), bars)
    layers: list[spec.Layer] = []
    if info.zero:
        first, last = (min(abs(series.means[at]) for series in every) for at in (0, -1))
        layers.append(spec.Rule(0.0, "" if heading else info.zero, at_left=first > last))
    if any(map(drawable, ceiling)):
        layers.append(spec.Line(sizes, ceiling, "ceiling", "ceiling"))
    if len(front) < len(every):  # one line, broken between learners
        heights = [value for series in every for value in (*series.means, math.nan)]
        layers.append(spec.Line([*sizes, math.nan] * len(every), heights, "others"))
    limited = [series.learner for series in front if limits.get(series.learner)]
    layers += [spec.Line(sizes, limits[each], "limit", learner=each) for each in limited]
    layers += lines(front, sizes, number, info.unit, bars)
    words = findings.design.words
    title, rows = f"{info.label} against {words.size}", f"{words.dose} rows"
    return Chart(
        heading,
        f"{heading}: {title}" if heading else title,
        f"Mean {axis_label(info)} {_described(front, sizes, rows, number)}",
        spec.sizes_axis(sizes, rows),
        Axis(axis_label(info), *ends),
        tuple(layers),
        learners=tuple(series.learner for series in front) if heading else (),
        notes=(*[_CUT] * cut, *not_drawn(findings)),
        names=findings.design.names,
    )


def _means(findings: ModelFindings, labels: Sequence[str]) -> list[Series]:
    """The means of some learners."""
    every = []
    for label in labels:
        rows = [(mean.mean, mean.lower, mean.upper) for mean in findings.means_of(label)]
        every.append(Series(findings.design.learners.index(label), label, *zip(*rows, strict=True)))
    return every


def _reach(every: Sequence[Series], also: Floats, zero: bool, bars: bool) -> tuple[Limits, bool]:
    """The limits of an axis that shows some series, and whether an interval is cut."""
    centres = [*also, *(value for series in every for value in series.means)]
    ends = [value for series in every if bars for value in (*series.low, *series.high)]
    return spec.cut_reach(centres, ends, [0.0] * zero)


def provisional(every: list[Series], study: Study, measure: str) -> Chart:
    """Means so far against the dose, while a study runs."""
    kind, sizes, bars = study.experiment, study.doses, len(every) <= MAX_BARS
    rows, (ends, _) = f"{kind.dose} rows", _reach(every, (), False, bars)
    layers = tuple(lines(every, sizes, number, bars=bars))
    axes = spec.sizes_axis(sizes, rows), Axis(measure, *ends)
    title, text = f"Provisional {measure}", _described(every, sizes, rows, number)
    return Chart("", title, text, *axes, layers, kind="provisional", names=study.names)


def lines(
    every: Sequence[Series], sizes: Sequence[int], write: Write, unit: str = "", bars: bool = True
) -> list[spec.Layer]:
    """The line, the bars and the marks of each learner; side by side only if there are bars."""
    layers: list[spec.Layer] = []
    bars = bars and any(drawable(value) for series in every for value in series.low)
    asides = spec.dodges(sizes, len(every)) if bars else [1.0] * len(every)
    for aside, (learner, label, means, lows, highs, leads) in zip(asides, every, strict=True):
        x, tips = [size * aside for size in sizes], []
        columns = itertools.zip_longest(sizes, means, lows, highs, leads, fillvalue=math.nan)
        for size, mean, low, high, lead in columns:
            interval = f" [{write(low)}, {write(high)}]" * (drawable(high - low) and not leads)
            text = f"{label}, {size:,} rows: {write(mean)}{interval} {unit}".rstrip()
            tips.append(f"{text}; {lead}" if leads and lead else text)
        layers += [spec.Span(x, lows, highs, learner=learner)] * bars
        layers.append(spec.Line(x, means, label=label, learner=learner))
        layers.append(spec.Marks(x, means, tips, learner=learner))
    return layers


def _described(every: Sequence[Series], sizes: Sequence[int], rows: str, write: Write) -> str:
    """The series in words; ``rows`` says what rows the sizes are of."""
    parts = [f"{s.label} from {write(s.means[0])} to {write(s.means[-1])}" for s in every]
    more = len(parts) - _MAX_DESCRIBED
    listing = "; ".join(parts[:_MAX_DESCRIBED]) + f"; and {more} more" * (more > 0)
    return f"from {sizes[0]:,} to {sizes[-1]:,} {rows}: {listing}."


def not_drawn(findings: ModelFindings) -> list[str]:
    """Which means have no place in the figure."""
    missing = [mean for mean in findings.means if not math.isfinite(mean.mean)]
    cells = [f"{brief(m.learner)} at {m.size:,} rows ({number(m.mean)})" for m in missing]
    more = f" and {len(cells) - _MAX_NAMED} more" * (len(cells) > _MAX_NAMED)
    listing = ", ".join(cells[:_MAX_NAMED]) + more
    return [f"Not drawn, as the mean is infinite or missing: {listing}."] * bool(cells)


def seconds(
    medians: pd.DataFrame, learners: Sequence[str], names: tuple[str, ...], sizes: Sequence[int]
) -> list[Chart]:
    """Median seconds to fit and to predict against training size, both axes logarithmic."""
    cells = medians.set_index(["learner", "size"])[["fit_seconds", "predict_seconds"]]
    cells = cells.where(cells > 0)
    measured = [v for v in cells.to_numpy().ravel().tolist() if v > 0] or [1e-4, 1e-2]
    low, high = min(measured) / 1.5, max(measured) * 1.5
    marks = tuple((tick, duration(tick)) for tick in spec.powers(low, high))
    charts, rows = [], "training rows"
    for step in ("fit", "predict"):
        column = cells[f"{step}_seconds"]
        values = [[float(column[label, size]) for size in sizes] for label in learners]
        every = [Series(i, learners[i], each) for i, each in enumerate(values)]
        title, description = f"Median time to {step}", _described(every, sizes, rows, duration)
        layers = tuple(lines(every, sizes, duration))
        axes = spec.sizes_axis(sizes, rows), Axis("", low, high, "log", marks)
        text = f"Median time {description}"
        charts.append(Chart(title, title, text, *axes, layers, names=names))
    return charts


# Several studies, or variants of one


def studies(every: Studies, learners: Mapping[str, str], shown: Sequence[str]) -> list[Chart]:
    """The means of several studies, a chart each, with bars that compare with the leaders.

    ``learners`` are the registered names by label.
    """
    words, sizes = _design(every)
    info, rows, bars = next(iter(every.values())).info, f"{words.dose} rows", len(shown) <= MAX_BARS
    x, zero, names = spec.sizes_axis(sizes, rows), bool(info.zero), tuple(learners.values())
    drawn, places = [], {label: place for place, label in enumerate(learners)}
    for findings in every.values():
        labels = [label for label in shown if label in findings.design.learners]
        compared = _against_leaders(findings, labels)
        drawn.append([each._replace(learner=places[each.label]) for each in compared])
    one_unit = len({findings.info.unit for findings in every.values()}) == 1
    charts = []
    for (name, findings), series in zip(every.items(), drawn, strict=True):
        scaled = [*itertools.chain(*drawn)] if one_unit else series
        ends, cut = _reach(scaled, (), zero, bars)
        layers: list[spec.Layer] = [spec.Rule(0.0)] * zero
        means = {(mean.learner, mean.size): mean.mean for mean in findings.means}
        for size, mean in ((at.size, means[at.leader, at.size]) for at in findings.standings):
            side = spec.dodges(sizes, _SHORT)[-1] ** 2  # of the line that bars are compared with
            layers += [spec.Line([size / side, size * side], [mean, mean], "thin")] * bars
        layers += lines(series, findings.design.sizes, number, findings.info.unit, bars)
        title, description = f"{name}: {info.label} against {words.size}", "Nothing to show."
        if series:
            described = _described(series, findings.design.sizes, rows, number)
            description = f"{info.label} {described}"
        y = Axis(axis_label(findings.info), *ends)
        chart = Chart(name, title, description, x, y, tuple(layers), names=names)
        charts.append(replace(chart, notes=(_CUT,) * cut))
    return charts


def _design(studies: Studies) -> tuple[Words, list[int]]:
    """The words and the sizes of several studies."""
    designs = [findings.design for findings in studies.values()]
    sizes = sorted({size for design in designs for size in design.sizes})
    return shared_words([design.words for design in designs]), sizes


def _against_leaders(findings: ModelFindings, labels: Sequence[str]) -> Iterator[Series]:
    """The means, with intervals of the paired differences from the leader, drawn from its mean."""
    sign, info = 1 if findings.info.greater_is_better else -1, findings.info
    pairs = {(p.second, p.size): p for at in findings.standings for p in at.against}
    means = {(mean.learner, mean.size): mean.mean for mean in findings.means}
    best = {(at.leader, at.size): "the best mean" for at in findings.standings}
    for series in _means(findings, labels):
        ends, leads = list[list[float]](), list[str]()
        for cell in ((series.label, size) for size in findings.design.sizes):
            pair = pairs.get(cell)
            leads.append(in_unit(lead_of(pair), info) if pair else best.get(cell, ""))
            limits = (pair.low, pair.high) if pair else (math.nan, math.nan)
            base = means[pair.first, pair.size] if pair else math.nan
            ends.append(sorted(base - sign * limit for limit in limits))
        low, high = zip(*ends, strict=True)
        yield series._replace(low=low, high=high, leads=leads)


def lead_of(pair: Pair) -> str:
    """How far the leader, the first of a pair, is ahead."""
    interval = f" [{signed(pair.low)}, {signed(pair.high)}]" if drawable(pair.high) else ""
    return f"{pair.first} over {pair.second} {signed(pair.lead)}{interval}"


def thresholds(studies: Studies, learners: Sequence[str]) -> Chart | None:
    """Between which sizes one learner overtakes another, by variant; None if none ever does.

    Pairs are grey: only learners have colours.
    """
    changes: dict[str, list[tuple[int, str, Overtaking]]] = {}
    for place, (name, findings) in enumerate(studies.items()):
        for change in (change for course in findings.courses for change in course.changes):
            pair = f"{change.ahead} overtakes {change.behind}"
            changes.setdefault(pair, []).append((place, name, change))
    if not changes:
        return None
    shown, layers, texts = [*changes][:_MAX_PAIRS], list[spec.Layer](), list[str]()
    for index, pair in enumerate(shown):
        places, names, moves = zip(*changes[pair], strict=True)
        look, side = spec.look(index), _SIDE * (index - (len(shown) - 1) / 2)
        x, every = [place + side for place in places], [p + side for p in range(len(studies))]
        # At its estimate, or in the middle of the bracket; broken at variants without a threshold.
        at = [m.crossing if m.estimated else math.sqrt(m.before * m.after) for m in moves]
        heights = dict(zip(x, at, strict=True))
        route = [heights.get(place, math.nan) for place in every]
        tips = [f"{name}: {overtaking(m)}" for name, m in zip(names, moves, strict=True)]
        layers += [
            spec.Span(x, [m.before for m in moves], [m.after for m in moves], look=look),
            spec.Line(every, route, label=pair, look=look),
            spec.Marks(x, at, tips, look=look),
        ]
        texts += tips
    words, sizes = _design(studies)
    left = len(changes) - len(shown)
    return Chart(
        "thresholds",
        f"the sizes between which one {words.treatment} overtakes another, by variant",
        "; ".join(texts),
        _variants(studies),
        spec.sizes_axis(sizes, f"{words.dose} rows", 0.08),
        tuple(layers),
        notes=(f"{left} more pairs are in the table.",) * (left > 0),
    )


def _variants(names: Studies) -> Axis:
    """The axis of the variants, in their order."""
    marks = tuple((float(place), name) for place, name in enumerate(names))
    return Axis("variant", -0.5, len(names) - 0.5, marks=marks)
