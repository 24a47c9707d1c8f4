"""Fitted learners, models and studies have a repr of one line."""

from __future__ import annotations

import re

import numpy as np
import pytest

from simstudy import Component, Generative, Model, Sample, load_study
from simstudy.components.registry import LEARNERS
from simstudy.learners import AODE, C45, TAN, BoostedC45, CaMML, MMLGraph, MMLTree, OneR, Prior
from simstudy.sklearn import TANClassifier
from simstudy.sources.families.aode import AODEFamily
from simstudy.sources.families.tan import TANFamily
from simstudy.texts import summary

OTHERS = ["sklearn.linear_model:LogisticRegression", "pgmpy:HillClimbSearch"]
NAMES = [name for name in LEARNERS.names() if LEARNERS.is_own(name) and name != "truth"] + OTHERS


@pytest.fixture(scope="module")
def sample() -> Sample:
    model = TANFamily(variables=(7, 7), values=(2, 4)).draw(np.random.default_rng(2))
    return model.sample(500, np.random.default_rng(1))


@pytest.mark.parametrize("name", NAMES)
def test_fitted_learner_is_described_on_one_line(name: str, sample: Sample) -> None:
    fitted = LEARNERS.get(name)().fit(sample, np.random.default_rng(3))
    text = repr(fitted)
    assert text.startswith(f"{type(fitted).__name__}(6 attributes, {sample.classes} classes")
    assert text.endswith(")")
    assert len(text) <= 100
    assert "\n" not in text
    assert " object at " not in text


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore")
def test_one_attribute_and_no_rows_have_a_repr(name: str) -> None:
    nothing = Sample(np.zeros((0, 2), dtype=int), (2, 3))
    fitted = LEARNERS.get(name)().fit(nothing, np.random.default_rng(3))
    assert "(1 attribute, 3 classes" in repr(fitted)


def test_reprs_say_what_was_learnt(sample: Sample) -> None:
    tree = TAN().fit(sample)
    arcs = ", ".join(f"x{parent}→x{i}" for i, parent in enumerate(tree.tree) if parent is not None)
    assert f"tree: {arcs})" in repr(tree)
    c45 = C45().fit(sample)
    leaves = int((c45.tree.attribute < 0).sum())
    assert f"{leaves} leaves, {len(c45.tree)} nodes" in repr(c45)
    boosted = BoostedC45(rounds=3).fit(sample)
    assert f"{len(boosted.trees)} trees" in repr(boosted)
    assert f"tests x{OneR().fit(sample).attribute}" in repr(OneR().fit(sample))
    frequencies = ", ".join(f"{p:.3g}" for p in sample.class_frequencies(0.5))
    assert frequencies in repr(Prior().fit(sample))
    assert "rare values" in repr(AODE(min_frequency=300).fit(sample))
    for learner in (MMLTree(), MMLGraph()):
        graph = learner.fit(sample)
        assert f"{graph.leaves} leaves, " in repr(graph)
        assert f"{graph.message_length:.1f} nits" in repr(graph)


def test_repr_of_camml_has_the_network_and_its_posterior(sample: Sample) -> None:
    fitted = CaMML().fit(sample)
    assert f"posterior {fitted.mml_classes[0].posterior:.2g}; " in repr(fitted)
    first = next(f"x{parents[0]}→x{v}" for v, parents in enumerate(fitted.dag) if parents)
    assert first in repr(fitted).replace("y", f"x{len(fitted.dag) - 1}")
    assert f"{fitted.best_cost:.1f} nits" in repr(CaMML(select="map").fit(sample))
    assert re.search(r"average of \d+ networks", repr(CaMML(select="sec_average").fit(sample)))
    assert "average over all" in repr(CaMML(select="average").fit(sample))


def test_own_generative_model_has_a_repr() -> None:
    class Coin(Generative):
        cards = (2, 2)

        def log_joint(self, codes: np.ndarray) -> np.ndarray:
            return np.zeros((len(codes), 2))

    assert repr(Coin()) == "Coin(1 attribute, 2 classes)"


def test_models_have_a_repr() -> None:
    half = np.full(2, 0.5)
    parents = ((1,), ())
    model = Model((2, 2), [Component(1.0, parents, (np.tile(half, (2, 1)), half))])
    assert repr(model) == "Model(1 attribute, 2 classes; y→x0)"
    assert repr(model.components[0]) == "Component(weight 1; y→x0)"
    mixed = AODEFamily(variables=(4, 4)).draw(np.random.default_rng(1))
    assert f"{len(mixed.components)} networks" in repr(mixed)


def test_study_has_a_repr() -> None:
    text = repr(load_study("studies/tan.toml"))
    assert text.startswith("Study('tan': 40 models of tan; 50, 500, 5000 training rows; NB, TAN")


def test_estimators_keep_the_repr_of_scikit_learn() -> None:
    assert repr(TANClassifier(alpha=2.0)) == "TANClassifier(alpha=2.0)"


def test_long_facts_are_cut_between_words() -> None:
    text = summary(object(), "first", ", ".join(f"x{i}→y" for i in range(100)))
    assert len(text) <= 100
    assert re.fullmatch(r"object\(first; (x\d+→y, )+…\)", text)
