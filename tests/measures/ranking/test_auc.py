"""AUC, SAR and H measure: worked examples, brute force and scikit-learn."""

import math
from itertools import combinations, pairwise

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from simstudy.measures import auc, average_precision, h_measure, lift, sar
from simstudy.measures.intervals import delong

seeds = st.integers(0, 2**32 - 1)
# Witten, Frank & Hall 2011, table 5.6: 13 yes, 6 no.
TABLE_5_6 = [
    *(0.95, 0.93, 0.93, 0.88, 0.86, 0.85, 0.82, 0.80, 0.80, 0.79),
    *(0.77, 0.76, 0.73, 0.65, 0.63, 0.58, 0.56, 0.49, 0.48),
]
TABLE_5_6_YES = np.array([1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 0, 1, 1, 0, 1, 0, 1, 0, 1])


def two_classes(q):
    return np.column_stack([1 - np.asarray(q), q])


def draw(seed, classes=2):
    """Random predictions with ties, classes of which each occurs, and weights, some of them 0."""
    rng = np.random.default_rng(seed)
    n = classes + int(rng.integers(5, 60))
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, n - classes)])
    proba = rng.dirichlet(np.ones(classes), n)
    if seed % 3:
        proba = np.round(proba, seed % 3)
    weights = rng.random(n) * rng.integers(0, 2, n)
    weights[:classes] += 0.5
    return proba, y, weights


def test_auc_of_table_5_6_is_49_of_78():
    # 78 pairs of a yes and a no; two of them are ties.
    proba = two_classes(TABLE_5_6)
    assert auc(proba, TABLE_5_6_YES, positive=1) == pytest.approx(49 / 78, abs=1e-15)
    listed = two_classes(np.arange(19, 0, -1) / 20)
    assert auc(listed, TABLE_5_6_YES, positive=1) == pytest.approx(50 / 78, abs=1e-15)


@pytest.mark.parametrize(
    ("ranked", "expected"),
    [
        # Huang & Ling 2007, tables 1 and 2, from the lowest probability; in table 2 they print
        # 2/5, and their formula gives 3/5.
        ("---++--+++", 21 / 25),
        ("+----++++-", 16 / 25),
        ("--++-++--+", 15 / 25),
        ("--+++--+-+", 15 / 25),
    ],
)
def test_auc_of_the_ranked_lists_of_huang_and_ling(ranked, expected):
    y = np.array([mark == "+" for mark in ranked]).astype(int)
    assert auc(two_classes(np.arange(1, 11) / 20), y) == pytest.approx(expected, abs=1e-15)


def test_auc_and_sar_of_the_probabilities_of_table_4_of_huang_and_ling():
    # The upper half of T = i/10 is positive; they give an AUC of .68 and an accuracy of .6.
    p = np.array([0, 0.15, 0.6, 0.5, 0.95, 0.2, 0.65, 0.7, 1.0, 0.4])
    y = np.repeat([0, 1], 5)
    assert auc(two_classes(p), y) == pytest.approx(0.68)
    rms = math.sqrt(((p - y) ** 2).mean())
    assert sar(two_classes(p), y) == pytest.approx((0.6 + 0.68 + 1 - rms) / 3)


@given(seeds)
def test_auc_agrees_with_scikit_learn_and_with_all_pairs(seed):
    proba, y, weights = draw(seed)
    q = proba[:, 1]
    for given_weights in (None, weights):
        theirs = sklearn.metrics.roc_auc_score(y, q, sample_weight=given_weights)
        assert auc(proba, y, weights=given_weights, positive=1) == pytest.approx(theirs)
    above, below = q[y == 1][:, None], q[y == 0]
    pairs = np.outer(weights[y == 1], weights[y == 0])
    won = pairs * ((above > below) + 0.5 * (above == below))
    expected = won.sum() / pairs.sum()
    assert auc(proba, y, weights=weights, positive=1) == pytest.approx(expected)


@given(seeds)
def test_auc_of_several_classes_is_the_mean_over_pairs_or_over_classes(seed):
    proba, y, weights = draw(seed, classes=2 + seed % 4)
    classes = range(proba.shape[1])
    for given_weights in (np.ones(len(y)), weights):
        areas = []
        for i, j in combinations(classes, 2):
            rows = (y == i) | (y == j)
            for one in (i, j):
                kept = {"weights": given_weights[rows], "positive": one}
                areas.append(auc(proba[rows], y[rows], **kept))
        found = auc(proba, y, weights=given_weights, average="hand_till")
        assert found == pytest.approx(np.mean(areas))
        single = [auc(proba, y, weights=given_weights, positive=one) for one in classes]
        shares = [given_weights[y == one].sum() for one in classes]
        found = auc(proba, y, weights=given_weights, average="weighted")
        assert found == pytest.approx(np.average(single, weights=shares))


@given(seeds)
def test_hand_and_till_agrees_with_scikit_learn(seed):
    proba, y, _ = draw(seed - seed % 3, classes=3 + seed % 3)  # without rounding: rows sum to one
    theirs = sklearn.metrics.roc_auc_score(y, proba, multi_class="ovo")
    assert auc(proba, y) == pytest.approx(theirs)
    theirs = sklearn.metrics.roc_auc_score(y, proba, multi_class="ovr", average="weighted")
    assert auc(proba, y, average="weighted") == pytest.approx(theirs)


@given(seeds)
def test_areas_of_weighted_rows_against_the_rest_agree_with_scikit_learn(seed):
    # For pairs of classes scikit-learn takes no weights.
    proba, y, weights = draw(seed - seed % 3, classes=3 + seed % 3)
    theirs = sklearn.metrics.roc_auc_score(
        y, proba, multi_class="ovr", average="weighted", sample_weight=weights
    )
    assert auc(proba, y, average="weighted", weights=weights) == pytest.approx(theirs)


def test_classes_without_rows_are_left_out():
    rng = np.random.default_rng(1)
    proba, y = rng.dirichlet(np.ones(26), 40), rng.choice([2, 7, 25], 40)
    present = np.unique(y)
    narrow, codes = proba[:, present], np.searchsorted(present, y)
    for average in ("hand_till", "weighted"):
        assert auc(proba, y, average=average) == auc(narrow, codes, average=average)
    assert auc(proba, y) == auc(proba, y, average="hand_till")


def test_auc_without_two_classes_is_undefined():
    proba = np.random.default_rng(0).dirichlet(np.ones(3), 5)
    y = np.ones(5, dtype=int)
    for average in (None, "hand_till", "weighted"):
        assert auc(proba, y, average=average).reason == "fewer than two classes occur"
        assert sar(proba, y, average=average).reason == "fewer than two classes occur"
    assert auc(proba, y, positive=0).reason == "no row of the positive class"
    assert auc(proba, y, positive=1).reason == "all rows are of the positive class"
    weights = np.array([1.0, 1, 1, 0, 0])
    y[3:] = 0
    assert auc(proba, y, weights=weights).reason == "fewer than two classes occur"
    assert auc(proba, y, weights=weights, positive=0).reason == "no row of the positive class"


def test_a_wrong_average_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match="average = 'macro' is not allowed; it must be one of 'ha"):
        auc(np.eye(2), np.arange(2), average="macro")
    with pytest.raises(ValueError, match="positive = 2 is not allowed"):
        auc(np.eye(2), np.arange(2), average="hand_till", positive=2)


def test_scores_of_any_size_are_ranked():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 200)
    for q in (rng.normal(size=200), 10 * rng.random(200), np.round(rng.normal(size=200), 1)):
        theirs = sklearn.metrics.roc_auc_score(y, q)
        assert auc(two_classes(q), y, positive=1) == pytest.approx(theirs)


def test_probabilities_that_are_equal_but_for_rounding_tie():
    q = np.array([0.5, 0.5 * (1 + 4e-13), 0.3, 0.3 * (1 + 6e-13), 5e-324, 0.0])
    # The positive rows, second, fourth and fifth, exceed 2, 2 and 1 of the others; the second ties.
    y = np.array([0, 1, 0, 1, 1, 0])
    for order in (np.arange(6), np.arange(6)[::-1]):
        for weights in (None, np.ones(6)):
            area = auc(two_classes(q[order]), y[order], positive=1, weights=weights)
            assert area == pytest.approx(5.5 / 9, abs=1e-15)
    assert auc(two_classes([0.0, -0.0]), np.array([0, 1]), positive=1) == 0.5
    # a chain of ties is one group; so it is if only one class has the links
    chain = 0.5 * (1 + 4e-13 * np.arange(5))
    assert auc(two_classes(chain), np.array([0, 1, 1, 1, 0]), positive=1) == 0.5
    assert delong(two_classes(chain), np.array([0, 1, 1, 1, 0]), positive=1).value == 0.5


@pytest.mark.parametrize("measure", [auc, h_measure, average_precision, lift])
@given(seed=st.integers(0, 10**6))
def test_names_of_classes_do_not_change_a_ranking(measure, seed):
    """Renaming classes changes the order of sums, hence the last bits of probabilities."""
    rng = np.random.default_rng(seed)
    proba, y, _ = draw(seed - seed % 3 + 1, classes=3)  # with ties
    noisy = proba * (1 + 1e-14 * rng.uniform(-1, 1, proba.shape))
    permutation = rng.permutation(3)
    renamed = noisy[:, permutation]
    names = np.argsort(permutation)
    for positive in range(3):
        value = measure(proba, y, positive=positive)
        other = measure(renamed, names[y], positive=int(names[positive]))
        assert other == pytest.approx(value, abs=1e-12, nan_ok=True)


@given(seeds)
def test_sar_is_the_mean_of_its_parts(seed):
    proba, y, weights = draw(seed - seed % 3, classes=2 + seed % 3)
    actual = np.eye(proba.shape[1])[y]
    square = np.average(((proba - actual) ** 2).mean(axis=1), weights=weights)
    right = np.average(proba.argmax(axis=1) == y, weights=weights)
    for average in (None, "weighted"):
        area = auc(proba, y, weights=weights, average=average)
        expected = (right + area + 1 - math.sqrt(square)) / 3
        assert sar(proba, y, weights=weights, average=average) == pytest.approx(expected)


def h_by_integration(q, y, weights):
    """Hand's H with every threshold tried at every cost."""
    pi = np.array([weights[y == one].sum() for one in (0, 1)]) / weights.sum()
    thresholds = [*np.unique(q), np.inf]
    rates = [
        [weights[(y == one) & (q >= t)].sum() / weights[y == one].sum() for t in thresholds]
        for one in (0, 1)
    ]
    false, true = map(np.array, rates)
    density = stats.beta(1 + pi[1], 1 + pi[0]).pdf

    def least(c):
        return (c * pi[0] * false + (1 - c) * pi[1] * (1 - true)).min() * density(c)

    def chance(c):
        return min(c * pi[0], (1 - c) * pi[1]) * density(c)

    options = {"limit": 2000, "epsabs": 1e-10, "epsrel": 1e-10}
    kinks = sorted({0.0, *np.linspace(0, 1, 41), float(pi[1]), 1.0})
    spans = list(pairwise(kinks))
    loss, most = (
        sum(integrate.quad(f, *span, **options)[0] for span in spans) for f in (least, chance)
    )
    return 1 - loss / most


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_h_is_the_integral_over_costs_with_every_threshold_tried(seed):
    proba, y, weights = draw(seed)
    q, given_weights = proba[:, 1], weights if seed % 2 else None
    found = h_measure(proba, y, weights=given_weights, positive=1)
    expected = h_by_integration(q, y, np.ones(len(y)) if given_weights is None else weights)
    assert found == pytest.approx(expected, abs=1e-7)


def test_h_of_a_small_case_by_hand():
    # Scores + − + −: the hull is (0, 0), (0, ½), (½, 1), (1, 1). π = ½ each: Beta(3/2, 3/2).
    q, y = np.array([0.9, 0.8, 0.7, 0.6]), np.array([1, 0, 1, 0])
    # Losses: ¼ (1 − c) for c > ½, ¼ c for c < ½; by chance twice as much. So H = ½.
    assert h_measure(two_classes(q), y, positive=1) == pytest.approx(0.5)


def test_h_is_0_for_constant_and_1_for_perfect_probabilities():
    y = np.array([0, 0, 0, 1, 1])
    assert h_measure(two_classes(np.full(5, 0.3)), y) == 0
    assert h_measure(two_classes(y / 2), y) == 1
    assert h_measure(two_classes(1 - y / 2), y, positive=1) == 0
    weights = np.array([0.1, 0.2, 0.3, 0.1, 0.3])
    assert h_measure(two_classes(np.full(5, 0.3)), y, weights=weights) == 0
    assert h_measure(two_classes(y / 2), y, weights=weights) == 1


@given(seeds)
def test_h_depends_on_the_ranking_alone_and_lies_between_0_and_1(seed):
    proba, y, weights = draw(seed)
    found = h_measure(proba, y, weights=weights, positive=1)
    assert -1e-12 <= found <= 1
    again = h_measure(np.square(proba), y, weights=weights, positive=1)
    assert again == pytest.approx(found, abs=1e-12)


def test_h_without_both_kinds_of_rows_is_undefined():
    proba, y = np.full((3, 2), 0.5), np.zeros(3, dtype=int)
    assert h_measure(proba, y, positive=1).reason == "no row of the positive class"
    assert h_measure(proba, y, positive=0).reason == "all rows are of the positive class"
