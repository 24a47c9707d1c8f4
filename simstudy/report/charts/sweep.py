"""How winners and thresholds move from one variant of a study to the next."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from simstudy.analysis.findings import ModelFindings
from simstudy.analysis.standings import Standing
from simstudy.analysis.thresholds import Overtaking
from simstudy.experiments import shared_words
from simstudy.report.charts import spec
from simstudy.report.charts.spec import Axis, Chart
from simstudy.report.prose.crossings import overtaking
from simstudy.report.prose.phrases import listed

MAX_PAIRS = 6  # whose thresholds are drawn
_HIGH = 1.15  # of the bar of a winner, as a factor of the size
_SIDE = 0.07  # between the thresholds of two pairs, in the way to the next variant


class _Winner(NamedTuple):
    """The best learner at a size of a variant."""

    place: int
    size: int
    tip: str
    alone: bool  # whether it beats all others


def winners(found: Mapping[str, ModelFindings], learners: Sequence[str]) -> Chart:
    """The learner with the best mean at each size of each variant; with a bar if it beats all."""
    every = [*found.values()]
    kind = shared_words([one.design.words for one in every])
    sizes = sorted({size for one in every for size in one.design.sizes})
    marks: dict[str, list[_Winner]] = {}
    told = []
    for place, (name, one) in enumerate(found.items()):
        for standing in one.standings:
            tip = f"{name}, {standing.size:,} rows: {standing.leader}, {_lead(standing)}"
            told.append(tip)
            own = _Winner(place, standing.size, tip, standing.wins and not standing.untested)
            marks.setdefault(standing.leader, []).append(own)
    layers: list[spec.Layer] = []
    for label, wins in marks.items():
        learner, clear = learners.index(label), [win for win in wins if win.alone]
        places = [float(win.place) for win in clear]
        low, high = ([win.size * factor for win in clear] for factor in (1 / _HIGH, _HIGH))
        if clear:
            layers.append(spec.Span(places, low, high, learner=learner))
        places, at = [float(win.place) for win in wins], [float(win.size) for win in wins]
        layers.append(spec.Marks(places, at, [win.tip for win in wins], learner=learner))
    title = f"the {kind.treatment} with the best mean at each {kind.size}, by variant"
    y = spec.sizes_axis(sizes, f"{kind.dose} rows", 0.08)
    return Chart("winners", title, "; ".join(told), _variants([*found]), y, tuple(layers))


def _lead(standing: Standing) -> str:
    """Whom the learner of best mean beats, or from whom it does not differ significantly."""
    if level := [pair.second for pair in (*standing.level, *standing.identical)]:
        return f"not significantly better than {listed(level)}"
    if standing.beaten_by:
        return f"beaten by {listed([pair.second for pair in standing.beaten_by])} where both ran"
    if standing.wins:
        return "beats all" + " that it could be tested against" * bool(standing.untested)
    return "not compared"


def thresholds(found: Mapping[str, ModelFindings], learners: Sequence[str]) -> Chart | None:
    """Between which sizes one learner overtakes another, by variant; None if none ever does.

    The looks of pairs come after those of the learners.
    """
    changes: dict[tuple[str, str], list[tuple[int, str, Overtaking]]] = {}
    for place, (name, one) in enumerate(found.items()):
        for course in one.courses:
            for change in course.changes:
                pair = (str(change.ahead), str(change.behind))
                changes.setdefault(pair, []).append((place, name, change))
    if not changes:
        return None
    shown = [*changes][:MAX_PAIRS]
    layers: list[spec.Layer] = []
    for index, pair in enumerate(shown):
        series, side = len(learners) + index, _SIDE * (index - (len(shown) - 1) / 2)
        label = f"{pair[0]} overtakes {pair[1]}"
        x = [place + side for place, _, _ in changes[pair]]
        low = [change.before for _, _, change in changes[pair]]
        high = [change.after for _, _, change in changes[pair]]
        at = [_middle(change) for _, _, change in changes[pair]]
        tips = [f"{name}: {overtaking(change)}" for _, name, change in changes[pair]]
        layers += [
            spec.Span(x, low, high, series=series),
            spec.Line(
                *_route(dict(zip(x, at, strict=True)), len(found), side),
                "line",
                label,
                series=series,
            ),
            spec.Marks(x, at, tips, series=series),
        ]
    kind = shared_words([one.design.words for one in found.values()])
    sizes = sorted({size for one in found.values() for size in one.design.sizes})
    told = "; ".join(tip for layer in layers if isinstance(layer, spec.Marks) for tip in layer.tips)
    left = len(changes) - len(shown)
    return Chart(
        "thresholds",
        f"the sizes between which one {kind.treatment} overtakes another, by variant",
        told,
        _variants([*found]),
        spec.sizes_axis(sizes, f"{kind.dose} rows", 0.08),
        tuple(layers),
        notes=(f"{left} more pairs are in the table.",) * (left > 0),
    )


def _route(
    known: Mapping[float, float], variants: int, side: float
) -> tuple[list[float], list[float]]:
    """The points of a line, broken at variants without a threshold."""
    x = [place + side for place in range(variants)]
    return x, [known.get(place, math.nan) for place in x]


def _middle(change: Overtaking) -> float:
    """Where the threshold is drawn: its estimate, or the middle of the bracket."""
    return change.crossing if change.estimated else math.sqrt(change.before * change.after)


def _variants(names: Sequence[str]) -> Axis:
    """The axis of the variants, in their order."""
    marks = tuple((float(place), name) for place, name in enumerate(names))
    return Axis("variant", -0.5, len(names) - 0.5, marks=marks)
