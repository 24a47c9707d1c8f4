"""Estimators: bias, error and the coverage of their intervals, beside each other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from simstudy.experiments.estimators.data_results import EstimateFindings
from simstudy.experiments.estimators.results import Errors
from simstudy.report.charts import spec
from simstudy.report.charts.spec import Axis, Chart, Line, Marks, Rule, Text
from simstudy.report.prose.numbers import brief, number, percent, percentages, signed
from simstudy.report.prose.phrases import axis_label

FORMS = {"rows": 0, "folds": 3, "percentile": 2, "corrected": 1, "nested": 4}  # of intervals
_APART = 0.26  # between intervals of an estimator


class _Dot(NamedTuple):
    """A mark in a row with the limits of its interval."""

    label: str
    row: float
    value: float
    low: float
    high: float
    tip: str
    form: int = 0
    hollow: bool = False
    number: str = ""  # beside it


def panels(
    errors: Errors, treatments: Sequence[str], confidence: float, narrow: bool
) -> tuple[Chart, ...]:
    """Three charts with a row for each estimator, named in the first or, if narrow, in each."""
    charts = []
    for heading, means, write in (("Bias", errors.bias, signed), ("RMSE", errors.rmse, number)):
        dots = [
            _Dot(m.learner, row, m.mean, m.lower, m.upper, write(m.mean))
            for row, m in enumerate(means.values())
        ]
        low, high = spec.reach([0.0, *(end for dot in dots for end in dot[2:5])])
        low = low if heading == "Bias" else 0.0
        ticks = spec.steps(low, high, 3)
        labelled = tuple(zip(ticks, spec.tick_labels(ticks), strict=True))
        x = Axis("", low, high, marks=labelled)
        charts.append((f"{heading} ({errors.measure})", dots, x, 0.0))
    dots = [*_covered(errors)]
    least = min([confidence, *(dot.low for dot in dots)])
    marks = tuple((tick / 5, percent(tick / 5, 0)) for tick in range(6))
    x = Axis("", max(least - 0.3 * (1 - least), 0.0), 1.04, marks=marks)
    charts.append((f"Coverage of {percent(confidence, 0)} intervals", dots, x, confidence))
    names = [brief(label, 22) for label in errors.rmse]
    return tuple(
        _chart(heading, dots, x, rule, names if narrow or not at else [""] * len(names), treatments)
        for at, (heading, dots, x, rule) in enumerate(charts if names else ())
    )


def _covered(errors: Errors) -> Iterator[_Dot]:
    """The coverages, with bars if they are below the confidence; the lowest has its number."""
    every = errors.coverage.to_dict("records")
    for row, label in enumerate(errors.rmse):
        own = [each for each in every if each["estimator"] == label]
        lowest = min((each["coverage"] for each in own), default=0.0)
        for place, each in enumerate(own):
            share, name, short = each["coverage"], each["interval"], each["short"]
            low, high = each["coverage_lower"], each["coverage_upper"]
            tip = f"{percent(share)} {percentages(low, high)}, {name}"
            text = f"{percent(share, 0)}\u00a0" * (short and share == lowest)
            line = row + _APART * (place - (len(own) - 1) / 2)
            ends = (low, high) if short else (share, share)
            yield _Dot(label, line, share, *ends, tip, FORMS[name], short, text)


def _chart(
    heading: str,
    dots: Sequence[_Dot],
    x: Axis,
    rule: float,
    names: Sequence[str],
    treatments: Sequence[str],
) -> Chart:
    layers: list[spec.Layer] = []
    if not math.isnan(rule):
        layers.append(Rule(rule, upright=True, kind="promise"))
    for dot in dots:
        place, y, tip = treatments.index(dot.label), [dot.row], [f"{dot.label}: {dot.tip}"]
        kind = "grey" if rule > 0 and not dot.hollow else "ink"
        layers += [
            *[Line([dot.low, dot.high], y * 2, "whisker", treatment=place)] * (dot.high > dot.low),
            Marks([dot.value], y, tip, kind, [1.1], [dot.hollow], form=dot.form, treatment=place),
            *[Text(dot.low, dot.row, dot.number, -1, "name", treatment=place)] * bool(dot.number),
        ]
    text = "; ".join(f"{dot.label}: {dot.tip}" for dot in dots)
    return Chart(heading, heading, text, x, spec.rows_axis(names), tuple(layers), "plain")


def with_intervals(findings: EstimateFindings, dataset: str, learner: str) -> Chart:
    """The estimates of a learner on a data set, a row for each estimator, with its interval."""
    dots, info = list[_Dot](), findings.info
    for row, each in enumerate(findings.of(dataset, learner).to_dict("records")):
        value, low, high = each["estimate"], each["lower"], each["upper"]
        has = math.isfinite(low) and math.isfinite(high)
        tip = f"{number(value)} [{number(low)}, {number(high)}], {each['interval']}"
        tip = tip if has else number(value)
        ends, form = (low, high) if has else (value, value), FORMS.get(each["interval"], 0)
        dots.append(_Dot(each["estimator"], row, value, *ends, tip, form))
    names = [dot.label for dot in dots]
    x = Axis(axis_label(info), *spec.reach(end for dot in dots for end in dot[2:5]))
    heading = f"{learner} on {dataset}"
    return _chart(heading, dots, x, math.nan, [brief(name, 22) for name in names], names)
