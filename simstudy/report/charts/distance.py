"""How far learners are below the true probabilities and behind the learner that leads."""

from __future__ import annotations

import itertools
import math
import operator
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np

from simstudy.analysis.models.findings import ModelFindings
from simstudy.analysis.models.standings import AHEAD, Pair, Standing
from simstudy.report.charts import spec
from simstudy.report.charts.curves import lead_of, not_drawn
from simstudy.report.charts.spec import Axis, Chart, Layer, drawable
from simstudy.report.prose.numbers import NONE, brief, number
from simstudy.report.prose.phrases import in_unit

MAX_COLOURED = 7  # learners; of more, only those in `front` have colours and intervals
_MAX_LEADERS = 3  # in the strip at one size; more are counted
_MAX_ROWS = 5  # of the strip, where names are longer than tiles: a row for each leader
_CLOSE = 0.15  # of the largest distance: what is drawn again, enlarged
_ASIDE = 0.12  # left and right of the sizes, in their whole distance
_CUT = "Bars that reach the edge are truncated."


class Tile(NamedTuple):
    """The leaders named at a size, from the top, and between which sizes; others are counted."""

    low: float
    high: float
    names: list[str]  # empty in the rows of others
    left: int


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


def contenders(findings: ModelFindings) -> set[str]:
    """The learners that are not separated from the leader at some size, and the leaders."""
    every = ((*at.level, *at.identical) for at in findings.standings)
    level = {pair.second for pairs in every for pair in pairs}
    return level | {standing.leader for standing in findings.standings}


def front(findings: ModelFindings) -> list[str]:
    """The learners in colour: few, or the contenders, or the leaders if these are many, too."""
    learners = findings.design.learners
    shown = contenders(findings) if many(findings) else {*learners}
    if len(shown) > MAX_COLOURED:
        shown = {standing.leader for standing in findings.standings}
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
    x = spec.sizes_axis(findings.design.sizes, f"{words.dose} rows", _ASIDE)
    tiles = _tiles(findings, x, letters)
    rows = max(1, *(len(tile.names) + (tile.left > 0) for tile in tiles.values()))
    line = max(worst / (lines - rows - 2.2), (worst - top) / (lines - rows - 0.8))  # of text
    ticks = spec.steps(0.0, worst, 6)
    marks = (*zip(ticks, spec.tick_labels(ticks), strict=True), (worst + 0.9 * line, "best"))
    name = f"{findings.info.unit or findings.info.label} "
    name += "short of the true probabilities" if known else "behind the best mean"
    y = Axis(name, worst + (rows + 0.6) * line, min(top, -1.4 * line), marks=marks)
    layers: list[Layer] = [spec.Rule(0.0, kind="base")]
    far = {label: at for label, at in tops.items() if all(each > line for each in at)}
    layers += _dotted(findings, far, shown, line, letters)
    side = spec.dodges(findings.design.sizes, MAX_COLOURED)[-1] ** 1.5
    for place, (leader, size) in enumerate((at.leader, at.size) for at in standings):
        height = shown[leader][place].at
        layers.append(spec.Line([size / side, size * side], [height, height], "thin"))
    layers += [*_lines(findings, shown, coloured), *_strip(findings, x, worst, line, letters)]
    layers += [spec.Text(x.low, -0.75 * line, " the true probabilities", 1)] * known
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
    rows, aside = [*rows, *limits.values(), [0.0] * len(sizes)], _ASIDE * (sizes[-1] - sizes[0])
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


def _tiles(findings: ModelFindings, x: Axis, letters: float) -> dict[int, Tile]:
    """The leaders at each size; in rows of their own where names are longer than tiles."""
    sizes, coloured, standings = findings.design.sizes, front(findings), findings.standings
    middles = [math.sqrt(a * b) for a, b in itertools.pairwise(sizes)]
    half = min(
        0.09, *(0.92 * (x.share(b) - x.share(a)) for a, b in zip(sizes, middles, strict=False)), 1
    )
    side = (x.high / x.low) ** half
    ends = [(size / side, size * side) for size in sizes]
    leaders = [[label for label in at.contenders if label in coloured] for at in standings]
    rows = []
    for at, names in zip(standings, leaders, strict=True):
        more = len(at.contenders) > min(len(names), _MAX_LEADERS)
        rows.append(names[: _MAX_LEADERS - more])
    if max(map(len, itertools.chain(*rows)), default=0) + 1 >= 2 * half * letters:
        often = Counter(itertools.chain(*leaders))
        kept = dict(often.most_common(_MAX_ROWS))
        rows = [[name * (name in names) for name in often if name in kept] for names in leaders]
        ends = [*zip([ends[0][0], *middles], [*middles, ends[-1][1]], strict=True)]
    tiles = {}
    for at, names in zip(standings, rows, strict=True):
        left = len(at.contenders) - sum(map(bool, names))
        tiles[at.size] = Tile(*ends[sizes.index(at.size)], names, left)
    return tiles


def _strip(
    findings: ModelFindings, x: Axis, top: float, line: float, letters: float
) -> Iterator[Layer]:
    """Under the lines, the leaders of each size in their colours."""
    tiles, learners = _tiles(findings, x, letters), findings.design.learners
    for size, tile in tiles.items():
        if tile.left or not any(tile.names):
            short = (x.share(tile.high) - x.share(tile.low)) * letters < 8
            more = f"+{tile.left}" if short else f"{tile.left} more"
            yield spec.Text(size, top + (len(tile.names) + 0.9) * line, more if tile.left else NONE)
    each_row = itertools.zip_longest(*(tile.names for tile in tiles.values()))
    for row, labels in enumerate(each_row, 1):
        at, runs = top + (row - 0.1) * line, list[tuple[str, float, float]]()
        for label, tile in zip(labels, tiles.values(), strict=True):
            if not label:
                continue
            learner = learners.index(label)
            yield spec.Line([tile.low, tile.high], [at, at], "strip", learner=learner)
            joined = runs and (runs[-1][0], runs[-1][2]) == (label, tile.low)
            runs.append((label, runs.pop()[1] if joined else tile.low, tile.high))
        fit = [run for run in runs if (x.share(run[2]) - x.share(run[1])) * letters > len(run[0])]
        for label, low, high in fit:
            middle, learner = math.sqrt(low * high), learners.index(label)
            yield spec.Text(middle, at, label, kind="in-strip", learner=learner)
        if not fit:
            label, low, high = max(runs, key=lambda run: run[2] / run[1])
            left, name = x.share(high) > 0.5, f"\u00a0{brief(label, 14)}\u00a0"
            learner = learners.index(label)
            yield spec.Text(low if left else high, at, name, -1 if left else 1, learner=learner)


def close(standing: Standing) -> list[Pair]:
    """The learners near the leader of a size whose intervals look short beside the longest."""
    ends = [(max(abs(pair.low), abs(pair.high)), pair) for pair in standing.against]
    shown = [(end, pair) for end, pair in ends if drawable(end)]
    near = [pair for end, pair in shown if end <= _CLOSE * max(end for end, _ in shown)]
    return near if 1 < len(near) < len(ends) else []


def forest(findings: ModelFindings, standing: Standing, enlarged: bool = False) -> Chart:
    """How far all learners, or those close, are behind a leader; hollow if not separated."""
    pairs, coloured = close(standing) if enlarged else standing.against, front(findings)
    layers = list[Layer]()
    both = [end for pair in pairs for end in (pair.low, pair.high)]
    ends, cut = spec.cut_reach([0.0, *(pair.lead for pair in pairs)], both)
    for row, pair in enumerate(pairs):
        learner = findings.design.learners.index(pair.second)
        bar, mark = ("bar", "mark") if pair.second in coloured else ("field", "field")
        mark = mark if pair.verdict == AHEAD else "hollow"
        tip = f"{standing.size:,} rows: {in_unit(lead_of(pair), findings.info)}"
        layers.append(spec.Line([pair.low, pair.high], [row, row], bar, learner=learner))
        layers.append(spec.Marks([pair.lead], [row], [tip], mark, learner=learner))
    name = f"{findings.info.unit or findings.info.label} behind {brief(standing.leader)}"
    x = Axis(name + ", enlarged" * enlarged, *ends)
    y, title = spec.rows_axis([brief(p.second, 24) for p in pairs]), f"{standing.size:,} rows"
    texts, notes = "; ".join(map(lead_of, pairs)), (_CUT,) * cut
    drawn = (spec.Rule(0.0, upright=True, kind="base"), *layers)
    chart = Chart(title, f"{x.label}, {title}", texts, x, y, drawn, kind="forest", notes=notes)
    return replace(chart, names=findings.design.names)
