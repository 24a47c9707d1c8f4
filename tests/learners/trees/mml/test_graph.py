"""Decision graphs of least message length."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simstudy.data.sample import Sample
from simstudy.learners.trees.mml.graph import MMLGraph
from simstudy.learners.trees.mml.tree import MMLTree
from simstudy.testing import check_learner


def test_it_keeps_the_contract_with_another_alpha() -> None:
    # Exact ties go to the lowest index, so the order of the attributes may matter.
    check_learner(MMLGraph(alpha=1.0), permutation=False)


def test_alpha_must_be_above_zero() -> None:
    with pytest.raises(ValueError, match="alpha"):
        MMLGraph(alpha=-1.0)


def disjunction(seed: int, rows: int, noise: float) -> Sample:
    """(x0 ∧ x1) ∨ (x2 ∧ x3), which a tree must write twice, beside three idle attributes."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, (rows, 8))
    truth = (codes[:, 0] & codes[:, 1]) | (codes[:, 2] & codes[:, 3])
    codes[:, -1] = np.where(rng.random(rows) < noise, 1 - truth, truth)
    return Sample(codes, [2] * 8)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_a_disjunction_shares_what_a_tree_must_write_twice(seed: int, noise: float) -> None:
    sample = disjunction(seed, 3000, noise)
    tree, graph = MMLTree().fit(sample), MMLGraph().fit(sample)
    assert graph.message_length < tree.message_length - 5
    # One node for each of the four attributes: the second conjunction stands there once.
    assert sorted(graph.attribute[graph.attribute >= 0].tolist()) == [0, 1, 2, 3]
    shared = [node for node in graph.joined if graph.attribute[node] >= 0]
    assert len(shared) == 1
    # x0 and x1 come before the join and x2 and x3 after it, or the other way round.
    first = int(graph.attribute[0])
    assert {first // 2, int(graph.attribute[shared[0]]) // 2} == {0, 1}
    every = np.array(list(itertools.product((0, 1), repeat=7)))
    truth = (every[:, 0] & every[:, 1]) | (every[:, 2] & every[:, 3])
    np.testing.assert_allclose(
        graph.predict_proba(every)[:, 1], np.where(truth, 1 - noise, noise), atol=0.04
    )


def test_values_that_say_the_same_join() -> None:
    # Four values of one attribute, two chances.
    rng = np.random.default_rng(8)
    codes = rng.integers(0, 4, (20_000, 2))
    codes[:, 1] = rng.random(20_000) < np.array([0.9, 0.2, 0.9, 0.2])[codes[:, 0]]
    graph = MMLGraph().fit(Sample(codes, (4, 2)))
    assert graph.leaves == 2
    a, b = graph.children[0, :2]
    np.testing.assert_array_equal(graph.children[0, :4], [a, b, a, b])


def test_noise_is_left_alone() -> None:
    leaves = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        sample = Sample(rng.integers(0, 2, (1000, 8)), [2] * 8)
        leaves.append(MMLGraph().fit(sample).leaves)
    assert leaves.count(1) >= 28


rows = st.lists(
    st.tuples(*(st.integers(0, card - 1) for card in (3, 2, 3, 2, 2))), min_size=1, max_size=60
)


@settings(max_examples=60, deadline=None)
@given(rows, st.integers(1, 30))
def test_a_graph_is_never_longer_than_the_tree(data: list[tuple[int, ...]], times: int) -> None:
    sample = Sample(np.array(data), (3, 2, 3, 2, 2), np.full(len(data), times))
    tree, graph = MMLTree().fit(sample), MMLGraph().fit(sample)
    assert graph.message_length <= tree.message_length
    if not graph.joined.size:
        assert graph.message_length == tree.message_length
        np.testing.assert_array_equal(graph.attribute, tree.attribute)


@pytest.mark.parametrize("attributes", [8, 20])
def test_rows_and_counts_agree(attributes: int) -> None:
    rng = np.random.default_rng(attributes)
    codes = rng.integers(0, 3, (1200, attributes + 1))
    codes[:, -1] = np.minimum((codes[:, :4] == 0).sum(axis=1), 2)
    graph = MMLGraph().fit(Sample(codes, [3] * (attributes + 1)))
    assert graph.joined.size
    counts = np.zeros_like(graph.counts)
    np.add.at(counts, (graph.leaf_of(codes[:, :-1]), codes[:, -1]), 1)
    leaf = graph.attribute < 0
    np.testing.assert_allclose(graph.counts[leaf], counts[leaf])
    assert graph.counts[leaf].sum() == 1200
