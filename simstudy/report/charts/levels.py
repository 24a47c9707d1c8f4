"""Tests of two learners: type I error against power, with the level that they should keep."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TypeAlias

from simstudy.analysis.models.rejections import Rejections
from simstudy.report.charts import spec
from simstudy.report.charts.spec import Axis, Chart, Line, Marks, Rule, Span, Text
from simstudy.report.prose.numbers import brief, percent, percentages

Box: TypeAlias = tuple[float, float, float, float]  # left, right, bottom, top in shares of axes
_PERCENTS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_SMALL, _LARGE = 0.5, 3.2  # areas of marks of the fewest rows, and of the tests that lead
# Where labels may be beside their marks: letters to the right, lines up, and the side of text.
_SIDES = [(across * (1.4 - lift), lift, across) for lift in (0.9, 0.0) for across in (1, -1)]
_SIDES += [(across * 0.5, -0.9, across) for across in (1, -1)]
_SIDES += [(across * 0.5, lift, across) for lift in (1.9, -1.9, 2.9) for across in (1, -1)]
_SIDES += [(0.0, lift, 0) for lift in (1.2, -1.2, 2.2)]


def levels(
    cells: Sequence[Rejections],
    leaders: Collection[str],
    level: float,
    room: tuple[float, float] = (100.0, 25.0),
) -> Chart:
    """The rates of tests; ``leaders`` are larger, and letters and lines fit into the ``room``."""
    last, tests = max(cell.size for cell in cells), [*dict.fromkeys(cell.test for cell in cells)]
    x = _rates("type I error", [cell.error.mean for cell in cells], level)
    y = _rates("power", [cell.power.mean for cell in cells], level)
    name = percent(level, 0)
    layers: list[spec.Layer] = [
        Span([x.low, level], [y.low] * 2, [y.high] * 2, "keeps"),
        Rule(level, upright=True, kind="promise"),
    ]
    places = {cell: (x.inside(cell.error.mean), y.inside(cell.power.mean)) for cell in cells}
    for place, test in enumerate(tests):
        own = [cell for cell in cells if cell.test == test]
        kind = "ink" if test in leaders else "grey"
        errors, powers = zip(*(places[cell] for cell in own), strict=True)
        layers.append(Line(errors, powers, "path", treatment=place))
        for cell in own:
            layers += _bars(cell, places[cell], x, y, place) if cell.size == last else []
        areas = [_SMALL if cell.size < last else _LARGE if test in leaders else 1.4 for cell in own]
        hollow, tips = [cell.exceeds for cell in own], [_tip(cell) for cell in own]
        layers.append(Marks(errors, powers, tips, kind, areas, hollow, form=0, treatment=place))
    top = y.low * (y.high / y.low) ** 0.97
    layers.append(Text(level, top, f"\u00a0{name} promised", 1, "name"))
    if room[0] > 60:
        layers.append(Text(x.low, top, f"\u00a0rejects less than {name}", 1, "note"))
        layers.append(Text(x.high, top, f"rejects more than {name}", -1, "note"))
    shown = [cell for cell in cells if cell.size == last]
    bars = (each for each in layers if isinstance(each, Line) and each.kind == "whisker")
    lines = [*((bar.x, bar.y, 0.5) for bar in bars), ([level], [y.low, y.high], 2.0)]
    for cell, (across, up, side) in zip(
        shown, _beside(shown, places, x, y, lines, room), strict=True
    ):
        kind = "name" if cell.test in leaders else "note"
        place, label = tests.index(cell.test), brief(cell.test, 28)
        layers.append(Text(across, up, label, side, kind, treatment=place))
    title = "type I error against power of tests"
    return Chart("", title, "; ".join(map(_tip, cells)), x, y, tuple(layers), "plain")


def _rates(label: str, means: Sequence[float], level: float) -> Axis:
    """A logarithmic axis of rates; those of 0 stand at its lower end."""
    low = min(mean for mean in (*means, level / 3) if mean > 0) / 1.8  # with three ticks
    most = max(*means, level)
    high = 1.25 if most > 0.5 else most * 1.8  # with room for the label of 100%
    marks = tuple((rate, percent(rate, 0 if rate >= 0.01 else 1)) for rate in _PERCENTS)
    return Axis(f"{label} (log scale)", low, high, "log", marks)


def _tip(cell: Rejections) -> str:
    """The rates of a test in words."""
    rates = [(cell.error, "type I error"), (cell.power, "power")]
    parts = [f"{name} {percent(m.mean)} {percentages(m.lower, m.upper)}" for m, name in rates]
    return f"{cell.test}, {cell.size:,} rows: {', '.join(parts)}"


def _bars(
    cell: Rejections, place: tuple[float, float], x: Axis, y: Axis, treatment: int
) -> Iterator[Line]:
    """The intervals of both rates."""
    (across, up), error, power = place, cell.error, cell.power
    ends = [x.inside(error.lower), x.inside(error.upper)]
    yield Line(ends, [up, up], "whisker", treatment=treatment)
    ends = [y.inside(power.lower), y.inside(power.upper)]
    yield Line([across, across], ends, "whisker", treatment=treatment)


def _beside(
    cells: Sequence[Rejections],
    places: dict[Rejections, tuple[float, float]],
    x: Axis,
    y: Axis,
    lines: Iterable[tuple[spec.Floats, spec.Floats, float]],
    room: tuple[float, float],
) -> Iterator[tuple[float, float, int]]:
    """Where labels are: beside their marks, over as few marks, lines and labels as can be.

    Half the thickness of lines is in letters.
    """
    letter, line = 1 / room[0], 1 / room[1]
    marks = [(x.share(across), y.share(up)) for across, up in places.values()]
    taken = [(a - letter, a + letter, b - line / 3, b + line / 3) for a, b in marks]
    taken += [(0.0, 1.0, 0.97 - line / 2, 1.0)]
    for ends, rates, thick in lines:
        (left, *_, right), (low, *_, high) = (
            sorted([*map(axis.share, each)] * 2) for axis, each in ((x, ends), (y, rates))
        )
        wide, tall = thick * letter, line / 4
        taken.append((left - wide, right + wide, low - tall, high + tall))
    for cell in cells:
        across, up = x.share(places[cell][0]), y.share(places[cell][1])
        width = letter * (len(brief(cell.test, 28)) + 1)
        free: list[tuple[float, Box, tuple[float, float, int]]] = []
        for right, lift, side in _SIDES:
            start, middle = across + right * letter, up + lift * line
            left = start + (side - 1) / 2 * width
            box = left, left + width, middle - line / 2, middle + line / 2
            hidden = sum(
                max(min(box[1], b[1]) - max(box[0], b[0]), 0)
                * max(min(box[3], b[3]) - max(box[2], b[2]), 0)
                for b in taken
            )
            outside = max(-box[0], 0) + max(box[1] - 1, 0) + max(-box[2], 0)
            far = 2.0 * letter * line * abs(lift)
            free.append((hidden + outside + far, box, (start, middle, side)))
        _, box, (start, middle, side) = min(free, key=lambda each: round(each[0], 6))
        taken.append(box)
        yield x.low * (x.high / x.low) ** start, y.low * (y.high / y.low) ** middle, side
