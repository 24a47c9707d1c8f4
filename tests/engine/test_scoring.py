"""Priors, cutoffs and the check of a learner's probabilities."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simstudy import Sample
from simstudy.engine.evaluation import Evaluation, Trial
from simstudy.engine.scoring import (
    InvalidProbabilitiesError,
    check_probabilities,
    class_prior,
)
from simstudy.experiments.base import ScoreColumn
from simstudy.learners.baselines import Prior
from simstudy.measures.base import clip
from simstudy.sources.families.tan import TANFamily
from tests.engine.scorers import scorer

MODEL = TANFamily(variables=(4, 4), values=(3, 3)).draw(np.random.default_rng(5))
TRAIN = Sample([[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 2]], MODEL.cards)
TEST = Sample([[0, 0, 0, 1], [0, 0, 0, 2]], MODEL.cards)


def scorer_of(measures, test=TEST, cutoff="mml", base=math.e, model=MODEL, reward="mean"):
    """A scorer of predictions for the rows of a sample."""
    columns = [ScoreColumn(name, name, "sampled") for name in measures]
    judged = Evaluation(test.attributes, {"sampled": Trial(np.arange(len(test)), test.target)})
    return scorer(columns, model, judged, cutoff=cutoff, base=base, reward=reward)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        # (n_i + ½)/(n + k/2): counts 2, 0, 1 of 3 rows and 0, 1, 1 of 2 rows, k = 3
        ("train", [2.5 / 4.5, 0.5 / 4.5, 1.5 / 4.5]),
        ("test", [0.5 / 3.5, 1.5 / 3.5, 1.5 / 3.5]),
        ("uniform", [1 / 3, 1 / 3, 1 / 3]),
        ("true", MODEL.joint().sum(axis=(0, 1, 2))),
        ((0.1, 0.45, 0.45), [0.1, 0.45, 0.45]),
    ],
)
def test_the_prior_is_the_one_asked_for(kind, expected):
    np.testing.assert_allclose(
        class_prior(kind, TRAIN, Trial(np.arange(2), TEST.target), MODEL), expected, rtol=1e-12
    )


def test_a_given_prior_of_another_length_is_refused():
    with pytest.raises(ValueError, match="the prior has 2 classes, the model 3"):
        class_prior((0.5, 0.5), TRAIN, Trial(np.arange(2), TEST.target), MODEL)


def test_the_cutoffs_are_those_of_the_papers_and_do_not_renormalise():
    proba = np.array([[0.0, 0.5, 0.5], [1.0, 0.0, 0.0]])
    # n = 50, k = 3: ½/51.5 and 50.5/51.5 (2002); ½/51 and 50.5/51 (2001)
    low, high = 0.5 / 51.5, 50.5 / 51.5
    np.testing.assert_allclose(clip(proba, "mml", 50), [[low, 0.5, 0.5], [high, low, low]])
    low, high = 0.5 / 51, 50.5 / 51
    np.testing.assert_allclose(clip(proba, "2001", 50), [[low, 0.5, 0.5], [high, low, low]])
    assert clip(proba, "none", 50) is proba


def test_only_logarithmic_measures_see_clipped_probabilities():
    score = scorer_of(["log_loss", "brier_score"])
    certain = np.tile([0.0, 1.0, 0.0], (2, 1))
    log_loss, brier = score(certain, TRAIN)
    # n = 3, k = 3: the right row is clipped to 3.5/4.5, the wrong one's class to 0.5/4.5
    assert log_loss == pytest.approx(-(math.log(3.5 / 4.5) + math.log(0.5 / 4.5)) / 2, rel=1e-12)
    assert brier == pytest.approx((0 + 2) / 2, rel=1e-12)


def test_the_uninformed_learner_earns_nothing():
    rng = np.random.default_rng(3)
    train, test = MODEL.sample(50, rng), MODEL.sample(1000, rng)
    proba = Prior(alpha=0.5).fit(train).predict_proba(test.attributes)
    score = scorer_of(["information_reward"], test)
    assert score(proba, train)[0] == pytest.approx(0, abs=1e-15)


def test_the_base_divides_the_reward_by_its_logarithm():
    proba = MODEL.posterior(TEST.attributes)
    nats = scorer_of(["information_reward"])(proba, TRAIN)[0]
    bits = scorer_of(["information_reward"], base=2.0)(proba, TRAIN)[0]
    assert bits == pytest.approx(nats / math.log(2), rel=1e-12)


def test_the_sum_over_classes_applies_to_the_information_reward_and_what_is_made_of_it():
    of_reward = ["information_reward", "regret", "representation", "estimation"]
    others = ["information_reward_2002", "good_reward", "kononenko_bratko", "log_loss", "accuracy"]
    test = MODEL.sample(50, np.random.default_rng(2))
    proba = Prior().fit(TRAIN).predict_proba(test.attributes) * 0.5
    proba += 0.5 * MODEL.posterior(test.attributes)
    mean, summed = (
        scorer_of([*of_reward, *others], test, reward=reward)(proba, TRAIN, proba[::-1])
        for reward in ("mean", "sum")
    )
    assert summed[:4] == pytest.approx([3 * value for value in mean[:4]], rel=1e-9, abs=1e-12)
    assert summed[4:] == mean[4:]


def test_the_truth_has_no_divergence_from_itself():
    test = MODEL.sample(200, np.random.default_rng(1))
    score = scorer_of(["kl_divergence"], test, "none")
    assert score(MODEL.posterior(test.attributes), TRAIN)[0] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("proba", "said"),
    [
        ([[0.5, 0.5]], r"of shape \(1, 2\), not \(2, 2\)"),
        ([[0.5, 0.5], [math.nan, 1]], "is not a number, in 1 of 2 rows"),
        ([[0.5, 0.5], [math.inf, 1]], "is not a number"),
        ([[0.5, 0.5], [-0.1, 1.1]], "is negative, in 1 of 2 rows"),
        ([[0.5, 0.6], [0.6, 0.5]], "does not sum to one, in 2 of 2 rows"),
        ([[0.5, 0.5 + 0j], [0.4, 0.6]], "complex numbers instead of probabilities"),
    ],
)
def test_what_is_no_distribution_is_refused(proba, said):
    with pytest.raises(InvalidProbabilitiesError, match=said):
        check_probabilities(np.array(proba), 2, 2)
