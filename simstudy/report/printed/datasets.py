"""Figures of studies of data sets, for print."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from simstudy.analysis.reversals import measure_pairs
from simstudy.experiments.learners.data_results import DataResults
from simstudy.report.charts import data as charts
from simstudy.report.charts import layout, ranks
from simstudy.report.charts.mpl import Style
from simstudy.report.charts.spec import Chart, Key, Panels
from simstudy.report.printed import Maker, NotDrawnError, Printed
from simstudy.report.prose import data_statements as prose
from simstudy.report.prose.design import design
from simstudy.report.prose.phrases import opening
from simstudy.report.tables.datasets import given

_ALONE = "it needs at least two learners and two data sets on which all have a mean"


def data_makers(results: DataResults) -> dict[str, Maker]:
    """The figures by the names of their files."""
    makers: dict[str, Maker] = {}
    for place, name in enumerate(results.measures):
        end = f"_{name}" if place else ""
        kinds = {"wins": wins, "means": means, "ranks": rank_diagram, "posterior": posterior}
        kinds |= {"learning_curves": learning} if len(results.study.doses) > 1 else {}
        makers |= {f"{kind}{end}": partial(make, measure=name) for kind, make in kinds.items()}
    for first, second in measure_pairs(results.measures):
        makers[f"measures_{first}_{second}"] = partial(scatter, first=first, second=second)
    return makers


def _key(results: DataResults) -> tuple[Key, ...]:
    return tuple(Key(label, series=place) for place, label in enumerate(results.treatments))


def _made(results: DataResults) -> str:
    return f"{opening(design(results.study))}."


def wins(results: DataResults, style: Style, measure: str) -> Printed:
    """On how many data sets each learner has the best mean and is significantly ahead."""
    findings = results.data_findings(measure)
    if len(findings.learners) < 2 or len(findings.datasets) < 2:
        raise NotDrawnError(_ALONE)
    chart = charts.wins(findings)
    text = (
        "Upper bar: data sets on which the learner has the best mean; lower bar: on which it is "
        f"significantly better than another and worse than none ({prose.method(findings)})."
    )
    return Printed(chart.title, _rows(chart), (text, _made(results)), layout.in_rows)


def means(results: DataResults, style: Style, measure: str) -> Printed:
    """The means of all learners by data set; of a single data set, its splits."""
    findings = results.data_findings(measure)
    if len(findings.datasets) == 1:
        chart = charts.splits(findings, findings.datasets[0])
        text = "Dots: splits, which share rows; larger marks: their means."
        return Printed(chart.title, _rows(chart), (text, _made(results)), layout.in_rows)
    chart = charts.by_dataset(findings)
    panels = Panels((_untitled(chart),), _key(results))
    text = "Means over the splits of each data set."
    return Printed(chart.title, panels, (text, _made(results)), layout.rows_with_key)


def _untitled(chart: Chart) -> Chart:
    """A chart whose title the caption has."""
    return replace(chart, heading="")


def _rows(chart: Chart) -> Panels:
    """A chart made of rows."""
    return Panels((_untitled(chart),))


def rank_diagram(results: DataResults, style: Style, measure: str) -> Printed:
    """The diagram of average ranks over data sets."""
    findings = results.data_findings(measure)
    found = findings.over_sets
    if found is None or len(found.learners) < 3:
        raise NotDrawnError("it needs at least three learners, and two data sets with all means")
    if found.friedman.reason:
        raise NotDrawnError(found.friedman.reason)
    if style.titles and len(found.learners) > ranks.MAX_JOINED:
        raise NotDrawnError(f"that of {len(found.learners)} learners does not fit on a slide")
    text = (
        f"Average ranks by {findings.info.label} over {len(found.datasets)} data sets (1 is best). "
        f"{ranks.bars(found)} ({prose.over_method(found)})."
    )
    title = f"Average ranks by {findings.info.label}"
    panels = Panels((ranks.over_sets(found),))
    return Printed(title, panels, (text, _made(results)), layout.stacked)


def posterior(results: DataResults, style: Style, measure: str) -> Printed:
    """The posterior that one of two learners is better over data sets."""
    findings = results.data_findings(measure)
    if findings.over_sets is None:
        raise NotDrawnError(_ALONE)
    found, chart = findings.over_sets, charts.posterior(findings.over_sets)
    if chart.absent:
        raise NotDrawnError(chart.absent)
    key = (
        Key("the first is better", "first"),
        *([Key(prose.equivalence(found.rope, findings.info), "equal")] if found.rope else []),
        Key("the second is better", "second"),
    )
    which = "Pairs with one learner alone are shown; the table has all."
    text = (
        f"Posterior probabilities by {findings.info.label} over {len(found.datasets)} data sets, "
        "by the Bayesian signed rank test (Benavoli et al. 2017; "
        f"{prose.equivalence(found.rope, findings.info)}). Wilcoxon's test decides, not these.",
        which if len(chart.y.marks) < len(found.pairs) else "",
        _made(results),
    )
    panels = Panels((_untitled(chart),), key)
    return Printed("Who is better over data sets", panels, text, layout.rows_with_key)


def learning(results: DataResults, style: Style, measure: str) -> Printed:
    """Learning curves, a panel for each data set."""
    by_size = [results.data_findings(measure, size=given(size)) for size in results.study.doses]
    drawn = [charts.learning(by_size, name) for name in by_size[0].datasets]
    title = f"{opening(by_size[0].info.label)} with more training rows"
    text = ("Means over the splits of each data set.", _made(results))
    return Printed(title, Panels(tuple(drawn), _key(results)), text)


def scatter(results: DataResults, style: Style, first: str, second: str) -> Printed:
    """Means by two measures, with the data sets on which they name different winners."""
    one, other = results.data_findings(first), results.data_findings(second)
    found = results.reversals(first, second, examples=False)
    chart = charts.scatter(one, other, found)
    labels = (one.info.label, other.info.label)
    lines = "Lines join the two winners of a data set where these differ."
    text = (
        f"Means of each learner on each data set. {lines if found.found else ''}".strip(),
        prose.reversal_sentence(found, labels) if len(results.treatments) > 1 else "",
        _made(results),
    )
    title = f"{opening(labels[1])} against {labels[0]}"
    panels = Panels((_untitled(chart),), _key(results), height=3.2)
    return Printed(title, panels, text)
