"""How far learners are below the true probabilities and behind the learner that leads."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from simstudy.analysis.models.findings import ModelFindings
from simstudy.analysis.models.standings import AHEAD, Pair, Standing
from simstudy.report.charts import spec
from simstudy.report.charts.curves import not_drawn
from simstudy.report.charts.spec import Axis, Chart, Layer, drawable
from simstudy.report.prose.numbers import brief, number, signed
from simstudy.report.prose.phrases import in_unit

MAX_COLOURED = 7  # learners; of more, only those in `front` have colours and intervals
_MAX_LEADERS = 3  # in the strip at one size; more are counted
_CUT = "Bars that reach the edge are truncated."
Point: TypeAlias = tuple[float, float]


class Room(NamedTuple):
    """The letters that fit across a chart, and the lines of text that fit into its height."""

    letters: float
    lines: float

    @classmethod
    def of(cls, extent: tuple[float, float]) -> Room:
        """Return the room of a picture, in pixels, without its axes and its labels."""
        beside = 190.0 if extent[0] > 500 else 60.0
        return cls((extent[0] - beside) / 7, (extent[1] - 72) / 18)


class Place(NamedTuple):
    """Where a learner is drawn at a size, with its interval, if any, and its numbers in words."""

    at: float = math.nan
    low: float = math.nan
    high: float = math.nan
    tip: str = ""


Places: TypeAlias = Mapping[tuple[str, int], Place]  # by learner and size


def to_truth(findings: ModelFindings) -> bool:
    """Whether distances are to the true probabilities; else they are to the best means."""
    return bool(findings.ceiling) and all(map(drawable, findings.ceiling))


def front(findings: ModelFindings) -> list[str]:
    """The learners in colour: few, or of many those not separated from the leader at some size."""
    learners, standings = findings.design.learners, findings.standings
    leaders = {standing.leader for standing in standings}
    level = {pair.second for at in standings for pair in (*at.level, *at.identical)}
    shown = {*learners} if len(learners) <= MAX_COLOURED else leaders | level
    shown = shown if len(shown) <= MAX_COLOURED else leaders
    return [label for label in learners if label in shown]


def places(findings: ModelFindings) -> Places:
    """The distances: of the leader of a size, and of others by their paired difference from it."""
    means = {(mean.learner, mean.size): mean.mean for mean in findings.means}
    ceilings = dict(zip(findings.design.sizes, findings.ceiling, strict=False))
    shown, known = {}, to_truth(findings)
    for standing in findings.standings:
        leader, size = standing.leader, standing.size
        base = ceilings[size] - means[leader, size] if known else 0.0

        def tip(label: str, at: float, size: int = size) -> str:
            short = f"{in_unit(number(at), findings.info)} short of the true probabilities"
            return f"{label}, {size:,} rows: {short if known else 'against the best mean'}"

        shown[leader, size] = Place(base, tip=tip(leader, base))
        for pair in standing.against:
            at, text = base + pair.lead, in_unit(_lead(pair), findings.info)
            text = f"{tip(pair.second, at)}; {text}"
            shown[pair.second, size] = Place(at, base + pair.low, base + pair.high, text)
    return shown


def _lead(pair: Pair) -> str:
    """How far the leader, the first of a pair, is ahead."""
    interval = f" [{signed(pair.low)}, {signed(pair.high)}]" if drawable(pair.high) else ""
    return f"{pair.first} over {pair.second} {signed(pair.lead)}{interval}"


def distance(findings: ModelFindings, extent: tuple[float, float]) -> Chart:
    """Distances against training size, intervals of those to the leader, and a strip of leaders."""
    room = Room.of(extent)
    sizes, labels, words = findings.design.sizes, findings.design.learners, findings.design.words
    known, shown, coloured = to_truth(findings), places(findings), front(findings)
    limits = _limits(findings) if known and len(labels) <= MAX_COLOURED else {}
    centres = [0.0, *(place.at for place in shown.values()), *itertools.chain(*limits.values())]
    ends = [v for key, at in shown.items() if key[0] in coloured for v in (at.low, at.high)]
    (top, worst), cut = spec.cut_reach(centres, ends)
    rows = max(min(len(standing.contenders), _MAX_LEADERS) for standing in findings.standings)
    line = worst / (room.lines - rows - 2.2)  # the height of a line of text
    ticks = spec.steps(0.0, worst, 6)
    marks = (*zip(ticks, spec.tick_labels(ticks), strict=True), (worst + 0.9 * line, "best"))
    target = "the true probabilities" if known else "the best mean"
    title = f"{findings.info.unit or findings.info.label} {'short of' if known else 'behind'}"
    x = spec.sizes_axis(sizes, f"{words.dose} rows", 0.12)
    y = Axis(f"{title} {target}", worst + (rows + 0.6) * line, min(top, -1.4 * line), marks=marks)
    dotted = {who: at for who, at in limits.items() if max(at) > line}  # others are at 0
    layers: list[Layer] = [spec.Rule(0.0, kind="base")]
    layers += [spec.Line(sizes, at, "limit", learner=labels.index(w)) for w, at in dotted.items()]
    layers += [*_reached(findings, shown, len(coloured)), *_lines(findings, shown, coloured)]
    layers += _names(dotted, labels, Chart("", "", "", x, y, tuple(layers)), room)
    layers += [spec.Text(x.low, -0.75 * line, f" {target}", 1)] * known
    layers += _strip(findings, x, worst, line, room.letters)
    name = f"{y.label} against {words.size}"
    numbers = "; ".join(place.tip for place in shown.values())
    notes = (*[_CUT] * cut, *not_drawn(findings))
    return Chart("", name, f"{numbers}.", x, y, tuple(layers), kind="distance", notes=notes)


def ranks(findings: ModelFindings) -> Chart:
    """The ranks of the means against training size."""
    labels, words, shown = findings.design.learners, findings.design.words, {}
    for standing in findings.standings:
        for rank, label in enumerate(standing.ranked, 1):
            tip = f"{label}, {standing.size:,} rows: rank {rank}"
            shown[label, standing.size] = Place(rank, tip=tip)
    marks = tuple((float(rank), str(rank)) for rank in range(1, len(labels) + 1))
    x = spec.sizes_axis(findings.design.sizes, f"{words.dose} rows", 0.12)
    y = Axis(f"rank by mean {findings.info.label}", len(labels) + 0.5, 0.5, marks=marks)
    numbers = "; ".join(place.tip for place in shown.values())
    layers = tuple(_lines(findings, shown, front(findings)))
    return Chart("", f"{y.label} against {words.size}", numbers, x, y, layers, kind="distance")


def _lines(findings: ModelFindings, shown: Places, coloured: Sequence[str]) -> Iterator[Layer]:
    """The field, then the learners in colour with their bars, side by side at each size."""
    sizes, labels = findings.design.sizes, findings.design.learners
    asides = dict(zip(coloured, spec.dodges(sizes, len(coloured)), strict=True))
    for label in sorted(labels, key=lambda label: label in asides):
        row, index = [shown.get((label, size), Place()) for size in sizes], labels.index(label)
        x, (at, low, high, tips) = (
            [n * asides.get(label, 1.0) for n in sizes],
            zip(*row, strict=True),
        )
        if label in asides and any(map(drawable, low)):
            yield spec.Span(x, low, high, learner=index)
        kinds = ("line", "mark") if label in asides else ("field", "field")
        yield spec.Line(x, at, kinds[0], label, learner=index)
        yield spec.Marks(x, at, tips, kinds[1], learner=index)


def _reached(findings: ModelFindings, shown: Places, number: int) -> Iterator[Layer]:
    """The short lines of the leaders, with which bars are compared."""
    side = spec.dodges(findings.design.sizes, max(number, 2))[-1] ** 2
    for standing in findings.standings:
        at = shown[standing.leader, standing.size].at
        yield spec.Line([standing.size / side, standing.size * side], [at, at], "thin")


def _limits(findings: ModelFindings) -> dict[str, list[float]]:
    """The distance of each learner with unlimited data at each size, where it has one."""
    both = {who: zip(findings.ceiling, at, strict=True) for who, at in findings.limits.items()}
    every = {who: [top - limit for top, limit in pairs] for who, pairs in both.items()}
    return {who: at for who, at in every.items() if all(map(drawable, at))}


def _strip(
    findings: ModelFindings, x: Axis, top: float, line: float, letters: float
) -> Iterator[Layer]:
    """Under the lines, the leaders of each size in their colours."""
    shares = [x.share(size) for size in findings.design.sizes]
    closest = min((b - a for a, b in itertools.pairwise(shares)), default=0.3)
    half = min(0.46 * closest, 0.09)
    side, fitting = (x.high / x.low) ** half, int(2 * half * letters) - 1
    for standing in findings.standings:
        size, leaders = standing.size, standing.contenders
        shown = leaders if len(leaders) <= _MAX_LEADERS else leaders[: _MAX_LEADERS - 1]
        for row, label in enumerate(shown):
            at, learner = top + (row + 0.9) * line, findings.design.learners.index(label)
            yield spec.Line([size / side, size * side], [at, at], "strip", learner=learner)
            name = brief(label, fitting) if fitting > 3 else ""
            yield spec.Text(size, at, name, kind="in-strip", learner=learner)
        if len(shown) < max(len(leaders), 1):
            more = f"{len(leaders) - len(shown)} more" if leaders else "–"
            yield spec.Text(size, top + (len(shown) + 0.9) * line, more)


def _names(
    limits: Mapping[str, Sequence[float]], labels: Sequence[str], chart: Chart, room: Room
) -> Iterator[Layer]:
    """The names of limits, each where it touches no line; none if there is no such place."""
    lines = [layer for layer in chart.layers if isinstance(layer, spec.Line)]
    for bar in (layer for layer in chart.layers if isinstance(layer, spec.Span)):
        columns = zip(bar.x, bar.low, bar.high, strict=True)
        lines += [spec.Line([x, x], [low, high]) for x, low, high in columns]
    crowd = [point for line in lines for point in _along(line, chart, room)]
    for who, heights in limits.items():
        text, (low, high) = f"{who} with unlimited data", (chart.x.low, chart.x.high)
        half = len(text) / 2 + 0.5
        for (x, y), side in itertools.product(
            _along(spec.Line([low, high], [heights[-1]] * 2), chart, room), (0.75, -0.75)
        ):
            near = any(abs(x - a) < half and abs(y + side - b) < 0.6 for a, b in crowd)
            if not near and half < x < room.letters - half:
                at = low * (high / low) ** (x / room.letters)
                place = heights[-1] + side * (chart.y.high - chart.y.low) / room.lines
                yield spec.Text(at, place, text, kind="note", learner=labels.index(who))
                crowd += [(x + half * step / 10, y + side) for step in range(-10, 11)]
                break


def _along(line: spec.Line, chart: Chart, room: Room) -> list[Point]:
    """Points along a line, in letters and lines of text."""
    ends = [(chart.x.share(x), chart.y.share(y)) for x, y in zip(line.x, line.y, strict=True)]
    return [
        ((a + (c - a) * step / 60) * room.letters, (b + (d - b) * step / 60) * room.lines)
        for (a, b), (c, d) in itertools.pairwise(ends)
        for step in range(61)
    ]


def forest(findings: ModelFindings, standing: Standing, nearest: int | None = None) -> Chart:
    """How far each learner, or the nearest, is behind the leader of a size; hollow if not shown."""
    labels, coloured, size = findings.design.learners, front(findings), standing.size
    pairs = standing.against[:nearest]
    ends, cut = spec.cut_reach(
        [0.0, *(p.lead for p in pairs)], [v for p in pairs for v in (p.low, p.high)]
    )
    layers: list[Layer] = [spec.Rule(0.0, upright=True, kind="base")]
    for row, pair in enumerate(pairs):
        learner, level = labels.index(pair.second), pair.verdict != AHEAD
        kinds = ("bar", "mark") if pair.second in coloured or level else ("field", "field")
        tip = f"{size:,} rows: {in_unit(_lead(pair), findings.info)}"
        layers.append(spec.Line([pair.low, pair.high], [row, row], kinds[0], learner=learner))
        layers.append(
            spec.Marks([pair.lead], [row], [tip], "hollow" if level else kinds[1], learner=learner)
        )
    unit = findings.info.unit or findings.info.label
    title = f"{unit} behind {brief(standing.leader)}"
    x, y = Axis(title, *ends), spec.rows_axis([brief(pair.second, 24) for pair in pairs])
    numbers = "; ".join(_lead(pair) for pair in pairs)
    return Chart(
        "",
        f"{title}, {size:,} rows",
        numbers,
        x,
        y,
        tuple(layers),
        kind="distance",
        notes=(_CUT,) * cut,
    )
