"""Bayesian comparisons agree with baycomp, with closed forms, and obey laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from simstudy.analysis.tests.bayesian import correlated_bayes, signed_rank_bayes
from simstudy.analysis.tests.resampled import corrected_t

pytestmark = pytest.mark.filterwarnings("error")
lists = st.lists(st.integers(-40, 40).map(lambda value: value / 40), min_size=2, max_size=12)


@given(lists, st.sampled_from([0.1, 0.5]), st.sampled_from([0.0, 0.05]))
def test_swapping_and_scaling_in_the_correlated_t(d, share, rope):
    values = np.array(d)
    one, other = (correlated_bayes(each, share, rope) for each in (values, -values))
    assert one.reason == other.reason
    if one.reason:
        return
    assert tuple(one) == pytest.approx(tuple(other)[::-1], abs=1e-12)
    assert sum(one) == pytest.approx(1)
    scaled = correlated_bayes(7 * values, share, 7 * rope)
    assert tuple(scaled) == pytest.approx(tuple(one), abs=1e-9)
    if rope == 0 and one.scale > 0:
        # Without a rope the smaller probability is half of the two-sided p.
        assert 2 * min(tuple(one)[::2]) == pytest.approx(corrected_t(values, share).p, abs=1e-12)


@given(lists, st.sampled_from([0.0, 0.05]))
def test_swapping_and_scaling_in_signed_ranks(d, rope):
    values = np.array(d)
    options = {"draws": 500}
    one, other = (signed_rank_bayes(each, rope, **options) for each in (values, -values))
    assert one.reason == other.reason
    if one.reason:
        return
    assert tuple(one) == pytest.approx(tuple(other)[::-1])
    scaled = signed_rank_bayes(4 * values, 4 * rope, **options)
    assert tuple(scaled) == pytest.approx(tuple(one))


def test_the_error_is_that_of_the_least_certain_probability():
    found = signed_rank_bayes([-0.007, -0.007, 0.12, 0.027, -0.02, 0.033], 0.01, draws=1000)
    p = max(found, key=lambda each: each * (1 - each))
    assert found.mcse == pytest.approx(math.sqrt(p * (1 - p) / 1000))


def test_the_draws_are_of_theta():
    # Two data sets, d = 1 and -1/2, prior ½ at 0, no rope: pairs with a positive sum are (1, 1),
    # (1, 0) and (1, -1/2), so θ = w₁² + 2 w₁ (w₀ + w₂) + w₀²/2 = 1 − (1 − w₁)² + w₀²/2 with
    # Dirichlet(½, 1, 1).
    weights = stats.dirichlet([0.5, 1, 1]).rvs(400_000, random_state=1)
    theta = 1 - (1 - weights[:, 1]) ** 2 + weights[:, 0] ** 2 / 2
    found = signed_rank_bayes([1.0, -0.5], 0)
    assert found.p_first_better == pytest.approx((theta > 0.5).mean(), abs=0.005)


def test_equal_differences_are_a_point():
    assert tuple(correlated_bayes([0.02] * 4, 0.1, 0.01)) == (1.0, 0.0, 0.0)
    assert tuple(correlated_bayes([0.02] * 4, 0.1, 0.03)) == (0.0, 1.0, 0.0)


def test_equal_learners_are_equivalent_if_there_is_a_region():
    equal = np.full((5, 2), 0.8)
    assert tuple(signed_rank_bayes(equal, 0.01)) == (0.0, 1.0, 0.0)
    assert signed_rank_bayes(equal, 0).reason == "all differences are 0"


@pytest.mark.parametrize(
    ("values", "reason"),
    [([0.1], "fewer than 2 {}"), ([0.1, math.nan], "1 of 2 {} without a finite value")],
)
def test_what_has_no_posterior_has_a_reason(values, reason):
    for found, noun in (
        (correlated_bayes(values, 0.1, 0.01), "differences"),
        (signed_rank_bayes(values, 0.01), "data sets"),
    ):
        assert found.reason == reason.format(noun)
        assert all(math.isnan(value) for value in found)


def test_wrong_arguments_are_refused():
    for rope in (-0.01, math.nan, math.inf):
        with pytest.raises(ValueError, match="rope is"):
            correlated_bayes([0.1, 0.2], 0.1, rope)
        with pytest.raises(ValueError, match="rope is"):
            signed_rank_bayes([0.1, 0.2], rope)
    with pytest.raises(ValueError, match="test_share is 0"):
        correlated_bayes([0.1, 0.2], 0, 0.01)
    with pytest.raises(ValueError, match="draws is 0; it must be at least 1"):
        signed_rank_bayes([0.1, 0.2], 0.01, draws=0)
