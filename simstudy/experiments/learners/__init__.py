"""Comparisons of learners: a cell is a learner fitted to a training set."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from simstudy.components.registry import MEASURES
from simstudy.engine.evaluation import EXACT, SAMPLED
from simstudy.experiments.base import Design, Experiment, ScoreColumn
from simstudy.measures.base import MeasureInfo, keywords

if TYPE_CHECKING:
    from simstudy.components.registry import Spec
    from simstudy.engine.plan import Plan
    from simstudy.study.study import Study


class Learners(Experiment):
    """Learners are scored by measures of their predictions."""

    name = "learners"
    treatment = "learner"
    dose = "training"
    sample = "training set"
    size = "training size"
    score = "measure"
    own_keys = ("data.test_size",)
    keeps_answers = True
    growing = ("learners", "data.train_sizes")
    results_path = "simstudy.experiments.learners.results:LearnerResults"
    page_path = "simstudy.experiments.learners.page:LearnersPage"
    data_results_path = "simstudy.experiments.learners.data_results:DataResults"
    data_page_path = "simstudy.experiments.learners.data_page:DataPage"
    check_path = "simstudy.study.checks:check_exact"

    def score_names(self, study: Study) -> list[str]:
        """Return the labels of the measures."""
        return study.measures.labels

    def conditions(self, plan: Plan) -> dict[str, object]:
        """Return nothing: results of this experiment need not name it."""
        return {}

    def columns(self, design: Design) -> list[ScoreColumn]:
        """Return the measures on each test: exact, sampled, or exact and then sampled."""
        plan = cast("Plan", design)  # only plans know which measures have an exact value
        tests = plan.source.tests
        exact = [ScoreColumn.of(spec, EXACT) for spec in plan.measured if spec.label in plan.exact]
        suffix = "_sampled" if EXACT in tests else ""
        sampled = [ScoreColumn.of(spec, SAMPLED, suffix) for spec in plan.measured]
        return exact * (EXACT in tests) + sampled * (SAMPLED in tests)

    def info(self, plan: Plan, column: ScoreColumn) -> MeasureInfo:
        """Describe a column's measure; its label names a reward other than the mean."""
        measure = MEASURES.get(column.measure)
        label = measure.info.label
        if plan.reward != "mean" and "reward" in keywords(measure):
            label += f" ({plan.reward} over classes)"
        if column.label != column.measure:
            label = column.label
        if column.name != column.label:
            label += " (sampled)"
        return replace(measure.info, label=label)

    def role(self, treatment: Spec, dose: int) -> str:
        """Return the role of a learner's stream."""
        from simstudy.engine.task import role

        return role(treatment, dose)
