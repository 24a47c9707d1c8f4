"""Estimators: bias, error and the coverage of their intervals, beside each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from simstudy.experiments.estimators.results import Errors
from simstudy.report.charts import spec
from simstudy.report.charts.spec import Axis, Chart, Line, Marks, Rule, Text
from simstudy.report.prose.numbers import brief, number, percent, percentages, signed

# The markers of intervals; those that are hollow ignore that training sets are shared.
FORMS = {"rows": 0, "folds": 3, "percentile": 2, "corrected": 0, "nested": 1}
HOLLOW = ("rows", "folds", "percentile")
_NAMED, _APART = 3, 0.26  # coverages with their number; between intervals of an estimator


class _Dot(NamedTuple):
    """A mark in a row with the limits of its interval."""

    label: str
    row: float
    value: float
    low: float
    high: float
    tip: str
    interval: str = "corrected"
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
        ticks, signs = spec.steps(low, high, 3), heading == "Bias"
        labelled = tuple(zip(ticks, spec.tick_labels(ticks, signs), strict=True))
        x = Axis("", low, high, marks=labelled)
        charts.append((f"{heading} ({errors.measure})", dots, x, 0.0))
    dots = [*_covered(errors)]
    least = min((dot.low for dot in dots), default=0.5)
    tens = [tick / 5 for tick in range(5) if tick / 5 < confidence - 0.3 * (1 - least)]
    marks = tuple((tick, percent(tick, 0)) for tick in (*tens, confidence))
    x = Axis("", least - 0.3 * (1 - least), 1.0, marks=marks)
    charts.append((f"Coverage of {percent(confidence, 0)} intervals", dots, x, confidence))
    names = [brief(label, 22) for label in errors.rmse]
    return tuple(
        _chart(heading, dots, x, rule, names if narrow or not at else [""] * len(names), treatments)
        for at, (heading, dots, x, rule) in enumerate(charts if names else ())
    )


def _covered(errors: Errors) -> Iterator[_Dot]:
    """The coverages, of which the lowest have their numbers."""
    every = errors.coverage.to_dict("records")
    lowest = sorted(every, key=lambda each: each["coverage"])[:_NAMED]
    for row, label in enumerate(errors.rmse):
        own = [each for each in every if each["estimator"] == label]
        for place, each in enumerate(own):
            low, high, name = each["coverage_lower"], each["coverage_upper"], each["interval"]
            tip = f"{percent(each['coverage'])} {percentages(low, high)}, {name}"
            text = f"{percent(each['coverage'], 0)}\u00a0" if each in lowest else ""
            line = row + _APART * (place - (len(own) - 1) / 2)
            yield _Dot(label, line, each["coverage"], low, high, tip, name, text)


def _chart(
    heading: str,
    dots: Sequence[_Dot],
    x: Axis,
    rule: float,
    names: Sequence[str],
    treatments: Sequence[str],
) -> Chart:
    layers: list[spec.Layer] = [Rule(rule, upright=True, kind="promise")]
    for dot in dots:
        place, hollow = treatments.index(dot.label), dot.interval in HOLLOW
        form, y = FORMS[dot.interval], [dot.row]
        tip, kind = [f"{dot.label}: {dot.tip}"], "grey" if hollow else "ink"
        layers += [
            Line([dot.low, dot.high], y * 2, "whisker", treatment=place),
            Marks([dot.value], y, tip, kind, [1.1], [hollow], form=form, treatment=place),
            *[Text(dot.low, dot.row, dot.number, -1, "name", treatment=place)] * bool(dot.number),
        ]
    text = "; ".join(f"{dot.label}: {dot.tip}" for dot in dots)
    return Chart(heading, heading, text, x, spec.rows_axis(names), tuple(layers), "plain")
