"""Node costs against the Java CaMML's and against the formula, written out in plain Python."""

import json
from collections.abc import Callable, Sequence
from itertools import product
from math import inf, lgamma, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

from simstudy.data.codes import distinct_rows
from simstudy.data.sample import Sample
from simstudy.learners.networks.camml import sampling
from simstudy.learners.networks.camml.costs import NodeCosts, log_gamma, members
from simstudy.learners.networks.camml.learner import CaMML

COSTS = json.loads((Path(__file__).parents[3] / "golden" / "camml" / "node_costs.json").read_text())
NAMES = ("x0", "x1", "x2", "x3", "y")


def parse(text: str) -> tuple[int, int]:
    """The child and the set of parents that ``x1|x0,y`` stands for."""
    child, parents = text.split("|")
    return NAMES.index(child), sum(1 << NAMES.index(p) for p in parents.split(",") if p)


def slow_costs(sample: Sample, child: int, parents: Sequence[int]) -> tuple[float, float]:
    """Message length and −log maximum likelihood, over all parent configurations."""
    weights = np.ones(len(sample)) if sample.weights is None else sample.weights
    k = sample.cards[child]
    message = likelihood = 0.0
    for configuration in product(*(range(sample.cards[u]) for u in parents)):
        counts = [0.0] * k
        for row, weight in zip(sample.codes.tolist(), weights.tolist(), strict=True):
            if all(row[u] == x for u, x in zip(parents, configuration, strict=True)):
                counts[row[child]] += weight
        total = sum(counts)
        message += lgamma(total + k) - lgamma(k) - sum(lgamma(n + 1) for n in counts)
        message += (k - 1) * 0.17649
        likelihood -= sum(n * log(n / total) for n in counts if n > 0)
    return message, likelihood


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    """Few variables and rows, weighted or not; the weights may be fractions or zero."""
    cards = draw(st.lists(st.integers(1, 4), min_size=2, max_size=4))
    row = st.tuples(*(st.integers(0, card - 1) for card in cards))
    rows = np.array(draw(st.lists(row, max_size=12)), dtype=int).reshape(-1, len(cards))
    number = st.one_of(st.integers(0, 9), st.floats(0.01, 50))
    weights = st.lists(number, min_size=len(rows), max_size=len(rows))
    return Sample(rows, cards, draw(st.one_of(st.none(), weights)))


def sampler_costs(sample: Sample) -> Callable[[int, int], tuple[float, float]]:
    """The node costs as the sampler's compiled code computes them."""
    first, inverse = distinct_rows(sample.codes, sample.cards)
    weights = np.bincount(inverse, sample.weights, minlength=len(first)).astype(np.float64)
    columns = np.ascontiguousarray(sample.codes[first].T, dtype=np.int32)
    whole = (weights == np.floor(weights)).all()
    listed = sampling.log_gammas(int(weights.sum()) + max(sample.cards) if whole else -1)
    data = (columns, weights, np.array(sample.cards), listed)
    return lambda child, parents: (
        sampling.message_cost(data, child, parents),
        sampling.log_loss(data, child, parents),
    )


@pytest.mark.parametrize("name", COSTS["node_mml"])
def test_message_lengths_are_the_java_programs(
    golden_named: Callable[[str], Any], name: str
) -> None:
    child, parents = parse(name)
    ours = NodeCosts(golden_named("tan_00_50").sample).message[child, parents]
    assert ours == pytest.approx(COSTS["node_mml"][name], rel=0, abs=1e-9)


@pytest.mark.parametrize("name", COSTS["node_ml"])
def test_maximum_likelihoods_are_the_java_programs(
    golden_named: Callable[[str], Any], name: str
) -> None:
    child, parents = parse(name)
    ours = NodeCosts(golden_named("tan_00_50").sample).likelihood[child, parents]
    assert ours == pytest.approx(COSTS["node_ml"][name], rel=0, abs=1e-9)


@pytest.mark.parametrize("probability", [0.5, 0.25])
@pytest.mark.parametrize(("name", "parents", "arcs"), [("empty", 0, 0), ("nb", 1 << 4, 4)])
def test_total_costs_are_the_java_programs(
    golden_named: Callable[[str], Any], probability: float, name: str, parents: int, arcs: int
) -> None:
    message = NodeCosts(golden_named("tan_00_50").sample).message
    structure = -arcs * log(probability) - (10 - arcs) * log(1 - probability)
    total = message[:4, parents].sum() + message[4, 0] + structure
    assert structure == pytest.approx(COSTS["structure_cost"][f"p={probability}"][name], abs=1e-9)
    assert total == pytest.approx(COSTS["total_cost"][f"p={probability}"][name], rel=0, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(samples())
def test_costs_are_those_of_the_formula(sample: Sample) -> None:
    costs = NodeCosts(sample)
    compiled = sampler_costs(sample)
    for child in range(len(sample.cards)):
        for parents in range(2 ** len(sample.cards)):
            if parents >> child & 1:
                continue
            message, likelihood = slow_costs(sample, child, members(parents))
            found = costs.message[child, parents], costs.likelihood[child, parents]
            assert found == pytest.approx((message, likelihood), rel=1e-12, abs=1e-10)
            assert compiled(child, parents) == pytest.approx(found, rel=1e-12, abs=1e-10)


def test_whole_weights_are_repeated_rows(draw_sample: Callable[..., Sample]) -> None:
    sample = draw_sample(3, variables=5)
    weights = np.random.default_rng(3).integers(0, 5, size=len(sample))
    weighted = NodeCosts(Sample(sample.codes, sample.cards, weights))
    repeated = NodeCosts(Sample(np.repeat(sample.codes, weights, axis=0), sample.cards))
    np.testing.assert_allclose(weighted.message, repeated.message, rtol=1e-12)
    np.testing.assert_allclose(weighted.likelihood, repeated.likelihood, rtol=1e-12, atol=1e-10)


def test_a_set_with_the_child_in_it_costs_infinitely_much(
    draw_sample: Callable[..., Sample],
) -> None:
    costs = NodeCosts(draw_sample(1))
    masks = np.arange(16)
    for v in range(4):
        holds = masks >> v & 1 == 1
        assert np.isinf(costs.message[v, holds]).all()
        assert np.isfinite(costs.message[v, ~holds]).all()


def test_more_than_seven_parents_cost_infinitely_much() -> None:
    sample = Sample(np.random.default_rng(0).integers(0, 2, size=(20, 9)), [2] * 9)
    costs, compiled = NodeCosts(sample), sampler_costs(sample)
    eight, seven = 0b011111111, 0b001111111
    assert costs.message[8, eight] == inf == compiled(8, eight)[0]
    assert np.isfinite(costs.message[8, seven])
    assert compiled(8, seven) == pytest.approx(
        (costs.message[8, seven], costs.likelihood[8, seven]), rel=1e-12
    )


@pytest.mark.parametrize(("card", "finite"), [(64, True), (65, False)])
def test_more_than_64000_cells_cost_infinitely_much(card: int, finite: bool) -> None:
    # 10·10·10·64 = 64,000 cells are allowed, 65,000 are not.
    cards = (10, 10, 10, card)
    sample = Sample(np.random.default_rng(0).integers(0, cards, size=(30, 4)), cards)
    costs, compiled = NodeCosts(sample), sampler_costs(sample)
    for child in range(4):
        others = 0b1111 ^ 1 << child
        assert np.isfinite(costs.message[child, others]) == finite
        assert compiled(child, others)[0] == pytest.approx(costs.message[child, others], rel=1e-12)
        assert np.isfinite(costs.message[child, others & others - 1])  # one parent fewer


@pytest.mark.parametrize("search", ["exact", pytest.param("sample", marks=pytest.mark.slow)])
def test_a_variable_among_its_own_parents_costs_infinitely_much_however_searched(
    draw_sample: Callable[..., Sample], search: Any
) -> None:
    assert CaMML(search=search).fit(draw_sample(1)).node_cost(2, [0, 2]) == inf


def test_log_gamma_is_that_of_scipy() -> None:
    x = np.concatenate([np.geomspace(1e-6, 1e10, 5000), np.arange(1.0, 40)])
    np.testing.assert_allclose(log_gamma(x), gammaln(x), rtol=1e-13, atol=3e-14)
    np.testing.assert_allclose(log_gamma(x[x > 16]), gammaln(x[x > 16]), rtol=2e-15)
