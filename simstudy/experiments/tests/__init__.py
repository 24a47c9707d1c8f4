"""Comparisons of tests: how often they reject, with and without a difference between learners."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING

from simstudy.experiments.base import Design, Experiment, ScoreColumn
from simstudy.measures.base import MeasureInfo

if TYPE_CHECKING:
    from simstudy.components.registry import Spec
    from simstudy.engine.plan import Plan

LEVEL = 0.05  # of all tests
COPIES, MIRRORED, POWER, WRONG, GAP = "type_1", "type_1_mirrored", "power", "wrong", "difference"
_WORDS = {
    COPIES: "type I error, two copies of {}",
    MIRRORED: "type I error, {} of equal exact performance",
    POWER: "power, {}",
    WRONG: "rejections in favour of the worse of {}",
    GAP: "exact difference of {}",
}


class Tests(Experiment):
    """A test is scored by how often it rejects."""

    name = "tests"
    treatment = "test"
    dose = "available"
    treatments_key = "tests"
    own_keys = ("tests", "data.repeats")
    shares = frozenset({COPIES, MIRRORED, POWER, WRONG})
    task_path = "simstudy.experiments.tests.scoring:RejectingTask"
    results_path = "simstudy.experiments.tests.results:TestResults"
    page_path = "simstudy.experiments.tests.page:TestsPage"
    check_path = "simstudy.study.checks:check_estimated"
    stream_role = "train/{dose}/0"
    data_defaults = MappingProxyType({"repeats": 20})

    def conditions(self, plan: Plan) -> dict[str, object]:
        """Add the confidence, as it has always been recorded."""
        return {**super().conditions(plan), "analysis.confidence": plan.confidence}

    def columns(self, design: Design) -> list[ScoreColumn]:
        """Return the rates of rejection, of every learner and pair, by the primary measure."""
        measure = design.measured[0]
        return [
            ScoreColumn("_".join((score, *labels)), measure.name, score, " and ".join(labels))
            for score, *labels in tested_scores(design.learners)
        ]

    def info(self, plan: Plan, column: ScoreColumn) -> MeasureInfo:
        """Describe a rate of rejections, or the true difference."""
        label, share = _WORDS[column.test].format(column.label), column.test in self.shares
        return MeasureInfo(column.test == POWER, label=label, share=share)


def tested_scores(learners: Sequence[Spec]) -> list[tuple[str, ...]]:
    """The scores of a comparison of tests with their learners: of each, then of each pair."""
    labels = [learner.label for learner in learners]
    single = [(score, label) for score in (COPIES, MIRRORED) for label in labels]
    pairs = [*combinations(labels, 2)]
    return [*single, *((score, *pair) for score in (POWER, WRONG, GAP) for pair in pairs)]
