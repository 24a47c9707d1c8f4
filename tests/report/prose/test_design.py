"""The design and the conventions of a study, in words."""

from __future__ import annotations

import pytest

from simstudy import make_study
from simstudy.report.prose.design import conventions, parameters


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
