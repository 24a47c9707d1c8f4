"""Estimates on data sets in words, and what our study of estimators found of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from simstudy.components.registry import Spec
from simstudy.experiments.estimators.data_results import DataEstimates, EstimateFindings
from simstudy.experiments.estimators.known import (
    Quality,
    other_repeats,
    qualities,
    quality_of,
    recorded,
)
from simstudy.report.prose.numbers import brief, number, percent, percentages
from simstudy.report.prose.phrases import in_unit, listed, opening
from simstudy.texts import counted

_MAX_SUBJECTS = 3  # learners on data sets whose estimates a sentence has
_KINDS = {
    "folds": "t over splits, naive",
    "corrected": "corrected t",
    "percentile": "percentiles of single samples",
}
NO_TRUTH = "The exact value is not known here, so that bias and coverage cannot be shown."
_SEEN = "resubstitution"  # which no one takes for an estimate of performance on new rows

CAPTION = (
    f"{NO_TRUTH} Naive intervals take for independent what shares rows. Coverage: how often such "
    "an interval had the exact value in our study, at the studied size nearest to the rows, with "
    "a 95% binomial interval over its models."
)


def finding(results: DataEstimates, findings: EstimateFindings) -> str:
    """Between which values the estimates of each learner lie, without resubstitution."""
    names = {each.label for each in results.study.estimators if each.name == _SEEN}
    texts, several = [], len(results.datasets) > 1
    for dataset in results.datasets:
        for learner in results.learners:
            own = findings.of(dataset, learner)
            shown = own[~own["estimator"].isin(names)] if len(names) < len(own) else own
            if values := sorted({*shown["estimate"].dropna()}):
                ends = " to ".join(dict.fromkeys(map(number, (values[0], values[-1]))))
                where = f" on {brief(dataset)}" * several
                texts.append(f"{in_unit(ends, findings.info)} for {brief(learner)}{where}")
    if not texts:
        return f"No estimate of {findings.info.label} has a value."
    ends = listed(texts, _MAX_SUBJECTS)
    where = "" if several else f"On {brief(results.datasets[0])}, "
    without = " but resubstitution" * bool(names and len(names) < len(results.treatments))
    text = f"{where}{findings.info.label} is estimated at {ends}, by all estimators{without}."
    return f"{opening(text)} {NO_TRUTH}"


def nearest(results: DataEstimates, findings: EstimateFindings) -> Iterator[str]:
    """How near estimates came to the exact value in our study, for every number of rows here."""
    source = recorded()
    for learner in results.study.learners:
        for count in dict.fromkeys(findings.estimates["rows"]):
            for every in qualities(count, learner.name, findings.label):
                best = every[0]
                yield (
                    f"In our study “{source['study']}” ({source['models']} random "
                    f"{source['family'].upper()} models, whose exact values are known) with "
                    f"{best.size:,} rows, the studied size nearest to {count:,}, estimates of "
                    f"{findings.info.label} of {best.label} were nearest to the exact value by "
                    f"{_compared(every, results.study.estimators)} This table may be unlike those "
                    "models."
                )


def _compared(every: Sequence[Quality], specs: Sequence[Spec]) -> str:
    """The errors of the estimators of a study, beside the least of all, and which are larger."""
    pairs = [(spec, quality_of(spec, every)) for spec in specs]
    here = [(row, brief(spec.label), other_repeats(spec, row)) for spec, row in pairs if row]
    if every[0] not in (row for row, *_ in here):
        here.append((every[0], every[0].estimator, ""))
    here.sort(key=lambda each: each[0].rmse)
    errors = [
        f"{label} ({'root mean squared error ' * (not at)}{number(row.rmse)}{note})"
        for at, (row, label, note) in enumerate(here)
    ]
    text = f"{errors[0]}, then {listed(errors[1:], len(errors))}" if errors[1:] else errors[0]
    far = [label for row, label, _ in here if row.farther]
    which = (
        f"Significantly farther: {listed(far, len(far))}"
        if far
        else "None is significantly farther"
    )
    text += f". {which}; {recorded()['models']} models show only large differences."
    absent = [brief(spec.label) for spec, row in pairs if row is None]
    return text + f" Not studied: {listed(absent, 9)}." * bool(absent)


def coverage(
    spec: Spec, interval: str, rows: int, learner: str, measure: str, confidence: float
) -> str:
    """How often an interval had the exact value in our study; "" if it was not studied."""
    texts, every = [], qualities(rows, learner, measure)
    for each in every if confidence == recorded()["confidence"] else ():
        if (row := quality_of(spec, each)) and interval in row.coverage:
            share, low, high = row.coverage[interval]
            whose = f" for {row.label}" * (len(every) > 1) + other_repeats(spec, row)
            texts.append(f"{percent(share, 0)} {percentages(low, high)}{whose}")
    return "; ".join(texts)


def kind(spec: Spec, interval: str) -> str:
    """What an interval is, and whether it takes for independent what is not."""
    if interval == "rows" and not (spec.name == "holdout" and spec.resolved.get("repeats") == 1):
        return "rows, naive"
    return _KINDS.get(interval, interval)


def statements(results: DataEstimates, findings: EstimateFindings) -> list[str]:
    """What our study found, and what to keep in mind."""
    texts = [*dict.fromkeys(nearest(results, findings))]
    if not texts:
        texts = [
            f"No study of ours has compared estimators of {findings.info.label} with the truth."
        ]
    failed = int(findings.estimates["estimate"].isna().sum())
    lost = f"{counted(failed, 'estimate')} could not be computed; see the warnings."
    searched = (
        "Each estimator fits the learner, with all that belongs to it, again in every training "
        "part: of a learner that searches for its parameters, cross-validation is nested."
    )
    return [*texts, searched, *[lost] * bool(failed)]
