"""Estimates on data sets in words, and what our study of estimators found of them."""

from __future__ import annotations

from collections.abc import Iterator

from simstudy.experiments.estimators.data_results import DataEstimates, EstimateFindings
from simstudy.experiments.estimators.known import among, qualities, recorded
from simstudy.report.prose.numbers import brief, number
from simstudy.report.prose.phrases import in_unit, listed, opening
from simstudy.texts import counted

_MAX_SUBJECTS = 3  # learners on data sets whose estimates a sentence has
NO_TRUTH = "The exact value is not known here, so that bias and coverage cannot be shown."
_SEEN = "resubstitution"  # which no one takes for an estimate of performance on new rows


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
    """Which estimators our study found to be nearest, for every number of rows here."""
    study, source = results.study, recorded()
    rows = dict.fromkeys(findings.estimates["rows"])
    for learner in study.learners:
        for count in rows:
            for every in qualities(count, learner.name, findings.label):
                best, here = every[0], among(every, study.estimators)
                level = [row.estimator for row in here if not row.farther and row != best]
                far = [row.estimator for row in here if row.farther]
                text = (
                    f"In our study “{source['study']}” ({source['models']} random "
                    f"{source['family'].upper()} models, whose exact values are known) with "
                    f"{best.size:,} rows, the studied size nearest to {count:,}, the estimates of "
                    f"{findings.info.label} of {best.label} nearest to the exact value were by "
                    f"{best.estimator} (root mean squared error {number(best.rmse)})"
                )
                if level:
                    text += f"; {listed(level, 9)} did not differ significantly from it"
                if far:
                    text += f"; {listed(far, 9)} {'were' if len(far) > 1 else 'was'} farther"
                yield f"{text}. This table may be unlike those models."


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
