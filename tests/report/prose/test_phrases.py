"""Labels and nouns as they stand in a sentence."""

from __future__ import annotations

import pytest

from simstudy.experiments import experiment, names
from simstudy.measures.base import MeasureInfo
from simstudy.report.prose.phrases import axis_label, indefinite, listed

REWARD = MeasureInfo(greater_is_better=True, label="reward", unit="nats")


LOSS = MeasureInfo(greater_is_better=False, label="loss")


@pytest.mark.parametrize(
    ("info", "label"), [(REWARD, "reward (nats)"), (LOSS, "loss (lower is better)")]
)
def test_a_label_says_the_unit_and_the_direction(info, label):
    assert axis_label(info) == label


def test_nouns_have_their_articles():
    nouns = [kind.treatment for kind in map(experiment, names())]
    assert [*map(indefinite, nouns)] == ["a learner", "a measure", "an estimator", "a test"]


def test_names_with_commas_are_joined_by_semicolons():
    assert listed(["A", "B 1,000", "C"]) == "A, B 1,000 and C"
    assert listed(["A, 1", "B", "C"]) == "A, 1; B; and C"
