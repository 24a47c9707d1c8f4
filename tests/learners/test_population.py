"""What learners make of the whole population: every configuration, weighted by its probability."""

from itertools import product

import numpy as np
import pytest

from simstudy.data.sample import Sample
from simstudy.learners.base import Learner
from simstudy.learners.baselines import Prior
from simstudy.learners.bayes.aode import AODE
from simstudy.learners.bayes.naive_bayes import NaiveBayes
from simstudy.learners.bayes.tan import TAN
from simstudy.networks.model import Model
from simstudy.sources.families.aode import AODEFamily
from simstudy.sources.families.base import Family
from simstudy.sources.families.naive_bayes import NaiveBayesFamily
from simstudy.sources.families.tan import TANFamily


def configurations(cards: tuple[int, ...]) -> np.ndarray:
    return np.array(list(product(*map(range, cards))))


def population(model: Model, scale: float = 1e9) -> Sample:
    return Sample(configurations(model.cards), model.cards, scale * model.joint().ravel())


def draw(family: type[Family], seed: int) -> Model:
    """A model without very rare values, which smoothing would still move at a billion rows."""
    return family(variables=(4, 6), values=(2, 3), concentration=3.0).draw(
        np.random.default_rng(seed)
    )


def furthest_from_the_truth(learner: Learner, model: Model) -> float:
    codes = configurations(model.cards[:-1])
    proba = learner.fit(population(model)).predict_proba(codes)
    return float(np.abs(proba - model.posterior(codes)).max())


@pytest.mark.parametrize("seed", range(5))
def test_naive_bayes_learns_naive_bayes_models(seed: int) -> None:
    assert furthest_from_the_truth(NaiveBayes(), draw(NaiveBayesFamily, seed)) < 1e-6


@pytest.mark.parametrize("search", ["cmi", "likelihood"])
@pytest.mark.parametrize("seed", range(5))
def test_tan_learns_tan_models(seed: int, search: str) -> None:
    learner = TAN(search=search, alpha=0.01)  # type: ignore[arg-type]
    assert furthest_from_the_truth(learner, draw(TANFamily, seed)) < 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_tan_and_aode_learn_naive_bayes_models(seed: int) -> None:
    model = draw(NaiveBayesFamily, seed)
    for learner in (TAN(alpha=0.01), TAN(search="superparent", alpha=0.01), AODE(m=0.01)):
        assert furthest_from_the_truth(learner, model) < 1e-6


def test_the_uninformed_learner_learns_the_prior() -> None:
    model = draw(TANFamily, 1)
    proba = Prior().fit(population(model)).predict_proba(np.zeros((1, len(model.cards) - 1), int))
    np.testing.assert_allclose(proba[0], model.class_prior(), rtol=1e-6)


@pytest.mark.parametrize("family", [NaiveBayesFamily, TANFamily, AODEFamily])
@pytest.mark.parametrize("scale", [1.0, 1e9])
def test_every_learner_copes_with_a_population(family: type[Family], scale: float) -> None:
    model = family(variables=(4, 5), values=(2, 3)).draw(np.random.default_rng(3))
    codes = configurations(model.cards[:-1])
    learners = [NaiveBayes(), AODE(), AODE(m=1), TAN(), TAN(search="superparent"), Prior()]
    for learner in [*learners, TAN(search="likelihood")]:
        proba = learner.fit(population(model, scale)).predict_proba(codes)
        assert np.isfinite(proba).all()
        np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-12)
