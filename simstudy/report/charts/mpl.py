"""Charts on matplotlib axes: in notebooks, in papers and in talks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from simstudy.report.charts.network import FONT, HEIGHT, Network
from simstudy.report.charts.spec import (
    COLOURS,
    DASHES,
    MARKERS,
    Axis,
    Band,
    Bars,
    Chart,
    Floats,
    Key,
    Layer,
    Line,
    Look,
    Marks,
    Panels,
    Rule,
    Text,
    drawable,
    look,
    spread,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_GREY, _INK, _FAINT = "0.35", "0.15", "0.92"
_DASHED, _DOTTED = (0, (4, 3)), (0, (1, 2))
# Of each kind of line: its colour, unless it has a learner's, its width and its dashes.
_LINES: dict[str, tuple[str, float, Any]] = {
    "line": (COLOURS[0], 1.6, "-"),
    "faint": (COLOURS[0], 0.9, "-"),
    "limit": (_GREY, 1.1, _DOTTED),
    "ceiling": ("0.45", 1.3, (0, (6, 2.5))),
    "floor": (COLOURS[1], 1.3, "--"),
    "zero": (_GREY, 0.9, _DASHED),
    "diagonal": (_GREY, 0.9, _DASHED),
    "base": (_GREY, 0.9, "-"),
    "interval": (COLOURS[1], 3.5, "-"),
    "bracket": ("#b9dbef", 6.0, "-"),
    "estimate": (COLOURS[0], 1.8, "-"),
    "box": (_INK, 0.9, "-"),
    "middle": (_INK, 1.6, "-"),
    "thin": (_INK, 0.9, "-"),
    "frame": (_INK, 1.0, "-"),
    "stem": (_INK, 0.9, "-"),
    "join": (COLOURS[1], 3.2, "-"),
    "spread": ("0.3", 1.4, "-"),
    "bar": (_INK, 1.1, "-"),
    "reach": (_INK, 1.0, "-"),
}
_BANDS = {
    "band-all": (COLOURS[0], 0.15),
    "band-each": (COLOURS[0], 0.3),
    "representation": (COLOURS[1], 0.5),
    "estimation": (COLOURS[4], 0.5),
    "best": (COLOURS[4], 0.25),
}
# Of each kind of mark: its form and colour, unless it has a learner's, its edge and its width.
_MARKS: dict[str, tuple[str, str, str, float]] = {
    "mark": ("o", COLOURS[0], "none", 5.5),
    "dot": ("o", COLOURS[0], "none", 3.5),
    "ahead": ("o", COLOURS[0], "none", 4.0),
    "behind": ("o", "0.75", "none", 4.0),
    "crossing": ("D", COLOURS[1], "white", 5.5),
    "mean": ("D", "white", "black", 4.5),
    "cloud": ("o", COLOURS[0], "none", 3.0),
    "median": ("_", _INK, "face", 9.0),
    "cell": ("o", COLOURS[0], "white", 3.0),
    "bin": ("o", COLOURS[0], "face", 5.5),
}
_MANY = 3000  # more points than this are drawn as a picture within the figure
_LETTER = 0.58  # the width of a letter, in its height


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
        """What matplotlib must know while a figure is made and written."""
        sizes = ("font.size", "axes.titlesize", "axes.labelsize", "legend.fontsize")
        ticks = ("xtick.labelsize", "ytick.labelsize", "legend.title_fontsize")
        return {
            **dict.fromkeys(sizes, self.font),
            **dict.fromkeys(ticks, self.smallest),
            "pdf.fonttype": 42,
            "svg.hashsalt": "simstudy",
            "axes.linewidth": 0.8 * self.lines,
        }

    def letters(self, inches: float) -> float:
        """How many letters fit side by side into a length."""
        return inches * 72 / (_LETTER * self.font)

    def rows(self, number: float, more: float = 0.0) -> float:
        """The height of a figure with so many lines and so much else; the slide is one size."""
        return self.height if self.titles else min(self.row * number + more, self.tallest)


STYLES = {
    "paper": Style(8.5, 8.0, 3.4, 7.0, 2.5, 9.0, 4, 0.19, False, 40, 0.8),
    "talk": Style(17.0, 16.0, 10.0, 10.0, 5.6, 5.6, 3, 0.36, True, 9, 1.8),
}
SCREEN = Style(10.0, 8.3, 5.0, 6.4, 4.5, 12.0, 4, 0.22, False, 40)


def plain(text: str) -> str:
    """Text that matplotlib shows as it is: no formula, and in the key even after a low line."""
    text = text.replace("$", r"\$")
    return f"\u200b{text}" if text.startswith("_") else text


def stroke(kind: str, own: Look | None, style: Style = SCREEN) -> dict[str, Any]:
    """The colour, width and dashes of a line."""
    colour, width, dashes = _LINES[kind]
    if own:
        colour = COLOURS[own.colour]
        dashes = (0, DASHES[own.dash]) if kind == "line" and DASHES[own.dash] else dashes
    return {"color": colour, "linewidth": width * style.lines, "linestyle": dashes}


def draw(
    chart: Chart,
    ax: Axes,
    style: Style = SCREEN,
    letters: float | None = None,
    labels: float = 22,
) -> Axes:
    """Draw a chart; so many letters fit under the axes, and side by side in labels of rows."""
    for layer in chart.layers:
        _draw(layer, ax, style)
    if chart.absent:
        note = plain(wrapped(chart.absent, letters or 30, 4))
        ax.text(0.5, 0.6, note, transform=ax.transAxes, ha="center", fontsize=style.smallest)
    for key in chart.key:
        ax.plot([], [], **_line_of(key, style))
    _set_axes(chart, ax, style, letters, labels)
    return ax


def _line_of(key: Key, style: Style) -> dict[str, Any]:
    """How a series looks in a key: its line with its mark."""
    own = None if key.series is None else look(key.series)
    form, *_, width = _MARKS[key.kind]
    options = stroke("line", own, style) | {
        "markersize": width * style.lines,
        "label": plain(key.text),
    }
    options["marker"] = MARKERS[own.marker] if own else form
    if key.shade is not None:
        options |= {"color": _shaded(key.shade), "linestyle": ""}
    return options


def handles(keys: Sequence[Key], style: Style = SCREEN) -> list[Artist]:
    """The entries of a key."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    found: list[Artist] = []
    for key in keys:
        if key.kind in _BANDS:
            colour, alpha = _BANDS[key.kind]
            found.append(Patch(color=colour, alpha=alpha, label=plain(key.text)))
        else:
            found.append(Line2D([], [], **_line_of(key, style)))
    return found


def _shaded(shade: float) -> Any:
    from matplotlib import colormaps

    return colormaps["viridis_r"](0.08 + 0.92 * shade)


def _draw(layer: Layer, ax: Axes, style: Style) -> None:
    """Draw one layer; the labels of lines are drawn by `label_ends`."""
    match layer:
        case Line():
            options = stroke(layer.kind, layer.look, style)
            butt = {"solid_capstyle": "butt"} if layer.kind in ("bracket", "estimate") else {}
            alpha = 0.6 if layer.kind == "faint" else None
            ax.plot(_clean(layer.x), _clean(layer.y), alpha=alpha, **options, **butt)
        case Bars():
            options = stroke(layer.kind, layer.look, style)
            low, high = _clean(layer.low), _clean(layer.high)
            ax.errorbar(
                _clean(layer.x),
                (low + high) / 2,
                yerr=(high - low) / 2,
                fmt="none",
                ecolor=options["color"],
                elinewidth=options["linewidth"],
                capsize=2.5 * style.lines if layer.kind == "bar" else 0,
            )
        case Band():
            colour, alpha = _BANDS[layer.kind]
            low, high = _clean(layer.low), _clean(layer.high)
            ax.fill_between(_clean(layer.x), low, high, color=colour, alpha=alpha, linewidth=0)
        case Marks():
            _draw_marks(layer, ax, style)
        case Rule():
            _draw_rule(layer, ax, style)
        case Text():
            side = ("right", "center", "left")[layer.side + 1]
            colour = _GREY if layer.kind == "note" else _INK
            options = {"ha": side, "va": "center", "color": colour, "fontsize": style.smallest}
            ax.text(layer.x, layer.y, plain(layer.text), **options)


def _clean(values: Floats) -> Any:
    """Numbers as an array, NaN for those that have no place."""
    found = np.asarray(values, dtype=np.float64)
    return np.where(np.vectorize(drawable, otypes=[bool])(found), found, np.nan)


def _draw_marks(layer: Marks, ax: Axes, style: Style) -> None:
    form, colour, edge, width = _MARKS[layer.kind]
    if layer.look and layer.kind != "median":
        colour = COLOURS[layer.look.colour]
        form = form if layer.kind == "cloud" else MARKERS[layer.look.marker]
    x, y, many = _clean(layer.x), _clean(layer.y), len(layer.x) > _MANY
    if layer.kind not in ("cloud", "cell", "bin"):
        options = {"color": colour, "markersize": width * style.lines, "zorder": 3}
        options["markeredgecolor"] = colour if edge in ("none", "face") else edge
        ax.plot(x, y, form, **options)
        return
    area = (width * style.lines) ** 2
    fill: Any = colour if layer.shade is None else _shaded(layer.shade)
    if layer.hollow:
        fill = ["white" if hollow else colour for hollow in layer.hollow]
    ax.scatter(
        x,
        y,
        s=area * np.asarray(layer.areas) if layer.areas else area,
        marker=form,
        facecolor=fill,
        edgecolor=colour if edge == "face" else edge,
        linewidth=0.2 if layer.kind == "cell" else 0.8 * style.lines,
        alpha=0.45 if layer.kind == "cloud" else None,
        rasterized=many,
        zorder=3 if layer.kind == "bin" else 1.5,
    )


def _draw_rule(layer: Rule, ax: Axes, style: Style) -> None:
    """A line across, and what it stands for, readable before the bars."""
    (ax.axvline if layer.upright else ax.axhline)(
        layer.at, **stroke(layer.kind, None, style), zorder=1
    )
    if layer.words:
        ax.annotate(
            plain(layer.words),
            xy=(1, layer.at),
            xycoords=("axes fraction", "data"),
            xytext=(0, 3),
            textcoords="offset points",
            ha="right",
            va="bottom",
            fontsize=style.smallest,
            color=_GREY,
            zorder=5,
            bbox={"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 0.5},
        )


def _set_axes(chart: Chart, ax: Axes, style: Style, letters: float | None, wide: float) -> None:
    """The ends, the ticks and the names of both axes."""
    box = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
    x, y = chart.x, _together(chart.y, ax)
    ax.set(xlim=(x.low, x.high), ylim=(y.low, y.high))
    if not chart.frame:
        ax.axis("off")
        return
    for axis, scale in ((x, ax.set_xscale), (y, ax.set_yscale)):
        if axis.kind == "log":
            scale("log")
    across = letters or style.letters(box.width)
    marks = x.fitting(across)
    ax.set_xticks([at for at, _ in marks], [label for _, label in marks])
    lines = y.ticks(max(3, int(box.height * 72 / (4 * style.font))))
    labels = [label for _, label in lines]
    if y.kind == "rows":
        labels = [plain(wrapped(label, wide)) for label in labels]
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
    ax.set_yticks([at for at, _ in lines], labels)
    ax.minorticks_off()
    ax.set_xlabel(plain(x.label))
    ax.set_ylabel(plain(wrapped(y.label, 0.85 * style.letters(box.height), 3)))
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="x" if y.kind == "rows" else "y", color=_FAINT, linewidth=0.8)
    ax.set_axisbelow(True)
    if chart.square:
        ax.set_aspect("equal")


def _together(axis: Axis, ax: Axes) -> Axis:
    """The vertical axis, grown to what is drawn already on axes that share it."""
    others = [one for one in ax.get_shared_y_axes().get_siblings(ax) if one is not ax]
    if axis.kind != "linear" or not any(one.has_data() for one in others):
        return axis
    low, high = ax.get_ylim()
    return replace(axis, low=min(low, axis.low), high=max(high, axis.high))


def label_ends(chart: Chart, ax: Axes, style: Style) -> None:
    """Label lines beside their right ends, moved apart where labels would touch."""
    ax.figure.draw_without_rendering()
    lines = chart.labelled
    height = ax.get_window_extent().height / ax.figure.dpi
    ends = [chart.y.share(line.y[-1]) for line in lines]
    places = spread(ends, style.smallest * 1.25 / 72 / height, 0, 1)
    for line, at in zip(lines, places or ends, strict=True):
        colour = COLOURS[line.look.colour] if line.look else "0.45"
        ax.annotate(
            plain(wrapped(line.label, 40)),
            xy=(line.x[-1], line.y[-1]),
            xytext=(1.06, at),
            textcoords="axes fraction",
            va="center",
            ha="left",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": colour,
                "linewidth": 0.8 * style.lines,
                "shrinkA": 1,
                "shrinkB": 3,
            },
        )


def add_key(
    figure: Figure, keys: Sequence[Key], style: Style, columns: int, title: str = "", **options: Any
) -> None:
    """A key above the panels; on slides, where the title is above them, beside them."""
    figure.legend(
        handles=handles(keys, style),
        loc="outside right upper" if style.titles else "outside upper left",
        title=title,
        ncols=1 if style.titles else columns,
        frameon=False,
        alignment="left",
        **options,
    )


def pages(panels: Panels, style: Style) -> Iterator[Figure]:
    """Figures with all panels, on as many pages as they need; axes are named once.

    Panels have the height that they ask for, except on slides, which they fill.
    """
    from matplotlib.figure import Figure

    charts, first = panels.charts, panels.charts[0]
    across = style.panels if style.titles else panels.across or style.panels
    across = min(across, panels.across or across)
    columns = min(-(-len(charts) // -(-len(charts) // across)), across)  # as even as can be
    most = columns * (2 if style.titles else max(int((style.tallest - 1.0) / panels.height), 1))
    width = {1: style.narrow, 2: 0.5 * (style.narrow + style.wide)}.get(columns, style.wide)
    letters = style.letters(0.92 * width / columns - 0.45 * style.lines)
    for start in range(0, len(charts), most):
        here = charts[start : start + most]
        rows = -(-len(here) // columns)
        tall = min(panels.height * rows + 0.85, style.tallest)
        figure = Figure((width, style.height if style.titles else tall), layout="constrained")
        axes = list(figure.subplots(rows, columns, squeeze=False).flat)
        for ax in axes[len(here) :]:
            ax.set_visible(False)
        for index, (chart, ax) in enumerate(zip(here, axes, strict=False)):
            draw(chart, ax, style, letters)
            ax.set_title(plain(wrapped(chart.heading, letters)))
            ax.set(xlabel="", ylabel="")
            if panels.shared and index % columns:
                ax.tick_params(labelleft=False)
        figure.supxlabel(plain(first.x.label), fontsize=style.font)
        figure.supylabel(plain(first.y.label), fontsize=style.font)
        if panels.key:
            columns_of_key = max(min(len(panels.key), int(width / 1.1)), 1)
            add_key(figure, panels.key, style, columns_of_key, panels.key_title)
        yield figure


def stacked(charts: Sequence[Chart], style: Style, width: float) -> Figure:
    """Charts made of lines of text, one below the other."""
    from matplotlib.figure import Figure

    labels = 0.36 * style.letters(width)
    heights = [_text_lines(chart, labels) for chart in charts]
    tall = style.rows(sum(heights) + 1.2 * len(charts), 0.55 if charts[0].frame else 0.1)
    figure = Figure(figsize=(width, tall), layout="constrained")
    axes = figure.subplots(len(charts), 1, squeeze=False, height_ratios=heights)[:, 0]
    for chart, ax in zip(charts, axes, strict=True):
        draw(chart, ax, style, style.letters(0.58 * width), labels)
        ax.set_title(plain(chart.heading), loc="left")
    return figure


def in_rows(panels: Panels, style: Style) -> Figure:
    """Charts with the same rows, side by side."""
    from matplotlib.figure import Figure

    charts, number = panels.charts, len(panels.charts)
    width = style.wide if number > 1 else style.narrow
    labels = 0.22 * style.letters(style.wide)
    tall = style.rows(1.25 * _text_lines(charts[0], labels), 0.75)
    figure = Figure(figsize=(width, tall), layout="constrained")
    for index, ax in enumerate(figure.subplots(1, number, squeeze=False)[0]):
        draw(charts[index], ax, style, style.letters(0.72 * width / number), labels)
        ax.set(title=charts[index].heading, xlabel="")
        ax.tick_params(labelleft=index == 0)
    figure.supxlabel(plain(charts[0].x.label), fontsize=style.font)
    return figure


def _text_lines(chart: Chart, letters: float) -> float:
    """How many lines of text a chart is high."""
    if chart.y.kind != "rows":
        return chart.y.high - chart.y.low
    each = max(wrapped(label, letters).count("\n") + 1 for _, label in chart.y.marks)
    return each * len(chart.y.marks)


def whole_figure(panels: Panels, title: str, caption: str, columns: int) -> Figure:
    """A figure that can stand alone: title, key, panels, and what they show."""
    from matplotlib.figure import Figure

    rows, single = -(-len(panels.charts) // columns), len(panels.charts) == 1
    width = 6.4 if single else max(2.0 * columns if columns > 3 else 2.7 * columns, 5.0)
    longest = max((len(key.text) for key in panels.key), default=0) + 7
    key_columns = max(1, min(len(panels.key), int(13.75 * width / longest)))
    tall = (3.9 if single else 1.3 + 2.2 * rows) + 0.13 * len(caption) / (2.6 * width)
    tall += 0.2 * -(-len(panels.key) // key_columns)
    figure = Figure(figsize=(width, tall), layout="constrained")
    axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for ax in axes[len(panels.charts) :]:
        ax.set_visible(False)
    for index, (chart, ax) in enumerate(zip(panels.charts, axes, strict=False)):
        draw(chart, ax, SCREEN, SCREEN.letters(0.92 * width / columns - 0.5))
        ax.set_title(plain(wrapped(chart.heading, 24)), fontsize="medium")
        if index % columns:
            ax.set_ylabel("")
            ax.tick_params(labelleft=not panels.shared)
    words = plain(wrapped(title, 9 * width, 3))
    if panels.key:
        options = {"title_fontsize": "large", "fontsize": "medium" if single else "small"}
        add_key(figure, panels.key, SCREEN, key_columns, words, **options)
    else:
        figure.suptitle(words, x=0.01, ha="left")
    text = plain(wrapped(caption, 15.5 * width, 40))
    figure.supxlabel(text, fontsize=7.5, color="0.25", x=0.01, ha="left")
    return figure


def draw_network(network: Network, ax: Axes, scale: float) -> Axes:
    """Draw a network on axes on which one of its pixels is so many points."""
    from matplotlib.patches import Ellipse, FancyArrowPatch
    from matplotlib.path import Path

    ax.set(xlim=(0, network.width), ylim=(network.height, 0), aspect="equal")
    ax.set_axis_off()
    font = FONT * scale
    for node in network.nodes:
        fill = COLOURS[5] if node.target else "#e3edf4"
        ax.add_patch(
            Ellipse(node.place, node.width, HEIGHT, facecolor=fill, edgecolor="0.2", zorder=3)
        )
        ink = "white" if node.target else "black"
        _write(ax, *node.place, plain(node.text), ink, font)
    for arc in network.arcs:
        ink = "0.42" if not arc.chosen else "0.62" if arc.light else "black"
        width = 1.4 if arc.probability is None else 0.6 + 1.8 * arc.probability * arc.chosen
        ax.add_patch(
            FancyArrowPatch(
                path=Path(
                    [arc.start, arc.control, arc.end], [Path.MOVETO, Path.CURVE3, Path.CURVE3]
                ),
                arrowstyle="-|>",
                mutation_scale=11,
                color=ink,
                linestyle="-" if arc.chosen else _DASHED,
                linewidth=width,
                zorder=2 if arc.chosen else 1,
            )
        )
        if arc.label and arc.probability is not None:
            _write(ax, *arc.label, f"{arc.probability:.2f}", ink, 0.8 * font, "white")
    if network.note:
        _write(ax, network.width / 2, network.height - 8, network.note, "0.42", 0.8 * font)
    return ax


def _write(
    ax: Axes, x: float, y: float, text: str, colour: str, size: float, ground: str = "none"
) -> None:
    """Text centred at a point."""
    box = {"boxstyle": "square,pad=0.12", "facecolor": ground, "edgecolor": "none"}
    ax.text(x, y, text, color=colour, fontsize=size, ha="center", va="center", bbox=box, zorder=4)
