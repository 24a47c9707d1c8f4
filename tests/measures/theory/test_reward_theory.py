"""What Hope & Korb prove about information rewards, as identities and optima."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simstudy.measures.base import clip, score
from simstudy.measures.scores.rewards import (
    good_reward,
    information_reward,
    information_reward_2002,
    kononenko_bratko,
)
from simstudy.measures.theory.reward_theory import (
    cumulative_reward_2002,
    expected_information_reward,
    expected_reward_2002,
    log_products,
    optimal_report_2002,
    ranking_reverses,
    uniform_reward_2002,
)

BETWEEN = st.floats(0.01, 0.99)


@st.composite
def binary(draw):
    n = draw(st.integers(1, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    q = rng.uniform(0.01, 0.99, n)
    return np.column_stack([1 - q, q]), rng.integers(0, 2, n)


# 2002


@given(binary(), BETWEEN)
def test_lemma_1_the_cumulative_reward(rows, prior):
    proba, y = rows
    total = information_reward_2002(proba, y, np.array([1 - prior, prior])).sum()
    found = cumulative_reward_2002(*log_products(proba, y), len(y), prior)
    assert found == pytest.approx(total, abs=1e-9)
    # w, x, y and z as the lemma defines them, from the class predicted and its probability
    predicted, p = proba.argmax(axis=1), proba.max(axis=1)
    w = p[(predicted == 1) & (y == 1)].prod()
    z = (1 - p[(predicted == 0) & (y == 1)]).prod()
    x = (1 - p[(predicted == 1) & (y == 0)]).prod()
    tn = p[(predicted == 0) & (y == 0)].prod()
    log_wz, log_xy = log_products(proba, y)
    assert log_wz == pytest.approx(math.log(w * z), abs=1e-9)
    assert log_xy == pytest.approx(math.log(x * tn), abs=1e-9)
    swapped = log_products(proba, 1 - y, positive=0)
    assert swapped == pytest.approx(log_products(proba[:, ::-1], y), abs=1e-12)


@given(binary())
def test_lemma_2_the_uniform_reward_is_goods(rows):
    proba, y = rows
    found = uniform_reward_2002(sum(log_products(proba, y)), len(y))
    assert found == pytest.approx(good_reward(proba, y).sum(), abs=1e-9)
    uniform = np.array([0.5, 0.5])
    assert found == pytest.approx(information_reward_2002(proba, y, uniform).sum(), abs=1e-9)
    halves = cumulative_reward_2002(*log_products(proba, y), len(y), 0.5)
    assert found == pytest.approx(halves, abs=1e-9)


def test_thesis_1_a_prior_can_reverse_a_ranking():
    # w1z1 = .6, w2z2 = .5, x1y1 = .3, x2y2 = .7, p' = .8
    wz, xy = (math.log(0.6), math.log(0.5)), (math.log(0.3), math.log(0.7))
    uniform = [uniform_reward_2002(a + b, 0) for a, b in zip(wz, xy, strict=True)]
    assert uniform == pytest.approx([-2.474, -1.515], abs=5e-4)
    rewards = [cumulative_reward_2002(a, b, 0, 0.8) for a, b in zip(wz, xy, strict=True)]
    assert rewards == pytest.approx([-3.037, -3.328], abs=5e-4)
    assert uniform[0] < uniform[1]
    assert rewards[0] > rewards[1]
    assert ranking_reverses(wz, xy, 0.8)
    assert not ranking_reverses(wz, xy, 0.5)


def test_a_lazy_expert_earns_goods_reward():
    # Hope & Korb 2004: who always predicts the prior of .9 earns .531 bits.
    proba, y = np.tile([0.9, 0.1], (10, 1)), np.array([0] * 9 + [1])
    assert score(good_reward, proba, y) == pytest.approx(0.531, abs=5e-4)


def test_a_perfect_learner_on_mushrooms():
    # Hope & Korb 2002, tables 4 and 6: half of 4208 edible and 3916 poisonous mushrooms train.
    # Perfect predictions, cut off, earn .6926 nats by KB, about the entropy of the prior, and
    # .9998 by the reward of 2002.
    counts = np.array([2104, 1958])
    n, prior = counts.sum(), (counts + 0.5) / (counts.sum() + 1)
    proba, y = clip(np.eye(2), "mml", n), np.array([0, 1])
    kb = score(kononenko_bratko, proba, y, prior=prior, weights=counts)
    assert kb == pytest.approx(0.69259, abs=3e-4)
    entropy = -(prior * np.log(prior)).sum()
    assert kb == pytest.approx(entropy + math.log((n + 0.5) / (n + 1)), abs=1e-5)
    reward = score(information_reward_2002, proba, y, prior=prior, weights=counts)
    assert reward == pytest.approx(0.99982, abs=5e-6)


# 2004


def test_theorem_1_the_best_report_is_not_the_frequency():
    assert optimal_report_2002(0.5, 0.1) == pytest.approx(0.0438, abs=5e-5)
    reports = np.linspace(0.0001, 0.9999, 9999)
    rewards = [expected_reward_2002(report, 0.5, 0.1) for report in reports]
    assert reports[np.argmax(rewards)] == pytest.approx(0.0438, abs=1e-4)
    assert optimal_report_2002(0.3, 0.5) == pytest.approx(0.3)
    assert optimal_report_2002(0.0, 0.1) == 0
    assert optimal_report_2002(1.0, 0.1) == 1


@given(BETWEEN, BETWEEN, BETWEEN)
def test_no_report_earns_more_than_the_optimum(report, frequency, prior):
    best = optimal_report_2002(frequency, prior)
    greatest = expected_reward_2002(best, frequency, prior)
    assert expected_reward_2002(report, frequency, prior) <= greatest + 1e-12
    # equation 9
    left = frequency * (1 - best) / (best * (1 - frequency))
    assert left == pytest.approx(math.log(prior) / math.log1p(-prior))


@given(BETWEEN, BETWEEN, BETWEEN)
def test_truth_telling_is_optimal_for_equation_10(report, frequency, prior):
    honest = expected_information_reward(frequency, frequency, prior)
    assert expected_information_reward(report, frequency, prior) <= honest + 1e-12


@given(BETWEEN, BETWEEN, BETWEEN)
def test_expected_rewards_are_those_of_the_measures(report, frequency, prior):
    proba, y = np.array([[1 - report, report]] * 2), np.array([1, 0])
    priors, weights = np.array([1 - prior, prior]), np.array([frequency, 1 - frequency])
    found = score(information_reward_2002, proba, y, prior=priors, weights=weights)
    assert expected_reward_2002(report, frequency, prior) == pytest.approx(found, abs=1e-9)
    found = score(information_reward, proba, y, prior=priors, weights=weights)
    assert expected_information_reward(report, frequency, prior) == pytest.approx(found, abs=1e-9)


def test_figure_1_of_2004():
    # .8 for the true class, the others even, uniform prior of three classes: .4919 nats
    reward = information_reward(np.array([[0.8, 0.1, 0.1]]), np.array([0]), np.full(3, 1 / 3))
    assert reward == pytest.approx([0.4919], abs=5e-5)


@pytest.mark.parametrize("wrong", [0, 1, -0.1, math.nan])
def test_reports_and_priors_are_strictly_between_0_and_1(wrong):
    for call in (
        lambda: cumulative_reward_2002(-1, -1, 2, wrong),
        lambda: expected_reward_2002(0.5, 0.5, wrong),
        lambda: expected_reward_2002(wrong, 0.5, 0.5),
        lambda: expected_information_reward(wrong, 0.5, 0.5),
        lambda: optimal_report_2002(0.5, wrong),
    ):
        with pytest.raises(ValueError, match="must be between 0 and 1"):
            call()
    with pytest.raises(ValueError, match=r"frequency = 1\.5 is not allowed"):
        optimal_report_2002(1.5, 0.5)
