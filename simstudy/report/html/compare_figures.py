"""Small figures side by side, one for each study, all on the same scale if in one unit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from simstudy.report.html import svg
from simstudy.report.html.charts import SMALL, Axes, Curve, axis_ends, look, point
from simstudy.report.html.svg import Scale, element, group
from simstudy.report.prose.numbers import number, signed

_WIDTH, _HEIGHT = 330.0, 325.0


class Panel(NamedTuple):
    """What is drawn for one study: its lines over its sizes."""

    name: str
    sizes: Sequence[int]
    curves: Sequence[Curve]


class Row(NamedTuple):
    """Pictures in the order of the studies, and whether some interval was cut."""

    pictures: list[Markup]
    cut: bool


def side_by_side(
    panels: Sequence[Panel],
    what: str,
    key: str,
    *,
    differences: bool = False,
    zero: bool = False,
    shared: bool = True,
) -> Row:
    """Draw the lines of each study, all studies on the same two axes.

    Parameters
    ----------
    panels
        One for each study; a line may have gaps.
    what
        What the vertical axis shows, for those who cannot see it.
    key
        The beginning of the pictures' names, of its own on a page.
    differences
        Whether the numbers are differences, written with their sign.
    zero
        Whether 0 is drawn.
    shared
        Whether the vertical axis is the same for all studies; if not, each has its own.
    """
    sizes = sorted({size for panel in panels for size in panel.sizes})
    together = _ends(panels, zero)
    pictures, cut = [], False
    for index, panel in enumerate(panels):
        ends, too_long = together if shared else _ends([panel], zero)
        cut = cut or too_long
        axes = _axes(sizes, ends, differences)
        parts = [axes.frame]
        if zero and axes.y.holds(0):
            line = f"M{axes.left} {axes.y(0):.1f}H{axes.right:.1f}"
            parts.append(element("path", class_="zero", d=line))
        side = min(10.0, 2.5 * (len(panel.curves) - 1))
        places = np.linspace(-side, side, len(panel.curves)).tolist() if side else [0.0]
        for aside, curve in zip(places, panel.curves, strict=False):
            parts.append(_line(curve, axes, panel.sizes, aside, differences))
        caption = ((axes.left + axes.right) / 2, _HEIGHT - 6)
        parts.append(svg.text("training rows", *caption, text_anchor="middle"))
        title = f"{panel.name}: {what} against training size"
        told = _told(panel, differences)
        pictures.append(svg.figure(_WIDTH, _HEIGHT, f"{key}{index}", title, told, *parts))
    return Row(pictures, cut)


def _ends(panels: Sequence[Panel], zero: bool) -> tuple[tuple[float, float], bool]:
    """The ends of a vertical axis that shows some studies, and whether an interval is cut."""
    curves = [curve for panel in panels for curve in panel.curves]
    centres = [value for curve in curves for value in curve.means]
    reaches = [value for curve in curves for value in (*curve.lower, *curve.upper)]
    return axis_ends(centres, reaches, [0.0] if zero else ())


def _axes(sizes: Sequence[int], ends: tuple[float, float], signs: bool) -> Axes:
    """The frame, the same for every study."""
    labels = svg.tick_labels(Scale(*ends, 0, 1).ticks(6), signs)
    left = max((svg.text_width(label, SMALL) for label in labels), default=30) + 10
    box = (left, 8.0, _WIDTH - 4, _HEIGHT - 42)
    return Axes(sizes, ends, box, few=True, signed_ticks=signs, inset=20)


def _line(
    curve: Curve, axes: Axes, sizes: Sequence[int], aside: float, differences: bool
) -> Markup:
    """One learner's line with its bars and marks."""
    places, bars, marks = [], [], []
    said = signed if differences else number
    for size, mean, low, high in zip(sizes, curve.means, curve.lower, curve.upper, strict=True):
        x = axes.x(size) + aside
        if not svg.drawable(mean):
            places.append((math.nan, math.nan))
            continue
        y = axes.y(mean)
        places.append((x, y))
        tip = f"{curve.label}, {size:,} rows: {said(mean)}"
        if svg.drawable(low) and svg.drawable(high):
            tip += f" [{said(low)}, {said(high)}]"
            bars.append(f"M{x:.1f} {axes.inside(low):.1f}V{axes.inside(high):.1f}")
        marks.append(point(x, y, tip, svg.mark(curve.learner, x, y, 0.8)))
    return group(
        element("path", class_="bar", d="".join(bars)),
        element("path", class_="line", d=svg.line(places)),
        *marks,
        class_=look(curve.learner),
        data_l=curve.learner,
    )


def _told(panel: Panel, differences: bool) -> str:
    """The lines of a study in words."""
    if not panel.curves:
        return "Nothing to show."
    said = signed if differences else number
    ends = [
        f"{curve.label} from {said(curve.means[0])} to {said(curve.means[-1])}"
        for curve in panel.curves[:12]
    ]
    more = f"; and {len(panel.curves) - 12} more" if len(panel.curves) > 12 else ""
    where = f"From {panel.sizes[0]:,} to {panel.sizes[-1]:,} training rows"
    return f"{where}: {'; '.join(ends)}{more}."
