"""The small figures of the report page: differences, regret, single models, seconds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from markupsafe import Markup

from simstudy.report.html import svg
from simstudy.report.html.charts import SMALL, Axes, Drawn, axis_ends, look, point
from simstudy.report.html.svg import Scale, element, group
from simstudy.report.prose.crossings import estimate
from simstudy.report.prose.numbers import duration, number, signed

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.analysis.differences import DifferenceCurve
    from simstudy.analysis.thresholds import Overtaking

_PANEL = (220.0, 176.0)
_TIMES = (340.0, 250.0)
MOST_DOTS = 200  # models that are drawn one by one


class Panel(NamedTuple):
    """A small figure with its title, or why there is none, and the numbers of its learners."""

    title: str
    picture: Markup | None
    learners: str
    note: str = ""


def _axes(sizes: Sequence[int], ends: tuple[float, float], *, signed_ticks: bool = False) -> Axes:
    """The frame of a small figure."""
    width, height = _PANEL
    labels = svg.tick_labels(Scale(*ends, 0, 1).ticks(5), signed_ticks)
    left = max((svg.text_width(label, SMALL) for label in labels), default=30) + 8
    box = (left, 6.0, width - 4, height - 24)
    return Axes(sizes, ends, box, few=True, signed_ticks=signed_ticks)


def difference(
    found: DifferenceCurve, changes: Sequence[Overtaking], sizes: Sequence[int], name: str
) -> Drawn:
    """How far one learner is ahead of another against training size, with bands and thresholds."""
    first, second, curve = found.first, found.second, found.table
    middle = curve["difference"].tolist()
    wide = [curve["band_lower"].tolist(), curve["band_upper"].tolist()]
    narrow = [curve["lower"].tolist(), curve["upper"].tolist()]
    ends, cut = axis_ends([0.0, *middle], wide[0] + wide[1])
    axes = _axes(sizes, ends, signed_ticks=True)
    x = [axes.x(size) for size in curve["size"]]
    bands = [
        element("path", class_=kind, d=svg.band(x, *([*map(axes.inside, one)] for one in both)))
        for kind, both in (("band-all", wide), ("band-each", narrow))
    ]
    marks = []
    for row in curve[curve["studied"]].to_dict("records"):
        at = axes.x(row["size"]), axes.y(row["difference"])
        numbers = f"{signed(row['difference'])} [{signed(row['lower'])}, {signed(row['upper'])}]"
        tip = f"{second} ahead of {first} at {row['size']:,.0f} rows: {numbers}"
        marks.append(point(*at, tip, _dot(*at)))
    crossed = [change for change in changes if change.estimated]
    marks += [_threshold(change, axes) for change in crossed]
    zero = element("path", class_="zero", d=f"M{axes.left} {axes.y(0):.1f}H{axes.right:.1f}")
    path = element("path", class_="line", d=svg.line(zip(x, map(axes.y, middle), strict=True)))
    where = " and ".join(f"{change.crossing:,.0f}" for change in crossed)
    description = (
        f"{second} is ahead of {first} by {signed(middle[0])} at {sizes[0]:,} rows and by "
        f"{signed(middle[-1])} at {sizes[-1]:,}."
        + f" Crossing at about {where} rows."
        * bool(where)
    )
    content = group(axes.frame, *bands, zero, path, *marks, class_="difference")
    title = f"{second} ahead of {first}"
    return Drawn(svg.figure(*_PANEL, name, title, description, content), labelled=True, cut=cut)


def _dot(x: float, y: float) -> Markup:
    return element("circle", cx=x, cy=y, r=2.6)


def _threshold(change: Overtaking, axes: Axes) -> Markup:
    """A threshold and its interval on the line of no difference."""
    start, end = axes.x(change.lower), axes.x(change.upper)
    at = axes.x(change.crossing), axes.y(0)
    tip = f"crossing at about {estimate(change)} rows"
    bar = element("path", class_="interval", d=f"M{start:.1f} {at[1]:.1f}H{end:.1f}")
    return group(bar, point(*at, tip, svg.mark(3, *at)), class_="threshold")


def regret(split: pd.DataFrame, sizes: Sequence[int], learners: Sequence[str]) -> list[Panel]:
    """What every learner's regret is made of, one panel each with the same vertical axis."""
    ends = svg.reach([0.0, *split["regret"], *split["representation"]])
    made = []
    for learner, label in enumerate(learners):
        rows = split[split["learner"] == label].sort_values("size")
        if len(rows):
            picture = _regret(rows, sizes, label, ends, f"regret{learner}")
            made.append(Panel(label, picture, str(learner)))
    return made


def _regret(
    rows: pd.DataFrame, sizes: Sequence[int], label: str, ends: tuple[float, float], name: str
) -> Markup:
    axes = _axes(sizes, ends)
    x = [axes.x(size) for size in rows["size"]]
    floor, whole = ([axes.y(v) for v in rows[key]] for key in ("representation", "regret"))
    found = rows.to_dict("records")
    marks = [
        point(
            *at,
            f"{row['size']:,} rows: regret {number(row['regret'])}, representation "
            f"{number(row['representation'])}, estimation {number(row['estimation'])}",
            _dot(*at),
        )
        for at, row in zip(zip(x, whole, strict=True), found, strict=True)
    ]
    first, last = found[0], found[-1]
    description = (
        f"Regret of {label} from {number(first['regret'])} at {sizes[0]:,} rows to "
        f"{number(last['regret'])} at {sizes[-1]:,}, of which representation "
        f"{number(first['representation'])} and {number(last['representation'])}."
    )
    content = group(
        axes.frame,
        element("path", class_="representation", d=svg.band(x, [axes.y(0)] * len(x), floor)),
        element("path", class_="estimation", d=svg.band(x, floor, whole)),
        element("path", class_="floor", d=svg.line(zip(x, floor, strict=True))),
        element("path", class_="line", d=svg.line(zip(x, whole, strict=True))),
        *marks,
        class_="regret",
    )
    return svg.figure(*_PANEL, name, f"Regret of {label}", description, content)


def models(
    scores: pd.DataFrame,
    measure: str,
    learner: int,
    sizes: Sequence[int],
    ends: tuple[float, float],
    name: str,
) -> Markup:
    """Every model's score with one learner against training size, and their medians."""
    axes = _axes(sizes, ends)
    label = str(scores["learner"].iloc[0])
    middles, places = [], []
    gaps = [axes.x(b) - axes.x(a) for a, b in itertools.pairwise(sizes)]
    side = min([14.0, *(0.6 * gap for gap in gaps)])
    for size in sizes:
        rows = scores[scores["size"] == size]
        values = rows[measure].to_numpy(dtype=np.float64)
        # Golden steps keep neighbours apart, and put a model in the same place every time.
        aside = (rows["model"].to_numpy() * 0.6180339887 % 1 - 0.5) * side
        drawn = [(x, v) for x, v in zip(aside, values, strict=True) if svg.drawable(v)]
        places += [(axes.x(size) + x, axes.y(v)) for x, v in drawn[:MOST_DOTS]]
        known = values[~np.isnan(values)]
        middles.append(float(np.median(known)) if len(known) else math.nan)
    x = [axes.x(size) for size in sizes]
    y = [axes.y(value) if svg.drawable(value) else math.nan for value in middles]
    marks = [
        point(
            place,
            height,
            f"median of {label} at {size:,} rows: {number(value)}",
            element("path", class_="median", d=f"M{place - 8:.1f} {height:.1f}h16"),
        )
        for place, height, size, value in zip(x, y, sizes, middles, strict=True)
        if svg.drawable(height)
    ]
    said = [f"{number(value)} at {size:,} rows" for size, value in zip(sizes, middles, strict=True)]
    content = group(
        element("path", class_="dots", d=svg.dots(places)),
        element("path", class_="thin", d=svg.line(zip(x, y, strict=True))),
        *marks,
        class_=look(learner) + " models",
    )
    title, description = f"Scores of {label} on every model", f"Medians: {', '.join(said)}."
    return svg.figure(*_PANEL, name, title, description, axes.frame, content)


def seconds(
    medians: Sequence[tuple[int, str, Sequence[float]]],
    sizes: Sequence[int],
    what: str,
    ends: tuple[float, float],
    name: str,
) -> Markup:
    """Median seconds of all learners against training size, both axes logarithmic."""
    width, height = _TIMES
    y = Scale(*ends, height - 46, 10, logarithmic=True)
    axes = Axes(sizes, (0.0, 1.0), (56.0, 10.0, width - 4, height - 46), ticks=False)
    rules = [axes.across(y(tick), duration(tick)) for tick in y.ticks()]
    lines = []
    for learner, label, values in medians:
        shown = [(size, value) for size, value in zip(sizes, values, strict=True) if value > 0]
        places = [(axes.x(size), y(value)) for size, value in shown]
        marks = [
            point(*at, f"{label}, {size:,} rows: {duration(value)}", svg.mark(learner, *at, 0.8))
            for at, (size, value) in zip(places, shown, strict=True)
        ]
        path = element("path", class_="line", d=svg.line(places))
        lines.append(group(path, *marks, class_=look(learner), data_l=learner))
    said = "; ".join(
        f"{label} {duration(values[0])} to {duration(values[-1])}" for _, label, values in medians
    )
    under = svg.text("training rows", (axes.left + width) / 2, height - 8, text_anchor="middle")
    frame = group(*rules, class_="axes")
    description = f"From {sizes[0]:,} to {sizes[-1]:,} training rows: {said}."
    title = f"Median time to {what}"
    return svg.figure(width, height, name, title, description, frame, axes.frame, under, *lines)
