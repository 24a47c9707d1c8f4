"""Figures of studies of models, for print."""

from __future__ import annotations

from functools import partial

from simstudy.analysis.ranks import Ranks
from simstudy.errors import SimstudyError
from simstudy.experiments.learners.results import LearnerResults
from simstudy.report.charts import layout, pairs, ranks, spread
from simstudy.report.charts.curves import each_learner, learning_curves
from simstudy.report.charts.mpl import Style
from simstudy.report.charts.spec import Panels, drawable
from simstudy.report.printed import Maker, NotDrawnError, Printed
from simstudy.report.prose import captions
from simstudy.report.prose.crossings import added_sizes
from simstudy.report.prose.design import design
from simstudy.report.prose.phrases import opening
from simstudy.results.analyses import ModelResults

_MAX_ROWS = {False: 44, True: 11}  # of the overview of thresholds, in a paper and on a slide


def model_makers(results: ModelResults) -> dict[str, Maker]:
    """The figures by the names of their files."""
    first, *others = results.measures
    names = {"learning_curves": first, **{f"learning_curves_{name}": name for name in others}}
    return {
        **{file: partial(curves, measure=measure) for file, measure in names.items()},
        "differences": differences,
        "thresholds": thresholds,
        "scores": scores,
        "ranks": rank_diagrams,
    }


def learner_makers() -> dict[str, Maker]:
    """The figures that only learners have."""
    return {
        "reliability": reliability,
        "regret": regret,
        "reward_and_divergence": reward_and_divergence,
    }


def _leading(results: ModelResults, style: Style) -> tuple[list[str], str]:
    """The learners that there is room for, the best at the largest size; a sentence on which."""
    if len(results.treatments) <= style.learners:
        return results.treatments, ""
    words = results.study.experiment
    kept = results.findings().ranked(results.doses[-1])[: style.learners]
    sentence = (
        f"Shown: the {style.learners} of {len(results.treatments)} {words.name} with the best "
        f"means at {results.doses[-1]:,} rows."
    )
    return [learner for learner in results.treatments if learner in kept], sentence


def curves(results: ModelResults, style: Style, measure: str) -> Printed:
    """Learning curves of one measure."""
    findings = results.findings(measure)
    shown, which = _leading(results, style)
    if not any(drawable(mean.mean) for mean in findings.means if mean.learner in shown):
        raise NotDrawnError("no mean is finite")
    title = f"{opening(findings.info.label)} with more {findings.design.words.dose} rows"
    if len(shown) > captions.MAX_BARS and not style.titles:  # slides have one picture
        panels = each_learner(findings, shown)
    else:
        chart = learning_curves(findings, shown)
        panels = Panels((chart,), chart.key)
    caption = captions.curves(findings, len(shown), each=not panels.key)
    text = (caption, *panels.charts[0].notes, captions.made(results.study), which)
    return Printed(title, panels, text, layout.lines if panels.key else layout.pages)


def differences(results: ModelResults, style: Style) -> Printed:
    """Paired differences against the dose, a panel for each pair."""
    findings, kind = results.findings(), results.study.experiment
    every = pairs.all_pairs(findings)
    if not every or len(results.doses) < 2:
        raise NotDrawnError(f"they need two {kind.name} and two {kind.size}s")
    if len(every) > pairs.MAX_PAIRS:
        raise NotDrawnError(
            f"{len(every)} pairs of {kind.name} are too many for a figure, which has "
            f"{pairs.MAX_PAIRS} at most; the table of pairs has them all"
        )
    panels = Panels(tuple(pairs.differences(findings, every)), across=3, shared=True)
    notes = dict.fromkeys(note for chart in panels.charts for note in chart.notes)
    text = (captions.differences(findings), *notes, captions.made(results.study))
    return Printed(f"Differences in {findings.info.label}", panels, text)


def thresholds(results: ModelResults, style: Style) -> Printed:
    """Where treatments overtake each other, all pairs in one figure."""
    findings, kind = results.findings(), results.study.experiment
    if not findings.courses:
        raise NotDrawnError(f"they need two {kind.name} and two {kind.size}s")
    leader = findings.ranked(results.doses[-1])[0]
    rows, which = pairs.threshold_rows(findings.courses, _MAX_ROWS[style.titles], leader)
    chart = pairs.thresholds(rows, results.doses, f"{kind.dose} rows", findings.info.label)
    caption = captions.thresholds(findings, min(row.course.n for row in rows))
    text = (caption, which, f"{design(results.study)}.", added_sizes(findings))
    return Printed(chart.title, Panels((chart,)), text, layout.stacked)


def scores(results: ModelResults, style: Style) -> Printed:
    """The scores of all models, a panel for each size."""
    findings = results.findings()
    shown, which = _leading(results, style)
    sizes = spread.spaced(results.doses, 2 if style.titles else 3)
    values = [v for size in sizes for label in shown for v in findings.values(label, size)]
    undrawn = sum(not drawable(value) for value in values)
    if undrawn == len(values):
        raise NotDrawnError(f"no cell has a finite {findings.measure}")
    panels = spread.scores(findings, sizes, shown)
    text = (captions.scores(findings, undrawn, sizes), which, captions.made(results.study))
    title = f"{opening(findings.info.label)} of every model"
    return Printed(title, panels, text, layout.in_rows)


def rank_diagrams(results: ModelResults, style: Style) -> Printed:
    """Critical-difference diagrams, a panel for each size."""
    findings, k, kind = results.findings(), len(results.treatments), results.study.experiment
    if k < 2:
        raise NotDrawnError(f"they need at least two {kind.name}")
    if style.titles and k > ranks.MAX_JOINED:
        raise NotDrawnError(f"those of {k} {kind.name} do not fit on a slide")
    several = k <= ranks.MAX_JOINED and not style.titles
    sizes = spread.spaced(results.doses, 3) if several else results.doses[-1:]
    every = [(size, findings.ranks(size)) for size in sizes]
    found = [one for _, one in every if isinstance(one, Ranks)]
    without = [
        f"At {size:,} rows there are no ranks: {one.text}."
        for size, one in every
        if not isinstance(one, Ranks)
    ]
    if not found:
        raise NotDrawnError(" ".join(without))
    panels = Panels(tuple(ranks.ranks(one, kind) for one in found))
    caption = captions.ranks(findings, found, k <= ranks.MAX_JOINED)
    text = (caption, f"{design(results.study)}.", *without)
    return Printed(f"Average ranks by {findings.info.label}", panels, text, layout.stacked)


def reliability(results: LearnerResults, style: Style) -> Printed:
    """Observed frequencies against predictions, a panel for each learner."""
    sizes = sorted({results.doses[0], results.doses[-1]})
    shown, which = _leading(results, style)
    try:
        found = results.calibration(sizes, learners=shown)
    except SimstudyError as error:
        raise NotDrawnError(str(error)) from error
    panels = spread.reliability(found, shown)
    if not panels.charts:
        raise NotDrawnError("no cell of the models to run again succeeded")
    text = (captions.reliability(found, results.study, sizes), which)
    return Printed("Observed frequency against predicted probability", panels, text)


def regret(results: LearnerResults, style: Style) -> Printed:
    """What regret is made of, a panel for each learner."""
    split = results.regret_parts
    if split is None:
        raise NotDrawnError(
            "the study has not measured 'regret', 'representation' and 'estimation', or no model "
            "has all of them"
        )
    shown, which = _leading(results, style)
    panels = spread.regret(split, results.treatments, results.info("regret").unit, shown)
    caption, made = captions.regret(split, results.study), captions.made(results.study)
    return Printed("Regret and its parts", panels, (caption, captions.REGRET_PARTS, made, which))


def reward_and_divergence(results: ModelResults, style: Style) -> Printed:
    """Rewards against divergences from the truth, a panel for each learner."""
    needed = ("information_reward", "kl_divergence")
    if missing := [f"'{name}'" for name in needed if name not in results.measures]:
        raise NotDrawnError(f"the study has not measured {' and '.join(missing)}")
    shown, which = _leading(results, style)
    reward, other = (results.info(name) for name in needed)
    panels, cells, drawn = spread.divergence(results.findings(), reward, other, shown)
    if not drawn:
        raise NotDrawnError("no cell has a divergence above 0")
    text = captions.divergence(results.study, reward.label, other.label, cells, drawn)
    return Printed("Reward against divergence from the truth", panels, (text, which))
