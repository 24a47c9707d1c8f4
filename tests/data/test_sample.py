"""Samples count what a loop over the rows counts."""

from collections import defaultdict
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simstudy.data import sample as module
from simstudy.data.codes import distinct_rows
from simstudy.data.sample import Sample
from simstudy.data.value_layout import SlotLayout


@st.composite
def samples(draw: st.DrawFn, weighted: bool | None = None) -> Sample:
    """Small samples, some of them empty, some weighted with exact binary fractions."""
    cards = draw(st.lists(st.integers(1, 4), min_size=2, max_size=5))
    row = st.tuples(*(st.integers(0, card - 1) for card in cards))
    rows = draw(st.lists(row, max_size=25))
    codes = np.array(rows, dtype=int).reshape(len(rows), len(cards))
    if weighted is None:
        weighted = draw(st.booleans())
    if not weighted:
        return Sample(codes, cards)
    eighths = st.integers(0, 40)
    weights = draw(st.lists(eighths, min_size=len(rows), max_size=len(rows)))
    return Sample(codes, cards, np.array(weights) / 8)


def count_by_hand(sample: Sample, variables: tuple[int, ...]) -> np.ndarray:
    """A contingency table by a plain loop over the rows."""
    weights = [1.0] * len(sample) if sample.weights is None else list(sample.weights)
    tally: dict[tuple[int, ...], float] = defaultdict(float)
    for row, weight in zip(sample.codes.tolist(), weights, strict=True):
        tally[tuple(row[v] for v in variables)] += weight
    shape = [sample.cards[v] for v in variables]
    cells = [tally[cell] for cell in product(*map(range, shape))]
    return np.array(cells).reshape(shape)


def random_sample(rows: int, cards: tuple[int, ...], weighted: bool = False) -> Sample:
    rng = np.random.default_rng(rows)
    codes = rng.integers(0, cards, size=(rows, len(cards)))
    return Sample(codes, cards, rng.random(rows) if weighted else None)


@given(samples(), st.data())
def test_counts_are_those_of_a_loop_over_the_rows(sample: Sample, data: st.DataObject) -> None:
    variables = tuple(
        data.draw(st.lists(st.integers(0, len(sample.cards) - 1), unique=True, max_size=4))
    )
    table = sample.counts(*variables)
    assert table.dtype == np.float64
    np.testing.assert_array_equal(table, count_by_hand(sample, variables))


@given(samples())
def test_totals_and_class_counts_follow_the_weights(sample: Sample) -> None:
    by_hand = count_by_hand(sample, (len(sample.cards) - 1,))
    np.testing.assert_array_equal(sample.class_counts, by_hand)
    assert sample.total == by_hand.sum() == sample.counts()
    assert sample.class_counts.shape == (sample.classes,)


@settings(max_examples=60)
@given(samples(), st.booleans())
def test_pair_counts_hold_the_table_of_every_pair(sample: Sample, at_once: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if not at_once:  # the ways of large samples must do for small ones too
            patch.setattr(module, "_FEW_PAIRS", -1)
        _ = sample.pair_counts
    target, spans = len(sample.cards) - 1, sample.layout.spans
    for i, j in permutations(range(target), 2):
        block = sample.pair_counts[:, spans[i], spans[j]]
        np.testing.assert_array_equal(block, count_by_hand(sample, (target, i, j)))
    for i in range(target):
        block = sample.pair_counts[:, spans[i], spans[i]]
        own = count_by_hand(sample, (target, i))
        np.testing.assert_array_equal(block, np.stack([np.diag(row) for row in own]))


@settings(max_examples=60)
@given(samples(), st.booleans())
def test_slot_counts_are_the_same_before_and_after_pair_counts(
    sample: Sample, pairs_first: bool
) -> None:
    if pairs_first:
        _ = sample.pair_counts
    target = len(sample.cards) - 1
    assert sample.slot_counts.shape == (sample.classes, sum(sample.cards[:-1]))
    for i, span in enumerate(sample.layout.spans):
        by_hand = count_by_hand(sample, (target, i))
        np.testing.assert_array_equal(sample.slot_counts[:, span], by_hand)


@pytest.mark.parametrize("weighted", [False, True])
def test_pair_counts_of_a_large_sample_equal_counts_of_each_pair(weighted: bool) -> None:
    sample = random_sample(3000, (2, 5, 3, 4, 2, 3), weighted)
    spans = sample.layout.spans
    for i, j in combinations(range(5), 2):
        block = sample.pair_counts[:, spans[i], spans[j]]
        np.testing.assert_array_equal(block, sample.counts(5, i, j))


def test_unit_weights_change_no_table() -> None:
    plain = random_sample(200, (2, 3, 4, 3))
    weighted = Sample(plain.codes, plain.cards, np.ones(200))
    np.testing.assert_array_equal(weighted.pair_counts, plain.pair_counts)
    np.testing.assert_array_equal(weighted.slot_counts, plain.slot_counts)
    np.testing.assert_array_equal(weighted.counts(1, 3), plain.counts(1, 3))


def test_axes_come_in_the_order_asked_for() -> None:
    sample = random_sample(50, (2, 3, 4))
    assert sample.counts(2, 0, 1).shape == (4, 2, 3)
    np.testing.assert_array_equal(sample.counts(2, 0), sample.counts(0, 2).T)


def test_a_table_is_counted_once_whatever_the_order_of_its_axes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sample = random_sample(50, (2, 3, 4))
    first = sample.counts(0, 2)
    monkeypatch.setattr(np, "bincount", lambda *_, **__: pytest.fail("counted again"))
    assert np.shares_memory(sample.counts(0, 2), first)
    assert np.shares_memory(sample.counts(2, 0), first)


def test_whole_tables_are_kept() -> None:
    sample = random_sample(50, (2, 3, 4))
    assert sample.pair_counts is sample.pair_counts
    assert sample.slot_counts is sample.slot_counts
    assert sample.class_counts is sample.class_counts


def test_absent_values_and_classes_keep_their_places() -> None:
    sample = Sample([[0, 0], [2, 0]], (4, 3))
    np.testing.assert_array_equal(sample.counts(0, 1), [[1, 0, 0], [0, 0, 0], [1, 0, 0], [0, 0, 0]])


def test_attributes_and_target_are_the_columns() -> None:
    sample = Sample([[0, 1, 2], [1, 0, 0]], (2, 2, 3))
    np.testing.assert_array_equal(sample.attributes, [[0, 1], [1, 0]])
    np.testing.assert_array_equal(sample.target, [2, 0])
    assert len(sample) == 2
    assert repr(sample) == "Sample(2 rows, cards=(2, 2, 3))"
    assert repr(Sample([[0, 0]], (1, 1), [0.5])) == "Sample(1 rows, cards=(1, 1), weighted)"


def test_a_layout_lays_values_end_to_end() -> None:
    layout = SlotLayout((2, 3, 1))
    assert layout.size == 6
    assert layout.starts.tolist() == [0, 2, 5]
    assert layout.owner.tolist() == [0, 0, 1, 1, 1, 2]
    assert layout.slot_cards.tolist() == [2, 2, 3, 3, 3, 1]
    columns = np.array([[0, 1], [2, 0], [0, 0]])
    assert layout.slots(columns).tolist() == [[0, 1], [4, 2], [5, 5]]


@pytest.mark.parametrize(
    ("codes", "cards", "weights", "words"),
    [
        ([[0, 0, 0]], (2, 2), None, "one column for each of the 2 variables"),
        ([0, 1], (2, 2), None, "one column for each"),
        (np.empty((3, 0)), (), None, "a sample needs at least one variable"),
        ([[0, 2]], (2, 2), None, "variable 1 has 2 values.* from 0 to 1"),
        ([[-1, 0]], (2, 2), None, "variable 0 has 2 values"),
        ([[0, 0]], (2, 2), [1, 1], "one number for each of the 1 rows"),
        ([[0, 0]], (2, 2), [-1], "finite and not negative"),
        ([[0, 0]], (2, 2), [np.nan], "finite and not negative"),
        ([[0, 0]], (2, 2), [np.inf], "finite and not negative"),
    ],
)
def test_rows_that_do_not_fit_are_refused_in_words(
    codes: object, cards: tuple[int, ...], weights: object, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        Sample(codes, cards, weights)  # type: ignore[arg-type]


def test_codes_that_are_not_whole_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="codes must be integers"):
        Sample([[0.7, 1.0]], (2, 2))


def test_a_variable_named_twice_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"counts\(0, 0\) must name different variables from 0 to 1"
    ):
        Sample([[0, 0]], (2, 2)).counts(0, 0)


@pytest.mark.parametrize("variables", [3, 61, 62, 63, 70])
def test_distinct_rows_find_every_row_once_however_many_configurations(variables: int) -> None:
    rng = np.random.default_rng(variables)
    few = rng.integers(0, 2, size=(6, variables))
    codes = few[rng.integers(0, 6, size=40)]
    first, inverse = distinct_rows(codes, (2,) * variables)
    np.testing.assert_array_equal(codes[first][inverse], codes)
    assert len(first) == len({tuple(row) for row in codes.tolist()})
    assert inverse.shape == (40,)


def test_distinct_rows_of_no_rows_are_none() -> None:
    first, inverse = distinct_rows(np.empty((0, 2), dtype=np.intp), (2, 2))
    assert len(first) == len(inverse) == 0
