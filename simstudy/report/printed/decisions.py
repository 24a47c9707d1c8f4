"""Figures of curves to decide with, for print."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from simstudy.analysis.decision_curves import DRAWN
from simstudy.errors import SimstudyError
from simstudy.report.charts import decisions, spread
from simstudy.report.charts.mpl import Style
from simstudy.report.charts.spec import Panels
from simstudy.report.printed import Maker, NotDrawnError, Printed
from simstudy.report.prose import decisions as prose
from simstudy.report.prose.numbers import digits
from simstudy.results.answers import AnswerResults
from simstudy.results.curves import Curves, make_curves, profit_of, ranked
from simstudy.study.sizes import Size

_PANELS = 3  # training sizes, at most
# Names of files; "reliability" is the diagram of all classes.
_FILES = {kind: kind for kind in DRAWN} | {
    "reliability": "reliability_positive",
    "profit": "profit",
}


def decision_makers(
    results: AnswerResults, datasets: Sequence[str | None] = (None,)
) -> dict[str, Maker]:
    """The figures by the names of their files, those of each data set, if answers were kept."""
    if not results.study.keep_answers:
        return {}
    ends = [f"_{place}" if len(datasets) > 1 else "" for place in range(1, len(datasets) + 1)]
    return {
        f"{file}{end}": partial(_printed, kind=kind, dataset=name)
        for name, end in zip(datasets, ends, strict=True)
        for kind, file in _FILES.items()
    }


def _printed(
    results: AnswerResults, style: Style, kind: str, dataset: str | None = None
) -> Printed:
    """One kind of curve, a panel for each of a few training sizes."""
    shown = results.treatments[: style.learners]
    try:
        answers = ranked(results, dataset)
        sizes = spread.spaced(results.study.doses, _PANELS)
        drawn = "lift" if kind == "profit" else kind
        at = [Size.stored(size).value for size in sizes]
        found = [make_curves(results, answers, drawn, shown, size) for size in at]
    except SimstudyError as error:
        raise NotDrawnError(str(error)) from error
    if not any(one.table["curves"].max() for one in found):
        raise NotDrawnError("no cell has answers of both classes")
    values = ""
    if kind == "profit":
        found, values = _profits(found)
    several = len(found) > 1
    made = [decisions.chart(one, prose.size_words(Size(one.size)) * several) for one in found]
    charts = decisions.aligned(made)
    panels = Panels(tuple(charts), decisions.key(*charts), height=2.4, shared=True)
    rest = len(results.treatments) - len(shown)
    which = f"Shown: the first {len(shown)} of {len(results.treatments)} learners." * bool(rest)
    after = "" if several else f"After {prose.size_words(Size(found[0].size))}."
    where = f"Data set: {dataset}." if dataset else ""
    return Printed(
        prose.title(kind), panels, (where, prose.caption(found[-1]), values, after, which)
    )


def _profits(lifts: list[Curves]) -> tuple[list[Curves], str]:
    """Profits at the share of positive rows of the last curves, and a sentence on the values."""
    prior = float(digits(lifts[-1].prior))
    return [profit_of(one, prior, 1.0, prior) for one in lifts], prose.profit_values(prior)
