"""A model's rows, posteriors and files all tell of one joint distribution."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from pgmpy.inference import VariableElimination
from pgmpy.models import DiscreteBayesianNetwork
from pgmpy.readwrite import XMLBIFReader
from scipy.stats import chisquare

from simstudy.networks.model import Component, Model
from simstudy.sources.families.aode import AODEFamily
from simstudy.sources.families.base import Family
from simstudy.sources.families.kdb import KDBFamily
from simstudy.sources.families.naive_bayes import NaiveBayesFamily
from simstudy.sources.families.tan import TANFamily

FAMILIES = [NaiveBayesFamily, TANFamily, AODEFamily, KDBFamily]


def small_model(family: type[Family], seed: int = 1) -> Model:
    return family(variables=(4, 4), values=(2, 3)).draw(np.random.default_rng(seed))


def all_attributes(model: Model) -> np.ndarray:
    return np.array(list(product(*map(range, model.cards[:-1]))))


def joint_by_hand(model: Model) -> np.ndarray:
    """The joint distribution by the chain rule, one configuration at a time."""
    table = np.zeros(model.cards)
    for cell in np.ndindex(*model.cards):
        for component in model.components:
            chance = component.weight
            for v, (parents, cpt) in enumerate(zip(component.parents, component.cpts, strict=True)):
                chance *= cpt[(*(cell[p] for p in parents), cell[v])]
            table[cell] += chance
    return table


def networks_of(model: Model) -> list[tuple[float, DiscreteBayesianNetwork]]:
    networks = model.to_pgmpy()
    return networks if isinstance(networks, list) else [(1.0, networks)]


def joint_of_network(network: DiscreteBayesianNetwork, names: tuple[str, ...]) -> np.ndarray:
    """A network's joint distribution by pgmpy, its axes in the order of ``names``."""
    factors = [cpd.to_factor() for cpd in network.get_cpds()]
    joint = factors[0]
    for factor in factors[1:]:
        joint = joint * factor
    return joint.values.transpose([joint.variables.index(name) for name in names])


def plain_model(parents: tuple[tuple[int, ...], ...], cpts: list[object]) -> Model:
    tables = tuple(np.array(cpt, dtype=float) for cpt in cpts)
    return Model([table.shape[-1] for table in tables], [Component(1.0, parents, tables)])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", range(3))
def test_joint_is_the_product_of_the_tables(family: type[Family], seed: int) -> None:
    model = small_model(family, seed)
    np.testing.assert_allclose(model.joint(), joint_by_hand(model), rtol=1e-12)
    assert model.joint().sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", range(3))
def test_rows_come_as_often_as_the_joint_says(family: type[Family], seed: int) -> None:
    model = small_model(family, seed)
    rows = 40_000
    codes = model.sample(rows, np.random.default_rng([seed, 7])).codes
    observed = np.bincount(
        np.ravel_multi_index(tuple(codes.T), model.cards), minlength=np.prod(model.cards)
    )
    expected = rows * joint_by_hand(model).ravel()
    rare = expected < 5
    observed = np.append(observed[~rare], observed[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    if expected[-1] < 5:  # too few even together: they join the last of the others
        observed, expected = (np.append(a[:-2], a[-2:].sum()) for a in (observed, expected))
    assert chisquare(observed, expected).pvalue > 1e-3


@pytest.mark.parametrize("family", FAMILIES)
def test_the_first_rows_do_not_depend_on_how_many_follow(family: type[Family]) -> None:
    model = family().draw(np.random.default_rng(5))
    long = model.sample(5000, np.random.default_rng(3)).codes
    for rows in (0, 1, 50, 500):
        short = model.sample(rows, np.random.default_rng(3)).codes
        np.testing.assert_array_equal(short, long[:rows])


@pytest.mark.parametrize("family", FAMILIES)
def test_posterior_is_the_joint_over_its_sum(family: type[Family]) -> None:
    model = small_model(family)
    by_class = joint_by_hand(model).reshape(-1, model.cards[-1])
    expected = by_class / by_class.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.posterior(all_attributes(model)), expected, rtol=1e-12)
    np.testing.assert_allclose(np.exp(model.log_joint(all_attributes(model))), by_class, rtol=1e-12)


@pytest.mark.parametrize("family", [TANFamily, KDBFamily])
def test_posterior_agrees_with_pgmpy(family: type[Family]) -> None:
    model = small_model(family)
    inference = VariableElimination(networks_of(model)[0][1])
    codes = all_attributes(model)[::5]
    for row, posterior in zip(codes, model.posterior(codes), strict=True):
        evidence = {name: str(value) for name, value in zip(model.names, row, strict=False)}
        answer = inference.query(["y"], evidence=evidence, show_progress=False)
        np.testing.assert_allclose(answer.values, posterior, rtol=1e-9)


def test_posterior_of_a_mixture_weighs_the_components_by_their_likelihood() -> None:
    model = small_model(AODEFamily)
    parts = [
        (weight * joint_of_network(network, model.names)).reshape(-1, model.cards[-1])
        for weight, network in networks_of(model)
    ]
    by_class = np.sum(parts, axis=0)
    expected = by_class / by_class.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.posterior(all_attributes(model)), expected, rtol=1e-12)


def test_one_component_of_a_mixture_agrees_with_pgmpy() -> None:
    mixture = small_model(AODEFamily)
    part = mixture.components[1]
    model = Model(mixture.cards, [Component(1.0, part.parents, part.cpts)])
    inference = VariableElimination(networks_of(mixture)[1][1])
    row = all_attributes(model)[3]
    evidence = {name: str(value) for name, value in zip(model.names, row, strict=False)}
    answer = inference.query(["y"], evidence=evidence, show_progress=False)
    np.testing.assert_allclose(answer.values, model.posterior(row[None])[0], rtol=1e-9)


@pytest.mark.parametrize("family", FAMILIES)
def test_pgmpy_accepts_the_networks(family: type[Family]) -> None:
    model = small_model(family)
    assert sum(weight for weight, _ in networks_of(model)) == pytest.approx(1)
    total = np.zeros(model.cards)
    for weight, network in networks_of(model):
        assert network.check_model()
        total += weight * joint_of_network(network, model.names)
    np.testing.assert_allclose(total, model.joint(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("family", [TANFamily, AODEFamily])
def test_xmlbif_read_back_is_the_same_distribution(family: type[Family], tmp_path: Path) -> None:
    model = small_model(family)
    files = model.to_xmlbif(tmp_path / "model.xml")
    assert all(file.exists() for file in files)
    total = np.zeros(model.cards)
    for component, file in zip(model.components, files, strict=True):
        assert f"weight {component.weight!r}" in file.read_text()
        network = XMLBIFReader(str(file)).get_model()
        total += component.weight * joint_of_network(network, model.names)
    np.testing.assert_allclose(total, model.joint(), rtol=0, atol=1e-12)


def test_xmlbif_of_a_mixture_is_a_file_for_each_component(tmp_path: Path) -> None:
    model = small_model(AODEFamily)
    files = model.to_xmlbif(str(tmp_path / "truth.xml"))
    assert [file.name for file in files] == ["truth_0.xml", "truth_1.xml", "truth_2.xml"]
    assert small_model(TANFamily).to_xmlbif(tmp_path / "one.xml") == [tmp_path / "one.xml"]


@pytest.mark.parametrize("family", FAMILIES)
def test_json_is_exact(family: type[Family]) -> None:
    model = family(concentration=0.3).draw(np.random.default_rng(8))
    content = json.loads(model.to_json())
    assert (content["cards"], content["names"]) == ([*model.cards], [*model.names])
    for written, component in zip(content["components"], model.components, strict=True):
        assert written["weight"] == component.weight
        assert written["parents"] == [[*parents] for parents in component.parents]
        for numbers, cpt in zip(written["cpts"], component.cpts, strict=True):
            np.testing.assert_array_equal(numbers, cpt)


@pytest.mark.parametrize("family", FAMILIES)
def test_class_prior_is_the_margin_of_the_joint(family: type[Family]) -> None:
    model = small_model(family)
    margin = joint_by_hand(model).sum(axis=(0, 1, 2))
    np.testing.assert_allclose(model.class_prior(), margin, rtol=1e-12)


def test_a_target_may_have_parents() -> None:
    # P(y=1) = .2·.9 + .8·.3 = .42; P(y=1, x=0) = .18
    model = plain_model(((), (0,)), [[0.2, 0.8], [[0.1, 0.9], [0.7, 0.3]]])
    np.testing.assert_allclose(model.class_prior(), [0.58, 0.42])
    np.testing.assert_allclose(model.posterior(np.array([[0], [1]])), [[0.1, 0.9], [0.7, 0.3]])
    np.testing.assert_allclose(np.exp(model.log_joint(np.array([[0]]))), [[0.02, 0.18]])
    shares = model.sample(20_000, np.random.default_rng(0)).counts(0, 1) / 20_000
    np.testing.assert_allclose(shares, [[0.02, 0.18], [0.56, 0.24]], atol=0.02)


def test_parents_may_be_named_in_any_order() -> None:
    rng = np.random.default_rng(4)
    cards = (2, 3, 4)
    table = rng.dirichlet(np.ones(2), size=(4, 3))  # of x0, given y and then x1
    cpts = (table, rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(4)))
    model = Model(cards, [Component(1.0, ((2, 1), (), ()), cpts)])
    np.testing.assert_allclose(model.joint(), joint_by_hand(model), rtol=1e-12)
    network = networks_of(model)[0][1]
    np.testing.assert_allclose(joint_of_network(network, model.names), model.joint(), rtol=1e-12)


def test_impossible_attributes_are_answered_with_the_prior() -> None:
    model = plain_model(((1,), ()), [[[1, 0, 0], [0.5, 0.5, 0]], [0.3, 0.7]])
    posterior = model.posterior(np.array([[0], [1], [2]]))
    np.testing.assert_allclose(posterior, [[0.3 / 0.65, 0.35 / 0.65], [0, 1], [0.3, 0.7]])


def test_a_value_of_probability_zero_is_never_drawn() -> None:
    model = plain_model(((1,), ()), [[[0, 1, 0], [0.5, 0, 0.5]], [0.0, 1.0]])
    counts = model.sample(2000, np.random.default_rng(2)).counts(1, 0)
    assert (counts[0] == 0).all()
    assert counts[1, 1] == 0


def test_a_component_of_weight_zero_is_never_drawn() -> None:
    first = (np.array([1.0, 0.0]), np.array([0.5, 0.5]))
    second = (np.array([0.0, 1.0]), np.array([0.5, 0.5]))
    model = Model((2, 2), [Component(0.0, ((), ()), first), Component(1.0, ((), ()), second)])
    assert (model.sample(500, np.random.default_rng(2)).codes[:, 0] == 1).all()
    np.testing.assert_allclose(model.posterior(np.array([[0], [1]])), [[0.5, 0.5], [0.5, 0.5]])


HALF = np.array([0.5, 0.5])
GIVEN = np.full((2, 2), 0.5)


@pytest.mark.parametrize(
    ("components", "words"),
    [
        ([Component(1.0, ((1,), ()), (GIVEN, np.array([0.5, 0.6])))], "CPT of y is not a distrib"),
        ([Component(1.0, ((), ()), (np.array([1.5, -0.5]), HALF))], "CPT of x0 is not a distrib"),
        ([Component(1.0, ((), ()), (np.array([np.nan, 1]), HALF))], "CPT of x0 is not a distrib"),
        ([Component(1.0, ((1,), ()), (HALF, HALF))], r"CPT of x0 has shape \(2,\), not \(2, 2\)"),
        ([Component(1.0, ((1,), (0,)), (GIVEN, GIVEN))], "form a cycle"),
        ([Component(1.0, ((0,), ()), (GIVEN, HALF))], "must be different other variables"),
        ([Component(1.0, ((),), (HALF,))], "parents and a CPT for every variable"),
        ([Component(0.5, ((), ()), (HALF, HALF))], r"weights must sum to one; they are \[0.5\]"),
        ([Component(w, ((), ()), (HALF, HALF)) for w in (1.5, -0.5)], "weights must sum to one"),
        ([], "weights must sum to one"),
    ],
)
def test_a_component_that_is_no_distribution_is_refused(
    components: list[Component], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        Model((2, 2), components)


@pytest.mark.parametrize("excess", [1e-6, -1e-6, 1e-8])
def test_a_row_that_misses_one_by_more_than_rounding_is_refused(excess: float) -> None:
    with pytest.raises(ValueError, match="not a distribution"):
        Model((2, 2), [Component(1.0, ((), ()), (np.array([0.5, 0.5 + excess]), HALF))])


def test_a_weight_that_is_not_a_number_is_refused() -> None:
    with pytest.raises(ValueError, match="weights must sum to one"):
        Model((2, 2), [Component(np.nan, ((), ()), (HALF, HALF))])


def test_a_parent_named_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="x0"):
        Model((2, 2), [Component(1.0, ((1, 1), ()), (np.full((2, 2, 2), 0.5), HALF))])


def test_an_unknown_parent_is_refused_as_such() -> None:
    with pytest.raises(
        ValueError, match="parents of x0 must be different other variables from 0 to 1"
    ):
        Model((2, 2), [Component(1.0, ((5,), ()), (GIVEN, HALF))])


@pytest.mark.parametrize("codes", [[[0, 1]], [[-1]]])
def test_posterior_refuses_rows_that_are_not_attribute_codes(codes: list[list[int]]) -> None:
    model = plain_model(((1,), ()), [[[0.1, 0.9], [0.5, 0.5]], [0.3, 0.7]])
    with pytest.raises(ValueError, match="attribute"):
        model.posterior(np.array(codes))


def test_a_model_without_attributes_is_refused() -> None:
    with pytest.raises(ValueError, match="an attribute and a target"):
        Model((2,), [Component(1.0, ((),), (HALF,))])


@pytest.mark.parametrize("names", [("a",), ("a", "a")])
def test_names_that_do_not_fit_are_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="2 variables need as many different names"):
        Model((2, 2), [Component(1.0, ((), ()), (HALF, HALF))], names)
