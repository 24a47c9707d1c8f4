"""How far learners are below the true probabilities and behind the learner that leads."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np

from simstudy.analysis.models.findings import ModelFindings
from simstudy.analysis.models.standings import AHEAD, Standing
from simstudy.report.charts import spec
from simstudy.report.charts.curves import lead_of, not_drawn
from simstudy.report.charts.spec import Axis, Chart, Layer, drawable
from simstudy.report.prose.numbers import brief, number
from simstudy.report.prose.phrases import in_unit

MAX_COLOURED = 7  # learners; of more, only those in `front` have colours and intervals
_MAX_LEADERS = 3  # in the strip at one size; more are counted
_ASIDE = 0.12  # left and right of the sizes, in their whole distance
_CUT = "Bars that reach the edge are truncated."


class Place(NamedTuple):
    """Where a learner is drawn at a size, its numbers in words, and its interval, if any."""

    at: float
    tip: str
    low: float = math.nan
    high: float = math.nan


Limits: TypeAlias = Mapping[str, list[float]]  # of each learner, by size
Places: TypeAlias = Mapping[str, Sequence[Place]]  # of each learner, by standing


def many(findings: ModelFindings) -> bool:
    """Whether there are more learners than can be told apart by their colours."""
    return len(findings.design.learners) > MAX_COLOURED


def to_truth(findings: ModelFindings) -> bool:
    """Whether distances are to the true probabilities; else they are to the best means."""
    everywhere = len(findings.standings) == len(findings.ceiling) > 0
    return everywhere and all(map(drawable, findings.ceiling))


def front(findings: ModelFindings) -> list[str]:
    """The learners in colour: few, or of many those not separated from the leader at some size."""
    learners, standings = findings.design.learners, findings.standings
    leaders = {standing.leader for standing in standings}
    level = leaders | {pair.second for at in standings for pair in (*at.level, *at.identical)}
    shown = level if many(findings) else {*learners}
    shown = shown if len(shown) <= MAX_COLOURED else leaders
    return [label for label in learners if label in shown]


def places(findings: ModelFindings) -> Places:
    """The distances: of the leader of a size, and of others by their paired difference from it."""
    known, info = to_truth(findings), findings.info
    means = {(mean.learner, mean.size): mean.mean for mean in findings.means}
    ceilings = dict(zip(findings.design.sizes, findings.ceiling, strict=False))
    shown: dict[str, list[Place]] = {label: [] for label in findings.design.learners}

    def tip(label: str, size: int, at: float, text: str) -> str:
        short = f"{in_unit(number(at), info)} short of the true probabilities; " * known
        return f"{label}, {size:,} rows: {short}{text}"

    for standing in findings.standings:
        leader, size = standing.leader, standing.size
        base = ceilings[size] - means[leader, size] if known else 0.0
        shown[leader].append(Place(base, tip(leader, size, base, "the best mean")))
        for pair in standing.against:
            at, low, high = (base + number for number in (pair.lead, pair.low, pair.high))
            text = tip(pair.second, size, at, in_unit(lead_of(pair), info))
            shown[pair.second].append(Place(at, text, low, high))
    return shown


def distance(findings: ModelFindings, extent: tuple[float, float]) -> Chart:
    """Distances against training size, with intervals of those to the leaders, named below.

    There is room for its texts in a picture of this extent, in pixels.
    """
    standings, words, known = findings.standings, findings.design.words, to_truth(findings)
    shown, coloured = places(findings), front(findings)
    limits = findings.limits.items() if known and not many(findings) else ()
    tops = {who: [*map(operator.sub, findings.ceiling, row)] for who, row in limits}
    letters, lines = (extent[0] - (190 if extent[0] > 500 else 60)) / 7, (extent[1] - 72) / 18
    centres = [0.0, *(place.at for row in shown.values() for place in row)]
    ends = [end for label in coloured for place in shown[label] for end in place[2:]]
    (top, worst), cut = spec.cut_reach([*centres, *itertools.chain(*tops.values())], ends)
    rows = max(min(len(standing.contenders), _MAX_LEADERS) for standing in standings)
    line = worst / (lines - rows - 2.2)  # the height of a line of text
    ticks = spec.steps(0.0, worst, 6)
    marks = (*zip(ticks, spec.tick_labels(ticks), strict=True), (worst + 0.9 * line, "best"))
    name = f"{findings.info.unit or findings.info.label} "
    name += "short of the true probabilities" if known else "behind the best mean"
    x = spec.sizes_axis(findings.design.sizes, f"{words.dose} rows", _ASIDE)
    y = Axis(name, worst + (rows + 0.6) * line, min(top, -1.4 * line), marks=marks)
    layers: list[Layer] = [spec.Rule(0.0, kind="base")]
    layers += [spec.Text(x.low, -0.75 * line, " the true probabilities", 1)] * known
    far = {label: at for label, at in tops.items() if all(each > line for each in at)}
    layers += _dotted(findings, far, shown, line, letters)
    side = spec.dodges(findings.design.sizes, MAX_COLOURED)[-1] ** 1.5
    for place, (leader, size) in enumerate((at.leader, at.size) for at in standings):
        height = shown[leader][place].at
        layers.append(spec.Line([size / side, size * side], [height, height], "thin"))
    layers += [*_lines(findings, shown, coloured), *_strip(findings, x, worst, line, letters)]
    best = "; ".join(f"{', '.join(at.contenders)} at {at.size:,} rows" for at in standings)
    title, notes = f"{name} against {words.size}", (*[_CUT] * cut, *not_drawn(findings))
    chart = Chart("", title, f"Best: {best}.", x, y, tuple(layers), kind="distance", notes=notes)
    return replace(chart, names=findings.design.names)


def ranks(findings: ModelFindings) -> Chart:
    """The ranks of the means against training size."""
    labels, words = findings.design.learners, findings.design.words
    shown: dict[str, list[Place]] = {label: [] for label in labels}
    for standing in findings.standings:
        for rank, label in enumerate(standing.ranked, 1):
            shown[label].append(Place(rank, f"{label}, {standing.size:,} rows: rank {rank}"))
    marks = tuple((float(rank), str(rank)) for rank in range(1, len(labels) + 1))
    x = spec.sizes_axis(findings.design.sizes, f"{words.dose} rows", _ASIDE)
    y = Axis(f"rank by mean {findings.info.label}", len(labels) + 0.5, 0.5, marks=marks)
    first = "; ".join(f"{at.leader} at {at.size:,} rows" for at in findings.standings)
    layers, title = _lines(findings, shown, front(findings)), f"{y.label} against {words.size}"
    chart = Chart("", title, f"First: {first}.", x, y, tuple(layers), kind="distance")
    return replace(chart, names=findings.design.names)


def _lines(findings: ModelFindings, shown: Places, coloured: Sequence[str]) -> Iterator[Layer]:
    """The field, then the learners in colour with their bars, side by side at each size."""
    asides = dict(zip(coloured, spec.dodges(findings.design.sizes, len(coloured)), strict=True))
    for label in sorted(shown, key=lambda label: label in asides):
        learner, kinds = findings.design.learners.index(label), ("field", "field")
        x = [standing.size * asides.get(label, 1.0) for standing in findings.standings]
        at, tips, low, high = zip(*shown[label], strict=True)
        if label in asides:
            kinds = ("line", "mark")
            yield spec.Span(x, low, high, learner=learner)
        yield spec.Line(x, at, kinds[0], label, learner=learner)
        yield spec.Marks(x, at, tips, kinds[1], learner=learner)


def _dotted(
    findings: ModelFindings, limits: Limits, shown: Places, line: float, letters: float
) -> Iterator[Layer]:
    """The limits, with their names where these touch no line and no bar."""
    sizes, rows = np.log(findings.design.sizes), [[at.at for at in row] for row in shown.values()]
    rows, aside = [*rows, *limits.values()], _ASIDE * (sizes[-1] - sizes[0])
    bars = [(x, *at[2:]) for row in shown.values() for x, at in zip(sizes, row, strict=True)]
    texts = [" with unlimited data", ", unlimited"] * (len(sizes) > 1)
    for label, heights in limits.items():
        learner = findings.design.learners.index(label)
        yield spec.Line(findings.design.sizes, heights, "limit", learner=learner)
        for text, part, side in itertools.product(texts, np.linspace(0.0, 1.0, 41), (-0.8, 0.8)):
            half = (len(label + text) + 1) / 2 * (sizes[-1] - sizes[0] + 2 * aside) / letters
            x = sizes[0] - aside + half + part * (sizes[-1] - sizes[0] + 2 * (aside - half))
            y, across = np.interp(x, sizes, heights) + side * line, np.linspace(x - half, x + half)
            lines = (abs(np.interp(across, sizes, row) - y) < 0.6 * line for row in rows)
            crossed = (
                low < y + 0.6 * line and high > y - 0.6 * line and abs(at - x) < half
                for at, low, high in bars
            )
            if not any(crossed) and not any(map(np.any, lines)):
                yield spec.Text(math.exp(x), float(y), label + text, learner=learner)
                rows.append([float(y)] * len(sizes))
                break


def _strip(
    findings: ModelFindings, x: Axis, top: float, line: float, letters: float
) -> Iterator[Layer]:
    """Under the lines, the leaders of each size in their colours."""
    shares, coloured = [x.share(size) for size in findings.design.sizes], front(findings)
    half = min(0.09, *(0.46 * (b - a) for a, b in itertools.pairwise(shares)), 1)
    side, fitting = (x.high / x.low) ** half, int(2 * half * letters) - 1
    for size, leaders in ((standing.size, standing.contenders) for standing in findings.standings):
        named = [label for label in leaders if label in coloured]
        shown = named[: _MAX_LEADERS - (len(leaders) > min(len(named), _MAX_LEADERS))]
        for row, label in enumerate(shown, 1):
            at, learner = top + (row - 0.1) * line, findings.design.learners.index(label)
            yield spec.Line([size / side, size * side], [at, at], "strip", learner=learner)
            name = brief(label, fitting) if fitting > 3 else ""
            yield spec.Text(size, at, name, kind="in-strip", learner=learner)
        if len(shown) < max(len(leaders), 1):
            more = f"{len(leaders) - len(shown)} more" if leaders else "–"
            yield spec.Text(size, top + (len(shown) + 0.9) * line, more)


def forest(findings: ModelFindings, standing: Standing) -> Chart:
    """How far each learner is behind the leader of a size; hollow if not separated from it."""
    pairs, coloured, layers = standing.against, front(findings), list[Layer]()
    both = [end for pair in pairs for end in (pair.low, pair.high)]
    ends, cut = spec.cut_reach([0.0, *(pair.lead for pair in pairs)], both)
    for row, pair in enumerate(pairs):
        learner = findings.design.learners.index(pair.second)
        bar, mark = ("bar", "mark") if pair.second in coloured else ("field", "field")
        mark = mark if pair.verdict == AHEAD else "hollow"
        tip = f"{standing.size:,} rows: {in_unit(lead_of(pair), findings.info)}"
        layers.append(spec.Line([pair.low, pair.high], [row, row], bar, learner=learner))
        layers.append(spec.Marks([pair.lead], [row], [tip], mark, learner=learner))
    x = Axis(f"{findings.info.unit or findings.info.label} behind {brief(standing.leader)}", *ends)
    y, title = spec.rows_axis([brief(p.second, 24) for p in pairs]), f"{standing.size:,} rows"
    texts, notes = "; ".join(map(lead_of, pairs)), (_CUT,) * cut
    drawn = (spec.Rule(0.0, upright=True, kind="base"), *layers)
    chart = Chart(title, f"{x.label}, {title}", texts, x, y, drawn, kind="forest", notes=notes)
    return replace(chart, names=findings.design.names)
