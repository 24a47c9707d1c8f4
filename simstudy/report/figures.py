"""Figures of a study, as matplotlib axes."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.measures.base import MeasureInfo
from simstudy.report.prose.phrases import axis_label

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from simstudy.analysis.differences import DifferenceCurve

# Okabe & Ito's colours, told apart by readers with any colour vision; yellow is too pale for lines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
LINES = ("-", "--", "-.", ":")
# What learners at one size may take up of the way to the next size.
_DODGE = 0.4
_LETTERS_ACROSS = 60  # as many fit side by side under the axis


def draw_learning_curves(intervals: pd.DataFrame, info: MeasureInfo, ax: Axes) -> Axes:
    """Draw the mean of a measure against training size, one line with intervals per learner."""
    learners = list(dict.fromkeys(intervals["learner"]))
    sizes = np.unique(intervals["size"])
    offsets = _offsets(sizes, len(learners))
    for index, (learner, offset) in enumerate(zip(learners, offsets, strict=True)):
        rows = intervals[intervals["learner"] == learner].replace([np.inf, -np.inf], np.nan)
        ax.errorbar(
            rows["size"] * 10**offset,
            rows["mean"],
            yerr=[rows["mean"] - rows["lower"], rows["upper"] - rows["mean"]],
            label=plain(learner),
            color=COLOURS[index % len(COLOURS)],
            marker=MARKERS[index % len(MARKERS)],
            linestyle=LINES[(index // len(COLOURS)) % len(LINES)],
            markersize=5.5,
            linewidth=1.6,
            elinewidth=1.1,
            capsize=2.5,
        )
    ax.set_xscale("log")
    label_sizes(ax, sizes)
    ax.set_xlim(sizes[0] * 10 ** (offsets[0] - 0.15), sizes[-1] * 10 ** (offsets[-1] + 0.15))
    ax.set_xlabel("training rows")
    ax.set_ylabel(plain(axis_label(info)))
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color="0.92", linewidth=0.8)
    ax.set_axisbelow(True)
    if info.zero:
        _draw_zero(ax, info.zero)
    return ax


def _offsets(sizes: IntArray, learners: int) -> FloatArray:
    """How far each learner stands beside the size itself, in decades."""
    closest = float(np.diff(np.log10(sizes)).min()) if len(sizes) > 1 else 1.0
    reach = min(_DODGE * closest, 0.032 * (learners - 1)) / 2
    return np.linspace(-reach, reach, learners) if learners > 1 else np.zeros(1)


def label_sizes(ax: Axes, sizes: IntArray, across: float = _LETTERS_ACROSS) -> None:
    """Ticks at the sizes; labels are slanted, or some left out, where they would collide.

    ``across`` is how many letters fit side by side under the axis.
    """
    labels = [f"{size:,}" for size in sizes]
    places = np.log10(sizes / sizes[0]) * across
    places /= max(np.log10(sizes[-1] / sizes[0]), 1e-9)
    crowded = len(sizes) > 1 and np.diff(places).min() < max(map(len, labels)) + 1
    last = -np.inf
    for index, place in enumerate(places):
        if place - last < 2.5:
            labels[index] = ""
        else:
            last = place
    ax.set_xticks(sizes, labels)
    ax.minorticks_off()
    if crowded:
        for label in ax.get_xticklabels():
            label.set(rotation=45, ha="right", rotation_mode="anchor")


def plain(text: str) -> str:
    """Text that matplotlib shows as it is: no formula, and in the key even after a low line."""
    text = text.replace("$", r"\$")
    return f"\u200b{text}" if text.startswith("_") else text


def _draw_zero(ax: Axes, words: str) -> None:
    """A line at zero that says what it stands for."""
    ax.axhline(0, color="0.35", linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    ax.annotate(
        words,
        xy=(1, 0),
        xycoords=("axes fraction", "data"),
        xytext=(0, 3),
        textcoords="offset points",
        ha="right",
        va="bottom",
        fontsize="small",
        color="0.35",
    )


def learning_curves(intervals: pd.DataFrame, info: MeasureInfo, title: str, caption: str) -> Figure:
    """A figure of learning curves that can stand alone: title, key, and what the bars are."""
    from matplotlib.figure import Figure

    labels = list(dict.fromkeys(intervals["learner"]))
    columns = max(1, min(len(labels), 88 // (max(map(len, labels)) + 7)))
    key_rows = -(-len(labels) // columns)
    figure = Figure(figsize=(6.4, 4.5 + 0.2 * key_rows), layout="constrained")
    draw_learning_curves(intervals, info, figure.subplots())
    figure.legend(
        loc="outside upper left",
        title=plain("\n".join(textwrap.wrap(title, 64))),
        title_fontsize="large",
        alignment="left",
        frameon=False,
        ncols=columns,
    )
    figure.supxlabel(plain(caption), fontsize=7.5, color="0.25", x=0.01, ha="left")
    return figure


def _wrapped(text: str, letters: float) -> str:
    """Text on as many lines as its width asks for."""
    return plain("\n".join(textwrap.wrap(text, int(letters))))


def _add_caption(figure: Figure, caption: str) -> None:
    """A caption below the axes, as wide as the figure."""
    text = _wrapped(caption, 15.5 * figure.get_figwidth())
    figure.supxlabel(text, fontsize=7.5, color="0.25", x=0.01, ha="left")


def draw_difference(
    shown: DifferenceCurve, found: pd.DataFrame, info: MeasureInfo, ax: Axes
) -> Axes:
    """Draw by how much one learner is ahead of another against training size.

    The dark band is for each size by itself, the light one for all sizes together; a bar on the
    line of no difference is the interval of a threshold, its mark the threshold.
    """
    curve = shown.table
    size = curve["size"]
    colour = COLOURS[0]
    ax.fill_between(
        size, curve["band_lower"], curve["band_upper"], color=colour, alpha=0.15, linewidth=0
    )
    ax.fill_between(size, curve["lower"], curve["upper"], color=colour, alpha=0.3, linewidth=0)
    studied = curve[curve["studied"]]
    ax.plot(size, curve["difference"], color=colour, linewidth=1.5)
    ax.plot(studied["size"], studied["difference"], "o", color=colour, markersize=3)
    ax.axhline(0, color="0.35", linewidth=0.9)
    for row in found[found["crossing"].notna()].to_dict("records"):
        ax.plot([row["lower"], row["upper"]], [0, 0], color=COLOURS[1], linewidth=3.5, alpha=0.9)
        ax.plot(row["crossing"], 0, "D", color=COLOURS[1], markersize=5.5, markeredgecolor="white")
    ax.set_xscale("log")
    sizes = studied["size"].to_numpy().astype(np.intp)
    label_sizes(ax, sizes[three_places(sizes)])
    ax.set_xlabel("training rows")
    unit = f" ({info.unit})" if info.unit else ""
    ax.set_ylabel(plain(f"{shown.second} ahead by{unit}"))
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color="0.92", linewidth=0.8)
    ax.set_axisbelow(True)
    return ax


def differences_figure(
    curves: Sequence[DifferenceCurve],
    found: pd.DataFrame,
    info: MeasureInfo,
    title: str,
    caption: str,
) -> Figure:
    """A figure of the paired differences of several pairs that can stand alone."""
    from matplotlib.figure import Figure

    columns = min(len(curves), 3)
    rows = -(-len(curves) // columns)
    height = (1.3 if columns == 3 else 1.9) + 2.2 * rows
    figure = Figure(figsize=(max(2.7 * columns, 5.0), height), layout="constrained")
    axes = list(figure.subplots(rows, columns, sharex=True, squeeze=False).flat)
    for ax in axes[len(curves) :]:
        ax.set_visible(False)
    for curve, ax in zip(curves, axes, strict=False):
        first, second = curve.first, curve.second
        mine = found[(found["first"] == first) & (found["second"] == second)]
        draw_difference(curve, mine, info, ax)
        ax.set_title(_wrapped(f"{second} ahead of {first}", 24), fontsize="medium")
        ax.set_ylabel("")
        if ax in axes[::columns]:
            ax.set_ylabel(plain(f"difference ({info.unit})" if info.unit else "difference"))
        ax.xaxis.set_tick_params(labelbottom=True)
    figure.suptitle(_wrapped(title, 9 * figure.get_figwidth()), x=0.01, ha="left")
    _add_caption(figure, caption)
    return figure


def draw_regret(split: pd.DataFrame, unit: str, axes: Sequence[Axes]) -> None:
    """Draw what regret is made of against training size, one panel for each learner.

    ``split`` has the columns learner, size, regret, representation and estimation.
    """
    learners = list(dict.fromkeys(split["learner"]))
    sizes = np.unique(split["size"])
    for learner, ax in zip(learners, axes, strict=True):
        rows = split[split["learner"] == learner].sort_values("size")
        size, floor, regret = (rows[key] for key in ("size", "representation", "regret"))
        ax.fill_between(size, 0, floor, color=COLOURS[1], alpha=0.55, linewidth=0)
        ax.fill_between(size, floor, regret, color=COLOURS[4], alpha=0.55, linewidth=0)
        ax.plot(size, floor, color=COLOURS[1], linestyle="--", linewidth=1.3)
        ax.plot(size, regret, color=COLOURS[0], marker="o", markersize=3.5, linewidth=1.6)
        ax.set_title(_wrapped(learner, 20), fontsize="medium")
        ax.set_xscale("log")
        ax.set_xlabel("training rows")
        label_sizes(ax, sizes[three_places(sizes)])
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis="y", color="0.92", linewidth=0.8)
        ax.set_axisbelow(True)
    axes[0].set_ylabel(f"regret ({unit})")


def three_places(sizes: IntArray) -> list[int]:
    """The first, the last, and the one nearest to the middle between them, as logarithms go."""
    middle = np.abs(np.log(sizes) - np.log(sizes[[0, -1]]).mean()).argmin()
    return sorted({0, int(middle), len(sizes) - 1})


def regret_figure(split: pd.DataFrame, unit: str, title: str, caption: str) -> Figure:
    """A figure of regret and its parts that can stand alone."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    number = split["learner"].nunique()
    columns = min(number, 4)
    rows = -(-number // columns)
    height = (1.6 if columns == 4 else 2.4) + 2.2 * rows
    figure = Figure(figsize=(max(2.0 * columns, 5.0), height), layout="constrained")
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    axes = list(grid.flat)
    for ax in axes[number:]:
        ax.set_visible(False)
    draw_regret(split, unit, axes[:number])
    for row in grid[1:]:
        row[0].set_ylabel(f"regret ({unit})")
    for ax in axes[:number]:
        ax.xaxis.set_tick_params(labelbottom=True)
    _add_caption(figure, caption)
    figure.legend(
        handles=[
            Line2D([], [], color=COLOURS[0], marker="o", markersize=3.5, label="regret"),
            Patch(color=COLOURS[4], alpha=0.55, label="estimation: what more data would win back"),
            Patch(color=COLOURS[1], alpha=0.55, label="representation: what no amount would"),
        ],
        loc="outside upper left",
        title=_wrapped(title, 9 * figure.get_figwidth()),
        title_fontsize="large",
        alignment="left",
        frameon=False,
        ncols=1 if columns < 4 else 3,
        fontsize="small",
    )
    return figure
