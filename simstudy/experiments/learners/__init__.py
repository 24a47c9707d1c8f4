"""Comparisons of learners: a cell is a learner fitted to a training set."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from simstudy.engine.evaluation import EXACT, SAMPLED
from simstudy.experiments.base import Design, Experiment, ScoreColumn
from simstudy.measures.base import MeasureInfo, keywords
from simstudy.study.registry import MEASURES

if TYPE_CHECKING:
    from simstudy.engine.plan import Plan
    from simstudy.engine.task import Task
    from simstudy.experiments.learners.data_page import DataPage
    from simstudy.experiments.learners.page import LearnersPage
    from simstudy.results.reading import Results
    from simstudy.study.spec import Spec
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

    def treatments(self, design: Design) -> tuple[Spec, ...]:
        """Return the learners."""
        return design.learners

    def check(self, study: Study) -> None:
        """Refuse exact evaluation over too many configurations."""
        from simstudy.study.checks import check_exact

        check_exact(study)

    def score_names(self, study: Study) -> list[str]:
        """Return the labels of the measures."""
        return study.measures.labels

    def conditions(self, plan: Plan) -> dict[str, object]:
        """Return nothing: results of this experiment need not name it."""
        return {}

    def columns(self, plan: Plan) -> list[ScoreColumn]:
        """Return the measures on each test: exact, sampled, or exact and then sampled."""
        tests = plan.source.tests
        exact = [_column(one, "", EXACT) for one in plan.measured if one.label in plan.exact]
        suffix = "_sampled" if EXACT in tests else ""
        sampled = [_column(one, suffix, SAMPLED) for one in plan.measured]
        return exact * (EXACT in tests) + sampled * (SAMPLED in tests)

    def info(self, plan: Plan, column: ScoreColumn) -> MeasureInfo:
        """Describe a column's measure; its label names a reward other than the mean."""
        measure = MEASURES.get(column.measure)
        info: MeasureInfo = measure.info
        label = info.label
        if plan.reward != "mean" and "reward" in keywords(measure):
            label += f" ({plan.reward} over classes)"
        if column.label != column.measure:
            label = column.label
        if column.name != column.label:
            label += " (sampled)"
        return replace(info, label=label)

    def task(self, plan: Plan, model: int) -> Task:
        """Return the task of one problem."""
        from simstudy.engine.task import Task

        return Task(plan, model)

    def role(self, treatment: Spec, dose: int) -> str:
        """Return the role of a learner's stream."""
        from simstudy.engine.task import role

        return role(treatment, dose)

    def results_class(self, study: Study) -> type[Results]:
        """Return the class of its results: on data sets, or on models."""
        if study.datasets:
            from simstudy.experiments.learners.data_results import DataResults

            return DataResults
        from simstudy.experiments.learners.results import LearnerResults

        return LearnerResults

    def page(self, study: Study) -> DataPage | LearnersPage:
        """Return its sentences, figures, tables and files, on models or on data sets."""
        if study.datasets:
            from simstudy.experiments.learners.data_page import DataPage

            return DataPage()
        from simstudy.experiments.learners.page import LearnersPage

        return LearnersPage()


def _column(measure: Spec, suffix: str, test: str) -> ScoreColumn:
    label = measure.label
    return ScoreColumn(label + suffix, measure.name, test, label, measure.parameters)
