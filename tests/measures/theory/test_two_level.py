"""Two-level measures: the order they define, ties despite rounding, and their names."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simstudy import measures
from simstudy.measures.base import measure
from simstudy.measures.scores.losses import accuracy, log_loss
from simstudy.measures.theory.answer_sets import auc
from simstudy.measures.theory.comparison import select
from simstudy.measures.theory.two_level import (
    TwoLevelMeasure,
    auc_accuracy_number,
    levels,
    ties,
    two_level,
)

PHI = TwoLevelMeasure(auc, accuracy)
NUMBERS = st.sampled_from([0.0, 0.25, 0.5, 1 / 3, 1.0, math.inf, -math.inf])


@measure(greater_is_better=False, over="set")
def loss(proba, y):
    """Return the second number of a result, of which less is better."""
    return float(proba[0, 1])


def first(proba, y):
    return float(proba[0, 0])


def second(proba, y):
    return float(proba[0, 1])


def better(a, b, levels=(first, second)):
    """Return 1 if the first of two results is better, −1 if the second is, 0 if they tie."""
    best = select(TwoLevelMeasure(*levels), [np.array([a]), np.array([b])], np.array([0]))
    return {(0,): 1, (1,): -1, (0, 1): 0}[best]


def test_the_first_measure_decides_and_the_second_breaks_ties():
    assert better((0.8, 0.1), (0.7, 0.9)) == 1
    assert better((0.7, 0.9), (0.8, 0.1)) == -1
    assert better((0.8, 0.6), (0.8, 0.4)) == 1
    assert better((0.8, 0.4), (0.8, 0.6)) == -1
    assert better((0.8, 0.6), (0.8, 0.6)) == 0


def test_rounding_does_not_break_a_tie():
    a, b = 0.1 + 0.2, 0.3
    assert a > b
    assert better((a, 0.4), (b, 0.6)) == -1
    # The steps of an AUC of 10⁴ + 10⁴ rows are no rounding.
    assert better((0.5 + 1e-8, 0.0), (0.5, 1.0)) == 1


def test_smaller_losses_are_better():
    assert better((0.8, 0.3), (0.8, 0.5), (first, loss)) == 1
    assert better((0.0, 0.3), (1.0, 0.5), (loss, first)) == 1


@given(st.tuples(NUMBERS, NUMBERS), st.tuples(NUMBERS, NUMBERS), st.tuples(NUMBERS, NUMBERS))
def test_the_order_is_total(a, b, c):
    assert better(a, b) == -better(b, a)
    assert (better(a, b) == 0) == (a == b)
    if better(a, b) >= 0 and better(b, c) >= 0:
        assert better(a, c) >= 0


def test_names():
    assert PHI.name == "auc:accuracy"
    found = two_level("accuracy:log_loss", lambda name: getattr(measures, name))
    assert (found.first, found.second) == (accuracy, log_loss)
    for wrong in ("accuracy", "a:b:c", ":accuracy", "accuracy:"):
        with pytest.raises(ValueError, match="must be two names and a colon"):
            two_level(wrong, lambda name: accuracy)


def test_no_third_level():
    with pytest.raises(ValueError, match="made of two plain measures"):
        TwoLevelMeasure(PHI, accuracy)


def test_the_number_of_huang_and_ling():
    assert auc_accuracy_number(0.68, 0.6) == pytest.approx(0.686)  # table 4
    assert auc_accuracy_number(0.9978, 0.95) == 1  # cut, as in tables 6 and 7
    # It is not the two-level measure where the AUCs are less than .01 apart.
    assert better((0.801, 0.4), (0.8, 0.6)) == 1
    assert auc_accuracy_number(0.801, 0.4) < auc_accuracy_number(0.8, 0.6)


def test_levels_are_ranks_in_which_ties_share_one():
    values = np.array([0.3, -math.inf, 0.1 + 0.2, math.inf, 0.3 + 1e-6, math.inf, 1e12, 1e12 + 1])
    assert levels(values).tolist() == [1, 0, 1, 4, 2, 4, 3, 3]
    assert levels(np.array([])).tolist() == []
    assert levels(np.array([2.0])).tolist() == [0]


@given(st.lists(st.sampled_from([0.0, 0.5, 1 / 3, 0.1 + 0.2, 0.3, 7.0, math.inf])))
def test_levels_agree_with_ties(values):
    ranks = levels(np.array(values))
    for (a, i), (b, j) in product(zip(values, ranks, strict=True), repeat=2):
        assert (i == j) == ties(a, b)
        assert (i < j) == (a < b and not ties(a, b))
