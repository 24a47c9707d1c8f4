"""Reliability diagrams: what was predicted against what happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simstudy.report.figures import COLOURS, MARKERS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# Of the smallest, the largest and further sizes.
_LOOKS = ((1, 1), (0, 0), (2, 2), (3, 3), (5, 4), (4, 5), (6, 6))


def draw_reliability(found: pd.DataFrame, ax: Axes, mark: float = 55) -> Axes:
    """Draw observed frequencies against predicted probabilities, one series for each size.

    Bars are intervals, cut at 0 and 1; a hollow mark has none. A mark is the larger the more
    predictions its bin has. On the dashed line predictions come true as often as they say.

    Parameters
    ----------
    found : DataFrame
        One learner's rows of `Results.reliability`.
    ax : Axes
        Where to draw.
    mark : float
        The area, in square points, of the mark of a bin with half of all predictions.
    """
    ax.plot([0, 1], [0, 1], color="0.35", linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    sizes = sorted(set(found["size"]))
    for index, size in enumerate(sizes):
        colour, marker = _LOOKS[(index if len(sizes) > 1 else 1) % len(_LOOKS)]
        rows = found[found["size"] == size].sort_values("predicted")
        low = np.clip(rows["lower"].fillna(rows["observed"]), 0, 1)
        high = np.clip(rows["upper"].fillna(rows["observed"]), 0, 1)
        ax.plot(
            rows["predicted"],
            rows["observed"],
            color=COLOURS[colour],
            alpha=0.6,
            linewidth=0.9,
            zorder=2,
        )
        ax.vlines(rows["predicted"], low, high, color=COLOURS[colour], linewidth=1.0, zorder=2)
        ax.scatter(
            rows["predicted"],
            rows["observed"],
            s=mark * (0.25 + 2 * rows["share"]),
            marker=MARKERS[marker],
            facecolor=[COLOURS[colour] if known else "white" for known in rows["se"].notna()],
            edgecolor=COLOURS[colour],
            linewidth=0.8,
            zorder=3,
        )
        ax.plot(
            [],
            [],
            color=COLOURS[colour],
            marker=MARKERS[marker],
            markersize=4.5,
            linewidth=0.9,
            label=f"{size:,}",
        )
    ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), aspect="equal")
    ax.set_xticks([0, 0.5, 1], ["0", "½", "1"])
    ax.set_yticks([0, 0.5, 1], ["0", "½", "1"])
    ax.set_xlabel("predicted probability")
    ax.set_ylabel("observed frequency")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color="0.92", linewidth=0.8)
    ax.set_axisbelow(True)
    return ax
