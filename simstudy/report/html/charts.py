"""The figures of the report page, as SVG with the page's classes.

Whatever belongs to a learner carries its number in ``data-l``, so that the page can hide it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from simstudy.measures.base import MeasureInfo
from simstudy.report.html import svg
from simstudy.report.html.svg import Scale, element, group
from simstudy.report.prose.numbers import number
from simstudy.report.prose.phrases import axis_label

COLOURS, DASHES = 7, 4  # how many the style sheet has
FONT = 12.0  # of figures, in pixels; as in the style sheet
SMALL = 11.0
_LONGEST_LABEL = 150.0  # beside a line; longer ones go to the key
_CUT = 10.0  # intervals that go so many times the spread of the means beyond them are cut
MOST_BARS = 10  # learners that are drawn with their intervals
MOST_LIMITS = 8  # learners whose limits are drawn


class Curve(NamedTuple):
    """A learner's means, by size, with what else is drawn for it."""

    learner: int
    label: str
    means: Sequence[float]
    lower: Sequence[float]
    upper: Sequence[float]
    limit: Sequence[float] = ()


class Drawn(NamedTuple):
    """A figure, whether lines have their labels beside them, and whether any bar was cut."""

    picture: Markup
    labelled: bool
    cut: bool


def look(learner: int) -> str:
    """The classes that give a learner its colour and dashes."""
    return f"s k{learner % COLOURS} d{learner % DASHES}"


def swatch(learner: int) -> Markup:
    """A piece of a learner's line with its mark, for a key."""
    return element(
        "svg",
        group(
            element("path", class_="line", d="M1 7H33"),
            svg.mark(learner, 17, 7),
            class_=look(learner),
        ),
        viewBox="0 0 34 14",
        width=34,
        height=14,
        aria_hidden="true",
    )


class Axes:
    """A frame for lines against training size, on a logarithmic axis."""

    def __init__(
        self,
        sizes: Sequence[int],
        ends: tuple[float, float],
        box: tuple[float, float, float, float],
        *,
        few: bool = False,
        signed_ticks: bool = False,
        inset: float = 16,
        ticks: bool = True,
    ) -> None:
        self.left, self.top, self.right, self.bottom = box
        inset = min(inset, (self.right - self.left) / 6)
        self.x = Scale(sizes[0], sizes[-1], self.left + inset, self.right - inset, logarithmic=True)
        self.y = Scale(*ends, self.bottom, self.top)
        at = self.y.ticks(max(5, int((self.bottom - self.top) / 45))) * ticks
        labels = svg.tick_labels(at, signed_ticks)
        parts = [self.across(self.y(tick), label) for tick, label in zip(at, labels, strict=True)]
        self.frame = group(*parts, *self._sizes(sizes, few), class_="axes")

    def across(self, y: float, label: str) -> Markup:
        """A line at a place of the vertical axis, and what it stands for."""
        return group(
            element("path", class_="grid", d=f"M{self.left} {y:.1f}H{self.right:.1f}"),
            svg.text(label, self.left - 6, y + 4, text_anchor="end"),
        )

    def _sizes(self, sizes: Sequence[int], few: bool) -> Iterable[Markup]:
        """Ticks at all sizes, and as many of them named as there is room for."""
        yield element("path", class_="axis", d=f"M{self.left} {self.bottom}H{self.right:.1f}")
        free, font = -math.inf, SMALL if few else FONT
        last = self.x(sizes[-1]) - svg.text_width(f"{sizes[-1]:,}", font) / 2 - 5
        for size in sizes:
            x, half = self.x(size), svg.text_width(f"{size:,}", font) / 2
            yield element("path", class_="axis", d=f"M{x:.1f} {self.bottom}v4")
            if x - half >= free and (x + half <= last or size == sizes[-1]):
                yield svg.text(f"{size:,}", x, self.bottom + 17, text_anchor="middle")
                free = x + half + 5

    def inside(self, value: float) -> float:
        """A number moved onto the axis, if it is beyond."""
        return self.y(min(max(value, self.y.low), self.y.high))


def axis_ends(
    centres: Iterable[float], reaches: Iterable[float], also: Iterable[float] = ()
) -> tuple[tuple[float, float], bool]:
    """The ends of a vertical axis, and whether some interval goes beyond them."""
    inner = [value for value in centres if svg.drawable(value)]
    outer = [value for value in reaches if svg.drawable(value)]
    spread = max(inner) - min(inner) if inner else 0.0
    if not spread:
        return svg.reach([*inner, *outer, *also]), False
    low, high = min(inner) - _CUT * spread, max(inner) + _CUT * spread
    kept = [min(max(value, low), high) for value in outer]
    return svg.reach([*inner, *kept, *also]), kept != outer


def point(x: float, y: float, tip: str, *shape: Markup) -> Markup:
    """A mark with its numbers, which the page shows beside the pointer."""
    return group(element("title", tip), *shape, class_="pt", data_x=x, data_y=y)


def learning_curves(
    curves: Sequence[Curve],
    sizes: Sequence[int],
    info: MeasureInfo,
    name: str,
    width: float,
    ceiling: Sequence[float] = (),
) -> Drawn:
    """Means against training size with their intervals, the truth's ceiling and limits."""
    height = 430.0 if width > 500 else 320.0
    if len(curves) > MOST_LIMITS:
        curves = [curve._replace(limit=()) for curve in curves]
    limits = [value for curve in curves for value in curve.limit]
    centres = [*limits, *ceiling, *(value for curve in curves for value in curve.means)]
    if len(curves) > MOST_BARS:
        none = [math.nan] * len(sizes)
        curves = [curve._replace(lower=none, upper=none) for curve in curves]
    reaches = [value for curve in curves for value in (*curve.lower, *curve.upper)]
    ends, cut = axis_ends(centres, reaches, [0.0] if info.zero else ())
    labels = _label_places(curves, ceiling, ends, (34.0, height - 46)) if width > 500 else None
    room = 0.0
    if labels:
        room = 26 + max(svg.text_width(label, FONT) for label, *_ in labels)
    ticks = [label for most in (5, 7) for label in svg.tick_labels(Scale(*ends, 0, 1).ticks(most))]
    left = max(svg.text_width(tick, FONT) for tick in ticks) + 10 if ticks else 40.0
    axes = Axes(sizes, ends, (left, 28, width - 4 - room, height - 46), inset=26)
    parts = [axes.frame, *_zero(axes, info.zero)]
    parts.append(svg.text(svg.shortened(axis_label(info), width, FONT), 0, 12, class_="name"))
    parts.append(
        svg.text("training rows", (axes.left + axes.right) / 2, height - 8, text_anchor="middle")
    )
    if any(map(svg.drawable, ceiling)):
        across = [(axes.x(size), axes.y(value)) for size, value in zip(sizes, ceiling, strict=True)]
        parts.append(element("path", class_="ceiling", d=svg.line(across)))
    closest = min((axes.x(b) - axes.x(a) for a, b in itertools.pairwise(sizes)), default=80)
    side = min(0.4 * closest, 7.0 * (len(curves) - 1)) / 2
    asides = np.linspace(-side, side, len(curves)).tolist()
    for aside, curve in zip(asides, curves, strict=True):
        parts.append(_curve(curve, axes, sizes, aside, info))
    for label, learner, y, place in labels or ():
        start = axes.x(sizes[-1]) + (0 if learner is None else asides[learner] + 6)
        leader = f"M{start:.1f} {axes.y(y):.1f}L{axes.right + 2:.1f} {place:.1f}h8"
        parts.append(
            group(
                element("path", class_="leader", d=leader),
                svg.text(label, axes.right + 14, place + 4),
                class_="s ceil" if learner is None else look(learner),
                data_l=learner,
            )
        )
    title = f"{info.label} against training size"
    picture = svg.figure(width, height, name, title, _told(curves, sizes, info), *parts)
    return Drawn(picture, bool(labels), cut)


def _told(curves: Sequence[Curve], sizes: Sequence[int], info: MeasureInfo) -> str:
    """The curves in words."""
    said = [
        f"{curve.label} from {number(curve.means[0])} to {number(curve.means[-1])}"
        for curve in curves[:12]
    ]
    more = f"; and {len(curves) - 12} more" if len(curves) > 12 else ""
    where = f"from {sizes[0]:,} to {sizes[-1]:,} training rows"
    return f"Mean {axis_label(info)} {where}: {'; '.join(said)}{more}."


def _zero(axes: Axes, words: str) -> list[Markup]:
    """A line at 0, where 0 has a meaning."""
    if not words or not axes.y.holds(0):
        return []
    y = axes.y(0)
    path = element("path", class_="zero", d=f"M{axes.left} {y:.1f}H{axes.right:.1f}")
    below = y + 15 <= axes.bottom - 2
    note = svg.text(
        words, axes.right - 2, y + 14 if below else y - 5, text_anchor="end", class_="note"
    )
    return [path, note]


def _label_places(
    curves: Sequence[Curve],
    ceiling: Sequence[float],
    ends: tuple[float, float],
    box: tuple[float, float],
) -> list[tuple[str, int | None, float, float]] | None:
    """Labels for the right ends of lines: text, learner, the line's end and the label's place.

    None where they would not fit: then a key must do.
    """
    y = Scale(*ends, box[1], box[0])
    wanted: list[tuple[str, int | None, float]] = [
        (curve.label, curve.learner, curve.means[-1])
        for curve in curves
        if svg.drawable(curve.means[-1])
    ]
    if len(wanted) < len(curves):
        return None  # some line has no end to label
    if ceiling and svg.drawable(ceiling[-1]):
        wanted.append(("ceiling", None, ceiling[-1]))
    if any(svg.text_width(label, FONT) > _LONGEST_LABEL for label, *_ in wanted):
        return None
    places = svg.spread([y(end) for *_, end in wanted], 16, *box)
    if places is None:
        return None
    return [(*one, place) for one, place in zip(wanted, places, strict=True)]


def _curve(
    curve: Curve, axes: Axes, sizes: Sequence[int], aside: float, info: MeasureInfo
) -> Markup:
    """One learner's line, bars, marks and limit."""
    x = [axes.x(size) + aside for size in sizes]
    y = [axes.y(mean) if svg.drawable(mean) else math.nan for mean in curve.means]
    bars, marks = [], []
    unit = f" {info.unit}" if info.unit else ""
    for place, height, mean, low, high, size in zip(
        x, y, curve.means, curve.lower, curve.upper, sizes, strict=True
    ):
        if not svg.drawable(mean):
            continue
        tip = f"{curve.label}, {size:,} rows: {number(mean)}{unit}"
        if svg.drawable(low) and svg.drawable(high):
            tip += f" [{number(low)}, {number(high)}]"
            bars.append(f"M{place:.1f} {axes.inside(low):.1f}V{axes.inside(high):.1f}")
            bars += [
                f"M{place - 3:.1f} {axes.y(end):.1f}h6" for end in (low, high) if axes.y.holds(end)
            ]
        marks.append(point(place, height, tip, svg.mark(curve.learner, place, height)))
    limit = [
        (axes.x(size), axes.y(value)) if svg.drawable(value) else (math.nan, math.nan)
        for size, value in zip(sizes, curve.limit, strict=False)
    ]
    return group(
        element("path", class_="limit", d=svg.line(limit)) if limit else "",
        element("path", class_="bar", d="".join(bars)),
        element("path", class_="line", d=svg.line(zip(x, y, strict=True))),
        *marks,
        class_=look(curve.learner),
        data_l=curve.learner,
    )
