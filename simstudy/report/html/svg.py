"""A small builder of SVG: scales, ticks and marks. Colours are the style sheet's."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from simstudy.report.prose.numbers import minus

# Marks around (0, 0), told apart by form alone.
MARKS = (
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
_LARGEST = 1e150  # numbers beyond it are drawn as little as infinity is


def element(name: str, *children: str, **attributes: object) -> Markup:
    """An element, with everything in it escaped that is not Markup already.

    In names of attributes an underscore stands for a hyphen, but for one at the end: ``class_``.
    """
    said = [
        f' {key.rstrip("_").replace("_", "-")}="{escape(_text(value))}"'
        for key, value in attributes.items()
        if value is not None
    ]
    inside = "".join(escape(child) for child in children)
    return Markup(f"<{name}{''.join(said)}>{inside}</{name}>")


def group(*children: str, **attributes: object) -> Markup:
    """A group of elements."""
    return element("g", *children, **attributes)


def text(content: str, x: float, y: float, **attributes: object) -> Markup:
    """A line of text at a point."""
    return element("text", content, x=x, y=y, **attributes)


def figure(
    width: float, height: float, name: str, title: str, description: str, *content: str
) -> Markup:
    """A whole picture with its title and what it shows in words, for those who cannot see it.

    ``name`` must be of its own on a page.
    """
    return element(
        "svg",
        element("title", title, id=f"{name}-t"),
        element("desc", description, id=f"{name}-d"),
        *content,
        viewBox=f"0 0 {_text(float(width))} {_text(float(height))}",
        width=width,
        height=height,
        role="img",
        aria_labelledby=f"{name}-t {name}-d",
    )


def _text(value: object) -> object:
    """Coordinates to a tenth of a pixel; all else as it is."""
    if not isinstance(value, float):
        return value
    short = f"{value:.1f}".removesuffix(".0")
    return "0" if short == "-0" else short


def drawable(value: float) -> bool:
    """Whether a number has a place in a figure."""
    return abs(value) < _LARGEST  # false for NaN, too


@dataclass(frozen=True)
class Scale:
    """From numbers to places along an axis.

    Attributes
    ----------
    low, high : float
        The numbers at its ends; above 0 for a logarithmic one.
    start, end : float
        The places of these.
    logarithmic : bool
        Whether equal ratios, not equal differences, are equally long.
    """

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        low, high = self.low, self.high
        if self.logarithmic:
            low, high, value = math.log(low), math.log(high), math.log(value)
        share = (value - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)

    def holds(self, value: float) -> bool:
        """Whether a number lies within the axis."""
        return self.low <= value <= self.high

    def ticks(self, about: int = 5) -> list[float]:
        """Round numbers within the axis, about as many as wished."""
        if self.logarithmic:
            return self._powers(about)
        step = _round_step((self.high - self.low) / about)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]

    def _powers(self, about: int) -> list[float]:
        """Powers of ten; where these are few, also 2 and 5 times them, or all whole multiples."""
        first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
        powers = [10.0**power for power in range(first, last + 1)]
        if len(powers) > 2:
            return powers[:: math.ceil(len(powers) / about)]
        found = powers
        for times in ((1, 2, 5), range(1, 10)):
            every = (n * 10.0**power for power in range(first - 1, last + 1) for n in times)
            found = [tick for tick in every if self.holds(tick)]
            if len(found) > 1:
                break
        return found


def _round_step(step: float) -> float:
    """The nearest of 1, 2 and 5 times a power of ten that is no smaller."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(times * power for times in (1, 2, 5, 10) if times * power >= step * (1 - 1e-9))


def reach(values: Iterable[float], share: float = 0.05) -> tuple[float, float]:
    """The ends of an axis that shows all numbers which can be shown, with some room."""
    shown = [value for value in values if drawable(value)]
    if not shown:
        return -1.0, 1.0
    low, high = min(shown), max(shown)
    least = max(abs(low), abs(high)) * 1e-9 or 1.0
    room = max((high - low) * share, least)
    return low - room, high + room


def tick_labels(ticks: Sequence[float], signed: bool = False) -> list[str]:
    """Ticks as text, all with as many decimals as the closest two need."""
    step = min((b - a for a, b in itertools.pairwise(ticks)), default=1.0)
    biggest = max(map(abs, ticks), default=0.0)
    if biggest >= 1e6 or step < 1e-6:
        return [minus(f"{tick:+.3g}" if signed else f"{tick:.3g}") for tick in ticks]
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    sign = "+" if signed else ""
    return [minus("0" if abs(t) < step / 2 else f"{t:{sign},.{decimals}f}") for t in ticks]


def line(points: Iterable[tuple[float, float]]) -> str:
    """Path data through points, broken where a point has no place."""
    parts, pen = [], "M"
    for x, y in points:
        if drawable(x) and drawable(y):
            parts.append(f"{pen}{_text(float(x))} {_text(float(y))}")
            pen = "L"
        else:
            pen = "M"
    return "".join(parts)


def band(places: Sequence[float], lower: Sequence[float], upper: Sequence[float]) -> str:
    """Path data of the area between two lines, in pieces where either has no place."""
    pieces: list[list[tuple[float, float, float]]] = [[]]
    for x, low, high in zip(places, lower, upper, strict=True):
        if drawable(low) and drawable(high):
            pieces[-1].append((x, low, high))
        elif pieces[-1]:
            pieces.append([])
    there = [[(x, high) for x, _, high in piece] for piece in pieces]
    back = [[(x, low) for x, low, _ in reversed(piece)] for piece in pieces]
    return "".join(
        line([*one, *other]) + "Z" for one, other in zip(there, back, strict=True) if one
    )


def dots(points: Iterable[tuple[float, float]]) -> str:
    """Path data of dots: lines without length, which a round cap makes visible."""
    return "".join(
        f"M{_text(float(x))} {_text(float(y))}h0" for x, y in points if drawable(x) and drawable(y)
    )


def mark(form: int, x: float, y: float, size: float = 1.0) -> Markup:
    """One of the marks at a point."""
    grown = "" if size == 1 else f" scale({size:g})"
    return element(
        "path",
        d=MARKS[form % len(MARKS)],
        transform=f"translate({_text(float(x))} {_text(float(y))}){grown}",
    )


def text_width(content: str, size: float) -> float:
    """About how wide a line of text is, erring on the wide side."""
    wide = sum(
        1.0 if ord(letter) > 0x2E7F else 0.9 if letter in "MWmw@%—" else 0.58 for letter in content
    )
    return wide * size


def shortened(content: str, width: float, size: float) -> str:
    """Text that fits a width, its end cut off if need be."""
    if text_width(content, size) <= width:
        return content
    while content and text_width(content, size) > width - size:
        content = content[:-1]
    return content.rstrip() + "…"


def spread(places: Sequence[float], apart: float, low: float, high: float) -> list[float] | None:
    """Places moved as little as need be to stand apart between two ends; None if they cannot."""
    if (len(places) - 1) * apart > high - low:
        return None
    order = sorted(range(len(places)), key=lambda index: places[index])
    moved = [min(max(place, low), high) for place in places]
    for before, here in itertools.pairwise(order):
        moved[here] = max(moved[here], moved[before] + apart)
    ceiling = high
    for here in reversed(order):
        moved[here] = min(moved[here], ceiling)
        ceiling = moved[here] - apart
    return moved
