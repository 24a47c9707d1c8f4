"""Figures with all learners in one panel, or a panel for each size."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from simstudy.report.figures import COLOURS, draw_learning_curves, label_sizes
from simstudy.report.paper import captions
from simstudy.report.paper.drawn import Drawn, NotDrawnError, leading, rank_tables, ranked, spaced
from simstudy.report.paper.forest import draw_thresholds, threshold_labels
from simstudy.report.paper.ranks import MOST_JOINED, draw_ranks, lines_needed
from simstudy.report.paper.spread import draw_scores
from simstudy.report.paper.style import Style, add_key, lines_of, named
from simstudy.report.words import axis_label

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from simstudy.results.results import Results

_MOST_LINES = {False: 44, True: 11}  # of an overview of thresholds, in a paper and on a slide
_DIRECT = 6  # as many curves have their labels at their ends
_FEW_SIZES = 6  # as many fit into one column


def curves(results: Results, style: Style) -> Iterator[Drawn]:
    """Learning curves of every measure."""
    shown, which = leading(results, style)
    for measure in results.measures:
        intervals = results.intervals(measure)
        caption = captions.curves(results, intervals, measure) + f" {which}"
        name = "learning_curves" if measure == results.measures[0] else f"learning_curves_{measure}"
        info = results.info(measure)
        title = f"{info.label[:1].upper()}{info.label[1:]} with more training rows"
        mine = intervals[intervals["learner"].isin(shown)]
        if not np.isfinite(mine["mean"]).any():
            continue
        figure, ax, direct = _room_for_curves(mine, style, shown)
        draw_learning_curves(mine, info, ax)
        for text in ax.texts:  # of the line at zero, readable before the bars
            text.set(
                zorder=5, bbox={"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 0.5}
            )
        ax.set_ylabel(named(axis_label(info), 0.72 * style.letters(figure.get_figheight()), 3))
        across = style.letters(figure.get_figwidth() - (1.5 if direct else 0.7) * style.font / 8)
        label_sizes(ax, np.array(results.sizes, dtype=np.intp), across)
        if direct:
            _label_ends(figure, ax, mine, style)
        else:
            _add_key(figure, ax, style)
        yield Drawn(name, title, caption, [figure])


def _room_for_curves(
    intervals: pd.DataFrame, style: Style, shown: list[str]
) -> tuple[Figure, Axes, bool]:
    """A figure for learning curves, and whether labels fit at their ends."""
    last = intervals[intervals["size"] == intervals["size"].max()]
    longest = max(map(len, shown))
    direct = len(shown) <= _DIRECT and longest <= 12 and bool(np.isfinite(last["mean"]).all())
    narrow = len(shown) <= _DIRECT and longest <= 26 and intervals["size"].nunique() <= _FEW_SIZES
    width = style.narrow if narrow else style.wide
    height = style.height if direct else 1.3 * style.height
    if not direct:
        key_rows = -(-len(shown) // _key_columns(shown, width, style))
        height = min(height + style.row * key_rows, style.tallest)
    figure = Figure(figsize=(width, style.height if style.titles else height), layout="constrained")
    return figure, figure.subplots(), direct


def _key_columns(labels: list[str], width: float, style: Style) -> int:
    longest = min(max(map(len, labels)), 40) + 6
    return max(1, min(len(labels), int(style.letters(width) / longest)))


def _add_key(figure: Figure, ax: Axes, style: Style) -> None:
    """Above the curves, in as many columns as fit."""
    handles, labels = ax.get_legend_handles_labels()
    columns = _key_columns(labels, figure.get_figwidth(), style)
    for handle, label in zip(handles, labels, strict=True):
        handle.set_label(named(label.replace(r"\$", "$"), 24 if style.titles else 40, 1))
    add_key(figure, handles, style, columns)


def _label_ends(figure: Figure, ax: Axes, intervals: pd.DataFrame, style: Style) -> None:
    """The learners' names where their curves end, moved apart where they would touch."""
    figure.draw_without_rendering()
    learners = list(dict.fromkeys(intervals["learner"]))
    last = intervals[intervals["size"] == intervals["size"].max()].set_index("learner")["mean"]
    places = {name: ax.transData.transform((1, last[name]))[1] / figure.dpi for name in learners}
    box = ax.get_window_extent()
    gap = style.smallest * 1.25 / 72
    heights = _apart(list(places.values()), gap, box.y0 / figure.dpi, box.y1 / figure.dpi)
    for index, (learner, at) in enumerate(zip(learners, heights, strict=True)):
        container = ax.containers[index]
        x = container[0].get_xdata()[-1]
        fraction = (at - box.y0 / figure.dpi) / (box.height / figure.dpi)
        ax.annotate(
            named(learner, 40),
            xy=(x, last[learner]),
            xytext=(1.06, fraction),
            textcoords="axes fraction",
            va="center",
            ha="left",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": COLOURS[index % len(COLOURS)],
                "linewidth": 0.8 * style.lines,
                "shrinkA": 1,
                "shrinkB": 3,
            },
        )


def _apart(places: list[float], gap: float, low: float, high: float) -> list[float]:
    """Places moved as little as need be for a gap between any two, within limits."""
    order = np.argsort(places, kind="stable")
    moved = np.array(places)[order]
    for _ in range(200):
        moved = np.clip(moved, low, high)
        lack = np.maximum(gap - np.diff(moved), 0) / 2
        if not lack.max(initial=0) > 1e-6:
            break
        moved[:-1] -= lack
        moved[1:] += lack
    result = np.empty_like(moved)
    result[order] = moved
    return [float(place) for place in result]


def thresholds(results: Results, style: Style) -> Drawn:
    """Where learners overtake each other, all pairs in one figure."""
    found = results.thresholds()
    if found.empty:
        raise NotDrawnError("thresholds: they need two learners and two training sizes")
    found, which = _chosen(found, _MOST_LINES[style.titles], ranked(results)[0])
    letters = style.letters(style.wide) * 0.36
    lines = len(found) * lines_of(threshold_labels(found, letters))
    figure = Figure(figsize=(style.wide, style.rows(lines, 0.75)), layout="constrained")
    across = style.letters(style.wide * 0.58)
    draw_thresholds(found, results.sizes, figure.subplots(), letters, across)
    caption = captions.thresholds(results, found, which)
    return Drawn("thresholds", f"Who overtakes whom in {results.info().label}", caption, [figure])


def _chosen(found: pd.DataFrame, most: int, leader: str) -> tuple[pd.DataFrame, str]:
    """The lines that there is room for, in the order of their changes, and which these are."""
    every = len(found)
    if every <= most:
        return _by_threshold(found), ""
    changing = found[found["before"].notna()]
    best = found[(found["first"] == leader) | (found["second"] == leader)]
    for kept, what in (
        (changing, "all in which one overtakes the other"),
        (best, f"those of {leader}, the best at the largest size"),
    ):
        if 0 < len(kept) <= most:
            return _by_threshold(kept), f"Of {every} lines {what}. "
    kept = _by_threshold(changing if len(changing) else best).iloc[:most]
    return kept, f"Of {every} lines the first {most}. "


def _by_threshold(found: pd.DataFrame) -> pd.DataFrame:
    """Pairs in the order of their first change, those without one at the end."""
    first = found.groupby(["first", "second"], sort=False)["after"].transform("min")
    order = np.lexsort((np.arange(len(found)), first.fillna(math.inf).to_numpy()))
    return found.iloc[order]


def scores(results: Results, style: Style) -> Drawn:
    """The scores of all models, a panel for each size."""
    measure = results.measures[0]
    info = results.info(measure)
    shown, which = leading(results, style)
    sizes = spaced(results.sizes, 2 if style.titles else 3)
    table = results.scores[results.scores["learner"].isin(shown)]
    table = table[["size", "learner"]].assign(value=table[measure])
    table = table[table["size"].isin(sizes)]
    finite = np.isfinite(table["value"])
    if not finite.any():
        raise NotDrawnError(f"scores: no cell has a finite {measure}")
    undrawn = int((~finite).sum())
    letters = style.letters(style.wide) * 0.22
    lines = lines_of([named(learner, letters) for learner in shown])
    height = style.rows(max(1.25, lines) * len(shown), 0.75)
    figure = Figure(
        figsize=(style.wide if len(sizes) > 1 else style.narrow, height), layout="constrained"
    )
    axes = figure.subplots(1, len(sizes), sharex=True, squeeze=False)[0]
    for size, ax in zip(sizes, axes, strict=True):
        mark = 8 * style.lines**2
        draw_scores(table[table["size"] == size], info, ax, letters, mark)
        ax.set_title(f"{size:,} rows")
        ax.set_xlabel("")
    for ax in axes[1:]:
        ax.tick_params(labelleft=False)
    figure.supxlabel(axis_label(info), fontsize=style.font)
    caption = captions.scores(results, measure, sizes, undrawn, which)
    return Drawn(
        "scores", f"{info.label[:1].upper()}{info.label[1:]} of every model", caption, [figure]
    )


def ranks(results: Results, style: Style) -> Drawn:
    """Critical-difference diagrams, a panel for each size."""
    k = len(results.learners)
    if k < 2:
        raise NotDrawnError("ranks: they need at least two learners")
    if style.titles and k > MOST_JOINED:
        raise NotDrawnError(f"ranks: those of {k} learners do not fit on a slide")
    joined = k <= MOST_JOINED
    several = joined and not style.titles
    found, without = rank_tables(
        results, spaced(results.sizes, 3) if several else results.sizes[-1:]
    )
    if not found:
        raise NotDrawnError(f"ranks: {without.strip()}")
    tables = list(found.values())
    narrow = max(map(len, results.learners)) <= 8 and k <= 6
    width = style.narrow if narrow else style.wide
    letters = style.letters(width) * (0.2 if joined else 0.4)
    heights = [lines_needed(table, letters) for table in tables]
    tall = style.rows(sum(heights) + 1.2 * len(tables), 0.1)
    figure = Figure(figsize=(width, tall), layout="constrained")
    axes = figure.subplots(len(tables), 1, squeeze=False, height_ratios=heights)[:, 0]
    for table, ax in zip(tables, axes, strict=True):
        draw_ranks(table, ax, letters)
        ax.set_title(f"{captions.at_words(table)}: average rank, 1 is best", loc="left")
    title = f"Average ranks by {results.info().label}"
    return Drawn("ranks", title, captions.ranks(results, tables, joined) + f" {without}", [figure])
