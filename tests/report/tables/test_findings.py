"""What analyses say of factors, in the words of a kind of study; files keep the columns' names."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from simstudy.experiments import experiment
from simstudy.report.tables import findings as build

LABELS = ("learner", "no learner", "size")


@pytest.fixture
def findings_without(make_findings):
    """Findings on estimators at two sizes, some cells of which have no value."""

    def findings_without(missing):
        cells = [(m, label, n) for m in range(6) for label in LABELS for n in (20, 50)]
        scores = pd.DataFrame(cells, columns=["model", "learner", "size"])
        scores["reward"] = np.random.default_rng(3).normal(size=len(scores))
        lost = [(label, m) in missing for m, label, _ in cells]
        found = make_findings(scores.assign(reward=scores["reward"].mask(lost)))
        return replace(found, design=replace(found.design, words=experiment("estimators")))

    return findings_without


def test_effects_and_models_left_out_are_named_by_treatments(findings_without):
    table = build.tests(findings_without([("no learner", 2)]))["anova"]
    assert [row[0].text for row in table.rows] == ["estimator", "size", "estimator × size"]
    assert table.csv.splitlines()[1].startswith("learner,")
    named = "model 2: no finite reward for estimator no learner, size 20; estimator no learner, "
    assert f"{named}size 50." in table.caption


def test_reasons_are_in_words_and_in_files_by_columns(findings_without):
    everywhere = [(LABELS[model % 3], model) for model in range(6)]
    cells = "no model has a finite reward in every cell; e.g. 0 has no finite reward for "
    incomplete = findings_without(everywhere)
    assert incomplete.anova.reason == f"{cells}learner learner, size 20; learner learner, size 50"
    assert incomplete.anova.text == f"{cells}estimator learner, size 20; estimator learner, size 50"
    (note,) = build.missing_tests({"anova": build.tests(incomplete)["anova"]})
    assert note == f"No ANOVA: {incomplete.anova.text}."
    never = findings_without([("size", model) for model in range(6)])
    assert "for learner size; a mixed model" in never.mixed.reason
    assert "for estimator size; a mixed model" in never.mixed.text


def test_variances_are_named_by_treatments(findings_without):
    components = findings_without([("size", 1)]).mixed.components
    assert [*components] == ["model", "model:estimator", "model:size", "residual"]
