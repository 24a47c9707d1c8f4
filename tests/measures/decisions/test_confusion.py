"""Measures of decisions, by hand and against scikit-learn."""

import math
import warnings

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

from simstudy.measures import (
    balanced_accuracy,
    confusion_matrix,
    error_rate,
    f_score,
    false_positive_rate,
    kappa,
    matthews,
    precision,
    recall,
    sensitivity_specificity,
)

seeds = st.integers(0, 2**32 - 1)
# Witten, Frank & Hall 2011, table 5.4 (a): rows actual, columns predicted.
TABLE_5_4 = np.array([[88, 10, 2], [14, 40, 6], [18, 10, 12]])


def rows_of(matrix):
    """Predictions, true classes and weights that have a confusion matrix."""
    actual, predicted = np.indices(np.shape(matrix)).reshape(2, -1)
    return np.eye(len(matrix))[predicted], actual, np.ravel(matrix).astype(float)


def draw(seed):
    """Random predictions, classes of which each occurs, and weights, some of them 0."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 6))
    n = k + int(rng.integers(5, 60))
    y = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    weights = rng.random(n) * rng.integers(0, 2, n)
    weights[:k] += 0.5
    return rng.dirichlet(np.ones(k), n), y, weights


def test_kappa_of_table_5_4_is_58_of_118():
    proba, y, weights = rows_of(TABLE_5_4)
    np.testing.assert_array_equal(confusion_matrix(proba, y, weights=weights), TABLE_5_4)
    # 140 of 200 are right; by chance, with each class predicted as often, 82 would be.
    assert TABLE_5_4.trace() == 140
    assert TABLE_5_4.sum(axis=1) @ TABLE_5_4.sum(axis=0) / 200 == 82
    assert kappa(proba, y, weights=weights) == pytest.approx(58 / 118, abs=1e-15)
    assert (error_rate(proba, y) * weights).sum() / 200 == pytest.approx(0.3)


def test_rates_of_table_5_3():
    # tp rate 6/8, fp rate 3/12: success rate (6 + 9)/20.
    proba, y, weights = rows_of([[9, 3], [2, 6]])
    found = {"weights": weights, "positive": 1}
    assert recall(proba, y, **found) == pytest.approx(6 / 8)
    assert false_positive_rate(proba, y, **found) == pytest.approx(3 / 12)
    assert precision(proba, y, **found) == pytest.approx(6 / 9)
    assert f_score(proba, y, **found) == pytest.approx(2 * 6 / (2 * 6 + 3 + 2))
    assert sensitivity_specificity(proba, y, **found) == pytest.approx(6 / 8 * 9 / 12)
    assert (error_rate(proba, y) * weights).sum() / 20 == pytest.approx(1 - 15 / 20)
    assert balanced_accuracy(proba, y, weights=weights) == pytest.approx((6 / 8 + 9 / 12) / 2)
    usual = (6 * 9 - 3 * 2) / math.sqrt(9 * 8 * 12 * 11)
    assert matthews(proba, y, weights=weights) == pytest.approx(usual)


@given(seeds)
def test_decisions_agree_with_scikit_learn(seed):
    proba, y, weights = draw(seed)
    predicted, k = proba.argmax(axis=1), proba.shape[1]
    given_weights = {"sample_weight": weights}
    theirs = sklearn.metrics.confusion_matrix(y, predicted, labels=range(k), **given_weights)
    np.testing.assert_allclose(confusion_matrix(proba, y, weights=weights), theirs)
    agreement = sklearn.metrics.cohen_kappa_score(y, predicted, **given_weights)
    assert kappa(proba, y, weights=weights) == pytest.approx(agreement)
    correlation = sklearn.metrics.matthews_corrcoef(y, predicted, **given_weights)
    assert matthews(proba, y, weights=weights) == pytest.approx(correlation, abs=1e-12)
    balanced = sklearn.metrics.balanced_accuracy_score(y, predicted, **given_weights)
    assert balanced_accuracy(proba, y, weights=weights) == pytest.approx(balanced)


@given(seeds, st.sampled_from([0.5, 1.0, 2.0]))
def test_precision_recall_and_f_agree_with_scikit_learn(seed, beta):
    proba, y, weights = draw(seed)
    predicted = proba.argmax(axis=1)
    common = {"sample_weight": weights, "zero_division": 0, "labels": range(proba.shape[1])}
    scores = sklearn.metrics.precision_recall_fscore_support
    for average in ("macro", "weighted"):
        theirs = scores(y, predicted, beta=beta, average=average, **common)
        options = {"weights": weights, "average": average}
        assert precision(proba, y, **options) == pytest.approx(theirs[0])
        assert recall(proba, y, **options) == pytest.approx(theirs[1])
        assert f_score(proba, y, beta=beta, **options) == pytest.approx(theirs[2])
    by_class = scores(y, predicted, beta=beta, **common)
    for one, (p, r, f, _) in enumerate(zip(*by_class, strict=True)):
        options = {"weights": weights, "positive": one}
        assert precision(proba, y, **options) == pytest.approx(p)
        assert recall(proba, y, **options) == pytest.approx(r)
        assert f_score(proba, y, beta=beta, **options) == pytest.approx(f)


def test_the_positive_class_is_the_one_given_or_else_the_rarer():
    proba, y, weights = rows_of([[9, 3], [2, 6]])
    assert recall(proba, y, weights=weights) == pytest.approx(6 / 8)  # 8 rows of 20
    assert recall(proba, y, weights=weights, rarer=0) == pytest.approx(9 / 12)
    assert recall(proba, y, weights=weights, rarer=0, positive=1) == pytest.approx(6 / 8)
    # Class 0 has two rows, class 1 three; by weight it is the other way round.
    proba, y = np.eye(2)[[0, 1, 1, 1, 1]], np.array([0, 0, 1, 1, 1])
    assert recall(proba, y) == 0.5
    assert recall(proba, y, weights=np.array([2.0, 2, 1, 1, 1])) == 1
    assert recall(proba[:4], y[:4]) == 1  # of two equally rare classes the last


def test_mean_recall_over_classes_is_balanced_accuracy_and_weighted_recall_accuracy():
    proba, y, weights = rows_of(TABLE_5_4)
    macro = recall(proba, y, weights=weights, average="macro")
    assert macro == pytest.approx(balanced_accuracy(proba, y, weights=weights))
    assert recall(proba, y, weights=weights, average="weighted") == pytest.approx(0.7)


def test_what_is_never_predicted_has_precision_and_f_0():
    proba, y = np.array([[0.8, 0.2], [0.7, 0.3]]), np.array([0, 1])
    assert precision(proba, y, positive=1) == 0
    assert f_score(proba, y, positive=1) == 0
    assert recall(proba, y, positive=1) == 0
    assert matthews(proba, y) == 0
    assert kappa(proba, y) == 0


def test_a_positive_class_without_rows():
    proba, y = np.array([[0.2, 0.8], [0.7, 0.3]]), np.array([0, 0])
    assert precision(proba, y, positive=1) == 0
    assert f_score(proba, y, positive=1) == 0
    # Not predicted either: 0, too, as in Weka, so that no learner is left out of a comparison.
    assert precision(proba[1:], y[1:], positive=1) == 0
    assert f_score(proba[1:], y[1:], positive=1) == 0
    for value in (recall(proba, y, positive=1), sensitivity_specificity(proba, y, positive=1)):
        assert math.isnan(value)
        assert value.reason == "no row of the positive class"
    found = sensitivity_specificity(proba, y, positive=0)
    assert found.reason == "all rows are of the positive class"
    assert false_positive_rate(proba, y, positive=1) == 0.5
    for options in ({"positive": 0}, {"average": "macro"}, {"average": "weighted"}):
        found = false_positive_rate(proba, y, **options)
        assert found.reason == "all rows are of the positive class"


@given(seeds)
def test_false_positive_rates_are_one_minus_the_recall_of_the_rest(seed):
    proba, y, weights = draw(seed)
    predicted, shares = proba.argmax(axis=1), []
    for one in range(proba.shape[1]):
        rest = sklearn.metrics.recall_score(y != one, predicted != one, sample_weight=weights)
        found = false_positive_rate(proba, y, weights=weights, positive=one)
        assert found == pytest.approx(1 - rest, abs=1e-12)
        shares.append((found, weights[y == one].sum()))
    rates, sizes = zip(*shares, strict=True)
    for average, sums in (("macro", None), ("weighted", sizes)):
        found = false_positive_rate(proba, y, weights=weights, average=average)
        assert found == pytest.approx(np.average(rates, weights=sums), abs=1e-12)


def test_one_class_alone():
    proba, y = np.array([[0.8, 0.2], [0.7, 0.3]]), np.array([0, 0])
    assert kappa(proba, y).reason == "all rows are of one class and predicted as it"
    assert matthews(proba, y).reason == "all rows are of one class"
    assert balanced_accuracy(proba, y) == 1
    assert kappa(proba[:, ::-1], y) == 0  # predicted as the other


@pytest.mark.parametrize("measure", [precision, recall, f_score])
def test_wrong_parameters_are_refused_in_a_sentence(measure):
    proba, y = np.array([[0.8, 0.2], [0.7, 0.3]]), np.array([0, 1])
    with pytest.raises(ValueError, match="positive = 2 is not allowed; it must be a class from 0"):
        measure(proba, y, positive=2)
    with pytest.raises(ValueError, match="positive = -1 is not allowed"):
        measure(proba, y, positive=-1, average="macro")
    with pytest.raises(ValueError, match="average = 'micro' is not allowed; it must be one of 'p"):
        measure(proba, y, average="micro")


@pytest.mark.parametrize("beta", [0, -1, math.inf, math.nan])
def test_a_weight_of_recall_must_be_positive(beta):
    with pytest.raises(ValueError, match=r"beta = .* is not allowed; it must be above 0"):
        f_score(np.eye(2), np.arange(2), beta=beta)


def test_no_warning_where_nothing_is_predicted_or_occurs():
    proba, y = np.eye(26)[np.zeros(5, dtype=int)], np.array([3, 3, 4, 0, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for average in ("positive", "macro", "weighted"):
            for measure in (precision, recall, f_score):
                measure(proba, y, average=average)
