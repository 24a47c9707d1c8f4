"""Another class prior leaves the attributes given the class as they are."""

from pathlib import Path

import numpy as np
import pytest

from simstudy.networks import Component, Model, read_bif
from simstudy.networks.priors import rooted_at, with_marginal
from simstudy.sources.families.aode import AODEFamily
from simstudy.sources.families.decision_tree import DecisionTreeFamily
from simstudy.sources.families.latent_class import LatentClassFamily
from simstudy.sources.families.naive_bayes import NaiveBayesFamily
from simstudy.sources.families.noisy_or import NoisyOrFamily
from simstudy.sources.families.random_dag import RandomDAGFamily

ASIA = Path(__file__).parents[1] / "golden" / "networks" / "asia.bif"
FAMILIES = [
    NaiveBayesFamily,
    AODEFamily,
    RandomDAGFamily,
    LatentClassFamily,
    NoisyOrFamily,
    DecisionTreeFamily,
]


def expected(model: Model, prior: np.ndarray) -> np.ndarray:
    """P(attributes | class) · prior from the joint distribution."""
    joint = model.joint()
    own = joint.sum(axis=tuple(range(joint.ndim - 1)))
    return joint * (prior / own)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", range(3))
def test_attributes_given_the_class_stay(family: type, seed: int) -> None:
    model = family(variables=(4, 5), values=(2, 3)).draw(np.random.default_rng(seed))
    prior = np.random.default_rng(seed).dirichlet(np.ones(model.cards[-1]))
    changed = with_marginal(model, len(model.cards) - 1, prior)
    np.testing.assert_allclose(changed.joint(), expected(model, prior), atol=1e-14)
    np.testing.assert_allclose(changed.class_prior(), prior, atol=1e-15)
    assert changed.names == model.names
    rows = changed.sample(2000, np.random.default_rng(1))
    shares = np.bincount(rows.target, minlength=len(prior)) / 2000
    assert np.abs(shares - prior).max() < 0.06


@pytest.mark.parametrize("target", ["lung", "dysp", "either", "smoke"])
def test_any_variable_of_a_network_with_impossible_configurations(target: str) -> None:
    model = read_bif(ASIA).model(target)
    prior = np.array([0.3, 0.7])
    changed = with_marginal(model, len(model.cards) - 1, prior)
    np.testing.assert_allclose(changed.joint(), expected(model, prior), atol=1e-15)
    assert with_marginal(model, len(model.cards) - 1, model.class_prior()) is model


def test_a_root_is_the_same_distribution() -> None:
    model = RandomDAGFamily(variables=(6, 6), values=(2, 3)).draw(np.random.default_rng(4))
    assert model.components[0].parents[-1]
    component = rooted_at(model.components[0], len(model.cards) - 1, model.cards)
    assert component.parents[-1] == ()
    other = Model(model.cards, [component])
    np.testing.assert_allclose(other.joint(), model.joint(), atol=1e-15)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_prior_equal_to_the_models_own_changes_nothing(family: type) -> None:
    plain = family(variables=(5, 5), values=(2, 4), classes=3)
    model = plain.draw(np.random.default_rng(8))
    own = tuple(model.class_prior().tolist())
    again = family(variables=(5, 5), values=(2, 4), classes=3, class_prior=own)
    assert again.draw(np.random.default_rng(8)).to_json() == model.to_json()


def test_what_cannot_be_is_refused() -> None:
    cpts = (np.array([[0.5, 0.5]] * 2), np.array([1.0, 0.0]))
    model = Model((2, 2), [Component(1.0, ((1,), ()), cpts)])
    with pytest.raises(ValueError, match="a value that 'y' never has"):
        with_marginal(model, len(model.cards) - 1, np.array([0.5, 0.5]))
    with pytest.raises(ValueError, match="3 probabilities do not fit 'y', which has 2 values"):
        with_marginal(model, len(model.cards) - 1, np.full(3, 1 / 3))
    for prior, text in (
        ((0.5, 0.6), "must sum to 1"),
        ((0.5, -0.5, 1.0), "probabilities above 0"),
        ((0.2, 0.3, 0.5), "lists 3 probabilities, and models have 2 classes"),
    ):
        with pytest.raises(ValueError, match=text):
            NaiveBayesFamily(classes=2, class_prior=prior)
