"""Networks with learned parameters against pgmpy, dense tables and row-by-row sums."""

from collections.abc import Callable
from itertools import product
from math import exp, log

import numpy as np
import pytest

from simstudy.data.sample import Sample
from simstudy.learners.networks.camml import equivalence as module
from simstudy.learners.networks.camml.averaging import Mixture
from simstudy.learners.networks.camml.equivalence import divergences
from simstudy.learners.networks.estimated import EstimatedNetwork
from simstudy.networks import elimination

Draw = Callable[..., Sample]


def random_dag(variables: int, rng: np.random.Generator, density: float = 0.5) -> list[int]:
    order = rng.permutation(variables)
    parents = [0] * variables
    for place, v in enumerate(order):
        for u in order[:place]:
            if rng.random() < density:
                parents[v] |= 1 << int(u)
    return parents


@pytest.fixture(params=range(6))
def networks(request: pytest.FixtureRequest, draw_sample: Draw) -> list[EstimatedNetwork]:
    """Some random networks over the same variables."""
    sample = draw_sample(request.param, 5)
    rng = np.random.default_rng(request.param)
    return [EstimatedNetwork(sample, random_dag(5, rng, rng.random())) for _ in range(6)]


def densities(network: EstimatedNetwork) -> np.ndarray:
    return np.exp(network.log_density()).reshape(network.cards)


def test_log_joint_is_read_from_the_density(networks: list[EstimatedNetwork]) -> None:
    for network in networks:
        codes = np.array(list(product(*map(range, network.cards[:-1]))))
        log_joint = network.log_joint(codes)
        np.testing.assert_allclose(log_joint.ravel(), network.log_density(), rtol=1e-12)
        assert densities(network).sum() == pytest.approx(1, abs=1e-12)


def test_parameters_are_counts_from_one_half(draw_sample: Draw) -> None:
    sample = draw_sample(1, 3)
    network = EstimatedNetwork(sample, [0, 0b101, 0])
    table = np.exp(network.log_tables[1])
    for x0, x2, x1 in np.ndindex(*table.shape):
        fits = (sample.codes[:, 0] == x0) & (sample.codes[:, 2] == x2)
        n, total = (fits & (sample.codes[:, 1] == x1)).sum(), fits.sum()
        expected = (n + 0.5) / (total + sample.cards[1] / 2)
        assert table[x0, x2, x1] == pytest.approx(expected, rel=1e-12)


def test_posteriors_are_those_of_pgmpy(draw_sample: Draw) -> None:
    from pgmpy.inference import VariableElimination

    sample = draw_sample(3, 5)
    names = ["a", "b", "c", "d", "target"]
    network = EstimatedNetwork(sample, random_dag(5, np.random.default_rng(3), 0.6))
    exported = network.to_pgmpy(names)
    assert exported.check_model()
    inference = VariableElimination(exported)
    for row in sample.attributes[:5]:
        evidence = {name: str(value) for name, value in zip(names, row.tolist(), strict=False)}
        answer = inference.query(["target"], evidence, show_progress=False)
        joint = np.exp(network.log_joint(row[None])[0])
        by_name = [answer.get_value(target=str(c)) for c in range(sample.classes)]
        np.testing.assert_allclose(by_name, joint / joint.sum(), rtol=1e-9)


def test_marginals_are_sums_of_the_density(networks: list[EstimatedNetwork]) -> None:
    for network in networks:
        dense = densities(network)
        for wanted in [(0,), (4, 1), (2, 0, 3), (3, 1, 0, 4, 2)]:
            rest = tuple(v for v in range(5) if v not in wanted)
            summed = dense.sum(axis=rest).transpose(np.argsort(np.argsort(wanted)))
            np.testing.assert_allclose(network.marginal(wanted), summed, rtol=0, atol=1e-12)


def test_the_cost_of_the_data_is_summed_over_rows(draw_sample: Draw) -> None:
    sample = draw_sample(7, 4)
    weights = np.random.default_rng(7).random(len(sample)) * 3
    for each in (sample, Sample(sample.codes, sample.cards, weights)):
        network = EstimatedNetwork(each, [0b1010, 0, 0b1011, 0b10])
        rows = network.log_joint(each.attributes)[np.arange(len(each)), each.target]
        total = rows.sum() if each.weights is None else rows @ each.weights
        assert network.data_cost == pytest.approx(-total, rel=1e-12)


def test_divergences_are_summed_over_cells(networks: list[EstimatedNetwork]) -> None:
    dense = [densities(network).ravel().tolist() for network in networks]
    expected = [
        [sum(p * log(p / q) for p, q in zip(one, other, strict=True)) for other in dense]
        for one in dense
    ]
    np.testing.assert_allclose(divergences(networks), expected, rtol=0, atol=1e-12)


def test_divergences_are_the_same_by_elimination(
    networks: list[EstimatedNetwork], monkeypatch: pytest.MonkeyPatch
) -> None:
    by_cells = divergences(networks)
    monkeypatch.setattr(module, "_FEW_CELLS", 0)
    monkeypatch.setattr(module, "_MAX_CELLS", 0)
    by_elimination = divergences(networks)
    np.testing.assert_allclose(by_elimination, by_cells, rtol=0, atol=1e-12)
    for found in (by_cells, by_elimination):
        assert (found >= 0).all()
        np.testing.assert_allclose(np.diagonal(found), 0, atol=1e-12)


def test_divergences_are_estimated_where_tables_are_too_large(
    networks: list[EstimatedNetwork], monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = divergences(networks)
    for name in ("_FEW_CELLS", "_MAX_CELLS"):
        monkeypatch.setattr(module, name, 0)
    monkeypatch.setattr(elimination, "MAX_CELLS", 1)
    found = divergences(networks)
    assert not np.array_equal(found, exact)
    # The standard error is that of the mean of ρ − 1 − ln ρ over 65,536 rows, with ρ = P_i/P_j.
    logs = np.array([network.log_density() for network in networks])
    ratios = logs - logs[:, None]
    terms = np.expm1(ratios) - ratios
    squares = (np.exp(logs)[:, None] * terms**2).sum(axis=2) - exact**2
    assert (np.abs(found - exact) <= 5 * np.sqrt(np.maximum(squares, 0) / 2**16) + 1e-12).all()
    np.testing.assert_array_equal(divergences(networks), found)


def test_divergences_of_thirty_variables_need_no_dense_table() -> None:
    rng = np.random.default_rng(30)
    sample = Sample(rng.integers(0, 3, size=(100, 30)), [3] * 30)
    chain = [0, *(1 << v for v in range(29))]
    without = [*chain[:-1], 0]
    found = divergences([EstimatedNetwork(sample, chain), EstimatedNetwork(sample, without)])
    # The networks differ in the last variable alone: KL is its expected difference there.
    table = np.exp(EstimatedNetwork(sample, chain).log_tables[29])
    alone = np.exp(EstimatedNetwork(sample, without).log_tables[29])
    given = EstimatedNetwork(sample, chain).marginal((28,))
    expected = float((given[:, None] * table * np.log(table / alone)).sum())
    assert found[0, 1] == pytest.approx(expected, abs=1e-12)


def test_a_mixture_is_the_weighted_sum_of_its_networks(networks: list[EstimatedNetwork]) -> None:
    mass = [0.5, 0.1, 0.05, 0.01, 0.2, 0.04]  # sums to 0.9: what is left out is shared out
    codes = np.array(list(product(*map(range, networks[0].cards[:-1]))))
    found = Mixture(networks, mass).log_joint(codes)
    expected = sum(
        m / sum(mass) * np.exp(n.log_joint(codes)) for m, n in zip(mass, networks, strict=True)
    )
    np.testing.assert_allclose(np.exp(found), expected, rtol=1e-12)
    assert np.exp(found).sum() == pytest.approx(exp(0.0), abs=1e-12)
