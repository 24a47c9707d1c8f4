"""The page of a study that is still running."""

from __future__ import annotations

from datetime import datetime

from simstudy.analysis.models.running import RunningMeans
from simstudy.data.sizes import Size, size_text
from simstudy.report.charts import curves, svg
from simstudy.report.charts.spec import drawable
from simstudy.report.pages.page import render
from simstudy.report.prose.numbers import number
from simstudy.study.study import Study

MARK = '<meta name="simstudy:page" content="provisional">'


def live_page(study: Study, measure: str, means: RunningMeans, done: object, pace: str) -> str:
    """Write the page: means so far, marked as provisional, and how far the run has come.

    ``done`` has the numbers of models and cells that are finished and that there are.
    """
    kind, doses, series, rows = study.experiment, study.doses, [], list[tuple[str, list[str]]]()
    widest = 0.0
    for place, label in enumerate(study.labels):
        intervals = [means.interval(label, dose) for dose in doses]
        if drawable(intervals[-1][0]):  # beside which there is its label
            series.append(curves.Series(place, label, *zip(*intervals, strict=True)))
        halves = [f" ± {number(high - m)}" * drawable(high) for m, _, high in intervals]
        rows.append(
            (label, [number(m) + half for (m, *_), half in zip(intervals, halves, strict=True)])
        )
        widest = max([widest, *(high - m for m, _, high in intervals if high > m)])
    pictures = []
    if (
        series
        and len(doses) > 1
        and all(isinstance(Size.stored(dose).value, int) for dose in doses)
    ):
        chart = curves.provisional(series, study, measure)
        for name, size in (("wide", svg.CURVES), ("narrow", svg.NARROW)):
            pictures.append((name, svg.draw(chart, name, size, labels=True).picture))
    content = {"heading": study.heading, "kind": kind, "measure": measure, "pictures": pictures}
    content |= {
        "sizes": [*map(size_text, doses)],
        "rows": rows,
        "widest": number(widest) * (widest > 0),
    }
    content |= {"done": done, "pace": pace, "unit": study.source.problem_word}
    content["title"] = f"{study.heading} (running)"
    return render(
        "live.html", mark=MARK, now=datetime.now().strftime("%d %b %Y, %H:%M:%S"), **content
    )
