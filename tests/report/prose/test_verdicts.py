"""The words claim what the table supports, and nothing more."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from simstudy import make_study
from simstudy.measures.base import MeasureInfo
from simstudy.report.prose import captions
from simstudy.report.prose.design import conventions, parameters
from simstudy.report.prose.phrases import axis_label
from simstudy.report.prose.statements import method, statements
from simstudy.report.prose.verdicts import verdicts
from simstudy.report.tables.findings import means

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
    assert sentence.endswith("(p < .0001)")


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


def test_the_bands_say_what_they_are_adjusted_for(make_findings):
    def caption(adjustment, **options):
        pairs = pd.DataFrame({"m": [36]})
        findings = make_findings(courses=(), pairwise=pairs, adjustment=adjustment)
        return captions.differences(findings, **options)

    said = caption("bonferroni_all")
    assert "Bonferroni-adjusted for m = 36 tests, all pairs at all sizes; where it excludes" in said
    assert "m = " not in caption("bonferroni_all", alone=False)
    said = caption("holm", alone=False)
    assert "Bonferroni-adjusted for m = 36 pairs at each size" in said
    assert "Holm's method, which decides, has no intervals" in said


@pytest.mark.parametrize(
    ("info", "label"), [(REWARD, "reward (nats)"), (LOSS, "loss (lower is better)")]
)
def test_a_label_says_the_unit_and_the_direction(info, label):
    assert axis_label(info) == label


def test_a_comparison_without_all_models_says_how_many_it_used(tell):
    (sentence,) = tell(scores(A=0.0, B=1.0), models=40)
    assert sentence.endswith("], over 30 of 40 models")
    (sentence,) = tell(scores(A=0.0, B=1.0), models=30)
    assert sentence.endswith("]")


def study(**measures):
    return make_study(
        {
            "name": "tiny",
            "family": {"name": "tan"},
            "learners": [{"name": "prior"}],
            "measures": measures,
        }
    )


def test_the_effect_of_size_is_said_to_include_that_of_the_prior(make_findings):
    def said(measure="information_reward", sizes=(50, 500), **measures):
        findings = make_findings(sizes=sizes)
        object.__setattr__(findings, "measure", measure)
        return captions.size_effect(findings, study(**measures))

    assert "the effect of size includes that" in said()
    assert said(prior="test") == ""
    assert said(sizes=[50]) == ""
    assert said(measure="accuracy") == ""


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


def covered(make_findings, values):
    """Findings on shares of two learners."""
    table = pd.DataFrame(
        {"model": model, "size": 50, "learner": learner, "reward": value}
        for learner, own in values.items()
        for model, value in enumerate(own)
    )
    return replace(make_findings(table), info=MeasureInfo(True, label="coverage", share=True))


def test_shares_have_brackets_and_the_names_of_their_tests(make_findings):
    findings = covered(make_findings, {"A": [1.0] * 19 + [0.0], "B": [1.0] * 8 + [0.0] * 12})
    table = means(findings)
    low, high = proportion_confint(19, 20, 0.05 / 2, "beta")
    assert table.rows[0][1].text == "0.9500"
    assert table.rows[0][1].more == f"[{low:.4f}, {high:.4f}]"
    assert "±" not in table.caption
    assert "95% Clopper–Pearson intervals between models" in table.caption
    sentences = [*captions.reading(findings), *statements(findings), method(findings)]
    text = " ".join([table.caption, *sentences])
    assert "xact McNemar tests over 20 models" in text
    assert " t " not in text
    (sentence,) = verdicts(findings)[50]
    assert sentence.startswith("A beats B by +0.5500 [+0.")


def test_shares_of_several_trials_are_compared_by_t_tests(make_findings):
    findings = covered(make_findings, {"A": [0.25, 0.5, 0.75, 1.0], "B": [0.5, 0.25, 0.5, 0.0]})
    assert "aired t tests (sign tests where all differences are equal)" in method(findings)


def test_a_difference_that_is_rounding_error_is_zero_in_words(tell):
    near = {"difference": 2.2e-17, "lower": -0.01, "upper": 0.01, "p_adjusted": 1.0}
    (sentence,) = tell(scores(A=0.0, B=0.0), pairs=near)
    assert sentence.endswith("significantly: 0 [−0.0100, +0.0100]")


def test_few_models_are_said_with_the_coverage_that_was_measured(make_findings):
    def note(models, **options):
        row = {"size": 50, "first": "A", "second": "B", "n": models, "difference": 0.1}
        row |= {"lower": -0.1, "upper": 0.3, "p_adjusted": 0.5, "m": 1, "infinite": 0}
        return captions.few_models(make_findings(pairwise=pd.DataFrame([row]), **options))

    assert note(60) == []
    (text,) = note(25)
    assert text.startswith("25 models are few: below 60, do not rely on intervals and tests of")
    assert "with 20 models, 95% intervals of all pairs at all sizes by information reward" in text
    assert "held together in 68 to 94% of studies" in text
    assert "fewer than 10 models were not examined" in note(4)[0]


def test_the_coverage_that_pages_state_is_that_of_the_benchmark():
    text = (Path(__file__).parents[3] / "benchmarks" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \| t \|.*\| ([.\d, ]+) \| 1.00, 1.00, 1.00 \|$", text, re.M)
    assert len(rows) == 8
    together = [[round(100 * float(share)) for share in shares.split(", ")] for _, shares in rows]
    for models, column in zip((10, 20, 40), zip(*together, strict=True), strict=True):
        assert captions.COVERED[models] == (min(column), max(column))
