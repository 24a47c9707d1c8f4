"""Intervals of means, and of shares: exact, within [0, 1], with tests that agree with them."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.special import gammaln, xlogy
from scipy.stats import beta, binomtest, norm, sem, t, ttest_rel
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

from simstudy.analysis.models.estimates import coverage
from simstudy.analysis.tests.intervals import (
    clopper_pearson,
    intervals,
    paired_share,
    share_interval,
)
from simstudy.analysis.tests.pairwise import pairwise

COLUMNS = ["n", "mean", "se", "df", "m", "t_crit", "lower", "upper", "infinite", "method"]


def quietly(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return intervals(*args, **options)


@pytest.mark.parametrize(
    ("adjustment", "kind"),
    [
        ("none", "cells_unadjusted"),
        ("bonferroni", "cells_bonferroni_all_cells"),
        ("bonferroni_within", "cells_bonferroni_within_size"),
    ],
)
def test_cell_intervals_agree_with_emmeans(reference, adjustment, kind):
    if reference.name == "d" and adjustment == "bonferroni_within":
        kind = "cells_bonferroni_all_cells"  # the same with one factor
    result = intervals(
        reference.table, "subject", reference.within, "reward", adjustment=adjustment
    )
    assert list(result.columns) == [*reference.within, *COLUMNS]
    expected = reference.r["emmeans"][kind]
    assert len(result) == len(expected)
    found = result.set_index(reference.within)
    for cell in expected:
        place = tuple(cell[factor] for factor in reference.within)
        row = found.loc[place if len(place) > 1 else place[0]]
        assert row["n"] == reference.r["subjects"]
        for column in ("mean", "se", "df", "lower", "upper"):
            assert row[column] == pytest.approx(cell[column], rel=1e-9, abs=0), column


def test_the_number_of_intervals_in_the_family_is_shown(table_a):
    options = {"subject": "subject", "value": "reward"}
    assert set(intervals(table_a, **options)["m"]) == {12}
    assert set(intervals(table_a, **options, adjustment="bonferroni_within")["m"]) == {4}
    assert set(intervals(table_a, **options, adjustment="none")["m"]) == {1}


@pytest.mark.parametrize(
    ("options", "kind", "t_crit"),
    [
        ({"adjustment": "none"}, "i_cell_t", "i"),
        ({}, "iv_bonferroni_cell_m_all_cells", "iv_m12"),
        (
            {"adjustment": "bonferroni_within"},
            "iv_b_bonferroni_cell_m_learners_within_size",
            "iv_m4",
        ),
        ({"adjustment": "none", "method": "cousineau-morey"}, "iii_cousineau_morey", "i"),
    ],
)
def test_every_kind_has_its_half_width(table_a, interval_kinds, options, kind, t_crit):
    result = intervals(table_a, "subject", value="reward", **options)
    half = ((result["upper"] - result["lower"]) / 2).to_numpy().reshape(4, 3)
    # Halving a difference of rounded limits costs digits; t_crit × se does not.
    exact = (result["t_crit"] * result["se"]).to_numpy().reshape(4, 3)
    np.testing.assert_allclose(exact, interval_kinds["half_width"][kind], rtol=1e-9)
    np.testing.assert_allclose(half, exact, rtol=1e-9)
    means = result["mean"].to_numpy().reshape(4, 3)
    np.testing.assert_allclose(means, interval_kinds["mean"], rtol=1e-9)
    np.testing.assert_allclose(result["t_crit"], interval_kinds["t_crit"][t_crit], rtol=1e-9)
    assert list(result["learner"][::3]) == interval_kinds["learners"]
    assert list(result["size"][:3]) == interval_kinds["sizes"]
    assert set(result["method"]) == {options.get("method", "cell")}


def test_cousineau_morey_takes_the_adjustment_too(table_a):
    options = {"subject": "subject", "value": "reward", "method": "cousineau-morey"}
    plain, adjusted = (
        intervals(table_a, **options, adjustment="none"),
        intervals(table_a, **options),
    )
    np.testing.assert_array_equal(plain["se"], adjusted["se"])
    assert (adjusted["t_crit"] > plain["t_crit"]).all()


def test_a_constant_per_model_does_not_widen_cousineau_morey(scores):
    moved = scores.assign(information_reward=scores["information_reward"] + 10 * scores["model"])
    options = {"method": "cousineau-morey"}
    np.testing.assert_allclose(
        intervals(moved, **options)["se"], intervals(scores, **options)["se"], rtol=1e-9
    )


def test_a_failed_cell_costs_only_its_own_interval_a_model(scores, caplog):
    whole = intervals(scores)
    scores.loc[0, ["information_reward", "status"]] = [np.nan, "error"]
    result = quietly(scores)
    assert list(result["n"]) == [2, 3, 3, 3]
    assert list(result["df"]) == [1, 2, 2, 2]
    assert result["mean"][0] == pytest.approx((0.15 + 0.0) / 2)
    assert list(result["lower"][1:]) == list(whole["lower"][1:])
    reason = "no finite information reward for learner nb, size 50 (error)"
    consequence = "left out of the intervals of cells without a value"
    assert caplog.messages == [f"{consequence}: 1 of 3 (column model): 0 ({reason})"]


def test_cousineau_morey_uses_complete_models_only(scores, caplog):
    scores.loc[0, "information_reward"] = np.nan
    result = intervals(scores, method="cousineau-morey")
    assert list(result["n"]) == [2, 2, 2, 2]
    consequence = "left out of the analysis of complete subjects"
    reason = "no finite information reward for learner nb, size 50"
    assert caplog.messages == [f"{consequence}: 1 of 3 (column model): 0 ({reason})"]


def test_one_model_has_a_mean_but_no_standard_error(scores):
    for method in ("cell", "cousineau-morey"):
        result = quietly(scores[scores["model"] == 0], method=method)
        assert list(result["n"]) == [1, 1, 1, 1]
        assert list(result["df"]) == [0, 0, 0, 0]
        assert result["mean"].to_numpy() == pytest.approx([0.1, 0.3, 0.2, 0.5])
        assert result[["se", "t_crit", "lower", "upper"]].isna().all(axis=None)


def test_a_cell_without_any_value_keeps_its_row(scores):
    scores.loc[(scores["learner"] == "tan") & (scores["size"] == 50), "information_reward"] = np.nan
    result = quietly(scores)
    assert list(result["n"]) == [3, 3, 0, 3]
    assert np.isnan(result["mean"][2])


def test_equal_values_have_an_interval_of_no_width(scores):
    result = quietly(scores.assign(information_reward=0.1))
    assert (result["se"] == 0).all()
    assert list(result["lower"]) == list(result["upper"])


def test_an_unknown_option_is_refused_with_the_known_ones(scores):
    with pytest.raises(ValueError, match="adjustment is 'tukey'; it must be one of: bonferroni, "):
        intervals(scores, adjustment="tukey")
    with pytest.raises(ValueError, match=r"method is 'morey'; .* cell, cousineau-morey"):
        intervals(scores, method="morey")
    with pytest.raises(ValueError, match="confidence is 95; it must lie between 0 and 1"):
        intervals(scores, confidence=95)
    with pytest.raises(ValueError, match="at least two cells"):
        intervals(scores.iloc[[0, 4, 8]], method="cousineau-morey")


def unlucky_table():
    """Four models, two learners at one size: B is −inf in one model and missing in another."""
    scores = {"A": [1.0, 2.0, 3.0, 4.0], "B": [1.5, -np.inf, 2.5, np.nan]}
    return pd.DataFrame(
        [
            {"model": model, "learner": learner, "size": 50, "information_reward": value}
            for learner, values in scores.items()
            for model, value in enumerate(values)
        ]
    )


def test_an_infinite_score_makes_the_mean_infinite_without_an_interval():
    rows = quietly(unlucky_table()).set_index("learner")
    assert rows.loc["B", "mean"] == -np.inf
    assert rows.loc["B", "infinite"] == 1
    assert rows.loc["B", ["se", "lower", "upper"]].isna().all()
    assert rows.loc["A", "mean"] == 2.5
    assert rows.loc["A", "infinite"] == 0


def test_complete_means_are_over_the_same_models(caplog):
    result = quietly(unlucky_table(), complete=True)
    rows = result.set_index("learner")
    assert rows.loc["A", "mean"] == 2.0  # models 0, 1 and 2; model 3 has no B
    assert rows.loc["B", "mean"] == -np.inf
    consequence = "left out of the intervals of cells without a value"
    reason = "no finite information reward for learner B, size 50"
    assert caplog.messages == [f"{consequence}: 1 of 4 (column model): 3 ({reason})"]


def test_without_a_complete_model_there_are_no_complete_means():
    table = unlucky_table()
    table.loc[table["learner"] == "B", "information_reward"] = np.nan
    with pytest.raises(ValueError, match="no model has a value of information_reward in every"):
        quietly(table, complete=True)


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
