"""Edge weights and spanning trees against independent computations."""

from itertools import combinations
from math import lgamma, log

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import mutual_info_score

from simstudy.data.sample import Sample
from simstudy.learners.bayes.tan import TAN
from simstudy.learners.bayes.tree_searches import (
    class_information,
    cmi_tree,
    conditional_mutual_information,
    likelihood_gains,
    likelihood_tree,
    spanning_tree,
)


def draw(rows: int, cards: tuple[int, ...] = (2, 3, 4, 2, 3)) -> Sample:
    rng = np.random.default_rng(rows)
    codes = rng.integers(0, cards, size=(rows, len(cards)))
    codes[:, 1] = np.where(rng.random(rows) < 0.5, (codes[:, 0] + codes[:, -1]) % 3, codes[:, 1])
    return Sample(codes, cards)


@pytest.mark.parametrize("rows", [1, 6, 80])
def test_conditional_mutual_information_is_its_double_sum(rows: int) -> None:
    sample = draw(rows)
    computed = conditional_mutual_information(sample)
    target = len(sample.cards) - 1
    for i, j in combinations(range(target), 2):
        counts = sample.counts(target, i, j)
        by_hand = 0.0
        for c, x, z in np.ndindex(*counts.shape):
            n = counts[c, x, z]
            if n:
                expected = counts[c, x].sum() * counts[c, :, z].sum() / counts[c].sum()
                by_hand += n / rows * log(n / expected)
        assert computed[i, j] == pytest.approx(by_hand, abs=1e-12)
        assert computed[j, i] == pytest.approx(by_hand, abs=1e-12)


@pytest.mark.parametrize("rows", [20, 300])
def test_conditional_mutual_information_is_the_mean_over_classes_of_scikit_learns(
    rows: int,
) -> None:
    sample = draw(rows)
    computed = conditional_mutual_information(sample)
    for i, j in combinations(range(4), 2):
        expected = 0.0
        for label in range(sample.classes):
            part = sample.codes[sample.target == label]
            if len(part):
                expected += len(part) / rows * mutual_info_score(part[:, i], part[:, j])
        assert computed[i, j] == pytest.approx(expected, abs=1e-12)


def test_class_information_differs_from_scikit_learns_by_one_constant() -> None:
    sample = draw(200)
    expected = [mutual_info_score(column, sample.target) for column in sample.attributes.T]
    difference = class_information(sample) - expected
    np.testing.assert_allclose(difference, difference[0], atol=1e-12)


def log_marginal_likelihood(sample: Sample, child: int, parents: tuple[int, ...]) -> float:
    """log Π over parent configurations of B(counts + ½)/B(½), as Cooper & Herskovits (1992)."""
    table = sample.counts(*parents, child)
    rows = table.reshape(-1, table.shape[-1])
    total = 0.0
    for row in rows:
        total += lgamma(0.5 * len(row)) - lgamma(row.sum() + 0.5 * len(row))
        total += sum(lgamma(n + 0.5) - lgamma(0.5) for n in row)
    return total


@pytest.mark.parametrize("rows", [1, 30, 300, 20_000])
def test_likelihood_gains_are_differences_of_marginal_likelihoods(rows: int) -> None:
    sample = draw(rows)
    gains = likelihood_gains(sample, 0.5)
    for parent in range(4):
        for child in range(4):
            if parent != child:
                with_arc = log_marginal_likelihood(sample, child, (4, parent))
                without = log_marginal_likelihood(sample, child, (4,))
                assert gains[parent, child] == pytest.approx(with_arc - without, abs=1e-9)


def is_rooted_tree(tree: tuple[int | None, ...]) -> bool:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(tree)))
    graph.add_edges_from((parent, i) for i, parent in enumerate(tree) if parent is not None)
    return nx.is_arborescence(graph)


@st.composite
def edge_weights(draw: st.DrawFn) -> np.ndarray:
    size = draw(st.integers(1, 7))
    numbers = st.one_of(st.integers(-3, 3), st.floats(-10, 10))
    upper = np.triu(draw(arrays(float, (size, size), elements=numbers)), 1)
    return upper + upper.T


@given(edge_weights(), st.data())
def test_spanning_trees_weigh_as_much_as_networkxs(
    weights: np.ndarray, data: st.DataObject
) -> None:
    size = len(weights)
    root = data.draw(st.integers(0, size - 1))
    tree = spanning_tree(weights, root)
    assert is_rooted_tree(tree)
    assert tree[root] is None
    graph = nx.Graph()
    graph.add_nodes_from(range(size))
    graph.add_weighted_edges_from((i, j, weights[i, j]) for i, j in combinations(range(size), 2))
    best = nx.maximum_spanning_tree(graph).size(weight="weight")
    ours = sum(weights[parent, i] for i, parent in enumerate(tree) if parent is not None)
    assert ours == pytest.approx(best, abs=1e-9)


def test_ties_go_to_low_indices() -> None:
    assert spanning_tree(np.ones((4, 4)), root=0) == (None, 0, 0, 0)
    assert spanning_tree(np.ones((4, 4)), root=2) == (2, 2, None, 2)


def test_the_cmi_tree_is_rooted_at_the_attribute_that_tells_most_of_the_class() -> None:
    sample = draw(300)
    tree = cmi_tree(sample, 0.5)
    told = [mutual_info_score(column, sample.target) for column in sample.attributes.T]
    assert tree[int(np.argmax(told))] is None


def test_the_likelihood_tree_has_the_root_of_greatest_directed_gain() -> None:
    sample = draw(300)
    gains = likelihood_gains(sample, 0.5)
    weights = np.maximum(gains, gains.T)

    def worth(tree: tuple[int | None, ...]) -> float:
        return float(sum(gains[p, i] for i, p in enumerate(tree) if p is not None))

    chosen = worth(likelihood_tree(sample, 0.5))
    assert all(chosen >= worth(spanning_tree(weights, root)) for root in range(4))


@pytest.mark.parametrize("search", ["cmi", "likelihood"])
@pytest.mark.parametrize("rows", [1, 5, 200])
def test_a_found_tree_spans_the_attributes(search: str, rows: int) -> None:
    sample = draw(rows)
    assert is_rooted_tree(TAN(search=search).fit(sample).tree)  # type: ignore[arg-type]


@pytest.mark.parametrize("rows", [1, 5, 200])
def test_a_superparent_tree_has_no_circles(rows: int) -> None:
    tree = TAN(search="superparent").fit(draw(rows)).tree
    graph = nx.DiGraph()
    graph.add_nodes_from(range(4))
    graph.add_edges_from((parent, i) for i, parent in enumerate(tree) if parent is not None)
    assert nx.is_branching(graph)


@pytest.mark.parametrize("search", ["cmi", "superparent", "likelihood"])
def test_a_lone_attribute_has_no_parent(search: str) -> None:
    sample = draw(40)
    lone = Sample(sample.codes[:, [0, -1]], (2, 3))
    assert TAN(search=search).fit(lone).tree == (None,)  # type: ignore[arg-type]


def test_a_sample_scaled_by_any_weight_has_the_same_information() -> None:
    sample = draw(100)
    for scale in (0.5, 3.0, 1e6):
        scaled = Sample(sample.codes, sample.cards, np.full(100, scale))
        np.testing.assert_allclose(
            conditional_mutual_information(scaled),
            conditional_mutual_information(sample),
            atol=1e-9,
        )
