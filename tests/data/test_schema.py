"""Samples with numbers and missing values."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simstudy.data.attribute_arrays import attribute_codes
from simstudy.data.codes import MISSING
from simstudy.data.sample import Sample
from simstudy.data.schema import Schema, Variable
from simstudy.learners import AODE, NaiveBayes

SCHEMA = Schema(
    (
        Variable("colour", ("red", "green", "blue")),
        Variable("length"),
        Variable("open", ("no", "yes")),
        Variable("class", ("a", "b", "c")),
    )
)


def drawn(seed: int, rows: int, weighted: bool, numeric: bool = True) -> Sample:
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, 3, rows), rng.normal(size=rows), rng.integers(0, 2, rows)]
    values = np.column_stack([*columns, rng.integers(0, 3, rows)]).astype(float)
    gaps = rng.random(values.shape) < 0.25
    gaps[:, -1] = False
    values[gaps] = np.nan
    schema = SCHEMA
    if not numeric:
        values, schema = values[:, [0, 2, 3]], Schema((*SCHEMA.variables[::2], SCHEMA.target))
    return Sample.of(values, schema, rng.integers(0, 4, rows) / 2 if weighted else None)


def by_hand(sample: Sample, *variables: int) -> np.ndarray:
    table = np.zeros([sample.cards[v] for v in variables])
    weights = np.ones(len(sample)) if sample.weights is None else sample.weights
    for row, weight in zip(sample.values, weights, strict=True):
        if not np.isnan(row[list(variables)]).any():
            table[tuple(int(row[v]) for v in variables)] += weight
    return table


@given(st.integers(0, 10**6), st.sampled_from([0, 1, 7, 60]), st.booleans(), st.booleans())
def test_tables_leave_out_rows_whose_value_is_missing(seed, rows, weighted, numeric):
    sample = drawn(seed, rows, weighted, numeric)
    nominal = [v for v, card in enumerate(sample.cards) if card]
    for number in (1, 2, 3):
        for variables in itertools.permutations(nominal, number):
            np.testing.assert_array_equal(sample.counts(*variables), by_hand(sample, *variables))
    target, spans = len(sample.cards) - 1, sample.layout.spans
    for i, j in itertools.permutations(nominal[:-1], 2):
        np.testing.assert_array_equal(sample.slot_counts[:, spans[i]], by_hand(sample, target, i))
        block = sample.pair_counts[:, spans[i], spans[j]]
        np.testing.assert_array_equal(block, by_hand(sample, target, i, j))
    if not numeric:
        np.testing.assert_array_equal(sample.distinct.counts(0, 1), sample.counts(0, 1))
        assert sample.distinct.total == sample.total


@pytest.mark.parametrize("weighted", [False, True])
def test_tables_of_many_rows_are_those_of_few(weighted):
    few = drawn(3, 200, weighted)
    many = few.take(np.repeat(np.arange(200), 40))
    np.testing.assert_allclose(many.pair_counts, 40 * few.pair_counts, rtol=1e-12)
    np.testing.assert_allclose(many.slot_counts, 40 * few.slot_counts, rtol=1e-12)


def test_a_part_of_the_rows_keeps_every_declared_value():
    sample = drawn(1, 30, True)
    for rows in (sample.target == 1, np.flatnonzero(sample.target == 1)):
        part = sample.take(rows)
        np.testing.assert_array_equal(part.values, sample.values[sample.target == 1])
        np.testing.assert_array_equal(part.weights, sample.weights[sample.target == 1])
        assert (part.schema, part.cards) == (sample.schema, (3, 0, 2, 3))
    whole = sample.take(~np.isnan(sample.values).any(axis=1))
    assert not whole.incomplete
    assert not whole.plain  # for it has numbers


def test_a_mask_of_another_length_is_refused():
    with pytest.raises(ValueError, match="a value for each of the 30 rows"):
        drawn(1, 30, True).take([True, False])


def test_coded_rows_have_a_schema_too():
    sample = Sample([[0, 2, 1], [1, 0, 0]], (2, 3, 2))
    assert [variable.name for variable in sample.schema.variables] == ["x0", "x1", "y"]
    assert sample.schema.variables[1].values == ("0", "1", "2")
    np.testing.assert_array_equal(sample.values, sample.codes)
    again = Sample.of(sample.values, sample.schema)
    assert again.plain
    np.testing.assert_array_equal(again.pair_counts, sample.pair_counts)


def test_what_a_learner_does_not_accept_is_refused_by_name():
    with pytest.raises(ValueError, match="'length' is numeric"):
        AODE().fit(drawn(0, 9, False))
    with pytest.raises(ValueError, match="numeric and has no table"):
        drawn(0, 9, False).counts(1)


def test_a_sample_can_be_predicted_and_must_have_the_same_attributes():
    sample = Sample([[0, 2, 1], [1, 0, 0]], (2, 3, 2))
    fitted = NaiveBayes().fit(sample)
    np.testing.assert_array_equal(
        fitted.predict_proba(sample), fitted.predict_proba(sample.attributes)
    )
    with pytest.raises(ValueError, match="attributes of"):
        fitted.predict_proba(Sample([[0, 2, 1]], (2, 4, 2)))


def test_missing_codes_are_read_from_arrays_where_they_are_allowed():
    for gap in (np.nan, MISSING):
        rows = [[0, gap], [gap, 2]]
        expected = [[0, MISSING], [MISSING, 2]]
        np.testing.assert_array_equal(attribute_codes(rows, (2, 3), missing=True), expected)
        with pytest.raises(ValueError, match="codes must be"):
            attribute_codes(rows, (2, 3))
    with pytest.raises(ValueError, match="from 0 to 2"):
        attribute_codes([[0, np.nan], [1, 3]], (2, 3), missing=True)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([[3.0, 0.5, 0, 0]], "'colour' must be codes from 0 to 2"),
        ([[0.5, 0.5, 0, 0]], "'colour' must be codes"),
        ([[0, np.inf, 0, 0]], "'length' must be finite"),
        ([[0, 0.5, 0, np.nan]], "the target 'class' must be known"),
        ([[0, 0.5, 0]], "one column for each of the 4"),
    ],
)
def test_values_that_do_not_fit_the_schema_are_refused(values, words):
    with pytest.raises(ValueError, match=words):
        Sample.of(values, SCHEMA)


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ([], "at least one"),
        ([Variable("a")], "'a' must be nominal"),
        ([Variable("a"), Variable("a", ("x",))], "two variables are named 'a'"),
        ([Variable("a", ("x", "x"))], "a value twice"),
    ],
)
def test_schemas_that_cannot_be_are_refused(variables, words):
    with pytest.raises(ValueError, match=words):
        Schema(tuple(variables))
