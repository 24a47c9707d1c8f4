"""Shares have exact intervals within [0, 1], and tests that agree with them."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.special import gammaln, xlogy
from scipy.stats import beta, binomtest, norm, sem, t, ttest_rel
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

from simstudy.analysis.estimates import coverage
from simstudy.analysis.intervals import intervals
from simstudy.analysis.pairwise import pairwise
from simstudy.analysis.shares import clopper_pearson, paired_share, share_interval

LEVELS = ((0.95, 1), (0.99, 28))


def column(*counts):
    """Values of 0 and 1 as a column: so many zeros, then so many ones."""
    return np.repeat([0.0, 1.0], counts)[:, None]


@pytest.mark.parametrize(("confidence", "m"), LEVELS)
def test_limits_are_those_of_statsmodels_and_scipy(confidence, m):
    for n, k in ((1, 0), (1, 1), (2, 1), (50, 40), (50, 50), (2000, 3)):
        found = clopper_pearson(k, n, confidence, m)
        alpha = (1 - confidence) / m
        assert found == pytest.approx(proportion_confint(k, n, alpha, "beta"), abs=1e-12)
        assert found == pytest.approx(binomtest(k, n).proportion_ci(1 - alpha), abs=1e-9)


def test_forty_of_fifty_covers_less_than_nominal_among_28_intervals():
    mean, lower, upper = share_interval(column(10, 40), 0.95, 28)
    assert mean == pytest.approx(0.8)
    expected = binomtest(40, 50).proportion_ci(1 - 0.05 / 28)
    assert (lower[0], upper[0]) == pytest.approx(tuple(expected), abs=1e-9)
    assert (round(lower[0], 3), round(upper[0], 3)) == (0.58, 0.938)


def test_shares_of_models_have_korn_and_graubards_interval():
    """By hand: n* = p(1 − p)/se² · (z/t)², and quantiles of beta distributions."""
    values = np.array([0.2, 0.35, 0.3, 0.15, 0.25, 0.3])
    p, se = values.mean(), sem(values)
    n = p * (1 - p) / se**2 * (norm.ppf(0.975) / t.ppf(0.975, 5)) ** 2
    expected = beta.ppf(0.025, p * n, n - p * n + 1), beta.ppf(0.975, p * n + 1, n - p * n)
    _, lower, upper = share_interval(values[:, None], 0.95)
    assert (lower[0], upper[0]) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("share", [0.0, 0.05, 0.1, 0.7, 1.0])
def test_models_that_all_agree_count_as_one_trial_each(share):
    mean, lower, upper = share_interval(np.full((12, 1), share), 0.95)
    expected = proportion_confint(12 * share, 12, 0.05, "beta")
    assert (lower[0], upper[0]) == pytest.approx(expected, abs=1e-12)
    assert 0 <= lower[0] <= mean[0] <= upper[0] <= 1


def test_missing_values_are_ignored_and_one_model_has_no_interval():
    values = np.column_stack([[1, 0, np.nan, 1.0], [1, np.nan, np.nan, np.nan]])
    mean, lower, upper = share_interval(values, 0.95)
    assert mean == pytest.approx([2 / 3, 1])
    assert (lower[0], upper[0]) == pytest.approx(proportion_confint(2, 3, 0.05, "beta"))
    assert np.isnan([lower[1], upper[1]]).all()


def test_intervals_of_clusters_cover_as_they_say():
    """Beta-binomial clusters of 20 trials, 2,000 replications of each."""
    rng = np.random.default_rng(0)
    for models, p, correlation in ((50, 0.05, 0.1), (50, 0.9, 0.1), (20, 0.3, 0.5), (100, 0.05, 0)):
        rates = np.full((models, 2000), p)
        if correlation:
            size = (1 - correlation) / correlation
            rates = rng.beta(p * size, (1 - p) * size, rates.shape)
        _, lower, upper = share_interval(rng.binomial(20, rates) / 20, 0.95)
        assert np.mean((lower <= p) & (p <= upper)) > 0.94


def outcomes(n):
    """Every number of subjects with (1, 0) and with (0, 1) among n."""
    pairs = [(b, c) for b, c in itertools.product(range(n + 1), repeat=2) if b + c <= n]
    return np.array(pairs).T


def paired(b, c, n):
    """Columns of 0 and 1 with so many discordant subjects of either kind."""
    place = np.arange(n)[:, None]
    return (place < b).astype(float), ((place >= b) & (place < b + c)).astype(float)


def test_p_is_that_of_mcnemars_exact_test():
    b, c = outcomes(12)
    statistic, p, _, _ = paired_share(*paired(b, c, 12), 0.95)
    assert np.isnan(statistic).all()
    for ours, one, other in zip(p, b, c, strict=True):
        expected = mcnemar([[0, one], [other, 12 - one - other]], exact=True).pvalue
        assert np.isnan(ours) if one + other == 0 else ours == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("confidence", "m"), LEVELS)
def test_the_interval_excludes_zero_if_and_only_if_p_is_below_the_level(confidence, m):
    for n in range(2, 61):
        b, c = outcomes(n)
        _, p, lower, upper = paired_share(*paired(b, c, n), confidence, m)
        significant = p < (1 - confidence) / m
        assert np.array_equal((lower > 0) | (upper < 0), significant)
        assert ((lower >= -1) & (lower <= (b - c) / n) & ((b - c) / n <= upper)).all()
        assert (upper <= 1).all()


@pytest.mark.parametrize("n", [3, 8, 20, 40])
def test_the_interval_of_a_difference_covers_at_least_as_often_as_it_says(n):
    """All outcomes of n subjects, by their trinomial probabilities."""
    b, c = outcomes(n)
    _, _, lower, upper = paired_share(*paired(b, c, n), 0.95)
    ways = gammaln(n + 1) - gammaln(b + 1) - gammaln(c + 1) - gammaln(n - b - c + 1)
    grid = np.arange(0, 1.01, 0.05)
    for first, second in ((x, y) for x in grid for y in grid if x + y <= 1):
        rest = max(1 - first - second, 0.0)
        logs = ways + xlogy(b, first) + xlogy(c, second) + xlogy(n - b - c, rest)
        inside = (lower <= first - second + 1e-12) & (first - second - 1e-12 <= upper)
        assert np.exp(logs)[inside].sum() > 0.95


def test_other_shares_have_a_t_test_with_limits_within_bounds():
    rng = np.random.default_rng(1)
    first, second = rng.binomial(20, [[0.9], [0.2]], (2, 5)) / 20
    statistic, p, lower, upper = paired_share(first[:, None], second[:, None], 0.95)
    expected = ttest_rel(first, second)
    assert (statistic[0], p[0]) == pytest.approx((expected.statistic, expected.pvalue))
    assert (lower[0], upper[0]) == pytest.approx(tuple(expected.confidence_interval(0.95)))
    wide = paired_share(first[:2, None], second[:2, None], 0.95, 20)
    assert (wide[2][0], wide[3][0]) == (-1, 1)


@pytest.mark.parametrize("n", [2, 3, 5, 8, 20])
def test_equal_differences_of_few_models_are_no_certainty(n):
    """Two models that differ alike prove nothing: the sign test decides, p = 2^(1 − n)."""
    statistic, p, lower, upper = paired_share(np.full((n, 1), 0.3), np.full((n, 1), 0.2), 0.95)
    assert np.isnan(statistic[0])
    assert p[0] == pytest.approx(binomtest(n, n).pvalue)
    assert (lower[0] > 0) == (p[0] < 0.05)
    assert -1 <= lower[0] < 0.1 < upper[0] <= 1


def table(*columns):
    return pd.DataFrame(
        {"model": model, "size": 50, "learner": name, "covered": value}
        for name, values in zip("ABC", columns, strict=False)
        for model, value in enumerate(values)
    )


def test_cells_of_shares_have_binomial_intervals():
    scores = table(column(10, 40)[:, 0], column(0, 50)[:, 0])
    found = intervals(scores, value="covered", share=True)
    for row, k in zip(found.to_dict("records"), (40, 50), strict=True):
        assert (row["lower"], row["upper"]) == pytest.approx(
            proportion_confint(k, 50, 0.05 / 2, "beta")
        )
    plain = intervals(scores, value="covered")
    same = [name for name in plain if name not in ("lower", "upper")]
    pd.testing.assert_frame_equal(found[same], plain[same])
    with pytest.raises(ValueError, match="cousineau-morey"):
        intervals(scores, value="covered", method="cousineau-morey", share=True)


def test_pairs_of_shares_are_tested_exactly_and_adjusted():
    scores = table([1] * 12 + [0] * 8, [1] * 2 + [0] * 18, [0] * 20)
    found = pairwise(scores, value="covered", share=True).set_index(["first", "second"])
    row = found.loc[("A", "B")]
    assert row["p"] == pytest.approx(binomtest(10, 10).pvalue)
    assert row["p_adjusted"] == pytest.approx(3 * row["p"])
    assert row["lower"] > 0
    assert found.loc[("B", "C"), "p_adjusted"] == 1
    assert found.loc[("B", "C"), "lower"] < 0 < found.loc[("B", "C"), "upper"]


def test_coverage_has_exact_limits_over_models():
    truth, place = np.arange(10.0), {"size": 50, "estimator": "cv", "learner": "NB"}
    estimates = pd.DataFrame({"model": range(10), "measure": "accuracy", "exact": truth, **place})
    estimates = estimates.assign(
        lower_rows=truth - 1, upper_rows=truth + np.repeat([1, -0.5], [7, 3])
    )
    (row,) = coverage(estimates).to_dict("records")
    limits = row["coverage_lower"], row["coverage_upper"]
    assert limits == pytest.approx(proportion_confint(7, 10, 0.05, "beta"))
    assert (row["n"], row["coverage"]) == (10, 0.7)
    wider = coverage(estimates, confidence=0.99).iloc[0]
    assert (wider["coverage_lower"], wider["coverage_upper"]) == pytest.approx(
        proportion_confint(7, 10, 0.01, "beta")
    )
