"""A fifth experiment: how far the answers of a classifier change with the training set."""

from __future__ import annotations

from dataclasses import replace

from simstudy.components.registry import Spec
from simstudy.engine.plan import Plan
from simstudy.engine.task import Cell, Task, role
from simstudy.experiments import register_experiment
from simstudy.experiments.base import Design, Experiment, ScoreColumn
from simstudy.experiments.models_page import ModelsPage
from simstudy.measures.base import MeasureInfo
from simstudy.study.study import Study

DISAGREEMENT = "disagreement"


class Classifiers(Experiment):
    """A classifier is scored by the rows for which two training sets name different classes."""

    name = "classifiers"
    treatment = "classifier"
    dose = "training"
    sample = "training set"
    size = "training size"
    shares = frozenset({DISAGREEMENT})

    def treatments(self, design: Design) -> tuple[Spec, ...]:
        return design.learners

    def columns(self, design: Design) -> list[ScoreColumn]:
        return [ScoreColumn(DISAGREEMENT, design.measured[0].name, DISAGREEMENT)]

    def info(self, plan: Plan, column: ScoreColumn) -> MeasureInfo:
        return MeasureInfo(False, label=DISAGREEMENT, share=True)

    def task(self, plan: Plan, model: int) -> Task:
        return TwiceTask(plan, model)

    def role(self, treatment: Spec, dose: int) -> str:
        return role(treatment, dose)

    def page(self, study: Study) -> ModelsPage:
        return ClassifiersPage()


class TwiceTask(Task):
    """One model and two training sets of each size."""

    def _scored_columns(self) -> list[ScoreColumn]:
        return []

    def score_cell(self, component: Spec, size: int, every: bool = False) -> Cell:
        assert self._problem.training is not None
        again = self._problem.training.sample(size, self._stream(f"again/{size}"))
        first, second = (
            self._answers(component, sample, self._stream(role(component, size)))[0]
            for sample in (self.training_set(size), again)
        )
        share = float((first.argmax(axis=1) != second.argmax(axis=1)).mean())
        return replace(self._blank(component, size), values=(share,))


class ClassifiersPage(ModelsPage):
    """Which classifier changes least."""

    def asks(self, study: Study, info: MeasureInfo) -> str:
        return f"which of {len(study.labels)} classifiers changes least with its training set?"

    def aims(self, study: Study) -> str:
        return "To compare classifiers by how far their answers depend on the training set."

    def estimands(self, study: Study, info: MeasureInfo) -> str:
        return "The share of test rows for which two training sets name different classes."


register_experiment(Classifiers())
