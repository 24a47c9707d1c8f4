"""The subset dynamic programming against brute force over all orders and all DAGs."""

import math
import tracemalloc
import warnings
from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simstudy.data.sample import Sample
from simstudy.learners.networks.camml.costs import NodeCosts, members
from simstudy.learners.networks.camml.equivalence import statistical_classes
from simstudy.learners.networks.camml.exact import (
    ExactPosterior,
    TomPosterior,
    best_tom,
    fit_arc_probability,
)
from simstudy.learners.networks.camml.learner import CaMML

Toms = Callable[[int], np.ndarray]
Draw = Callable[..., Sample]


class BruteForce:
    """Every totally ordered model, weighed one by one."""

    def __init__(self, costs: NodeCosts, probability: float, toms: np.ndarray) -> None:
        self.costs, self.probability, self.toms = costs, probability, toms
        variables = toms.shape[1]
        self.arcs = np.bitwise_count(toms).sum(axis=1).astype(int)
        pairs = variables * (variables - 1) // 2
        nodes = costs.message[np.arange(variables), toms].sum(axis=1)
        self.cost = nodes - self.arcs * math.log(probability)
        self.cost -= (pairs - self.arcs) * math.log(1 - probability)
        self.best_cost = self.cost.min()
        weights = np.exp(self.best_cost - self.cost)
        self.posterior = weights / weights.sum()
        self.log_total = math.log(weights.sum()) - self.best_cost

    def parent_sets(self) -> np.ndarray:
        variables = self.toms.shape[1]
        return np.array(
            [
                np.bincount(self.toms[:, v], self.posterior, minlength=2**variables)
                for v in range(variables)
            ]
        )

    def arc_posteriors(self) -> np.ndarray:
        variables = range(self.toms.shape[1])
        held = [[self.toms[:, v] >> u & 1 for v in variables] for u in variables]
        return np.array(held) @ self.posterior

    def clean_set(self, child: int, parents: int) -> int:
        price = math.log((1 - self.probability) / self.probability)
        for u in reversed(members(parents)):
            fewer = parents & ~(1 << u)
            message = self.costs.message[child]
            if message[fewer] <= message[parents] + price:
                parents = fewer
        return parents

    def clean_dags(self) -> dict[tuple[int, ...], float]:
        variables = self.toms.shape[1]
        table = np.array(
            [
                [self.clean_set(v, mask & ~(1 << v)) for mask in range(2**variables)]
                for v in range(variables)
            ]
        )
        clean = table[np.arange(variables), self.toms]
        dags, inverse = np.unique(clean, axis=0, return_inverse=True)
        mass = np.bincount(inverse.ravel(), self.posterior)
        return {tuple(dag): m for dag, m in zip(dags.tolist(), mass.tolist(), strict=True)}

    def classes(self) -> dict[tuple[frozenset[frozenset[int]], int], float]:
        """The posterior of every skeleton with a binned maximum likelihood."""
        found: dict[tuple[frozenset[frozenset[int]], int], float] = defaultdict(float)
        for dag, mass in self.clean_dags().items():
            found[class_of(dag, self.costs)] += mass
        return found


def class_of(dag: tuple[int, ...], costs: NodeCosts) -> tuple[frozenset[frozenset[int]], int]:
    edges = frozenset(frozenset((u, v)) for v, mask in enumerate(dag) for u in members(mask))
    cost = sum(costs.likelihood[v, mask] for v, mask in enumerate(dag))
    return edges, math.floor(128 * cost)


def agrees(posterior: TomPosterior, brute: BruteForce) -> None:
    """Hold every posterior of the dynamic programming against brute force."""
    pairs = brute.toms.shape[1] * (brute.toms.shape[1] - 1) / 2
    against_no_arc = pairs * math.log(1 - brute.probability)
    assert posterior.log_normaliser == pytest.approx(
        brute.log_total - against_no_arc, rel=1e-12, abs=1e-10
    )
    np.testing.assert_allclose(posterior.parent_sets, brute.parent_sets(), rtol=0, atol=1e-10)
    np.testing.assert_allclose(posterior.arcs, brute.arc_posteriors(), rtol=0, atol=1e-10)
    dags, mass = posterior.list_clean_dags(1e-12)
    found = {tuple(dag): m for dag, m in zip(dags.tolist(), mass.tolist(), strict=True)}
    assert len(found) == len(dags)
    expected = brute.clean_dags()
    for dag in found.keys() | expected.keys():
        assert found.get(dag, 0) == pytest.approx(expected.get(dag, 0), rel=0, abs=1e-10)
    classes = statistical_classes(dags, mass, lambda v, mask: brute.costs.likelihood[v, mask])
    by_class = brute.classes()
    for each in classes:
        expected_posterior = by_class[class_of(each.parents, brute.costs)]
        assert each.posterior == pytest.approx(expected_posterior, rel=0, abs=1e-10)
    assert sum(c.posterior for c in classes) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("variables", [3, 4])
@pytest.mark.parametrize("seed", range(25))
def test_the_posterior_is_that_of_brute_force(
    draw_sample: Draw, all_toms: Toms, variables: int, seed: int
) -> None:
    posterior = ExactPosterior(draw_sample(seed, variables))
    toms = all_toms(variables)
    agrees(posterior, BruteForce(posterior.costs, posterior.arc_probability, toms))


@pytest.mark.parametrize("seed", range(3))
def test_the_posterior_of_five_variables_is_that_of_brute_force(
    draw_sample: Draw, all_toms: Toms, seed: int
) -> None:
    posterior = ExactPosterior(draw_sample(seed, 5))
    agrees(posterior, BruteForce(posterior.costs, posterior.arc_probability, all_toms(5)))


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    cards = draw(st.lists(st.integers(1, 4), min_size=4, max_size=4))
    rows = draw(st.integers(0, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    codes = rng.integers(0, [max(card - draw(st.integers(0, 1)), 1) for card in cards], (rows, 4))
    copied = draw(st.integers(0, 3))
    codes[:, 3] = np.where(rng.random(rows) < 0.7, codes[:, copied] % cards[3], codes[:, 3])
    weights = rng.random(rows) * 5 if draw(st.booleans()) else None
    return Sample(codes, cards, weights)


class Case(NamedTuple):
    sample: Sample
    probability: float


@settings(max_examples=30, deadline=None)
@given(st.builds(Case, samples(), st.floats(0.02, 0.98)))
def test_the_posterior_at_any_arc_probability_is_that_of_brute_force(
    all_toms: Toms, case: Case
) -> None:
    costs = NodeCosts(case.sample)
    posterior = TomPosterior(costs, case.probability)
    agrees(posterior, BruteForce(costs, case.probability, all_toms(4)))


@pytest.mark.parametrize("variables", [3, 4])
@pytest.mark.parametrize("seed", range(25))
def test_the_best_tom_and_the_fixed_point_are_those_of_brute_force(
    draw_sample: Draw, all_toms: Toms, variables: int, seed: int
) -> None:
    costs = NodeCosts(draw_sample(seed, variables))
    pairs = variables * (variables - 1) // 2
    seen, probability = [], 0.5
    while probability not in seen:
        seen.append(probability)
        brute = BruteForce(costs, probability, all_toms(variables))
        parents, cost = best_tom(costs, probability)
        assert cost == pytest.approx(brute.best_cost, rel=0, abs=1e-9)
        places = np.flatnonzero((brute.toms == parents).all(axis=1))
        assert brute.cost[places[0]] == pytest.approx(cost, rel=0, abs=1e-9)
        probability = (brute.arcs[brute.cost.argmin()] + 0.5) / (pairs + 1)
    found, best_parents, best_cost = fit_arc_probability(costs)
    assert found == probability
    brute = BruteForce(costs, found, all_toms(variables))
    assert best_cost == pytest.approx(brute.best_cost, rel=0, abs=1e-9)
    assert (brute.toms == best_parents).all(axis=1).any()


@pytest.mark.parametrize("variables", [2, 5, 7])
def test_probabilities_obey_their_laws(draw_sample: Draw, variables: int) -> None:
    posterior = ExactPosterior(draw_sample(11, variables))
    np.testing.assert_allclose(posterior.parent_sets.sum(axis=1), 1, atol=1e-11)
    np.testing.assert_allclose(posterior.predecessors.sum(axis=1), 1, atol=1e-11)
    arcs = posterior.arcs
    assert (arcs >= 0).all()
    assert (arcs + arcs.T <= 1 + 1e-11).all()
    assert (np.diagonal(arcs) == 0).all()
    assert (posterior.parent_sets[~np.isfinite(posterior.costs.message)] == 0).all()


def test_a_lower_threshold_only_adds_dags(draw_sample: Draw) -> None:
    posterior = ExactPosterior(draw_sample(5, 5))
    previous: dict[tuple[int, ...], float] = {}
    before = 1.0
    for smallest in (1e-2, 1e-3, 1e-5, 1e-7, 1e-9):
        dags, mass = posterior.list_clean_dags(smallest)
        assert (mass >= smallest).all()
        assert (np.diff(mass) <= 0).all()
        now = {tuple(dag): m for dag, m in zip(dags.tolist(), mass.tolist(), strict=True)}
        for dag, m in previous.items():
            assert now[dag] == pytest.approx(m, rel=1e-9)
        assert all(m < before for dag, m in now.items() if dag not in previous)
        assert sum(now.values()) <= 1 + 1e-9
        previous, before = now, smallest


def test_other_names_for_the_variables_move_the_posterior_with_them(draw_sample: Draw) -> None:
    sample = draw_sample(8, 5)
    order = np.array([3, 0, 4, 1, 2])
    turned = Sample(sample.codes[:, order], [sample.cards[v] for v in order])
    one, other = ExactPosterior(sample), ExactPosterior(turned)
    assert other.arc_probability == one.arc_probability
    assert other.best_cost == pytest.approx(one.best_cost, rel=1e-12)
    assert other.log_normaliser == pytest.approx(one.log_normaliser, rel=1e-12)
    np.testing.assert_allclose(other.arcs, one.arcs[np.ix_(order, order)], atol=1e-11)


def copies_of_a_hidden_cause(variables: int, rows: int, seed: int) -> Sample:
    """Binary variables that each copy a hidden cause with probability ¾: an everyday data set."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(0, 2, size=(rows, 1))
    noise = rng.random((rows, variables)) < 0.75, rng.integers(0, 2, size=(rows, variables))
    return Sample(np.where(noise[0], hidden, noise[1]), [2] * variables)


def test_listing_very_many_dags_takes_little_memory() -> None:
    # 14,529 clean DAGs have a posterior above 10⁻⁷.
    posterior = ExactPosterior(copies_of_a_hidden_cause(9, 10, seed=2))
    tracemalloc.start()
    try:
        _, mass = posterior.clean_dags
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert mass.sum() >= 0.5
    assert peak < 256 * 2**20


@pytest.mark.parametrize(
    ("variables", "rows", "seed"),
    [(8, 50, 1), (9, 200, 3), pytest.param(10, 50, 0, marks=pytest.mark.slow)],
)
def test_however_many_dags_there_are_the_heavy_ones_are_listed(
    variables: int, rows: int, seed: int
) -> None:
    # Hundreds of thousands of clean DAGs share the posterior, none of them with 1/1000 of it.
    posterior = ExactPosterior(copies_of_a_hidden_cause(variables, rows, seed))
    dags, mass = posterior.clean_dags
    assert len(dags) >= 500
    assert mass[0] >= 1e-5


def test_classes_from_a_sliver_of_the_posterior_come_with_a_warning() -> None:
    sample = copies_of_a_hidden_cause(10, 50, seed=0)
    with pytest.warns(UserWarning, match=r"DAGs listed hold only \d+\.\d% of the posterior"):
        CaMML(search="exact").fit(sample)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CaMML("map", search="exact").fit(sample)
