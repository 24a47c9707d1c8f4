"""Decision trees of least message length."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simstudy.data.sample import Sample
from simstudy.learners.trees.mml.coding import DecisionGraph, at_root
from simstudy.learners.trees.mml.tree import (
    MMLTree,
    Rows,
    greedy_tree,
    ordered,
    pack,
    shortest_tree,
)
from simstudy.testing import check_learner


def greedy(sample: Sample, alpha: float = 0.5) -> DecisionGraph:
    rows = Rows.of(sample)
    root = shortest_tree(rows, alpha, at_root(len(rows.cards)), cells=0)
    return pack(ordered(root), sample.cards, alpha)


def shape(found: DecisionGraph, node: int = 0) -> object:
    """The attributes of a tree, nested; None for a leaf."""
    if found.attribute[node] < 0:
        return None
    inside = [shape(found, int(child)) for child in found.children[node] if child >= 0]
    return (int(found.attribute[node]), *inside)


def test_it_keeps_the_contract_with_another_alpha() -> None:
    # Exact ties go to the lowest index, so the order of the attributes may matter.
    check_learner(MMLTree(alpha=1.0), permutation=False)


def test_alpha_must_be_above_zero() -> None:
    with pytest.raises(ValueError, match="alpha"):
        MMLTree(alpha=0.0)


# --- The least of all trees -------------------------------------------------------------------


def leaf_length(rows: list[tuple[int, ...]], classes: int, alpha: float) -> float:
    counts = Counter(row[-1] for row in rows)
    length = math.lgamma(len(rows) + classes * alpha) - math.lgamma(classes * alpha)
    return length - sum(math.lgamma(n + alpha) - math.lgamma(alpha) for n in counts.values())


def all_lengths(
    rows: list[tuple[int, ...]],
    left: dict[int, int],
    classes: int,
    alpha: float,
    says: tuple[float, float],
) -> list[float]:
    """The length of every tree, one by one; ``left`` holds the attributes and their values."""
    lengths = [leaf_length(rows, classes, alpha) + (says[0] if left else 0.0)]
    for attribute, card in left.items():
        rest = {a: r for a, r in left.items() if a != attribute}
        inside = (math.log(card / (card - 1)), math.log(card))
        parts = [[row for row in rows if row[attribute] == value] for value in range(card)]
        below = [all_lengths(part, rest, classes, alpha, inside) for part in parts]
        named = says[1] + math.log(len(left))
        lengths += [named + sum(chosen) for chosen in itertools.product(*below)]
    return lengths


@st.composite
def small_samples(draw: st.DrawFn) -> Sample:
    """Few attributes, and rows that may occur many times."""
    cards = draw(st.sampled_from([(3,), (2, 2), (3, 2), (2, 2, 2), (2, 1, 3), (2, 2, 3)]))
    cards = (*cards, draw(st.sampled_from([2, 3])))
    distinct = draw(st.lists(st.tuples(*(st.integers(0, card - 1) for card in cards)), max_size=12))
    weights = draw(st.lists(st.integers(0, 15), min_size=len(distinct), max_size=len(distinct)))
    return Sample(np.array(distinct, dtype=int).reshape(-1, len(cards)), cards, weights)


@settings(max_examples=150, deadline=None)
@given(small_samples(), st.sampled_from([0.5, 1.0]))
def test_no_tree_is_shorter(sample: Sample, alpha: float) -> None:
    assert sample.weights is not None
    rows = [tuple(row) for row in np.repeat(sample.codes, sample.weights.astype(int), 0).tolist()]
    left = {i: card for i, card in enumerate(sample.cards[:-1]) if card > 1}
    number = max(2, len(left))
    says = (math.log(number), math.log(number / (number - 1)))
    shortest = min(all_lengths(rows, left, sample.classes, alpha, says))
    found = MMLTree(alpha).fit(sample)
    assert found.message_length == pytest.approx(shortest, rel=1e-9, abs=1e-9)
    assert greedy(sample, alpha).message_length >= shortest - 1e-9


@pytest.mark.parametrize("seed", range(8))
def test_the_greedy_tree_is_never_shorter_and_often_as_short(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, [2, 3, 2, 4, 2, 3], (400, 6))
    codes[:, -1] = np.where(rng.random(400) < 0.8, (codes[:, 1] + codes[:, 3]) % 3, codes[:, -1])
    sample = Sample(codes, [2, 3, 2, 4, 2, 3])
    exact, grown = MMLTree().fit(sample), greedy(sample)
    assert exact.message_length <= grown.message_length + 1e-9
    assert grown.message_length < exact.message_length + 25


def test_only_looking_further_finds_an_exclusive_or() -> None:
    # Neither attribute alone tells anything, so the greedy tree, too, must grow past a bad split
    # before it prunes.
    codes = np.array([(a, b, a ^ b) for a in (0, 1) for b in (0, 1)] * 20)
    for found in (MMLTree().fit(Sample(codes, (2, 2, 2))), greedy(Sample(codes, (2, 2, 2)))):
        assert shape(found) == (0, (1, None, None), (1, None, None))


def test_ties_go_to_the_leaf_and_the_lowest_attribute() -> None:
    # Three copies of one attribute.
    codes = np.repeat(np.array([[0, 0, 0, 0], [1, 1, 1, 1]]), 30, axis=0)
    assert shape(MMLTree().fit(Sample(codes, (2, 2, 2, 2)))) == (0, None, None)
    assert shape(greedy(Sample(codes, (2, 2, 2, 2)))) == (0, None, None)
    # One class: nothing to part.
    codes[:, -1] = 0
    assert shape(MMLTree().fit(Sample(codes, (2, 2, 2, 2)))) is None


# --- What it finds ----------------------------------------------------------------------------


def from_tree(rng: np.random.Generator, rows: int) -> Sample:
    """Rows from the tree x2 (x0 leaf leaf) leaf (x5 leaf (x1 leaf leaf))."""
    cards = (2, 2, 3, 3, 2, 2, 2, 2)
    codes = rng.integers(0, cards, (rows, len(cards)))
    x0, x1, x2, x5 = codes[:, 0], codes[:, 1], codes[:, 2], codes[:, 5]
    chance = np.select(
        [(x2 == 0) & (x0 == 0), x2 == 0, x2 == 1, x5 == 0, x1 == 0],
        [0.9, 0.2, 0.5, 0.1, 0.95],
        0.4,
    )
    codes[:, -1] = rng.random(rows) < chance
    return Sample(codes, cards)


@pytest.mark.parametrize("seed", range(5))
def test_the_tree_that_made_the_data_is_found(seed: int) -> None:
    sample = from_tree(np.random.default_rng(seed), 5000)
    # Only the search of all trees: x0 alone tells more of the class than x2 alone.
    expected = (2, (0, None, None), None, (5, None, (1, None, None)))
    assert shape(MMLTree().fit(sample)) == expected


def noise(seed: int, rows: int, attributes: int) -> Sample:
    rng = np.random.default_rng(seed)
    codes = np.column_stack(
        [rng.integers(0, 2, (rows, attributes)), rng.random(rows) < (0.3, 0.5)[seed % 2]]
    )
    return Sample(codes, [2] * (attributes + 1))


def test_noise_is_left_alone() -> None:
    alone = [MMLTree().fit(noise(seed, 1000, 7)).leaves == 1 for seed in range(40)]
    assert sum(alone) >= 38
    alone = [MMLTree().fit(noise(seed, 5000, 40)).leaves == 1 for seed in range(10)]
    assert sum(alone) >= 9


def test_sixty_attributes_are_not_too_many() -> None:
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 3, (2000, 61))
    codes[:, -1] = np.where(rng.random(2000) < 0.9, codes[:, 17] * (codes[:, 44] > 0), 1)
    found = MMLTree().fit(Sample(codes, [3] * 61))
    assert set(found.attribute.tolist()) == {-1, 17, 44}


def test_the_greedy_tree_stops_where_no_attribute_parts_the_rows() -> None:
    codes = np.zeros((10, 21), dtype=int)
    codes[:5, -1] = 1
    assert MMLTree().fit(Sample(codes, [2] * 21)).leaves == 1
    grown = greedy_tree(Rows.of(Sample(codes, [2] * 21)), 0.5, at_root(20))
    assert not grown.branches
