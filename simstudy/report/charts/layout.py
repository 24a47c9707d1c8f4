"""Figures for papers, for talks and beside a study's scores: charts laid out on pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from simstudy.report.charts import spec
from simstudy.report.charts.mpl import LETTER, SCREEN, Style, draw, handles, label_ends, plain
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
    keys = [key._replace(text=wrapped(key.text, most, 1)) for key in keys]
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
        ax.set_title(plain(heading), loc="left" if heights else "center", y=1.0)
    return figure, axes[: len(charts)]


def name_axes(figure: Figure, axes: Sequence[Axes], panels: Panels, columns: int) -> None:
    """Name the axes once for all panels; if all are the same, also number them once."""
    for index, ax in enumerate(axes):
        ax.set(xlabel="", ylabel="")
        if panels.shared and index % columns:
            ax.tick_params(labelleft=False)
    figure.supxlabel(plain(panels.charts[0].x.label), fontsize="medium")
    figure.supylabel(plain(panels.charts[0].y.label), fontsize="medium")


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
        label_ends(chart, figure, style)
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


def whole_figure(panels: Panels, title: str, caption: str) -> Figure:
    """A self-contained figure: title, key, panels and caption."""
    columns = min(len(panels.charts), panels.across or 4)
    rows, single = -(-len(panels.charts) // columns), len(panels.charts) == 1
    width = 6.4 if single else max((2.0 if columns > 3 else 2.7) * columns, 5.0)
    tall = (4.2 if single else 1.2 + 2.2 * rows) + 0.008 * len(caption) / width
    tall += 0.2 * len("  ".join(key.text for key in panels.key)) / (9 * width)
    figure, axes = grid(panels.charts, SCREEN, (width, tall), columns)
    for index, ax in enumerate(axes):
        if index % columns:
            ax.set_ylabel("")
            ax.tick_params(labelleft=not panels.shared)
        if index + columns < len(axes):
            ax.set_xlabel("")
    words = plain(wrapped(title, 9 * width, 3))
    if panels.key:
        add_key(figure, panels.key, SCREEN, words, title_fontsize="large", fontsize="small")
    else:
        figure.suptitle(words, x=0.01, ha="left")
    text = plain(wrapped(caption, 15.5 * width, 40))
    figure.supxlabel(text, fontsize=7.5, color="0.25", x=0.01, ha="left")
    return figure


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


Maker: TypeAlias = Callable[[Any, Style], Printed]  # of results that allow it
