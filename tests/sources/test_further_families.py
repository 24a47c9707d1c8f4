"""Families of random networks, hidden classes, causes and trees, and of networks from files."""

from collections import Counter
from itertools import product
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from scipy.stats import chisquare

from simstudy.components.registry import FAMILIES
from simstudy.networks import read_bif, write_xmlbif
from simstudy.sources.families.base import Family
from simstudy.sources.families.decision_tree import DecisionTreeFamily
from simstudy.sources.families.latent_class import LatentClassFamily
from simstudy.sources.families.network import NetworkFamily
from simstudy.sources.families.noisy_or import NoisyOrFamily, noisy_max
from simstudy.sources.families.random_dag import RandomDAGFamily, random_dag
from simstudy.testing import check_family

NETWORKS = Path(__file__).parents[2] / "studies" / "networks"
ASIA, ALARM = str(NETWORKS / "asia.bif"), str(NETWORKS / "alarm.bif")
FURTHER = [RandomDAGFamily, LatentClassFamily, NoisyOrFamily, DecisionTreeFamily]
SMALL = {"variables": (3, 6), "values": (2, 3)}


@pytest.mark.parametrize("family", FURTHER)
@pytest.mark.parametrize(
    "options",
    [
        {"concentration": 0.1},
        {"cpts": "normalized_uniform"},
        {"classes": 2, "class_prior": (0.9, 0.1)},
        {"classes": (4, 6), "class_prior": "uniform"},
        {"variables": (2, 2), "values": (2, 2)},
    ],
)
def test_the_contract_is_kept(family: type[Family], options: dict[str, object]) -> None:
    check_family(family(**{**SMALL, **options}), draws=6)


@pytest.mark.parametrize("name", ["naive_bayes", "tan", "aode", "kdb"])
def test_earlier_families_have_classes_and_class_priors(name: str) -> None:
    family = FAMILIES.get(name)
    check_family(family(**SMALL, classes=(4, 5), class_prior="uniform"), draws=4)
    model = family(**SMALL, classes=2, class_prior=(0.2, 0.8)).draw(np.random.default_rng(1))
    np.testing.assert_allclose(model.class_prior(), [0.2, 0.8], atol=1e-15)
    # other cards are as they were: the number of classes is drawn last
    few, many = (family(**SMALL, classes=k).draw_cards(np.random.default_rng(5)) for k in (2, 9))
    assert few[:-1] == many[:-1] == family(**SMALL).draw_cards(np.random.default_rng(5))[:-1]


def dags(variables: int, in_degree: int, degree: int) -> set[tuple[tuple[int, ...], ...]]:
    """All DAGs within the bounds, by trying every set of arcs."""
    pairs = [(u, v) for u in range(variables) for v in range(variables) if u != v]
    found = set()
    for chosen in product((False, True), repeat=len(pairs)):
        arcs = [pair for pair, is_chosen in zip(pairs, chosen, strict=True) if is_chosen]
        graph = nx.DiGraph(arcs)
        graph.add_nodes_from(range(variables))
        if (
            nx.is_directed_acyclic_graph(graph)
            and max(d for _, d in graph.in_degree()) <= in_degree
            and max(d for _, d in graph.degree()) <= degree
        ):
            found.add(tuple(tuple(sorted(graph.predecessors(v))) for v in range(variables)))
    return found


@pytest.mark.parametrize(
    ("variables", "in_degree", "degree", "number"),
    [
        (2, 1, 1, 3),
        (3, 2, 2, 25),
        (3, 1, 2, 16),
        (4, 1, 3, 125),
        pytest.param(4, 2, 2, None, marks=pytest.mark.slow),
        pytest.param(4, 3, 3, 543, marks=pytest.mark.slow),
    ],
)
def test_random_dags_are_uniform(
    variables: int, in_degree: int, degree: int, number: int | None
) -> None:
    allowed = dags(variables, in_degree, degree)
    # Robinson (1973) counted all DAGs; forests of rooted trees are (n + 1)^(n - 1)
    assert number is None or len(allowed) == number
    rng = np.random.default_rng(2002)
    draws = max(6 * len(allowed), 300)
    seen = Counter(
        tuple(map(tuple, random_dag(variables, in_degree, degree, rng))) for _ in range(draws)
    )
    assert seen.keys() <= allowed
    assert chisquare([seen[dag] for dag in allowed]).pvalue > 1e-3


def test_random_dags_of_many_variables_keep_their_bounds() -> None:
    parents = random_dag(30, 2, 4, np.random.default_rng(1))
    graph = nx.DiGraph([(u, v) for v, those in enumerate(parents) for u in those])
    assert nx.is_directed_acyclic_graph(graph)
    assert max(map(len, parents)) == 2
    assert max(d for _, d in graph.degree()) == 4
    family = RandomDAGFamily(variables=(2, 6), in_degree=3)
    assert (family.max_parents, family.draws_trees) == (3, False)
    for bad in ({"in_degree": 0}, {"degree": 0}):
        with pytest.raises(ValueError, match="must be at least 1"):
            RandomDAGFamily(**bad)


def test_latent_classes_are_summed_out() -> None:
    family = LatentClassFamily(variables=(3, 3), values=(2, 3), latent=(3, 3))
    model = family.draw(np.random.default_rng(1))
    assert len(model.components) == 3
    assert all(parents == () for c in model.components for parents in c.parents)
    expected = sum(c.weight * np.einsum("i,j,k->ijk", *c.cpts) for c in model.components)
    np.testing.assert_allclose(model.joint(), expected, atol=1e-15)
    with pytest.raises(ValueError, match=r"latent = \[1, 2\] is not allowed"):
        LatentClassFamily(latent=(1, 2))


def test_a_noisy_or_of_two_values_is_pearls() -> None:
    links = [np.array([[0.4, 0.6]]), np.array([[0.9, 0.1]])]
    table = noisy_max(links, 0.05, 2)
    for x in product((0, 1), repeat=2):
        no = 0.95 * 0.4 ** x[0] * 0.9 ** x[1]
        np.testing.assert_allclose(table[x], [no, 1 - no], atol=1e-15)


def test_a_noisy_max_is_the_largest_of_its_causes() -> None:
    rng = np.random.default_rng(3)
    links = [rng.dirichlet(np.ones(3), size=values - 1) for values in (3, 2)]
    table = noisy_max(links, 0.1, 3)
    none = np.array([1.0, 0.0, 0.0])
    for x in product(range(3), range(2)):
        effects = [none if value == 0 else links[i][value - 1] for i, value in enumerate(x)]
        expected = np.zeros(3)
        for z in product(range(3), repeat=3):
            chance = [0.9, 0.05, 0.05][z[0]] * effects[0][z[1]] * effects[1][z[2]]
            expected[max(z)] += chance
        np.testing.assert_allclose(table[x], expected, atol=1e-14)


def test_causes_and_tested_attributes_are_bounded() -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        noisy = NoisyOrFamily(variables=(6, 6), values=(2, 2), causes=2).draw(rng)
        assert len(noisy.components[0].parents[-1]) == 2
        tree = DecisionTreeFamily(variables=(9, 9), values=(2, 3), relevant=4).draw(rng)
        assert 1 <= len(tree.components[0].parents[-1]) <= 4
        assert not any(tree.components[0].parents[:-1])
    for bad in ({"causes": 0}, {"leak": 1.0}):
        with pytest.raises(ValueError, match="is not allowed; it must be at least"):
            NoisyOrFamily(**bad)
    for worse in ({"depth": 0}, {"relevant": 0}, {"leaf": -0.1}):
        with pytest.raises(ValueError, match="is not allowed; it must be at least"):
            DecisionTreeFamily(**worse)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_path_of_the_tree_tests_no_more_than_its_depth(depth: int) -> None:
    family = DecisionTreeFamily(variables=(6, 6), values=(2, 3), depth=depth, leaf=0.0)
    for seed in range(5):
        component = family.draw(np.random.default_rng(seed)).components[0]
        table = component.cpts[-1]
        leaves = {tuple(row) for row in table.reshape(-1, table.shape[-1])}
        assert 2**depth <= len(leaves) <= 3**depth
        for leaf in leaves:  # each is a box: constants of at most `depth` attributes
            inside = np.argwhere((table == leaf).all(axis=-1))
            fixed = [len(set(column)) for column in inside.T]
            free = [n == size for n, size in zip(fixed, table.shape, strict=False)]
            assert len(free) - sum(free) <= depth
            assert len(inside) == np.prod(fixed)


@pytest.mark.parametrize("target", ["lung", "xray", "asia"])
def test_a_network_of_a_file_has_its_target_anywhere(target: str) -> None:
    family = NetworkFamily(file=ASIA, target=target)
    check_family(family, draws=2, varied=False)
    model = family.draw(np.random.default_rng(0))
    network = read_bif(ASIA)
    assert model.names == (*(name for name in network.names if name != target), target)
    rows = network.sample(50, np.random.default_rng(1))
    codes = np.delete(rows.codes, network.index(target), axis=1)
    np.testing.assert_allclose(model.posterior(codes), network.posteriors(target, rows), atol=1e-12)
    assert (family.variables, family.values, family.class_range) == ((8, 8), (2, 2), (2, 2))


@pytest.mark.parametrize("cpts", ["dirichlet", "normalized_uniform", "perturbed"])
def test_networks_with_other_tables(cpts: str) -> None:
    family = NetworkFamily(file=ASIA, target="dysp", cpts=cpts)
    check_family(family, draws=4)
    model = family.draw(np.random.default_rng(0))
    assert [*map(len, model.components[0].parents)].count(2) == 2  # the arcs of the file


def test_perturbed_tables_are_near_those_of_the_file() -> None:
    network = read_bif(ALARM)
    family = NetworkFamily(file=ALARM, target="BP", cpts="perturbed", strength=400.0)
    drawn = [family.draw(np.random.default_rng(seed)) for seed in range(100)]
    place = drawn[0].names.index("CVP")
    given = network.cpts[network.index("CVP")]
    tables = np.array([model.components[0].cpts[place] for model in drawn])
    # Dirichlet(s·p) has mean p and variance p(1 − p)/(s + 1)
    spread = np.sqrt(given * (1 - given) / 401)
    assert (np.abs(tables.mean(axis=0) - given) < 5 * spread / 100**0.5).all()
    np.testing.assert_allclose(tables.std(axis=0), spread, rtol=0.4)
    zeros = [cpt == 0 for cpt in network.model("BP").components[0].cpts]
    for cpt, zero in zip(drawn[0].components[0].cpts, zeros, strict=True):
        assert not cpt[zero].any()


def test_a_large_network_is_not_enumerated() -> None:
    family = NetworkFamily(file=ALARM, target="BP", cpts="perturbed", class_prior="uniform")
    model = family.draw(np.random.default_rng(1))
    np.testing.assert_allclose(model.class_prior(), [1 / 3] * 3, atol=1e-12)
    rows = model.sample(500, np.random.default_rng(2))
    assert model.posterior(rows.attributes).shape == (500, 3)


def test_files_may_be_xml_or_text(tmp_path: Path) -> None:
    network = read_bif(ASIA)
    write_xmlbif(network, tmp_path / "asia.xml")
    text = NetworkFamily.file_text("file", tmp_path / "asia.xml")
    models = [
        NetworkFamily(file=file, target="lung").draw(np.random.default_rng(0)).to_json()
        for file in (ASIA, str(tmp_path / "asia.xml"), text)
    ]
    assert len(set(models)) == 1
    assert len(repr(NetworkFamily(file=text, target="lung"))) < 100


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"target": "lungs"}, "target = 'lungs' is not a variable of the network; did you mean"),
        ({"cpts": "other"}, "it must be one of file, dirichlet, normalized_uniform, perturbed"),
        ({"concentration": 2.0}, "not allowed with cpts = 'file'"),
        ({"strength": 0.0}, "strength = 0.0 is not allowed"),
        ({"class_prior": (0.2, 0.3, 0.5)}, "lists 3 probabilities, and models have 2 classes"),
    ],
)
def test_wrong_parameters_of_networks(options: dict[str, object], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        NetworkFamily(**{"file": ASIA, "target": "lung", **options})
