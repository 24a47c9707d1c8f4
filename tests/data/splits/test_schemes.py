"""Schemes of resampling."""

import csv
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import model_selection

from simstudy.data.splits.resampling import make_scheme
from simstudy.data.splits.schemes import (
    Bootstrap,
    CrossValidation,
    Holdout,
    LeaveOneOut,
    Ordered,
    Split,
)

GOLDEN = Path(__file__).parents[2] / "golden" / "real" / "resampling"

seeds = st.integers(0, 10**6)
targets = st.lists(st.integers(0, 5), min_size=2, max_size=60).map(np.array)
grouped = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 12)), min_size=2, max_size=80).map(
    lambda pairs: np.array(pairs).T
)
schemes = st.one_of(
    st.builds(CrossValidation, st.integers(2, 6), st.integers(1, 3), st.booleans()),
    st.builds(Holdout, st.floats(0.05, 0.95), st.integers(1, 3), st.booleans()),
    st.builds(Bootstrap, st.integers(1, 3), st.booleans()),
    st.just(LeaveOneOut()),
)


def stream(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def can_split(scheme, target, units=None) -> bool:
    number = len(target if units is None else np.unique(units))
    if isinstance(scheme, CrossValidation):
        return number >= scheme.folds
    if isinstance(scheme, Bootstrap) and scheme.stratify:
        units = np.arange(len(target)) if units is None else units
        modes = [np.bincount(target[units == unit]).argmax() for unit in np.unique(units)]
        return np.bincount(modes).max() > 1
    return number >= 2


def same(first: tuple[Split, ...], second: tuple[Split, ...]) -> bool:
    return len(first) == len(second) and all(
        (a.repeat, a.fold) == (b.repeat, b.fold)
        and np.array_equal(a.train, b.train)
        and np.array_equal(a.test, b.test)
        for a, b in zip(first, second, strict=True)
    )


@given(schemes, targets, seeds)
def test_parts_are_disjoint_ascending_and_have_all_rows(scheme, target, seed):
    if not can_split(scheme, target):
        return
    for split in scheme.splits(target, stream(seed)):
        assert len(split.train) > 0
        assert len(split.test) > 0
        assert not {*split.train} & {*split.test}
        assert {*split.train} | {*split.test} == {*range(len(target))}
        assert (np.diff(split.test) > 0).all()
        assert (np.diff(split.train) >= 0).all()


@given(schemes, targets, seeds)
def test_same_seed_same_splits_and_more_repeats_keep_the_earlier(scheme, target, seed):
    if not can_split(scheme, target):
        return
    splits = scheme.splits(target, stream(seed))
    assert same(splits, scheme.splits(target, stream(seed)))
    assert [(s.repeat, s.fold) for s in splits] == sorted((s.repeat, s.fold) for s in splits)
    if not isinstance(scheme, LeaveOneOut):
        keys = {**vars(scheme), "repeats": scheme.repeats + 2}
        more = type(scheme)(**keys).splits(target, stream(seed))
        assert len(more) * scheme.repeats == len(splits) * (scheme.repeats + 2)
        assert same(splits, more[: len(splits)])


@given(targets, st.integers(2, 6), st.booleans(), seeds)
def test_folds_test_each_row_once_in_nearly_equal_sizes_and_strata(target, folds, stratify, seed):
    if len(target) < folds:
        return
    splits = CrossValidation(folds, 2, stratify).splits(target, stream(seed))
    for repeat in (0, 1):
        tests = [split.test for split in splits if split.repeat == repeat]
        assert len(tests) == folds
        assert sorted(np.concatenate(tests)) == [*range(len(target))]
        assert np.ptp([len(rows) for rows in tests]) <= 1
        if stratify:
            counts = np.array([np.bincount(target[rows], minlength=6) for rows in tests])
            assert np.ptp(counts, axis=0).max() <= 1


@given(targets, st.floats(0.02, 0.98), st.booleans(), seeds)
def test_holdout_takes_its_share_of_rows_and_of_classes(target, share, stratify, seed):
    (split,) = Holdout(share, 1, stratify).splits(target, stream(seed))
    rows = len(target)
    train = min(max(int(share * rows + 1e-9), 1), rows - 1)
    assert (len(split.train), len(split.test)) == (train, rows - train)
    if stratify:
        expected = np.bincount(target) * train / rows
        found = np.bincount(target[split.train], minlength=len(expected))
        assert (abs(found - expected) < 1).all()


# Korb, Hope & Hughes 2001, table 7: floor(2n/3) training rows.
@pytest.mark.parametrize(
    ("rows", "train"), [(286, 190), (3196, 2130), (47, 31), (3, 2), (300, 200)]
)
@pytest.mark.parametrize("stratify", [False, True])
def test_two_thirds_are_those_of_2001(rows, train, stratify):
    splits = Holdout(stratify=stratify).splits(np.arange(rows) % 2, stream(1))
    assert len(splits) == 25
    assert {(len(split.train), len(split.test)) for split in splits} == {(train, rows - train)}


def test_shares_are_decimal_numbers():
    """0.29 · 100 is 28.999… in doubles."""
    (split,) = Holdout(0.29, 1).splits(np.zeros(100, dtype=int), stream(0))
    assert len(split.train) == 29


@given(targets, st.booleans(), seeds)
def test_bootstrap_draws_as_many_rows_and_tests_those_never_drawn(target, stratify, seed):
    if not can_split(Bootstrap(1, stratify), target):
        return
    for split in Bootstrap(3, stratify).splits(target, stream(seed)):
        assert len(split.train) == len(target)
        if stratify:
            np.testing.assert_array_equal(np.bincount(target[split.train]), np.bincount(target))


def test_rows_out_of_the_bag_are_about_368_in_1000():
    """(1 − 1/n)^n of n rows; the standard error of the mean over 200 samples is below .001."""
    splits = Bootstrap(200).splits(np.zeros(300, dtype=int), stream(4))
    share = np.mean([len(split.test) for split in splits]) / 300
    assert abs(share - (1 - 1 / 300) ** 300) < 0.004


def test_every_row_is_as_likely_in_every_fold():
    """Also in the larger ones: 7 rows in 3 folds, 3000 repeats, 4 standard errors."""
    splits = CrossValidation(3, 3000).splits(np.array([0, 0, 0, 1, 1, 2, 2]), stream(2))
    times = np.zeros((3, 7))
    for split in splits:
        times[split.fold, split.test] += 1
    assert (abs(times / 3000 - 1 / 3) < 4 * np.sqrt(2 / 9 / 3000)).all()


def test_leaving_one_out_is_not_random():
    splits = LeaveOneOut().splits(np.array([1, 0, 1]), stream(0))
    assert [split.test.tolist() for split in splits] == [[0], [1], [2]]
    assert [split.train.tolist() for split in splits] == [[1, 2], [0, 2], [0, 1]]
    groups = LeaveOneOut().splits(np.array([1, 0, 1]), stream(0), ["b", "a", "b"])
    assert [split.test.tolist() for split in groups] == [[1], [0, 2]]


@given(schemes, grouped, seeds)
def test_no_group_is_in_both_parts(scheme, pairs, seed):
    target, groups = pairs
    if not can_split(scheme, target, groups):
        return
    for split in scheme.splits(target, stream(seed), groups):
        assert len(split.train) > 0
        assert len(split.test) > 0
        assert not {*groups[split.train]} & {*groups[split.test]}
        assert {*split.train} | {*split.test} == {*range(len(target))}


@given(targets, st.integers(2, 6), seeds)
def test_groups_of_one_row_are_spread_as_evenly_as_rows(target, folds, seed):
    if len(target) < folds:
        return
    rows = np.arange(len(target))
    splits = CrossValidation(folds, stratify=False).splits(target, stream(seed), rows)
    assert np.ptp([len(split.test) for split in splits]) <= 1
    stratified = CrossValidation(folds).splits(target, stream(seed), rows)
    counts = np.array([np.bincount(target[split.test], minlength=6) for split in stratified])
    assert np.ptp(counts, axis=0).max() <= 1


def test_groups_are_spread_evenly_and_repeats_differ():
    """60 groups of about 15 rows, in a third of which the classes are in opposite proportion."""
    rng = stream(7)
    groups = rng.integers(0, 60, 900)
    target = (rng.random(900) < np.where(groups < 20, 0.8, 0.2)).astype(int)

    def splits(scheme):
        return scheme.splits(target, stream(1), groups)

    def unevenness(stratify):
        shares = [target[split.test].mean() for split in splits(CrossValidation(5, 9, stratify))]
        return np.sqrt(np.mean((np.array(shares) - target.mean()) ** 2))

    assert unevenness(True) < unevenness(False) / 3
    folds, held = splits(CrossValidation(5, 9)), splits(Holdout(0.7, 9))
    # A greedy deal leaves parts within one group of their size.
    assert max(abs(len(split.test) - 180) for split in folds) <= np.bincount(groups).max()
    assert max(abs(len(split.train) - 630) for split in held) <= np.bincount(groups).max()
    assert len({tuple(split.tested) for split in folds}) == 9
    assert len({tuple(split.tested) for split in held}) == 9


def test_rare_classes_are_named_and_spread():
    target = np.array([0] * 20 + [1] * 3 + [2])
    scheme = CrossValidation(5)
    assert scheme.rare(target) == {1: 3, 2: 1}
    assert scheme.rare_note(target, ["a", "b", "c"]) == (
        "2 classes with fewer than 5 rows, too rare to stratify, spread as evenly as possible: "
        "'b' (3 rows), 'c' (1 row)"
    )
    tests = [split.test for split in scheme.splits(target, stream(0))]
    assert sorted(Counter(target[rows])[1] for rows in tests) == [0, 0, 1, 1, 1]
    assert CrossValidation(5, stratify=False).rare(target) == {}
    assert CrossValidation(2).rare_note(target[:-1], ["a", "b", "c"]) == ""
    assert Holdout().rare(target) == {2: 1}  # ⅔ and ⅓ of 3 rows are whole rows
    assert Bootstrap(stratify=True).rare(target) == {2: 1}
    pairs = np.arange(24) // 2  # the class 1 is in groups 10 and 11, the class 2 in group 11
    assert scheme.rare(target, pairs) == {1: 2, 2: 1}
    assert "'b' (2 groups)" in scheme.rare_note(target, ["a", "b", "c"], pairs)


def test_codes_of_rare_classes_are_those_of_the_target():
    assert CrossValidation(3).rare(np.array([2, 2, 2, 7])) == {7: 1}


@pytest.mark.parametrize(
    ("scheme", "target", "groups", "message"),
    [
        (CrossValidation(10), [0] * 7, None, "10 folds need at least 10 rows; there are 7"),
        (CrossValidation(3), [0] * 7, [1, 1, 1, 2, 2, 2, 2], "3 folds need at least 3 groups"),
        (Holdout(), [0], None, "training and test rows need at least 2 rows; there is 1"),
        (LeaveOneOut(), [], None, "training and test rows need at least 2 rows; there are none"),
        (Bootstrap(), [0, 1], ["a", "a"], "at least 2 groups; there is 1"),
        (Bootstrap(stratify=True), [0, 1], None, "a stratified bootstrap needs a class with at"),
        (CrossValidation(2), [0, 1, 1], [1, 2], "one group for each of the 3 rows"),
    ],
)
def test_too_few_rows_are_refused(scheme, target, groups, message):
    with pytest.raises(ValueError, match=message):
        scheme.splits(np.array(target, dtype=int), stream(0), groups)


@pytest.mark.parametrize(("golden", "scheme"), [("5x2", "5x2cv"), ("10", "cv")])
def test_folds_have_the_sizes_of_other_stratified_folds(golden, scheme):
    lines = [*csv.DictReader((GOLDEN / "sizes.csv").read_text().splitlines())]
    for name, rows in {"iris": 150, "labor-neg": 57, "glass": 214}.items():
        expected = Counter(
            (int(line["n_train"]), int(line["n_test"]))
            for line in lines
            if (line["set"], line["scheme"]) == (name, golden)
        )
        splits = make_scheme(scheme, {}).splits(np.arange(rows) % 3, stream(11))
        assert Counter((len(split.train), len(split.test)) for split in splits) == expected


def test_rows_in_order_are_tested_after_training_on_all_before_them():
    made = Ordered(folds=4).splits(np.zeros(23, int), np.random.default_rng(0))
    tests = [split.test.tolist() for split in made]
    assert [row for test in tests for row in test] == [*range(5, 23)]  # 23 rows: blocks of 4 or 5
    assert all(len(test) in (4, 5) for test in tests)
    assert all(split.train.tolist() == [*range(split.test[0])] for split in made)


def test_rows_in_order_match_those_of_scikit_learn():
    expected = model_selection.TimeSeriesSplit(n_splits=10).split(np.zeros((110, 1)))
    made = Ordered().splits(np.zeros(110, int), np.random.default_rng(0))
    for split, (train, test) in zip(made, expected, strict=True):
        assert split.train.tolist() == train.tolist()
        assert split.test.tolist() == test.tolist()


def test_rows_in_order_do_not_train_on_groups_that_are_tested():
    groups = np.repeat(np.arange(11), 4)[3:]  # blocks of rows divide groups
    for split in Ordered(folds=3).splits(np.zeros(41, int), np.random.default_rng(0), groups):
        assert not np.isin(groups[split.train], groups[split.test]).any()
        assert max(split.train) < min(split.test)
    with pytest.raises(ValueError, match="all groups of rows before fold 0 are tested in it"):
        Ordered(folds=2).splits(np.zeros(9, int), np.random.default_rng(0), [0, 1] * 4 + [0])
