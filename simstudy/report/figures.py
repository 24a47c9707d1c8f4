"""Figures of a study, as matplotlib axes."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.measures.base import MeasureInfo
from simstudy.report.words import axis_label

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
    _label_sizes(ax, sizes)
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


def _label_sizes(ax: Axes, sizes: IntArray) -> None:
    """Ticks at the sizes; labels are slanted, or some left out, where they would collide."""
    labels = [f"{size:,}" for size in sizes]
    places = np.log10(sizes / sizes[0]) * _LETTERS_ACROSS
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
