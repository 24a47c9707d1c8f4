"""The page of a study that is still running."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Protocol

from simstudy.analysis.models.running import RunningMeans
from simstudy.data.sizes import Size, size_text
from simstudy.report.charts import curves, svg
from simstudy.report.pages.page import render
from simstudy.report.prose.numbers import number
from simstudy.study.study import Study

MARK = '<meta name="simstudy:page" content="provisional">'


class Done(Protocol):
    """How far a run has come."""

    @property
    def models(self) -> int: ...
    @property
    def all_models(self) -> int: ...
    @property
    def cells(self) -> int: ...
    @property
    def all_cells(self) -> int: ...


def live_page(study: Study, measure: str, means: RunningMeans, done: Done, pace: str) -> str:
    """Write the page: means so far, marked as provisional, and how far the run has come."""
    kind, doses, series, rows, halves = study.experiment, study.doses, [], [], [0.0]
    for place, label in enumerate(study.labels):
        mean, half = zip(*(means.interval(label, dose) for dose in doses), strict=True)
        low, high = ([m + side * h for m, h in zip(mean, half, strict=True)] for side in (-1, 1))
        series.append(curves.Series(place, label, mean, low, high))
        rows.append((label, [f"{number(m)} ± {number(h)}" for m, h in zip(mean, half, strict=True)]))
        halves += [value for value in half if math.isfinite(value)]
    picture = None
    if len(doses) > 1 and all(isinstance(Size.stored(dose).value, int) for dose in doses):
        chart = curves.provisional(series, doses, kind, measure)
        picture = svg.draw(chart, "provisional", svg.CURVES, labels=True).picture
    content = {"title": study.heading, "kind": kind, "measure": measure, "picture": picture}
    content |= {"sizes": [*map(size_text, doses)], "rows": rows, "widest": number(max(halves))}
    content |= {"done": done, "pace": pace, "unit": study.source.problem_word}
    return render("live.html", mark=MARK, now=f"{datetime.now():%d %b %Y, %H:%M:%S}", **content)
