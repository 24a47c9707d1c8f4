"""Errors and complexities of probabilities: Weka's figures, scikit-learn, and edge cases."""

import csv
import gzip
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from simstudy.measures.base import Undefined, score
from simstudy.measures.scores import errors
from simstudy.measures.scores.losses import brier_score, log_loss
from simstudy.measures.scores.rewards import kononenko_bratko

pytestmark = pytest.mark.filterwarnings("error")
GOLDEN = Path(__file__).parents[2] / "golden" / "real"
with gzip.open(GOLDEN / "evaluation.json.gz", "rt", encoding="utf-8") as file:
    WEKA = json.load(file)
CASES = [(name, learner) for name in WEKA for learner in WEKA[name]["learners"]]


def answers(name, learner):
    """Probabilities and true classes of the test part."""
    with gzip.open(GOLDEN / "probs" / f"{learner}_{name}.csv.gz", "rt", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    classes = [column.removeprefix("p_") for column in header[2:]]
    proba = np.array([row[2:] for row in rows], dtype=np.float64)
    return proba, np.array([classes.index(row[1]) for row in rows])


def weka_prior(name):
    counts = np.array(WEKA[name]["train_class_counts"], dtype=np.float64)
    return (counts + 1) / (counts.sum() + len(counts))


def draw(seed, n=50, k=3):
    rng = np.random.default_rng(seed)
    proba, y = rng.dirichlet(np.ones(k), n), rng.integers(0, k, n)
    return proba, y, rng.dirichlet(np.ones(k)), rng.integers(0, 4, n).astype(np.float64) + (y == 0)


def close(value):
    return pytest.approx(value, rel=1e-9, abs=1e-9)


# Weka


@pytest.mark.parametrize(("name", "learner"), CASES)
def test_errors_are_those_of_weka(name, learner):
    proba, y = answers(name, learner)
    prior, weka = weka_prior(name), WEKA[name]["learners"][learner]
    assert len(y) == weka["n"]
    assert score(errors.mean_absolute_error, proba, y) == close(weka["mae"])
    assert errors.rmse(proba, y) == close(weka["rmse"])
    assert errors.relative_absolute_error(proba, y, prior=prior) == close(weka["rae_percent"])
    assert errors.root_relative_squared_error(proba, y, prior=prior) == close(weka["rrse_percent"])
    always = np.tile(prior, (len(y), 1))
    assert score(errors.mean_absolute_error, always, y) == close(weka["mae_prior"])
    assert errors.rmse(always, y) == close(weka["rmse_prior"])


@pytest.mark.parametrize(("name", "learner"), CASES)
def test_information_and_complexities_are_those_of_weka(name, learner):
    proba, y = answers(name, learner)
    prior, weka = weka_prior(name), WEKA[name]["learners"][learner]
    total = errors.kononenko_bratko_total(proba, y, prior=prior)
    assert total == close(weka["kb_information"])
    mean = score(kononenko_bratko, proba, y, prior=prior, base=2)
    assert mean == close(weka["kb_mean"])
    relative = errors.kononenko_bratko_relative(proba, y, prior=prior)
    assert relative == close(100 * weka["kb_mean"] / weka["prior_entropy"])
    # Weka 3.6 divides the total, not the mean.
    assert relative * len(y) == close(weka["kb_relative_percent"])

    bits = errors.class_complexity(proba, y)
    assert bits.sum() == close(weka["complexity_scheme_bits"])
    assert bits.mean() == close(weka["complexity_scheme_mean"])
    by_prior = errors.class_complexity(np.tile(prior, (len(y), 1)), y)
    assert by_prior.sum() == close(weka["complexity_order0_bits"])
    assert by_prior.mean() == close(weka["complexity_order0_mean"])
    improvement = errors.complexity_improvement(proba, y, prior=prior)
    assert improvement.sum() == close(weka["complexity_improvement_bits"])
    assert improvement.mean() == close(weka["complexity_improvement_mean"])


def test_weka_has_a_case_of_probability_zero():
    proba, y = answers("iris", "OneR")
    assert (proba[np.arange(len(y)), y] == 0).any()
    assert errors.class_complexity(proba, y).max() == 1074


# Definitions


def test_worked_errors():
    # |.7-1| + .3, |.4| + |.6-1| over two classes and two rows: (.6 + .8)/4; squares .18 + .32.
    proba, y, prior = np.array([[0.7, 0.3], [0.4, 0.6]]), np.array([0, 1]), np.array([0.5, 0.5])
    assert errors.mean_absolute_error(proba, y) == pytest.approx([0.3, 0.4])
    assert errors.rmse(proba, y) == pytest.approx(math.sqrt(0.5 / 4))
    # The prior errs by .5 in every class.
    assert errors.relative_absolute_error(proba, y, prior=prior) == pytest.approx(70)
    expected = 100 * math.sqrt(0.125) / 0.5
    assert errors.root_relative_squared_error(proba, y, prior=prior) == pytest.approx(expected)
    # log2(.7/.5) and log2(.6/.5); the prior's entropy is 1 bit.
    total = math.log2(1.4) + math.log2(1.2)
    assert errors.kononenko_bratko_total(proba, y, prior=prior) == pytest.approx(total)
    relative = errors.kononenko_bratko_relative(proba, y, prior=prior)
    assert relative == pytest.approx(50 * total)
    assert errors.complexity_improvement(proba, y, prior=prior).sum() == pytest.approx(total)


def test_a_fair_coin_takes_one_bit():
    assert errors.class_complexity(np.array([[0.5, 0.5]]), np.array([1])) == [1]


def test_an_impossible_class_costs_1074_bits_and_certainty_none():
    proba, y = np.array([[0.0, 1.0], [0.0, 1.0], [5e-324, 1.0]]), np.array([0, 1, 0])
    bits = errors.class_complexity(proba, y)
    assert bits.tolist() == [1074, 0, 1074]
    assert not np.signbit(bits).any()
    gain = errors.complexity_improvement(proba, y, prior=np.array([0.0, 1.0]))
    assert gain.tolist() == [0, 0, 0]


def test_relative_errors_of_all_learners_refer_to_one_error():
    # Witten, Frank & Hall, table 5.9: RMSE/RRSE is one number for all methods, as is MAE/RAE.
    printed = {
        "A": (67.8, 42.2, 41.3, 43.1),
        "B": (91.7, 57.2, 38.5, 40.1),
        "C": (63.3, 39.4, 33.4, 34.8),
        "D": (57.4, 35.8, 29.2, 30.4),
    }
    for root, root_relative, absolute, relative in printed.values():
        assert 160.2 < 100 * root / root_relative < 160.8
        assert 95.7 < 100 * absolute / relative < 96.2
    _, y, prior, weights = draw(1)
    ratios = set()
    for seed in range(4):
        proba = np.random.default_rng(seed).dirichlet(np.ones(3), len(y))
        root = errors.rmse(proba, y, weights=weights)
        relative = errors.root_relative_squared_error(proba, y, prior=prior, weights=weights)
        ratios.add(round(root / relative, 12))
    assert len(ratios) == 1


def test_the_prior_itself_scores_a_hundred_percent_and_earns_nothing():
    _, y, prior, weights = draw(2)
    always = np.tile(prior, (len(y), 1))
    context = {"prior": prior, "weights": weights}
    assert errors.relative_absolute_error(always, y, **context) == pytest.approx(100)
    assert errors.root_relative_squared_error(always, y, **context) == pytest.approx(100)
    assert errors.kononenko_bratko_relative(always, y, **context) == pytest.approx(0, abs=1e-12)
    assert errors.complexity_improvement(always, y, prior=prior) == pytest.approx(0, abs=1e-12)


# A second oracle


@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3, 26]))
def test_errors_are_those_of_scikit_learn(seed, k):
    proba, y, _, weights = draw(seed, k=k)
    truth = np.eye(k)[y]
    absolute = metrics.mean_absolute_error(truth, proba, sample_weight=weights)
    assert score(errors.mean_absolute_error, proba, y, weights=weights) == pytest.approx(absolute)
    # scikit-learn's root is taken by class; Weka's over all classes.
    squared = metrics.mean_squared_error(truth, proba, sample_weight=weights)
    assert errors.rmse(proba, y, weights=weights) == pytest.approx(math.sqrt(squared))
    loss = metrics.log_loss(y, proba, labels=range(k), sample_weight=weights)
    complexity = score(errors.class_complexity, proba, y, weights=weights)
    assert complexity == pytest.approx(loss / math.log(2))


# Weights


WEIGHTED = [
    errors.rmse,
    errors.relative_absolute_error,
    errors.root_relative_squared_error,
    errors.kononenko_bratko_relative,
]


@pytest.mark.parametrize("measure", WEIGHTED)
@pytest.mark.parametrize("k", [2, 3, 26])
def test_a_row_of_weight_w_counts_as_w_rows(measure, k):
    proba, y, prior, weights = draw(3, k=k)
    repeated = np.repeat(np.arange(len(y)), weights.astype(int))
    value = score(measure, proba[repeated], y[repeated], prior=prior)
    assert score(measure, proba, y, prior=prior, weights=weights) == pytest.approx(value)
    shares = weights / weights.sum()
    assert score(measure, proba, y, prior=prior, weights=shares) == pytest.approx(value)


@pytest.mark.parametrize("measure", WEIGHTED)
def test_the_value_of_the_population_is_that_of_a_great_sample(measure):
    rng = np.random.default_rng(4)
    proba, y, prior, _ = draw(4, n=60)
    population = rng.dirichlet(np.ones(60))
    exact = score(measure, proba, y, prior=prior, weights=population)
    rows = rng.choice(60, 200_000, p=population)
    sampled = score(measure, proba[rows], y[rows], prior=prior)
    assert sampled == pytest.approx(exact, rel=0.01, abs=0.3)


# Edge cases


@pytest.mark.parametrize("k", [2, 26])
def test_one_row_and_classes_that_do_not_occur(k):
    proba, prior = np.full((1, k), 1 / k), np.full(k, 1 / k)
    y = np.array([k - 1])
    assert errors.mean_absolute_error(proba, y) == pytest.approx([2 * (k - 1) / k**2])
    assert errors.rmse(proba, y) == pytest.approx(math.sqrt(k - 1) / k)
    assert errors.relative_absolute_error(proba, y, prior=prior) == pytest.approx(100)
    assert errors.root_relative_squared_error(proba, y, prior=prior) == pytest.approx(100)
    assert errors.kononenko_bratko_relative(proba, y, prior=prior) == 0
    assert errors.kononenko_bratko_total(proba, y, prior=prior) == 0


def test_what_a_certain_prior_leaves_undefined_has_a_reason():
    proba, y, certain = np.array([[0.7, 0.3], [0.2, 0.8]]), np.array([0, 0]), np.array([1.0, 0.0])
    for measure in (errors.relative_absolute_error, errors.root_relative_squared_error):
        value = score(measure, proba, y, prior=certain)
        assert isinstance(value, Undefined)
        assert value.reason == "the prior is certain and never wrong"
        # If it is wrong in a row of weight 0, that does not count.
        weights = np.array([1.0, 0.0])
        assert math.isnan(score(measure, proba, np.array([0, 1]), prior=certain, weights=weights))
        assert score(measure, proba, np.array([0, 1]), prior=certain) > 0
    value = score(errors.kononenko_bratko_relative, proba, y, prior=certain)
    assert value.reason == "the prior is certain and has no entropy"


def test_rows_need_not_sum_to_one_and_are_not_renormalised():
    proba, y = np.array([[0.6, 0.6], [0.1, 0.1]]), np.array([0, 0])
    assert errors.mean_absolute_error(proba, y) == pytest.approx([0.5, 0.5])
    assert errors.rmse(proba, y) ** 2 == pytest.approx(brier_score(proba, y).mean() / 2)
    assert errors.class_complexity(proba, y) == pytest.approx(log_loss(proba, y, base=2))
