"""Replacement of missing values."""

import numpy as np
import pytest

from simstudy.data.preparation.missing import Imputer
from simstudy.data.sample import Sample
from simstudy.data.schema import Schema, Variable
from simstudy.errors import SimstudyError

NAN = np.nan
SCHEMA = Schema(
    (
        Variable("colour", ("red", "green", "blue")),
        Variable("length"),
        Variable("open", ("no", "yes")),
        Variable("unknown", ("u", "v")),
        Variable("never"),
        Variable("class", ("a", "b")),
    )
)
TRAIN = Sample.of(
    [
        [2, 1.0, 1, NAN, NAN, 0],
        [1, NAN, 1, NAN, NAN, 1],
        [NAN, 2.5, 0, NAN, NAN, 0],
        [1, 4.0, 0, NAN, NAN, 1],
        [2, NAN, 1, NAN, NAN, 1],
    ],
    SCHEMA,
)
GAPS = Sample.of([[NAN] * 5 + [1], [0, 9, 0, 1, 9, 0]], SCHEMA, [2, 3])


def test_the_mode_is_the_first_of_equals_or_of_all_if_none_is_known():
    filled = Imputer.fit(TRAIN, "mode")(GAPS)
    # green and blue occur twice; (1 + 2.5 + 4)/3 = 2.5; nothing is known of the last two.
    np.testing.assert_array_equal(filled.values, [[1, 2.5, 1, 0, 0, 1], [0, 9, 0, 1, 9, 0]])
    assert filled.schema == SCHEMA
    assert not filled.incomplete
    np.testing.assert_array_equal(filled.weights, [2, 3])


def test_rows_count_by_their_weights():
    weighted = Sample.of(TRAIN.values, SCHEMA, [3, 1, 0, 1, 0.5])
    filled = Imputer.fit(weighted, "mode")(GAPS)
    # blue has 3.5 of 5.5; (3·1 + 0·2.5 + 1·4)/4 = 1.75.
    np.testing.assert_array_equal(filled.values[0], [2, 1.75, 1, 0, 0, 1])


def test_a_missing_value_becomes_the_last_value_where_training_rows_have_one():
    fitted = Imputer.fit(TRAIN, "value")
    names = [variable.values for variable in fitted.schema.variables]
    assert names == [
        ("red", "green", "blue", "?"),
        None,
        ("no", "yes"),  # complete in the training rows: the mode is used
        ("u", "v", "?"),
        None,
        ("a", "b"),
    ]
    np.testing.assert_array_equal(fitted(GAPS).values, [[3, 2.5, 1, 2, 0, 1], [0, 9, 0, 1, 9, 0]])
    whole = GAPS.take([1])
    assert fitted(whole).cards == (4, 0, 2, 3, 0, 2)  # complete rows have the same values


def test_a_value_that_is_a_question_mark_already_stays_another_one():
    schema = Schema((Variable("x", ("?", "z")), Variable("y", ("a",))))
    fitted = Imputer.fit(Sample.of([[NAN, 0], [0, 0]], schema), "value")
    assert fitted.schema.variables[0].values == ("?", "z", "??")


def test_complete_rows_are_left_as_they_are():
    sample = Sample([[0, 2, 1], [1, 0, 0]], (2, 3, 2))
    for method in ("mode", "value"):
        assert Imputer.fit(sample, method)(sample) is sample


def test_the_mean_is_the_same_in_any_order_of_rows():
    schema = Schema((Variable("x"), Variable("y", ("a",))))
    rng = np.random.default_rng(0)
    values = np.column_stack([rng.normal(size=301) * 10.0 ** rng.integers(-9, 9, 301), [0] * 301])
    means = {
        Imputer.fit(Sample.of(rng.permutation(values), schema)).replacements[0] for _ in range(20)
    }
    assert len(means) == 1


def test_numbers_whose_sum_is_too_large_have_a_mean():
    schema = Schema((Variable("x"), Variable("y", ("a",))))
    values, weights = [[1.5e308, 0], [1e308, 0], [NAN, 0]], [1, 3, 1]
    assert Imputer.fit(Sample.of(values, schema)).replacements[0] == 1.25e308
    assert Imputer.fit(Sample.of(values, schema, weights)).replacements[0] == 1.125e308


def test_bad_arguments_are_refused():
    with pytest.raises(SimstudyError, match=r"unknown method 'mod'.*did you mean 'mode'"):
        Imputer.fit(TRAIN, "mod")
    with pytest.raises(ValueError, match="variables and values of the training rows"):
        Imputer.fit(TRAIN)(Sample([[0, 1]], (2, 2)))
