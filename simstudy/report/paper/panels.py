"""Figures with a panel for each learner, or for each pair."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from simstudy.errors import SimstudyError
from simstudy.report.figures import (
    COLOURS,
    draw_difference,
    draw_regret,
    label_sizes,
    three_places,
)
from simstudy.report.paper import captions
from simstudy.report.paper.calibration import draw_reliability
from simstudy.report.paper.drawn import Drawn, NotDrawnError, leading, spaced
from simstudy.report.paper.spread import draw_divergence, shade
from simstudy.report.paper.style import Style, named, named_pair, pages
from simstudy.report.words import MOST_PAIRS, axis_label

if TYPE_CHECKING:
    from simstudy.results.results import Results

# More pairs of learners than this make no readable figure.


def differences(results: Results, style: Style) -> Drawn:
    """Paired differences against training size, a panel for each pair."""
    pairs = list(itertools.combinations(results.learners, 2))
    if not pairs or len(results.sizes) < 2:
        raise NotDrawnError("differences: they need two learners and two training sizes")
    if len(pairs) > MOST_PAIRS:
        raise NotDrawnError(
            f"differences: {len(pairs)} pairs of learners are too many for a figure, which has "
            f"{MOST_PAIRS} at most; the table of pairs has them all"
        )
    info, found = results.info(), results.thresholds()
    drawn = Drawn("differences", f"Differences in {info.label}", captions.differences(results))
    sizes = np.array(results.sizes, dtype=np.intp)
    for page in pages(style, len(pairs), 1.75, across=3):
        here, pairs = pairs[: len(page.axes)], pairs[len(page.axes) :]
        letters = page.letters(style)
        for (first, second), ax in zip(here, page.axes, strict=True):
            mine = found[(found["first"] == first) & (found["second"] == second)]
            curve = results.difference_curve(first, second)
            draw_difference(curve, mine, info, ax)
            ax.set_title(named_pair(second, "ahead of", first, letters))
            if note := curve.attrs["note"]:
                ax.set_xlim(sizes[0], sizes[-1])
                ax.set_yticks([])
                ax.text(0.5, 0.6, named(note, letters), transform=ax.transAxes, ha="center")
            label_sizes(ax, sizes[three_places(sizes)], letters)
        page.name_axes("training rows", f"difference ({info.unit})" if info.unit else "difference")
        drawn.figures.append(page.figure)
    return drawn


def regret(results: Results, style: Style) -> Drawn:
    """What regret is made of, a panel for each learner."""
    split = results.regret()
    if split.empty:
        raise NotDrawnError(
            "regret: the study has not measured 'regret', 'representation' and 'estimation', or "
            "no model has all of them"
        )
    shown, which = leading(results, style)
    split = split[split["learner"].isin(shown)]
    learners = list(dict.fromkeys(split["learner"]))
    drawn = Drawn("regret", "Regret and its parts", f"{captions.regret(results)} {which}")
    parts = split[["regret", "representation"]].to_numpy()
    low, high = min(parts.min(), 0.0), parts.max()
    sizes = np.array(results.sizes, dtype=np.intp)
    across = 6 if len(learners) > 12 and not style.titles else style.panels
    for page in pages(style, len(learners), 1.55, across):
        here, learners = learners[: len(page.axes)], learners[len(page.axes) :]
        letters = page.letters(style)
        draw_regret(split[split["learner"].isin(here)], "", page.axes)
        for ax, learner in zip(page.axes, here, strict=True):
            ax.set_title(named(learner, letters))
            ax.set_ylim(low * 1.05, high * 1.05)
            label_sizes(ax, sizes[[0, -1]] if letters < 16 else sizes[three_places(sizes)], letters)
        unit = results.info("regret").unit
        page.name_axes("training rows", f"regret ({unit})" if unit else "regret", shared=True)
        handles = [
            Line2D([], [], color=COLOURS[0], marker="o", markersize=3.5, label="regret"),
            Patch(color=COLOURS[4], alpha=0.55, label="estimation"),
            Patch(color=COLOURS[1], alpha=0.55, label="representation"),
        ]
        page.add_key(handles, "", style)
        drawn.figures.append(page.figure)
    return drawn


def divergence(results: Results, style: Style) -> Drawn:
    """Rewards against divergences from the truth, a panel for each learner."""
    needed = ("information_reward", "kl_divergence")
    if missing := [f"'{name}'" for name in needed if name not in results.measures]:
        raise NotDrawnError(
            f"reward_and_divergence: the study has not measured {' and '.join(missing)}"
        )
    shown, which = leading(results, style)
    scores = results.scores[results.scores["learner"].isin(shown)]
    cells = scores[["learner", "size"]].assign(
        reward=scores["information_reward"], divergence=scores["kl_divergence"]
    )
    drawable = np.isfinite(cells["reward"]) & np.isfinite(cells["divergence"])
    drawable &= cells["divergence"] > 0
    if not drawable.any():
        raise NotDrawnError("reward_and_divergence: no cell has a divergence above 0")
    caption = f"{captions.divergence(results, cells, int(drawable.sum()))} {which}"
    drawn = Drawn("reward_and_divergence", "Reward against divergence from the truth", caption)
    good = cells[drawable]
    learners = [learner for learner in shown if (good["learner"] == learner).any()]
    limits = (results.sizes[0], results.sizes[-1])
    x, y = results.info("kl_divergence"), results.info("information_reward")
    room = 0.05 * (good["reward"].max() - good["reward"].min() or 1.0)
    box = {
        "xlim": (good["divergence"].min() / 1.6, good["divergence"].max() * 1.6),
        "ylim": (good["reward"].min() - room, good["reward"].max() + room),
    }
    for page in pages(style, len(learners), 1.75):
        here, learners = learners[: len(page.axes)], learners[len(page.axes) :]
        for ax, learner in zip(page.axes, here, strict=True):
            mine = good[good["learner"] == learner]
            draw_divergence(mine, x, y, ax, limits, mark=8 * style.lines**2)
            ax.set_title(named(learner, page.letters(style)))
            ax.set(**box)
        dots = [
            Line2D([], [], linestyle="", marker="o", color=shade(n, limits), label=f"{n:,}")
            for n in spaced(results.sizes, 4)
        ]
        page.add_key(dots, "training rows", style)
        page.name_axes(axis_label(x), axis_label(y), shared=True)
        drawn.figures.append(page.figure)
    return drawn


def reliability(results: Results, style: Style) -> Drawn:
    """What was predicted against what happened, a panel for each learner."""
    sizes = sorted({results.sizes[0], results.sizes[-1]})
    shown, which = leading(results, style)
    try:
        found = results.reliability(sizes, learners=shown)
    except SimstudyError as error:
        raise NotDrawnError(f"reliability: {error}") from error
    learners = [learner for learner in shown if (found["learner"] == learner).any()]
    if not learners:
        raise NotDrawnError("reliability: no cell of the models to run again succeeded")
    caption = captions.reliability(results, found, sizes) + f" {which}"
    drawn = Drawn("reliability", "Do predictions come true as often as they say?", caption)
    for page in pages(style, len(learners), 1.72):
        here, learners = learners[: len(page.axes)], learners[len(page.axes) :]
        for ax, learner in zip(page.axes, here, strict=True):
            mine = found[found["learner"] == learner]
            draw_reliability(mine, ax, mark=30 * style.lines**2)
            ax.set_title(named(learner, page.letters(style)))
        handles, _ = page.axes[0].get_legend_handles_labels()
        page.add_key(handles, "training rows", style)
        page.name_axes("predicted probability", "observed frequency", shared=True)
        drawn.figures.append(page.figure)
    return drawn
