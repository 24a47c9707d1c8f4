"""Estimators: bias, error and the coverage of their intervals, beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from simstudy.analysis.models.findings import Mean
from simstudy.experiments.estimators.results import Errors
from simstudy.report.charts import spec
from simstudy.report.charts.spec import Axis, Chart, Line, Marks, Rule, Text
from simstudy.report.prose.numbers import brief, number, percent, percentages, signed

Dot: TypeAlias = tuple[float, float, float, float, str]  # row, value, limits, tip
# The markers of intervals; those that are hollow ignore that training sets are shared.
FORMS = {"rows": 0, "folds": 3, "percentile": 2, "corrected": 0, "nested": 1}
HOLLOW = ("rows", "folds", "percentile")
_NAMED, _APART = 3, 0.26  # coverages with their number; between intervals of an estimator


def panels(errors: Errors, treatments: Sequence[str], confidence: float) -> tuple[Chart, ...]:
    """Three charts with a row for each estimator."""
    labels, places = [*errors.rmse], {label: place for place, label in enumerate(treatments)}
    coverage = errors.coverage
    intervals = coverage[coverage["estimator"].isin(labels)].to_dict("records")
    worst = sorted(intervals, key=lambda row: row["coverage"])[:_NAMED]
    covered: list[spec.Layer] = [Rule(confidence, upright=True, kind="promise")]
    tips = []
    for row, label in enumerate(labels):
        own = [interval for interval in intervals if interval["estimator"] == label]
        for index, each in enumerate(own):
            low, high, name = each["coverage_lower"], each["coverage_upper"], each["interval"]
            tips.append(f"{label}, {name}: {percent(each['coverage'])} {percentages(low, high)}")
            at = row + _APART * (index - (len(own) - 1) / 2)
            dot = at, each["coverage"], low, high, tips[-1]
            covered += _dot(dot, places[label], FORMS[name], name in HOLLOW)
            if each in worst:
                text = f"{percent(each['coverage'], 0)} "
                covered.append(Text(low, at, text, -1, "name", treatment=places[label]))
    least = min((row["coverage_lower"] for row in intervals), default=0.5)
    x = Axis("coverage", least - 0.15 * (1 - least), 1.0, marks=_percents(confidence, least))
    rows = spec.rows_axis([""] * len(labels))
    title, text = f"Coverage of {percent(confidence, 0)} intervals", "; ".join(tips)
    return (
        _errors("Bias", errors.bias, places, True),
        _errors("RMSE", errors.rmse, places, False),
        Chart(title, title, text, x, rows, tuple(covered), "plain"),
    )


def _percents(confidence: float, least: float) -> tuple[tuple[float, str], ...]:
    """Ticks of coverages: what is promised, and round numbers away from it."""
    rounds = [tick for tick in spec.steps(0.0, 1.0, 5) if tick < confidence - 0.3 * (1 - least)]
    return tuple((tick, percent(tick, 0)) for tick in (*rounds, confidence))


def _errors(
    heading: str, every: Mapping[str, Mean], places: Mapping[str, int], named: bool
) -> Chart:
    """Means of errors with their intervals."""
    write = signed if named else number
    layers: list[spec.Layer]
    layers, dots = [Rule(0.0, upright=True, kind="promise")], list[Dot]()
    for row, (label, mean) in enumerate(every.items()):
        tip = f"{label}: {write(mean.mean)} [{write(mean.lower)}, {write(mean.upper)}]"
        dots.append((float(row), mean.mean, mean.lower, mean.upper, tip))
        layers += _dot(dots[-1], places[label])
    ends = [end for mean in every.values() for end in (mean.mean, mean.lower, mean.upper)]
    low, high = spec.reach([0.0, *ends])
    rows = spec.rows_axis([brief(label, 22) if named else "" for label in every])
    x = Axis(heading, low if named else 0.0, high, signed=named)
    text = "; ".join(dot[-1] for dot in dots)
    return Chart(heading, heading, text, x, rows, tuple(layers), "plain")


def _dot(dot: Dot, treatment: int, form: int = 0, hollow: bool = False) -> list[spec.Layer]:
    """A mark with its interval along a row."""
    row, value, low, high, tip = dot
    kind = "grey" if hollow else "ink"
    return [
        Line([low, high], [row, row], "whisker", treatment=treatment),
        Marks([value], [row], [tip], kind, hollow=[hollow], form=form, treatment=treatment),
    ]
