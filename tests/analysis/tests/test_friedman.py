"""Tests over data sets agree with R, scipy, statsmodels and brute force, and obey laws."""

from __future__ import annotations

import functools
import itertools
import math
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.descriptivestats import sign_test as statsmodels_sign_test
from statsmodels.stats.multitest import multipletests

from simstudy.analysis.tests.friedman import friedman, iman_davenport, nemenyi, quade
from simstudy.analysis.tests.wilcoxon import adjust, over_pairs, sign_test, wilcoxon

pytestmark = pytest.mark.filterwarnings("error")
BY_RANKS = (friedman, iman_davenport, quade)
OF_ALL = (*(functools.partial(one, method="approximate") for one in BY_RANKS), nemenyi)
OF_TWO = (wilcoxon, sign_test)

# Six data sets, five learners.
TABLE = pd.DataFrame(
    np.random.default_rng(9).normal(0.8, 0.05, (6, 5)).round(2) + np.arange(5) / 50,
    columns=["NB", "J48", "TAN", "AODE", "CaMML"],
)

scores = st.integers(0, 12).map(lambda value: value / 12)
tables = st.integers(2, 5).flatmap(
    lambda k: st.lists(st.lists(scores, min_size=k, max_size=k), min_size=2, max_size=8)
)
differences = st.lists(st.integers(-5, 5).map(float), min_size=2, max_size=9)


# Figures


def test_demsars_wilcoxon_example_comes_out():
    # Demšar (2006), table 2: C4.5 and C4.5+m on 14 data sets; the rank sums are 12 and 93, so z is
    # (12 − 52.5)/√253.75.
    first = [763, 599, 954, 628, 882, 936, 661, 583, 775, 1000, 940, 619, 972, 957]
    second = [768, 591, 971, 661, 888, 931, 668, 583, 838, 1000, 962, 666, 981, 978]
    found = wilcoxon(np.transpose([first, second]) / 1000, "demsar")
    assert (found.rank_sum_first, found.rank_sum_second) == (12, 93)
    assert found.statistic == pytest.approx(-2.54, abs=0.005)
    assert found.zeros == 2
    # C4.5+m wins 10 and loses 2; with one of the 2 draws it has 11 of 14.
    signs = sign_test(np.transpose([second, first]), "split")
    assert (signs.wins, signs.draws, signs.losses, signs.statistic, signs.n) == (10, 2, 2, 11, 14)


# Second oracles


@given(differences)
def test_the_exact_wilcoxon_is_the_share_of_all_signs(d):
    values = np.array(d)[np.array(d) != 0]
    if not len(values):
        assert wilcoxon(d).reason == "all differences are 0"
        return
    ranks = stats.rankdata(np.abs(values))
    sums = [np.dot(ranks, signs) for signs in itertools.product((0, 1), repeat=len(ranks))]
    smaller = min(ranks[values > 0].sum(), ranks[values < 0].sum())
    expected = min(1.0, 2 * float(np.mean(np.array(sums) <= smaller)))
    assert wilcoxon(d).p == pytest.approx(expected)


@pytest.mark.parametrize("decimals", [1, 9])
def test_wilcoxon_is_scipys(decimals):
    d = np.random.default_rng(4).normal(0.3, 1, 40).round(decimals)
    d = d[d != 0]
    expected = stats.wilcoxon(d, correction=False, method="asymptotic")
    assert wilcoxon(d, "normal").p == pytest.approx(expected.pvalue)
    if decimals == 9:
        assert wilcoxon(d).p == pytest.approx(stats.wilcoxon(d, method="exact").pvalue)


@given(differences)
def test_the_sign_test_is_that_of_statsmodels(d):
    found = sign_test(d)
    assert found.reason or found.p == pytest.approx(statsmodels_sign_test(np.array(d))[1])


@given(tables)
def test_friedmans_test_is_scipys(rows):
    values = np.array(rows)
    if values.shape[1] < 3 or friedman(values).reason:
        return
    found = friedman(values, method="approximate")
    assert tuple(found) == pytest.approx(tuple(stats.friedmanchisquare(*values.T)))


def orders(rows):
    """All orders within rows, the first of which may stay."""
    for each in itertools.product(*(itertools.permutations(row) for row in rows[1:])):
        yield np.array([rows[0], *each])


@pytest.mark.parametrize(
    ("k", "n", "chi2", "p"),
    [
        # Siegel (1956), Nonparametric statistics, table N
        (3, 3, 6.0, 0.028),
        (3, 4, 6.5, 0.042),
        (3, 4, 8.0, 0.0046),
        (3, 5, 6.4, 0.039),
        (4, 2, 6.0, 0.042),
        (4, 3, 7.4, 0.033),
        (4, 3, 9.0, 0.0017),
        (4, 4, 7.8, 0.036),
        (4, 4, 9.6, 0.0069),
    ],
)
def test_exact_friedman_is_that_of_printed_tables(k, n, chi2, p):
    rows = [[*range(k)]] * n
    values = next(one for one in orders(rows) if abs(friedman_chi2(one) - chi2) < 1e-9)
    found = friedman(values)
    assert (found.method, found.statistic) == ("exact", pytest.approx(chi2))
    assert found.p == pytest.approx(p, abs=0.5 * 10.0 ** -len(str(p).split(".")[1]))


def friedman_chi2(ranks):
    n, k = ranks.shape
    return 12 / (n * k * (k + 1)) * ((ranks + 1).sum(axis=0) ** 2).sum() - 3 * n * (k + 1)


@pytest.mark.parametrize(("n", "k", "levels"), [(3, 3, 2), (4, 3, 3), (2, 4, 3), (3, 4, 5)])
def test_exact_tests_are_the_share_of_all_orders_ties_or_not(n, k, levels):
    rng = np.random.default_rng(n * k)
    for _ in range(4):
        values = rng.integers(0, levels, (n, k)) * 1.0
        if friedman(values).reason:
            continue
        for test in BY_RANKS:
            found = test(values)
            each = [test(one, method="approximate").statistic for one in orders(values)]
            share = np.mean([one >= found.statistic * (1 - 1e-9) for one in each])
            assert (found.method, found.p) == ("exact", pytest.approx(share))


@pytest.mark.parametrize("test", [friedman, quade])
def test_random_orders_come_near_all_orders(test):
    values = np.random.default_rng(3).normal(size=(5, 4)) + np.arange(4) / 2
    drawn, exact = (test(values, method=one) for one in ("permutation", "exact"))
    assert (drawn.method, exact.method) == ("permutation", "exact")
    assert drawn.p == pytest.approx(exact.p, abs=4 * math.sqrt(exact.p / 100_000))
    assert drawn.p == test(values, method="permutation").p  # the seed is fixed


@pytest.mark.parametrize("method", ["exact", "permutation"])
def test_the_order_of_data_sets_and_learners_does_not_matter(method):
    rng = np.random.default_rng(8)
    values = rng.integers(0, 6, (5, 4)) / 6
    turned = values[:, [2, 0, 3, 1]][[4, 2, 0, 1, 3]]
    for test in BY_RANKS:
        assert test(values, method=method).p == pytest.approx(test(turned, method=method).p)


def test_many_data_sets_have_the_approximation_and_many_learners_random_orders():
    rng = np.random.default_rng(5)
    assert friedman(rng.normal(size=(16, 3))).method == "approximate"
    assert friedman(rng.normal(size=(15, 3))).method == "exact"
    wide = rng.normal(size=(5, 12))
    assert friedman(wide).method == "permutation"
    with pytest.raises(ValueError, match="12 ranks in 5 rows are too many"):
        friedman(wide, method="exact")
    with pytest.raises(ValueError, match="must be one of: auto, exact"):
        friedman(wide, method="chi2")


def test_two_learners_have_nemenyis_z():
    # The studentized range of two means is √2 |z|.
    found = nemenyi(TABLE[["NB", "CaMML"]])
    z = abs(found.mean_ranks[0] - found.mean_ranks[1]) / math.sqrt(2 * 3 / (6 * 6))
    assert found.p == pytest.approx(2 * stats.norm.sf(z))
    assert found.q == pytest.approx(stats.norm.ppf(0.975))


@pytest.mark.parametrize("adjustment", ["holm", "bonferroni", "none"])
def test_pairs_are_adjusted_for_their_number(adjustment):
    found = over_pairs(TABLE, wilcoxon, adjustment)
    assert (found.adjustment, found.m) == (adjustment, 1 if adjustment == "none" else 10)
    p = [pair.outcome.p for pair in found.pairs]
    expected = p if adjustment == "none" else multipletests(p, method=adjustment)[1]
    assert [pair.p_adjusted for pair in found.pairs] == pytest.approx(list(expected))
    first = found.pairs[0]
    assert (first.first, first.second) == ("NB", "J48")
    assert tuple(first.outcome) == tuple(wilcoxon(TABLE[["NB", "J48"]]))


def test_a_pair_without_p_counts_among_the_tests():
    none, some = sign_test([0.0, 0.0]), sign_test([1.0] * 6)
    found = adjust({("a", "b"): none, ("a", "c"): some})
    assert found.m == 2
    assert found.pairs[0].p_adjusted is none.p
    assert found.pairs[1].p_adjusted == pytest.approx(2 * 2 / 64)


# Laws


def alike(one, other):
    """Whether two outcomes are the same."""
    if one.reason or other.reason:
        return one.reason == other.reason
    return tuple(one) == pytest.approx(tuple(other), rel=1e-9)


@given(tables, st.sampled_from([1e-9, 0.3, 1e6]), st.randoms())
def test_scale_and_order_do_not_matter(rows, factor, random):
    values = np.array(rows)
    columns, sets = list(range(values.shape[1])), list(range(len(values)))
    random.shuffle(columns)
    random.shuffle(sets)
    for test in OF_ALL:
        assert alike(test(values * factor), test(values))
        assert alike(test(values[:, columns][sets]), test(values))


@given(tables)
def test_adding_to_data_sets_does_not_change_ranks(rows):
    values = np.array(rows)
    moved = values + np.arange(len(values))[:, None]
    for test in OF_ALL:
        assert alike(test(moved), test(values))


@given(differences, st.sampled_from([1e-9, 0.3, 1e6]))
def test_swapping_learners_swaps_their_sums(d, factor):
    values = np.array(d)
    for method in ("exact", "normal", "demsar"):
        one, other = wilcoxon(values, method), wilcoxon(-values, method)
        assert one.reason == other.reason
        assert alike(wilcoxon(values * factor, method), one)
        if not one.reason:
            assert one.p == pytest.approx(other.p)
            sums = one.rank_sum_first, one.rank_sum_second
            assert (other.rank_sum_second, other.rank_sum_first) == sums
    z = [wilcoxon(each, "normal").statistic for each in (values, -values)]
    assert np.isnan(z).all() or z[0] == pytest.approx(-z[1])
    one, other = sign_test(values, "split"), sign_test(-values, "split")
    assert (one.wins, one.draws, one.losses) == (other.losses, other.draws, other.wins)
    assert one.reason or one.p == other.p


@given(differences)
def test_differences_and_tables_are_the_same(d):
    values = np.stack([np.array(d) / 8, np.zeros(len(d))], axis=1)
    for test in OF_TWO:
        assert alike(test(values), test(values[:, 0]))


def test_scores_that_differ_by_rounding_are_ties():
    first = [np.mean([0.1, 0.2, 0.3]), 0.7, 0.9]
    second = [np.mean([0.3, 0.2, 0.1]), 0.8 - 0.1, 0.8]
    assert first[1] != second[1]
    found = sign_test(np.transpose([first, second]))
    assert (found.wins, found.draws, found.losses) == (1, 2, 0)
    assert friedman(np.transpose([first, second])).mean_ranks == pytest.approx((4 / 3, 5 / 3))


# What has no test


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([[0.5, 0.5], [0.7, 0.7]], ""),
        ([[0.5, 0.6]], "fewer than 2 data sets"),
        ([[0.5, math.nan], [0.7, 0.8], [math.inf, 1.0]], "2 of 3 data sets without a finite value"),
    ],
)
def test_what_cannot_be_tested_has_a_reason(rows, reason):
    for test in OF_ALL:
        found = test(rows)
        assert found.reason == (reason or "all learners are equal on every data set")
        assert all(math.isnan(value) for value in found)
    for found in (
        sign_test(rows),
        *(wilcoxon(rows, each) for each in ("exact", "normal", "demsar")),
    ):
        assert found.reason == (reason or "all differences are 0")
        assert all(math.isnan(value) for value in found)


def test_perfect_agreement_has_its_limits():
    values = np.arange(12.0).reshape(3, 4)
    assert tuple(iman_davenport(values, method="approximate")) == (math.inf, 0.0)
    # All three data sets have the same order: one of 4!² as likely ones, as in R.
    for found in (quade(values), quade(values, "approximate"), iman_davenport(values)):
        assert tuple(found) == (math.inf, pytest.approx(1 / 24**2))


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match="two or more learners as columns"):
        friedman([1.0, 2.0])
    with pytest.raises(ValueError, match="over_pairs tests all pairs"):
        wilcoxon(np.zeros((4, 3)))
    with pytest.raises(ValueError, match="must be one of: exact, normal, demsar"):
        wilcoxon([1.0, 2.0], "auto")
    with pytest.raises(ValueError, match="must be one of: drop, split"):
        sign_test([1.0, 2.0], "keep")
    with pytest.raises(ValueError, match="must be one of: holm, bonferroni, none"):
        over_pairs(TABLE, sign_test, "hochberg")


def test_nothing_slow_is_imported_before_it_is_needed():
    code = (
        "import sys, simstudy.analysis.tests.friedman, simstudy.analysis.tests.resampled;"
        "print({'pandas', 'scipy.stats', 'statsmodels'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
