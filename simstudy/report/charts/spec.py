"""Charts in data coordinates, independent of the renderer."""

from __future__ import annotations

import itertools
import math
import textwrap
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import fmean
from typing import NamedTuple, TypeAlias

from simstudy.report.prose.numbers import minus

# Okabe & Ito's colours, distinct for readers with any colour vision; the pale ones are darkened
# until they stand out from white by 3 to 1, and yellow is left out. Greys are for what is no
# learner.
_HUES = ("#0072b2", "#d55e00", "#008f68", "#b8609a", "#3a92cc", "#a87600", "#1f2328")
COLOURS = (*_HUES, "#6a737d", "#858d96")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
DASHES = ((), (4.0, 1.5), (4.0, 1.5, 1.0, 1.5), (1.25, 1.25))  # in widths of the line

LARGEST = 1e150  # larger numbers are not drawn, like infinite ones
_CUT = 10.0  # intervals are cut this many times the spread of the means beyond them
# How far learners stand beside a size: each from the next, in shares of the axis, and all
# together, in shares of the axis and of the way to the next size.
_DODGE, _MAX_DODGE, _MAX_WAY = 0.009, 0.045, 0.35

Floats = Sequence[float]
Limits = tuple[float, float]  # of an axis
FIFTHS = tuple((part / 5, f"{part / 5:g}") for part in range(6))  # ticks from 0 to 1


class Look(NamedTuple):
    """The numbers of a colour, a dash and a marker."""

    colour: int
    dash: int
    marker: int


_Features: TypeAlias = tuple[int | None, int | None, int | None]  # None is any
_NEUTRAL = (6, 7, 8)  # the colours of what is no learner
# How learners of built-in studies are drawn everywhere, whatever they are compared with: no two
# have the same dashes and marker, so that they differ without colours, too.
LOOKS = {
    "naive_bayes": Look(0, 0, 0),
    "tan": Look(1, 0, 1),
    "aode": Look(2, 0, 2),
    "camml": Look(3, 0, 3),
    "kdb": Look(4, 0, 4),
    "c45": Look(5, 0, 5),
    "prior": Look(6, 0, 6),
    "lbr": Look(0, 1, 7),
    "mml_tree": Look(1, 1, 8),
    "hnb": Look(4, 1, 9),
    "mml_graph": Look(3, 1, 0),
    "calibrated": Look(2, 1, 1),
    "boosted_c45": Look(5, 1, 2),
    "one_r": Look(6, 1, 3),
    "select": Look(0, 2, 4),
    "cost_sensitive": Look(4, 2, 5),
    "decision_stump": Look(6, 2, 6),
    "discretized_naive_bayes": Look(0, 3, 3),
    "truth": Look(6, 3, 7),
    "pgmpy:HillClimbSearch": Look(5, 2, 0),
}


def look(index: int) -> Look:
    """How a series that is no learner is drawn: greys, and dashes that change with each cycle."""
    greys = len(_NEUTRAL)
    return Look(_NEUTRAL[index % greys], index // greys % len(DASHES), index % len(MARKERS))


def _features(one: Look) -> tuple[set[_Features], set[_Features], set[_Features]]:
    """A look, the pairs of its features, and its colour."""
    colour, dash, marker = one
    pairs: set[_Features] = {(colour, dash, None), (None, dash, marker), (colour, None, marker)}
    return {(colour, dash, marker)}, pairs, {(colour, None, None)}


@cache
def looks(names: tuple[str, ...]) -> tuple[Look, ...]:
    """How treatments are drawn, by the names under which learners are registered.

    A built-in learner has one look everywhere. Another one takes the first free look from a
    place that its name decides, with a colour of its own if there is one, and so do further
    learners of one name, in their order. As long as there are enough, no two share two of colour,
    dashes and marker. Treatments that are no learners have empty names.
    """
    pairs = [(hue, dash) for dash in range(len(DASHES)) for hue in range(len(_HUES))]
    known = [_features(LOOKS[name]) for name in names if name in LOOKS]
    worn = set[_Features]().union(*itertools.chain(*known))
    free = [pair for pair in pairs if pair not in {each[:2] for each in LOOKS.values()}]
    chosen, seen = list[Look](), set[str]()
    for place, name in enumerate(names):
        if not name or (name in LOOKS and name not in seen):
            chosen.append(LOOKS[name] if name else look(place))
        else:
            start = zlib.crc32(name.encode())
            order = [free[(start + step) % len(free)] for step in range(len(free))] + pairs
            forms = [(start + step) % len(MARKERS) for step in range(len(MARKERS))]
            every = [Look(*pair, form) for form in forms for pair in order]
            chosen.append(min(every, key=lambda at: [len(f & worn) for f in _features(at)]))
            worn.update(*_features(chosen[-1]))
        seen.add(name)
    return tuple(chosen)


def drawable(value: float) -> bool:
    """Whether a number can be drawn."""
    return abs(value) < LARGEST  # false for NaN, too


@dataclass(frozen=True)
class Axis:
    """An axis: its label, its limits and its ticks."""

    label: str
    low: float
    high: float
    kind: str = "linear"  # or "log", or "rows": named rows, the first on top
    marks: tuple[tuple[float, str], ...] = ()  # by default round numbers
    signed: bool = False  # whether numbers are written with their sign

    def share(self, value: float) -> float:
        """How far along the axis a number is, from 0 to 1."""
        low, high = self.low, self.high
        if self.kind == "log":
            low, high, value = math.log(low), math.log(high), math.log(value)
        return (value - low) / (high - low)

    def inside(self, value: float) -> float:
        """The number, clipped to the axis."""
        return min(max(value, min(self.low, self.high)), max(self.low, self.high))

    def holds(self, value: float) -> bool:
        """Whether a number lies within the axis."""
        return self.inside(value) == value

    def ticks(self, about: int) -> list[tuple[float, str]]:
        """The declared ticks, or about this many round numbers."""
        if self.marks:
            return [mark for mark in self.marks if self.holds(mark[0])]
        places = (powers if self.kind == "log" else steps)(self.low, self.high, about)
        labels = [f"{p:g}" for p in places] if self.kind == "log" else None
        return [*zip(places, labels or tick_labels(places, self.signed), strict=True)]

    def fitting(self, letters: float) -> list[tuple[float, str]]:
        """The marks of an axis of this many letters, without labels that would collide."""
        marks = self.ticks(max(4, int(letters / 8)))
        spans = [(letters * self.share(at), len(label) / 2 + 0.5) for at, label in marks]
        free, kept = -math.inf, []
        for mark, (at, half) in zip(marks, spans, strict=True):
            last = mark == marks[-1]
            fits = at - half >= free and (last or at + half <= spans[-1][0] - spans[-1][1])
            kept.append(mark if fits or last else (mark[0], ""))
            free = at + half if fits else free
        return kept


def steps(low: float, high: float, about: int) -> list[float]:
    """About this many round numbers between two limits, at least three."""
    step = (high - low) / about
    power = 10.0 ** math.floor(math.log10(step))
    step = next(times * power for times in (1, 2, 5, 10) if times * power >= step * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    ticks = [number * step for number in range(first, last + 1)]
    return ticks if len(ticks) > 2 or about > 20 else steps(low, high, about + 1)


def powers(low: float, high: float, about: int = 5) -> list[float]:
    """Powers of ten; where these are few, also 2 and 5 times them, or all whole multiples."""
    first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
    ticks = [10.0**power for power in range(first, last + 1)]
    if len(ticks) > 2:
        return ticks[:: math.ceil(len(ticks) / about)]
    for times in ((1, 2, 5), range(1, 10)):
        every = (n * 10.0**power for power in range(first - 1, last + 1) for n in times)
        ticks = [tick for tick in every if low <= tick <= high]
        if len(ticks) > 2:
            return ticks
    return steps(low, high, about)


def tick_labels(ticks: Floats, signed: bool = False) -> list[str]:
    """Ticks as text, all with as many decimals as the closest two need."""
    step = min((b - a for a, b in itertools.pairwise(ticks)), default=1.0)
    sign = "+" if signed else ""
    if max(map(abs, ticks), default=0.0) >= 1e6 or step < 1e-6:
        return [minus(f"{tick:{sign}.3g}") for tick in ticks]
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    return [minus("0" if abs(t) < step / 2 else f"{t:{sign},.{decimals}f}") for t in ticks]


def reach(values: Iterable[float], share: float = 0.05) -> Limits:
    """The limits of an axis that shows all drawable numbers, with a margin."""
    shown = [value for value in values if drawable(value)]
    if not shown:
        return -1.0, 1.0
    low, high = min(shown), max(shown)
    least = max(abs(low), abs(high)) * 1e-9 or 1.0
    room = max((high - low) * share, least)
    return low - room, high + room


def cut_reach(centres: Floats, ends: Floats, also: Floats = ()) -> tuple[Limits, bool]:
    """The limits of an axis for means and their intervals, and whether any interval is cut."""
    inner, outer = ([v for v in values if drawable(v)] for values in (centres, ends))
    spread = max(inner) - min(inner) if inner else 0.0
    if not spread:
        return reach([*inner, *outer, *also]), False
    low, high = min(inner) - _CUT * spread, max(inner) + _CUT * spread
    kept = [min(max(value, low), high) for value in outer]
    return reach([*inner, *kept, *also]), kept != outer


def dodges(sizes: Sequence[int], number: int) -> list[float]:
    """The factors by which learners whose bars would hide each other stand beside a size."""
    places = [math.log(size) for size in sizes]
    closest = min((b - a for a, b in itertools.pairwise(places)), default=1.0)
    span = (places[-1] - places[0]) or 1.0
    side = min(_MAX_WAY * closest, _MAX_DODGE * span, _DODGE * span * (number - 1)) / 2
    return [math.exp(side * (2 * i / max(number - 1, 1) - 1)) for i in range(number)]


def sizes_axis(sizes: Sequence[int], label: str, room: float = 0.05) -> Axis:
    """The axis of numbers of rows."""
    factor = (sizes[-1] / sizes[0]) ** room if len(sizes) > 1 else 2.0
    marks = tuple((float(size), f"{size:,}") for size in sizes)
    return Axis(label, sizes[0] / factor, sizes[-1] * factor, "log", marks)


def spaced(sizes: Sequence[int], most: int) -> list[int]:
    """At most this many sizes, including the first and the last."""
    last, parts = len(sizes) - 1, min(most, len(sizes)) - 1
    return sorted({sizes[round(last * part / max(parts, 1))] for part in range(parts + 1)})


def rows_axis(labels: Sequence[str]) -> Axis:
    """An axis of named rows."""
    marks = tuple((float(row), label) for row, label in enumerate(labels))
    return Axis("", len(labels) - 0.4, -0.6, "rows", marks)


def wrapped(text: str, letters: float, lines: int = 2) -> str:
    """A label on a few lines, or its parts on one each; the middle is left out of longer ones."""
    letters = max(int(letters), 8)
    if "\n" in text and len(text) > 1.6 * letters:
        return "\n".join(wrapped(part, letters, 1) for part in text.split("\n"))
    text = " ".join(text.split())
    if len(text) > (most := letters * lines):
        half = (most - 1) // 2
        text = f"{text[: most - 1 - half]}…{text[-half:]}"
    parts = textwrap.wrap(text, letters) or [text]
    if len(parts) > lines:  # words that do not fill their lines
        parts = [text[start : start + letters] for start in range(0, len(text), letters)]
    return "\n".join(parts)


def spread(places: Floats, apart: float, low: float, high: float) -> list[float] | None:
    """Positions moved apart as little as needed between two limits; None if they cannot be.

    Without their distances the positions need only ascend: an isotonic regression, by pooling
    neighbours that do not (Ayer et al. 1955), which leaves groups centred on their places.
    """
    if (room := (len(places) - 1) * apart) > high - low:
        return None
    order = sorted(range(len(places)), key=lambda index: places[index])
    pools: list[list[float]] = []
    for rank, index in enumerate(order):
        pools.append([places[index] - rank * apart])
        while len(pools) > 1 and fmean(pools[-2]) > fmean(pools[-1]):
            pools[-2:] = [pools[-2] + pools[-1]]
    moved = [0.0] * len(places)
    ascending = [fmean(pool) for pool in pools for _ in pool]
    for rank, (index, place) in enumerate(zip(order, ascending, strict=True)):
        moved[index] = min(max(place, low), high - room) + rank * apart
    return moved


def jitter(index: int, width: float) -> float:
    """A deterministic offset for a dot, with neighbours far apart."""
    return (index * 0.6180339887498949 % 1 - 0.5) * width


@dataclass(frozen=True, kw_only=True)
class Layer:
    """Something drawn; its ``kind`` has a colour and a width in each renderer."""

    learner: int | None = None  # the place of the treatment that it belongs to
    look: Look | None = None  # a Chart fills in that of its treatment
    treatment: int | None = None  # that it is hidden with, without a look


@dataclass(frozen=True)
class Line(Layer):
    """A line through points, broken where a point has no place."""

    x: Floats
    y: Floats
    kind: str = "line"
    label: str = ""  # beside its right end, or in a key


@dataclass(frozen=True)
class Span(Layer):
    """What lies between two lines: an area or, if its kind is "bar", upright intervals."""

    x: Floats
    low: Floats
    high: Floats
    kind: str = "bar"


@dataclass(frozen=True)
class Marks(Layer):
    """Marks at points, with their numbers in words."""

    x: Floats
    y: Floats
    tips: Sequence[str] = ()
    kind: str = "mark"
    areas: Floats = ()  # in those of a usual mark
    hollow: Sequence[bool] = ()
    shade: float | None = None  # a colour from light (0) to dark (1)
    form: int | None = None  # the number of its marker, if it has no look


@dataclass(frozen=True)
class Rule(Layer):
    """A line across the chart at a number, with what it stands for."""

    at: float
    words: str = ""
    upright: bool = False
    at_left: bool = False  # where the words are
    kind: str = "zero"


@dataclass(frozen=True)
class Text(Layer):
    """Text at a point: ``side`` −1 ends there, 0 is centred, 1 begins there."""

    x: float
    y: float
    text: str
    side: int = 0
    kind: str = "note"


class Key(NamedTuple):
    """An entry of a key: what a look, a kind of layer or a shade stands for."""

    text: str
    kind: str = "mark"
    look: Look | None = None
    shade: float | None = None


@dataclass(frozen=True)
class Chart:
    """A chart: its axes, and what is drawn from back to front."""

    heading: str  # above it, among others
    title: str  # what it shows, for those who cannot see it
    description: str  # its numbers, for the same
    x: Axis
    y: Axis
    layers: tuple[Layer, ...]
    kind: str = ""  # the class of its group on the page
    learners: tuple[int, ...] = ()  # with which it is hidden
    notes: tuple[str, ...] = ()  # sentences to be added to its caption
    absent: str = ""  # why nothing is drawn
    frame: bool = True  # whether the axes are drawn
    square: bool = False  # whether both axes have one scale
    links: tuple[str, ...] = ()  # the pages that its rows open, empty where there is none
    names: tuple[str, ...] = ()  # of all treatments, see `looks`; without, they are drawn in grey

    def __post_init__(self) -> None:
        every = [*looks(self.names)]
        layers = [*self.layers]
        for place, layer in enumerate(layers):
            if (at := layer.learner) is not None:
                layers[place] = replace(layer, look=every[at] if every else look(at))
        object.__setattr__(self, "layers", tuple(layers))

    @property
    def labelled(self) -> list[Line]:
        """The lines that have labels."""
        return [layer for layer in self.layers if isinstance(layer, Line) and layer.label]

    @property
    def key(self) -> tuple[Key, ...]:
        """The learners in it."""
        lines = [line for line in self.labelled if line.learner is not None]
        return tuple(Key(line.label, look=line.look) for line in lines)


@dataclass(frozen=True)
class Panels:
    """Several charts in one figure, their axes named once."""

    charts: tuple[Chart, ...]
    key: tuple[Key, ...] = ()
    key_title: str = ""
    across: int = 0  # at most side by side; 0 for as many as there is room for
    height: float = 1.75  # of a panel in a paper, in inches
    shared: bool = False  # whether the vertical axes are the same, and numbered once
