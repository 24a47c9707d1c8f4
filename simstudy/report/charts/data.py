"""Charts of studies of data sets."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from simstudy.analysis.datasets.across_datasets import OverSets
from simstudy.analysis.datasets.findings import DataFindings
from simstudy.analysis.datasets.two_measures import Reversals
from simstudy.analysis.models.computing_time import pareto_front
from simstudy.measures.base import MeasureInfo
from simstudy.report.charts import spec
from simstudy.report.charts.curves import Series, lines
from simstudy.report.charts.spec import Axis, Chart, Line, Marks, Span, Text
from simstudy.report.prose.numbers import brief, duration, number, share
from simstudy.report.prose.phrases import axis_label, in_unit, listed
from simstudy.texts import counted

MAX_PAIRS = 10  # of the posterior; of more, those of the leader
_HALF = 0.36  # of the thickness of a bar, in rows
_LANE, _MARK = 0.27, 0.014  # how far marks move in a row, and their width as a share of the axis
_NAMED = 8  # reversals whose data sets are named in the chart


def _rows(labels: Iterable[str]) -> Axis:
    return spec.rows_axis([brief(label, 22) for label in labels])


def _scale(info: MeasureInfo, shown: Iterable[float]) -> Axis:
    return Axis(axis_label(info), *spec.reach(shown))


def splits(findings: DataFindings, dataset: str) -> Chart:
    """The scores of all splits of a data set, a row for each learner."""
    scores = findings.scores[findings.scores["dataset"] == dataset]
    layers, shown, texts = list[spec.Layer](), list[float](), []
    for row, label in enumerate(findings.learners):
        values = scores.loc[scores["learner"] == label, findings.measure].tolist()
        at = [row + spec.jitter(index, 0.5) for index in range(len(values))]
        mean = float(findings.means[label][dataset])
        texts.append(f"{label}: mean {in_unit(number(mean), findings.info)}")
        layers.append(Marks(values, at, kind="cloud", learner=row))
        layers.append(Marks([mean], [float(row)], texts[-1:], learner=row))
        shown += [*values, mean]
    title = f"{findings.info.label} of every split of {dataset}"
    axes = _scale(findings.info, shown), _rows(findings.learners)
    return Chart("", title, f"{'; '.join(texts)}.", *axes, tuple(layers), names=findings.names)


def by_dataset(findings: DataFindings) -> Chart:
    """The means of all learners, a row for each data set in the order of their best means."""
    info, learners = findings.info, findings.learners
    best = {str(name): row.max() for name, row in findings.table.iterrows()}
    names = sorted(best, key=lambda name: (math.isnan(best[name]), -best[name]))
    low, high = spec.reach([*findings.means.to_numpy().ravel(), *[0.0] * bool(info.zero)])
    layers: list[spec.Layer] = []
    if info.zero:
        words = Text(0, -0.9, f"\u00a0{info.zero}\u00a0", 1 if -low < high else -1)
        layers += [spec.Rule(0.0, upright=True, kind="base"), words]
    points: dict[str, list[tuple[str, float, float]]] = {label: [] for label in learners}
    for row, name in enumerate(names):
        scored = [(float(findings.means[label][name]), label) for label in learners]
        means = sorted((mean, label) for mean, label in scored if not math.isnan(mean))
        layers += [Line([means[0][0], means[-1][0]], [row, row], "others")] if means else []
        lanes: dict[float, list[float]] = {0.0: [], -_LANE: [], _LANE: []}
        for mean, label in sorted(means, key=lambda each: each[1] not in findings.best[name]):
            space = {
                at: min((abs(mean - x) for x in lanes[at]), default=high - low) for at in lanes
            }
            free = [at for at in lanes if space[at] >= _MARK * (high - low)]
            lane = free[0] if free else max(lanes, key=space.__getitem__)
            lanes[lane].append(mean)
            points[label].append((name, mean, row + lane))
    for place, (label, shown) in enumerate(points.items()):
        tips = [f"{name}, {label}: {in_unit(number(mean), info)}" for name, mean, _ in shown]
        layers.append(Marks([x for _, x, _ in shown], [y for *_, y in shown], tips, learner=place))
        won = [each for each in shown if label in findings.best[each[0]] and len(learners) > 1]
        rings = [x for _, x, _ in won], [y for *_, y in won]
        layers += [Marks(*rings, kind="ring", learner=place)] * bool(won)
    text = f"Means of {counted(len(learners), 'learner')}; the table has the numbers."
    y_axis = replace(_rows(names), high=-0.6 - 0.7 * bool(info.zero))
    title, x_axis = f"Mean {info.label} by data set", Axis(axis_label(info), low, high)
    return Chart("", title, text, x_axis, y_axis, tuple(layers), names=findings.names)


def posterior(over: OverSets) -> Chart:
    """The probabilities that one of two learners is better over data sets, or that both are."""
    pairs = [pair for pair in over.pairs if not pair.posterior.reason]
    if len(pairs) > MAX_PAIRS:
        pairs = [pair for pair in pairs if over.leader in (pair.first, pair.second)]
    layers, labels, texts = list[spec.Layer](), [], []
    for row, pair in enumerate(pairs):
        ends = itertools.pairwise([*itertools.accumulate(pair.posterior, initial=0.0)])
        for kind, (low, high) in zip(("first", "equal", "second"), ends, strict=True):
            if high > low:
                layers.append(Span([low, high], [row - _HALF] * 2, [row + _HALF] * 2, kind))
            if high - low >= 0.13:
                layers.append(Text((low + high) / 2, float(row), share(high - low), kind="tick"))
        labels.append(f"{brief(pair.first, 13)} – {brief(pair.second, 13)}")
        texts.append(f"{pair.first} against {pair.second}: {', '.join(map(share, pair.posterior))}")
    title = "Posterior over data sets: the first is better, equivalent, the second is better"
    absent = "" if pairs else f"no pair has a posterior ({over.pairs[0].posterior.reason})"
    axes = Axis("probability", 0, 1, marks=spec.FIFTHS), spec.rows_axis(labels or [""])
    kind = "posterior"
    return Chart("", title, f"{'; '.join(texts)}.", *axes, tuple(layers), kind, absent=absent)


def scatter(first: DataFindings, second: DataFindings, reversals: Reversals) -> Chart:
    """Means by two measures; lines join the two winners of a data set where these differ."""
    layers: list[spec.Layer] = []
    for reversal in reversals.cases:
        winners, dataset = (reversal.winner_first, reversal.winner_second), reversal.dataset
        x, y = ([float(f.means[name][dataset]) for name in winners] for f in (first, second))
        layers.append(Line(x, y, "reversal"))
        if len(reversals.cases) <= _NAMED:
            layers.append(Text(sum(x) / 2, sum(y) / 2, brief(dataset, 16)))
    for place, label in enumerate(first.learners):
        x, y = first.means[label].tolist(), second.means[label].tolist()
        pairs = zip(first.datasets, map(number, x), map(number, y), strict=True)
        by = first.info.label, second.info.label
        tips = [f"{name}, {label}: {by[0]} {a}, {by[1]} {b}" for name, a, b in pairs]
        layers.append(Marks(x, y, tips, learner=place))
    title = f"{second.info.label} against {first.info.label}, by data set and learner"
    names = [reversal.dataset for reversal in reversals.cases]
    text = f"The measures name different winners on {len(names)} of {reversals.datasets} data sets"
    text += f": {', '.join(names)}" * bool(names)
    x_axis, y_axis = (_scale(f.info, f.means.to_numpy().ravel()) for f in (first, second))
    texts, axes = ("", title, f"{text}."), (x_axis, y_axis)
    return Chart(*texts, *axes, tuple(layers), "measures", names=first.names)


def against_time(findings: DataFindings, seconds: Mapping[str, float]) -> Chart:
    """Mean scores over data sets against seconds, the Pareto front joined."""
    info, scores = findings.info, findings.overall
    places = [at for at in seconds.values() if at > 0] or [1e-3, 1e-1]
    low, high = min(places) / 1.6, max(places) * 1.6
    marks = tuple((tick, duration(tick)) for tick in spec.powers(low, high, 4))
    front = pareto_front(scores, seconds, info.greater_is_better)
    ends = [seconds[label] for label in front], [scores[label] for label in front]
    layers: list[spec.Layer] = [Line(*ends, "whisker")] * (len(front) > 1)
    texts = []
    for place, label in enumerate(findings.learners):
        texts.append(f"{label}: {in_unit(number(scores[label]), info)}, {duration(seconds[label])}")
        layers.append(Marks([seconds[label]], [scores[label]], texts[-1:], learner=place))
    x = Axis("time to fit and predict", low, high, "log", marks)
    title = f"{info.label} against time"
    y, text = _scale(info, scores.values()), f"{'; '.join(texts)}. On the front: {listed(front)}."
    return Chart(title, title, text, x, y, tuple(layers), "front", names=findings.names)


def learning(by_size: Sequence[DataFindings], dataset: str) -> Chart:
    """Means of a data set against training rows, a line for each learner."""
    info, learners = by_size[0].info, by_size[0].learners
    of_set = [f.scores.loc[f.scores["dataset"] == dataset, "size"] for f in by_size]
    sizes = [round(float(rows.mean())) for rows in of_set]
    means = [[float(at.means[label][dataset]) for at in by_size] for label in learners]
    every = [Series(place, learners[place], each) for place, each in enumerate(means)]
    title = f"{dataset}: {info.label} with more training rows"
    text = f"Means over splits of {counted(len(learners), 'learner')}."
    y = _scale(info, itertools.chain(*means))
    axes = spec.sizes_axis([*dict.fromkeys(sizes)], "training rows"), y
    layers = tuple(lines(every, sizes, number, info.unit))
    return Chart(dataset, title, text, *axes, layers, names=by_size[0].names)
