"""Tests on one data set agree with R, Weka, scipy and statsmodels, and obey laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.weightstats import ttest_ind

from simstudy.analysis.tests.bayesian import correlated_bayes
from simstudy.analysis.tests.resampled import (
    corrected_t,
    five_by_two_f,
    five_by_two_t,
    naive_t,
    unpaired_t,
)

pytestmark = pytest.mark.filterwarnings("error")

scores = st.integers(-40, 40).map(lambda value: value / 40)
lists = st.lists(scores, min_size=2, max_size=12)
five_by_two = st.lists(scores, min_size=10, max_size=10).map(lambda d: np.reshape(d, (5, 2)))
factors = st.sampled_from([1e-200, 1e-6, 0.1, 3.0, 1e6, 1e200])


def alike(one, other, sign=1):
    """Whether two outcomes have the same p, and statistics that differ by a sign at most."""
    if one.reason or other.reason:
        return bool(one.reason) and one.reason == other.reason
    return one.statistic == pytest.approx(sign * other.statistic, rel=1e-6) and (
        one.p == pytest.approx(other.p, rel=1e-6, abs=1e-15)
    )


# Figures


def test_the_books_worked_quantiles_come_out():
    # Witten, Frank & Hall (2011), table 5.2: t with 9 degrees of freedom has 1% above 2.82. Ten
    # differences with mean 1 and variance s² = 10/2.82² have t = 2.82.
    spread = np.array([-1, 1] * 5) * math.sqrt(10 / 2.82**2 * 9 / 10)
    assert naive_t(1 + spread).statistic == pytest.approx(2.82)
    assert naive_t(1 + spread).p == pytest.approx(0.02, abs=1e-4)


def test_hundred_differences_count_as_hundred():
    # The text of the book has 10 in place of 100: √((1/10 + 1/9)/(1/100 + 1/9)) is 1.3203.
    differences = np.random.default_rng(1).normal(0.1, 1, 100)
    found = corrected_t(differences, 0.1)
    assert found.df == 99
    se = math.sqrt((1 / 10 + 1 / 9) * differences.var(ddof=1))
    assert found.statistic / (differences.mean() / se) == pytest.approx(1.3203, abs=1e-4)


# Second oracles


def test_the_naive_t_is_scipys():
    differences = np.random.default_rng(2).normal(0.2, 1, 25)
    expected = stats.ttest_1samp(differences, 0.0)
    found = naive_t(differences, confidence=0.9)
    assert tuple(found) == pytest.approx((expected.statistic, expected.pvalue))
    assert (found.lower, found.upper) == pytest.approx(tuple(expected.confidence_interval(0.9)))


# Laws


@given(five_by_two, factors)
def test_swapping_changes_the_sign_and_scaling_nothing_in_five_by_two(d, factor):
    assert alike(five_by_two_t(-d), five_by_two_t(d), -1)
    assert alike(five_by_two_t(d * factor), five_by_two_t(d))
    assert alike(five_by_two_f(-d), five_by_two_f(d))
    assert alike(five_by_two_f(d * factor), five_by_two_f(d))
    assert alike(five_by_two_f(d[::-1, ::-1]), five_by_two_f(d))


@given(lists, factors, st.sampled_from([0.1, 0.5]))
def test_swapping_changes_the_sign_and_scaling_nothing_in_t_tests(d, factor, share):
    values = np.array(d)
    for test in (naive_t, lambda each: corrected_t(each, share)):
        assert alike(test(-values), test(values), -1)
        assert alike(test(values * factor), test(values))
        assert alike(test(values[::-1]), test(values))


@given(lists, st.sampled_from([0.01, 0.1, 0.5]))
def test_the_naive_t_is_more_optimistic_than_the_corrected_one(d, share):
    naive, corrected = naive_t(d), corrected_t(d, share)
    assert naive.reason or naive.p <= corrected.p
    assert corrected.n == len(d)


# What has no test


def test_equal_differences_up_to_rounding_have_no_spread():
    constant = np.array([0.9, 0.8, 0.7, 0.6, 0.5]) - np.array([0.8, 0.7, 0.6, 0.5, 0.4])
    assert np.ptp(constant) > 0
    for found in (naive_t(constant), corrected_t(constant, 0.1)):
        assert (found.statistic, found.p, found.se) == (math.inf, 0.0, 0.0)
    pairs = np.stack([constant, constant[::-1]], axis=1)
    assert tuple(five_by_two_t(-pairs)) == (-math.inf, 0.0)
    assert tuple(five_by_two_f(pairs)) == (math.inf, 0.0)


@pytest.mark.parametrize(
    ("differences", "reason"),
    [
        ([0.0] * 10, "all differences are 0"),
        ([0.1] * 9 + [math.nan], "1 of 10 differences without a finite value"),
        ([0.1] * 8 + [math.inf, -math.inf], "2 of 10 differences without a finite value"),
    ],
)
def test_what_cannot_be_tested_has_a_reason(differences, reason):
    tests = [naive_t(differences), corrected_t(differences, 0.1)]
    tests += [test(np.reshape(differences, (5, 2))) for test in (five_by_two_t, five_by_two_f)]
    for found in tests:
        assert found.reason == reason
        assert all(math.isnan(value) for value in found)


def test_too_few_values_have_a_reason():
    for values, reason in (([], "no differences"), ([0.1], "fewer than 2 differences")):
        assert naive_t(values).reason == corrected_t(values, 0.1).reason == reason
    # The first difference is 0, and the others, though not 0, do not vary within repeats.
    still = five_by_two_t([[0, 0], [0.1, 0.1], [0, 0], [0, 0], [0, 0]])
    assert still.reason == "the difference is 0, and none varies within repeats"
    moved = five_by_two_t([[0.1, 0.1], [0, 0], [0, 0], [0, 0], [0, 0]])
    assert moved.statistic == math.inf


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match=r"shape \(5, 2\), not \(10,\)"):
        five_by_two_t(np.zeros(10))
    with pytest.raises(ValueError, match="test_share is 1"):
        corrected_t([0.1, 0.2], 1)
    with pytest.raises(ValueError, match="confidence is 95"):
        naive_t([0.1, 0.2], confidence=95)


def test_differences_may_have_repeats_and_folds():
    values = np.array([[0.1, 0.2], [0.0, 0.3], [-0.1, 0.1]])
    assert corrected_t(values, 0.5) == corrected_t(values.ravel(), 0.5)
    assert naive_t(values) == naive_t(values.ravel())
    assert correlated_bayes(values, 0.5, 0.01) == correlated_bayes(values.ravel(), 0.5, 0.01)


def test_the_unpaired_t_has_welchs_statistic_and_the_smaller_degrees_of_freedom():
    rng = np.random.default_rng(3)
    first, second = rng.normal(0.3, 1, 9), rng.normal(0, 3, 14)
    outcome = unpaired_t(first, second)
    t, p, df = ttest_ind(first, second, usevar="unequal")
    assert outcome.statistic == pytest.approx(t)
    assert outcome.df == 8 < df
    assert outcome.p == pytest.approx(2 * stats.t.sf(abs(t), 8))
    assert outcome.p > p
    half = stats.t.ppf(0.975, 8) * outcome.se
    assert (outcome.lower, outcome.upper) == pytest.approx(
        (outcome.difference - half, outcome.difference + half)
    )


def test_independent_samples_without_spread_have_no_finite_t():
    assert tuple(unpaired_t([0.3, 0.3], [0.1, 0.1])) == (math.inf, 0.0)
    assert unpaired_t([0.3, 0.3], [0.3, 0.3]).reason
    assert "values of the second" in unpaired_t([1.0, 2.0], [math.nan, 1.0]).reason
