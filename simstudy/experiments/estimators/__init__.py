"""Comparisons of estimators: how near they come to the exact performance of a learner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from simstudy.experiments.base import Design, Experiment, ScoreColumn
from simstudy.measures.base import MeasureInfo
from simstudy.study.registry import MEASURES

if TYPE_CHECKING:
    from simstudy.arrays import AnyArray
    from simstudy.engine.plan import Plan
    from simstudy.engine.task import Task
    from simstudy.experiments.estimators.page import EstimatorsPage
    from simstudy.results.reading import Results
    from simstudy.study.sections import StudyFile
    from simstudy.study.spec import Spec
    from simstudy.study.study import Study

# Of an estimate against the value of this classifier, and against the mean over training sets.
ERRORS = ("squared_error", "squared_error_of_mean", "error", "error_of_mean")
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
_TRAINING_SETS = 200  # by default


class Estimators(Experiment):
    """An estimator is scored by its errors for every learner and measure."""

    name = "estimators"
    treatment = "estimator"
    dose = "available"
    own_keys = ("estimators", "data.training_sets")
    keeps = "estimates.parquet"
    shares = frozenset({COVERED, COVERED_MEAN})

    def treatments(self, design: Design) -> tuple[Spec, ...]:
        """Return the estimators."""
        return design.estimators

    def completed(self, given: StudyFile) -> StudyFile:
        """Fill in the number of training sets whose mean value is estimated."""
        stated = given.data.training_sets
        number = _TRAINING_SETS if stated is None else stated
        data = {"test_size": "exact", "training_sets": number}
        return given.model_copy(update={"data": given.data.model_copy(update=data)})

    def check(self, study: Study) -> None:
        """Refuse a study with nothing to compare or to estimate."""
        from simstudy.study.checks import check_estimated

        check_estimated(study)

    def score_names(self, study: Study) -> list[str]:
        """Return the names of the columns."""
        return [
            f"{score}_{measure}_{learner.label}"
            for score in SCORES
            for measure in study.measures.labels
            for learner in study.learners
        ]

    def conditions(self, plan: Plan) -> dict[str, object]:
        """Add the training sets and the confidence of intervals."""
        return {
            **super().conditions(plan),
            "data.training_sets": plan.training_sets,
            "analysis.confidence": plan.confidence,
        }

    def columns(self, plan: Plan) -> list[ScoreColumn]:
        """Return errors, and coverage and width of intervals, by measure and learner."""
        return [
            ScoreColumn(
                f"{score}_{measure.label}_{learner.label}", measure.name, score, learner.label
            )
            for score in SCORES
            for measure in plan.measured
            for learner in plan.learners
        ]

    def info(self, plan: Plan, column: ScoreColumn) -> MeasureInfo:
        """Describe an error, a coverage or a width."""
        measure: MeasureInfo = MEASURES.get(column.measure).info
        score, signed = column.test, ("error", "error_of_mean")
        label = _WORDS[score].format(f"{measure.label} ({column.label})")
        zero = "no bias" if score in signed else ""
        share = score in self.shares
        return MeasureInfo(share, label=label, zero=zero, share=share)

    def task(self, plan: Plan, model: int) -> Task:
        """Return the task of one model."""
        from simstudy.experiments.estimators.scoring import EstimatingTask

        return EstimatingTask(plan, model)

    def role(self, treatment: Spec, dose: int) -> str:
        """Return the role of the stream of the rows available."""
        return f"train/{dose}"

    def check_kept(self, plan: Plan, kept: str) -> None:
        """Read the estimates of a cell."""
        from simstudy.experiments.estimators.kept import read_estimates

        read_estimates(plan, kept)

    def kept_columns(
        self, plan: Plan, keys: list[tuple[int, str]], kept: Mapping[int, str]
    ) -> dict[str, list[str] | AnyArray]:
        """Return all estimates."""
        from simstudy.experiments.estimators.kept import estimate_columns

        return estimate_columns(plan, keys, kept)

    def results_class(self, study: Study) -> type[Results]:
        """Return the class of its results."""
        from simstudy.experiments.estimators.results import EstimatorResults

        return EstimatorResults

    def page(self, study: Study) -> EstimatorsPage:
        """Return its sentences, tables and files."""
        from simstudy.experiments.estimators.page import EstimatorsPage

        return EstimatorsPage()
