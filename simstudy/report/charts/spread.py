"""Scores of all models: the spread that means hide, and rewards against divergences."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from simstudy.analysis.findings import Findings
from simstudy.measures.base import MeasureInfo
from simstudy.report.charts.spec import (
    Axis,
    Chart,
    Key,
    Layer,
    Line,
    Marks,
    Panels,
    Rule,
    drawable,
    jitter,
    reach,
    rows_axis,
    sizes_axis,
)
from simstudy.report.prose.numbers import number
from simstudy.report.prose.phrases import axis_label

MAX_DOTS = 200  # models that are drawn one by one on the page


def spaced(sizes: Sequence[int], most: int) -> list[int]:
    """At most so many of the sizes, the first and the last among them."""
    last, parts = len(sizes) - 1, min(most, len(sizes)) - 1
    return sorted({sizes[round(last * part / max(parts, 1))] for part in range(parts + 1)})


def scores(findings: Findings, sizes: Sequence[int], learners: Sequence[str]) -> Panels:
    """The scores of every model, one row for each learner, a panel for each size.

    Dots are models, the box goes from the first to the third quartile with a line at the median,
    the diamond is the mean. What is not finite is not drawn.
    """
    info, charts = findings.info, []
    every = [v for size in sizes for one in learners for v in findings.values(one, size)]
    x = Axis(axis_label(info), *reach([*every, *[0.0] * bool(info.zero)]))
    for size in sizes:
        layers: list[Layer] = [Rule(0.0, upright=True)] if info.zero else []
        told = []
        for row, label in enumerate(learners):
            learner = findings.design.learners.index(label)
            values = sorted(v for v in findings.values(label, size) if drawable(v))
            places = [row + jitter(index, 0.5) for index in range(len(values))]
            layers.append(Marks(values, places, kind="cloud", learner=learner))
            low, middle, high = findings.quartiles(label, size)
            up, down = row - 0.31, row + 0.31
            if drawable(low) and drawable(high):
                box = Line([low, high, high, low, low], [up, up, down, down, up], "box")
                layers += [box, Line([middle, middle], [up, down], "middle")]
            (mean,) = [one.mean for one in findings.means_of(label) if one.size == size]
            if drawable(mean):
                layers.append(Marks([mean], [float(row)], kind="mean"))
            told.append(f"median of {label} {number(middle)}")
        charts.append(
            Chart(
                f"{size:,} rows",
                f"{info.label} of every model at {size:,} rows",
                "; ".join(told) + ".",
                x,
                rows_axis(learners),
                tuple(layers),
            )
        )
    return Panels(tuple(charts), shared=True)


def models(findings: Findings) -> list[Chart]:
    """Every model's score against training size, and the medians, a chart for each learner."""
    sizes, charts = findings.design.sizes, []
    ends = reach(findings.scores[findings.measure].tolist())
    x, y = sizes_axis(sizes, 0.1), Axis("", *ends)
    gaps = [x.share(b) - x.share(a) for a, b in itertools.pairwise(sizes)]
    width = min([0.08, *(0.6 * gap for gap in gaps)]) * math.log(x.high / x.low)
    for learner, label in enumerate(findings.design.learners):
        places, heights, middles = [], [], []
        for size in sizes:
            shown = [(m, v) for m, v in findings.values(label, size).items() if drawable(v)]
            for model, value in shown[:MAX_DOTS]:
                places.append(size * math.exp(jitter(int(str(model)), width)))
                heights.append(value)
            middles.append(findings.quartiles(label, size)[1])
        told = [f"{number(v)} at {size:,} rows" for size, v in zip(sizes, middles, strict=True)]
        tips = [f"median of {label} at {one}" for one in _turned(told)]
        layers = (
            Marks(places, heights, kind="cloud", learner=learner),
            Line(sizes, middles, "thin", learner=learner),
            Marks(sizes, middles, tips, "median", learner=learner),
        )
        title = f"Scores of {label} on every model"
        description = f"Medians: {', '.join(told)}."
        charts.append(Chart(label, title, description, x, y, layers, learners=(learner,)))
    return charts


def _turned(told: Sequence[str]) -> list[str]:
    """Numbers after their sizes."""
    return [": ".join(reversed(one.split(" at "))) for one in told]


def divergence(
    findings: Findings, reward: MeasureInfo, other: MeasureInfo, learners: Sequence[str]
) -> tuple[Panels, int, int]:
    """Reward against divergence from the truth, a panel for each learner.

    Dots are cells, the darker the more training rows; what is not finite, or not above 0 on the
    logarithmic axis of divergences, is not drawn. Also how many cells there are, and are drawn.
    """
    sizes = findings.design.sizes
    cells = findings.scores[findings.scores["learner"].isin(learners)]
    finite = cells["information_reward"].map(drawable) & cells["kl_divergence"].map(drawable)
    good = cells[finite & (cells["kl_divergence"] > 0)]
    if good.empty:
        return Panels(()), len(cells), 0
    rewards, divergences = good["information_reward"], good["kl_divergence"]
    low, high = float(divergences.min()) / 1.6, float(divergences.max()) * 1.6
    x, y = Axis(axis_label(other), low, high, "log"), Axis(axis_label(reward), *reach(rewards))
    charts = []
    for label in (label for label in learners if (good["learner"] == label).any()):
        layers = []
        for size in sizes:
            rows = good[(good["learner"] == label) & (good["size"] == size)]
            columns = (rows["kl_divergence"].tolist(), rows["information_reward"].tolist())
            layers.append(Marks(*columns, kind="cell", shade=_shade(size, sizes)))
        title = f"{reward.label} of {label} against {other.label}"
        told = f"{len(good[good['learner'] == label])} cells."
        charts.append(Chart(label, title, told, x, y, tuple(layers)))
    key = tuple(Key(f"{s:,}", "cell", shade=_shade(s, sizes)) for s in spaced(sizes, 4))
    return Panels(tuple(charts), key, "training rows", shared=True), len(cells), len(good)


def _shade(size: int, sizes: Sequence[int]) -> float:
    """How dark a size is."""
    low, high = math.log(sizes[0]), math.log(sizes[-1])
    return (math.log(size) - low) / (high - low) if high > low else 1.0
