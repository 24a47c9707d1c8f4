"""Accuracy, log loss and Brier score, by hand and against scikit-learn."""

import math
import warnings

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

from simstudy.measures.base import score
from simstudy.measures.decisions.confusion import error_rate
from simstudy.measures.scores.losses import accuracy, brier_score, log_loss

seeds = st.integers(0, 2**32 - 1)


def draw(seed):
    """Random predictions and classes; every class occurs, as scikit-learn likes it."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 6))
    n = k + int(rng.integers(0, 40))
    y = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    return rng.dirichlet(np.ones(k), n), y


@given(seeds)
def test_log_loss_agrees_with_scikit_learn(seed):
    proba, y = draw(seed)
    assert log_loss(proba, y).mean() == pytest.approx(sklearn.metrics.log_loss(y, proba))


@given(seeds)
def test_accuracy_agrees_with_scikit_learn(seed):
    proba, y = draw(seed)
    expected = sklearn.metrics.accuracy_score(y, proba.argmax(axis=1))
    assert accuracy(proba, y).mean() == pytest.approx(expected)


@given(seeds)
def test_weighted_losses_agree_with_scikit_learn(seed):
    proba, y = draw(seed)
    weights = np.random.default_rng(seed).integers(0, 4, len(y)) + (y == y[0])
    common = {"sample_weight": weights}
    found = score(log_loss, proba, y, weights=weights)
    labels = range(proba.shape[1])
    theirs = sklearn.metrics.log_loss(y, proba, labels=labels, **common)
    assert found == pytest.approx(theirs)
    found = score(accuracy, proba, y, weights=weights)
    assert found == pytest.approx(sklearn.metrics.accuracy_score(y, proba.argmax(1), **common))
    found = score(error_rate, proba, y, weights=weights)
    assert found == pytest.approx(sklearn.metrics.zero_one_loss(y, proba.argmax(1), **common))
    truth = np.eye(proba.shape[1])[y]
    squares = sklearn.metrics.mean_squared_error(truth, proba, **common) * proba.shape[1]
    assert score(brier_score, proba, y, weights=weights) == pytest.approx(squares)


@pytest.mark.parametrize(("right", "rows", "printed"), [(109, 143, 0.7622378), (23, 28, 0.8214286)])
def test_accuracies_of_one_half_of_breast_cancer_and_labor(right, rows, printed):
    # Hope & Korb 2002, table 2: what is printed is the accuracy of one fold of half the rows.
    proba, y = np.tile([0.6, 0.4], (rows, 1)), (np.arange(rows) >= right).astype(int)
    assert score(accuracy, proba, y) == pytest.approx(printed, abs=5e-8)


@given(seeds)
def test_brier_score_is_the_plain_sum_of_squares(seed):
    proba, y = draw(seed)
    expected = [
        sum((q - (j == c)) ** 2 for j, q in enumerate(row)) for row, c in zip(proba, y, strict=True)
    ]
    np.testing.assert_allclose(brier_score(proba, y), expected)


@given(seeds)
def test_brier_score_of_two_classes_is_twice_scikit_learn_s(seed):
    rng = np.random.default_rng(seed)
    q, y = rng.random(20), np.arange(20) % 2
    half = sklearn.metrics.brier_score_loss(y, q)
    assert brier_score(np.column_stack([1 - q, q]), y).mean() == pytest.approx(2 * half)


def test_losses_of_one_ternary_prediction_by_hand():
    proba, y = np.array([[0.25, 0.5, 0.25]]), np.array([0])
    assert log_loss(proba, y)[0] == pytest.approx(math.log(4))  # -log(1/4)
    assert log_loss(proba, y, base=2)[0] == pytest.approx(2)
    assert brier_score(proba, y)[0] == pytest.approx(0.875)  # .75² + .5² + .25²
    assert accuracy(proba, y)[0] == 0


@given(seeds)
def test_expected_losses_are_least_at_the_true_probabilities(seed):
    # Witten, Frank & Hall 2011, section 5.6: the quadratic loss is expected to be
    # Σ_j (q_j − p_j)² + p_j (1 − p_j), the informational loss at q = p the entropy.
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 6))
    p, q, classes = rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(k)), np.arange(k)
    quadratic = p @ brier_score(np.tile(q, (k, 1)), classes)
    assert quadratic == pytest.approx(((q - p) ** 2 + p * (1 - p)).sum())
    informational = p @ log_loss(np.tile(q, (k, 1)), classes, base=2)
    least = p @ log_loss(np.tile(p, (k, 1)), classes, base=2)
    assert least == pytest.approx(-(p * np.log2(p)).sum())
    assert informational >= least


def test_a_fair_coin_costs_one_bit():
    # Witten, Frank & Hall 2011, section 5.6: -log2(1/2) = 1.
    assert log_loss(np.array([[0.5, 0.5]]), np.array([1]), base=2)[0] == 1


def test_brier_score_is_least_when_the_rest_is_spread_evenly():
    # Witten, Frank & Hall 2011, section 5.6: 40% on the class that came up, three others.
    # .36 + 3 * .04 = .48 spread evenly; .36 + .36 = .72 all on one.
    even = brier_score(np.array([[0.4, 0.2, 0.2, 0.2]]), np.array([0]))[0]
    heaped = brier_score(np.array([[0.4, 0.6, 0.0, 0.0]]), np.array([0]))[0]
    assert even == pytest.approx(0.48)
    assert heaped == pytest.approx(0.72)


def test_brier_score_runs_from_0_to_2():
    proba = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    np.testing.assert_array_equal(brier_score(proba, np.array([0, 2])), [0, 2])


def test_brier_score_leaves_the_probabilities_alone():
    proba = np.array([[0.25, 0.75]])
    brier_score(proba, np.array([0]))
    np.testing.assert_array_equal(proba, [[0.25, 0.75]])


def test_accuracy_gives_a_tie_to_the_lowest_class():
    proba = np.array([[0.4, 0.4, 0.2]] * 3)
    np.testing.assert_array_equal(accuracy(proba, np.array([0, 1, 2])), [1, 0, 0])


def test_log_loss_is_infinite_for_an_impossible_truth_and_zero_for_a_certain_one():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loss = log_loss(np.array([[0.0, 1.0], [0.0, 1.0]]), np.array([0, 1]))
    assert loss[0] == math.inf
    assert loss[1] == 0
    assert not np.signbit(loss[1])
