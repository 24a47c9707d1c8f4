"""The design and the conventions of a study, in words."""

from __future__ import annotations

import pytest

from simstudy import make_study
from simstudy.report.prose.design import conventions, data_sections, parameters


def study(**measures):
    return make_study(
        {
            "name": "tiny",
            "family": {"name": "tan"},
            "learners": [{"name": "prior"}],
            "measures": measures,
        }
    )


def test_a_reward_summed_over_classes_is_named_among_the_conventions():
    assert "summed" not in conventions(study(reward="mean"))
    assert conventions(study(reward="sum")).endswith("; reward summed over the classes")


@pytest.mark.parametrize(
    ("family", "said"),
    [
        ({"cpts": "dirichlet", "concentration": 1.0}, "a symmetric Dirichlet distribution"),
        ({"concentration": 2.0}, "distribution with parameter 2"),
        ({"concentration": 1.0, "cpts": "normalized_uniform"}, "divided by their sum"),
    ],
)
def test_how_cpts_were_drawn_is_said_once(family, said):
    (sentence,) = parameters(family)
    assert said in sentence


@pytest.mark.parametrize(
    ("resampling", "said"),
    [
        ({"folds": 3}, "; stratified by class."),
        ({"folds": 3, "stratify": False}, "; not stratified by class."),
        ({"scheme": "loo"}, "seed 0."),
    ],
)
def test_splits_are_stratified_only_where_a_scheme_can_be(tmp_path, resampling, said):
    rows = "".join(f"{n % 3},{n // 2},{'ab'[n % 2]}\n" for n in range(24))
    (tmp_path / "set.csv").write_text(f"x,who,y\n{rows}", encoding="utf-8")
    content = {"name": "tiny", "seed": 0, "resampling": resampling}
    content |= {"learners": [{"name": "prior"}], "measures": {"primary": "accuracy"}}
    texts = []
    for more in ({}, {"groups": "who"}):
        sets = [{"path": "set.csv", "target": "y", "nominal": ["x"], **more}]
        text = data_sections(make_study({**content, "datasets": sets}, tmp_path))["Splits"]
        texts.append(text.replace("; rows of a group stay together", ""))
        assert ("rows of a group stay together" in text) == bool(more)
    assert all(f"{said} All learners receive the same splits." in text for text in texts)
