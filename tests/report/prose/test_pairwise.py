"""Sentences on pairs of learners claim what the tests support, and nothing more."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from simstudy.analysis.models.thresholds import Course, Overtaking
from simstudy.report.prose.pairwise import course_sentences, crossing_method, verdicts


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


@pytest.fixture
def tell(make_findings):
    """The verdicts at 50 rows about scores, the pairs perhaps changed."""

    def tell(table, greater_is_better=True, pairs=None, **options):
        findings = make_findings(table, greater_is_better, **options)
        if pairs is not None:
            findings.__dict__["pairwise"] = findings.pairwise.assign(**pairs)
        return verdicts(findings)[50]

    return tell


def test_a_win_names_the_winner_first_with_a_positive_difference(tell):
    (sentence,) = tell(scores(A=0.0, B=1.0))
    assert sentence.startswith("B beats A by +")
    low, high = sentence.split("[")[1].rstrip("]").split(", ")
    assert 0 < float(low) < float(high)


def test_with_a_loss_the_lower_one_wins(tell):
    (sentence,) = tell(scores(A=0.0, B=1.0), greater_is_better=False)
    assert sentence.startswith("A beats B by +")


def test_what_the_test_cannot_tell_apart_is_not_called_a_win(tell):
    (sentence,) = tell(scores(A=0.0, B=0.0))
    assert "do not differ significantly" in sentence
    assert "beats" not in sentence
    low, high = sentence.split("[")[1].rstrip("]").split(", ")
    assert float(low.replace("−", "-")) < 0 < float(high)


def test_every_pair_is_named_once_best_first(tell):
    sentences = tell(scores(A=0.0, B=1.0, C=2.0))
    assert [sentence.split(" by ")[0] for sentence in sentences] == [
        "C beats B",
        "C beats A",
        "B beats A",
    ]


def test_with_many_learners_only_the_leader_is_compared(tell):
    offsets = {f"L{index}": float(index) for index in range(8)}
    sentences = tell(scores(**offsets))
    assert len(sentences) == 7
    assert all(sentence.startswith("L7 beats ") for sentence in sentences)


def test_pairs_without_a_common_model_are_not_compared(tell):
    missing = dict.fromkeys(("difference", "lower", "upper", "p_adjusted"), np.nan)
    (sentence,) = tell(scores(A=0.0, B=1.0), pairs=missing)
    assert sentence == "B and A are not compared: no model has both"


def test_an_infinite_score_is_said_and_not_compared(tell):
    infinite = {"infinite": 3, "difference": -np.inf, "p_adjusted": np.nan}
    (sentence,) = tell(scores(A=0.0, B=1.0), pairs=infinite)
    assert sentence.endswith("are not compared: infinite in 3 models")


def test_with_holms_method_the_sentence_gives_its_p_value_not_another_methods_interval(tell):
    (sentence,) = tell(scores(A=0.0, B=1.0), adjustment="holm")
    assert sentence.startswith("B beats A by +")
    assert sentence.endswith("(adjusted p < 0.0001)")


def test_the_side_of_zero_is_never_rounded_away(tell):
    near = {"difference": 1e-4, "lower": -2e-5, "upper": 2.2e-4, "p_adjusted": 0.1}
    (sentence,) = tell(scores(A=0.0, B=0.0), pairs=near)
    assert sentence.startswith("A and B do not differ")
    assert sentence.endswith("+0.0001 [−2e−05, +0.0002]")


def test_the_leader_is_that_of_the_means_however_the_pairs_add_up(tell):
    # The infinite difference would make every sum infinite; L6 has the best finite mean.
    rows = scores(**{f"L{index}": float(index) for index in range(7)})
    rows.loc[(rows["learner"] == "L0") & (rows["model"] == 3), "reward"] = -np.inf
    said = tell(rows)
    assert [sentence.split(" by ")[0] for sentence in said[:-1]] == [
        f"L6 beats L{index}" for index in (5, 4, 3, 2, 1)
    ]
    assert said[-1] == "L6 and L0 are not compared: infinite in 1 models"


def test_what_could_not_be_tested_is_not_said_to_be_level(tell):
    rows = scores(A=0.0, B=0.0)
    (said,) = tell(rows[rows["model"] == 0])
    assert said.endswith("are not compared: 1 model has both")
    one = rows[rows["learner"] == "A"]
    same = pd.concat([one.assign(learner=name) for name in "AB"])
    (said,) = tell(same)
    assert said.endswith("are identical in every model")
    (said,) = tell(same, models=40)
    assert said.endswith("are identical in all 30 models that both have")


def test_a_comparison_without_all_models_says_how_many_it_used(tell):
    (sentence,) = tell(scores(A=0.0, B=1.0), models=40)
    assert sentence.endswith("], over 30 of 40 models")
    (sentence,) = tell(scores(A=0.0, B=1.0), models=30)
    assert sentence.endswith("]")


def test_a_difference_that_is_rounding_error_is_zero_in_words(tell):
    near = {"difference": 2.2e-17, "lower": -0.01, "upper": 0.01, "p_adjusted": 1.0}
    (sentence,) = tell(scores(A=0.0, B=0.0), pairs=near)
    assert sentence.endswith("significantly: 0 [−0.0100, +0.0100]")


ESTIMATED = Overtaking("TAN", "NB", 50, 100, 72.4, 54.7, 91.2)


BRACKETED = Overtaking("TAN", "NB", 50, 100)


BACK = Overtaking("NB", "TAN", 100, 5000)


def course(*changes, **more):
    given = {"n": 40, "infinite": 0, "m": 9, "first_ahead": (25, 50), "second_ahead": (100, 5000)}
    return Course("NB", "TAN", **given | more, changes=changes)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        # The limits are rounded outwards.
        (course(ESTIMATED), "TAN overtakes NB between 50 and 100 rows, at about 72 [54, 92]"),
        (course(BRACKETED), "TAN overtakes NB between 50 and 100 rows"),
        (course(BACK), "NB overtakes TAN between 100 and 5,000 rows"),
        (
            course(first_ahead=()),
            "TAN is ahead of NB at 100 and 5,000 rows; NB is never significantly ahead",
        ),
        (
            course(first_ahead=(), second_ahead=tuple(range(100, 900, 100))),
            "TAN is ahead of NB at 8 sizes; NB is never significantly ahead",
        ),
        (
            course(first_ahead=(), second_ahead=()),
            "neither NB nor TAN is significantly ahead at any size",
        ),
        (
            course(infinite=2, m=0, note="not analysed: infinite values"),
            "NB and TAN: not analysed: infinite values",
        ),
        (
            course(ESTIMATED, BACK),
            "TAN overtakes NB between 50 and 100 rows, at about 72 [54, 92], and "
            "NB overtakes TAN between 100 and 5,000 rows",
        ),
    ],
)
def test_a_pair_has_one_sentence_as_it_was_found(make_findings, found, said):
    assert course_sentences(make_findings(models=40, courses=(found,))) == [said]


def test_a_pair_says_if_it_could_not_use_all_models(make_findings):
    (said,) = course_sentences(make_findings(models=40, courses=(course(BRACKETED, n=31),)))
    assert said.endswith(", over 31 of 40 models")


def test_the_method_names_the_tests_and_what_is_not_estimated(make_findings):
    family = {"pairwise": pd.DataFrame({"m": [9]}), "adjustment": "bonferroni_all"}
    said = crossing_method(make_findings(courses=(course(ESTIMATED),), **family))
    assert "Bonferroni-adjusted for m = 9 tests, all pairs at all sizes" in said
    assert "In brackets: intervals, adjusted likewise" in said
    assert "--refine" not in said
    far = Overtaking("TAN", "NB", 50, 500, note="a factor of 10: no estimate in between")
    said = crossing_method(make_findings(courses=(course(far),), **family))
    assert "In brackets" not in said
    assert "--refine adds sizes" in said
    assert crossing_method(make_findings(courses=(course(m=0),))) == ""
