"""Families draw the models they describe, from the distributions they describe."""

from collections import Counter
from dataclasses import replace
from itertools import product

import networkx as nx
import numpy as np
import pytest
from scipy.stats import chisquare, ks_2samp, kstest

from simstudy.components.registry import FAMILIES, Spec
from simstudy.networks.model import Model
from simstudy.sources.families.aode import AODEFamily
from simstudy.sources.families.base import Family
from simstudy.sources.families.kdb import KDBFamily
from simstudy.sources.families.naive_bayes import NaiveBayesFamily
from simstudy.sources.families.tan import TANFamily, prufer_edges, random_tree
from simstudy.study.study import make_study
from simstudy.testing import check_family

BUILT_IN = [FAMILIES.get(name) for name in ("naive_bayes", "tan", "aode", "kdb")]


def draw_many(family: Family, models: int) -> list[Model]:
    return [family.draw(np.random.default_rng(seed)) for seed in range(models)]


def attribute_arcs(parents: tuple[tuple[int, ...], ...]) -> list[tuple[int, int]]:
    """The arcs between attributes."""
    target = len(parents) - 1
    return [(p, child) for child in range(target) for p in parents[child] if p != target]


def target_is_root_and_parent_of_all(parents: tuple[tuple[int, ...], ...]) -> bool:
    target = len(parents) - 1
    return parents[target] == () and all(target in parents[child] for child in range(target))


@pytest.mark.parametrize("family", BUILT_IN)
@pytest.mark.parametrize("concentration", [1.0, 0.01, 20.0])
def test_every_family_keeps_its_contract(family: type[Family], concentration: float) -> None:
    check_family(family(concentration=concentration))


@pytest.mark.parametrize("family", BUILT_IN)
def test_every_family_keeps_its_contract_with_normalized_uniform_cpts(family: type[Family]) -> None:
    check_family(family(cpts="normalized_uniform"))


@pytest.mark.parametrize("family", BUILT_IN)
def test_families_keep_their_contract_at_the_smallest_size(family: type[Family]) -> None:
    check_family(family(variables=(2, 2), values=(2, 2)))


@pytest.mark.parametrize("k", [0, 1, 3, 10])
def test_kdb_keeps_its_contract_for_every_k(k: int) -> None:
    check_family(KDBFamily(variables=(4, 6), values=(2, 3), k=k))


@pytest.mark.parametrize("size", [4, 5])
def test_prufer_sequences_and_labelled_trees_are_one_to_one(size: int) -> None:
    trees = set()
    for sequence in product(range(size), repeat=size - 2):
        edges = prufer_edges(list(sequence), size)
        assert nx.is_tree(nx.Graph(edges))
        assert nx.to_prufer_sequence(nx.Graph(edges)) == list(sequence)
        trees.add(frozenset(frozenset(edge) for edge in edges))
    assert len(trees) == size ** (size - 2)  # Cayley (1889)


@pytest.mark.parametrize(("size", "edges"), [(0, []), (1, []), (2, [(0, 1)])])
def test_the_smallest_trees_are_right(size: int, edges: list[tuple[int, int]]) -> None:
    assert prufer_edges([], size) == edges


def test_random_trees_are_uniform_over_trees_and_roots() -> None:
    rng = np.random.default_rng(1918)
    seen: Counter[tuple[int, frozenset[frozenset[int]]]] = Counter()
    for _ in range(6400):
        tree = random_tree(4, rng)
        root = [node for node, parents in enumerate(tree) if not parents]
        edges = frozenset(frozenset((child, *p)) for child, p in enumerate(tree) if p)
        assert len(root) == 1
        assert len(edges) == 3
        seen[root[0], edges] += 1
    assert len(seen) == 64  # 16 trees, each with 4 roots
    assert chisquare(list(seen.values())).pvalue > 1e-3
    trees: Counter[frozenset[frozenset[int]]] = Counter()
    roots: Counter[int] = Counter()
    for (root_, edges), count in seen.items():
        trees[edges] += count
        roots[root_] += count
    assert len(trees) == 16
    assert chisquare(list(trees.values())).pvalue > 1e-3
    assert chisquare(list(roots.values())).pvalue > 1e-3


@pytest.mark.parametrize("size", [1, 2, 3])
def test_random_trees_of_few_nodes_are_trees(size: int) -> None:
    rng = np.random.default_rng(size)
    for _ in range(20):
        assert sorted(len(parents) for parents in random_tree(size, rng)) == [0] + [1] * (size - 1)


def test_naive_bayes_models_have_no_arcs_between_attributes() -> None:
    for model in draw_many(NaiveBayesFamily(), 20):
        (component,) = model.components
        assert attribute_arcs(component.parents) == []
        assert target_is_root_and_parent_of_all(component.parents)


def test_tan_models_have_a_directed_tree_over_the_attributes() -> None:
    for model in draw_many(TANFamily(), 30):
        (component,) = model.components
        tree = nx.DiGraph(attribute_arcs(component.parents))
        assert nx.is_arborescence(tree)
        assert sorted(tree) == list(range(len(model.cards) - 1))
        assert target_is_root_and_parent_of_all(component.parents)


def test_aode_models_have_a_component_for_each_attribute_as_parent_of_the_others() -> None:
    for model in draw_many(AODEFamily(), 20):
        attributes = range(len(model.cards) - 1)
        assert len(model.components) == len(attributes)
        for i, component in enumerate(model.components):
            assert set(attribute_arcs(component.parents)) == {(i, j) for j in attributes if j != i}
            assert target_is_root_and_parent_of_all(component.parents)
            assert component.weight == pytest.approx(1 / len(attributes))


def test_aode_components_share_the_prior_and_nothing_else() -> None:
    for model in draw_many(AODEFamily(values=(3, 3)), 10):
        first, *others = model.components
        for other in others:
            np.testing.assert_array_equal(other.cpts[-1], first.cpts[-1])
        tables = [tuple(cpt.ravel()) for part in model.components for cpt in part.cpts[:-1]]
        assert len(set(tables)) == len(tables)


@pytest.mark.parametrize("k", [0, 1, 2, 3])
def test_kdb_attributes_have_k_parents_or_all_before_them(k: int) -> None:
    orders = set()
    for model in draw_many(KDBFamily(variables=(7, 7), values=(2, 2), k=k), 30):
        (component,) = model.components
        assert target_is_root_and_parent_of_all(component.parents)
        attributes = range(len(model.cards) - 1)
        numbers = sorted(len(component.parents[i]) - 1 for i in attributes)
        assert numbers == [min(k, place) for place in attributes]
        graph = nx.DiGraph(attribute_arcs(component.parents))
        assert nx.is_directed_acyclic_graph(graph)
        assert all(len(set(component.parents[i])) == len(component.parents[i]) for i in attributes)
        orders.add(component.parents)
    assert len(orders) > 10 or k == 0


def test_numbers_of_variables_and_values_are_uniform_over_their_ranges() -> None:
    rng = np.random.default_rng(48)
    drawn = [NaiveBayesFamily().draw_cards(rng) for _ in range(4000)]
    variables = Counter(len(cards) for cards in drawn)
    values = Counter(card for cards in drawn for card in cards)
    of_target = Counter(cards[-1] for cards in drawn)
    assert sorted(variables) == [4, 5, 6, 7, 8]
    assert sorted(values) == sorted(of_target) == [2, 3, 4, 5]
    for counter in (variables, values, of_target):
        assert chisquare(list(counter.values())).pvalue > 1e-3


@pytest.mark.parametrize("concentration", [0.2, 1.0, 5.0])
def test_rows_of_cpts_have_the_moments_of_a_dirichlet(concentration: float) -> None:
    family = TANFamily(variables=(6, 6), values=(3, 3), concentration=concentration)
    rows = np.concatenate(
        [cpt.reshape(-1, 3) for model in draw_many(family, 150) for cpt in model.components[0].cpts]
    )
    # A symmetric Dirichlet over r values: mean 1/r, variance (1/r)(1 − 1/r)/(rα + 1),
    # covariance −(1/r²)/(rα + 1).
    variance = (1 / 3) * (2 / 3) / (3 * concentration + 1)
    error = np.sqrt(variance / len(rows))
    np.testing.assert_allclose(rows.mean(axis=0), 1 / 3, atol=4 * error)
    covariance = np.cov(rows.T)
    np.testing.assert_allclose(np.diag(covariance), variance, rtol=0.06)
    off_diagonal = covariance[np.triu_indices(3, 1)]
    np.testing.assert_allclose(off_diagonal, -variance / 2, rtol=0.08)


def rows_of_cpts(family: Family, models: int) -> np.ndarray:
    """All rows of all CPTs of some models, which have the same number of values everywhere."""
    cpts = [cpt for model in draw_many(family, models) for cpt in model.components[0].cpts]
    return np.concatenate([cpt.reshape(-1, cpt.shape[-1]) for cpt in cpts])


def share_of_two(t: np.ndarray) -> np.ndarray:
    """P(X/(X + Y) ≤ t) of independent Uniform(0, 1) numbers X and Y.

    For t ≤ ½ it is the area below the line x = y t/(1 − t) in the unit square, a triangle of
    height 1 and base t/(1 − t); the rest follows from symmetry.
    """
    s = np.minimum(t, 1 - t)
    below = s / (2 * (1 - s))
    return np.where(t <= 0.5, below, 1 - below)


def test_normalized_uniform_rows_of_two_values_have_their_known_distribution() -> None:
    family = TANFamily(variables=(6, 6), values=(2, 2), cpts="normalized_uniform")
    first = rows_of_cpts(family, 300)[:, 0]
    assert len(first) > 5000
    assert kstest(first, share_of_two).pvalue > 1e-3
    assert kstest(first, "uniform").pvalue < 1e-9  # what the Dirichlet(1, 1) gives
    # E[T²] = ∫ 2t P(T > t) dt
    t = np.linspace(0, 1, 100_001)
    second = np.trapezoid(2 * t * (1 - share_of_two(t)), t)
    error = np.std(first**2) / np.sqrt(len(first))
    assert np.mean(first**2) == pytest.approx(second, abs=4 * error)


@pytest.mark.parametrize("card", [3, 5])
def test_normalized_uniform_rows_are_independent_uniform_numbers_over_their_sum(card: int) -> None:
    family = NaiveBayesFamily(variables=(6, 6), values=(card, card), cpts="normalized_uniform")
    rows = rows_of_cpts(family, 200)
    uniform = np.random.default_rng(1).uniform(size=(20_000, card))
    expected = uniform / uniform.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=0, atol=1e-12)
    for statistic in (lambda r: r[:, 0], lambda r: r.max(axis=1), lambda r: r.min(axis=1)):
        assert ks_2samp(statistic(rows), statistic(expected)).pvalue > 1e-3


def test_dirichlet_cpts_are_drawn_as_they_always_were() -> None:
    # One call of the generator for each CPT, the prior first: studies of earlier versions rest on
    # the streams that this leaves.
    for family in (NaiveBayesFamily(), NaiveBayesFamily(cpts="dirichlet")):
        rng = np.random.default_rng(3)
        model = family.draw(np.random.default_rng(3))
        cards = rng.integers(2, 5, size=rng.integers(4, 8, endpoint=True), endpoint=True)
        prior = rng.dirichlet(np.ones(cards[-1]))
        tables = [rng.dirichlet(np.ones(card), size=cards[-1]) for card in cards[:-1]]
        assert model.cards == tuple(cards)
        for found, expected in zip(model.components[0].cpts, [*tables, prior], strict=True):
            np.testing.assert_array_equal(found, expected)


def test_only_other_cpts_than_the_default_enter_the_identity_of_a_family() -> None:
    def family(**parameters: object) -> Spec:
        content = {"name": "x", "learners": [{"name": "prior"}]}
        return make_study({**content, "family": {"name": "tan", **parameters}}).family

    assert family().identity == family(cpts="dirichlet").identity == '["tan", {}]'
    changed = family(cpts="normalized_uniform")
    assert changed.identity == '["tan", {"cpts": "normalized_uniform"}]'
    assert changed.resolved["cpts"] == "normalized_uniform"


def test_tables_of_one_model_are_all_different() -> None:
    model = TANFamily(variables=(8, 8), values=(2, 2)).draw(np.random.default_rng(0))
    rows = np.concatenate([cpt.reshape(-1, 2) for cpt in model.components[0].cpts])
    assert len(np.unique(rows[:, 0])) == len(rows)


def test_a_smaller_concentration_makes_more_extreme_tables() -> None:
    def entropy(concentration: float) -> float:
        family = NaiveBayesFamily(values=(3, 3), concentration=concentration)
        tables = [cpt for model in draw_many(family, 20) for cpt in model.components[0].cpts]
        rows = np.concatenate([table.reshape(-1, 3) for table in tables])
        return float(-np.sum(rows * np.log(rows + 1e-300), axis=1).mean())

    entropies = [entropy(concentration) for concentration in (0.01, 0.1, 1.0, 10.0, 100.0)]
    assert entropies == sorted(entropies)
    assert entropies[0] < 0.05
    assert entropies[-1] > 0.99 * np.log(3)


@pytest.mark.parametrize("family", BUILT_IN)
@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"variables": (1, 4)}, r"variables = \[1, 4\] is not allowed"),
        ({"variables": (5, 4)}, "must not end before it starts"),
        ({"values": (1, 3)}, r"values = \[1, 3\] is not allowed"),
        ({"values": (4, 3)}, "must not end before it starts"),
        ({"concentration": 0.0}, "concentration = 0.0 is not allowed; it must be above 0"),
        ({"concentration": float("nan")}, "concentration = nan is not allowed"),
        ({"concentration": float("inf")}, "concentration = inf is not allowed"),
        ({"cpts": "uniform"}, "cpts = 'uniform' is not allowed; it must be one of dirichlet, nor"),
        (
            {"cpts": "normalized_uniform", "concentration": 2.0},
            "concentration = 2.0 is not allowed with cpts = 'normalized_uniform'",
        ),
    ],
)
def test_parameters_out_of_range_are_refused_in_words(
    family: type[Family], parameters: dict[str, object], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        replace(family(), **parameters)


def test_a_negative_number_of_parents_is_refused() -> None:
    with pytest.raises(ValueError, match="k = -1 is not allowed"):
        KDBFamily(k=-1)
