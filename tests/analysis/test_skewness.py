import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from simstudy.analysis.skewness import reach, skewness, student_t


def test_skewness_is_that_of_scipy_without_missing_values():
    values = np.random.default_rng(1).gamma(2, size=(12, 5))
    values[[0, 3, 4], [1, 1, 2]] = np.nan
    expected = stats.skew(values, axis=0, nan_policy="omit")
    assert skewness(values, 1.0) == pytest.approx(np.asarray(expected), rel=1e-12)


def test_columns_without_spread_have_no_skewness():
    values = np.full((4, 3), np.nan)
    values[:, 0] = 0.1 + np.array([0, 0, 0, 2e-17])
    values[0, 1] = 7.0
    assert skewness(values, 1.0).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("crit", [1.0, 1.5, 1.96])
def test_reach_is_the_quantile_of_t_in_a_skewed_population(crit):
    n = 100
    sample = np.random.default_rng(2).exponential(size=(60_000, n))
    t = (sample.mean(axis=1) - 1) / stats.sem(sample, axis=1)
    _, above = reach(crit, np.array(2.0), n)  # 2 is the skewness of the population
    simulated = -np.quantile(t, stats.norm.cdf(-crit))
    assert above == pytest.approx(simulated, rel=0.06)


def test_an_interval_reaches_further_only_towards_the_longer_tail():
    below, above = reach(2.0, np.array([0.0, 1.0, -1.0]), 9)
    assert below.tolist() == [2.0, 2.0, 2.5]  # 2 + (2·4 + 1)/(6·3)
    assert above.tolist() == [2.0, 2.5, 2.0]


@given(st.floats(-50, 50), st.floats(-6, 6), st.integers(2, 100), st.floats(0.01, 20))
def test_tests_agree_with_intervals(t, skew, n, crit):
    below, above = reach(crit, np.array(skew), n)
    excluded = t > below or t < -above  # of an interval about t with a standard error of 1
    equivalent = student_t(np.array(t), np.array(skew), n)
    near = min(abs(t - below), abs(t + above)) < 1e-9
    assert near or (abs(equivalent) > crit) == excluded


def test_student_t_inverts_the_reach():
    crit = np.array([0.5, 2.0, 6.0])
    below, above = reach(crit, np.array(1.7), 15)
    assert student_t(-above, np.array(1.7), 15) == pytest.approx(-crit)
    assert student_t(below, np.array(1.7), 15) == pytest.approx(crit)


def test_undefined_and_infinite_t_stay():
    t = np.array([np.inf, -np.inf, np.nan])
    for skew in (0.0, 1.0, -1.0):
        assert student_t(t, np.full(3, skew), 5) == pytest.approx(t, nan_ok=True)


def test_intervals_of_skewed_populations_cover_more_often_than_t():
    n, crit = 20, stats.t.ppf(0.975, 19)
    sample = np.random.default_rng(3).exponential(size=(n, 20_000))
    skew = skewness(sample, 1.0)
    t = (sample.mean(axis=0) - 1) / stats.sem(sample, axis=0)
    below, above = reach(crit, skew, n)
    plain = (np.abs(t) <= crit).mean()
    adjusted = ((t <= below) & (t >= -above)).mean()
    assert plain < 0.925  # of 0.95
    assert 0.94 < adjusted < 0.955
