"""Decision curves: ROC, precision–recall, lift, cost, profit and reliability."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pandas as pd

from simstudy.analysis.decision_curves import DRAWN, KINDS
from simstudy.data.sizes import Size
from simstudy.errors import SimstudyError
from simstudy.report.charts import spec
from simstudy.report.charts.layout import Maker, NotDrawnError, Printed, require
from simstudy.report.charts.mpl import Style
from simstudy.report.charts.spec import Axis, Chart, Key, Panels
from simstudy.report.prose import decisions as prose
from simstudy.report.prose.captions import MAX_BARS
from simstudy.report.prose.numbers import digits, number
from simstudy.results.read.base import AnswerResults
from simstudy.results.read.curves import Curves, make_curves, profit_of, ranked

MARKED = (10, 30, 50, 70, 90)  # places of marks, in hundredths of the axis
TRUTH = "truth"
# The meaning of the thin line, by the horizontal axis.
CHANCE = {"probability cost": "always the same class", "predicted probability": "calibrated"}
_UNIT = (0.0, 1.0)
_PANELS = 3  # training sizes of a figure for print, at most


def thinned(curves: Curves, every: int) -> Curves:
    """Curves with fewer points: the first of every few."""
    table, every = curves.table, 1 if curves.about.bins else every
    kept = table.groupby("learner").cumcount() % every == 0
    return replace(curves, table=table[kept], truth=curves.truth.iloc[::every])


def chart(curves: Curves, heading: str = "") -> Chart:
    """The curves of learners, with bands if few, of the true probabilities, and of chance."""
    about, table = curves.about, curves.table
    every = [(*pair, table[table["learner"] == pair[1]]) for pair in enumerate(curves.learners)]
    shown = [each for each in every if len(each[2])]
    layers: list[spec.Layer] = [_chance(curves)]
    banded = len(shown) <= MAX_BARS and table["curves"].max() > 1
    for learner, _, rows in shown if banded else ():
        x, low, high = (rows[key].tolist() for key in ("x", "low", "high"))
        layers.append(spec.Span(x, low, high, "spread", learner=learner))
    if len(curves.truth):
        layers.append(spec.Line(*_route(curves, curves.truth), "ceiling", TRUTH))
    for learner, label, rows in shown:
        at = [round(part * (len(rows) - 1) / 100) for part in MARKED]
        marked = rows if about.bins else rows.iloc[at]
        x, y, *ends = (marked[key].tolist() for key in ("x", "y", "low", "high"))
        tips = [_tip(curves, label, *point) for point in zip(x, y, *ends, strict=True)]
        layers.append(spec.Line(*_route(curves, rows), label=label, learner=learner))
        layers.append(spec.Marks(x, y, tips, learner=learner))
    middles = [f"{label} {number(rows['y'].iloc[len(rows) // 2])}" for _, label, rows in shown]
    vertical = Axis(about.y, 0.0, 0.5 if curves.kind == "cost" else 1.0)
    if curves.kind == "profit":
        drawn = [table["y"], table["low"], table["high"], curves.truth["y"]]
        vertical = Axis(about.y, *spec.reach([0.0, *pd.concat(drawn)]))
    return Chart(
        heading,
        about.title + (f" of {curves.dataset}" if curves.dataset else ""),
        f"{about.y[0].upper()}{about.y[1:]} at the middle of the axis: {'; '.join(middles)}.",
        Axis(about.x, *_UNIT, marks=spec.FIFTHS),
        vertical,
        tuple(layers),
        kind="decision",
        square=curves.kind in ("roc", "reliability"),
        names=curves.names,
    )


def _route(curves: Curves, rows: pd.DataFrame) -> tuple[list[float], list[float]]:
    """The points of a line; a ROC curve begins with no row called positive."""
    start = [0.0] if curves.kind == "roc" and rows["y"].notna().any() else []
    return start + rows["x"].tolist(), start + rows["y"].tolist()


def _tip(curves: Curves, label: str, x: float, y: float, low: float, high: float) -> str:
    """The tooltip of a point."""
    half = f" [{number(low)}, {number(high)}]" if high > low else ""
    return f"{label}, {curves.about.x} {number(x)}: {curves.about.y} {number(y)}{half}"


def _chance(curves: Curves) -> spec.Layer:
    """The baseline without a learner: random answers, or always the same decision."""
    last = next(filter(math.isfinite, curves.table.groupby("learner")["y"].last()), math.nan)
    x, y = {
        "precision_recall": (_UNIT, (curves.prior, curves.prior)),
        "cost": ((0.0, 0.5, 1.0), (0.0, 0.5, 0.0)),
        "profit": (_UNIT, (0.0, last)),  # of all rows
    }.get(curves.kind, (_UNIT, _UNIT))
    return spec.Line(x, y, "zero")


def key(first: Chart) -> tuple[Key, ...]:
    """The entries of the learners, the true probabilities and chance."""
    truth = any(line.label == TRUTH and line.learner is None for line in first.labelled)
    chance = CHANCE.get(first.x.label, "chance")
    return (*first.key, *[Key(TRUTH, "ceiling")] * truth, Key(chance, "zero"))


def decision_makers(
    results: AnswerResults, datasets: Sequence[str | None] = (None,)
) -> dict[str, Maker]:
    """The figures by the names of their files, those of each data set, if answers were kept."""
    if not results.study.keep_answers:
        return {}
    makers: dict[str, Maker] = {}
    for place, name in enumerate(datasets, start=1):
        for kind in (*DRAWN, "profit"):
            file = kind + "_positive" * (kind == "reliability")  # not of all classes
            file += f"_{place}" * (len(datasets) > 1)
            makers[file] = partial(_printed, kind=kind, dataset=name)
    return makers


def _printed(results: AnswerResults, style: Style, kind: str, dataset: str | None) -> Printed:
    """One kind of curve, a panel for each of a few training sizes."""
    labels, shown = results.treatments, results.treatments[: style.learners]
    try:
        answers = ranked(results, dataset)
        drawn = "lift" if kind == "profit" else kind
        sizes = [Size.stored(size).value for size in spec.spaced(results.study.doses, _PANELS)]
        curves = [make_curves(results, answers, drawn, shown, size) for size in sizes]
    except SimstudyError as error:
        raise NotDrawnError(str(error)) from error
    counts = [each.table["curves"].max() for each in curves]
    require(any(counts), "no cell has answers of both classes")
    values, several = "", len(curves) > 1
    if kind == "profit":  # at the share of positive rows of the last curves
        prior = float(digits(curves[-1].prior))
        curves = [profit_of(lift, prior, 1.0, prior) for lift in curves]
        values = prose.profit_values(prior)
    after = [prose.size_words(Size(each.size)) for each in curves]
    charts = [chart(each, text * several) for each, text in zip(curves, after, strict=True)]
    low, high = min(each.y.low for each in charts), max(each.y.high for each in charts)
    charts = [replace(each, y=replace(each.y, low=low, high=high)) for each in charts]
    panels = Panels(tuple(charts), key(charts[0]), height=2.4, shared=True)
    text = (
        f"Data set: {dataset}." if dataset else "",
        prose.caption(curves[-1]),
        values,
        "" if several else f"After {after[0]}.",
        f"Shown: the first {len(shown)} of {len(labels)} learners." * (len(labels) > len(shown)),
    )
    return Printed(KINDS[kind].title, panels, text)
