"""Variants of AUC that count margins, against all pairs of rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simstudy.measures import auc, probabilistic_auc, scored_auc
from simstudy.measures.base import score


def two_classes(q):
    return np.column_stack([1 - np.asarray(q), q])


rows = st.lists(
    st.tuples(st.integers(0, 8).map(lambda n: n / 8), st.integers(0, 1), st.integers(1, 4)),
    min_size=2,
    max_size=12,
).filter(lambda found: {row[1] for row in found} == {0, 1})


@given(rows)
def test_the_scored_auc_is_the_mean_margin_of_all_pairs(found):
    q, y, weights = (np.array(column) for column in zip(*found, strict=True))
    pairs = [
        (max(p - n, 0.0), (p - n + 1) / 2, a * b)
        for p, yes, a in found
        for n, no, b in found
        if yes == 1 and no == 0
    ]
    scored, probabilistic, weight = (np.array(column) for column in zip(*pairs, strict=True))
    given = {"weights": weights.astype(float), "positive": 1}
    assert scored_auc(two_classes(q), y, **given) == pytest.approx(
        np.average(scored, weights=weight)
    )
    assert probabilistic_auc(two_classes(q), y, **given) == pytest.approx(
        np.average(probabilistic, weights=weight)
    )
    # weights are rows that come several times
    times = np.repeat(np.arange(len(y)), weights)
    again = scored_auc(two_classes(q)[times], y[times], positive=1)
    assert again == pytest.approx(scored_auc(two_classes(q), y, **given))


def test_certain_answers_have_the_auc_as_scored_auc():
    q, y = [1.0, 1.0, 0.0, 1.0, 0.0], np.array([1, 1, 1, 0, 0])
    area = auc(two_classes(q), y, positive=1)
    ties = (2 * 1 + 1 * 1) / 6  # of the pairs, which AUC counts half
    assert scored_auc(two_classes(q), y, positive=1) == pytest.approx(area - ties / 2)
    assert probabilistic_auc(two_classes(q), y, positive=1) == pytest.approx(area)


@pytest.mark.parametrize("measure", [scored_auc, probabilistic_auc])
def test_one_class_alone_has_no_value(measure):
    proba = two_classes([0.2, 0.7])
    assert score(measure, proba, np.array([1, 1]), rarer=1).reason == (
        "all rows are of the positive class"
    )
    assert score(measure, proba, np.array([0, 0]), rarer=1).reason == "no row of the positive class"
