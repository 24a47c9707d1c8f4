"""All models and all cells: scores, regret and its parts, divergences, calibration."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from simstudy.analysis.findings import ModelFindings
from simstudy.analysis.regret import PARTS, Regret
from simstudy.analysis.reliability import Reliability
from simstudy.measures.base import MeasureInfo
from simstudy.report.charts import spec
from simstudy.report.charts.spec import Axis, Chart, Key, Panels, drawable, reach
from simstudy.report.prose.numbers import number
from simstudy.report.prose.phrases import axis_label

MAX_DOTS = 200  # models that are drawn one by one on the page
_SERIES = (1, 0, 2, 3, 5, 4, 6)  # the looks of the smallest, the largest and further sizes


def spaced(sizes: Sequence[int], most: int) -> list[int]:
    """At most so many of the sizes, the first and the last among them."""
    last, parts = len(sizes) - 1, min(most, len(sizes)) - 1
    return sorted({sizes[round(last * part / max(parts, 1))] for part in range(parts + 1)})


def scores(findings: ModelFindings, sizes: Sequence[int], learners: Sequence[str]) -> Panels:
    """The scores of every model, one row for each learner, a panel for each size."""
    info, charts = findings.info, []
    every = [v for size in sizes for one in learners for v in findings.values(one, size)]
    x = Axis(axis_label(info), *reach([*every, *[0.0] * bool(info.zero)]))
    for size in sizes:
        layers: list[spec.Layer] = [spec.Rule(0.0, upright=True)] if info.zero else []
        medians = []
        for row, label in enumerate(learners):
            learner = findings.design.learners.index(label)
            values = sorted(v for v in findings.values(label, size) if drawable(v))
            places = [row + spec.jitter(index, 0.5) for index in range(len(values))]
            layers.append(spec.Marks(values, places, kind="cloud", learner=learner))
            low, middle, high = findings.quartiles(label, size)
            up, down = row - 0.31, row + 0.31
            if drawable(high - low):
                box = [low, high, high, low, low], [up, up, down, down, up]
                layers += [spec.Line(*box, "thin"), spec.Line([middle] * 2, [up, down], "thick")]
            means = [one.mean for one in findings.means_of(label) if one.size == size]
            layers.append(spec.Marks(means, [float(row)], kind="mean"))
            medians.append(f"median of {label} {number(middle)}")
        title = f"{info.label} of every model at {size:,} rows"
        rows = spec.rows_axis(learners)
        charts.append(Chart(f"{size:,} rows", title, "; ".join(medians), x, rows, tuple(layers)))
    return Panels(tuple(charts), shared=True)


def models(findings: ModelFindings) -> list[Chart]:
    """Every model's score against training size, and the medians, a chart for each learner."""
    sizes, unit, charts = findings.design.sizes, findings.info.unit, []
    x = spec.sizes_axis(sizes, f"{findings.design.words.dose} rows", 0.1)
    y = Axis("", *reach(findings.scores[findings.measure].tolist()))
    gaps = [x.share(b) - x.share(a) for a, b in itertools.pairwise(sizes)]
    width = min([0.08, *(0.6 * gap for gap in gaps)]) * math.log(x.high / x.low)
    for learner, label in enumerate(findings.design.learners):
        places, heights, middles = [], [], []
        for size in sizes:
            values = findings.values(label, size)
            shown = [(place, v) for place, v in enumerate(values) if drawable(v)][:MAX_DOTS]
            places += [size * math.exp(spec.jitter(place, width)) for place, _ in shown]
            heights += [value for _, value in shown]
            middles.append(findings.quartiles(label, size)[1])
        both = zip(sizes, middles, strict=True)
        medians = [f"{size:,} rows: {number(v)} {unit}".rstrip() for size, v in both]
        tips = [f"median of {label} at {one}" for one in medians]
        layers = (
            spec.Marks(places, heights, kind="cloud", learner=learner),
            spec.Line(sizes, middles, "thin", learner=learner),
            spec.Marks(sizes, middles, tips, "median", learner=learner),
        )
        title, description = f"Scores of {label} on every model", f"Medians: {'; '.join(medians)}."
        charts.append(Chart(label, title, description, x, y, layers, learners=(learner,)))
    return charts


def regret(split: Regret, learners: Sequence[str], unit: str, shown: Sequence[str] = ()) -> Panels:
    """Mean regret and its parts, a panel for each learner shown (default: all), on equal axes."""
    table = split.table.sort_values("size")
    sizes = [int(size) for size in table["size"].unique()]
    ends = reach([0.0, *table["regret"], *table["representation"]])
    x_axis = spec.sizes_axis(sizes, "training rows")
    axes = x_axis, Axis(f"regret ({unit})" if unit else "regret", *ends)
    charts = []
    for label in (label for label in split.learners if label in (shown or learners)):
        rows = table[table["learner"] == label]
        x, (whole, floor, more) = rows["size"].tolist(), (rows[key].tolist() for key in PARTS)
        tips = [
            f"{size:,} rows: regret {number(a)}, representation {number(b)}, estimation {number(c)}"
            + f" {unit}" * bool(unit)
            for size, a, b, c in zip(x, whole, floor, more, strict=True)
        ]
        layers = (
            spec.Span(x, [0.0] * len(x), floor, "representation"),
            spec.Span(x, floor, whole, "estimation"),
            spec.Line(x, floor, "floor"),
            spec.Line(x, whole),
            spec.Marks(x, whole, tips, "dot"),
        )
        hidden = {"kind": "regret", "learners": (learners.index(label),)}
        title, description = f"Regret of {label}", f"From {tips[0]}, to {tips[-1]}."
        charts.append(Chart(label, title, description, *axes, layers, **hidden))  # type: ignore[arg-type]
    key = (Key("regret", "dot"), *(Key(part, part) for part in ("estimation", "representation")))
    across = 6 if len(charts) > 12 else 0
    return Panels(tuple(charts), key, across=across, height=1.55, shared=True)


def divergence(
    findings: ModelFindings, reward: MeasureInfo, other: MeasureInfo, learners: Sequence[str]
) -> tuple[Panels, int, int]:
    """Reward against divergence, a panel for each learner; the numbers of cells, all and drawn."""
    sizes = findings.design.sizes
    cells = findings.scores[findings.scores["learner"].isin(learners)]
    names = ["kl_divergence", "information_reward"]
    good = cells[cells[names].map(drawable).all(axis=1) & (cells[names[0]] > 0)]
    if good.empty:
        return Panels(()), len(cells), 0
    low, high = float(good[names[0]].min()) / 1.6, float(good[names[0]].max()) * 1.6
    axes = (
        Axis(axis_label(other), low, high, "log"),
        Axis(axis_label(reward), *reach(good[names[1]])),
    )
    charts = []
    for label in (label for label in learners if (good["learner"] == label).any()):
        mine, layers = good[good["learner"] == label], []
        for size in sizes:
            x, y = (mine.loc[mine["size"] == size, name].tolist() for name in names)
            layers.append(spec.Marks(x, y, kind="cell", shade=_shade(size, sizes)))
        title = f"{reward.label} of {label} against {other.label}"
        charts.append(Chart(label, title, f"{len(mine)} cells.", *axes, tuple(layers)))
    key = tuple(Key(f"{s:,}", "cell", shade=_shade(s, sizes)) for s in spaced(sizes, 4))
    return Panels(tuple(charts), key, "training rows", shared=True), len(cells), len(good)


def _shade(size: int, sizes: Sequence[int]) -> float:
    """How dark a size is."""
    low, high = math.log(sizes[0]), math.log(sizes[-1])
    return (math.log(size) - low) / (high - low) if high > low else 1.0


def reliability(found: Reliability, learners: Sequence[str]) -> Panels:
    """Observed frequencies against predicted probabilities, a panel for each learner."""
    table = found.table.sort_values("predicted")
    sizes = sorted(int(size) for size in set(table["size"]))
    series = dict(zip(sizes, _SERIES if len(sizes) > 1 else (0,), strict=False))
    halves = ((0.0, "0"), (0.5, "½"), (1.0, "1"))
    names = ("predicted probability", "observed frequency")
    x, y = (Axis(name, -0.03, 1.03, marks=halves) for name in names)
    charts = []
    for label in (label for label in learners if (table["learner"] == label).any()):
        layers: list[spec.Layer] = [spec.Line([0, 1], [0, 1], "zero")]
        for size, index in series.items():
            rows = table[(table["learner"] == label) & (table["size"] == size)]
            at = rows["predicted"].tolist(), rows["observed"].tolist()
            low, high = (rows[key].clip(0, 1).tolist() for key in ("lower", "upper"))
            both = zip(*at, strict=True)
            tips = [f"{size:,} rows, {number(p)} predicted: {number(o)} observed" for p, o in both]
            areas, hollow = [0.25 + 2 * s for s in rows["share"]], rows["se"].isna().tolist()
            marks = spec.Marks(*at, tips, "bin", areas, hollow, series=index)
            line = spec.Line(*at, "faint", series=index)
            layers += [line, spec.Span(at[0], low, high, series=index), marks]
        description = "Observed frequency against predicted probability, bin by bin."
        chart = Chart(
            label, f"Reliability of {label}", description, x, y, tuple(layers), square=True
        )
        charts.append(chart)
    key = tuple(Key(f"{size:,}", "bin", series=index) for size, index in series.items())
    return Panels(tuple(charts), key, "training rows", height=1.72, shared=True)
