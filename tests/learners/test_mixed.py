"""Learners on samples with numbers and missing values, with many attributes, and with one value."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simstudy.data.sample import Sample
from simstudy.data.schema import Schema
from simstudy.learners import (
    AODE,
    C45,
    HNB,
    KDB,
    LBR,
    TAN,
    BoostedC45,
    CaMML,
    DecisionStump,
    MMLGraph,
    MMLTree,
    NaiveBayes,
    OneR,
    Prior,
)
from simstudy.learners.base import Learner
from simstudy.learners.bridges.scikit import scikit_learner

FOREST = scikit_learner("sklearn.ensemble:RandomForestClassifier")
LOGISTIC = scikit_learner("sklearn.linear_model:LogisticRegression")
MIXED: list[Learner] = [
    C45(),
    C45(prune=False, laplace=True),
    BoostedC45(rounds=4),
    OneR(),
    OneR("frequency", min_bucket=2),
    DecisionStump(),
    LOGISTIC(max_iter=1000),
]
each_mixed = pytest.mark.parametrize("learner", MIXED, ids=repr)
CARDS = (3, 0, 2, 0, 3)
NOMINAL = (3, 2, 1, 4, 3)
seeds = st.integers(0, 10**6)


def drawn(seed: int, cards: tuple[int, ...] = CARDS, rows: int = 40, share: float = 0.2) -> Sample:
    """Rows whose attributes depend on the class, some of them missing; numbers have ties."""
    rng = np.random.default_rng(seed)
    target = rng.integers(0, cards[-1], rows)
    columns = []
    for card in cards[:-1]:
        led = (target + rng.integers(0, 3, rows) // 2) % (card or 4)
        column = led / 2 if card == 0 else led
        columns.append(np.where(rng.random(rows) < share, np.nan, column))
    return Sample.of(np.column_stack([*columns, target]), Schema.plain(cards))


@each_mixed
@given(seed=seeds, rows=st.sampled_from([1, 3, 40]))
def test_answers_are_distributions_for_samples_and_arrays_alike(learner, seed, rows) -> None:
    train, test = drawn(seed, rows=rows), drawn(seed + 1)
    fitted = learner.fit(train, np.random.default_rng(0))
    answers = fitted.predict_proba(test)
    assert answers.shape == (len(test), 3)
    assert (answers >= 0).all()
    np.testing.assert_allclose(answers.sum(axis=1), 1, rtol=1e-9)
    np.testing.assert_array_equal(fitted.predict_proba(test.values[:, :-1]), answers)


# Sums of logarithms or fractions in another order can differ in the last digit.
@pytest.mark.parametrize("learner", [OneR(), DecisionStump(), LBR(), LBR(missing_as_first=True)])
@given(seed=seeds)
def test_the_order_of_the_rows_does_not_matter(learner, seed) -> None:
    cards = NOMINAL if isinstance(learner, LBR) else CARDS
    train, test = drawn(seed, cards), drawn(seed + 1, cards)
    other = train.take(np.random.default_rng(seed).permutation(len(train)))
    expected = learner.fit(train).predict_proba(test)
    np.testing.assert_allclose(learner.fit(other).predict_proba(test), expected, atol=1e-9)


@pytest.mark.parametrize("learner", [*MIXED, LBR(), FOREST(n_estimators=3)], ids=repr)
@settings(max_examples=settings.default.max_examples // 4)
@given(seed=seeds)
def test_a_sample_without_numbers_and_gaps_is_a_plain_one(learner, seed) -> None:
    train, test = drawn(seed, NOMINAL, share=0), drawn(seed + 1, NOMINAL, share=0)
    plain = Sample(train.codes, NOMINAL)
    assert train.plain
    expected = learner.fit(plain, np.random.default_rng(0)).predict_proba(test.attributes)
    fitted = learner.fit(train, np.random.default_rng(0))
    np.testing.assert_array_equal(fitted.predict_proba(test), expected)
    np.testing.assert_array_equal(fitted.predict_proba(test.values[:, :-1]), expected)


@pytest.mark.parametrize("learner", [OneR(), OneR("frequency"), DecisionStump(), BoostedC45()])
@settings(max_examples=settings.default.max_examples // 4)
@given(seed=seeds)
def test_weights_count_as_repetitions_of_rows(learner, seed) -> None:
    # With gaps, boosting breaks ties by the last bits of sums in the order of rows, as Weka does.
    sample = drawn(seed, share=0) if isinstance(learner, BoostedC45) else drawn(seed)
    weights = np.random.default_rng(seed).integers(0, 4, size=len(sample))
    weighted = Sample.of(sample.values, sample.schema, weights)
    repeated = sample.take(np.repeat(np.arange(len(sample)), weights))
    if weights.any():
        np.testing.assert_allclose(
            learner.fit(weighted).predict_proba(sample),
            learner.fit(repeated).predict_proba(sample),
            atol=1e-9,
        )


def one_number(values: list[float], classes: list[int]) -> Sample:
    return Sample.of(np.column_stack([values, classes]), Schema.plain((0, 2)))


def test_1r_closes_an_interval_when_one_class_is_frequent_enough() -> None:
    # With two rows: {1, 2} is closed at 2, and 3 is of another class; {3, 4} has only one row of
    # each class until 5 makes two of class 1. A cut belongs to the interval above.
    sample = one_number([1, 2, 3, 4, 5], [0, 0, 1, 0, 1])
    fitted = OneR(min_bucket=2).fit(sample)
    np.testing.assert_array_equal(fitted.leaves, [[1, 0], [0, 1]])
    np.testing.assert_array_equal(fitted.predict_proba([[2.4], [2.5], [np.nan]])[:, 0], [1, 0, 1])
    # With three rows of class 0 needed, 1 to 4 are one interval, and 5 another.
    np.testing.assert_allclose(OneR("frequency", 3).fit(sample).leaves, [[0.75, 0.25], [0, 1]])


def test_a_stump_cuts_between_values_and_keeps_missing_ones_apart() -> None:
    sample = one_number([1, 1, 2, 4, np.nan, np.nan], [0, 0, 0, 1, 1, 0])
    fitted = DecisionStump().fit(sample)
    np.testing.assert_array_equal(fitted.cuts, [3])
    np.testing.assert_array_equal(
        fitted.predict_proba([[3], [3.1], [np.nan]]), [[1, 0], [0, 1], [0.5, 0.5]]
    )


@pytest.mark.parametrize("learner", [OneR(), OneR("frequency"), DecisionStump()])
def test_attributes_without_two_values_leave_the_class_frequencies(learner) -> None:
    for column in ([2.0] * 3, [np.nan] * 3):
        fitted = learner.fit(one_number(column, [0, 0, 1]))
        answers = fitted.predict_proba([[2.0], [np.nan], [5.0]])
        expected = [1, 0] if learner == OneR() else [2 / 3, 1 / 3]
        np.testing.assert_allclose(answers, [expected] * 3)


def test_lbr_leaves_a_missing_value_out_of_its_counts() -> None:
    # Too few rows for a rule: Naive Bayes, P(c) ∝ (n_c + 1) Π (n_cv + 1)/(n_c,known + r).
    sample = Sample.of([[0, 0, 0], [np.nan, 0, 0], [1, 1, 1]], Schema.plain((2, 2, 2)))
    joint = [
        Fraction(3) * Fraction(1 + 1, 1 + 2) * Fraction(2 + 1, 2 + 2),
        Fraction(2) * Fraction(0 + 1, 1 + 2) * Fraction(0 + 1, 1 + 2),
    ]
    first = float(joint[0] / sum(joint))
    np.testing.assert_allclose(LBR().fit(sample).predict_proba([[0, 0]])[0, 0], first)
    # Counted as the first value, the missing one adds to 0; asked for, it is skipped.
    joint[0] = Fraction(3) * Fraction(2 + 1, 2 + 2) * Fraction(2 + 1, 2 + 2)
    as_first = LBR(missing_as_first=True).fit(sample)
    first = float(joint[0] / sum(joint))
    np.testing.assert_allclose(as_first.predict_proba([[0, 0]])[0, 0], first)
    skipped = [Fraction(3) * Fraction(3, 4), Fraction(2) * Fraction(1, 3)]
    np.testing.assert_allclose(
        LBR().fit(sample).predict_proba([[np.nan, 0]])[0, 0], float(skipped[0] / sum(skipped))
    )


def test_numbers_are_standardised_and_gaps_filled_by_the_training_rows() -> None:
    values = [[0, 1.0, 0], [1, np.nan, 1], [np.nan, 5.0, 0], [1, 3.0, 1]]
    train = Sample.of(values, Schema.plain((3, 0, 2)), [1, 2, 3, 1])
    fitted = scikit_learner("sklearn.naive_bayes:GaussianNB")(scale=True).fit(train)
    # Weights 1, 3, 1: mean (1 + 15 + 3)/5 = 3.8, variance (2.8² + 3·1.2² + 0.8²)/5 = 2.56.
    encoded = fitted._encoder([[np.nan, np.nan], [2, 5.4]])
    np.testing.assert_allclose(encoded, [[0, 1, 0, 0], [0, 0, 1, 1]], atol=1e-12)
    ordinal = scikit_learner("sklearn.naive_bayes:GaussianNB")(encode="ordinal", scale=True)
    encoded = ordinal.fit(train)._encoder([[np.nan, 2.2]])
    np.testing.assert_allclose(encoded, [[1, -1]], atol=1e-12)


def test_numbers_are_used_as_they_are_and_gaps_left_to_classifiers_that_take_them() -> None:
    values = [[0, 1.0, 0], [1, np.nan, 1], [np.nan, 5.0, 0], [1, 3.0, 1]]
    train = Sample.of(values, Schema.plain((3, 0, 2)), [1, 2, 3, 1])
    rows = [[np.nan, np.nan], [2, 5.4]]
    fitted = scikit_learner("sklearn.naive_bayes:GaussianNB")().fit(train)
    # The weighted mean is 3.8, as above; the most frequent value 1.
    np.testing.assert_allclose(fitted._encoder(rows), [[0, 1, 0, 3.8], [0, 0, 1, 5.4]], atol=1e-12)
    tree = scikit_learner("sklearn.tree:DecisionTreeClassifier")().fit(train)
    np.testing.assert_array_equal(tree._encoder(rows), [[0, 1, 0, np.nan], [0, 0, 1, 5.4]])


def test_a_constant_number_is_not_magnified_by_the_rounding_of_its_mean() -> None:
    # The mean of six times 0.1 is less than 0.1 in the last bit.
    train = Sample.of([[0.1, 0], [0.1, 1]] * 3, Schema.plain((0, 2)))
    fitted = scikit_learner("sklearn.naive_bayes:GaussianNB")(scale=True).fit(train)
    np.testing.assert_allclose(fitted._encoder([[0.1], [0.3]]), [[0], [0.2]], atol=1e-12)


@pytest.mark.parametrize(
    "learner", [LBR(), LOGISTIC(), C45(), BoostedC45(), OneR(), DecisionStump()], ids=repr
)
def test_rows_with_gaps_are_predicted_after_training_without_any(learner) -> None:
    train = drawn(3, NOMINAL, share=0)
    answers = learner.fit(train, np.random.default_rng(0)).predict_proba([[np.nan, -1, 0, 1]])
    assert np.isfinite(answers).all()
    np.testing.assert_allclose(answers.sum(axis=1), 1)


ALL: list[Learner] = [
    *(Prior(), NaiveBayes(), TAN(), TAN(search="likelihood"), TAN(search="superparent")),
    *(AODE(), HNB(), KDB(), LBR(), C45(), BoostedC45(), OneR(), DecisionStump()),
    *(MMLTree(), MMLGraph(), LOGISTIC(), FOREST(n_estimators=5)),
]


@pytest.mark.parametrize("learner", [*ALL, CaMML(), CaMML(search="sample")], ids=repr)
def test_attributes_of_one_value_are_no_trouble(learner) -> None:
    for cards in ((1, 3, 1, 2), (1, 1, 2), (1, 2, 3, 1)):
        codes = np.random.default_rng(0).integers(0, cards, size=(30, len(cards)))
        sample = Sample(codes, cards)
        answers = learner.fit(sample, np.random.default_rng(0)).predict_proba(sample)
        assert answers.shape == (30, cards[-1])
        np.testing.assert_allclose(answers.sum(axis=1), 1)


@pytest.mark.slow
@pytest.mark.parametrize("learner", ALL, ids=repr)
def test_sixty_attributes_and_twenty_six_classes_are_learned(learner) -> None:
    rng = np.random.default_rng(1)
    target = rng.integers(0, 26, 500)
    noise = rng.integers(0, 3, (500, 60))
    codes = np.where(rng.random((500, 60)) < 0.3, (target[:, None] + np.arange(60)) % 3, noise)
    sample = Sample(np.column_stack([codes, target]), [3] * 60 + [26])
    answers = learner.fit(sample, np.random.default_rng(0)).predict_proba(sample.take([0, 1, 2]))
    np.testing.assert_allclose(answers.sum(axis=1), 1)


@pytest.mark.parametrize("numeric", ["gaussian", "kernel"])
@pytest.mark.parametrize("scale", [2.0**1015, 2.0**520])
def test_the_scale_of_numbers_does_not_matter_to_their_densities(numeric, scale):
    rng = np.random.default_rng(0)
    values = np.column_stack([rng.normal(size=40) + 100, np.arange(40) % 2])
    train, test = values[:30], values[30:, :1]
    learner, schema = NaiveBayes(numeric=numeric), Schema.plain((0, 2))
    expected = learner.fit(Sample.of(train, schema)).predict_proba(test)
    fitted = learner.fit(Sample.of(train * [scale, 1], schema))
    np.testing.assert_allclose(fitted.predict_proba(test * scale), expected, rtol=1e-9)
    far = fitted.predict_proba([[-1.7e308], [1.7e308], [0.0]])  # and no warning
    np.testing.assert_allclose(far.sum(axis=1), 1)


@pytest.mark.parametrize("learner", [C45(), DecisionStump(), OneR(min_bucket=2)])
def test_the_largest_numbers_can_be_cut(learner: Learner) -> None:
    rows = [[number, label] for label, number in enumerate((1e308, 1.5e308)) for _ in range(6)]
    fitted = learner.fit(Sample.of(rows, Schema.plain((0, 2))))
    np.testing.assert_array_equal(fitted.predict_proba([[1e308], [1.5e308]]), [[1, 0], [0, 1]])
