"""Studies of learners: a cell is a learner fitted to a training set."""

from __future__ import annotations

from dataclasses import replace

from simstudy.engine.evaluation import EXACT, SAMPLED
from simstudy.engine.kinds import Way
from simstudy.engine.plan import Column, Component, Plan
from simstudy.engine.task import Task, role
from simstudy.measures.base import MeasureInfo, keywords
from simstudy.study.registry import MEASURES


class Learning(Way):
    """Learners are scored by measures of their predictions."""

    def columns(self, plan: Plan) -> list[Column]:
        """Return the measures on each test: exact, sampled, or exact and then sampled."""
        exact = [_column(one, "", EXACT) for one in plan.measures if one.label in plan.exact]
        if plan.test_size == "exact":
            return exact
        suffix = "" if isinstance(plan.test_size, int) else "_sampled"
        sampled = [_column(one, suffix, SAMPLED) for one in plan.measures]
        return exact + sampled if plan.test_size == "both" else sampled

    def info(self, plan: Plan, column: Column) -> MeasureInfo:
        """Describe a column's measure; its label names a reward other than the mean."""
        measure = MEASURES.get(column.measure)
        info: MeasureInfo = measure.info
        label = info.label
        if plan.reward != "mean" and "reward" in keywords(measure):
            label += f" ({plan.reward} over classes)"
        if column.label != column.measure:
            label = column.label.replace("_", " ")
        if column.name != column.label:
            label += " (sampled)"
        return replace(info, label=label)

    def task(self, plan: Plan, model: int) -> Task:
        """Return the task of one model."""
        return Task(plan, model)

    def role(self, treatment: Component, dose: int) -> str:
        """Return the role of a learner's stream."""
        return role(treatment, dose)


def _column(measure: Component, suffix: str, test: str) -> Column:
    label = measure.label
    return Column(label + suffix, measure.name, test, label, measure.parameters)
