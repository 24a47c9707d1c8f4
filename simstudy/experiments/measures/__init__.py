"""Comparisons of measures: which of them prefers the truly better of two learners."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from simstudy.experiments.base import Design, Experiment, ScoreColumn
from simstudy.measures.base import MeasureInfo
from simstudy.study.registry import MEASURES

if TYPE_CHECKING:
    from simstudy.arrays import AnyArray
    from simstudy.engine.plan import Plan
    from simstudy.engine.task import Task
    from simstudy.experiments.measures.page import MeasuresPage
    from simstudy.results.reading import Results
    from simstudy.study.sections import StudyFile
    from simstudy.study.spec import Spec
    from simstudy.study.study import Study

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

    def treatments(self, design: Design) -> tuple[Spec, ...]:
        """Return the measures."""
        return design.measured

    def doses(self, design: Design) -> tuple[int, ...]:
        """Return the test sizes."""
        return design.test_sizes

    def at_doses(self, plan: Plan, doses: Iterable[int]) -> Plan:
        """Return a plan with other test sizes."""
        return replace(plan, test_sizes=tuple(doses))

    def completed(self, given: StudyFile) -> StudyFile:
        """Fill in test sets, one training size and a target."""
        data = {"test_size": "exact", "test_sizes": [*_TEST_SIZES], "repeats": _REPEATS}
        if given.data.test_sizes is not None:
            data["test_sizes"] = given.data.test_sizes
        if given.data.repeats is not None:
            data["repeats"] = given.data.repeats
        if "train_sizes" not in given.data.model_fields_set:
            data["train_sizes"] = [_TRAIN_SIZE]
        targets = given.measures.targets or [_TARGET]
        changed = {
            "data": given.data.model_copy(update=data),
            "measures": given.measures.model_copy(update={"targets": targets}),
        }
        return given.model_copy(update=changed)

    def check(self, study: Study) -> None:
        """Refuse fewer than two learners, targets without an exact value, and the like."""
        from simstudy.study.checks import check_judged

        check_judged(study)

    def score_names(self, study: Study) -> list[str]:
        """Return the names of the columns."""
        return [f"{score}_{one.label}" for score in (RIGHT, LOSS) for one in study.targets]

    def columns(self, plan: Plan) -> list[ScoreColumn]:
        """Return for every target the share of right choices and the loss from following them."""
        return [
            ScoreColumn(f"{score}_{target.label}", target.name, score, target.label)
            for score in (RIGHT, LOSS)
            for target in plan.targets
        ]

    def info(self, plan: Plan, column: ScoreColumn) -> MeasureInfo:
        """Describe a share of right choices, or a loss."""
        target: MeasureInfo = MEASURES.get(column.measure).info
        plain = column.label == column.measure
        label = target.label if plain else column.label
        if column.test == RIGHT:
            return MeasureInfo(True, label=f"right choices by {label}", share=True)
        return MeasureInfo(False, target.logarithmic, f"loss in {label}", target.unit)

    def task(self, plan: Plan, model: int) -> Task:
        """Return the task of one model."""
        from simstudy.experiments.measures.scoring import PickingTask

        return PickingTask(plan, model)

    def role(self, treatment: Spec, dose: int) -> str:
        """Return the role of the first test set's stream."""
        from simstudy.experiments.measures.scoring import test_role

        return test_role(0)

    def check_kept(self, plan: Plan, kept: str) -> None:
        """Read the choices of a cell."""
        from simstudy.experiments.measures.picks import read_picks

        read_picks(plan, kept)

    def kept_columns(
        self, plan: Plan, keys: list[tuple[int, str]], kept: Mapping[int, str]
    ) -> dict[str, list[str] | AnyArray]:
        """Return the choices of all measures."""
        from simstudy.experiments.measures.picks import picks_columns

        return picks_columns(plan, keys, kept)

    def results_class(self, study: Study) -> type[Results]:
        """Return the class of its results."""
        from simstudy.experiments.measures.results import MeasureResults

        return MeasureResults

    def page(self, study: Study) -> MeasuresPage:
        """Return its sentences, tables and files."""
        from simstudy.experiments.measures.page import MeasuresPage

        return MeasuresPage()
