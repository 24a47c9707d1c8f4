"""Charts as SVG with the page's classes, which set their colours in light and dark mode.

Elements of a learner carry its number in ``data-l``, so that the page can hide them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from markupsafe import Markup, escape

from simstudy.report.charts import spec
from simstudy.report.charts.spec import Chart, Floats, Line, Look, drawable
from simstudy.report.prose.numbers import brief

Extent: TypeAlias = tuple[float, float]  # width and height
Point: TypeAlias = tuple[float, float] | None  # None if it cannot be drawn
CURVES, NARROW = (780.0, 430.0), (360.0, 320.0)  # of pictures
LOW = (780.0, 350.0)
MANY_CURVES, MANY_NARROW = (780.0, 560.0), (360.0, 420.0)  # those of many lines
LINES, MANY_LINES = (CURVES, NARROW), (MANY_CURVES, MANY_NARROW)
SMALL, TIMES, STUDY = (220.0, 176.0), (340.0, 250.0), (330.0, 325.0)
FONT = 12.0  # pixels of letters
_LETTER = 7.0  # the width of a letter of 12 pixels, erring on the wide side
_MAX_LABEL = 190.0  # width beside a line; longer ones go to the key
_LEADER, _APART = 38.0, 16.0  # how far labels are from the frame, and from each other
# The shapes of `spec.MARKERS` around (0, 0), distinct without their colours.
FORMS = (
    "M-4 0A4 4 0 1 0 4 0A4 4 0 1 0-4 0Z",
    "M-3.6-3.6H3.6V3.6H-3.6Z",
    "M0-4.8L4.5 3.4H-4.5Z",
    "M0-5.2L4.6 0L0 5.2L-4.6 0Z",
    "M0 4.8L4.5-3.4H-4.5Z",
    "M-1.6-4.6H1.6V-1.6H4.6V1.6H1.6V4.6H-1.6V1.6H-4.6V-1.6H-1.6Z",
    "M-4.4-2.2L-2.2-4.4L0-2.2L2.2-4.4L4.4-2.2L2.2 0L4.4 2.2L2.2 4.4L0 2.2L-2.2 4.4"
    "L-4.4 2.2L-2.2 0Z",
    "M-4.8 0L3.4-4.5V4.5Z",
    "M4.8 0L-3.4-4.5V4.5Z",
    "M0-5.4L1.6-1.8L5.2-1.7L2.4 .7L3.3 4.4L0 2.3L-3.3 4.4L-2.4 .7L-5.2-1.7L-1.6-1.8Z",
)


class Picture(NamedTuple):
    """A chart as SVG, and whether lines have their labels beside them."""

    picture: Markup
    labelled: bool


class Panel(NamedTuple):
    """A small picture with its title, or why there is none, and the numbers of its learners."""

    title: str
    picture: Markup | None
    learners: str = ""
    note: str = ""


def element(name: str, *children: str, **attributes: object) -> Markup:
    """An element, its content escaped unless it is Markup; ``_`` in attributes stands for ``-``."""
    head = name
    for key, value in attributes.items():
        if value is not None:
            head += f' {key.rstrip("_").replace("_", "-")}="{escape(_short(value))}"'
    return Markup(f"<{head}>{''.join(map(escape, children))}</{name}>")


def _short(value: object) -> object:
    """Coordinates to a tenth of a pixel; all else as it is."""
    if not isinstance(value, float):
        return value
    short = f"{value:.1f}".removesuffix(".0")
    return "0" if short == "-0" else short


def at(place: complex) -> str:
    """A point of a path."""
    return f"{place.real:.1f} {place.imag:.1f}"


def path(kind: str, d: str) -> Markup:
    """A path of a class."""
    return element("path", class_=kind, d=d)


def whole(size: Extent, name: str, title: str, description: str, *content: str) -> Markup:
    """A whole picture with its title and description; ``name`` must be unique on a page."""
    (width, height), ids = size, (f"{name}-t", f"{name}-d")
    named = element("title", title, id=ids[0]), element("desc", description, id=ids[1])
    shape = {"viewBox": f"0 0 {_short(width)} {_short(height)}", "width": width, "height": height}
    return element("svg", *named, *content, **shape, role="img", aria_labelledby=" ".join(ids))


def classes(of: Look) -> str:
    """The classes that give a learner its colour and dashes."""
    return f"s k{of.colour} d{of.dash}"


def mark(of: Look, x: float, y: float, scale: float = 1.0) -> Markup:
    """The mark of a learner at a point."""
    grown = "" if scale == 1 else f" scale({scale:.2g})"
    place = f"translate({_short(float(x))} {_short(float(y))}){grown}"
    return element("path", d=FORMS[of.marker], transform=place)


def swatch(look: Look) -> Markup:
    """A piece of a line with its mark, for a key."""
    piece = element("g", path("line", "M1 7H33"), mark(look, 17, 7), class_=classes(look))
    return element("svg", piece, viewBox="0 0 34 14", width=34, height=14, aria_hidden="true")


def swatches(labels: Sequence[str], names: Sequence[str]) -> list[tuple[int, str, Markup]]:
    """The place, the label and the swatch of every treatment, by its name (`spec.looks`)."""
    both = zip(labels, spec.looks(tuple(names)), strict=True)
    return [(place, label, swatch(look)) for place, (label, look) in enumerate(both)]


class _Frame:
    """The mapping from the numbers of a chart to pixels."""

    def __init__(self, chart: Chart, size: Extent, room: float) -> None:
        self.chart, (self.width, self.height) = chart, size
        self.font = 11.0 if size[0] < 300 else FONT
        self.letter = _LETTER * self.font / FONT
        self.top = 28.0 if chart.y.label and size[0] > 300 else 8.0
        self.bottom = self.height - (24.0 if size[0] < 300 else 44.0)
        ticks = chart.y.ticks(max(5, int((self.bottom - self.top) / 45)))
        end = "\n" if self.width < 400 else " "  # of a line of a label
        self.ticks = [(value, label.replace("\n", end).split("\n")) for value, label in ticks]
        longest = max((len(line) for _, lines in self.ticks for line in lines), default=3)
        last = max((len(label) for _, label in chart.x.marks[-1:]), default=0) * self.letter / 2
        wide = 16 if chart.y.kind == "rows" else 10  # names have wider letters than numbers
        self.left, self.right = longest * self.letter + wide, self.width - max(room + 6, last - 4)
        if not chart.frame:  # whose layers leave room for their own texts
            margin = FONT / 2 if room else 0.0  # for half a label
            self.left, self.right = 0.0, self.width - room
            self.top, self.bottom = margin, self.height - margin

    def x(self, value: float) -> float:
        return self.left + self.chart.x.share(value) * (self.right - self.left)

    def y(self, value: float) -> float:
        return self.bottom - self.chart.y.share(value) * (self.bottom - self.top)

    def points(self, x: Floats, y: Floats) -> list[Point]:
        """Positions of points; None for those that cannot be drawn."""
        both = zip(x, y, strict=True)
        return [(self.x(a), self.y(b)) if drawable(a) and drawable(b) else None for a, b in both]

    def axes(self) -> Markup:
        """The lines across, the ticks, and as many of their labels as there is room for."""
        parts = []
        for value, lines in self.ticks:
            y, x = self.y(value), self.left - 6
            parts.append(path("grid", f"M{self.left:.1f} {y:.1f}H{self.right:.1f}"))
            spans = [
                element("tspan", words, x=x, y=y + 4 + 14 * (place - (len(lines) - 1) / 2))
                for place, words in enumerate(lines)
            ]
            name = Markup(" ").join(spans) if len(lines) > 1 else lines[0]
            parts.append(element("text", name, x=x, y=y + 4, text_anchor="end"))
        parts.append(path("axis", f"M{self.left:.1f} {self.bottom}H{self.right:.1f}"))
        for value, label in self.chart.x.fitting((self.right - self.left) / self.letter):
            parts.append(path("axis", f"M{self.x(value):.1f} {self.bottom}v4"))
            if label:
                at = {"x": self.x(value), "y": self.bottom + 17, "text_anchor": "middle"}
                parts.append(element("text", label, **at))
        if self.width > 300:
            middle = (self.left + self.right) / 2
            below = {"x": middle, "y": self.height - 8, "text_anchor": "middle"}
            parts.append(element("text", self.chart.x.label, **below))
            if self.chart.y.label:
                name = brief(self.chart.y.label, int(self.width / self.letter))
                parts.append(element("text", name, x=0, y=12, class_="name"))
        return element("g", *parts, class_="axes")


def draw(chart: Chart, name: str, size: Extent, labels: bool = False) -> Picture:
    """A chart as SVG; with ``labels``, beside the ends of lines if they fit there."""
    lines = [line for line in chart.labelled if labels and any(map(drawable, line.y))]
    widest = max((_LETTER * len(line.label) for line in lines), default=0.0)
    frame = _Frame(chart, size, _LEADER + 20 + widest if lines else 0.0)
    places = None
    if widest <= _MAX_LABEL and all(drawable(line.y[-1]) for line in lines):
        ends = [frame.y(line.y[-1]) for line in lines]
        places = spec.spread(ends, _APART, frame.top, frame.bottom)
    if places is None:
        lines, places, frame = [], [], _Frame(chart, size, 0.0)
    parts = [frame.axes()] if chart.frame else []
    by_look = itertools.groupby(chart.layers, lambda at: (at.learner, at.treatment, at.look))
    for (learner, treatment, look), layers in by_look:
        content = [_layer(layer, frame) for layer in layers]
        hidden = treatment if learner is None else learner
        grouped = {"class_": classes(look) if look else None, "data_l": hidden}
        parts += content if look is hidden is None else [element("g", *content, **grouped)]
    rules = [layer for layer in chart.layers if isinstance(layer, spec.Rule) and layer.words]
    parts += [_words(rule, frame) for rule in rules]
    parts += [_label(line, place, frame) for line, place in zip(lines, places, strict=True)]
    rows = zip(chart.y.marks, chart.links, strict=False)
    parts += [
        _link(href, frame.y(at - 0.5), frame.y(at + 0.5), size[0]) for (at, _), href in rows if href
    ]
    if chart.kind:
        corners = None
        if chart.kind == "decision":  # which the page draws anew
            pixels = f"{frame.left:.1f} {frame.right:.1f} {frame.bottom:.1f} {frame.top:.1f}"
            corners = f"{pixels} {chart.y.high:.6g} {chart.y.low:.6g}"
        parts = [element("g", *parts, class_=chart.kind, data_frame=corners)]
    return Picture(whole(size, name, chart.title, chart.description, *parts), bool(lines))


def panels(charts: Iterable[Chart], name: str, size: Extent = SMALL) -> list[Panel]:
    """Charts side by side."""
    drawn = []
    for index, chart in enumerate(charts):
        title = brief(chart.heading.replace("\n", " "), 90)
        picture = None if chart.absent else draw(chart, f"{name}-{index}", size).picture
        drawn.append(Panel(title, picture, " ".join(map(str, chart.learners)), chart.absent))
    return drawn


def _link(href: str, top: float, bottom: float, width: float) -> Markup:
    """What opens a page, over a row."""
    area = element("rect", x=0, y=top, width=width, height=bottom - top, class_="row")
    return element("a", element("title", href), area, href=href)


def _label(line: Line, place: float, frame: _Frame) -> Markup:
    """The label of a line beside its end, after its mark."""
    x, y, beside = frame.x(line.x[-1]) + 6, frame.y(line.y[-1]), frame.right + _LEADER
    end, look = beside - (6 if line.look else 0), line.look
    leader = path("leader", f"M{x:.1f} {y:.1f}L{end - 8:.1f} {place:.1f}H{end:.1f}")
    text = element("text", line.label, x=beside + 8, y=place + 4)
    drawn = mark(look, beside, place) if look else Markup()
    kind = f"s ceil {line.kind}"
    if look:
        kind = classes(look) + " field-end" * (line.kind == "field")
    hidden = line.treatment if line.learner is None else line.learner
    return element("g", leader, drawn, text, class_=kind, data_l=hidden)


def _layer(layer: spec.Layer, frame: _Frame) -> Markup:
    """Any layer."""
    match layer:
        case Line():
            return path(layer.kind, line(frame.points(layer.x, layer.y)))
        case spec.Span(kind="bar"):
            return path(layer.kind, _bars(layer, frame))
        case spec.Span():
            inside = frame.chart.y.inside
            ends = ([inside(v) if drawable(v) else v for v in vs] for vs in (layer.low, layer.high))
            return path(layer.kind, band(*(frame.points(layer.x, values) for values in ends)))
        case spec.Marks(kind="ring"):
            r = 8.0 if frame.width > 500 else 6.5
            turn = f"a{r} {r} 0 1 0 {2 * r} 0a{r} {r} 0 1 0-{2 * r} 0"
            shown = filter(None, frame.points(layer.x, layer.y))
            return path("ring", "".join(f"M{x - r:.1f} {y:.1f}{turn}" for x, y in shown))
        case spec.Marks(tips=()):
            points = frame.points(layer.x, layer.y)
            dots = dict.fromkeys(f"M{p[0]:.0f} {p[1]:.0f}h0" for p in points if p)
            return path("dots", "".join(dots))  # which are many: to a pixel, each place once
        case spec.Marks():
            return _marks(layer, frame)
        case spec.Rule(upright=True):
            return path(layer.kind, f"M{frame.x(layer.at):.1f} {frame.top}V{frame.bottom}")
        case spec.Rule():
            y = frame.y(layer.at)
            return path(layer.kind, f"M{frame.left:.1f} {y:.1f}H{frame.right:.1f}")
        case spec.Text():
            anchor = ("end", "middle", "start")[layer.side + 1]
            at = {"x": frame.x(layer.x), "y": frame.y(layer.y) + 4}
            return element("text", layer.text, **at, text_anchor=anchor, class_=layer.kind)
    raise TypeError(type(layer))


def _bars(layer: spec.Span, frame: _Frame) -> str:
    """Intervals, cut at the edge; those that are whole have caps."""
    axis, parts = frame.chart.y, []
    for value, low, high in zip(layer.x, layer.low, layer.high, strict=True):
        if drawable(low) and drawable(high):
            x = frame.x(value)
            bottom, top = (frame.y(axis.inside(end)) for end in (low, high))
            parts.append(f"M{x:.1f} {bottom:.1f}V{top:.1f}")
            whole = (end for end in (low, high) if axis.holds(end))
            parts += [f"M{x - 3:.1f} {frame.y(end):.1f}h6" for end in whole]
    return "".join(parts)


def _marks(layer: spec.Marks, frame: _Frame) -> Markup:
    """Marks with their numbers, which the page shows beside the pointer."""
    scale, look, parts = 1.0 if frame.width > 500 else 0.8, layer.look, []
    scale *= 0.6 if layer.kind == "field" else 1.0
    points, areas = frame.points(layer.x, layer.y), layer.areas or [1.0] * len(layer.tips)
    hollow = layer.hollow or [False] * len(layer.tips)
    for point, tip, area, empty in zip(points, layer.tips, areas, hollow, strict=True):
        title = element("title", tip)
        if not point:
            if frame.chart.kind == "decision" and look:  # the page may move it
                shape = mark(look, 0.0, 0.0, scale)
                parts.append(element("g", title, shape, class_="pt", display="none"))
            continue
        x, y = point
        if layer.kind == "median":
            shape = path("median", f"M{x - 8:.1f} {y:.1f}h16")
        elif layer.kind == "crossing":
            shape = mark(Look(1, 0, 3), x, y)
        elif look:
            shape = mark(look, x, y, scale)
        elif layer.form is not None:
            shape = mark(Look(0, 0, layer.form), x, y, scale * math.sqrt(area))
        else:
            shape = element("circle", cx=x, cy=y, r=2.6)
        kind = "pt hollow" if empty else "pt"
        parts.append(element("g", title, shape, class_=kind, data_x=x, data_y=y))
    return element("g", *parts, class_=layer.kind)


def _words(layer: spec.Rule, frame: _Frame) -> Markup:
    """The label of a horizontal line, in front of all other layers."""
    y = frame.y(layer.at)
    place = y + 14 if y + 15 <= frame.bottom - 2 else y - 5
    x, anchor = (frame.left + 2, "start") if layer.at_left else (frame.right - 2, "end")
    return element("text", layer.words, x=x, y=place, text_anchor=anchor, class_="note")


def line(points: Iterable[Point]) -> str:
    """Path data through points, broken where there is none."""
    parts, pen = "", "M"
    for point in points:
        if point:
            parts += f"{pen}{_short(float(point[0]))} {_short(float(point[1]))}"
        pen = "L" if point else "M"
    return parts


def band(low: Sequence[Point], high: Sequence[Point]) -> str:
    """Path data of the area between two lines, in pieces where either is broken."""
    both = [(a, b) if a and b else () for a, b in zip(low, high, strict=True)]
    parts = ""
    for _, piece in itertools.groupby(both, bool):
        if ends := [*filter(None, piece)]:
            parts += line([*(end[1] for end in ends), *(end[0] for end in reversed(ends))]) + "Z"
    return parts
