"""Posteriors by elimination against golden figures, pgmpy and sums over the joint distribution."""

import csv
import gzip
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simstudy.data.sample import Sample
from simstudy.data.schema import Schema, Variable
from simstudy.networks import Network, elimination, read_bif
from simstudy.networks.evaluation import on_all_axes

GOLDEN = Path(__file__).parents[1] / "golden" / "networks"
SHIPPED = Path(find_spec("pgmpy").submodule_search_locations[0], "utils", "example_models")
SMALLEST = ["earthquake", "cancer", "asia", "survey", "sachs", "child", "insurance", "water"]
SMALLEST += ["mildew", "alarm"]


def random_network(rng: np.random.Generator, variables: int, zeros: float = 0.0) -> Network:
    """A network over a random order, with up to three parents and some probabilities of zero."""
    order, cards = rng.permutation(variables), rng.integers(2, 4, variables)
    parents: list[list[int]] = [[] for _ in order]
    for place, v in enumerate(order):
        number = rng.integers(0, min(place, 3), endpoint=True)
        parents[v] = [int(u) for u in rng.choice(order[:place], number, replace=False)]
    cpts = []
    for v, those in enumerate(parents):
        cpt = rng.dirichlet(np.ones(cards[v]), size=tuple(cards[those]))
        cpt = np.where(rng.random(cpt.shape) < zeros, 0.0, cpt)
        cpt[..., 0] += cpt.sum(axis=-1) == 0
        cpts.append(cpt / cpt.sum(axis=-1, keepdims=True))
    return Network(parents, cpts)


def by_summation(network: Network, target: int, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Posteriors and evidence, one row at a time, from the joint distribution."""
    joint = np.ones(network.cards)
    for axes, cpt in zip(network.axes, network.cpts, strict=True):
        joint = joint * on_all_axes(cpt, axes, network.cards)
    found, evidence = [], []
    for row in codes:
        chosen = [
            slice(None) if u == target or x < 0 else slice(x, x + 1) for u, x in enumerate(row)
        ]
        rest = tuple(u for u in range(len(row)) if u != target)
        of_target = joint[tuple(chosen)].sum(axis=rest)
        evidence.append(of_target.sum())
        found.append(of_target / evidence[-1] if evidence[-1] > 0 else of_target * np.nan)
    return np.array(found), np.array(evidence)


@pytest.mark.parametrize(("name", "target"), [("asia", "lung"), ("cancer", "Cancer")])
def test_golden_posteriors(name: str, target: str) -> None:
    network = read_bif(GOLDEN / f"{name}.bif")
    with gzip.open(GOLDEN / f"{name}.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    observed = [{k[2:]: v for k, v in row.items() if k.startswith("e_") and v} for row in rows]
    codes = np.full((len(rows), len(network.names)), -1)
    for place, evidence in enumerate(observed):
        for variable, value in evidence.items():
            u = network.index(variable)
            codes[place, u] = network.states[u].index(value)
    states = network.states[network.index(target)]
    expected = np.array([[float(row[f"p_{s}"] or "nan") for s in states] for row in rows])
    np.testing.assert_allclose(network.posteriors(target, codes), expected, rtol=0, atol=1e-11)
    probability = np.exp(network.log_evidence(codes))
    np.testing.assert_allclose(probability, [float(r["p_evidence"]) for r in rows], atol=1e-12)
    for evidence, row in list(zip(observed, expected, strict=True))[::17]:
        one = network.posterior(target, evidence)
        assert list(one) == list(states)
        np.testing.assert_allclose(list(one.values()), row, rtol=0, atol=1e-11)


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3]), st.floats(0, 1))
@settings(max_examples=40, deadline=None)
def test_posteriors_are_ratios_of_sums_of_the_joint(seed: int, zeros: float, gaps: float) -> None:
    rng = np.random.default_rng(seed)
    network = random_network(rng, int(rng.integers(2, 7)), zeros)
    codes = np.array([rng.integers(card, size=12) for card in network.cards]).T
    codes[rng.random(codes.shape) < gaps] = -1
    target = int(rng.integers(len(network.cards)))
    expected, evidence = by_summation(network, target, codes)
    found = network.posteriors(target, codes)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    codes[:, target] = -1
    np.testing.assert_allclose(np.exp(network.log_evidence(codes)), evidence, atol=1e-12)


def test_rows_apart_and_together_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    network = random_network(rng, 7, 0.2)
    codes = network.sample(60, rng).codes.copy()
    codes[rng.random(codes.shape) < 0.3] = -1
    answers = []
    for cost in (0, 10**9):  # every pattern of missing values by itself; all rows as one
        monkeypatch.setattr(elimination, "_CELLS_FOR_EACH_STEP", cost)
        answers.append(network.posteriors(3, codes))
    np.testing.assert_allclose(*answers, rtol=1e-12, atol=1e-15)
    monkeypatch.setattr(elimination, "_CELLS_AT_ONCE", 50)
    np.testing.assert_allclose(network.posteriors(3, codes), answers[0], rtol=1e-12, atol=1e-15)


def test_many_observed_effects_do_not_underflow() -> None:
    rng = np.random.default_rng(0)
    effects = 700
    cpts = [rng.dirichlet([0.2] * 4, size=2) for _ in range(effects)]
    network = Network([*[[effects]] * effects, []], [*cpts, [0.3, 0.7]])
    codes = rng.integers(4, size=(3, effects + 1))
    logs = np.log([0.3, 0.7]) + sum(np.log(cpt)[:, codes[:, v]].T for v, cpt in enumerate(cpts))
    expected = np.exp(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))
    np.testing.assert_allclose(network.posteriors(effects, codes), expected, atol=1e-9)
    total = network.log_evidence(np.where(np.arange(effects + 1) < effects, codes, -1))
    np.testing.assert_allclose(total, np.logaddexp.reduce(logs, axis=1), rtol=1e-10)


def test_too_large_a_table_is_refused() -> None:
    effects = 30
    joint = Network([*[()] * effects], [[0.5, 0.5]] * effects)
    assert joint.posteriors(0, np.full((1, effects), -1))[0].tolist() == [0.5, 0.5]
    # every pair of thirty causes has a common effect, which is observed
    pairs = [(u, v) for u in range(effects) for v in range(u)]
    cpts = [[0.5, 0.5]] * effects + [[[[0.1, 0.9], [0.3, 0.7]]] * 2] * len(pairs)
    network = Network([*[()] * effects, *pairs], cpts)
    codes = np.zeros((2, len(network.cards)), dtype=int)
    codes[:, :effects] = -1
    with pytest.raises(ValueError, match=r"a table of [\d,]+ cells; at most 67,108,864"):
        network.posteriors(0, codes)
    assert network.posteriors(0, np.zeros_like(codes)).shape == (2, 2)


def test_rows_may_be_samples_arrays_with_gaps_or_lack_the_target() -> None:
    network = read_bif(GOLDEN / "asia.bif")
    rows = network.sample(50, np.random.default_rng(1))
    expected = network.posteriors("bronc", rows)
    place = network.index("bronc")
    for other in (rows.codes, rows.codes.astype(np.uint8), np.delete(rows.codes, place, axis=1)):
        np.testing.assert_array_equal(network.posteriors(place, other), expected)
    other = rows.codes.astype(float)
    other[:, place] = np.nan
    np.testing.assert_array_equal(network.posteriors("bronc", other), expected)
    # columns and values in another order, one column left out
    kept = [v for v in range(7, -1, -1) if v != network.index("xray")]
    schema = Schema(tuple(Variable(network.names[v], ("no", "yes")) for v in kept))
    moved = Sample.of(1 - rows.codes[:, kept], schema)
    blank = rows.codes.copy()
    blank[:, network.index("xray")] = -1
    np.testing.assert_array_equal(
        network.posteriors("bronc", moved), network.posteriors("bronc", blank)
    )


def test_errors_name_what_is_wrong() -> None:
    network = read_bif(GOLDEN / "asia.bif")
    with pytest.raises(ValueError, match="no variable is named 'lungs'; did you mean 'lung'"):
        network.posterior("lungs", {})
    with pytest.raises(ValueError, match="'smoke' has no value 'ye'; did you mean 'yes'"):
        network.posterior("lung", {"smoke": "ye"})
    with pytest.raises(ValueError, match="'lung' is the target"):
        network.posterior("lung", {"lung": "yes"})
    with pytest.raises(ValueError, match="variables go from 0 to 7; 8 is not one"):
        network.posteriors(8, np.zeros((1, 8)))
    with pytest.raises(ValueError, match="codes must be from 0 to 1"):
        network.posteriors(0, np.full((1, 8), 2))
    other = Sample.of([[0]], Schema((Variable("smoke", ("often",)),)))
    with pytest.raises(ValueError, match="'smoke' has no value 'often'"):
        network.posteriors("lung", other)
    with pytest.raises(ValueError, match="as many different names"):
        Network([[]], [[0.5, 0.5]], states=[["a", "a"]])


def markov_blanket(network: Network, v: int) -> list[int]:
    """The parents, children and children's other parents of a variable (Pearl 1988)."""
    families = [axes for axes in network.axes if v in axes]
    return sorted({u for axes in families for u in axes} - {v})


def test_markov_blankets_make_independent() -> None:
    network = read_bif(GOLDEN / "asia.bif")
    lung, *around = map(network.index, ("lung", "either", "smoke", "tub"))
    assert markov_blanket(network, lung) == sorted(around)
    rng = np.random.default_rng(3)
    other = random_network(rng, 6)
    codes = other.sample(40, rng).codes
    for v in range(6):
        inside = markov_blanket(other, v)
        least = np.full_like(codes, -1)
        least[:, inside] = codes[:, inside]
        np.testing.assert_allclose(other.posteriors(v, codes), other.posteriors(v, least))


def test_sampled_rows_have_the_joint_frequencies() -> None:
    rng = np.random.default_rng(2)
    network = random_network(rng, 4, 0.2)
    rows = network.sample(200_000, np.random.default_rng(7))
    few = network.sample(50, np.random.default_rng(7))
    np.testing.assert_array_equal(rows.codes[:50], few.codes)
    seen = np.zeros(network.cards)
    np.add.at(seen, tuple(rows.codes.T), 1 / len(rows))
    joint = network.joint()
    assert seen[joint == 0].sum() == 0
    assert np.abs(seen - joint).max() < 5 * 0.5 / len(rows) ** 0.5


def test_a_model_of_any_target_has_the_same_posteriors() -> None:
    network = read_bif(GOLDEN / "asia.bif")
    for target in network.names:
        model = network.model(target)
        assert model.names[-1] == target
        v = network.index(target)
        rows = network.sample(100, np.random.default_rng(4)).codes
        expected = network.posteriors(target, rows)
        attributes = np.delete(rows, v, axis=1)
        np.testing.assert_allclose(model.posterior(attributes), expected, atol=1e-12)
        np.testing.assert_allclose(model.class_prior(), network.marginal([v]), atol=1e-15)


def test_pgmpy_and_back() -> None:
    network = read_bif(GOLDEN / "cancer.bif")
    exported = network.to_pgmpy()
    assert exported.check_model()
    again = Network.from_pgmpy(exported)
    assert_same(again.reordered(network.names), network)


def assert_same(found: Network, expected: Network) -> None:
    assert (found.names, found.states) == (expected.names, expected.states)
    assert found.parents == expected.parents
    for cpt, other in zip(found.cpts, expected.cpts, strict=True):
        np.testing.assert_array_equal(cpt, other)


def pgmpy_agrees(name: str, queries: int) -> None:
    """Compare posteriors of random targets given random evidence with pgmpy's own."""
    from pgmpy.inference import VariableElimination

    network = read_bif(SHIPPED / f"{name}.bif.gz")
    inference = VariableElimination(network.to_pgmpy())
    rng = np.random.default_rng(len(name))
    rows = network.sample(queries, rng).codes
    for row in rows:
        target = int(rng.integers(len(row)))
        others = [v for v in rng.permutation(len(row)) if v != target]
        observed = others[: rng.integers(len(others) + 1)]
        evidence = {network.names[v]: network.states[v][row[v]] for v in observed}
        found = network.posterior(target, evidence)
        answer = inference.query([network.names[target]], evidence, show_progress=False)
        expected = [answer.get_value(**{network.names[target]: s}) for s in found]
        np.testing.assert_allclose(list(found.values()), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["earthquake", "survey"])
def test_inference_of_pgmpy(name: str) -> None:
    pgmpy_agrees(name, 3)


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALLEST)
def test_inference_of_pgmpy_on_the_ten_smallest(name: str) -> None:
    pgmpy_agrees(name, 20)


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_posteriors_in_alarm_are_those_of_its_rows_one_by_one(share: float) -> None:
    network = read_bif(SHIPPED / "alarm.bif.gz")
    rng = np.random.default_rng(1)
    codes = network.sample(1000, rng).codes.copy()
    codes[rng.random(codes.shape) < share] = -1
    found = network.posteriors("CATECHOL", codes)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    for row in (0, 500):
        evidence = {
            network.names[v]: network.states[v][x]
            for v, x in enumerate(codes[row])
            if x >= 0 and network.names[v] != "CATECHOL"
        }
        one = network.posterior("CATECHOL", evidence)
        np.testing.assert_allclose(found[row], list(one.values()), atol=1e-12)
