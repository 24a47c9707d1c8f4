"""Figures of a study, as matplotlib axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

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
# Room between neighbouring learners at one size, as a share of a decade.
_DODGE = 0.032


def draw_learning_curves(intervals: pd.DataFrame, info: MeasureInfo, ax: Axes) -> Axes:
    """Draw the mean of a measure against training size, one line with intervals per learner."""
    learners = list(dict.fromkeys(intervals["learner"]))
    sizes = np.unique(intervals["size"])
    for index, learner in enumerate(learners):
        rows = intervals[intervals["learner"] == learner]
        offset = (index - (len(learners) - 1) / 2) * _DODGE
        ax.errorbar(
            rows["size"] * 10**offset,
            rows["mean"],
            yerr=[rows["mean"] - rows["lower"], rows["upper"] - rows["mean"]],
            label=learner,
            color=COLOURS[index % len(COLOURS)],
            marker=MARKERS[index % len(MARKERS)],
            linestyle=LINES[(index // len(COLOURS)) % len(LINES)],
            markersize=5.5,
            linewidth=1.6,
            elinewidth=1.1,
            capsize=2.5,
        )
    ax.set_xscale("log")
    ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
    ax.minorticks_off()
    ax.set_xlim(sizes[0] / 1.5, sizes[-1] * 1.5)
    ax.set_xlabel("training rows")
    ax.set_ylabel(axis_label(info))
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color="0.92", linewidth=0.8)
    ax.set_axisbelow(True)
    if info.zero:
        _draw_zero(ax, info.zero)
    return ax


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

    figure = Figure(figsize=(6.4, 4.6), layout="constrained")
    ax = draw_learning_curves(intervals, info, figure.subplots())
    ax.set_title(title, loc="left", fontsize="large")
    key_columns = 1 + (intervals["learner"].nunique() - 1) // 12
    figure.legend(loc="outside right upper", frameon=False, ncols=key_columns)
    figure.supxlabel(caption, fontsize=7.5, color="0.25", x=0.01, ha="left")
    return figure
