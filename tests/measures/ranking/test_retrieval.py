"""Measures of retrieval and lift: worked examples, brute force and scikit-learn."""

from itertools import permutations

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

from simstudy.measures import (
    average_precision,
    interpolated_precision,
    lift,
    precision_at,
    recall_at,
)

seeds = st.integers(0, 2**32 - 1)


def two_classes(q):
    return np.column_stack([1 - np.asarray(q), q])


def draw(seed):
    """Random predictions with ties, classes that both occur, and weights, some of them 0."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 60))
    y = np.concatenate([[0, 1], rng.integers(0, 2, n)])
    weights = rng.random(n + 2) * rng.integers(0, 2, n + 2)
    weights[:2] += 0.5
    q = rng.random(n + 2)
    return two_classes(np.round(q, seed % 3) if seed % 3 else q), y, weights


def ranked_list(first, positives, rows):
    """A ranking without ties: positive rows at places ``first``, the others in the middle."""
    y = np.zeros(rows, dtype=int)
    y[[place - 1 for place in first]] = 1
    rest = positives - len(first)
    y[rows - rest :] = 1
    return two_classes(np.arange(rows, 0, -1) / (rows + 1)), y


def test_precision_and_recall_at_10_of_the_book():
    # Witten, Frank & Hall 2011, table 5.6 and section 5.7: of the first 10, 8 are positive; with
    # 40 positive rows in all, recall is 8/40; with 50 of 150, the lift is .8/(1/3) = 2.4.
    first = [1, 2, 4, 5, 6, 7, 8, 10]
    proba, y = ranked_list(first, 40, 100)
    assert precision_at(proba, y) == pytest.approx(0.8)
    assert recall_at(proba, y) == pytest.approx(0.2)
    proba, y = ranked_list(first, 50, 150)
    assert lift(proba, y, share=10 / 150) == pytest.approx(2.4)


def test_lift_of_the_mailing_of_the_book():
    # Section 5.7: of 1,000,000 households 1000 respond; 400 of the first 100,000, 800 of the
    # first 400,000. Here a weight stands for many rows.
    rows = np.array([[400, 99_600], [400, 299_600], [200, 599_800]])
    proba = two_classes(np.repeat([0.3, 0.2, 0.1], 2))
    y, weights = np.tile([1, 0], 3), rows.ravel().astype(float)
    assert lift(proba, y, weights=weights, share=0.1) == pytest.approx(4)
    assert lift(proba, y, weights=weights, share=0.4) == pytest.approx(2)
    assert lift(proba, y, weights=weights / weights.sum(), share=0.4) == pytest.approx(2)
    assert lift(proba, y, weights=weights, share=1) == pytest.approx(1)


@given(seeds)
def test_average_precision_agrees_with_scikit_learn(seed):
    proba, y, weights = draw(seed)
    for given_weights in (None, weights):
        theirs = sklearn.metrics.average_precision_score(
            y, proba[:, 1], sample_weight=given_weights
        )
        found = average_precision(proba, y, weights=given_weights, positive=1)
        assert found == pytest.approx(theirs)


@given(seeds)
def test_interpolated_precision_is_the_largest_at_that_recall_or_above(seed):
    proba, y, weights = draw(seed)
    for given_weights in (None, weights):
        precisions, recalls, _ = sklearn.metrics.precision_recall_curve(
            y, proba[:, 1], sample_weight=given_weights
        )
        precisions, recalls = precisions[:-1], recalls[:-1]  # the last point is of no rows
        for points, levels in ((3, [0.2, 0.5, 0.8]), (11, np.linspace(0, 1, 11))):
            largest = [precisions[recalls >= r - 1e-9].max() for r in levels]
            options = {"weights": given_weights, "points": points, "positive": 1}
            assert interpolated_precision(proba, y, **options) == pytest.approx(np.mean(largest))


def test_interpolated_precision_by_hand():
    # + − + + −, recall ⅓, ⅔ and 1 with precision 1, ⅔ and ¾: ¾ is the largest above ⅓.
    proba, y = two_classes([0.9, 0.8, 0.7, 0.6, 0.5]), np.array([1, 0, 1, 1, 0])
    options = {"positive": 1}
    assert interpolated_precision(proba, y, points=3, **options) == pytest.approx(2.5 / 3)
    assert interpolated_precision(proba, y, **options) == pytest.approx((4 + 7 * 0.75) / 11)


@given(seeds, st.integers(1, 5))
def test_ties_are_averaged_over_all_orders(seed, k):
    rng = np.random.default_rng(seed)
    q, y = rng.integers(1, 4, 5) / 4, np.array([1, 0, *rng.integers(0, 2, 3)])
    orders = [[*o] for o in permutations(range(5)) if all(np.diff(q[[*o]]) <= 0)]
    found = np.mean([y[order[:k]].sum() for order in orders])
    proba = two_classes(q)
    assert precision_at(proba, y, k=k, positive=1) == pytest.approx(found / k)
    assert recall_at(proba, y, k=k, positive=1) == pytest.approx(found / y.sum())
    assert lift(proba, y, share=k / 5, positive=1) == pytest.approx(found / k / y.mean())


def test_constant_probabilities():
    proba, y = np.full((20, 2), 0.5), np.repeat([0, 1], [15, 5])
    assert average_precision(proba, y) == pytest.approx(0.25)
    assert interpolated_precision(proba, y) == pytest.approx(0.25)
    assert precision_at(proba, y) == pytest.approx(0.25)
    assert recall_at(proba, y) == pytest.approx(0.5)
    assert lift(proba, y) == pytest.approx(1)


def test_no_positive_row_or_fewer_than_k_rows():
    proba, y = np.full((20, 2), 0.5), np.zeros(20, dtype=int)
    for measure in (average_precision, interpolated_precision, recall_at, lift):
        assert measure(proba, y, positive=1).reason == "no row of the positive class"
    assert precision_at(proba, y, positive=1) == 0
    for measure in (precision_at, recall_at):
        assert measure(proba, y, k=21).reason == "fewer than 21 rows"


@pytest.mark.parametrize(
    ("measure", "parameters"),
    [
        (interpolated_precision, {"points": 5}),
        *((precision_at, {"k": k}) for k in (0, -1, 2.5, True)),
        (recall_at, {"k": 0}),
        *((lift, {"share": share}) for share in (0, -1, 1.1)),
        (average_precision, {"positive": 2}),
    ],
)
def test_wrong_parameters_are_refused_in_a_sentence(measure, parameters):
    (name,) = parameters
    with pytest.raises(ValueError, match=f"^{name} = .* is not allowed; it must be"):
        measure(np.full((3, 2), 0.5), np.array([0, 1, 1]), **parameters)
