"""Costs of decisions, by hand and by numerical integration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simstudy.measures import average_cost, cost, error_rate
from simstudy.measures.decisions.costs import least_cost_class

seeds = st.integers(0, 2**32 - 1)


@given(seeds)
def test_without_a_matrix_cost_is_the_error_rate_whatever_the_decision(seed):
    # Witten, Frank & Hall 2011, table 5.5: predicting a costs the first column times p, 1 − p_a.
    rng = np.random.default_rng(seed)
    proba, y = rng.dirichlet(np.ones(3), 30), rng.integers(0, 3, 30)
    proba = np.round(proba, 1)  # ties, and rows that do not sum to one
    np.testing.assert_array_equal(cost(proba, y), error_rate(proba, y))
    default = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    for decision in ("modal", "least_cost"):
        found = cost(proba, y, matrix=default, decision=decision)
        np.testing.assert_array_equal(found, error_rate(proba, y))


def test_rows_of_the_matrix_are_actual_classes():
    proba, y = np.array([[0.7, 0.3], [0.4, 0.6]]), np.array([1, 0])
    np.testing.assert_array_equal(cost(proba, y, matrix=[[0, 1], [5, 0]]), [5, 1])
    # Predicting 0 costs 5 · .3 = 1.5 expected, predicting 1 costs .7.
    least = cost(proba, y, matrix=[[0, 1], [5, 0]], decision="least_cost")
    np.testing.assert_array_equal(least, [0, 1])


@given(seeds, st.floats(0, 10), st.floats(-10, 0))
def test_a_mean_reward_for_correct_predictions_is_a_negative_cost(seed, reward, penalty):
    # Korb, Hope & Hughes 2001, equation 2: (reward·s + penalty·(n − s))/n for s of n right.
    rng = np.random.default_rng(seed)
    proba, y = rng.dirichlet(np.ones(3), 30), rng.integers(0, 3, 30)
    matrix = np.where(np.eye(3) == 1, -reward, -penalty)
    right = 30 - int(error_rate(proba, y).sum())
    expected = (reward * right + penalty * (30 - right)) / 30
    assert -cost(proba, y, matrix).mean() == pytest.approx(expected, abs=1e-12)


def test_the_matrix_is_the_third_argument():
    proba, y, matrix = np.array([[0.6, 0.4], [0.6, 0.4]]), np.array([0, 1]), [[0, 1], [5, 0]]
    np.testing.assert_array_equal(cost(proba, y, matrix), [0, 5])
    np.testing.assert_array_equal(cost(proba, y, np.array(matrix), decision="least_cost"), [1, 0])


def test_a_tie_of_expected_costs_goes_to_the_lowest_class():
    proba = np.array([[0.1, 0.2, 0.7], [0.7, 0.1, 0.2]])
    equal = np.array([[0.1, 0.1, 0.1], [0.7, 0.7, 0.7], [0.3, 0.3, 0.3]])
    np.testing.assert_array_equal(least_cost_class(proba, equal), [0, 0])
    # .1 + .2 exceeds .3 by rounding alone: both cost .3.
    both = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 3 / 7]])
    assert least_cost_class(proba[:1], both)[0] == 0


@pytest.mark.parametrize(
    "matrix",
    [[[0, 1]], [[0, 1, 2], [1, 0, 2], [1, 1, 0]], [[0, 1], [1]], [[0, np.nan], [1, 0]], [["a"]]],
)
def test_a_matrix_of_another_shape_is_refused_in_a_sentence(matrix):
    with pytest.raises(ValueError, match=r"matrix = .* is not allowed; it must have 2 rows of 2"):
        cost(np.eye(2), np.arange(2), matrix=matrix)


def test_an_unknown_decision_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match="decision = 'best' is not allowed; it must be one of 'mo"):
        cost(np.eye(2), np.arange(2), decision="best")


@given(seeds, st.floats(0, 0.9), st.floats(0.05, 1))
def test_average_cost_is_the_integral_over_cost_ratios(seed, low, width):
    high = min(low + width, 1.0)
    rng = np.random.default_rng(seed)
    q, y = rng.random(8), rng.integers(0, 2, 8)
    q[:2] = 0, 1
    proba = np.column_stack([1 - q, q])
    cells = 20_000  # midpoints
    c = low + (high - low) * (np.arange(cells) + 0.5) / cells
    wrong = np.where(y[:, None] == 1, (1 - c) * (q[:, None] <= c), c * (q[:, None] > c))
    found = average_cost(proba, y, low=low, high=high, positive=1)
    np.testing.assert_allclose(found, wrong.mean(axis=1), atol=1e-4)


@given(seeds)
def test_average_cost_over_all_ratios_is_half_the_squared_error(seed):
    rng = np.random.default_rng(seed)
    proba, y = rng.dirichlet(np.ones(3), 20), rng.integers(0, 3, 20)
    for one in range(3):
        expected = (proba[:, one] - (y == one)) ** 2 / 2
        np.testing.assert_allclose(average_cost(proba, y, positive=one), expected, atol=1e-15)
        np.testing.assert_array_equal(
            average_cost(proba, y, rarer=one), average_cost(proba, y, positive=one)
        )


def test_average_cost_outside_the_range_does_not_depend_on_the_probability():
    # q below low: never predicted positive; a positive row costs the mean of 1 − c, .5.
    proba = np.array([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9]])
    found = average_cost(proba, np.array([1, 0, 0]), low=0.4, high=0.6, positive=1)
    np.testing.assert_allclose(found, [0.5, 0, 0.5])


@pytest.mark.parametrize(
    ("low", "high", "name"), [(-0.1, 1, "low"), (1, 1, "low"), (0.5, 0.5, "high"), (0, 1.1, "high")]
)
def test_a_wrong_range_is_refused_in_a_sentence(low, high, name):
    with pytest.raises(ValueError, match=f"{name} = .* is not allowed; it must be"):
        average_cost(np.eye(2), np.arange(2), low=low, high=high)
