"""Critical-difference diagrams (Demšar 2006, figure 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simstudy.report.figures import COLOURS
from simstudy.report.paper.style import lines_of, name_lines, named, tidy

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# With more learners than this the bars that join groups would hide each other.
MOST_JOINED = 12
_LABEL = 18


def draw_ranks(ranks: pd.DataFrame, ax: Axes, letters: float = _LABEL) -> Axes:
    """Draw average ranks and which of them are not told apart.

    Up to twelve learners stand along one axis of ranks, and a thick bar joins those not told
    apart. More stand one below the other, each with an interval of half the critical difference on
    either side: those whose intervals overlap are not told apart, and the shade is the interval of
    the best.

    Parameters
    ----------
    ranks : DataFrame
        From `Results.ranks`.
    ax : Axes
        Where to draw.
    letters : float
        How wide labels may be before they are broken.
    """
    if len(ranks) > MOST_JOINED:
        return _draw_lines(ranks, ax, letters)
    return _draw_joined(ranks, ax, letters)


def lines_needed(ranks: pd.DataFrame, letters: float = _LABEL) -> float:
    """How many lines of labels the drawing is high."""
    if len(ranks) > MOST_JOINED:
        return len(ranks) + 2.5
    return _depth(ranks, letters) + 3.2


def _step(ranks: pd.DataFrame, letters: float) -> int:
    """How many lines each label takes."""
    return lines_of([named(learner, letters) for learner in ranks["learner"]])


def _depth(ranks: pd.DataFrame, letters: float) -> float:
    """How far below the axis of ranks the lowest label is."""
    step = _step(ranks, letters)
    return 0.9 + 0.45 * _lanes(ranks)[1] + step * (-(-len(ranks) // 2) - 1) + 0.5 * step


def _lanes(ranks: pd.DataFrame) -> tuple[list[tuple[float, float, int]], int]:
    """The bar of each group, in the first lane where it touches no other; how many lanes."""
    at = dict(zip(ranks["learner"], ranks["rank"], strict=True))
    bars: list[tuple[float, float, int]] = []
    for group in ranks.attrs["groups"]:
        low, high = at[group[0]], at[group[-1]]
        taken = {lane for _, end, lane in bars if end >= low - 0.1}
        lane = min(set(range(len(bars) + 1)) - taken)
        bars.append((low, high, lane))
    return bars, 1 + max((lane for *_, lane in bars), default=-1)


def _draw_joined(ranks: pd.DataFrame, ax: Axes, letters: float) -> Axes:
    k, critical = len(ranks), ranks.attrs["critical_difference"]
    span = k - 1
    edge = 0.04 * span
    ax.set(xlim=(1 - edge, max(k, 1 + critical) + edge), ylim=(-_depth(ranks, letters), 2.1))
    ax.axis("off")
    ax.hlines(0, 1, k, color="0.15", linewidth=1)
    for rank in range(1, k + 1):
        ax.vlines(rank, 0, 0.18, color="0.15", linewidth=1)
        ax.text(rank, 0.3, str(rank), ha="center", va="bottom")
    ax.hlines(1.5, 1, 1 + critical, color="0.15", linewidth=1)
    ax.vlines([1, 1 + critical], 1.38, 1.62, color="0.15", linewidth=1)
    ax.text(1, 1.65, f"critical difference {critical:.2f}", ha="left", va="bottom")
    bars, lanes = _lanes(ranks)
    for low, high, lane in bars:
        y = -0.4 - 0.45 * lane
        ax.plot([low - 0.02 * span, high + 0.02 * span], [y, y], color=COLOURS[1], linewidth=3.2)
    half, step = -(-k // 2), _step(ranks, letters)
    for place, (learner, rank) in enumerate(zip(ranks["learner"], ranks["rank"], strict=True)):
        left = place < half
        line = place if left else k - 1 - place
        y = -0.9 - 0.45 * lanes - step * line
        side = 0.0 if left else 1.0
        end = ax.get_xlim()[0 if left else 1]
        ax.plot([rank, rank, end], [0, y, y], color="0.15", linewidth=0.9, zorder=1)
        text = named(learner, letters)
        words = f"{text}  {rank:.2f}" if left else f"{rank:.2f}  {text}"
        ax.text(
            side - 0.015 if left else side + 0.015,
            y,
            words,
            transform=ax.get_yaxis_transform(),
            ha="right" if left else "left",
            va="center",
        )
    return ax


def _draw_lines(ranks: pd.DataFrame, ax: Axes, letters: float) -> Axes:
    half = ranks.attrs["critical_difference"] / 2
    places = np.arange(len(ranks))
    best = float(ranks["rank"].iloc[0])
    ax.axvspan(best - half, best + half, color=COLOURS[4], alpha=0.25, linewidth=0, zorder=0)
    ax.hlines(places, ranks["rank"] - half, ranks["rank"] + half, color="0.3", linewidth=1.4)
    ax.plot(ranks["rank"], places, "o", color=COLOURS[0], markersize=4, zorder=3)
    name_lines(ax, [named(learner, letters, 1) for learner in ranks["learner"]])
    ax.set_xlabel("average rank (1 is best) ± half the critical difference")
    steps = [rank for rank in range(0, len(ranks), 5 if len(ranks) <= 50 else 20) if rank > 1]
    ax.set_xticks([1, *steps, len(ranks)] if len(ranks) not in steps else [1, *steps])
    tidy(ax, "x")
    return ax
