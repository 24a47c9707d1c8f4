"""Scores of all models: the spread that means hide, and what rewards have to do with divergence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simstudy.arrays import FloatArray
from simstudy.measures.base import MeasureInfo
from simstudy.report.figures import COLOURS, MARKERS, plain
from simstudy.report.paper.style import name_lines, named, tidy
from simstudy.report.words import axis_label

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# More points than this are drawn as a picture within the figure, or files would be huge.
_MANY = 3000
_LABEL = 22


def draw_scores(
    scores: pd.DataFrame, info: MeasureInfo, ax: Axes, letters: float = _LABEL, mark: float = 9
) -> Axes:
    """Draw the scores of every model, one line for each learner.

    Dots are models, the box goes from the first to the third quartile with a line at the median,
    the diamond is the mean. What is not finite is not drawn.

    Parameters
    ----------
    scores : DataFrame
        With the columns ``learner`` and ``value``.
    info : MeasureInfo
        Of the measure.
    ax : Axes
        Where to draw.
    letters : float
        How wide labels may be before they are broken.
    mark : float
        The area of a dot, in square points.
    """
    learners = list(dict.fromkeys(scores["learner"]))
    for place, learner in enumerate(learners):
        values = scores.loc[scores["learner"] == learner, "value"].to_numpy(dtype=np.float64)
        values = np.sort(values[np.isfinite(values)])
        if not len(values):
            continue
        colour = COLOURS[place % len(COLOURS)]
        ax.scatter(
            values,
            place + _jitter(len(values)),
            s=mark,
            color=colour,
            alpha=0.45,
            linewidth=0,
            rasterized=len(scores) > _MANY,
            zorder=2,
        )
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
        ax.barh(place, high - low, 0.62, low, fill=False, edgecolor="0.15", linewidth=0.9, zorder=3)
        ax.plot([middle] * 2, [place - 0.31, place + 0.31], color="0.15", linewidth=1.6, zorder=3)
        ax.plot(
            values.mean(),
            place,
            "D",
            color="white",
            markeredgecolor="black",
            markersize=4.5,
            zorder=4,
        )
    name_lines(ax, [named(learner, letters) for learner in learners])
    ax.set_xlabel(plain(axis_label(info)))
    tidy(ax, "x")
    if info.zero:
        ax.axvline(0, color="0.35", linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    return ax


def _jitter(number: int) -> FloatArray:
    """Places off the line for so many dots, the same each time: neighbours are far apart."""
    golden = 0.6180339887498949
    places = 0.5 * (np.arange(number) * golden % 1) - 0.25
    return places.astype(np.float64)


def draw_divergence(
    cells: pd.DataFrame,
    x: MeasureInfo,
    y: MeasureInfo,
    ax: Axes,
    limits: tuple[float, float],
    mark: float = 9,
) -> Axes:
    """Draw the cells of one learner, its reward against the divergence from the truth.

    Parameters
    ----------
    cells : DataFrame
        With the columns ``size``, ``divergence`` and ``reward``; what is not finite, or not above
        0 on the logarithmic axis of divergences, is not drawn.
    x, y : MeasureInfo
        Of the divergence and of the reward.
    ax : Axes
        Where to draw.
    limits : (float, float)
        The smallest and largest training size of the study: the lightest and darkest dots.
    mark : float
        The area of a dot, in square points.
    """
    shown = cells[np.isfinite(cells["reward"]) & (cells["divergence"] > 0)]
    shown = shown[np.isfinite(shown["divergence"])]
    for size, rows in shown.groupby("size", sort=True):
        ax.scatter(
            rows["divergence"],
            rows["reward"],
            s=mark,
            color=shade(float(str(size)), limits),
            marker=MARKERS[0],
            linewidth=0.2,
            edgecolor="white",
            rasterized=len(shown) > _MANY,
        )
    ax.set_xscale("log")
    ax.set_xlabel(plain(axis_label(x)))
    ax.set_ylabel(plain(axis_label(y)))
    tidy(ax, "both")
    return ax


def shade(size: float, limits: tuple[float, float]) -> tuple[float, float, float, float]:
    """The colour of a training size: the larger, the darker."""
    from matplotlib import colormaps

    low, high = np.log(limits)
    part = (np.log(size) - low) / (high - low) if high > low else 1.0
    colour: tuple[float, float, float, float] = colormaps["viridis_r"](0.08 + 0.92 * part)
    return colour
