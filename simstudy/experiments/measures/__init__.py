"""Comparisons of measures: which of them prefers the truly better of two learners."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from simstudy.components.registry import MEASURES
from simstudy.experiments.base import Design, Experiment, ScoreColumn, with_data
from simstudy.measures.base import MeasureInfo

if TYPE_CHECKING:
    from simstudy.components.registry import Spec
    from simstudy.engine.plan import Plan
    from simstudy.study.sections import StudyFile

RIGHT, LOSS = "right", "loss"  # the share of right choices, and what following them loses
_TEST_SIZES, _REPEATS = (20, 50, 100, 200, 500, 1000, 5000), 50  # defaults
_TRAIN_SIZE, _TARGET = 100, "kl_divergence"


class Measures(Experiment):
    """A measure is scored by its choices between learners."""

    name = "measures"
    treatment = "measure"
    dose = "test"
    sample = "test set"
    size = "test size"
    dose_key = "test_sizes"
    own_keys = ("data.test_sizes", "data.repeats", "measures.targets")
    keeps = "picks.parquet"
    takes_orders = True
    shares = frozenset({RIGHT})
    task_path = "simstudy.experiments.measures.scoring:PickingTask"
    results_path = "simstudy.experiments.measures.results:MeasureResults"
    page_path = "simstudy.experiments.measures.page:MeasuresPage"
    check_path = "simstudy.study.checks:check_judged"

    def treatments(self, design: Design) -> tuple[Spec, ...]:
        """Return the measures."""
        return design.measured

    def doses(self, design: Design) -> tuple[int, ...]:
        """Return the test sizes."""
        return design.test_sizes

    def at_doses(self, plan: Plan, doses: Iterable[int]) -> Plan:
        """Return a plan with other test sizes."""
        return replace(plan, test_sizes=tuple(doses))

    def completed(self, stated: StudyFile) -> StudyFile:
        """Fill in test sets, one training size and a target."""
        sizes, targets = [*_TEST_SIZES], stated.measures.targets or [_TARGET]
        measures = stated.measures.model_copy(update={"targets": targets})
        stated = stated.model_copy(update={"measures": measures})
        return with_data(stated, test_sizes=sizes, repeats=_REPEATS, train_sizes=[_TRAIN_SIZE])

    def columns(self, design: Design) -> list[ScoreColumn]:
        """Return for every target the share of right choices and the loss from following them."""
        return [
            ScoreColumn(f"{score}_{target.label}", target.name, score, target.label)
            for score in (RIGHT, LOSS)
            for target in design.targets
        ]

    def info(self, plan: Plan, column: ScoreColumn) -> MeasureInfo:
        """Describe a share of right choices, or a loss."""
        target: MeasureInfo = MEASURES.get(column.measure).info
        plain = column.label == column.measure
        label = target.label if plain else column.label
        if column.test == RIGHT:
            return MeasureInfo(True, label=f"right choices by {label}", share=True)
        return MeasureInfo(False, target.logarithmic, f"loss in {label}", target.unit)

    def role(self, treatment: Spec, dose: int) -> str:
        """Return the role of the first test set's stream."""
        return "test/0"
