"""Reliability diagrams: observed frequency against predicted probability."""

from __future__ import annotations

import math
from collections.abc import Sequence

from simstudy.analysis.reliability import Reliability
from simstudy.report.charts.spec import Axis, Bars, Chart, Key, Layer, Line, Marks, Panels
from simstudy.report.prose.numbers import number

# The looks of the smallest, the largest and further sizes.
_SERIES = (1, 0, 2, 3, 5, 4, 6)


def reliability(found: Reliability, learners: Sequence[str]) -> Panels:
    """Observed frequencies against predicted probabilities, a panel for each learner.

    Bars are intervals, cut at 0 and 1; a hollow mark has none. The area of a mark grows with the
    share of predictions in its bin. On the dashed line predictions come true as often as they say.
    """
    table = found.table
    sizes = sorted(int(size) for size in set(table["size"]))
    series = dict(zip(sizes, _SERIES if len(sizes) > 1 else (0,), strict=False))
    halves = ((0.0, "0"), (0.5, "½"), (1.0, "1"))
    x = Axis("predicted probability", -0.03, 1.03, marks=halves)
    y = Axis("observed frequency", -0.03, 1.03, marks=halves)
    charts = []
    for label in learners:
        layers: list[Layer] = [Line([0, 1], [0, 1], "diagonal")]
        for size, index in series.items():
            rows = table[(table["learner"] == label) & (table["size"] == size)]
            rows = rows.sort_values("predicted")
            predicted, observed = rows["predicted"].tolist(), rows["observed"].tolist()
            low, high = (rows[key].clip(0, 1).tolist() for key in ("lower", "upper"))
            tips = [
                f"{size:,} rows, predicted {number(p)}: observed {number(o)}"
                for p, o in zip(predicted, observed, strict=True)
            ]
            areas = [0.25 + 2 * share for share in rows["share"]]
            hollow = [math.isnan(se) for se in rows["se"]]
            layers += [
                Line(predicted, observed, "faint", series=index),
                Bars(predicted, low, high, "reach", series=index),
                Marks(
                    predicted, observed, tips, "bin", series=index, areas=areas, hollow=hollow
                ),
            ]
        if len(layers) > 1 and (table["learner"] == label).any():
            title = f"Reliability of {label}"
            told = "Observed frequency against predicted probability, bin by bin."
            charts.append(Chart(label, title, told, x, y, tuple(layers), square=True))
    key = tuple(Key(f"{size:,}", "bin", series=index) for size, index in series.items())
    return Panels(tuple(charts), key, "training rows", height=1.72, shared=True)
