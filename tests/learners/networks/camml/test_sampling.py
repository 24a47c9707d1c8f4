"""The sampler agrees with the exact posterior within its Monte-Carlo error."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from simstudy.data.sample import Sample
from simstudy.learners.networks.camml.costs import NodeCosts, members
from simstudy.learners.networks.camml.learner import CaMML, FittedCaMML
from simstudy.learners.networks.camml.sampling import SampledPosterior

SEEDS = 8
Key = tuple[frozenset[frozenset[int]], int]
# Five to eight variables; at 50 rows a hundred classes or more share the posterior.
NAMES = ("tan_00_50", "tan_00_500", "tan_01_50", "aode_01_500", "nb_02_500")


def by_class(fitted: FittedCaMML, sample: Sample) -> dict[Key, float]:
    """The posterior of every SEC, by its skeleton and binned maximum likelihood."""
    found: dict[Key, float] = {}
    likelihood = NodeCosts(sample).likelihood
    for c in fitted.statistical_classes:
        edges = frozenset(
            frozenset((u, v)) for v, mask in enumerate(c.parents) for u in members(mask)
        )
        total = sum(likelihood[v, mask] for v, mask in enumerate(c.parents))
        bin_ = math.floor(128 * total + 1e-6)
        found[edges, bin_] = found.get((edges, bin_), 0.0) + c.posterior
    return found


@pytest.fixture(params=NAMES)
def golden(request: pytest.FixtureRequest, golden_named: Callable[[str], Any]) -> Any:
    """Some of the training sets."""
    return golden_named(request.param)


@pytest.fixture
def both(golden: Any) -> tuple[FittedCaMML, list[FittedCaMML]]:
    """The exact fit, and sampled ones under several seeds."""
    return golden.fitted, sampled_fits(golden.name, golden.sample)


@cache
def sampled_fits(name: str, sample: Sample) -> list[FittedCaMML]:
    learner = CaMML(search="sample")
    return [learner.fit(sample, np.random.default_rng([seed, 5])) for seed in range(SEEDS)]


def standardised(estimates: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """How many standard errors, judged from the runs' spread, their mean is off."""
    error = estimates.std(axis=0, ddof=1) / math.sqrt(len(estimates))
    return np.abs(estimates.mean(axis=0) - exact) / np.maximum(error, 1e-6)


@pytest.mark.slow
def test_class_posteriors_agree_with_the_exact_within_monte_carlo_error(
    golden: Any, both: tuple[FittedCaMML, list[FittedCaMML]]
) -> None:
    fitted, runs = both
    exact = by_class(fitted, golden.sample)
    tables = [by_class(run, golden.sample) for run in runs]
    keys = [key for key, posterior in exact.items() if posterior > 0.005]
    estimates = np.array([[table.get(key, 0.0) for key in keys] for table in tables])
    truth = np.array([exact[key] for key in keys])
    # Student's t with 7 degrees of freedom is beyond 6 once in 2000 times.
    assert standardised(estimates, truth).max() < 6
    # Each run alone is near as well: the spread itself is small.
    assert np.abs(estimates - truth).max() < 0.06


@pytest.mark.slow
def test_arc_posteriors_agree_with_the_exact_within_monte_carlo_error(
    both: tuple[FittedCaMML, list[FittedCaMML]],
) -> None:
    fitted, runs = both
    estimates = np.array([run.arc_posteriors for run in runs])
    exact = fitted.arc_posteriors
    likely = exact > 0.005
    assert standardised(estimates[:, likely], exact[likely]).max() < 6
    assert np.abs(estimates - exact).max() < 0.06
    assert (estimates + estimates.transpose(0, 2, 1) <= 1 + 1e-9).all()


def test_arc_probability_and_best_cost_are_the_exact(
    both: tuple[FittedCaMML, list[FittedCaMML]],
) -> None:
    fitted, runs = both
    for run in runs:
        assert run.arc_probability == fitted.arc_probability
        assert run.best_cost == pytest.approx(fitted.best_cost, rel=0, abs=1e-6)


def test_annealing_seldom_misses_the_arc_probability(golden_named: Callable[[str], Any]) -> None:
    # Of the golden sets the hardest one: eight variables, 50 rows. A start that is not the best
    # model leads to another fixed point.
    golden = golden_named("nb_02_50")
    runs = sampled_fits(golden.name, golden.sample)
    exact = golden.fitted.arc_probability
    assert sum(run.arc_probability == exact for run in runs) >= SEEDS - 2


def test_masses_sum_to_one(golden: Any, both: tuple[FittedCaMML, list[FittedCaMML]]) -> None:
    for run in both[1]:
        assert run.listed_posterior == pytest.approx(1, abs=1e-9)
    dags, mass = SampledPosterior(golden.sample, np.random.default_rng(5)).clean_dags
    assert len(np.unique(dags, axis=0)) == len(dags)
    assert (np.diff(mass) <= 0).all()


def test_the_same_seed_gives_the_same_sample(draw_sample: Callable[..., Sample]) -> None:
    sample = draw_sample(0, 6, rows=40)
    one, same, other = (
        CaMML(search="sample").fit(sample, np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one.arc_posteriors, same.arc_posteriors)
    assert not np.array_equal(one.arc_posteriors, other.arc_posteriors)
    assert one.sec_table().equals(same.sec_table())


def test_without_a_stream_the_sample_is_the_same_every_time(
    draw_sample: Callable[..., Sample],
) -> None:
    sample = draw_sample(1, 4)
    learner = CaMML(search="sample")
    np.testing.assert_array_equal(
        learner.fit(sample).arc_posteriors, learner.fit(sample).arc_posteriors
    )


def related(variables: int, rows: int) -> Sample:
    """Rows of a random tree: every variable mostly copies an earlier one."""
    rng = np.random.default_rng(variables)
    cards = rng.integers(2, 5, size=variables)
    codes = rng.integers(0, cards, size=(rows, variables))
    for v in range(1, variables):
        led = codes[:, rng.integers(v)] % cards[v]
        codes[:, v] = np.where(rng.random(rows) < 0.6, led, codes[:, v])
    return Sample(codes, cards)


def check_predictions(fitted: FittedCaMML, sample: Sample) -> None:
    proba = fitted.predict_proba(sample.attributes[:100])
    assert proba.shape == (min(100, len(sample)), sample.classes)
    assert np.isfinite(proba).all()
    assert (proba > 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-12)


@pytest.mark.parametrize("select", ["mmlec", "map", "sec", "average", "sec_average"])
def test_every_selection_predicts_from_a_sampled_posterior(select: Any) -> None:
    sample = related(12, 80)
    rng = np.random.default_rng(0)
    fitted = CaMML(select=select).fit(sample, rng)
    assert rng.random() != np.random.default_rng(0).random()  # it was drawn from
    check_predictions(fitted, sample)


@pytest.mark.parametrize("select", ["average", "sec_average"])
def test_sampled_averages_are_near_the_exact(
    golden_named: Callable[[str], Any], select: Any
) -> None:
    golden = golden_named("tan_00_500")
    codes = golden.test[:, :-1]
    exact = CaMML(select=select, search="exact").fit(golden.sample).predict_proba(codes)
    found = CaMML(select=select, search="sample").fit(golden.sample).predict_proba(codes)
    # "average" over sampled models uses their clean DAGs: the arcs not worth it are gone.
    np.testing.assert_allclose(found, exact, rtol=0, atol=0.03)


@pytest.mark.slow
def test_thirty_variables_and_a_thousand_rows_are_learned() -> None:
    sample = related(30, 1000)
    fitted = CaMML().fit(sample, np.random.default_rng(0))
    check_predictions(fitted, sample)
    # The tree that the rows come from has 29 edges, all of them strong.
    edges = {frozenset((u, v)) for v, parents in enumerate(fitted.dag) for u in parents}
    assert len(edges) >= 29
    assert fitted.arc_posteriors.sum() >= 29
    assert fitted.listed_posterior == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_variables_of_one_value_do_not_move_the_arc_probability(seed: int) -> None:
    # At p = ½ an arc to or from a constant costs nothing; it must not count as one.
    rng = np.random.default_rng(seed)
    cards = (3, 1, 3, 1, 3)
    sample = Sample(rng.integers(0, cards, size=(50, 5)), cards)
    exact = CaMML(search="exact").fit(sample)
    sampled = CaMML(search="sample").fit(sample, np.random.default_rng(seed))
    assert sampled.arc_probability == exact.arc_probability
    assert sampled.best_cost == pytest.approx(exact.best_cost, abs=1e-9)


def test_variables_of_one_value_have_no_arcs() -> None:
    rows = related(12, 80)
    codes = np.zeros((80, 61), dtype=np.intp)
    codes[:, 49:] = rows.codes
    sample = Sample(codes, [1] * 49 + list(rows.cards))
    fitted = CaMML().fit(sample, np.random.default_rng(0))
    assert not fitted.arc_posteriors[:49].any()
    assert not fitted.arc_posteriors[:, :49].any()
    assert fitted.arc_posteriors.any()
    check_predictions(fitted, sample)
