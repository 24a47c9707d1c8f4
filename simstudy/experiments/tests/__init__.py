"""Comparisons of tests: how often they reject, with and without a difference between learners."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from simstudy.experiments.base import Design, Experiment, ScoreColumn
from simstudy.measures.base import MeasureInfo

if TYPE_CHECKING:
    from simstudy.engine.plan import Plan
    from simstudy.engine.task import Task
    from simstudy.experiments.tests.page import TestsPage
    from simstudy.results.reading import Results
    from simstudy.study.sections import StudyFile
    from simstudy.study.spec import Spec
    from simstudy.study.study import Study

COPIES, MIRRORED, POWER, WRONG, GAP = "type_1", "type_1_mirrored", "power", "wrong", "difference"
_WORDS = {
    COPIES: "type I error, two copies of {}",
    MIRRORED: "type I error, {} of equal exact performance",
    POWER: "power, {}",
    WRONG: "rejections in favour of the worse of {}",
    GAP: "exact difference of {}",
}
_DATA_SETS = 20  # by default


class Tests(Experiment):
    """A test is scored by how often it rejects."""

    name = "tests"
    treatment = "test"
    dose = "available"
    own_keys = ("tests", "data.repeats")
    shares = frozenset({COPIES, MIRRORED, POWER, WRONG})

    def treatments(self, design: Design) -> tuple[Spec, ...]:
        """Return the tests."""
        return design.tests

    def completed(self, given: StudyFile) -> StudyFile:
        """Fill in the number of data sets of each size."""
        stated = given.data.repeats
        data = {"test_size": "exact", "repeats": _DATA_SETS if stated is None else stated}
        return given.model_copy(update={"data": given.data.model_copy(update=data)})

    def check(self, study: Study) -> None:
        """Refuse a study with nothing to compare or to test."""
        from simstudy.study.checks import check_estimated

        check_estimated(study)

    def score_names(self, study: Study) -> list[str]:
        """Return the names of the columns."""
        return ["_".join(score) for score in tested_scores(study.learners)]

    def conditions(self, plan: Plan) -> dict[str, object]:
        """Add the confidence, as it has always been recorded."""
        return {**super().conditions(plan), "analysis.confidence": plan.confidence}

    def columns(self, plan: Plan) -> list[ScoreColumn]:
        """Return the rates of rejection, of every learner and pair, by the primary measure."""
        measure = plan.measured[0]
        return [
            ScoreColumn("_".join((score, *labels)), measure.name, score, " and ".join(labels))
            for score, *labels in tested_scores(plan.learners)
        ]

    def info(self, plan: Plan, column: ScoreColumn) -> MeasureInfo:
        """Describe a rate of rejections, or the true difference."""
        label, share = _WORDS[column.test].format(column.label), column.test in self.shares
        return MeasureInfo(column.test == POWER, label=label, share=share)

    def task(self, plan: Plan, model: int) -> Task:
        """Return the task of one model."""
        from simstudy.experiments.tests.scoring import RejectingTask

        return RejectingTask(plan, model)

    def role(self, treatment: Spec, dose: int) -> str:
        """Return the role of the stream of the first data set."""
        return f"train/{dose}/0"

    def results_class(self, study: Study) -> type[Results]:
        """Return the class of its results."""
        from simstudy.experiments.tests.results import TestResults

        return TestResults

    def page(self, study: Study) -> TestsPage:
        """Return its sentences, tables and files."""
        from simstudy.experiments.tests.page import TestsPage

        return TestsPage()


def tested_scores(learners: Sequence[Spec]) -> list[tuple[str, ...]]:
    """The scores of a comparison of tests with their learners: of each, then of each pair."""
    labels = [learner.label for learner in learners]
    single = [(score, label) for score in (COPIES, MIRRORED) for label in labels]
    pairs = [*combinations(labels, 2)]
    return [*single, *((score, *pair) for score in (POWER, WRONG, GAP) for pair in pairs)]
