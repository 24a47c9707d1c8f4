"""Curves to decide with: ROC, precision–recall, lift, cost, profit and reliability."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from simstudy.report.charts import spec
from simstudy.report.charts.spec import Axis, Chart, Key
from simstudy.report.prose.captions import MAX_BARS
from simstudy.report.prose.numbers import number
from simstudy.results.curves import Curves

MARKED = (10, 30, 50, 70, 90)  # places of marks, in hundredths of the axis
TRUTH = "truth"
# What the thin line is, by the horizontal axis.
CHANCE = {"probability cost": "always the same class", "predicted probability": "calibrated"}
_UNIT = (0.0, 1.0)
_FIFTHS = tuple((part / 5, f"{part / 5:g}") for part in range(6))


def thinned(curves: Curves, every: int) -> Curves:
    """Curves with fewer points: the first of every few."""
    table, truth = curves.table, curves.truth
    every = 1 if curves.about.bins else every
    kept = table.groupby("learner").cumcount() % every == 0
    return replace(curves, table=table[kept], truth=truth.iloc[::every])


def chart(curves: Curves, heading: str = "") -> Chart:
    """The curves of learners with bands, if these are few, the truth's own, and chance."""
    about, rows = curves.about, _by_learner(curves)
    shown = [label for label in curves.learners if label in rows]
    layers: list[spec.Layer] = [_chance(curves)]
    banded = len(shown) <= MAX_BARS and curves.table["curves"].max() > 1
    for label in shown if banded else ():
        x, low, high = (rows[label][key].tolist() for key in ("x", "low", "high"))
        layers.append(spec.Span(x, low, high, "spread", learner=curves.learners.index(label)))
    if len(curves.truth):
        layers.append(spec.Line(*_route(curves, curves.truth), "ceiling", TRUTH))
    for label in shown:
        layers += _learner(curves, label, rows[label])
    where = f" of {curves.dataset}" if curves.dataset else ""
    return Chart(
        heading,
        f"{about.title}{where}",
        _described(curves, shown, rows),
        Axis(about.x, *_UNIT, marks=_FIFTHS),
        _vertical(curves),
        tuple(layers),
        kind="decision",
        square=curves.kind in ("roc", "reliability"),
    )


def _by_learner(curves: Curves) -> dict[str, pd.DataFrame]:
    return {str(label): own for label, own in curves.table.groupby("learner")}


def _learner(curves: Curves, label: str, rows: pd.DataFrame) -> list[spec.Layer]:
    """The line of a learner, and marks on it."""
    learner, x, y = curves.learners.index(label), rows["x"].tolist(), rows["y"].tolist()
    last = len(x) - 1
    places = [*range(len(x))] if curves.about.bins else [round(at * last / 100) for at in MARKED]
    low, high = rows["low"].tolist(), rows["high"].tolist()
    tips = [tip(curves, label, x[at], y[at], low[at], high[at]) for at in places]
    return [
        spec.Line(*_route(curves, rows), label=label, learner=learner),
        spec.Marks([x[at] for at in places], [y[at] for at in places], tips, learner=learner),
    ]


def _route(curves: Curves, rows: pd.DataFrame) -> tuple[list[float], list[float]]:
    """The points of a line; a ROC curve begins with no row called positive."""
    start = [0.0] if curves.kind == "roc" and rows["y"].notna().any() else []
    return start + rows["x"].tolist(), start + rows["y"].tolist()


def tip(curves: Curves, label: str, x: float, y: float, low: float, high: float) -> str:
    """The numbers of a point in words."""
    half = f" [{number(low)}, {number(high)}]" if high > low else ""
    return f"{label}, {curves.about.x} {number(x)}: {curves.about.y} {number(y)}{half}"


def _chance(curves: Curves) -> spec.Layer:
    """What needs no learner: answers at random, or a decision that is always the same."""
    ends = curves.table.groupby("learner")["y"].last().tolist()
    last = next((value for value in ends if math.isfinite(value)), math.nan)
    x, y = {
        "precision_recall": (_UNIT, (curves.prior, curves.prior)),
        "cost": ((0.0, 0.5, 1.0), (0.0, 0.5, 0.0)),
        "profit": (_UNIT, (0.0, last)),  # of all rows
    }.get(curves.kind, (_UNIT, _UNIT))
    return spec.Line(list(x), list(y), "zero")


def aligned(charts: Sequence[Chart]) -> list[Chart]:
    """Charts with the same vertical axis, which holds what each of them shows."""
    low, high = min(one.y.low for one in charts), max(one.y.high for one in charts)
    return [replace(one, y=replace(one.y, low=low, high=high)) for one in charts]


def key(*charts: Chart) -> tuple[Key, ...]:
    """The learners, the truth and chance, of charts that have the same."""
    truth = any(line.label == TRUTH and line.learner is None for line in charts[0].labelled)
    chance = CHANCE.get(charts[0].x.label, "chance")
    return (*charts[0].key, *[Key(TRUTH, "ceiling")] * truth, Key(chance, "zero"))


def _vertical(curves: Curves) -> Axis:
    name = curves.about.y
    if curves.kind == "profit":
        every = [curves.table[name] for name in ("y", "low", "high")]
        values = [0.0, *(value for own in [*every, curves.truth["y"]] for value in own)]
        return Axis(name, *spec.reach(values))
    return Axis(name, 0.0, 0.5 if curves.kind == "cost" else 1.0)


def _described(curves: Curves, shown: Sequence[str], rows: dict[str, pd.DataFrame]) -> str:
    """The heights in the middle of the axis, in words."""
    at = "at the middle of the axis"
    parts = [f"{label} {number(rows[label]['y'].iloc[len(rows[label]) // 2])}" for label in shown]
    return f"{curves.about.y[0].upper()}{curves.about.y[1:]} {at}: {'; '.join(parts)}."
