"""How figures look in a paper and in a talk."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from simstudy.report.figures import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Style:
    """Sizes of everything in a figure; inches for lengths, points for letters.

    Attributes
    ----------
    font, smallest : float
        The size of letters, and the smallest there may be.
    narrow, wide : float
        The widths of figures: one column and the page, or the slide.
    height, tallest : float
        Of a figure with one panel, and the most a figure may have.
    panels : int
        How many panels stand side by side at most.
    row : float
        The height of one line of labels, as in a figure with a line for each learner.
    titles : bool
        Whether figures have a title; in papers the caption takes its place.
    learners : int
        How many learners there is room for.
    lines : float
        By how much lines and marks are thicker than in the figures of a report.
    """

    font: float
    smallest: float
    narrow: float
    wide: float
    height: float
    tallest: float
    panels: int
    row: float
    titles: bool
    learners: int
    lines: float = 1.0

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
            "axes.unicode_minus": True,
        }

    def letters(self, inches: float) -> float:
        """How many letters fit side by side into a length."""
        return inches * 72 / (0.58 * self.font)

    def rows(self, number: float, more: float = 0.0) -> float:
        """The height of a figure with so many lines and so much else; the slide is one size."""
        if self.titles:
            return self.height
        return min(self.row * number + more, self.tallest)


STYLES = {
    "paper": Style(8.5, 8.0, 3.4, 7.0, 2.5, 9.0, 4, 0.19, False, 40, 0.8),
    "talk": Style(17.0, 16.0, 10.0, 10.0, 5.6, 5.6, 3, 0.36, True, 9, 1.8),
}


def named(text: str, letters: float, lines: int = 2) -> str:
    """A label on a few lines; of one that is longer still, the middle is left out."""
    letters = max(int(letters), 8)
    most = letters * lines
    text = " ".join(text.split())
    if len(text) > most:
        half = (most - 1) // 2
        text = f"{text[: most - 1 - half]}…{text[-half:]}"
    wrapped = textwrap.wrap(text, letters) or [text]
    if len(wrapped) > lines:  # words that do not fill their lines
        wrapped = [text[start : start + letters] for start in range(0, len(text), letters)]
    return plain("\n".join(wrapped))


def named_pair(first: str, joined: str, second: str, letters: float) -> str:
    """Two labels and the words between them, each shortened by itself if they are long."""
    whole = f"{first} {joined} {second}"
    if len(whole) <= 1.6 * letters:
        return named(whole, letters)
    short = named(second, letters - len(joined) - 1, 1)
    return f"{named(first, letters, 1)}\n{joined} {short}"


def lines_of(labels: Sequence[str]) -> int:
    """How many lines the longest of the labels has."""
    return max(label.count("\n") + 1 for label in labels)


@dataclass(frozen=True)
class Page:
    """A figure with panels."""

    figure: Figure
    axes: list[Axes]
    columns: int

    def letters(self, style: Style) -> float:
        """How many letters fit side by side under a panel."""
        return style.letters(0.92 * self.figure.get_figwidth() / self.columns - 0.45 * style.lines)

    def name_axes(self, x: str, y: str, shared: bool = False) -> None:
        """Name the axes once for all panels; with ``shared`` also number them once, at the left."""
        for index, ax in enumerate(self.axes):
            ax.set(xlabel="", ylabel="")
            if shared and index % self.columns:
                ax.tick_params(labelleft=False)
        self.figure.supxlabel(plain(x), fontsize=mpl.rcParams["axes.labelsize"])
        self.figure.supylabel(plain(y), fontsize=mpl.rcParams["axes.labelsize"])

    def add_key(self, handles: Sequence[Any], title: str, style: Style) -> None:
        """A key above the panels."""
        columns = max(int(self.figure.get_figwidth() / 1.1), 1)
        add_key(self.figure, handles, style, min(len(handles), columns), title)


def add_key(
    figure: Figure, handles: Sequence[Any], style: Style, columns: int, title: str = ""
) -> None:
    """A key above the panels; on slides, where the title is above them, beside them."""
    figure.legend(
        handles=handles,
        loc="outside right upper" if style.titles else "outside upper left",
        title=title,
        ncols=1 if style.titles else columns,
        frameon=False,
        alignment="left",
    )


def pages(style: Style, number: int, height: float, across: int | None = None) -> Iterator[Page]:
    """Figures with so many panels in all, on as many pages as they need.

    Panels have the ``height`` given, except on slides, which they fill; at most ``across``, or as
    many as the style has, stand side by side.
    """
    across = across or style.panels
    columns = min(-(-number // -(-number // across)), across)  # as even as can be
    most = 2 if style.titles else max(int((style.tallest - 1.0) / height), 1)
    for start in range(0, number, columns * most):
        count = min(number - start, columns * most)
        rows = -(-count // columns)
        width = {1: style.narrow, 2: 0.5 * (style.narrow + style.wide)}.get(columns, style.wide)
        tall = style.height if style.titles else min(height * rows + 0.85, style.tallest)
        figure = Figure(figsize=(width, tall), layout="constrained")
        axes = list(figure.subplots(rows, columns, squeeze=False).flat)
        for ax in axes[count:]:
            ax.set_visible(False)
        yield Page(figure, axes[:count], columns)


def finish(figure: Figure, style: Style, title: str) -> None:
    """Give a figure its title, and see that no letters are too small and no lines too thin."""
    if style.titles and title:
        words = named(title, style.letters(figure.get_figwidth()) * 0.85)
        figure.suptitle(words, x=0.01, ha="left", fontsize=style.font * 1.15)
    for text in figure.findobj(Text):
        if float(text.get_fontsize()) < style.smallest:
            text.set_fontsize(style.smallest)
    for line in figure.findobj(Line2D):
        line.set_linewidth(line.get_linewidth() * style.lines)
        line.set_markersize(line.get_markersize() * style.lines)
    for lines in figure.findobj(LineCollection):
        widths = np.atleast_1d(lines.get_linewidth())
        lines.set_linewidth([float(width) * style.lines for width in widths])


def tidy(ax: Axes, grid: Literal["x", "y", "both"] = "y") -> None:
    """Axes without a frame, with faint lines along one axis."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis=grid, color="0.92", linewidth=0.8)
    ax.set_axisbelow(True)


def name_lines(ax: Axes, labels: list[str]) -> None:
    """Label the lines of a figure from top to bottom, at 0, 1, 2 …"""
    ax.set_yticks(range(len(labels)), labels)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
