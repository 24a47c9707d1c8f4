"""All pairs of a study at a glance: who overtakes whom, and between which sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from simstudy.report.figures import COLOURS, label_sizes, plain
from simstudy.report.overtaking import ahead_at, behind, has_change
from simstudy.report.paper.style import name_lines, named_pair, tidy

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
    """Draw who overtakes whom, one line for each change of the learner ahead or pair without one.

    Dots are the sizes at which a learner is ahead by the tests: dark where the one named first is,
    light where the other is. The bar lies between the sizes at which this changes, a diamond and a
    dark bar are the estimate and its interval.

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
        _draw_sizes(ax, row, place)
        if has_change(row):
            _draw_change(ax, row, place)
        elif not isinstance(row["ahead"], str):
            words = "not analysed" if row["note"].startswith("not analysed") else "none shown"
            ax.text(low, place, plain(words), va="center", color="0.35", fontsize="small")
    ax.set_xscale("log")
    room = (high / low) ** 0.05
    ax.set_xlim(low / room, high * room)
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
        elif has_change(row):
            joined = "overtakes"
        behind = row["first"] if ahead == row["second"] else row["second"]
        labels.append(named_pair(ahead, joined, behind, letters))
    return labels


def _draw_sizes(ax: Axes, row: dict[Any, Any], place: int) -> None:
    """The sizes at which either learner is ahead, those of the one named first dark."""
    if not isinstance(row["ahead"], str):
        return
    for learner, colour in ((row["ahead"], COLOURS[0]), (behind(row), "0.75")):
        sizes = ahead_at(row, learner)
        ax.plot(sizes, [place] * len(sizes), "o", color=colour, markersize=4, zorder=3)


def _draw_change(ax: Axes, row: dict[Any, Any], place: int) -> None:
    _bar(ax, place, row["before"], row["after"], COLOURS[4], 0.35, 6.0)
    if row["crossing"] == row["crossing"]:
        _bar(ax, place, row["lower"], row["upper"], COLOURS[0], 1.0, 1.8)
        ax.plot(
            row["crossing"],
            place,
            "D",
            color=COLOURS[1],
            markeredgecolor="white",
            markersize=5.5,
            zorder=4,
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
