"""Intervals for one test set: figures of R, of statsmodels, by brute force, and edge cases."""

import csv
import dataclasses
import gzip
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.metrics import roc_auc_score
from statsmodels.stats import contingency_tables
from statsmodels.stats.proportion import proportion_confint

from simstudy.measures import calibration
from simstudy.measures.base import Undefined, measure, score
from simstudy.measures.intervals import (
    bootstrap,
    delong,
    delong_difference,
    mcnemar,
    mcnemar_counts,
    wilson,
)
from simstudy.measures.scores import losses, rewards

pytestmark = pytest.mark.filterwarnings("error")
GOLDEN = Path(__file__).parents[1] / "golden" / "real"


def packed(name):
    with gzip.open(GOLDEN / name, "rt", encoding="utf-8") as file:
        return json.load(file)


WILSON = json.loads((GOLDEN / "intervals" / "wilson.json").read_text(encoding="utf-8"))
DELONG, MCNEMAR = packed("curves/auc.json.gz")["binary"], packed("intervals/mcnemar.json.gz")
CURVES = [(name, one) for name in DELONG for one in DELONG[name] if one != "paired_delong"]
DIFFERENCES = [(name, pair) for name in DELONG for pair in DELONG[name]["paired_delong"]]
PAIRS = [(name, pair) for name in MCNEMAR for pair in MCNEMAR[name]]


def answers(name, learner):
    with gzip.open(GOLDEN / "probs" / f"{learner}_{name}.csv.gz", "rt", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    classes = [column.removeprefix("p_") for column in header[2:]]
    proba = np.array([row[2:] for row in rows], dtype=np.float64)
    return proba, np.array([classes.index(row[1]) for row in rows])


def close(value):
    return pytest.approx(value, rel=1e-9, abs=1e-12)


# Wilson


@pytest.mark.parametrize("case", WILSON["cases"])
def test_wilson_is_that_of_r_and_of_statsmodels(case):
    found = wilson(case["successes"], case["n"], case["confidence"])
    assert (found.lower, found.upper) == close((case["lower"], case["upper"]))
    alpha = 1 - case["confidence"]
    second = proportion_confint(case["successes"], case["n"], alpha, method="wilson")
    assert (found.lower, found.upper) == close(second)
    assert found.value == case["successes"] / case["n"]
    assert found.confidence == case["confidence"]


@pytest.mark.parametrize("case", WILSON["witten_frank"])
def test_wilson_is_that_of_the_book(case):
    successes = case["f"] * case["N"]
    found = wilson(successes, case["N"], z=1.28)
    assert (found.lower, found.upper) == close(case["with_z_1.28"])
    assert [round(found.lower, 3), round(found.upper, 3)] == case["published"]
    assert found.confidence == pytest.approx(0.8, abs=1e-3)
    found = wilson(successes, case["N"], case["confidence"])
    assert (found.lower, found.upper) == close(case["with_exact_z"])


def test_quantiles_of_table_5_1():
    # Pr[X >= z]: .1, .5, 1, 5, 10, 20, 40 %; 1.645 is printed as 1.65
    tails = {0.001: 3.09, 0.005: 2.58, 0.01: 2.33, 0.05: 1.65, 0.1: 1.28, 0.2: 0.84, 0.4: 0.25}
    for tail, z in tails.items():
        assert norm.isf(tail) == pytest.approx(z, abs=0.0052)
        by_z, by_level = wilson(30, 40, z=norm.isf(tail)), wilson(30, 40, 1 - 2 * tail)
        assert dataclasses.astuple(by_z) == pytest.approx(dataclasses.astuple(by_level))


def test_limits_of_wilson_are_within_0_and_1():
    assert wilson(0, 5).lower == 0
    assert wilson(5, 5).upper == 1
    assert 0 < wilson(0, 1).upper < 1


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: wilson(0, 0), "n = 0 is not allowed"),
        (lambda: wilson(3, 2), "successes = 3 is not allowed; it must be from 0 to 2"),
        (lambda: wilson(-1, 2), "successes = -1"),
        (lambda: wilson(1, 2, 1.0), r"confidence = 1\.0 is not allowed"),
        (lambda: wilson(1, 2, z=0), "z = 0 is not allowed"),
        (lambda: delong([0.1, 0.2], [0, 1], confidence=0), "confidence = 0 is not allowed"),
        (lambda: delong([0.1, 0.2, 0.3], [0, 1]), "scores must be those of"),
        (lambda: mcnemar([True], [True, False]), "both learners must have the same rows"),
        (lambda: mcnemar_counts(-1, 2), "only_first = -1 is not allowed"),
        (lambda: bootstrap(losses.accuracy, [[1.0]], [0], samples=0), "samples = 0"),
    ],
)
def test_wrong_arguments_are_refused_in_a_sentence(call, complaint):
    with pytest.raises(ValueError, match=complaint):
        call()


# DeLong


@pytest.mark.parametrize(("name", "learner"), CURVES)
def test_delong_is_that_of_proc(name, learner):
    proba, y = answers(name, learner)
    expected = DELONG[name][learner]
    found = delong(proba, y, positive=0)
    assert (found.positives, found.negatives) == (expected["n_pos"], expected["n_neg"])
    assert found.value == close(expected["auc"])
    assert found.variance == close(expected["delong_var"])
    assert (found.lower, found.upper) == close(expected["ci95"])
    assert found.unclipped == close(expected["ci95_unclipped"])
    assert found.value == close(roc_auc_score(y == 0, proba[:, 0]))


@pytest.mark.parametrize(("name", "pair"), DIFFERENCES)
def test_differences_are_those_of_proc(name, pair):
    learners = pair.split("-")
    (first, y), (second, _) = (answers(name, learner) for learner in learners)
    expected = DELONG[name]["paired_delong"][pair]
    found = delong_difference(first, second, y, positive=0)
    assert found.z == close(expected["z"])
    assert found.p == close(expected["p"])
    assert found.covariance == close(expected["cov"])
    singles = [DELONG[name][learner] for learner in learners]
    assert found.auc == close(tuple(single["auc"] for single in singles))
    assert found.variances == close(tuple(single["delong_var"] for single in singles))
    assert found.z == pytest.approx(found.value / math.sqrt(found.variance))
    half = 1.959963984540054 * math.sqrt(found.variance)
    assert (found.lower, found.upper) == close((found.value - half, found.value + half))


def placements(scores, positive):
    """Shares of negatives below each positive and of positives above each negative."""
    up, down = scores[positive][:, None], scores[~positive][None]
    wins = (up > down) + 0.5 * (up == down)
    return wins.mean(axis=1), wins.mean(axis=0)


@given(st.integers(0, 2**32 - 1))
def test_delong_is_that_by_brute_force_with_ties(seed):
    rng = np.random.default_rng(seed)
    scores, positive = rng.integers(0, 6, (2, 20)) / 7, rng.permutation(20) < 8
    one, other = (placements(each, positive) for each in scores)
    cov = sum(np.cov(a, b) / len(a) for a, b in zip(one, other, strict=True))
    found = delong_difference(scores[0], scores[1], positive.astype(int))
    assert found.auc == pytest.approx((one[0].mean(), other[0].mean()))
    assert found.variances == pytest.approx((cov[0, 0], cov[1, 1]))
    assert found.covariance == pytest.approx(cov[0, 1])
    single = delong(scores[0], positive.astype(int))
    assert single.variance == pytest.approx(cov[0, 0])


def test_the_positive_class_is_the_rarer_unless_named():
    q = np.array([0.9, 0.2, 0.7, 0.4, 0.3])
    proba = np.column_stack([q, 1 - q])
    y = np.array([0, 1, 1, 0, 1])
    assert delong(proba, y) == delong(proba, y, positive=0)
    assert delong(proba, 1 - y) == delong(proba, 1 - y, positive=1)
    assert delong(proba[:4], y[:4]) == delong(proba[:4], y[:4], positive=1)
    assert delong(q, 1 - y) == delong(q, 1 - y, positive=1)
    three = np.column_stack([proba / 2, np.full(5, 0.5)])
    rest = delong(three, np.array([0, 1, 2, 0, 1]), positive=0)
    assert (rest.positives, rest.negatives) == (2, 3)


def test_what_does_not_exist_has_a_reason():
    scores = np.array([0.1, 0.5, 0.7])
    found = delong(scores, np.ones(3, dtype=int))
    for value in (found.value, found.variance, found.lower, found.upper, *found.unclipped):
        assert isinstance(value, Undefined)
        assert value.reason == "no row of the negative class"
    assert delong(scores, np.zeros(3, dtype=int)).value.reason == "no row of the positive class"
    found = delong(scores, np.array([0, 0, 1]))
    assert found.value == 1
    assert found.variance.reason == "only one row of the positive class"
    assert found.lower.reason == "only one row of the positive class"
    found = delong_difference(scores, scores, np.array([0, 0, 1]))
    for value in (found.value, found.z, found.p, found.lower):
        assert value.reason == "only one row of the positive class"


def test_learners_that_rank_alike_have_no_test():
    rng = np.random.default_rng(1)
    scores, y = rng.random(30), rng.integers(0, 2, 30)
    found = delong_difference(scores, scores**3, y)
    assert found.value == 0
    assert (found.lower, found.upper) == pytest.approx((0, 0), abs=1e-7)
    assert found.z.reason == found.p.reason == "the difference has no variance"


def test_constant_scores_and_perfect_ones():
    y = np.array([0, 0, 1, 1, 1])
    constant = delong(np.full(5, 0.5), y)
    assert (constant.value, constant.variance) == (0.5, 0)
    perfect = delong(np.arange(5.0), y)
    assert (perfect.value, perfect.lower, perfect.upper) == (1, 1, 1)


def test_delong_of_a_million_rows():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 1_000_000)
    scores = np.round(rng.normal(y, 2), 3)
    found = delong(scores, y)
    assert found.value == pytest.approx(roc_auc_score(y, scores), abs=1e-12)


def test_the_interval_covers_as_often_as_it_says():
    rng = np.random.default_rng(3)
    true = norm.cdf(1 / math.sqrt(2))
    covered = 0
    for _ in range(400):
        y = np.repeat([0, 1], 60)
        found = delong(rng.normal(y), y)
        covered += found.lower <= true <= found.upper
    assert 0.91 < covered / 400 < 0.98


# McNemar


@pytest.mark.parametrize(("name", "pair"), PAIRS)
def test_mcnemar_is_that_of_r_and_of_statsmodels(name, pair):
    expected = MCNEMAR[name][pair]
    right = []
    for learner in pair.split("-"):
        proba, y = answers(name, learner)
        right.append(losses.accuracy(proba, y) == 1)
    found = mcnemar(*right)
    counted = (expected["only_first_right"], expected["only_second_right"])
    assert (found.only_first, found.only_second) == counted
    assert found == mcnemar_counts(*counted) or sum(counted) == 0
    fields = {
        "statistic": "chi2",
        "p": "p",
        "statistic_corrected": "chi2_corrected",
        "p_corrected": "p_corrected",
        "p_exact": "p_exact",
    }
    for field, golden in fields.items():
        value = getattr(found, field)
        if expected[golden] is None:
            assert value.reason == "both learners are right in the same rows"
        else:
            assert value == close(expected[golden])
    if sum(counted):
        table = [[expected["both_right"], counted[0]], [counted[1], expected["both_wrong"]]]
        plain = contingency_tables.mcnemar(table, exact=False, correction=False)
        assert (found.statistic, found.p) == close((plain.statistic, plain.pvalue))
        assert found.p_exact == close(contingency_tables.mcnemar(table, exact=True).pvalue)
        if counted[0] != counted[1]:  # statsmodels corrects equal counts, R does not
            corrected = contingency_tables.mcnemar(table, exact=False, correction=True)
            assert found.statistic_corrected == close(corrected.statistic)
            assert found.p_corrected == close(corrected.pvalue)


def test_equal_counts_are_not_corrected():
    found = mcnemar_counts(3, 3)
    assert found.statistic_corrected == found.statistic == 0
    assert found.p_corrected == found.p == found.p_exact == 1


def test_the_exact_test_of_many_rows():
    from scipy.stats import binomtest

    for counted in ((5000, 5300), (0, 900), (1, 0)):
        expected = binomtest(counted[0], sum(counted)).pvalue
        assert mcnemar_counts(*counted).p_exact == pytest.approx(expected, rel=1e-9)


# Bootstrap


def test_bootstrap_of_a_mean_is_that_of_resampled_rows():
    rng = np.random.default_rng(4)
    q = rng.uniform(0, 1, 200)
    proba, y = np.column_stack([1 - q, q]), (rng.random(200) < q).astype(int)
    found = bootstrap(losses.accuracy, proba, y, samples=3000)
    assert found.value == score(losses.accuracy, proba, y)
    normal = math.sqrt(found.value * (1 - found.value) / 200)
    assert found.standard_error == pytest.approx(normal, rel=0.1)
    near = wilson(found.value * 200, 200)
    assert (found.lower, found.upper) == pytest.approx((near.lower, near.upper), abs=0.02)
    assert (found.samples, found.undefined, found.confidence) == (3000, 0, 0.95)


def test_limits_are_order_statistics():
    @measure(greater_is_better=True, over="set")
    def mean_of_first(proba, y):
        return proba[:, 0].mean()

    rng = np.random.default_rng(5)
    proba, y = rng.dirichlet(np.ones(2), 30), np.zeros(30, dtype=int)
    source = np.random.default_rng(7)
    draws = np.sort([proba[source.integers(0, 30, 30), 0].mean() for _ in range(200)])
    found = bootstrap(mean_of_first, proba, y, samples=200, confidence=0.9, rng=7)
    # ranks 10 and 190 of 200
    assert (found.lower, found.upper) == pytest.approx((draws[9], draws[189]))
    assert found.standard_error == pytest.approx(draws.std(ddof=1))


def test_bootstrap_agrees_with_delong():
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, 300)
    q = norm.cdf(rng.normal(y))
    proba = np.column_stack([1 - q, q])

    def auc(proba, y):
        return delong(proba[:, 1], y).value

    found, normal = bootstrap(auc, proba, y, samples=400), delong(q, y)
    assert (found.lower, found.upper) == pytest.approx((normal.lower, normal.upper), abs=0.015)


def test_draws_without_a_value_are_counted_and_left_out():
    def auc(proba, y):
        return delong(proba[:, 1], y).value

    q = np.array([0.2, 0.6, 0.4, 0.9])
    proba = np.column_stack([1 - q, q])
    found = bootstrap(auc, proba, np.array([0, 0, 0, 1]), samples=500)
    # the positive row is absent with probability (3/4)⁴ = .316, all draws are it with 4^-4
    assert found.undefined / 500 == pytest.approx(0.32, abs=0.06)
    assert found.lower == found.upper == 1
    found = bootstrap(auc, proba, np.zeros(4, dtype=int), samples=20)
    assert found.undefined == 20
    assert found.value.reason == "no row of the positive class"
    assert found.lower.reason == found.upper.reason == "no bootstrap sample has a value"


def test_what_belongs_to_rows_is_drawn_with_them():
    rng = np.random.default_rng(8)
    proba, truth = rng.dirichlet(np.ones(3), (2, 40))
    y = rng.integers(0, 3, 40)
    from simstudy.measures.scores.truth import kl_divergence

    found = bootstrap(kl_divergence, proba, y, truth=truth, samples=200)
    assert found.lower < found.value < found.upper
    same = bootstrap(kl_divergence, truth, y, truth=truth, samples=50)
    assert same.upper == pytest.approx(0, abs=1e-12)
    weights = (np.arange(40) < 3).astype(np.float64)
    few = bootstrap(losses.brier_score, proba, y, weights=weights, samples=300)
    assert few.undefined > 0  # no row of positive weight
    values = losses.brier_score(proba, y)[:3]
    assert values.min() - 1e-12 <= few.lower <= few.upper <= values.max() + 1e-12


def test_bootstrap_takes_parameters_and_prior_and_repeats_by_its_seed():
    rng = np.random.default_rng(9)
    proba, y = rng.dirichlet(np.ones(3), 50), rng.integers(0, 3, 50)
    prior = np.full(3, 1 / 3)
    one, other, third = (
        bootstrap(rewards.information_reward, proba, y, prior=prior, base=2, samples=50, rng=rng)
        for rng in (1, 1, 2)
    )
    assert one == other != third
    assert one.value == score(rewards.information_reward, proba, y, prior=prior, base=2)
    error = calibration.expected_calibration_error
    found = bootstrap(error, proba, y, bins=5, samples=50)
    assert found.value == error(proba, y, bins=5)


def test_infinite_losses_leave_no_standard_error():
    proba, y = np.array([[0.0, 1.0], [0.5, 0.5], [0.9, 0.1]]), np.array([0, 0, 0])
    found = bootstrap(losses.log_loss, proba, y, samples=200)
    assert found.upper == math.inf
    assert found.lower < math.inf
    assert "not all values are finite" in found.standard_error.reason


def test_results_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        wilson(1, 2).lower = 0
