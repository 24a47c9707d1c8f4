"""Preparation sees training rows alone, and gives each learner what it accepts."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simstudy.data.preparation.discretize import Discretizer
from simstudy.data.preparation.missing import Imputer
from simstudy.data.preparation.prepare import Preparation, Prepared
from simstudy.data.sample import Sample
from simstudy.data.schema import Schema, Variable
from simstudy.errors import SimstudyError
from simstudy.learners import AODE, TAN, NaiveBayes

NOTHING: frozenset[str] = frozenset()
NUMERIC, MISSING = frozenset({"numeric"}), frozenset({"missing"})
SCHEMA = Schema(
    (
        Variable("length"),
        Variable("colour", ("red", "green", "blue")),
        Variable("weight"),
        Variable("open", ("no", "yes")),
        Variable("class", ("a", "b", "c")),
    )
)
PREPARATIONS = [
    Preparation(discretize, 4, missing)
    for discretize, missing in itertools.product(
        ("mdl", "kononenko", "equal_frequency", "equal_width"), ("mode", "value")
    )
]


def drawn(rng: np.random.Generator, rows: int, scale: float = 1.0) -> np.ndarray:
    """Rows whose attributes depend on the class, with ties and missing values."""
    target = rng.integers(0, 3, rows)
    columns = [
        np.round(scale * rng.normal(target, 0.4), 1),
        (target + (rng.random(rows) < 0.3)) % 3,
        np.round(scale * rng.normal(size=rows), 1),
        rng.integers(0, 2, rows),
    ]
    values = np.column_stack(columns).astype(float)
    values[rng.random(values.shape) < 0.15] = np.nan
    return np.column_stack([values, target])


def facts(prepared: Prepared) -> list[np.ndarray]:
    """Everything that was found in the training rows."""
    found = [prepared.train.class_counts]
    for step in prepared.steps:
        if isinstance(step, Discretizer):
            found += step.cuts.values()
        else:
            assert isinstance(step, Imputer)
            found.append(step.replacements)
    if prepared.train.plain:
        found += [prepared.train.slot_counts, prepared.train.pair_counts]
    return found


def assert_same(one: Prepared, other: Prepared) -> None:
    assert one.train.schema == other.train.schema
    for a, b in zip(facts(one), facts(other), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("preparation", PREPARATIONS)
@given(seed=st.integers(0, 10**6), rows=st.sampled_from([5, 30, 120]))
def test_test_rows_change_no_cut_no_count_and_no_model(preparation, seed, rows):
    rng = np.random.default_rng(seed)
    values = drawn(rng, rows)
    training = rng.random(rows) < 0.6
    training[:2] = True
    changed = values.copy()
    changed[~training] = drawn(rng, rows, scale=100.0)[~training]
    query = Sample.of(drawn(rng, 20), SCHEMA)
    answers = []
    for table in (values, changed):
        whole = Sample.of(table, SCHEMA)
        prepared = preparation.fit(whole.take(training))
        prepared(whole.take(~training))  # leaves what was fitted as it is
        assert_same(prepared, preparation.fit(whole.take(training)))
        models = [learner.fit(prepared.train) for learner in (NaiveBayes(), TAN(), AODE())]
        answers.append((prepared, [model.predict_proba(prepared(query)) for model in models]))
    assert_same(answers[0][0], answers[1][0])
    np.testing.assert_array_equal(answers[0][1], answers[1][1])


@pytest.mark.parametrize("preparation", PREPARATIONS)
@given(seed=st.integers(0, 10**6))
def test_a_row_is_prepared_by_itself(preparation, seed):
    rng = np.random.default_rng(seed)
    prepared = preparation.fit(Sample.of(drawn(rng, 40), SCHEMA))
    test = Sample.of(drawn(rng, 12), SCHEMA)
    together = prepared(test)
    assert together.plain
    assert together.schema == prepared.train.schema
    for row in range(len(test)):
        np.testing.assert_array_equal(prepared(test.take([row])).codes, together.codes[[row]])


@pytest.mark.parametrize("preparation", PREPARATIONS)
@given(seed=st.integers(0, 10**6))
def test_the_order_of_training_rows_changes_nothing(preparation, seed):
    rng = np.random.default_rng(seed)
    values = drawn(rng, 60)
    for accepts in (NOTHING, NUMERIC, MISSING):
        first = preparation.fit(Sample.of(values, SCHEMA), accepts)
        assert_same(first, preparation.fit(Sample.of(rng.permutation(values), SCHEMA), accepts))


def test_a_learner_gets_what_it_accepts():
    train = Sample.of(drawn(np.random.default_rng(1), 60), SCHEMA)
    for preparation in (Preparation(missing="mode"), Preparation(missing="value")):
        both = preparation.fit(train, NUMERIC | MISSING)
        assert both.train is train
        assert both(train) is train
        numbers = preparation.fit(train, NUMERIC)
        assert numbers.train.schema.numeric == (0, 2)
        assert not numbers.train.incomplete
        gaps = preparation.fit(train, MISSING)
        assert not gaps.train.schema.numeric
        np.testing.assert_array_equal(np.isnan(gaps.train.values), np.isnan(train.values))
        neither = preparation.fit(train)
        assert neither.train.plain
        np.testing.assert_array_equal(neither(train).codes, neither.train.codes)


def test_the_mode_is_that_of_the_bins():
    # The mean length, 232, is in the upper bin; most rows are in the lower one.
    rows = [[1.0, 0]] * 12 + [[10.0, 1]] * 5 + [[1000.0, 1]] * 5 + [[np.nan, 1]]
    schema = Schema((Variable("length"), Variable("class", ("a", "b"))))
    train = Sample.of(rows, schema)
    assert Preparation(missing="mode").fit(train).train.codes[-1, 0] == 0
    as_value = Preparation(missing="value").fit(train).train
    assert as_value.schema.variables[0].values == ("'(-inf-5.5]'", "'(5.5-inf)'", "?")
    assert as_value.codes[-1, 0] == 2


def test_what_a_learner_does_not_accept_and_nothing_prepares_is_refused():
    train = Sample.of([[1.0, 0], [2.0, 1]], Schema((Variable("x"), Variable("y", ("a", "b")))))
    gap = Sample.of([[np.nan, 0]], train.schema)
    with pytest.raises(SimstudyError, match="AODE takes only nominal attributes, and 'x'"):
        Preparation(discretize="none").check(train, MISSING, "AODE")
    with pytest.raises(SimstudyError, match=r"'x' is numeric; preparation\.discretize = 'none'"):
        Preparation(discretize="none").fit(train)
    assert Preparation(discretize="none").fit(train, NUMERIC).train is train
    with pytest.raises(SimstudyError, match="AODE takes no missing values, and 'x' has some"):
        Preparation().check(gap, NUMERIC, "AODE")
    prepared = Preparation().fit(train)  # complete rows need no preparation
    assert prepared(train).plain
    with pytest.raises(SimstudyError, match=r"preparation\.missing = 'ignore' leaves them"):
        prepared(gap)
    assert Preparation().fit(train, MISSING)(gap).incomplete


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"discretize": "mld"}, "preparation.discretize = 'mld'.*did you mean 'mdl'"),
        ({"missing": "modes"}, "preparation.missing = 'modes'.*did you mean 'mode'"),
        ({"bins": 0}, "bins = 0 is not allowed"),
    ],
)
def test_bad_keys_are_refused(keys, words):
    with pytest.raises(SimstudyError, match=words):
        Preparation(**keys)


def test_preparations_can_be_keys_and_travel():
    assert len({Preparation(), Preparation(), Preparation(missing="mode")}) == 2
    train = Sample.of(drawn(np.random.default_rng(2), 50), SCHEMA)
    prepared = Preparation(missing="value").fit(train)
    again = pickle.loads(pickle.dumps(prepared))
    np.testing.assert_array_equal(again(train).codes, prepared(train).codes)
