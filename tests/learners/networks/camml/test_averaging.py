"""The full Bayesian average against a sum over all totally ordered models, one by one."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from simstudy.data.sample import Sample
from simstudy.learners.networks.camml.averaging import ModelAverage
from simstudy.learners.networks.camml.costs import members
from simstudy.learners.networks.camml.exact import ExactPosterior
from simstudy.learners.networks.camml.learner import CaMML


def conditional(sample: Sample, v: int, parents: list[int], row: tuple[int, ...]) -> float:
    """P(row[v] | the parents' values), (n + ½)/(N + k/2), counted row by row."""
    weights = np.ones(len(sample)) if sample.weights is None else sample.weights
    fits = np.array([all(r[u] == row[u] for u in parents) for r in sample.codes], dtype=bool)
    both = fits & (sample.codes[:, v] == row[v])
    k = sample.cards[v]
    return float((weights[both].sum() + 0.5) / (weights[fits].sum() + k / 2))


def brute_force(sample: Sample, posterior: ExactPosterior, toms: np.ndarray) -> np.ndarray:
    """P of every joint configuration: Σ over TOMs of posterior · Π P(v | parents)."""
    variables = range(len(sample.cards))
    weights = sum(posterior.weights[v, toms[:, v]] for v in variables)
    mass = np.exp(weights - weights.max())
    mass /= mass.sum()
    dags, inverse = np.unique(toms, axis=0, return_inverse=True)
    mass = np.bincount(inverse.ravel(), mass)
    total = []
    for row in product(*map(range, sample.cards)):
        terms = np.ones(len(dags))
        for v in variables:
            masks = np.unique(dags[:, v])
            values = [conditional(sample, v, members(int(mask)), row) for mask in masks]
            terms *= np.array(values)[np.searchsorted(masks, dags[:, v])]
        total.append(mass @ terms)
    return np.array(total).reshape(-1, sample.cards[-1])


def agrees(sample: Sample, toms: np.ndarray) -> None:
    posterior = ExactPosterior(sample)
    expected = brute_force(sample, posterior, toms)
    codes = np.array(list(product(*map(range, sample.cards[:-1]))))
    log_joint = ModelAverage(sample, posterior).log_joint(codes)
    np.testing.assert_allclose(log_joint, np.log(expected), rtol=0, atol=1e-10)
    proba = CaMML(select="average", search="exact").fit(sample).predict_proba(codes)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(proba, expected, rtol=0, atol=1e-10)
    assert np.exp(log_joint).sum() == pytest.approx(1, abs=1e-10)


@pytest.mark.parametrize(("variables", "seeds"), [(2, 5), (3, 10), (4, 8)])
def test_the_average_is_the_sum_over_all_models(
    draw_sample: Callable[..., Sample],
    all_toms: Callable[[int], np.ndarray],
    variables: int,
    seeds: int,
) -> None:
    for seed in range(seeds):
        agrees(draw_sample(seed, variables, rows=25), all_toms(variables))


def test_the_average_of_a_weighted_sample_is_the_sum_over_all_models(
    draw_sample: Callable[..., Sample], all_toms: Callable[[int], np.ndarray]
) -> None:
    sample = draw_sample(4, 4, rows=30)
    weights = np.random.default_rng(4).random(30) * 3
    agrees(Sample(sample.codes, sample.cards, weights), all_toms(4))


@pytest.mark.parametrize("rows", [0, 1])
def test_the_average_of_hardly_any_rows_is_the_sum_over_all_models(
    draw_sample: Callable[..., Sample], all_toms: Callable[[int], np.ndarray], rows: int
) -> None:
    agrees(draw_sample(6, 4, rows=rows), all_toms(4))


def test_the_average_does_not_depend_on_how_rows_are_cut_up(
    draw_sample: Callable[..., Sample], monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = draw_sample(2, 5)
    average = ModelAverage(sample, ExactPosterior(sample))
    whole = average.log_joint(sample.attributes)
    monkeypatch.setattr("simstudy.learners.networks.camml.averaging._CHUNK_BYTES", 1)
    np.testing.assert_allclose(average.log_joint(sample.attributes), whole, rtol=0, atol=1e-12)


def test_rows_that_the_likeliest_models_hardly_allow_are_averaged_over_all_models(
    all_toms: Callable[[int], np.ndarray],
) -> None:
    # Three copies of one variable: where they differ, improbable models have most to say.
    column = np.random.default_rng(0).integers(0, 2, size=(200, 1))
    agrees(Sample(np.repeat(column, 4, axis=1), [2] * 4), all_toms(4))
