"""Figures for papers, for talks and beside a study's scores: charts laid out on pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from simstudy.report.charts import spec
from simstudy.report.charts.mpl import LETTER, SCREEN, Style, draw, handles, label_ends, plain
from simstudy.report.charts.network_plot import draw_dag
from simstudy.report.charts.spec import Chart, Key, Panels, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DIRECT, _LONGEST = 6, 12  # as many lines, with labels this long, are labelled at their ends
_FEW_SIZES = 6  # as many fit into one column


def add_key(
    figure: Figure, keys: Sequence[Key], style: Style, title: str = "", **options: Any
) -> None:
    """A key above the panels; on slides, where the title is above them, beside them."""
    most = 24 if style.titles else 40
    keys = [key._replace(text=wrapped(key.text, most, 1 + style.titles)) for key in keys]
    longest = max(len(key.text) for key in keys) + 6
    columns = max(1, min(len(keys), int(style.letters(figure.get_figwidth()) / longest)))
    options |= {"title": title, "frameon": False, "alignment": "left"}
    options["ncols"] = 1 if style.titles else columns
    options["loc"] = "outside right upper" if style.titles else "outside upper left"
    figure.legend(handles=handles(keys, style), **options)


def grid(
    charts: Sequence[Chart],
    style: Style,
    size: tuple[float, float],
    columns: int = 1,
    labels: float = 22,
    heights: Sequence[float] | None = None,
    beside: float = 0.0,
) -> tuple[Figure, list[Axes]]:
    """A figure with a panel for each chart, and so much room for a key beside them."""
    from matplotlib.figure import Figure

    rows = -(-len(charts) // columns)
    room = labels * LETTER * style.font / 72 if charts[0].y.kind == "rows" else 0.0
    letters = style.letters((0.95 * size[0] - room - beside) / columns - 0.4)
    figure = Figure(figsize=size, layout="constrained")
    axes = list(figure.subplots(rows, columns, squeeze=False, height_ratios=heights).flat)
    for ax in axes[len(charts) :]:
        ax.set_visible(False)
    for chart, ax in zip(charts, axes, strict=False):
        draw(chart, ax, style, letters, labels)
        heading = chart.heading if columns == 1 else wrapped(chart.heading, letters)
        # A height is named: where it is not, every drawing measures all labels to find it.
        side = "left" if heights else "center"
        ax.set_title(plain(heading), loc=side, y=1.0, fontsize=style.font)
    return figure, axes[: len(charts)]


def name_axes(figure: Figure, axes: Sequence[Axes], panels: Panels, columns: int) -> None:
    """Name the axes once for all panels; if all are the same, also number them once."""
    for index, ax in enumerate(axes):
        ax.set(xlabel="", ylabel="")
        if panels.shared and index % columns:
            ax.tick_params(labelleft=False)
    figure.supxlabel(plain(panels.charts[0].x.label), fontsize="medium")
    name = wrapped(panels.charts[0].y.label, 0.9 * SCREEN.letters(figure.get_figheight()), 3)
    figure.supylabel(plain(name), fontsize="medium")


def pages(panels: Panels, style: Style) -> Iterator[Figure]:
    """Figures with all panels, on as many pages as they need; slides are filled."""
    across = style.panels if style.titles or not panels.across else panels.across
    number = len(panels.charts)
    columns = min(-(-number // -(-number // across)), across)  # as even as can be
    most = columns * (2 if style.titles else max(int((style.tallest - 1.0) / panels.height), 1))
    width = {1: style.narrow, 2: 0.5 * (style.narrow + style.wide)}.get(columns, style.wide)
    for start in range(0, number, most):
        here = panels.charts[start : start + most]
        tall = min(panels.height * -(-len(here) // columns) + 0.85, style.tallest)
        size = (width, style.height if style.titles else tall)
        beside = 2.5 if style.titles and panels.key else 0.0
        figure, axes = grid(here, style, size, columns, beside=beside)
        name_axes(figure, axes, panels, columns)
        if panels.key:
            add_key(figure, panels.key, style, panels.key_title)
        yield figure


def lines(panels: Panels, style: Style) -> Iterator[Figure]:
    """One chart of lines, with labels at their ends or a key above it."""
    (chart,), key = panels.charts, panels.key
    longest, few = max(len(entry.text) for entry in key), len(key) <= _DIRECT
    ended = all(spec.drawable(line.y[-1]) for line in chart.labelled)
    direct = few and longest <= _LONGEST and ended
    narrow = few and longest <= 26 and len(chart.x.marks) <= _FEW_SIZES
    width = style.narrow if narrow else style.wide
    rows = -(-len(key) // max(1, int(style.letters(width) / (min(longest, 40) + 6))))
    height = style.height if direct else 1.3 * style.height + style.row * rows
    size = (width, style.height if style.titles else min(height, style.tallest))
    figure, _ = grid([chart], style, size, beside=0.8 * direct)
    if direct:
        label_ends(chart, figure.axes[0], style)
    else:
        add_key(figure, key, style)
    yield figure


def stacked(panels: Panels, style: Style) -> Iterator[Figure]:
    """Charts made of lines of text, one below the other."""
    charts = panels.charts
    texts = [layer.text for layer in charts[0].layers if isinstance(layer, spec.Text)]
    narrow = not charts[0].frame and charts[0].x.high < 6.5 and max(map(len, texts[-2:])) <= 15
    width = style.narrow if narrow else style.wide
    labels = 0.36 * style.letters(width)
    heights = [_text_lines(chart, labels) for chart in charts]
    tall = style.rows(sum(heights) + 1.2 * len(charts), 0.55 if charts[0].frame else 0.1)
    yield grid(charts, style, (width, tall), 1, labels, heights)[0]


def in_rows(panels: Panels, style: Style) -> Iterator[Figure]:
    """Charts with the same rows, side by side; or one chart made of rows, with a key above it."""
    chart, number, key = panels.charts[0], len(panels.charts), panels.key
    width = style.wide if number > 1 else style.narrow
    if key:
        few = max(len(label) for _, label in chart.y.marks) <= 16 and len(key) < 4
        width = 0.5 * (style.narrow + style.wide) if few else style.wide
    labels = (0.3 if key else 0.22) * style.letters(style.wide)
    tall = style.rows(1.25 * _text_lines(chart, labels), 1.1 if key else 0.75)
    beside = 2.5 if key and style.titles else 0.0
    figure, axes = grid(panels.charts, style, (width, tall), number, labels, beside=beside)
    if key:
        add_key(figure, key, style)
    else:
        name_axes(figure, axes, panels, number)
    yield figure


def _text_lines(chart: Chart, letters: float) -> float:
    """How many lines of text a chart is high."""
    if chart.y.kind != "rows":
        return chart.y.high - chart.y.low
    each = max(wrapped(label, letters).count("\n") + 1 for _, label in chart.y.marks)
    return each * len(chart.y.marks)


class NotDrawnError(Exception):
    """Why a study does not allow a figure, in one sentence."""


def require(condition: object, reason: str) -> None:
    """Refuse to draw a figure unless a condition holds."""
    if not condition:
        raise NotDrawnError(reason)


class Printed(NamedTuple):
    """Charts with their title and caption, and how they are laid out on pages."""

    title: str
    panels: Panels
    sentences: Iterable[str]  # of the caption, those that are empty left out
    lay_out: Callable[[Panels, Style], Iterable[Figure]] = pages

    @property
    def caption(self) -> str:
        return " ".join(filter(None, self.sentences))


# A network, as manifests have them, and curves, each with its title.
Row: TypeAlias = tuple[Mapping[str, Any], str, Chart, str]
Maker: TypeAlias = Callable[[Any, Style], Printed]  # of results that allow it


def whole_figure(printed: Printed, title: str) -> Figure:
    """A figure beside a study's scores, with its title; its caption is in a file."""
    (figure, *_) = printed.lay_out(printed.panels, SCREEN)
    words = plain(wrapped(title, 0.8 * SCREEN.letters(figure.get_figwidth()), 6))
    if figure.legends:  # above the panels, too
        figure.legends[0].set_title(words)
        figure.legends[0].get_title().set_fontsize("large")
    else:
        figure.suptitle(words, x=0.01, ha="left")
    return figure


def examples_and_curves(rows: Sequence[Row], style: Style) -> Figure:
    """Networks and curves side by side."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(style.wide, 0.3 + 2.7 * len(rows)), layout="constrained")
    places = figure.subplots(len(rows), 2, squeeze=False, width_ratios=(2, 3))
    for (_, left, chart, right), axes in zip(rows, places, strict=True):
        draw(chart, axes[1], style, style.letters(0.6 * style.wide - 1.5))
        axes[0].set_axis_off()
        for ax, letters, text in zip(axes, (36, 54), (left, right), strict=True):
            ax.set_title(plain(wrapped(text, letters)), loc="left", y=1.0)
    for (_, _, chart, _), axes in zip(rows, places, strict=True):
        label_ends(chart, axes[1], style)
    figure.draw_without_rendering()
    for (network, *_), axes in zip(rows, places, strict=True):
        draw_dag(network["parents"], names=network["names"], ax=axes[0])
    return figure
