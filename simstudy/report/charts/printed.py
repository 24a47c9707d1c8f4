"""Figures of studies of models and of data sets, for print."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from simstudy.analysis.datasets.two_measures import measure_pairs
from simstudy.analysis.models.average_ranks import Ranks
from simstudy.analysis.models.findings import ModelFindings
from simstudy.errors import SimstudyError
from simstudy.experiments.learners.data_results import DataResults
from simstudy.experiments.learners.results import LearnerResults
from simstudy.report.charts import curves, data, layout, pairs, ranks, spec, spread
from simstudy.report.charts.layout import Maker, NotDrawnError, Printed, require
from simstudy.report.charts.mpl import Style
from simstudy.report.charts.spec import Chart, Key, Panels, drawable
from simstudy.report.prose import captions, pairwise
from simstudy.report.prose import data_statements as prose
from simstudy.report.prose.design import models_of
from simstudy.report.prose.phrases import listed, opening
from simstudy.results.read.base import Results
from simstudy.results.read.model_analyses import ModelResults

if TYPE_CHECKING:
    from matplotlib.figure import Figure

M = TypeVar("M", bound=ModelResults)
_MAX_ROWS = {False: 44, True: 11}  # of the overview of thresholds, in a paper and on a slide
_ALONE = "it needs at least two learners and two data sets on which all have a mean"


# Studies of models


def model_makers(results: ModelResults) -> dict[str, Maker]:
    """The figures by the names of their files."""
    makers: dict[str, Maker] = {}
    for place, name in enumerate(results.measures):
        file = f"learning_curves_{name}" if place else "learning_curves"
        makers[file] = partial(learning_curves, measure=name)
    makers |= {"differences": differences, "thresholds": thresholds, "scores": scores}
    return makers | {"ranks": rank_diagrams}


def learner_makers() -> dict[str, Maker]:
    """The figures that only learners have."""
    makers: dict[str, Maker] = {"reliability": reliability, "regret": regret}
    return makers | {"reward_and_divergence": reward_and_divergence}


def _leading(results: ModelResults, style: Style) -> tuple[list[str], str]:
    """The learners that fit, the best at the largest size, and a sentence that says which."""
    if len(results.treatments) <= style.learners:
        return results.treatments, ""
    treatments, kept = f"{len(results.treatments)} {results.study.experiment.name}", style.learners
    best = results.findings().ranked(results.doses[-1])[:kept]
    which = f"Shown: the {kept} of {treatments} with the best means at {results.doses[-1]:,} rows."
    return [learner for learner in results.treatments if learner in best], which


def _design(results: Results) -> str:
    return f"{results.study.page.design(results.study)}."


def _made(results: Results) -> str:
    return results.study.page.made(results.study)


def learning_curves(results: ModelResults, style: Style, measure: str) -> Printed:
    """Learning curves of one measure."""
    findings = results.findings(measure)
    shown, which = _leading(results, style)
    means = [mean.mean for mean in findings.means if mean.learner in shown]
    require(any(map(drawable, means)), "no mean is finite")
    title = f"{opening(findings.info.label)} with more {findings.design.words.dose} rows"
    if len(shown) > captions.MAX_BARS and not style.titles:  # slides have one picture
        panels = curves.each_learner(findings, shown)
    else:
        chart = curves.learning_curves(findings, shown)
        panels = Panels((chart,), chart.key)
    caption = captions.curves(findings, len(shown), each=not panels.key)
    text = (caption, *panels.charts[0].notes, _made(results), which)
    return Printed(title, panels, text, layout.lines if panels.key else layout.pages)


def hope_korb(studies: Sequence[ModelResults], style: Style) -> tuple[Figure, str]:
    """Figures 2 to 4 of Hope & Korb (2004): an example of each family beside its curves."""
    rows, texts = list[layout.Row](), list[str]()
    for place, results in enumerate(sorted(studies, key=_complexity)):
        networks = results.manifest["networks"]
        if "0" not in networks:
            raise SimstudyError(f"{results.directory}: style hope-korb needs models with networks")
        findings, left, right = results.findings(), *"abcdef"[2 * place : 2 * place + 2]
        example = f"example of {models_of(results.study)}"
        part = ", one network of its mixture" * (networks["0"]["components"] > 1)
        chart = curves.learning_curves(findings)
        heading = f"({right}) {results.study.models} models"
        rows.append((networks["0"], f"({left}) {example}", chart, heading))
        texts.append(f"({left}) An {example}{part}. ({right}) {captions.curves(findings)}")
        texts += [*chart.notes, _made(results)]
    return layout.examples_and_curves(rows, style), " ".join(texts)


def _complexity(results: Results) -> tuple[int, int]:
    """The networks that a model is a mixture of, and the most parents of a variable."""
    network = results.manifest["networks"].get("0", {"components": 0, "parents": []})
    return network["components"], max(map(len, network["parents"]), default=0)


def differences(results: ModelResults, style: Style) -> Printed:
    """Paired differences against the dose, a panel for each pair."""
    findings, kind = results.findings(), results.study.experiment
    every = pairs.all_pairs(findings)
    several = every and len(results.doses) > 1
    require(several, f"they need two {kind.name} and two {kind.size}s")
    many = f"{len(every)} pairs of {kind.name} are too many for one figure, which holds at most "
    many += f"{pairs.MAX_PAIRS}; the table of pairs has them all"
    require(len(every) <= pairs.MAX_PAIRS, many)
    panels = Panels(tuple(pairs.differences(findings, every)), across=3, shared=True)
    notes = dict.fromkeys(note for chart in panels.charts for note in chart.notes)
    text = (captions.differences(findings), *notes, _made(results))
    return Printed(f"Differences in {findings.info.label}", panels, text)


def thresholds(results: ModelResults, style: Style) -> Printed:
    """Sizes at which treatments overtake each other, all pairs in one figure."""
    findings, kind = results.findings(), results.study.experiment
    require(findings.courses, f"they need two {kind.name} and two {kind.size}s")
    unchanged = pairwise.unchanged(findings.courses)
    changes, which = pairs.changes_shown(findings.courses, _MAX_ROWS[style.titles])
    require(changes, unchanged.partition(":")[0])
    chart, caption = pairs.thresholds(changes, findings), captions.thresholds(findings)
    text = (caption, which, unchanged, _design(results), pairwise.added_sizes(findings))
    return Printed(chart.title, Panels((chart,)), text, layout.stacked)


def scores(results: ModelResults, style: Style) -> Printed:
    """The scores of all models, a panel for each size."""
    findings = results.findings()
    shown, which = _leading(results, style)
    sizes = spec.spaced(results.doses, 2 if style.titles else 3)
    values = [v for size in sizes for label in shown for v in findings.values(label, size)]
    undrawn = sum(not drawable(value) for value in values)
    require(undrawn < len(values), f"no cell has a finite {findings.measure}")
    panels = spread.scores(findings, sizes, shown)
    text = (captions.scores(findings, undrawn, sizes), which, _made(results))
    title = f"{opening(findings.info.label)} of every model"
    return Printed(title, panels, text, layout.in_rows)


def rank_diagrams(results: ModelResults, style: Style) -> Printed:
    """Critical-difference diagrams, a panel for each size."""
    findings, k, kind = results.findings(), len(results.treatments), results.study.experiment
    joined = k <= ranks.MAX_JOINED
    require(k > 1, f"they need at least two {kind.name}")
    require(joined or not style.titles, f"diagrams of {k} {kind.name} do not fit on a slide")
    rankings, without = [], []
    for size in results.doses[-1:] if style.titles or not joined else spec.spaced(results.doses, 3):
        if isinstance(ranking := findings.ranks(size), Ranks):
            rankings.append(ranking)
        else:
            without.append(f"At {size:,} rows there are no ranks: {ranking.text}.")
    require(rankings, " ".join(without))
    panels = Panels(tuple(ranks.ranks(ranking, kind) for ranking in rankings))
    caption = captions.ranks(findings, rankings, joined)
    text = (caption, _design(results), *without)
    return Printed(f"Average ranks by {findings.info.label}", panels, text, layout.stacked)


def reliability(results: LearnerResults, style: Style) -> Printed:
    """Observed frequencies against predictions, a panel for each learner."""
    sizes = sorted({results.doses[0], results.doses[-1]})
    shown, which = _leading(results, style)
    try:
        bins = results.calibration(sizes, learners=shown)
    except SimstudyError as error:
        raise NotDrawnError(str(error)) from error
    panels = spread.reliability(bins, shown)
    require(panels.charts, "no cell that was run again succeeded")
    text = (captions.reliability(bins, results.study, sizes), which)
    return Printed("Observed frequency against predicted probability", panels, text)


def regret(results: LearnerResults, style: Style) -> Printed:
    """The components of regret, a panel for each learner."""
    split = results.regret_parts
    if split is None:
        parts = "'regret', 'representation' and 'estimation'"
        raise NotDrawnError(f"the study has not measured {parts}, or no model has all of them")
    shown, which = _leading(results, style)
    panels = spread.regret(split, results.treatments, results.info("regret").unit, shown)
    caption, made = captions.regret(split, results.study), _made(results)
    return Printed("Regret and its parts", panels, (caption, captions.REGRET_PARTS, made, which))


def reward_and_divergence(results: ModelResults, style: Style) -> Printed:
    """Rewards against divergences from the truth, a panel for each learner."""
    needed = ("information_reward", "kl_divergence")
    missing = [f"'{name}'" for name in needed if name not in results.measures]
    require(not missing, f"the study has not measured {' and '.join(missing)}")
    shown, which = _leading(results, style)
    reward, divergence = (results.info(name) for name in needed)
    panels, cells, drawn = spread.divergence(results.findings(), reward, divergence, shown)
    require(drawn, "no cell has a divergence above 0")
    text = captions.divergence(results.study, reward.label, divergence.label, cells, drawn)
    return Printed("Reward against divergence from the truth", panels, (text, which))


def opening_figure(
    results: M,
    style: Style,
    charts: Callable[[M, ModelFindings, bool], tuple[Chart, ...]],
    caption: Callable[[M, ModelFindings], str],
    part: slice,
) -> Printed:
    """Charts that open the page of a comparison."""
    findings = results.findings()
    shown = charts(results, findings, True)[part]
    shown = charts(results, findings, False)[part] if len(shown) > 1 else shown
    require(shown, "it needs two learners, and finite scores")
    title = listed([chart.heading for chart in shown]) if len(shown) > 1 else shown[0].title
    shown = shown if len(shown) > 1 else (replace(shown[0], heading=""),)
    rows = all(chart.y.kind == "rows" for chart in shown)
    panels = Panels(shown, across=0 if rows else 1, height=3.2)
    text = (caption(results, findings), _made(results))
    return Printed(opening(title), panels, text, layout.in_rows if rows else layout.pages)


# Studies of data sets


def data_makers(results: DataResults) -> dict[str, Maker]:
    """The figures by the names of their files."""
    kinds = {"means": means, "ranks": rank_diagram, "posterior": posterior}
    kinds |= {"learning_curves": data_learning} if len(results.study.doses) > 1 else {}
    makers: dict[str, Maker] = {}
    for place, name in enumerate(results.measures):
        end = f"_{name}" if place else ""
        makers |= {f"{kind}{end}": partial(make, measure=name) for kind, make in kinds.items()}
    makers |= {"scores_against_time": against_time} if len(results.treatments) > 1 else {}
    for first, second in measure_pairs(results.measures):
        makers[f"measures_{first}_{second}"] = partial(scatter, first=first, second=second)
    return makers


def _key(results: DataResults) -> tuple[Key, ...]:
    every = zip(results.treatments, spec.looks(results.study.names), strict=True)
    return tuple(Key(label, look=look) for label, look in every)


def means(results: DataResults, style: Style, measure: str) -> Printed:
    """The means of all learners by data set; of a single data set, its splits."""
    findings, made = results.data_findings(measure), _made(results)
    if len(findings.datasets) == 1:
        chart = data.splits(findings, findings.datasets[0])
        text = "Dots: splits, which share rows; larger marks: their means."
        return Printed(chart.title, Panels((chart,)), (text, made), layout.in_rows)
    chart, text = data.by_dataset(findings), "Means over the splits of each data set. "
    text += "Ringed: the best mean of a data set." * (len(findings.learners) > 1)
    return Printed(chart.title, Panels((chart,), _key(results)), (text, made), layout.in_rows)


def rank_diagram(results: DataResults, style: Style, measure: str) -> Printed:
    """The diagram of average ranks over data sets."""
    findings = results.data_findings(measure)
    over, title = findings.over_sets, f"Average ranks by {findings.info.label}"
    if over is None or len(over.learners) < 3:
        raise NotDrawnError("it needs at least three learners, and two data sets with all means")
    require(not over.friedman.reason, over.friedman.reason)
    fits = len(over.learners) <= ranks.MAX_JOINED or not style.titles
    require(fits, f"a diagram of {len(over.learners)} learners does not fit on a slide")
    text = f"{title} over {len(over.datasets)} data sets (1 is best). "
    text += f"{ranks.bars(over)} ({prose.over_method(over)})."
    panels = Panels((ranks.over_sets(over, findings.names),))
    return Printed(title, panels, (text, _made(results)), layout.stacked)


def posterior(results: DataResults, style: Style, measure: str) -> Printed:
    """The posterior that one of two learners is better over data sets."""
    findings = results.data_findings(measure)
    over, info = findings.over_sets, findings.info
    if over is None:
        raise NotDrawnError(_ALONE)
    chart = data.posterior(over)
    require(not chart.absent, chart.absent)
    equivalent = prose.equivalence(over.rope, info)
    middle = [Key(equivalent, "equal")] if over.rope else []
    key = (Key("the first is better", "first"), *middle, Key("the second is better", "second"))
    which = "Only pairs with the leading learner are shown; the table has all pairs."
    text = (
        f"Posterior probabilities by {info.label} over {len(over.datasets)} data sets, by the "
        f"Bayesian signed rank test (Benavoli et al. 2017; {equivalent}). Significance is "
        "decided by Wilcoxon's test, not by these.",
        which if len(chart.y.marks) < len(over.pairs) else "",
        _made(results),
    )
    panels = Panels((chart,), key)
    return Printed("Who is better over data sets", panels, text, layout.in_rows)


def data_learning(results: DataResults, style: Style, measure: str) -> Printed:
    """Learning curves, a panel for each data set."""
    by_size = [results.data_findings(measure, size=size) for size in results.sizes]
    charts = tuple(data.learning(by_size, name) for name in by_size[0].datasets)
    title = f"{opening(by_size[0].info.label)} with more training rows"
    text = ("Means over the splits of each data set.", _made(results))
    return Printed(title, Panels(charts, _key(results)), text)


def scatter(results: DataResults, style: Style, first: str, second: str) -> Printed:
    """Means by two measures, with the data sets on which they name different winners."""
    both = results.data_findings(first), results.data_findings(second)
    reversals = results.reversals(first, second, examples=False)
    labels = (both[0].info.label, both[1].info.label)
    lines = " Lines join the two winners of a data set where these differ."
    text = (
        f"Means of each learner on each data set.{lines * bool(reversals.cases)}",
        prose.reversal_sentence(reversals, labels) if len(results.treatments) > 1 else "",
        _made(results),
    )
    panels = Panels((data.scatter(*both, reversals),), _key(results), height=3.2)
    return Printed(f"{opening(labels[1])} against {labels[0]}", panels, text)


def against_time(results: DataResults, style: Style) -> Printed:
    """Scores against seconds, a panel for each measure."""
    every, seconds = [results.data_findings(name) for name in results.measures], results.seconds()
    charts = tuple(data.against_time(findings, seconds) for findings in every)
    text = prose.against_time(every, seconds, results.manifest["platform"]), _made(results)
    return Printed("Scores against time", Panels(charts, _key(results), height=2.4), text)
