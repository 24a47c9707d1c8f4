"""Comparisons of estimators: how near they come to the exact performance of a learner."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from simstudy.components.registry import MEASURES
from simstudy.experiments.base import Design, Experiment, ScoreColumn
from simstudy.measures.base import MeasureInfo

if TYPE_CHECKING:
    from simstudy.engine.plan import Plan
    from simstudy.study.content import StudyFile

# Of an estimate against the value of this classifier, and against the mean over training sets.
ERRORS = ("squared_error", "squared_error_of_mean", "error", "error_of_mean")
SQUARED = {  # of squared errors: the errors, and the target of the tables of results
    "squared_error": ("error", "exact"),
    "squared_error_of_mean": ("error_of_mean", "mean"),
}
ESTIMATE = "estimate"  # of data sets, whose truth is not known
COVERED, COVERED_MEAN, WIDTH = "covered", "covered_mean", "width"  # by the interval
SCORES = (*ERRORS, COVERED, COVERED_MEAN, WIDTH)
_WORDS = {
    "squared_error": "squared error of the estimate of {}",
    "squared_error_of_mean": "squared error of the estimate of mean {}",
    "error": "error of the estimate of {}",
    "error_of_mean": "error of the estimate of mean {}",
    COVERED: "coverage of {}",
    COVERED_MEAN: "coverage of mean {}",
    WIDTH: "width of the interval of {}",
}
# Of a study of data sets that states none.
_USUAL: tuple[dict[str, object], ...] = (
    {"name": "resubstitution"},
    {"name": "holdout", "label": "holdout 2/3"},
    {"name": "cross_validation", "label": "10-fold stratified", "stratify": True},
    {"name": "cross_validation", "label": "10-fold ×10", "repeats": 10, "interval": "corrected"},
    {"name": "bootstrap_632", "label": ".632"},
    {"name": "bootstrap_632", "label": ".632+", "plus": True},
    {"name": "nested_cross_validation", "label": "nested 10-fold", "repeats": 10},
)


class Estimators(Experiment):
    """An estimator is scored by its errors for every learner and measure."""

    name = "estimators"
    treatment = "estimator"
    dose = "available"
    treatments_key = "estimators"
    own_keys = ("estimators", "data.training_sets")
    keeps = "estimates.parquet"
    shares = frozenset({COVERED, COVERED_MEAN})
    task_path = "simstudy.experiments.estimators.scoring:EstimatingTask"
    results_path = "simstudy.experiments.estimators.results:EstimatorResults"
    page_path = "simstudy.experiments.estimators.page:EstimatorsPage"
    data_results_path = "simstudy.experiments.estimators.data_results:DataEstimates"
    data_page_path = "simstudy.experiments.estimators.data_page:EstimatesPage"
    check_path = "simstudy.study.checks:check_estimated"
    data_check_path = "simstudy.study.checks:check_estimated_data"
    splits_data = False
    data_defaults = MappingProxyType({"training_sets": 200})

    def completed(self, stated: StudyFile) -> StudyFile:
        """Fill in the usual estimators of data sets, if there are none."""
        if not stated.datasets or stated.estimators:
            return super().completed(stated)
        from simstudy.study.sections import TreatmentSection  # which imports this package

        usual = [TreatmentSection.model_validate(each) for each in _USUAL]
        return stated.model_copy(update={"estimators": usual})

    def conditions(self, plan: Plan) -> dict[str, object]:
        """Add the training sets and the confidence of intervals."""
        return {
            **super().conditions(plan),
            "data.training_sets": plan.training_sets,
            "analysis.confidence": plan.confidence,
        }

    def columns(self, design: Design) -> list[ScoreColumn]:
        """Return errors, and coverage and width of intervals, by measure and learner.

        Where the truth is not known, the estimates.
        """
        return [
            ScoreColumn(
                f"{score}_{measure.label}_{learner.label}", measure.name, score, learner.label
            )
            for score in (SCORES if design.source.knows_truth else (ESTIMATE,))
            for measure in design.measured
            for learner in design.learners
        ]

    def info(self, plan: Plan, column: ScoreColumn) -> MeasureInfo:
        """Describe an error, a coverage or a width."""
        measure: MeasureInfo = MEASURES.get(column.measure).info
        if column.test == ESTIMATE:
            return replace(measure, label=f"{measure.label} of {column.label}")
        label = _WORDS[column.test].format(f"{measure.label} ({column.label})")
        zero = "no bias" if column.test in ("error", "error_of_mean") else ""
        share = column.test in self.shares
        return MeasureInfo(share, label=label, zero=zero, share=share)
