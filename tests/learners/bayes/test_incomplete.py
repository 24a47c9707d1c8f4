"""Missing values are left out: by hand, row by row, and by laws."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simstudy.data.codes import MISSING
from simstudy.data.sample import Sample
from simstudy.data.schema import Schema
from simstudy.learners import AODE, HNB, KDB, TAN, NaiveBayes, Prior
from simstudy.learners.base import Learner
from simstudy.learners.bayes.hnb import shared_information
from simstudy.learners.bayes.superparent import LeaveOneOutScores
from simstudy.learners.bayes.tree_searches import (
    class_information,
    conditional_mutual_information,
    likelihood_gains,
)

CARDS = (2, 3, 4, 2, 3)
TARGET = len(CARDS) - 1
PLACES = range(TARGET)
LEARNERS: list[Learner] = [
    NaiveBayes(),
    NaiveBayes(alpha=0.3),
    AODE(),
    AODE(m=2),
    AODE(min_frequency=12),
    TAN(),
    TAN(search="likelihood"),
    KDB(k=2),
    HNB(),
    Prior(),
]
seeds = st.integers(0, 10**6)
each_learner = pytest.mark.parametrize("learner", LEARNERS, ids=repr)


def drawn(seed: int, rows: int = 60, share: float = 0.25) -> Sample:
    """Dependent attributes with missing values."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, CARDS, size=(rows, len(CARDS)))
    for i in PLACES:
        led = (codes[:, -1] + codes[:, i - 1]) % CARDS[i]
        codes[:, i] = np.where(rng.random(rows) < 0.5, led, codes[:, i])
    values = codes.astype(float)
    values[:, :-1][rng.random((rows, TARGET)) < share] = np.nan
    return Sample.of(values, Schema.plain(CARDS))


def count(sample: Sample, **values: int) -> int:
    """Rows with these values; ``x0=1`` is value 1 of variable 0, ``x0=None`` any known one."""
    wanted = {int(name[1:]): value for name, value in values.items()}
    return sum(
        all(row[v] != MISSING and value in (None, row[v]) for v, value in wanted.items())
        for row in sample.codes.tolist()
    )


def named(**values: int | None) -> dict[str, int]:
    return values  # type: ignore[return-value]


def ratio(sample: Sample, child: int, value: int, alpha: float, **given: int) -> float:
    """P(x_child | given) from the rows that have all of these."""
    above = count(sample, **given, **{f"x{child}": value})
    below = count(sample, **given, **named(**{f"x{child}": None}))
    return (above + alpha) / (below + CARDS[child] * alpha)


def prior(sample: Sample, label: int, alpha: float) -> float:
    return (count(sample, x4=label) + alpha) / (len(sample) + CARDS[-1] * alpha)


def by_families(sample: Sample, row: list[int], label: int, parents, alpha: float) -> float:
    """P(c) Π P(x_i | c, known parents)."""
    joint = prior(sample, label, alpha)
    for i in PLACES:
        if row[i] != MISSING:
            given = {f"x{u}": row[u] for u in parents[i] if row[u] != MISSING}
            joint *= ratio(sample, i, row[i], alpha, x4=label, **given)
    return joint


def by_aode(sample: Sample, row: list[int], label: int) -> float:
    """The sum over known parents; every value is seen."""
    total, known = 0.0, [i for i in PLACES if row[i] != MISSING]
    for i in known:
        own = {f"x{i}": row[i]}
        rows_of_i = count(sample, **named(**{f"x{i}": None}))
        joint = (count(sample, x4=label, **own) + 1) / (rows_of_i + CARDS[-1] * CARDS[i])
        for j in known:
            if j != i:
                joint *= ratio(sample, j, row[j], 1, x4=label, **own)
        total += joint
    return total if known else prior(sample, label, 1)


def information(sample: Sample, i: int, j: int) -> float:
    """I(X_i; X_j | C) in nats of the rows that have both, over all rows."""
    total, both = 0.0, {f"x{i}": None, f"x{j}": None}
    for label, a, b in itertools.product(range(CARDS[-1]), range(CARDS[i]), range(CARDS[j])):
        at_i, at_j = named(**{**both, f"x{i}": a}), named(**{**both, f"x{j}": b})
        n = count(sample, x4=label, **{f"x{i}": a, f"x{j}": b})
        if n:
            above = n * count(sample, x4=label, **named(**both))
            below = count(sample, x4=label, **at_i) * count(sample, x4=label, **at_j)
            total += n * math.log(above / below)
    return total / len(sample)


def by_hnb(sample: Sample, row: list[int], label: int) -> float:
    """The hidden parent mixes P(x_i | x_j, c), or P(x_i | c) where x_j is missing."""
    joint = prior(sample, label, 1 / CARDS[-1])
    for i in PLACES:
        if row[i] != MISSING:
            weights = {j: information(sample, i, j) for j in PLACES if j != i}
            blend = 0.0
            for j, weight in weights.items():
                given = {} if row[j] == MISSING else {f"x{j}": row[j]}
                blend += weight * ratio(sample, i, row[i], 1 / CARDS[i], x4=label, **given)
            joint *= blend / sum(weights.values())
    return joint


def expected(formula, sample: Sample, rows: Sample) -> np.ndarray:
    joint = [
        [formula(sample, row[:-1], label) for label in range(CARDS[-1])]
        for row in rows.codes.tolist()
    ]
    return np.array(joint) / np.sum(joint, axis=1, keepdims=True)


def families(parents, alpha: float):
    return lambda sample, row, label: by_families(sample, row, label, parents, alpha)


TREE = (None, 0, 1, 1)
EACH = [
    (NaiveBayes(), families([()] * 4, 1.0)),
    (NaiveBayes(alpha=0.2), families([()] * 4, 0.2)),
    (TAN(tree=TREE), families([() if u is None else (u,) for u in TREE], 0.5)),
    (AODE(), by_aode),
    (HNB(), by_hnb),
]


@pytest.mark.parametrize(("learner", "formula"), EACH, ids=lambda one: repr(one)[:20])
def test_probabilities_are_the_formula_over_known_values(learner, formula):
    sample, rows = drawn(1, 70), drawn(2, 12, 0.4)
    rows = Sample.of(np.vstack([rows.values, [*[np.nan] * 4, 0]]), rows.schema)  # and nothing known
    proba = learner.fit(sample).predict_proba(rows)
    np.testing.assert_allclose(proba, expected(formula, sample, rows), rtol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_kdb_leaves_missing_parents_out_of_the_condition(k):
    sample, rows = drawn(5, 70), drawn(6, 12, 0.4)
    fitted = KDB(k=k).fit(sample)
    formula = families(fitted.parents, 0.5)
    assert max(map(len, fitted.parents)) == k
    np.testing.assert_allclose(
        fitted.predict_proba(rows), expected(formula, sample, rows), rtol=1e-12
    )


@given(seeds)
def test_information_is_of_the_rows_that_have_both_attributes(seed):
    sample = drawn(seed, 30)
    shared, in_bits = conditional_mutual_information(sample), shared_information(sample)
    of_class = class_information(sample)
    for i, j in itertools.permutations(PLACES, 2):
        assert math.isclose(shared[i, j], information(sample, i, j), abs_tol=1e-12)
        assert math.isclose(in_bits[i, j] * math.log(2), max(shared[i, j], 0), abs_tol=1e-12)
    for i in PLACES:
        at = named(**{f"x{i}": None})
        total = 0.0
        for label, value in itertools.product(range(CARDS[-1]), range(CARDS[i])):
            if n := count(sample, x4=label, **{f"x{i}": value}):
                below = count(sample, x4=label, **at) * count(sample, **{f"x{i}": value})
                total += n * math.log(n * count(sample, **at) / below)
        assert math.isclose(of_class[i], total / len(sample), abs_tol=1e-12)


@given(seeds)
def test_likelihood_gains_are_those_of_the_rows_that_have_both_attributes(seed):
    sample = drawn(seed, 30)
    gains = likelihood_gains(sample, 0.5)
    for i, j in itertools.permutations(PLACES, 2):
        both = sample.take((sample.codes[:, [i, j]] != MISSING).all(axis=1))
        two = Sample(both.codes[:, [i, j, TARGET]], [CARDS[i], CARDS[j], CARDS[-1]])
        assert math.isclose(gains[i, j], likelihood_gains(two, 0.5)[0, 1], abs_tol=1e-10)


def test_superparent_scores_a_row_as_tan_does_without_it():
    sample = drawn(9, 40, 0.3)
    accuracy = LeaveOneOutScores(sample, 0.5)
    distinct = sample.distinct.codes.tolist()
    for child, parent in [(1, None), (1, 0), (2, 3)]:
        terms = accuracy.log_terms(child, parent)
        for row in distinct:
            column = accuracy.codes.tolist().index(row[:-1])
            same = sample.codes.tolist().index(row)
            others = sample.take(np.arange(len(sample)) != same)
            given = {} if parent is None or row[parent] == MISSING else {f"x{parent}": row[parent]}
            for label in range(CARDS[-1]):
                expected = 1.0
                if row[child] != MISSING:
                    left = others if label == row[-1] else sample
                    expected = ratio(left, child, row[child], 0.5, x4=label, **given)
                assert math.isclose(
                    math.exp(terms[int(label == row[-1]), label, column]), expected, rel_tol=1e-12
                )


@pytest.mark.parametrize("learner", [*LEARNERS, TAN(search="superparent")], ids=repr)
@given(seeds, st.floats(0, 0.9))
def test_probabilities_sum_to_one_and_do_not_depend_on_other_rows(learner, seed, share):
    sample, rows = drawn(seed, 40, share), drawn(seed + 1, 25, share)
    fitted = learner.fit(sample)
    proba = fitted.predict_proba(rows)
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-12)
    assert (proba > 0).all()
    np.testing.assert_array_equal(fitted.predict_proba(rows.attributes), proba)
    np.testing.assert_array_equal(fitted.predict_proba(rows.values[:, :-1]), proba)
    complete = (rows.codes >= 0).all(axis=1)
    np.testing.assert_array_equal(fitted.predict_proba(rows.take(complete)), proba[complete])


@each_learner
@given(seeds)
def test_the_order_of_rows_and_the_labels_of_classes_change_nothing(learner, seed):
    sample, rows = drawn(seed, 50), drawn(seed + 1, 20, 0.3)
    rng = np.random.default_rng(seed)
    proba = learner.fit(sample).predict_proba(rows)
    mixed = sample.take(rng.permutation(len(sample)))
    np.testing.assert_allclose(learner.fit(mixed).predict_proba(rows), proba, rtol=0, atol=1e-12)
    labels = rng.permutation(CARDS[-1])
    values = sample.values.copy()
    values[:, -1] = labels[sample.target]
    renamed = learner.fit(Sample.of(values, sample.schema)).predict_proba(rows)
    np.testing.assert_allclose(renamed[:, labels], proba, rtol=0, atol=1e-12)


@pytest.mark.parametrize("learner", [NaiveBayes(), AODE(), HNB(), TAN(tree=TREE)], ids=repr)
@given(seeds)
def test_the_order_of_attributes_changes_nothing(learner, seed):
    sample, rows = drawn(seed, 50), drawn(seed + 1, 20, 0.3)
    order = np.random.default_rng(seed).permutation(TARGET)
    schema = Schema((*(sample.schema.variables[v] for v in order), sample.schema.target))
    moved = [Sample.of(one.values[:, [*order, TARGET]], schema) for one in (sample, rows)]
    again = learner
    if isinstance(learner, TAN):
        places = order.tolist()
        above = [TREE[v] for v in places]
        again = TAN(tree=tuple(None if u is None else places.index(u) for u in above))
    proba = learner.fit(sample).predict_proba(rows)
    found = again.fit(moved[0]).predict_proba(moved[1])
    np.testing.assert_allclose(found, proba, rtol=0, atol=1e-12)


@pytest.mark.parametrize("learner", [*LEARNERS, TAN(search="superparent")], ids=repr)
def test_a_weight_of_two_is_two_rows_and_of_nought_is_none(learner):
    sample, rows = drawn(3, 40), drawn(4, 20, 0.3)
    times = np.random.default_rng(0).integers(0, 3, 40)
    weighted = Sample.of(sample.values, sample.schema, times)
    repeated = sample.take(np.repeat(np.arange(40), times))
    np.testing.assert_allclose(
        learner.fit(weighted).predict_proba(rows),
        learner.fit(repeated).predict_proba(rows),
        rtol=1e-9,
    )


@pytest.mark.parametrize("learner", [*LEARNERS, TAN(search="superparent")], ids=repr)
def test_rows_without_missing_values_are_as_before_to_the_last_bit(learner):
    complete = drawn(7, 300, 0.0)
    plain = Sample(complete.codes, CARDS)
    codes = drawn(8, 50, 0.0).attributes
    np.testing.assert_array_equal(
        learner.fit(complete).predict_proba(codes), learner.fit(plain).predict_proba(codes)
    )


@pytest.mark.parametrize("learner", [AODE(), AODE(m=1)], ids=repr)
def test_many_attributes_with_gaps_do_not_underflow(learner):
    rng = np.random.default_rng(4)
    values = rng.integers(0, 4, size=(300, 201)).astype(float)
    values[:, -1] %= 2
    values[:, :-1][rng.random((300, 200)) < 0.2] = np.nan
    sample = Sample.of(values, Schema.plain((*[4] * 200, 2)))
    proba = learner.fit(sample).predict_proba(sample)
    assert np.isfinite(proba).all()
    assert (proba.argmax(axis=1) == sample.target).mean() > 0.9


@each_learner
def test_a_sample_of_nothing_but_gaps_gives_the_class_frequencies(learner):
    values = np.column_stack([np.full((12, 4), np.nan), [0] * 6 + [1] * 4 + [2] * 2])
    sample = Sample.of(values, Schema.plain(CARDS))
    fitted = learner.fit(sample)
    proba = fitted.predict_proba(sample)
    frequencies = fitted.predict_proba(np.full((1, 4), MISSING))
    np.testing.assert_allclose(proba, np.repeat(frequencies, 12, axis=0), rtol=1e-12)
    assert (np.diff(frequencies[0]) < 0).all()
    complete = fitted.predict_proba([[0, 0, 0, 0]])  # unseen values say nothing, either
    np.testing.assert_allclose(complete, frequencies, rtol=1e-12)
