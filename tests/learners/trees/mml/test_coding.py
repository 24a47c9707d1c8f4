"""The message of trees and graphs, against lengths worked out by hand and a plain coder."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simstudy.data.sample import Sample
from simstudy.learners.trees.mml.coding import DecisionGraph, data_length, log_partitions
from simstudy.learners.trees.mml.graph import MMLGraph
from simstudy.learners.trees.mml.tree import MMLTree

LN2 = log(2)


def graph(
    cards: Sequence[int], *nodes: tuple[int, list[int]] | list[float], alpha: float = 0.5
) -> DecisionGraph:
    """Nodes as (attribute, children) or as the class counts of a leaf."""
    children = np.full((len(nodes), max(cards)), -1)
    attribute = np.full(len(nodes), -1)
    counts = np.zeros((len(nodes), cards[-1]))
    for number, node in enumerate(nodes):
        if isinstance(node, tuple):
            attribute[number] = node[0]
            children[number, : len(node[1])] = node[1]
        else:
            counts[number] = node
    return DecisionGraph(cards, attribute, children, counts, alpha)


# --- Lengths by hand: α = 1/2, two classes unless said otherwise -------------------------------


def test_a_single_leaf() -> None:
    # The root is a leaf with probability 1/3, as there are three attributes. Rows of classes
    # 0, 0, 1: (1/2)/1 · (3/2)/2 · (1/2)/3 = 1/16.
    assert graph((2, 2, 2, 2), [2, 1]).message_length == pytest.approx(log(3) + log(16))


def test_attributes_of_one_value_are_not_there() -> None:
    assert graph((1, 2, 2, 1, 2), [2, 1]).message_length == pytest.approx(log(2) + log(16))
    # Without any attribute there is nothing to say of the root.
    assert graph((1, 2), [2, 1]).message_length == pytest.approx(log(16))


def test_one_binary_split() -> None:
    # Two attributes: the root is a split with probability 1 − 1/2 and names one of two. Two
    # leaves under two branches: 1/2 each. Classes 0, 0: 1/2 · (3/2)/2 = 3/8; class 1: 1/2.
    found = graph((2, 2, 2), (0, [1, 2]), [2, 0], [0, 1])
    assert found.message_length == pytest.approx(4 * LN2 + log(8 / 3) + LN2)


def test_the_only_attribute() -> None:
    # Leaf or split: 1/2 each. Below the split no attribute is left, so leaves say nothing.
    found = graph((3, 2), (0, [1, 2, 3]), [2, 0], [0, 1], [0, 0])
    assert found.message_length == pytest.approx(LN2 + log(8 / 3) + LN2)


def test_a_binary_split_below_a_split_of_three() -> None:
    # Three attributes of 3, 2, 2 values, three classes.
    # Root: a split, 1 − 1/3; one of three attributes.                         ln 3/2 + ln 3
    # Its branches: leaf 2/3, split 1/3, leaf 2/3.                             2 ln 3/2 + ln 3
    # The split in the middle names one of the two attributes left.            ln 2
    # Its two leaves, 1/2 each: one attribute is left.                         2 ln 2
    structure = 3 * log(3 / 2) + 2 * log(3) + 3 * LN2
    # Rows, each (n_c + 1/2)/(n + 3/2):
    # classes 0, 1: 1/3 · (1/2)/(5/2) = 1/15;  no rows: 1;  classes 2, 2: 1/3 · (3/2)/(5/2) = 1/5;
    # classes 1, 1, 1: 1/3 · 3/5 · (5/2)/(7/2) = 1/7.
    data = log(15) + log(5) + log(7)
    found = graph(
        (3, 2, 2, 3), (0, [1, 2, 5]), [1, 1, 0], (2, [3, 4]), [0, 0, 0], [0, 0, 2], [0, 3, 0]
    )
    assert found.message_length == pytest.approx(structure + data)
    # A leaf without rows knows no class from another.
    np.testing.assert_allclose(found.predict_proba(np.array([[1, 1, 0]])), [[1 / 3] * 3])
    np.testing.assert_allclose(
        found.predict_proba(np.array([[0, 1, 1]])), [[1.5 / 3.5, 1.5 / 3.5, 0.5 / 3.5]]
    )


def test_another_prior_of_the_leaves() -> None:
    # α = 1: classes 0, 0, 1: 1/2 · 2/3 · 1/4 = 1/12.
    found = graph((2, 2, 2, 2), [2, 1], alpha=1.0)
    assert found.message_length == pytest.approx(log(3) + log(12))


def test_a_graph_with_one_join() -> None:
    # x0 = 0 and (x0 = 1, x1 = 0) lead to the same leaf.
    # First tree: the root splits (1/2) on one of two; x0 = 0 is a leaf (1/2), x0 = 1 a split
    # (1/2) on the attribute left, whose branches say nothing.                 4 ln 2
    # A round of joins: one merge, 2^−1, of 3 leaves into 2 groups, S(3, 2) = 3; the new node is
    # a leaf (1/2); no further round (1/2).                                    3 ln 2 + ln 3
    # Rows: classes 0, 0, 1: 1/16; class 1: 1/2.
    found = graph((2, 2, 2), (0, [2, 1]), (1, [2, 3]), [2, 1], [0, 1])
    assert found.message_length == pytest.approx(7 * LN2 + log(3) + log(16) + LN2)
    assert found.joined.tolist() == [2]


def test_a_joined_node_that_splits_again() -> None:
    # (x0 ∧ x1) ∨ (x2 ∧ x3). First tree: the root splits, 3/4, on one of four; leaf; a split on
    # one of three; two leaves.
    first = log(4 / 3) + log(4) + LN2 + (LN2 + log(3)) + 2 * LN2
    # One merge of three leaves. The new node splits, 1/2. x0 and x1 can both take two values
    # there (x1 through x0 = 0), so it names one of four, and the split below it one of three.
    # Its leaves: one on the left, two below.
    joins = LN2 + log(3) + (LN2 + log(4)) + LN2 + (LN2 + log(3)) + 2 * LN2 + LN2
    found = graph(
        (2, 2, 2, 2, 2),
        (0, [3, 1]), (1, [3, 2]), [0, 1],
        (2, [4, 5]), [2, 0], (3, [6, 7]), [1, 0], [0, 2],
    )  # fmt: skip
    # One class, one row: 1/2; two rows: 3/8.
    data = 2 * LN2 + 2 * log(8 / 3)
    assert found.message_length == pytest.approx(first + joins + data)
    assert str(found).splitlines()[1:] == [
        "x0", "  0: → join 1", "  1: x1", "    0: → join 1", "    1: [0 1]",
        "join 1: x2", "  0: [2 0]", "  1: x3", "    0: [1 0]", "    1: [0 2]",
    ]  # fmt: skip


def test_a_join_of_some_values_and_a_second_round() -> None:
    # Attributes of 3 and 2 values. Values 0 and 1 of x0 join; the new node splits on x1; its
    # second branch joins value 2 of x0.
    # First tree: root splits (1/2), one of two; three leaves, 2/3 each.
    first = 2 * LN2 + 3 * log(3 / 2)
    # Round 1: one merge of 3 leaves, S(3, 2) = 3; a split; x0 can still be 0 or 1, so it is one
    # of two attributes; two leaves, 1/2 each (x0 could be tested); another round.
    second = LN2 + log(3) + LN2 + LN2 + 2 * LN2 + LN2
    # Round 2: one merge of the 3 leaves there are now; a leaf; no further round.
    third = LN2 + log(3) + LN2 + LN2
    found = graph((3, 2, 2), (0, [1, 1, 3]), (1, [2, 3]), [1, 0], [0, 1])
    assert found.message_length == pytest.approx(first + second + third + 2 * LN2)


# --- Parts of the code ------------------------------------------------------------------------


@given(
    st.lists(st.integers(0, 3), max_size=30), st.integers(4, 6), st.floats(0.01, 10), st.randoms()
)
def test_a_leaf_costs_its_rows_one_by_one(
    classes: list[int], number: int, alpha: float, order: object
) -> None:
    order.shuffle(classes)  # type: ignore[attr-defined]
    seen = [0] * number
    length = 0.0
    for n, label in enumerate(classes):
        length -= log((seen[label] + alpha) / (n + number * alpha))
        seen[label] += 1
    found = data_length(np.array(seen, dtype=float), alpha)
    assert found == pytest.approx(length, rel=1e-9, abs=1e-9)


def test_many_counts_cost_what_each_costs() -> None:
    rng = np.random.default_rng(5)
    for counts in (rng.integers(0, 40, (900, 3)) * 1.0, rng.random((900, 3)) * 9):
        one_by_one = [float(data_length(row, 0.5)) for row in counts]
        np.testing.assert_allclose(data_length(counts, 0.5), one_by_one, rtol=1e-12)


@cache
def stirling(items: int, groups: int) -> int:
    if items == groups:
        return 1
    if groups == 0 or groups > items:
        return 0
    return stirling(items - 1, groups - 1) + groups * stirling(items - 1, groups)


def test_partitions_are_counted_by_stirling_numbers() -> None:
    for items in (1, 2, 3, 4, 7, 40, 64, 65, 200):
        for groups in {1, 2, items // 2, items - 1, items} - {0}:
            if groups <= items:
                expected = log(stirling(items, groups))
                assert log_partitions(items, groups) == pytest.approx(expected, rel=1e-12)


# --- All trees, all graphs --------------------------------------------------------------------

Tree = tuple[int, tuple["Tree", ...]] | None  # attribute and branches, or a leaf


def trees(values: dict[int, tuple[int, ...]]) -> Iterator[tuple[Tree, float]]:
    """Every tree over attributes and their values, with what it costs below its first word."""
    yield None, 0.0
    for attribute, branches in values.items():
        left = {a: v for a, v in values.items() if a != attribute}
        say = [log(len(branches) / (len(branches) - 1)), log(len(branches))] if left else [0, 0]
        below = [(t, c + say[t is not None]) for t, c in trees(left)]
        for inside in itertools.product(below, repeat=len(branches)):
            cost = log(len(values)) + sum(c for _, c in inside)
            yield (attribute, tuple(t for t, _ in inside)), cost


def pack(cards: Sequence[int], tree: Tree) -> DecisionGraph:
    """A tree as a graph, without rows."""
    nodes: list[tuple[int, list[int]] | list[float]] = []

    def add(part: Tree) -> int:
        number = len(nodes)
        nodes.append([0.0] * cards[-1])
        if part is not None:
            children = list(range(len(part[1])))
            nodes[number] = (part[0], children)
            for place, inside in enumerate(part[1]):
                children[place] = add(inside)
        return number

    add(tree)
    return graph(cards, *nodes)


@pytest.mark.parametrize("cards", [(2,), (4,), (2, 2), (2, 3), (3, 1, 2), (2, 2, 2), (2, 3, 2)])
def test_the_probabilities_of_all_trees_sum_to_one(cards: tuple[int, ...]) -> None:
    values = {i: tuple(range(card)) for i, card in enumerate(cards) if card > 1}
    lengths = [pack((*cards, 2), tree).message_length for tree, _ in trees(values)]
    assert sum(math.exp(-length) for length in lengths) == pytest.approx(1)


def partitions(items: list[int]) -> Iterator[list[list[int]]]:
    if not items:
        yield []
        return
    for rest in partitions(items[1:]):
        yield [[items[0]], *rest]
        for place, group in enumerate(rest):
            yield [*rest[:place], [items[0], *group], *rest[place + 1 :]]


def one_round(tree: DecisionGraph, cards: Sequence[int]) -> Iterator[DecisionGraph]:
    """Every graph that one round of joins makes of a tree over binary attributes."""
    possible = tree.costs().possible
    leaves = np.flatnonzero(tree.attribute < 0).tolist()
    for groups in partitions(leaves):
        joining = [group for group in groups if len(group) > 1]
        choices = []
        for group in joining:
            there = possible[group].any(axis=0).reshape(-1, 2)
            values = {i: (0, 1) for i in range(len(there)) if there[i].all()}
            choices.append([below for below, _ in trees(values)])
        for chosen in itertools.product(*choices) if joining else ():
            yield joined(tree, cards, joining, chosen)


def joined(
    tree: DecisionGraph, cards: Sequence[int], groups: list[list[int]], below: Sequence[Tree]
) -> DecisionGraph:
    """A tree with groups of its leaves joined; unused nodes are left out by renumbering."""
    nodes: list[tuple[int, list[int]] | list[float]] = []
    where: dict[int, int] = {}
    kept = [n for n in range(len(tree.attribute)) if not any(n in group for group in groups)]
    for n in kept:
        where[n] = len(nodes)
        nodes.append([0.0] * cards[-1])
    for group, part in zip(groups, belows(below), strict=True):
        start = len(nodes)
        for n in group:
            where[n] = start
        for node in part:
            shifted = (node[0], [c + start for c in node[1]]) if isinstance(node, tuple) else node
            nodes.append(shifted)
    for n in kept:
        if tree.attribute[n] >= 0:
            children = [where[c] for c in tree.children[n].tolist() if c >= 0]
            nodes[where[n]] = (int(tree.attribute[n]), children)
    return graph(cards, *nodes)


def belows(parts: Sequence[Tree]) -> list[list[tuple[int, list[int]] | list[float]]]:
    """Trees as lists of nodes."""
    found = []
    for part in parts:
        nodes: list[tuple[int, list[int]] | list[float]] = []
        packed = pack((2, 2, 2), part)
        for attribute, children in zip(packed.attribute, packed.children, strict=True):
            inside = [c for c in children.tolist() if c >= 0]
            nodes.append((int(attribute), inside) if attribute >= 0 else [0.0, 0.0])
        found.append(nodes)
    return found


def test_the_probabilities_of_graphs_sum_to_what_their_trees_leave() -> None:
    # Of each tree with L leaves, one round of joins followed by no other takes the probability
    # Σ_{J=1}^{L−1} 2^−J · 1/2 = (1 − 2^−(L−1))/2, whichever leaves join and however they go on.
    cards = (2, 2, 2)
    for tree, _ in trees({0: (0, 1), 1: (0, 1)}):
        alone = pack(cards, tree)
        total = sum(math.exp(-found.message_length) for found in one_round(alone, cards))
        share = (1 - 2.0 ** -(alone.leaves - 1)) / 2
        assert total == pytest.approx(share * math.exp(-alone.message_length), abs=1e-12)


# --- A plain coder ----------------------------------------------------------------------------


def tell(found: DecisionGraph, cards: Sequence[int], rows: list[tuple[int, ...]]) -> float:
    """The length of the whole message, told step by step."""
    attribute, children = found.attribute.tolist(), found.children.tolist()
    branches = [c for row in children for c in row if c >= 0]
    classes = cards[-1]
    length = 0.0

    def tree(node: int, box: list[set[int]], say: Callable[[bool], float]) -> list[tuple[int, ...]]:
        """Tell a tree; return the ends of its branches, leaves and joins to come."""
        nonlocal length
        usable = [i for i, some in enumerate(box) if len(some) > 1]
        ends = attribute[node] < 0
        if usable:
            length -= log(say(ends))
        if ends:
            return [(node, box)]
        assert attribute[node] in usable
        length += log(len(usable))
        width = len(box[attribute[node]])
        below = []
        for value in sorted(box[attribute[node]]):
            child = children[node][value]
            inside = [{value} if i == attribute[node] else some for i, some in enumerate(box)]
            if branches.count(child) > 1:
                if len(usable) > 1:
                    length -= log((width - 1) / width)
                below.append((child, inside))
            else:
                below += tree(child, inside, lambda leaf: ((width - 1) if leaf else 1) / width)
        return below

    whole = [set(range(card)) for card in cards[:-1]]
    number = max(2, sum(card > 1 for card in cards[:-1]))
    now = tree(0, whole, lambda leaf: 1 / number if leaf else 1 - 1 / number)
    waiting = {child for child in branches if branches.count(child) > 1}
    while waiting:
        ready = [z for z in sorted(waiting) if [n for n, _ in now].count(z) == branches.count(z)]
        merges = sum(branches.count(z) - 1 for z in ready)
        length += merges * LN2 + log(stirling(len(now), len(now) - merges))
        for z in ready:
            boxes = [box for n, box in now if n == z]
            now = [end for end in now if end[0] != z]
            union = [set().union(*parts) for parts in zip(*boxes, strict=True)]
            now += tree(z, union, lambda leaf: 0.5)
        waiting -= set(ready)
        length += LN2
    seen: dict[int, list[int]] = {}
    for *values, label in rows:
        node = 0
        while attribute[node] >= 0:
            node = children[node][values[attribute[node]]]
        told = seen.setdefault(node, [0] * classes)
        length -= log((told[label] + found.alpha) / (sum(told) + classes * found.alpha))
        told[label] += 1
    return length


CARDS = (2, 3, 2, 2, 3)


@st.composite
def samples(draw: st.DrawFn) -> list[tuple[int, ...]]:
    """Rows whose class follows from all attributes but the last, with few or many copies."""
    table = draw(st.lists(st.integers(0, 2), min_size=24, max_size=24))
    limit = draw(st.sampled_from([1, 4, 40]))
    copies = draw(st.lists(st.integers(0, limit), min_size=24, max_size=24))
    rows = []
    for place, attributes in enumerate(itertools.product(*(range(card) for card in CARDS[:-1]))):
        rows += [(*attributes, table[place // 2 * 2])] * copies[place]
    return rows


@settings(max_examples=40, deadline=None)
@given(samples(), st.sampled_from([0.5, 1.0, 0.1]))
def test_the_message_is_as_long_as_a_plain_coder_says(
    rows: list[tuple[int, ...]], alpha: float
) -> None:
    sample = Sample(np.array(rows, dtype=int).reshape(-1, 5), CARDS)
    tree, joined_tree = MMLTree(alpha).fit(sample), MMLGraph(alpha).fit(sample)
    assert not tree.joined.size
    for found in (tree, joined_tree):
        assert found.message_length == pytest.approx(tell(found, CARDS, rows), rel=1e-9, abs=1e-9)
    assert joined_tree.message_length <= tree.message_length


@pytest.mark.parametrize("seed", range(6))
def test_graphs_of_many_joins_are_told_likewise(seed: int) -> None:
    # The class goes by how many of four attributes of three values are 0: much to share.
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (1500, 5))
    noise = rng.random(1500) < 0.1
    codes[:, -1] = np.where(noise, codes[:, -1], np.minimum((codes[:, :4] == 0).sum(axis=1), 2))
    found = MMLGraph().fit(Sample(codes, [3] * 5))
    assert found.costs().rounds.max() >= 2
    rows = [tuple(row) for row in codes.tolist()]
    assert found.message_length == pytest.approx(tell(found, [3] * 5, rows), rel=1e-10)
