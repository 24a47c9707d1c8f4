"""The Kullback-Leibler divergence from the true class posterior, and regret."""

import math
import warnings

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from simstudy.measures.scores.rewards import information_reward
from simstudy.measures.scores.truth import estimation, kl_divergence, regret, representation


def rows(seed):
    """Random predictions, classes and true posteriors, some of them with zeros."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 20)), int(rng.integers(2, 6))
    truth = rng.dirichlet(np.full(k, 0.5), n)
    truth[rng.random(n) < 0.3, 0] = 0
    truth /= truth.sum(axis=1, keepdims=True)
    return rng.dirichlet(np.ones(k), n), rng.integers(0, k, n), truth


seeds = st.integers(0, 2**32 - 1)


@given(seeds, st.sampled_from([math.e, 2, 10]))
def test_agrees_with_scipy(seed, base):
    proba, y, truth = rows(seed)
    expected = scipy.stats.entropy(truth, proba, base=base, axis=1)
    np.testing.assert_allclose(kl_divergence(proba, y, truth, base=base), expected, atol=1e-12)


@given(seeds, st.floats(0, 0.3), st.floats(0.4, 1), st.booleans())
def test_is_never_negative(seed, low, high, true):
    # Also of probabilities that clipping has left with other sums than 1, the truth's among them.
    proba, y, truth = rows(seed)
    clipped = np.clip(truth if true else proba, low, high)
    assert (kl_divergence(clipped, y, truth) >= 0).all()


@given(seeds, st.floats(0.001, 0.3), st.floats(0.4, 0.999))
def test_clipped_rows_are_normalised(seed, low, high):
    proba, y, truth = rows(seed)
    clipped = np.clip(proba, low, high)
    expected = [
        sum(
            t * math.log(t / (q / math.fsum(of_row)))
            for t, q in zip(true, of_row, strict=True)
            if t > 0
        )
        for true, of_row in zip(truth.tolist(), clipped.tolist(), strict=True)
    ]
    np.testing.assert_allclose(kl_divergence(clipped, y, truth), expected, rtol=1e-9, atol=1e-12)


@given(seeds)
def test_is_exactly_zero_at_the_truth(seed):
    _, y, truth = rows(seed)
    assert (kl_divergence(truth, y, truth) == 0).all()


def test_ternary_divergence_by_hand():
    # t = (1/2, 1/2, 0), q = (1/4, 1/2, 1/4): .5 log 2 + .5 log 1 + 0
    proba, truth = np.array([[0.25, 0.5, 0.25]]), np.array([[0.5, 0.5, 0.0]])
    assert kl_divergence(proba, np.array([0]), truth)[0] == pytest.approx(math.log(2) / 2)
    assert kl_divergence(proba, np.array([0]), truth, base=2)[0] == pytest.approx(0.5)


def test_impossible_class_costs_nothing_and_a_possible_one_called_impossible_everything():
    proba = np.array([[0.0, 1.0], [0.0, 1.0]])
    truth = np.array([[0.0, 1.0], [0.1, 0.9]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        divergence = kl_divergence(proba, np.array([1, 1]), truth)
    np.testing.assert_array_equal(divergence, [0, math.inf])


def test_the_class_drawn_does_not_matter():
    proba, _, truth = rows(1)
    n = len(proba)
    first = kl_divergence(proba, np.zeros(n, dtype=int), truth)
    np.testing.assert_array_equal(first, kl_divergence(proba, np.ones(n, dtype=int), truth))


@given(seeds, st.sampled_from(["mean", "sum"]))
def test_regret_and_its_parts_are_differences_of_the_reward_asked_for(seed, reward):
    proba, y, _ = rows(seed)
    n, k = proba.shape
    rng = np.random.default_rng(seed)
    prior, oracle, limit = rng.dirichlet(np.ones(k)), *rng.dirichlet(np.ones(k), (2, n))
    earned = [information_reward(q, y, prior, reward=reward) for q in (proba, limit, oracle)]
    context = {"prior": prior, "reward": reward}
    found = regret(proba, y, oracle=oracle, **context)
    lost = representation(proba, y, oracle=oracle, limit=limit, **context)
    to_learn = estimation(proba, y, limit=limit, **context)
    np.testing.assert_array_equal(found, earned[2] - earned[0])
    np.testing.assert_array_equal(lost, earned[2] - earned[1])
    np.testing.assert_array_equal(to_learn, earned[1] - earned[0])
    plain = regret(proba, y, prior=prior, oracle=oracle)
    factor = k if reward == "sum" else 1
    np.testing.assert_allclose(found, factor * plain, rtol=1e-9, atol=1e-12)


@given(seeds)
def test_regret_is_zero_for_the_truth_computed_in_another_way(seed):
    """Products in another order differ in the last place, and regret must not."""
    rng = np.random.default_rng(seed)
    factors = rng.uniform(0.1, 1, (6, 10, 3))
    forwards, backwards = np.prod(factors, axis=0), np.prod(factors[::-1], axis=0)
    truth, proba = (each / each.sum(axis=1, keepdims=True) for each in (forwards, backwards))
    y, prior = rng.integers(0, 3, 10), np.full(3, 1 / 3)
    assert (regret(proba, y, prior=prior, oracle=truth) == 0).all()
