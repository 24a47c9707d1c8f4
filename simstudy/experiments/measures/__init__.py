"""Comparisons of measures: which of them prefers the truly better of two learners."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from simstudy.components.registry import MEASURES
from simstudy.experiments.base import Design, Experiment, ScoreColumn
from simstudy.measures.base import MeasureInfo

if TYPE_CHECKING:
    from simstudy.engine.plan import Plan
    from simstudy.study.content import StudyFile

RIGHT, LOSS = "right", "loss"  # the share of right choices, and what following them loses


class Measures(Experiment):
    """A measure is scored by its choices between learners."""

    name = "measures"
    treatment = "measure"
    dose = "test"
    sample = "test set"
    size = "test size"
    dose_key = "test_sizes"
    treatments_key = "measured"
    own_keys = ("data.test_sizes", "data.repeats", "measures.targets")
    keeps = "picks.parquet"
    takes_orders = True
    shares = frozenset({RIGHT})
    task_path = "simstudy.experiments.measures.scoring:PickingTask"
    results_path = "simstudy.experiments.measures.results:MeasureResults"
    page_path = "simstudy.experiments.measures.page:MeasuresPage"
    check_path = "simstudy.study.checks:check_judged"
    stream_role = "test/0"
    data_defaults = MappingProxyType(
        {"test_sizes": [20, 50, 100, 200, 500, 1000, 5000], "repeats": 50, "train_sizes": [100]}
    )

    def completed(self, stated: StudyFile) -> StudyFile:
        """Fill in test sets, one training size and a target."""
        targets = stated.measures.targets or ["kl_divergence"]
        measures = stated.measures.model_copy(update={"targets": targets})
        return super().completed(stated.model_copy(update={"measures": measures}))

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
        label = target.label if column.label == column.measure else column.label
        if column.test == RIGHT:
            return MeasureInfo(True, label=f"right choices by {label}", share=True)
        return MeasureInfo(False, target.logarithmic, f"loss in {label}", target.unit)
