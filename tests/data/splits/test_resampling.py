"""Keys that state a scheme, and training sizes."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simstudy.data.splits.resampling import Resampling, check_sizes, nested_subsets, unfit_sizes
from simstudy.data.splits.schemes import (
    Bootstrap,
    CrossValidation,
    Holdout,
    LeaveOneOut,
    RepeatedCrossValidation,
)

seeds = st.integers(0, 10**6)
targets = st.lists(st.integers(0, 5), min_size=2, max_size=60).map(np.array)


def stream(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


@given(targets, st.booleans(), seeds)
def test_subsets_are_nested_and_depend_on_no_other(target, stratify, seed):
    train = np.flatnonzero(np.arange(len(target)) % 3)
    numbers = [*range(1, len(train) + 1)]
    subsets = nested_subsets(train, target, numbers, stream(seed), stratify)
    assert [len(rows) for rows in subsets.values()] == numbers
    for number in numbers[1:]:
        assert {*subsets[number - 1]} < {*subsets[number]}
        assert (np.diff(subsets[number]) > 0).all()
    np.testing.assert_array_equal(subsets[len(train)], train)
    alone = nested_subsets(train, target, numbers[:1], stream(seed), stratify)
    np.testing.assert_array_equal(alone[1], subsets[1])


@given(st.lists(st.integers(1, 40), min_size=1, max_size=9), seeds)
def test_stratified_subsets_of_any_size_are_in_proportion(counts, seed):
    target = stream(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    rows = len(target)
    subsets = nested_subsets(np.arange(rows), target, range(1, rows + 1), stream(seed))
    for number, subset in subsets.items():
        found = np.bincount(target[subset], minlength=len(counts))
        assert (abs(found - number * np.array(counts) / rows) < 1).all()


def test_subsets_of_a_bootstrap_sample_keep_its_repetitions():
    (split,) = Bootstrap(1).splits(np.arange(30) % 3, stream(5))
    subsets = nested_subsets(split.train, np.arange(30) % 3, [10, 30], stream(6))
    np.testing.assert_array_equal(subsets[30], split.train)
    assert not Counter(subsets[10].tolist()) - Counter(split.train.tolist())


def test_sizes_that_do_not_fit_are_named():
    assert unfit_sizes((10, 75, 76), 75) == [76]
    assert unfit_sizes((0.01, 0.5, 1.0), 75) == [0.01]
    assert unfit_sizes((1 / 49,), 49) == []  # 49 · (1/49) is 0.999… in doubles


@pytest.mark.parametrize(
    ("keys", "scheme"),
    [
        ({}, RepeatedCrossValidation(10, 1, True)),
        (
            {"scheme": "cv", "folds": 5, "repeats": 3, "stratify": False},
            CrossValidation(5, 3, False),
        ),
        ({"scheme": "5x2cv"}, CrossValidation(2, 5, True)),
        ({"scheme": "swapped"}, CrossValidation(2, 1, True)),
        ({"scheme": "holdout", "stratify": False}, Holdout(2 / 3, 25, False)),
        ({"scheme": "holdout", "share": 0.5, "repeats": 1}, Holdout(0.5, 1, True)),
        ({"scheme": "loo"}, LeaveOneOut()),
        ({"scheme": "bootstrap", "repeats": 200}, Bootstrap(200, False)),
    ],
)
def test_keys_make_schemes(keys, scheme):
    made = Resampling.of({**keys, "sizes": [10, 20]})
    assert made == Resampling(scheme, None, (10, 20), scheme.stratify)


def test_a_file_of_splits_takes_the_place_of_a_scheme():
    made = Resampling.of({"splits": "splits.csv", "sizes": [0.1, 1.0], "stratify": False})
    assert made == Resampling(None, "splits.csv", (0.1, 1.0), False)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"scheme": "5x2"}, "unknown scheme '5x2'; did you mean '5x2cv'"),
        ({"scheme": 5}, "unknown scheme 5; known: 5x2cv, bootstrap, cv"),
        (
            {"scheme": "5x2cv", "folds": 3},
            "folds does not belong to scheme '5x2cv'; its keys",
        ),
        (
            {"scheme": "loo", "stratify": True},
            "does not belong to scheme 'loo'; it has no keys",
        ),
        ({"fold": 3}, "fold does not belong to scheme 'cv'; its keys are folds, repeats, stratify"),
        ({"folds": 1}, "folds must be a whole number from 2, not 1"),
        ({"folds": 2.0}, "folds must be a whole number from 2, not 2.0"),
        ({"folds": True}, "folds must be a whole number from 2, not True"),
        ({"repeats": 0}, "repeats must be a whole number from 1 to 10000, not 0"),
        ({"repeats": 10**9}, "repeats must be a whole number from 1 to 10000"),
        ({"stratify": "yes"}, "stratify must be true or false, not 'yes'"),
        ({"scheme": "holdout", "share": 1.0}, "share must be a number between 0 and 1, not 1.0"),
        ({"scheme": "holdout", "share": float("nan")}, "share must be a number between 0 and 1"),
        (
            {"scheme": "holdout", "share": "2/3"},
            "share must be a number between 0 and 1, not '2",
        ),
        (
            {"splits": "a.csv", "scheme": "cv"},
            "scheme cannot be given together with splits = 'a",
        ),
        ({"splits": "a.csv", "stratify": 1}, "stratify must be true or false, not 1"),
        ({"splits": 3}, "splits must name a file, not 3"),
        ({"splits": ""}, "splits must name a file, not ''"),
        ({"sizes": 50}, "sizes must be a list of whole numbers of rows from 1, or shares"),
        ({"sizes": [0]}, "one is 0"),
        ({"sizes": [1.5]}, "one is 1.5"),
        ({"sizes": [True]}, "one is True"),
        ({"sizes": [50, 0.5]}, "all whole numbers of rows or all shares, not"),
        ({"sizes": [50, 50]}, "in ascending order; 50 follows 50"),
    ],
)
def test_wrong_keys_get_one_sentence(keys, message):
    with pytest.raises(ValueError, match=message) as caught:
        Resampling.of(keys)
    assert "\n" not in str(caught.value)


def test_sizes_may_be_absent():
    assert check_sizes([]) == ()


@pytest.mark.parametrize(
    ("rows", "repeats"),
    [(20, 10), (299, 10), (301, 10), (1000, 3), (1501, 2), (2001, 1), (9000, 1)],
)
def test_small_tables_are_split_more_often_by_default(rows, repeats):
    target = np.arange(rows) % 2
    made = Resampling.of({}).scheme.splits(target, np.random.default_rng(0))
    stated = CrossValidation(repeats=repeats).splits(target, np.random.default_rng(0))
    assert [split.test.tolist() for split in made] == [split.test.tolist() for split in stated]


def test_stated_folds_are_not_repeated():
    assert Resampling.of({"folds": 5}).scheme == CrossValidation(5)
    assert Resampling.of({"scheme": "cv"}).scheme == CrossValidation()
    assert Resampling.of({"stratify": False}).stratify is False
