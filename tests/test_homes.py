"""What is decided in the one place that decides it: priors, significance, ties, leads, numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.naive_bayes import CategoricalNB

from simstudy.analysis.datasets.across_datasets import over_sets
from simstudy.analysis.datasets.per_dataset import best_of
from simstudy.analysis.decision_curves import most_profitable
from simstudy.analysis.models.standings import (
    AHEAD,
    Pair,
    largest_difference,
    largest_lead,
    smallest_lead,
)
from simstudy.analysis.tests.adjustment import alpha_of, is_significant
from simstudy.analysis.tests.outcomes import StatisticOutcome
from simstudy.analysis.tests.wilcoxon import adjust, over_pairs, sign_test, wilcoxon
from simstudy.arrays import smoothed
from simstudy.engine.evaluation import Trial
from simstudy.estimators.comparing import Decision
from simstudy.learners.networks.camml.costs import arc_estimate
from simstudy.measures.base import clip, extremes
from simstudy.measures.theory.two_level import differ, levels, ties
from simstudy.report.prose.numbers import NONE, digits, fixed, percent, plus, setting

COUNTS = st.lists(st.integers(0, 10**6), min_size=2, max_size=8)
VALUES = st.one_of(
    st.floats(allow_nan=False), st.sampled_from([0.5, 0.5 + 9e-10, 0.5 + 2e-9, math.inf])
)


@given(COUNTS, st.sampled_from([0.25, 0.5, 1.0]))
def test_smoothed_frequencies_are_the_nearest_to_the_exact_ones(counts, alpha):
    total = sum(counts) + len(counts) * Fraction(alpha)
    exact = [float((n + Fraction(alpha)) / total) for n in counts]
    assert smoothed(np.array(counts), alpha).tolist() == exact


@given(COUNTS)
def test_rows_give_the_same_prior_as_their_weights(counts):
    counts = [number % 50 for number in counts] + [1]
    target = np.repeat(np.arange(len(counts)), counts)
    seen = np.flatnonzero(counts)
    weights = np.array(counts, dtype=np.float64)[seen]
    plain = Trial(target, target).class_frequencies(len(counts))
    weighted = Trial(seen, seen, weights).class_frequencies(len(counts))
    assert plain.tolist() == weighted.tolist() == smoothed(np.array(counts)).tolist()


def test_a_total_that_is_known_replaces_the_sum_of_counts():
    assert smoothed(np.array([1.0, 2.0]), 0.5, 4.0).tolist() == [1.5 / 5, 2.5 / 5]


def test_smoothing_by_one_is_that_of_scikit_learn():
    column = np.repeat([0, 1, 2], [5, 2, 1])[:, None]
    fitted = CategoricalNB(alpha=1.0).fit(column, np.zeros(8))
    found = np.log(smoothed(np.array([5, 2, 1]), 1.0))
    np.testing.assert_allclose(fitted.feature_log_prob_[0][0], found, rtol=1e-15)


@pytest.mark.parametrize("classes", [2, 5])
def test_extremes_are_the_smoothed_frequencies_of_a_class_in_none_and_all_rows(classes):
    counts = np.zeros(classes)
    counts[0] = 20
    low, high = extremes("mml", 20, classes)
    assert smoothed(counts)[[1, 0]].tolist() == [low, high]
    ends = np.array([[1.0] + [0.0] * (classes - 1)])
    assert clip(ends, "mml", 20).tolist() == [[high] + [low] * (classes - 1)]
    assert clip(ends, "none", 20) is ends


def test_the_probability_of_an_arc_is_a_smoothed_frequency_of_two_classes():
    assert arc_estimate(3, 10) == smoothed(np.array([3, 7]))[0]


def test_a_p_of_exactly_alpha_is_significant_and_no_p_is_not():
    p = [0.0, 0.05, math.nextafter(0.05, 1), 1.0, math.nan]
    expected = [True, True, False, False, False]
    assert [is_significant(one, alpha_of(0.95)) for one in p] == expected
    assert is_significant(pd.Series(p), 0.05).tolist() == expected
    assert [Decision(one, 1.0).rejects(0.05) for one in p] == expected
    assert alpha_of(0.95) == 0.05 != 1 - 0.95


@given(VALUES, VALUES)
def test_values_of_measures_tie_as_isclose_has_it(one, other):
    close = math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    assert ties(one, other) == close
    assert bool(differ(np.array([one]), np.array([other]))[0]) != close
    assert (len({*levels(np.array([one, other])).tolist()}) == 1) == close


def test_a_value_that_does_not_exist_ties_with_nothing():
    assert not ties(math.nan, math.nan)
    assert not ties(math.nan, 1.0)


def test_means_that_differ_by_rounding_share_the_best():
    means = pd.Series({"A": 0.1 + 0.2, "B": 0.3, "C": 0.29, "D": math.nan})
    assert best_of(means) == ("A", "B")
    assert best_of(pd.Series({"A": math.nan})) == ()


def test_the_winner_of_a_pair_is_on_the_side_of_the_test():
    # The first is better on seven sets; ranks are 1 to 8, so the rank sums are 35 and 1.
    apart = np.array([2, 3, 4, 5, 6, 7, 8, -1]) / 100
    table = pd.DataFrame({"A": 0.5 + apart, "B": np.full(8, 0.5)})
    (pair,) = over_pairs(table, wilcoxon).pairs
    assert (pair.outcome.lead, pair.winner(0.05), pair.winner(0.01)) == (34, "A", None)
    (turned,) = over_pairs(table[["B", "A"]], wilcoxon).pairs
    assert (turned.outcome.lead, turned.winner(0.05)) == (-34, "A")
    (signs,) = over_pairs(table, sign_test).pairs
    assert (signs.outcome.lead, signs.winner(0.1), signs.winner(0.05)) == (6, "A", None)
    (equal,) = over_pairs(pd.DataFrame({"A": [0.5] * 8, "B": [0.5] * 8}), wilcoxon).pairs
    assert equal.winner(0.999) is None
    (without_sides,) = adjust({("A", "B"): StatisticOutcome("of all", 9.0, 0.001)}).pairs
    assert without_sides.winner(0.05) is None  # a test without sides has no winner


def test_learners_over_sets_are_ranked_and_the_likelier_named():
    rng = np.random.default_rng(3)
    base = rng.random(12)
    table = pd.DataFrame({"low": base, "high": base + 0.1 * rng.random(12), "top": base + 0.3})
    found = over_sets(table)
    assert [name for name, _ in found.ranked] == ["top", "high", "low"]
    assert not found.too_few
    assert found.ranks_differ
    for pair in found.pairs:
        name, share = pair.likelier
        first, _, second = pair.posterior
        assert (name, share) == (pair.second, max(first, second))
    assert over_sets(table[:3]).too_few  # no p is below 2/2³


def made(first, second, lead):
    return Pair(50, first, second, lead, lead - 1, lead + 1, 0.01, 9, 0, AHEAD)


def test_leads_are_ordered_by_sign_and_differences_by_size():
    pairs = [made("A", "B", 0.2), made("A", "C", -0.5), made("B", "C", 0.1)]
    assert smallest_lead(pairs).second == largest_difference(pairs).first == "C"
    assert largest_lead(pairs) == pairs[0]
    most = largest_difference(pairs)
    assert (most.first, most.second, most.lead) == ("C", "A", 0.5)
    assert most.winner == pairs[1].winner == "C"


@given(st.lists(st.integers(0, 40), min_size=2, max_size=30), st.integers(1, 9))
def test_the_most_profitable_share_is_the_least_within_a_step_of_the_best(rises, tenth):
    reached = [Fraction(n, max(sum(rises), 1)) for n in np.cumsum([0, *rises]).tolist()]
    prior, steps = Fraction(tenth, 10), 64
    profits = [prior * (part - Fraction(place, len(rises))) for place, part in enumerate(reached)]
    enough = max(profits) - prior / steps
    least = next(place for place, profit in enumerate(profits) if profit >= enough)
    share, profit = most_profitable(np.array(reached, dtype=float), float(prior), steps)
    assert share == pytest.approx(least / len(rises))
    assert profit == pytest.approx(float(profits[least]), abs=1e-12)


def test_numbers_are_written_with_their_sign_and_without_rounding_error():
    assert [fixed(x) for x in (1.23456, -0.5, -0.0001, math.nan)] == [
        "1.235",
        "−0.500",
        "0.000",
        NONE,
    ]
    assert [plus(x, 1) for x in (1.26, -0.5, -0.01, 0.01, math.nan)] == [
        "+1.3",
        "−0.5",
        "0",
        "0",
        NONE,
    ]
    assert [percent(0.1234), percent(0.1234, 0), percent(math.nan)] == ["12.3%", "12%", NONE]
    assert (setting(1 - 0.95), setting(99.9)) == ("0.05", "99.9")
    assert (digits(0.123456), digits(1234.5, 2)) == ("0.1235", "1.2e+03")
