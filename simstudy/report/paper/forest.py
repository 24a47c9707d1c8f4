"""All thresholds of a study at a glance: who overtakes whom, and at which size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from simstudy.report.figures import COLOURS, label_sizes, plain
from simstudy.report.paper.style import name_lines, named_pair, tidy
from simstudy.report.words import band_stretches

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_LABEL = 34


def draw_thresholds(
    found: pd.DataFrame,
    sizes: Sequence[int],
    ax: Axes,
    letters: float = _LABEL,
    across: float = 40,
) -> Axes:
    """Draw where learners overtake each other, one line for each crossing or pair without one.

    A diamond is a threshold, the dark bar its interval, with an arrow where that goes on beyond
    the sizes studied; light bars show every stretch in which the band over all sizes has the
    learner named first ahead, grey ones those of the other. A pair without a crossing says "none".

    Parameters
    ----------
    found : DataFrame
        From `Results.thresholds`.
    sizes : sequence of int
        The training sizes of the study.
    ax : Axes
        Where to draw.
    letters, across : float
        How wide labels may be before they are broken, and how many letters fit under the axis.
    """
    low, high = float(min(sizes)), float(max(sizes))
    rows: list[dict[Any, Any]] = found.to_dict("records")
    for place, row in enumerate(rows):
        _draw_band(ax, row, place)
        if row["crossing"] == row["crossing"]:
            _draw_crossing(ax, row, place, low, high)
        else:
            _draw_none(ax, row, place, low)
    ax.set_xscale("log")
    room = (high / low) ** 0.05
    ax.set_xlim(low / room ** (3 if found["crossing"].isna().any() else 1), high * room)
    label_sizes(ax, np.array(sizes, dtype=np.intp), across)
    name_lines(ax, threshold_labels(found, letters))
    ax.set_xlabel("training rows")
    tidy(ax, "x")
    return ax


def threshold_labels(found: pd.DataFrame, letters: float) -> list[str]:
    """Whom each line is about."""
    labels = []
    for row in found.to_dict("records"):
        ahead, joined = row["ahead"], "ahead of"
        if not isinstance(ahead, str):
            ahead, joined = row["first"], "and"
        elif row["crossing"] == row["crossing"]:
            joined = "overtakes"
        behind = row["first"] if ahead == row["second"] else row["second"]
        labels.append(named_pair(ahead, joined, behind, letters))
    return labels


def _draw_band(ax: Axes, row: dict[Any, Any], place: int) -> None:
    """Where either learner is ahead by the band, the one named first in blue."""
    for learner, low, high in band_stretches(row):
        colour, alpha = (COLOURS[4], 0.35) if learner == row["ahead"] else ("0.5", 0.25)
        _bar(ax, place, low, high, colour, alpha, 7.0)


def _draw_crossing(ax: Axes, row: dict[Any, Any], place: int, low: float, high: float) -> None:
    _bar(ax, place, row["lower"], row["upper"], COLOURS[0], 1.0, 1.8)
    ends = ((row["lower_open"], low, "<"), (row["upper_open"], high, ">"))
    for is_open, end, arrow in ends:
        if is_open:
            ax.plot(end, place, arrow, color=COLOURS[0], markersize=5.5, zorder=3, clip_on=False)
    ax.plot(
        row["crossing"],
        place,
        "D",
        color=COLOURS[1],
        markersize=5.5,
        markeredgecolor="white",
        zorder=4,
    )


def _draw_none(ax: Axes, row: dict[Any, Any], place: int, low: float) -> None:
    """No crossing: the mean of the learner named first is nowhere behind."""
    if not isinstance(row["ahead"], str):
        words = "not analysed" if row["note"].startswith("not analysed") else "neither is ahead"
        ax.text(low, place, plain(words), va="center", color="0.35", fontsize="small")
        return
    ax.annotate(
        "none",
        (low, place),
        xytext=(-6, 0),
        textcoords="offset points",
        ha="right",
        va="center",
        color="0.25",
    )


def _bar(
    ax: Axes, place: int, low: float, high: float, colour: str, alpha: float, width: float
) -> None:
    ax.plot(
        [low, high],
        [place, place],
        color=colour,
        alpha=alpha,
        linewidth=width,
        solid_capstyle="butt",
        zorder=2,
    )
