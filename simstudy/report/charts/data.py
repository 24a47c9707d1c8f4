"""Charts of studies of data sets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simstudy.analysis.data_findings import DataFindings
from simstudy.analysis.over_sets import OverSets
from simstudy.analysis.reversals import Reversals
from simstudy.report.charts import spec
from simstudy.report.charts.spec import Axis, Chart, Line, Marks, Span, Text
from simstudy.report.prose.numbers import brief, number, share
from simstudy.report.prose.phrases import axis_label, in_unit
from simstudy.texts import counted

MAX_PAIRS = 10  # of the posterior; of more, those of the leader
_HALF = 0.36  # of the thickness of a bar, in rows
_NAMED = 8  # reversals whose data sets are named in the chart


def wins(findings: DataFindings) -> Chart:
    """On how many data sets each learner has the best mean, and is significantly ahead."""
    places = {label: place for place, label in enumerate(findings.learners)}
    sets, layers = len(findings.datasets), list[spec.Layer]()
    for row, one in enumerate(findings.standings):
        own = places[one.learner]
        for value, side, kind in ((one.best, -1, "pale"), (one.ahead, 1, "full")):
            low, high = sorted((row + 0.03 * side, row + _HALF * side))
            if value:
                bar = Span([0.0, float(value)], [low] * 2, [high] * 2, kind, learner=own)
                layers.append(bar)
            middle = (low + high) / 2
            layers.append(Text(value, middle, f" {value}", 1, kind="tick", learner=own))
    each = [
        f"{one.learner}: best mean on {one.best}, significantly ahead on {one.ahead}"
        for one in findings.standings
    ]
    most = max(*(max(one.best, one.ahead) for one in findings.standings), 1)
    title = f"Data sets that each learner wins, by {findings.info.label}"
    rows = spec.rows_axis([brief(one.learner, 22) for one in findings.standings])
    x = Axis(f"data sets, of {sets}", 0, most * 1.1, marks=_whole(most))
    return Chart(title, title, f"{'; '.join(each)}.", x, rows, tuple(layers), kind="wins")


def _whole(most: int) -> tuple[tuple[float, str], ...]:
    """Ticks at whole numbers."""
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100, 1000, 10**9) if most <= 6 * step)
    return tuple((float(at), str(at)) for at in range(0, most + 1, step))


def splits(findings: DataFindings, dataset: str) -> Chart:
    """The scores of all splits of a data set, a row for each learner."""
    own = findings.scores[findings.scores["dataset"] == dataset]
    layers: list[spec.Layer] = []
    shown: list[float] = []
    texts = []
    for row, label in enumerate(findings.learners):
        values = own.loc[own["learner"] == label, findings.measure].tolist()
        at = [row + spec.jitter(index, 0.5) for index in range(len(values))]
        layers.append(Marks(values, at, kind="cloud", learner=row))
        mean = float(findings.means[label][dataset])
        tip = f"{label}: mean {in_unit(number(mean), findings.info)}"
        layers.append(Marks([mean], [float(row)], [tip], learner=row))
        shown += [*values, mean]
        texts.append(tip)
    title = f"{findings.info.label} of every split of {dataset}"
    rows = spec.rows_axis([brief(label, 22) for label in findings.learners])
    x = Axis(axis_label(findings.info), *spec.reach(shown))
    return Chart(title, title, f"{'; '.join(texts)}.", x, rows, tuple(layers))


def by_dataset(findings: DataFindings) -> Chart:
    """The means of all learners, a row for each data set."""
    layers: list[spec.Layer] = []
    for place, label in enumerate(findings.learners):
        means = findings.means[label].tolist()
        tips = [
            f"{dataset}, {label}: {in_unit(number(mean), findings.info)}"
            for dataset, mean in zip(findings.datasets, means, strict=True)
        ]
        rows = [float(row) for row in range(len(means))]
        layers.append(Marks(means, rows, tips, learner=place))
    title = f"Mean {findings.info.label} by data set"
    every = findings.means.to_numpy().ravel().tolist()
    text = f"Means of {counted(len(findings.learners), 'learner')}; the table has the numbers."
    x = Axis(axis_label(findings.info), *spec.reach(every))
    rows_axis = spec.rows_axis([brief(name, 22) for name in findings.datasets])
    return Chart(title, title, text, x, rows_axis, tuple(layers))


def posterior(found: OverSets) -> Chart:
    """The probabilities that one of two learners is better over data sets, or that both are."""
    pairs = [pair for pair in found.pairs if not pair.posterior.reason]
    if len(pairs) > MAX_PAIRS:
        pairs = [pair for pair in pairs if found.leader in (pair.first, pair.second)]
    layers: list[spec.Layer] = []
    labels, texts = [], []
    for row, pair in enumerate(pairs):
        ends = np.cumsum([0.0, *pair.posterior])
        kinds = ("first", "equal", "second")
        for kind, low, high in zip(kinds, ends[:-1], ends[1:], strict=True):
            if high > low:
                box = [row - _HALF] * 2, [row + _HALF] * 2
                layers.append(Span([float(low), float(high)], *box, kind))
            if high - low >= 0.13:
                middle = float(low + high) / 2
                layers.append(Text(middle, float(row), share(float(high - low)), kind="tick"))
        labels.append(f"{brief(pair.first, 13)} – {brief(pair.second, 13)}")
        each = ", ".join(share(value) for value in pair.posterior)
        texts.append(f"{pair.first} against {pair.second}: {each}")
    title = "Posterior over data sets: the first is better, equivalent, the second is better"
    text = f"{'; '.join(texts)}."
    absent = "" if pairs else f"no pair has a posterior ({found.pairs[0].posterior.reason})"
    x = Axis("probability", 0, 1, marks=tuple((at / 5, f"{at / 5:g}") for at in range(6)))
    rows = spec.rows_axis(labels or [""])
    return Chart(title, title, text, x, rows, tuple(layers), kind="posterior", absent=absent)


def scatter(first: DataFindings, second: DataFindings, found: Reversals) -> Chart:
    """Means by two measures; lines join the two winners of a data set where these differ."""
    layers: list[spec.Layer] = []
    for one in found.found:
        ends = [
            [float(findings.means[name][one.dataset]) for findings in (first, second)]
            for name in (one.winner_first, one.winner_second)
        ]
        (x0, y0), (x1, y1) = ends
        layers.append(Line([x0, x1], [y0, y1], "reversal"))
        if len(found.found) <= _NAMED:
            layers.append(Text((x0 + x1) / 2, (y0 + y1) / 2, brief(one.dataset, 16)))
    for place, label in enumerate(first.learners):
        x, y = first.means[label].tolist(), second.means[label].tolist()
        tips = [
            f"{dataset}, {label}: {first.info.label} {number(a)}, {second.info.label} {number(b)}"
            for dataset, a, b in zip(first.datasets, x, y, strict=True)
        ]
        layers.append(Marks(x, y, tips, learner=place))
    title = f"{second.info.label} against {first.info.label}, by data set and learner"
    count = len(found.found)
    text = f"The measures name different winners on {count} of {found.datasets} data sets"
    names = ", ".join(one.dataset for one in found.found)
    text += f": {names}." if count else "."
    x_axis = Axis(axis_label(first.info), *spec.reach(first.means.to_numpy().ravel().tolist()))
    y_axis = Axis(axis_label(second.info), *spec.reach(second.means.to_numpy().ravel().tolist()))
    return Chart(title, title, text, x_axis, y_axis, tuple(layers), kind="measures")


def learning(by_size: Sequence[DataFindings], dataset: str) -> Chart:
    """Means of a data set against training rows, a line for each learner."""
    info, learners = by_size[0].info, by_size[0].learners
    sizes = []
    for findings in by_size:
        own = findings.scores[findings.scores["dataset"] == dataset]
        sizes.append(round(float(own["size"].mean())))
    layers: list[spec.Layer] = []
    shown: list[float] = []
    for place, label in enumerate(learners):
        means = [float(findings.means[label][dataset]) for findings in by_size]
        tips = [
            f"{label}, {size:,} rows: {in_unit(number(mean), info)}"
            for size, mean in zip(sizes, means, strict=True)
        ]
        rows = [float(size) for size in sizes]
        layers += [Line(rows, means, learner=place, label=label)]
        layers += [Marks(rows, means, tips, learner=place)]
        shown += means
    title = f"{dataset}: {info.label} with more training rows"
    y = Axis(axis_label(info), *spec.reach(shown))
    text = f"Means over splits of {counted(len(learners), 'learner')}."
    axis = spec.sizes_axis([*dict.fromkeys(sizes)], "training rows")
    return Chart(dataset, title, text, axis, y, tuple(layers))
