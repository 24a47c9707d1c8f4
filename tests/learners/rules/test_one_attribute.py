"""Decision stump and 1R, against counting by hand."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simstudy.data.sample import Sample
from simstudy.learners.rules.one_attribute import DecisionStump, OneR
from simstudy.testing import check_learner

CARDS = (2, 3, 4, 3)
# x0, x1, x2, class
ROWS = [(0, 0, 0, 0), (0, 1, 0, 0), (0, 2, 1, 1), (1, 0, 1, 1), (1, 1, 2, 1), (1, 2, 2, 2)]


def test_rules_with_frequencies_keep_the_contract() -> None:
    # Exact ties go to the lowest index, so the order of the attributes may matter.
    check_learner(OneR("frequency"), permutation=False)


def test_one_r_takes_the_attribute_that_is_right_most_often() -> None:
    # Right by majority: x0 2 + 2 of 6, x1 1 + 1 + 1, x2 2 + 2 + 1 (value 1: both rows class 1,
    # value 2: a tie of classes 1 and 2).
    fitted = OneR().fit(Sample(ROWS, CARDS))
    assert fitted.attribute == 2
    # Values 0 to 3: class 0, class 1, class 1 (the first of a tie), and no row: the first class.
    np.testing.assert_array_equal(fitted.leaves, np.eye(3)[[0, 1, 1, 0]])


def test_holtes_rule_with_frequencies_answers_with_them() -> None:
    fitted = OneR("frequency").fit(Sample(ROWS, CARDS))
    # The last value has no row: the frequencies of all six.
    expected = [[1, 0, 0], [0, 1, 0], [0, 0.5, 0.5], [2 / 6, 3 / 6, 1 / 6]]
    np.testing.assert_allclose(fitted.leaves, expected, rtol=1e-15)


def test_the_stump_parts_one_value_from_the_rest() -> None:
    fitted = DecisionStump().fit(Sample(ROWS, CARDS))
    # x2 = 0 leaves two rows of class 0 and (0, 3, 1) of the others: conditional entropy
    # (4/6)·H(3/4, 1/4), the least of all; every other split mixes class 0 with class 1.
    assert fitted.attribute == 2
    np.testing.assert_allclose(fitted.leaves[0], [1, 0, 0])
    np.testing.assert_allclose(fitted.leaves[1:], [[0, 0.75, 0.25]] * 3)


rows = st.lists(st.tuples(*(st.integers(0, card - 1) for card in CARDS)), min_size=1, max_size=25)


@given(rows)
def test_the_stump_has_the_least_conditional_entropy(data: list[tuple[int, ...]]) -> None:
    def entropy(classes: list[int]) -> float:
        counts = Counter(classes).values()
        return -sum(n * math.log(n / len(classes)) for n in counts)

    splits = {
        (i, v): entropy([r[-1] for r in data if r[i] == v])
        + entropy([r[-1] for r in data if r[i] != v])
        for i, v in itertools.chain(*([(i, v) for v in range(CARDS[i])] for i in range(3)))
    }
    first = min(key for key, value in splits.items() if value <= min(splits.values()) + 1e-9)
    fitted = DecisionStump().fit(Sample(data, CARDS))
    assert fitted.attribute == first[0]
    inside = [r[-1] for r in data if r[first[0]] == first[1]] or [r[-1] for r in data]
    expected = [inside.count(c) / len(inside) for c in range(3)]
    np.testing.assert_allclose(fitted.leaves[first[1]], expected, atol=1e-12)


@given(rows)
def test_no_attribute_is_right_more_often_than_one_rs(data: list[tuple[int, ...]]) -> None:
    def right(i: int) -> int:
        groups = [[r[-1] for r in data if r[i] == v] for v in range(CARDS[i])]
        return sum(max(Counter(group).values()) for group in groups if group)

    best = [right(i) for i in range(3)]
    assert OneR().fit(Sample(data, CARDS)).attribute == best.index(max(best))


def test_unknown_leaves_are_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="leaves = 'soft' is not allowed; it must be one of hard"):
        OneR("soft")  # type: ignore[arg-type]
