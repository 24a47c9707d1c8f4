"""SuperParent search against leave-one-out by refitting, in exact fractions."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from simstudy.data.sample import Sample
from simstudy.learners.bayes.superparent import superparent_tree
from simstudy.learners.bayes.tan import TAN

Row = tuple[int, ...]
Tree = tuple[int | None, ...]
Weight = int | Fraction


def class_scores(
    rows: Sequence[Row], weights: Sequence[Weight], cards: Row, parents: dict[int, int], row: Row
) -> list[Fraction]:
    """P(c) Π P(x_i | c, pa) of every class, from weighted rows, ½ added to every count."""
    target = len(cards) - 1
    scores = []
    for label in range(cards[target]):
        here = [(r, w) for r, w in zip(rows, weights, strict=True) if r[target] == label]
        # (n + ½)/(N + r/2) is (2n + 1)/(2N + r).
        above = 2 * sum(w for _, w in here) + 1
        below = 2 * sum(weights) + cards[target]
        for i in range(target):
            pa = parents.get(i)
            given = here if pa is None else [(r, w) for r, w in here if r[pa] == row[pa]]
            above *= 2 * sum(w for r, w in given if r[i] == row[i]) + 1
            below *= 2 * sum(w for _, w in given) + cards[i]
        scores.append(Fraction(above) / below)
    return scores


def leave_one_out_hits(
    rows: Sequence[Row], weights: Sequence[Weight], cards: Row, parents: dict[int, int]
) -> Weight:
    """The weight of the rows classified right by what is learnt without them."""
    hits: Weight = 0
    for index, row in enumerate(rows):
        rest = list(weights)
        rest[index] -= min(weights[index], 1)
        scores = class_scores(rows, rest, cards, parents, row)
        if scores.index(max(scores)) == row[-1]:
            hits += weights[index]
    return hits


def ancestors(node: int, parents: dict[int, int]) -> set[int]:
    found = set()
    while node in parents:
        node = parents[node]
        found.add(node)
    return found


def brute_force_tree(rows: Sequence[Row], weights: Sequence[Weight], cards: Row) -> Tree:
    """SuperParent as Keogh & Pazzani (1999) describe it, refitting for every row left out."""
    attributes = range(len(cards) - 1)
    parents: dict[int, int] = {}
    hits = leave_one_out_hits(rows, weights, cards, parents)
    while True:
        best: tuple[Weight, int, list[int]] | None = None
        for s in attributes:
            orphans = [
                i for i in attributes if i not in parents and i not in {s} | ancestors(s, parents)
            ]
            if not orphans:
                continue
            count = leave_one_out_hits(rows, weights, cards, parents | dict.fromkeys(orphans, s))
            if best is None or count > best[0]:
                best = (count, s, orphans)
        if best is None:
            break
        _, s, orphans = best
        counts = {i: leave_one_out_hits(rows, weights, cards, parents | {i: s}) for i in orphans}
        child = max(orphans, key=lambda i: (counts[i], -i))
        if counts[child] <= hits:
            break
        parents[child] = s
        hits = counts[child]
    return tuple(parents.get(i) for i in attributes)


def draw_rows(rng: np.random.Generator, most_rows: int) -> tuple[list[Row], Row]:
    """Few rows over few values, so that ties abound; often with a class or a value missing."""
    attributes = int(rng.integers(2, 6))
    cards = tuple(int(card) for card in rng.integers(2, 4, size=attributes + 1))
    rows = int(rng.integers(5, most_rows + 1))
    codes = rng.integers(0, cards, size=(rows, len(cards)))
    for i in range(attributes):  # attributes that follow another, so that arcs are worth adding
        led = (codes[:, i - 1] + codes[:, -1]) % cards[i]
        codes[:, i] = np.where(rng.random(rows) < 0.6, led, codes[:, i])
    return [tuple(row) for row in codes.tolist()], cards


@pytest.mark.parametrize("block", range(8))
def test_trees_are_those_of_exact_leave_one_out(block: int) -> None:
    arcs = 0
    for seed in range(25):
        rows, cards = draw_rows(np.random.default_rng([block, seed]), 12 + 4 * block)
        expected = brute_force_tree(rows, [1] * len(rows), cards)
        assert superparent_tree(Sample(rows, cards), 0.5) == expected, (rows, cards)
        arcs += sum(parent is not None for parent in expected)
    assert arcs > 10


@pytest.mark.parametrize("seed", range(15))
def test_fractional_weights_take_out_no_more_than_one_row(seed: int) -> None:
    rng = np.random.default_rng([99, seed])
    rows, cards = draw_rows(rng, 20)
    quarters = rng.integers(0, 9, size=len(rows))
    expected = brute_force_tree(rows, [Fraction(int(q), 4) for q in quarters], cards)
    assert superparent_tree(Sample(rows, cards, quarters / 4), 0.5) == expected


@pytest.mark.parametrize("seed", range(30))
def test_whole_weights_are_repeated_rows(seed: int) -> None:
    rng = np.random.default_rng([7, seed])
    rows, cards = draw_rows(rng, 40)
    weights = rng.integers(0, 4, size=len(rows))
    weighted = superparent_tree(Sample(rows, cards, weights), 0.5)
    repeated = Sample(np.repeat(rows, weights, axis=0).reshape(-1, len(cards)), cards)
    assert weighted == superparent_tree(repeated, 0.5)


def test_rows_in_another_order_give_the_same_tree() -> None:
    for seed in range(40):
        rng = np.random.default_rng([5, seed])
        rows, cards = draw_rows(rng, 40)
        shuffled = rng.permutation(np.array(rows))
        assert superparent_tree(Sample(rows, cards), 0.5) == superparent_tree(
            Sample(shuffled, cards), 0.5
        )


def test_an_arc_that_gains_no_hit_is_not_added() -> None:
    # One class only: Naive Bayes is always right, so no arc can be better.
    rows = np.column_stack([np.random.default_rng(0).integers(0, 2, size=(20, 3)), np.zeros(20)])
    assert TAN(search="superparent").fit(Sample(rows, (2, 2, 2, 2))).tree == (None, None, None)


def test_exclusive_or_is_found() -> None:
    # y = x0 xor x1: no attribute helps alone, so an arc between them gains every hit. Made the
    # parent of both others, x0 and x1 do equally well; the lower is SuperParent.
    rows = [(a, b, c, a ^ b) for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 3
    assert superparent_tree(Sample(rows, (2, 2, 2, 2)), 0.5) == (None, 0, None)
