"""The words claim what the table supports, and nothing more."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from simstudy.analysis.intervals import intervals
from simstudy.analysis.pairwise import pairwise
from simstudy.measures.base import MeasureInfo
from simstudy.report.html.page import _parameters
from simstudy.report.words import (
    axis_label,
    conventions,
    size_effect_words,
    unadjusted,
    verdicts,
)

REWARD = MeasureInfo(greater_is_better=True, label="reward", unit="nats")
LOSS = MeasureInfo(greater_is_better=False, label="loss")


def scores(**offsets):
    """Rewards of 30 models at one size: a common part plus each learner's offset and noise."""
    rng = np.random.default_rng(0)
    common = rng.normal(size=30)
    rows = [
        {"model": model, "size": 50, "learner": name, "reward": common[model] + offset + noise}
        for name, offset in offsets.items()
        for model, noise in enumerate(rng.normal(scale=0.1, size=30))
    ]
    return pd.DataFrame(rows)


def table(**offsets):
    return pairwise(scores(**offsets), value="reward")


def tell(pairs, info=REWARD, cells=None, **options):
    """The verdicts at 50 rows; without cells the learners have the means 0, 1, and so on."""
    if cells is None:
        names = list(dict.fromkeys([*pairs["first"], *pairs["second"]]))
        cells = pd.DataFrame({"learner": names, "size": 50, "mean": np.arange(float(len(names)))})
    return verdicts(pairs, cells, info, 0.95, **options)[50]


def test_a_win_names_the_winner_first_with_a_positive_difference():
    (sentence,) = tell(table(A=0.0, B=1.0))
    assert sentence.startswith("B beats A by +")
    low, high = sentence.split("[")[1].rstrip("]").split(", ")
    assert 0 < float(low) < float(high)


def test_with_a_loss_the_lower_one_wins():
    (sentence,) = tell(table(A=0.0, B=1.0), LOSS)
    assert sentence.startswith("A beats B by +")


def test_what_the_test_cannot_tell_apart_is_not_called_a_win():
    (sentence,) = tell(table(A=0.0, B=0.0))
    assert "are not told apart" in sentence
    assert "beats" not in sentence
    low, high = sentence.split("[")[1].rstrip("]").split(", ")
    assert float(low) < 0 < float(high)


def test_every_pair_is_named_once_best_first():
    sentences = tell(table(A=0.0, B=1.0, C=2.0))
    assert [sentence.split(" by ")[0] for sentence in sentences] == [
        "C beats B",
        "C beats A",
        "B beats A",
    ]


def test_with_many_learners_only_the_leader_is_compared():
    offsets = {f"L{index}": float(index) for index in range(8)}
    sentences = tell(table(**offsets))
    assert len(sentences) == 7
    assert all(sentence.startswith("L7 beats ") for sentence in sentences)


def test_pairs_without_a_common_model_are_not_compared():
    pairs = table(A=0.0, B=1.0)
    pairs[["difference", "lower", "upper", "p_adjusted"]] = np.nan
    (sentence,) = tell(pairs)
    assert sentence == "B and A are not compared: no model has both"


def test_an_infinite_score_is_said_and_not_compared():
    pairs = table(A=0.0, B=1.0).assign(infinite=3, difference=-np.inf, p_adjusted=np.nan)
    (sentence,) = tell(pairs)
    assert sentence.endswith("are not compared: infinite in 3 models")


def test_with_holms_method_the_sentence_gives_its_p_value_not_another_methods_interval():
    (sentence,) = tell(table(A=0.0, B=1.0), holm=True)
    assert sentence.startswith("B beats A by +")
    assert sentence.endswith("(p < .0001)")


def test_the_side_of_zero_is_never_rounded_away():
    pairs = table(A=0.0, B=0.0).assign(difference=1e-4, lower=-2e-5, upper=2.2e-4, p_adjusted=0.1)
    (sentence,) = tell(pairs)
    assert sentence == "A and B are not told apart: +0.0001 [-2.0e-05, +0.0002]"


def test_the_leader_is_that_of_the_means_however_the_pairs_add_up():
    # The infinite difference would make every sum infinite; L6 has the best finite mean.
    offsets = {f"L{index}": float(index) for index in range(7)}
    rows = scores(**offsets)
    rows.loc[(rows["learner"] == "L0") & (rows["model"] == 3), "reward"] = -np.inf
    pairs, cells = pairwise(rows, value="reward"), intervals(rows, value="reward")
    said = tell(pairs, cells=cells)
    assert [sentence.split(" by ")[0] for sentence in said[:-1]] == [
        f"L6 beats L{index}" for index in (5, 4, 3, 2, 1)
    ]
    assert said[-1] == "L6 and L0 are not compared: infinite in 1 models"


def test_what_could_not_be_tested_is_not_called_hard_to_tell_apart():
    rows = scores(A=0.0, B=0.0)
    (said,) = tell(pairwise(rows[rows["model"] == 0], value="reward"))
    assert said.endswith("are not compared: 1 model has both")
    same = pd.concat([rows.assign(learner=name) for name in "AB"]).drop_duplicates(
        ["model", "learner"]
    )
    (said,) = tell(pairwise(same, value="reward"))
    assert said.endswith("are identical in every model")
    (said,) = tell(pairwise(same, value="reward"), models=40)
    assert said.endswith("are identical in all 30 models that both have")


def test_the_bands_say_what_they_are_not_adjusted_for():
    assert unadjusted(1) == ""
    said = unadjusted(3, 12)
    assert "dark band is not adjusted for the number of sizes, m = 12." in said
    assert "not adjusted for the number of pairs, m = 3;" in said


@pytest.mark.parametrize(
    ("info", "label"), [(REWARD, "reward (nats)"), (LOSS, "loss (less is better)")]
)
def test_a_label_says_the_unit_and_the_direction(info, label):
    assert axis_label(info) == label


def test_a_comparison_without_all_models_says_how_many_it_used():
    (sentence,) = tell(table(A=0.0, B=1.0), models=40)
    assert sentence.endswith("], over 30 of 40 models")
    (sentence,) = tell(table(A=0.0, B=1.0), models=30)
    assert sentence.endswith("]")


def results_with(prior="train", sizes=(50, 500), **measures):
    """What the words need to know of results."""
    settings = {"measures": {"prior": prior, "cutoff": "mml", **measures}, "data": {"test_size": 9}}
    return SimpleNamespace(settings=settings, sizes=list(sizes))


def test_the_effect_of_size_is_said_to_hold_that_of_the_prior():
    said = size_effect_words(results_with(), "information_reward")
    assert "the effect of size holds that too" in said
    assert size_effect_words(results_with("test"), "information_reward") == ""
    assert size_effect_words(results_with(sizes=[50]), "information_reward") == ""
    assert size_effect_words(results_with(), "accuracy") == ""


def test_a_reward_summed_over_classes_is_named_among_the_conventions():
    assert "summed" not in conventions(results_with())
    assert "summed" not in conventions(results_with(reward="mean"))
    assert conventions(results_with(reward="sum")).endswith("; reward summed over the classes")


@pytest.mark.parametrize(
    ("family", "said"),
    [
        ({"cpts": "dirichlet", "concentration": 1.0}, "a symmetric Dirichlet distribution"),
        ({"concentration": 2.0}, "distribution with parameter 2"),
        ({"concentration": 1.0, "cpts": "normalized_uniform"}, "divided by their sum"),
    ],
)
def test_how_cpts_were_drawn_is_said_once(family, said):
    (sentence,) = _parameters({"name": "tan", **family})
    assert said in sentence
