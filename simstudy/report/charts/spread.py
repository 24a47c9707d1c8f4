"""All models and all cells: scores, regret and its parts, divergences, calibration."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

from simstudy.analysis.models.findings import ModelFindings
from simstudy.analysis.models.regret import PARTS, Regret
from simstudy.analysis.models.reliability import Reliability
from simstudy.measures.base import MeasureInfo
from simstudy.report.charts import spec
from simstudy.report.charts.spec import Axis, Chart, Key, Line, Marks, Panels, Span, drawable, reach
from simstudy.report.prose.numbers import number
from simstudy.report.prose.phrases import axis_label

MAX_DOTS = 200  # models that are drawn one by one on the page


def scores(findings: ModelFindings, sizes: Sequence[int], learners: Sequence[str]) -> Panels:
    """The scores of every model, one row for each learner, a panel for each size."""
    info, charts = findings.info, []
    every = [v for size in sizes for label in learners for v in findings.values(label, size)]
    x = Axis(axis_label(info), *reach([*every, *[0.0] * bool(info.zero)]))
    for size in sizes:
        layers: list[spec.Layer] = [spec.Rule(0.0, upright=True)] if info.zero else []
        medians = []
        for row, label in enumerate(learners):
            learner = findings.design.learners.index(label)
            values = sorted(v for v in findings.values(label, size) if drawable(v))
            places = [row + spec.jitter(index, 0.5) for index in range(len(values))]
            layers.append(Marks(values, places, kind="cloud", learner=learner))
            low, middle, high = findings.quartiles(label, size)
            up, down = row - 0.31, row + 0.31
            if drawable(high - low):
                box = [low, high, high, low, low], [up, up, down, down, up]
                layers += [Line(*box, "thin"), Line([middle] * 2, [up, down], "thick")]
            means = [mean.mean for mean in findings.means_of(label) if mean.size == size]
            layers.append(Marks(means, [float(row)], kind="mean"))
            medians.append(f"median of {label} {number(middle)}")
        title = f"{info.label} of every model at {size:,} rows"
        texts, axes = (f"{size:,} rows", title, "; ".join(medians)), (x, spec.rows_axis(learners))
        charts.append(Chart(*texts, *axes, tuple(layers), names=findings.design.names))
    return Panels(tuple(charts), shared=True)


def models(findings: ModelFindings) -> list[Chart]:
    """Every model's score against training size, and the medians, a chart for each learner."""
    sizes, unit, charts = findings.design.sizes, findings.info.unit, []
    x = spec.sizes_axis(sizes, f"{findings.design.words.dose} rows", 0.1)
    y = Axis("", *reach(findings.scores[findings.measure].tolist()))
    gaps = [x.share(b) - x.share(a) for a, b in itertools.pairwise(sizes)]
    width = min([0.08, *(0.6 * gap for gap in gaps)]) * math.log(x.high / x.low)
    for learner, label in enumerate(findings.design.learners):
        dots, middles, medians = list[tuple[float, float]](), [], []
        for size in sizes:
            values = [(at, v) for at, v in enumerate(findings.values(label, size)) if drawable(v)]
            dots += [(size * math.exp(spec.jitter(at, width)), v) for at, v in values[:MAX_DOTS]]
            middles.append(findings.quartiles(label, size)[1])
            medians.append(f"{size:,} rows: {number(middles[-1])} {unit}".rstrip())
        tips = [f"median of {label} at {median}" for median in medians]
        layers = (
            Marks([at for at, _ in dots], [v for _, v in dots], kind="cloud", learner=learner),
            Line(sizes, middles, "thin", learner=learner),
            Marks(sizes, middles, tips, "median", learner=learner),
        )
        title, description = f"Scores of {label} on every model", f"Medians: {'; '.join(medians)}."
        chart = Chart(label, title, description, x, y, layers, names=findings.design.names)
        charts.append(replace(chart, learners=(learner,)))
    return charts


def regret(split: Regret, learners: Sequence[str], unit: str, shown: Sequence[str] = ()) -> Panels:
    """Mean regret and its parts, a panel for each learner shown (default: all), on equal axes."""
    table, charts = split.table.sort_values("size"), []
    sizes = [int(size) for size in table["size"].unique()]
    ends = reach([0.0, *table["regret"], *table["representation"]])
    y = Axis(f"regret ({unit})" if unit else "regret", *ends)
    axes = spec.sizes_axis(sizes, "training rows"), y
    for label in (label for label in split.learners if label in (shown or learners)):
        rows = table[table["learner"] == label]
        x, whole, floor = (rows[key].tolist() for key in ("size", *PARTS[:2]))
        tips = []
        for row in rows.to_dict("records"):
            parts = ", ".join(f"{part} {number(row[part])}" for part in PARTS)
            tips.append(f"{row['size']:,} rows: {parts} {unit}".rstrip())
        layers = (
            Span(x, [0.0] * len(x), floor, "representation"),
            Span(x, floor, whole, "estimation"),
            Line(x, floor, "floor"),
            Line(x, whole),
            Marks(x, whole, tips, "dot"),
        )
        texts = label, f"Regret of {label}", f"From {tips[0]}, to {tips[-1]}."
        places = (learners.index(label),)
        charts.append(Chart(*texts, *axes, layers, kind="regret", learners=places))
    key = (Key("regret", "dot"), *(Key(part, part) for part in ("estimation", "representation")))
    across = 6 if len(charts) > 12 else 0
    return Panels(tuple(charts), key, across=across, height=1.55, shared=True)


def divergence(
    findings: ModelFindings, reward: MeasureInfo, divergence: MeasureInfo, learners: Sequence[str]
) -> tuple[Panels, int, int]:
    """Reward against divergence, a panel for each learner; the numbers of cells, all and drawn."""
    sizes, charts = findings.design.sizes, []
    cells = findings.scores[findings.scores["learner"].isin(learners)]
    names = ["kl_divergence", "information_reward"]
    good = cells[cells[names].map(drawable).all(axis=1) & (cells[names[0]] > 0)]
    if good.empty:
        return Panels(()), len(cells), 0
    low, high = float(good[names[0]].min()) / 1.6, float(good[names[0]].max()) * 1.6
    x_axis = Axis(axis_label(divergence), low, high, "log")
    y_axis = Axis(axis_label(reward), *reach(good[names[1]]))
    scale = Axis("", sizes[0], sizes[-1], "log")
    shades = {size: scale.share(size) if len(sizes) > 1 else 1.0 for size in sizes}
    for label in (label for label in learners if (good["learner"] == label).any()):
        of_learner, layers = good[good["learner"] == label], []
        for size, shade in shades.items():
            rows = of_learner[of_learner["size"] == size]
            x, y = (rows[name].tolist() for name in names)
            layers.append(Marks(x, y, kind="cell", shade=shade))
        title, drawn = f"{reward.label} of {label} against {divergence.label}", len(of_learner)
        charts.append(Chart(label, title, f"{drawn} cells.", x_axis, y_axis, tuple(layers)))
    key = tuple(Key(f"{s:,}", "cell", shade=shades[s]) for s in spec.spaced(sizes, 4))
    return Panels(tuple(charts), key, "training rows", shared=True), len(cells), len(good)


def reliability(bins: Reliability, learners: Sequence[str]) -> Panels:
    """Observed frequencies against predicted probabilities, a panel for each learner."""
    table, charts = bins.table.sort_values("predicted"), []
    sizes = sorted(int(size) for size in set(table["size"]))
    series = {size: spec.look(len(sizes) - at) for at, size in enumerate(sizes, start=1)}
    halves = ((0.0, "0"), (0.5, "½"), (1.0, "1"))
    predicted = Axis("predicted probability", -0.03, 1.03, marks=halves)
    axes = predicted, replace(predicted, label="observed frequency")
    text = "Observed frequency against predicted probability, bin by bin."
    for label in (label for label in learners if (table["learner"] == label).any()):
        layers: list[spec.Layer] = [Line([0, 1], [0, 1], "zero")]
        for size, look in series.items():
            rows = table[(table["learner"] == label) & (table["size"] == size)]
            x, y = rows["predicted"].tolist(), rows["observed"].tolist()
            low, high = (rows[key].clip(0, 1).tolist() for key in ("lower", "upper"))
            both = zip(map(number, x), map(number, y), strict=True)
            tips = [f"{size:,} rows, {p} predicted: {o} observed" for p, o in both]
            areas, hollow = [0.25 + 2 * s for s in rows["share"]], rows["se"].isna().tolist()
            layers.append(Line(x, y, "faint", look=look))
            layers.append(Span(x, low, high, look=look))
            layers.append(Marks(x, y, tips, "bin", areas, hollow, look=look))
        title = f"Reliability of {label}"
        charts.append(Chart(label, title, text, *axes, tuple(layers), square=True))
    key = tuple(Key(f"{size:,}", "bin", look=look) for size, look in series.items())
    return Panels(tuple(charts), key, "training rows", height=1.72, shared=True)
