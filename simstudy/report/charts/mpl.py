"""Charts on matplotlib axes: in notebooks, in papers and in talks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from simstudy.arrays import FloatArray
from simstudy.report.charts import spec
from simstudy.report.charts.spec import COLOURS, DASHES, MARKERS, Axis, Chart, Key, wrapped

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

Dashes: TypeAlias = str | tuple[int, Sequence[float]]
_GREY, _INK, DASHED = "0.35", "0.15", (0, (4, 3))
# Of each kind of line: its colour, unless it has a look, its width and its dashes. Colours mean
# learners; all else is grey.
_LINES: dict[str, tuple[str, float, Dashes]] = {
    "line": (_INK, 1.6, "-"),
    "faint": (_INK, 0.9, "-"),
    "others": ("0.8", 0.7, "-"),
    "field": ("0.75", 0.9, "-"),
    "strip": (_INK, 10.0, "-"),
    "limit": (_GREY, 1.1, (0, (1, 2))),
    "ceiling": ("0.45", 1.3, (0, (6, 2.5))),
    "floor": (_GREY, 1.3, "--"),
    "zero": (_GREY, 0.9, DASHED),
    "base": (_GREY, 0.9, "-"),
    "interval": (_GREY, 3.5, "-"),
    "estimate": (_INK, 1.8, "-"),
    "thin": (_INK, 0.9, "-"),
    "thick": (_INK, 1.6, "-"),
    "join": ("0.8", 4.0, "-"),
    "bar": (_INK, 1.1, "-"),
    "promise": (_INK, 1.4, "-"),
    "best": (_INK, 1.6, "-"),
    "rest": ("0.7", 1.1, "-"),
    "whisker": ("0.4", 1.1, "-"),
    "path": ("0.45", 0.8, ":"),
    "reversal": (_INK, 1.0, (0, (4, 2))),
}
_BANDS = {
    "band": ("0.5", 0.3),
    "bracket": ("0.6", 0.35),
    "representation": ("0.35", 0.7),
    "estimation": ("0.6", 0.45),
    "best": ("0.6", 0.3),
    "spread": ("0.5", 0.2),
    "keeps": ("0.5", 0.14),
    "full": (_INK, 1.0),
    "first": ("0.45", 0.6),
    "equal": ("0.9", 0.4),
    "second": ("0.6", 0.35),
}
# Of each kind of mark: its form and colour, unless it has a look, its edge and its width.
_MARKS: dict[str, tuple[str, str, str, float]] = {
    "mark": ("o", _INK, "", 5.5),
    "dot": ("o", _INK, "", 3.5),
    "field": ("o", "0.75", "", 3.0),
    "hollow": ("o", "white", "", 5.5),
    "crossing": ("D", _INK, "white", 5.5),
    "mean": ("D", "white", "black", 4.5),
    "median": ("_", _INK, "", 9.0),
    "cloud": ("o", _INK, "none", 3.0),
    "cell": ("o", _INK, "white", 3.0),
    "bin": ("o", _INK, "", 5.5),
    "ink": ("o", _INK, "", 5.0),
    "grey": ("o", "0.45", "", 5.0),
    "spot": ("", _INK, "", 0.0),
    "ring": ("o", _INK, "", 12.0),
}
_MANY = 3000  # more points than this are drawn as a picture within the figure
LETTER = 0.58  # the width of a letter, in its height


@dataclass(frozen=True)
class Style:
    """Sizes of everything in a figure; inches for lengths, points for letters."""

    font: float
    smallest: float
    narrow: float  # widths of figures: one column and the page, or the slide
    wide: float
    height: float  # of a figure with one panel
    tallest: float
    panels: int  # side by side, at most
    row: float  # the height of a line of labels
    titles: bool  # whether figures have a title; in papers the caption takes its place
    learners: int  # that there is room for
    lines: float = 1.0  # by how much lines and marks are thicker than on the screen

    def settings(self) -> dict[Any, Any]:
        """The settings of matplotlib while a figure is drawn and written."""
        sizes = ("font.size", "axes.titlesize", "axes.labelsize", "legend.fontsize")
        ticks = ("xtick.labelsize", "ytick.labelsize", "legend.title_fontsize")
        fonts = dict.fromkeys(sizes, self.font) | dict.fromkeys(ticks, self.smallest)
        return fonts | {"axes.linewidth": 0.8 * self.lines}

    def letters(self, inches: float) -> float:
        """How many letters fit side by side into a length."""
        return inches * 72 / (LETTER * self.font)

    def rows(self, number: float, more: float = 0.0) -> float:
        """The height of a figure with a number of lines, plus a margin; slides have one size."""
        return self.height if self.titles else min(self.row * number + more, self.tallest)


STYLES = {
    "paper": Style(8.5, 8.0, 3.4, 7.0, 2.5, 9.0, 4, 0.19, False, 40, 0.8),
    "talk": Style(17.0, 16.0, 10.0, 10.0, 5.6, 5.6, 3, 0.36, True, 9, 1.8),
}
SCREEN = Style(10.0, 8.3, 6.0, 7.2, 4.2, 60.0, 4, 0.22, False, 40)


def plain(text: str) -> str:
    """Text that matplotlib shows verbatim: no formula, and in the key even after an underscore."""
    text = text.replace("$", r"\$")
    return f"\u200b{text}" if text.startswith("_") else text


def _stroke(kind: str, look: spec.Look | None, style: Style) -> dict[str, Any]:
    """The colour, width and dashes of a line."""
    colour, width, dashes = _LINES[kind]
    if look:
        colour = COLOURS[look.colour] if kind not in ("thin", "field") else colour
        dashes = (0, DASHES[look.dash]) if kind == "line" and look.dash else dashes
    return {"color": colour, "linewidth": width * style.lines, "linestyle": dashes}


def draw(
    chart: Chart, ax: Axes, style: Style = SCREEN, letters: float | None = None, labels: float = 22
) -> Axes:
    """Draw a chart; ``letters`` fit under the axes, and ``labels`` letters in a label of a row."""
    for layer in chart.layers:
        _draw(layer, ax, style)
    if chart.absent:
        note = plain(wrapped(chart.absent, letters or 30, 4))
        ax.text(0.5, 0.6, note, transform=ax.transAxes, ha="center", fontsize=style.smallest)
    for key in chart.key:
        ax.plot([], [], **_entry(key, style))
    box = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
    x, y, named = chart.x, _together(chart.y, ax), chart.y.kind == "rows"
    for layer in chart.layers:
        if isinstance(layer, spec.Rule) and layer.words:
            room = 0.0 if layer.upright else 72 * box.height * y.share(layer.at)
            half = 0.6 * (letters or style.letters(box.width))
            _draw_words(layer, wrapped(layer.words, half), ax, style, room)
    ax.set(xlim=(x.low, x.high), ylim=(y.low, y.high))
    if not chart.frame:
        ax.axis("off")
        return ax
    xscale, yscale = ("log" if axis.kind == "log" else "linear" for axis in (x, y))
    ax.set(xscale=xscale, yscale=yscale)
    across = x.fitting(letters or style.letters(box.width))
    upwards = y.ticks(max(4 if style.titles else 5, int(box.height * 24 / style.font)))
    ax.set_xticks([at for at, _ in across], [label for _, label in across])
    room = 72 * box.height / max(len(upwards), 1)  # of a row
    lines = 2 if room > 2.2 * style.smallest else 1
    texts = [plain(wrapped(label, labels, lines)) if named else label for _, label in upwards]
    ax.set_yticks([at for at, _ in upwards], texts)
    ax.minorticks_off()
    name = plain(wrapped(y.label, 0.85 * style.letters(box.height), 3))
    ax.set(xlabel=plain(x.label), ylabel=name, axisbelow=True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="x" if named else "y", color="0.92", linewidth=0.8)
    if named:
        ax.tick_params(axis="y", length=0, labelsize=min(style.smallest, room / 1.2))
        ax.spines["left"].set_visible(False)
    if chart.square:
        ax.set_aspect("equal")
    return ax


def _together(axis: Axis, ax: Axes) -> Axis:
    """The vertical axis, grown to what is drawn already on axes that share it."""
    siblings = [each for each in ax.get_shared_y_axes().get_siblings(ax) if each is not ax]
    if axis.kind != "linear" or not any(each.has_data() for each in siblings):
        return axis
    low, high = ax.get_ylim()
    return replace(axis, low=min(low, axis.low), high=max(high, axis.high))


def _entry(key: Key, style: Style) -> dict[str, Any]:
    """How a series looks in a key: its line with its mark."""
    if key.kind in _LINES:
        return _stroke(key.kind, None, style) | {"label": plain(key.text)}
    form, *_, width = _MARKS[key.kind]
    entry = _stroke("line", key.look, style) | {"label": plain(key.text)}
    marker = MARKERS[key.look.marker] if key.look else form
    entry |= {"marker": marker, "markersize": width * style.lines}
    return entry | ({} if key.shade is None else {"color": _shaded(key.shade), "linestyle": ""})


def handles(keys: Sequence[Key], style: Style = SCREEN) -> list[Artist]:
    """The entries of a key."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    return [
        Patch(color=_BANDS[key.kind][0], alpha=_BANDS[key.kind][1], label=plain(key.text))
        if key.kind in _BANDS
        else Line2D([], [], **_entry(key, style))
        for key in keys
    ]


def _shaded(shade: float) -> tuple[float, ...]:
    from matplotlib import colormaps

    return colormaps["viridis_r"](0.08 + 0.92 * shade)


def _clean(*columns: spec.Floats) -> list[FloatArray]:
    """Numbers as arrays, NaN for those that cannot be drawn."""
    arrays = [np.asarray(column, dtype=np.float64) for column in columns]
    return [np.where(np.abs(array) < spec.LARGEST, array, np.nan) for array in arrays]


def _draw(layer: spec.Layer, ax: Axes, style: Style) -> None:
    """Draw one layer; labels of lines are drawn by `label_ends`."""
    match layer:
        case spec.Line():
            ends = {"solid_capstyle": "butt"} if layer.kind == "estimate" else {}
            options = _stroke(layer.kind, layer.look, style) | ends
            ax.plot(*_clean(layer.x, layer.y), alpha=0.6 if layer.kind == "faint" else 1, **options)
        case spec.Span(kind="bar"):
            options = _stroke(layer.kind, layer.look, style)
            x, low, high = _clean(layer.x, layer.low, layer.high)
            bar = {"ecolor": options["color"], "elinewidth": options["linewidth"]}
            cap = 0 if layer.learner is None else 2.5 * style.lines
            ax.errorbar(x, (low + high) / 2, (high - low) / 2, fmt="none", capsize=cap, **bar)
        case spec.Span():
            colour, alpha = _BANDS[layer.kind]
            colour = COLOURS[layer.look.colour] if layer.look else colour
            x, low, high = _clean(layer.x, layer.low, layer.high)
            ax.fill_between(x, low, high, color=colour, alpha=alpha, linewidth=0)
        case spec.Marks():
            _draw_marks(layer, ax, style)
        case spec.Rule():
            line = ax.axvline if layer.upright else ax.axhline
            line(layer.at, zorder=1, **_stroke(layer.kind, None, style))
        case spec.Text():
            side = ("right", "center", "left")[layer.side + 1]
            colour = {"note": _GREY, "inside": "white"}.get(layer.kind, _INK)
            place, text = (layer.x, layer.y), plain(layer.text)
            ax.text(*place, text, ha=side, va="center", color=colour, fontsize=style.smallest)


def _draw_marks(layer: spec.Marks, ax: Axes, style: Style) -> None:
    """Marks as a line without a stroke; clouds, and marks of several sizes, as a scatter."""
    form, colour, edge, width = _MARKS[layer.kind]
    if layer.look and layer.kind != "median":
        colour = COLOURS[layer.look.colour]
        form = form if layer.kind in ("cloud", "ring") else MARKERS[layer.look.marker]
    form = form if layer.form is None else MARKERS[layer.form]
    x, y = _clean(layer.x, layer.y)
    if layer.kind not in ("cloud", "cell", "bin", "ink", "grey"):
        size, edge = width * style.lines, edge or colour
        inside = "none" if layer.kind == "ring" else colour
        (marks,) = ax.plot(x, y, form, color=colour, markersize=size, zorder=3)
        marks.set(markeredgecolor=edge, markerfacecolor=inside)
        return
    fill = colour if layer.shade is None else _shaded(layer.shade)
    area = (width * style.lines) ** 2 * (np.asarray(layer.areas) if layer.areas else 1.0)
    faces = ["white" if hollow else fill for hollow in layer.hollow] or fill
    stroke = 0.2 if layer.kind == "cell" else 0.8 * style.lines
    look: dict[str, Any] = {"marker": form, "alpha": 0.45 if layer.kind == "cloud" else None}
    look |= {"rasterized": len(x) > _MANY, "zorder": 1.5 if layer.kind in ("cloud", "cell") else 3}
    ax.scatter(x, y, area, facecolor=faces, edgecolor=edge or colour, linewidth=stroke, **look)


def _draw_words(layer: spec.Rule, words: str, ax: Axes, style: Style, room: float) -> None:
    """Label a line across, below it if so many points allow, legibly in front of the bars."""
    box = {"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 0.5}
    look: dict[str, Any] = {"fontsize": style.smallest, "color": _GREY, "zorder": 5, "bbox": box}
    end, side, shift = (0, "left", 3) if layer.at_left else (1, "right", 0)  # off the axis
    height, va = (
        (-3, "top") if room > 1.5 * style.smallest * (words.count("\n") + 1) else (3, "bottom")
    )
    look |= {"xytext": (shift, height), "textcoords": "offset points", "ha": side, "va": va}
    ax.annotate(plain(words), (end, layer.at), xycoords=("axes fraction", "data"), **look)


def label_ends(chart: Chart, ax: Axes, style: Style) -> None:
    """Label lines beside their right ends, moved apart where labels would touch."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    lines, height = chart.labelled, ax.get_window_extent().height / figure.dpi
    ends = [chart.y.share(line.y[-1]) for line in lines]
    places = spec.spread(ends, style.font * 1.25 / 72 / height, 0, 1)
    for line, at in zip(lines, places or ends, strict=True):
        colour = COLOURS[line.look.colour] if line.look else _GREY
        leader = {"arrowstyle": "-", "color": colour, "linewidth": 0.8 * style.lines}
        look: dict[str, Any] = {"arrowprops": leader | {"shrinkA": 1, "shrinkB": 3}, "va": "center"}
        look |= {"xytext": (1.06, at), "textcoords": "axes fraction", "annotation_clip": False}
        ax.annotate(plain(wrapped(line.label, 40)), (line.x[-1], line.y[-1]), **look)
