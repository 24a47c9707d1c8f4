"""Naive Bayes with numbers: by hand, value by value, and by laws."""

import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simstudy.data.sample import Sample
from simstudy.data.schema import Schema, Variable
from simstudy.learners import NaiveBayes, Prior
from simstudy.learners.bayes.density import Kernels, Normals

SCHEMA = Schema(
    (
        Variable("length"),
        Variable("colour", ("red", "green", "blue")),
        Variable("width"),
        Variable("class", ("a", "b", "c")),
    )
)
seeds = st.integers(0, 10**6)
each_density = pytest.mark.parametrize("numeric", ["gaussian", "kernel"])


def drawn(seed: int, rows: int, share: float = 0.2) -> Sample:
    rng = np.random.default_rng(seed)
    target = rng.integers(0, 3, rows)
    length = np.round(rng.normal(target, 1.5), 1)
    colour = np.where(rng.random(rows) < 0.6, target, rng.integers(0, 3, rows))
    values = np.column_stack([length, colour, np.round(rng.gamma(2 + target), 2), target])
    values[:, :-1][rng.random((rows, 3)) < share] = np.nan
    return Sample.of(values, SCHEMA)


def cdf(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2))


def precision(values: list[float]) -> float:
    distinct = sorted({*values})
    gaps = [b - a for a, b in itertools.pairwise(distinct)]
    return sum(gaps) / len(gaps) if gaps else 0.01


def normal(x: float, rows: list[float], delta: float) -> float:
    """The probability of the interval around a rounded number by the normal of rounded rows."""
    rounded = [round(value / delta) * delta for value in rows]
    mean = sum(rounded) / len(rounded) if rows else 0.0
    spread = math.sqrt(sum((r - mean) ** 2 for r in rounded) / len(rounded)) if rows else 0.0
    spread = max(spread, delta / 6)
    x = round(x / delta) * delta
    return cdf((x - mean + delta / 2) / spread) - cdf((x - mean - delta / 2) / spread)


def kernels(x: float, rows: list[float], delta: float) -> float:
    """The mean of such intervals around every row, added up until the rest is negligible."""
    rounded = sorted(round(value / delta) * delta for value in rows)
    centres = sorted({*rounded})
    width = delta / 6
    if len(centres) > 1:
        width = max((centres[-1] - centres[0]) / math.sqrt(len(rows)), width)
    above = [centre for centre in centres if centre >= x]
    below = [centre for centre in centres if centre < x][::-1]
    total, left = 0.0, len(rows)
    for side in (above, below):
        for centre in side:
            z = centre - x
            kernel = cdf((z + delta / 2) / width) - cdf((z - delta / 2) / width)
            times = rounded.count(centre)
            total += kernel * times
            left -= times
            if kernel * left < 0.01 * total:
                break
    return total / len(rows)


def by_hand(sample: Sample, row: list[float], density) -> list[float]:
    joint = []
    for label in range(3):
        own = sample.values[sample.target == label]
        proba = (len(own) + 1) / (len(sample) + 3)
        for place in (0, 2):
            known = [x for x in sample.values[:, place].tolist() if not math.isnan(x)]
            rows = [x for x in own[:, place].tolist() if not math.isnan(x)]
            if not math.isnan(row[place]):
                proba *= max(density(row[place], rows, precision(known)), 1e-75)
        if not math.isnan(row[1]):
            colours = own[:, 1][~np.isnan(own[:, 1])]
            proba *= ((colours == row[1]).sum() + 1) / (len(colours) + 3)
        joint.append(proba)
    return [proba / sum(joint) for proba in joint]


@pytest.mark.parametrize(("numeric", "density"), [("gaussian", normal), ("kernel", kernels)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_probabilities_are_the_formula_over_known_values(numeric, density, seed):
    sample, rows = drawn(seed, 60), drawn(seed + 100, 40, 0.3)
    proba = NaiveBayes(numeric=numeric).fit(sample).predict_proba(rows)
    expected = [by_hand(sample, row, density) for row in rows.values.tolist()]
    np.testing.assert_allclose(proba, expected, rtol=0, atol=1e-10)


def test_a_class_without_values_is_a_narrow_normal_at_nought():
    # Values 1 and 3 of class 0: δ = 2. Class 1 has mean 0 and standard deviation 2/6, so that the
    # interval from -1 to 1 holds 1 - 2 Φ(-3) of it.
    values, target = np.array([1.0, 3.0]), np.array([0, 0])
    for density in (Normals, Kernels):
        fitted = density(values, target, np.ones(2), 2)
        found = fitted.probabilities(np.array([0.0]))[1, 0]
        assert math.isclose(found, 1 - 2 * cdf(-3), rel_tol=1e-12)


def test_constant_numbers_have_the_default_precision():
    # δ = .01, σ = δ/6: the number itself has 1 - 2 Φ(-3), another one nothing, in every class.
    values = np.column_stack([np.full(6, 2.5), [0, 0, 0, 1, 1, 1]])
    schema = Schema((Variable("x"), Variable("y", ("a", "b"))))
    fitted = NaiveBayes().fit(Sample.of(values, schema))
    np.testing.assert_allclose(fitted.predict_proba([[2.5], [9.0], [np.nan]]), 0.5, rtol=1e-12)
    density = Normals(values[:, 0], values[:, 1].astype(int), np.ones(6), 2)
    np.testing.assert_allclose(density.probabilities(np.array([2.5])), 1 - 2 * cdf(-3), rtol=1e-9)


def test_kernels_have_a_precision_of_at_least_a_millionth():
    # The gaps are 1e-7, but δ = 1e-6, so that all three values are rounded to 0: one kernel of
    # standard deviation δ/6, of which δ/2 on either side hold 1 - 2 Φ(-3).
    values, target = np.array([0.0, 1e-7, 2e-7]), np.zeros(3, dtype=int)
    fitted = Kernels(values, target, np.ones(3), 1)
    np.testing.assert_allclose(fitted.probabilities(np.zeros(1)), 1 - 2 * cdf(-3), rtol=1e-12)


@each_density
@given(seeds, st.floats(0, 0.95))
@example(128, 0.9375)  # an attribute without a known value
def test_probabilities_sum_to_one_and_do_not_depend_on_other_rows(numeric, seed, share):
    sample, rows = drawn(seed, 30, share), drawn(seed + 1, 20, share)
    fitted = NaiveBayes(numeric=numeric).fit(sample)
    proba = fitted.predict_proba(rows)
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-12)
    array = rows.values[:, :-1].copy()
    np.testing.assert_array_equal(fitted.predict_proba(array), proba)
    array[np.isnan(array[:, 1]), 1] = -1  # a missing code
    np.testing.assert_array_equal(fitted.predict_proba(array), proba)
    alone = np.concatenate([fitted.predict_proba(rows.take([i])) for i in range(20)])
    np.testing.assert_allclose(alone, proba, rtol=0, atol=1e-14)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict_proba(rows), proba)


@each_density
@given(seeds)
def test_the_order_of_rows_and_attributes_changes_nothing(numeric, seed):
    learner, sample, rows = NaiveBayes(numeric=numeric), drawn(seed, 50), drawn(seed + 1, 20)
    proba = learner.fit(sample).predict_proba(rows)
    mixed = sample.take(np.random.default_rng(seed).permutation(50))
    np.testing.assert_allclose(learner.fit(mixed).predict_proba(rows), proba, rtol=0, atol=1e-12)
    order = [2, 0, 1, 3]
    schema = Schema(tuple(SCHEMA.variables[v] for v in order))
    moved = [Sample.of(one.values[:, order], schema) for one in (sample, rows)]
    found = learner.fit(moved[0]).predict_proba(moved[1])
    np.testing.assert_allclose(found, proba, rtol=0, atol=1e-12)


@each_density
def test_a_weight_of_two_is_two_rows_and_of_nought_is_none(numeric):
    sample, rows = drawn(3, 40), drawn(4, 20)
    times = np.random.default_rng(0).integers(0, 3, 40)
    learner = NaiveBayes(numeric=numeric)
    weighted = learner.fit(Sample.of(sample.values, SCHEMA, times)).predict_proba(rows)
    repeated = learner.fit(sample.take(np.repeat(np.arange(40), times))).predict_proba(rows)
    np.testing.assert_allclose(weighted, repeated, rtol=0, atol=1e-10)


@each_density
def test_many_rows_are_those_of_parts(numeric):
    sample = drawn(5, 3000)  # more kernels than are evaluated at once
    fitted = NaiveBayes(numeric=numeric).fit(sample)
    proba = fitted.predict_proba(sample)
    np.testing.assert_allclose(
        fitted.predict_proba(sample.take(np.arange(1500, 1600))), proba[1500:1600], atol=1e-14
    )


@each_density
def test_far_numbers_give_finite_probabilities(numeric):
    fitted = NaiveBayes(numeric=numeric).fit(drawn(6, 50))
    far = [[1e300, 0, -1e300], [-1e300, np.nan, 1e-300], [1e3, 2, 1e3]]
    proba = fitted.predict_proba(far)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1)


@each_density
def test_nominal_attributes_alone_are_as_before_to_the_last_bit(numeric):
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, size=(80, 4))
    sample = Sample(codes, (3, 3, 3, 3))
    np.testing.assert_array_equal(
        NaiveBayes(numeric=numeric).fit(sample).predict_proba(codes[:, :3]),
        NaiveBayes().fit(sample).predict_proba(codes[:, :3]),
    )


def test_bins_are_cut_in_the_training_rows():
    discretize = pytest.importorskip("simstudy.data.preparation.discretize")
    sample, rows = drawn(7, 200), drawn(8, 30)
    cut = discretize.Discretizer.fit(sample)
    fitted = NaiveBayes(numeric="discretize").fit(sample)
    expected = NaiveBayes().fit(cut(sample)).predict_proba(cut(rows))
    np.testing.assert_array_equal(fitted.predict_proba(rows), expected)
    np.testing.assert_array_equal(fitted.predict_proba(rows.values[:, :-1]), expected)
    assert "discretised" in repr(fitted)


def test_the_baseline_accepts_everything():
    sample = drawn(9, 30)
    fitted = Prior(alpha=1).fit(sample)
    expected = (np.bincount(sample.target, minlength=3) + 1) / 33
    for rows in (sample, sample.values[:, :-1]):
        np.testing.assert_allclose(fitted.predict_proba(rows), np.tile(expected, (30, 1)))


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([[0.0, 0.0]], "one column for each of the 3"),
        ([[0.0, 3.0, 0.0]], "attribute 1 has 3 values"),
        ([[0.0, 0.5, 0.0]], "codes must be integers"),
        ([[np.inf, 0.0, 0.0]], "finite"),
    ],
)
def test_rows_that_do_not_fit_are_refused(rows, words):
    fitted = NaiveBayes().fit(drawn(1, 20))
    with pytest.raises(ValueError, match=words):
        fitted.predict_proba(rows)


def test_an_unknown_way_with_numbers_is_refused_by_name():
    with pytest.raises(ValueError, match=r"numeric = 'normal' is not allowed; .*gaussian, k"):
        NaiveBayes(numeric="normal")


def test_reprs_say_which_densities():
    sample = drawn(1, 20)
    assert "3 attributes, 3 classes; normal densities" in repr(NaiveBayes().fit(sample))
    assert "kernel densities" in repr(NaiveBayes(numeric="kernel").fit(sample))
