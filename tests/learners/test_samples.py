"""Rows to predict may be a Sample: that of every learner, if its schema is that of the training."""

# ruff: noqa: PD011 (the values are those of samples)

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from simstudy import learners, read_data
from simstudy.components.registry import LEARNERS
from simstudy.data.sample import Sample
from simstudy.data.schema import Schema, Variable
from simstudy.learners.bridges.scikit import scikit_learner

NAMES = [
    # "truth" predicts a model, not rows
    *(name for name in LEARNERS.names() if LEARNERS.is_own(name) and name != "truth"),
    "pgmpy:HillClimbSearch",
    "pgmpy:GES",
    "pgmpy:PC",
    "pgmpy:TreeSearch",
    "sklearn.naive_bayes:GaussianNB",
    "sklearn.tree:DecisionTreeClassifier",
    "sklearn.linear_model:LogisticRegression",
]


def frame(values: str = "abc") -> pd.DataFrame:
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 3, (60, 3))
    label = np.where(rng.random(60) < 0.7, codes[:, 0] % 2, rng.integers(0, 2, 60))
    letters = np.array([*values])
    table = {f"v{place}": letters[codes[:, place]] for place in range(3)}
    return pd.DataFrame({**table, "class": np.array(["no", "yes"])[label]})


@pytest.mark.parametrize("name", NAMES)
def test_every_learner_predicts_a_sample_of_the_same_schema_and_no_other(name):
    sample = read_data(frame())
    fitted = LEARNERS.get(name)().fit(sample, np.random.default_rng(0))
    test = sample.take(np.arange(0, 60, 7))
    proba = fitted.predict_proba(test)
    np.testing.assert_array_equal(proba, fitted.predict_proba(test.attributes))
    np.testing.assert_array_equal(proba, fitted.predict_proba(Sample(test.codes, test.cards)))
    other = read_data(frame("abd"))
    assert other.cards == sample.cards
    with pytest.raises(ValueError, match="the value 'd' of 'v0' is not known"):
        fitted.predict_proba(other)


@pytest.mark.parametrize(
    ("learner", "plain"),
    [
        (learners.NaiveBayes(), False),
        (learners.NaiveBayes(numeric="kernel"), False),
        (learners.NaiveBayes(numeric="discretize"), False),
        (learners.C45(), False),
        (learners.BoostedC45(), False),
        (learners.OneR(), False),
        (learners.DecisionStump(), False),
        (learners.Prior(), False),
        (scikit_learner("sklearn.naive_bayes:GaussianNB")(), False),
        (learners.AODE(), True),
        (learners.LBR(), True),
    ],
    ids=repr,
)
def test_numbers_and_gaps_are_predicted_from_a_sample_as_from_its_values(learner, plain):
    table = frame().mask(np.random.default_rng(4).random((60, 4)) < [0.2, 0.2, 0.2, 0])
    if not plain:
        table.insert(0, "x", np.random.default_rng(5).normal(size=60).round(2))
    sample = read_data(table)
    fitted = learner.fit(sample, np.random.default_rng(0))
    proba = fitted.predict_proba(sample)
    np.testing.assert_array_equal(proba, fitted.predict_proba(sample.values[:, :-1]))
    renamed = read_data(table.rename(columns={"v0": "w0"}))
    with pytest.raises(ValueError, match="they have 'w0' in place of 'v0'"):
        fitted.predict_proba(renamed)


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ([Variable("b", ("p", "q"))], "they have 1 variable, not 2"),
        ([Variable("b"), Variable("y", ("p", "q"))], "'b' in place of 'a'"),
        ([Variable("a"), Variable("y", ("p", "q"))], "'a' is numeric, not nominal"),
        ([Variable("a", ("u",)), Variable("y", ("p", "q"))], "the value 'v' of 'a' is not decl"),
        ([Variable("a", ("v", "u")), Variable("y", ("p", "q"))], "of 'a' are in another order"),
        ([Variable("a", ("u", "v")), Variable("y", ("p", "r"))], "the value 'r' of 'y' is not kn"),
    ],
)
def test_what_differs_is_named(variables, words):
    training = Schema((Variable("a", ("u", "v")), Variable("y", ("p", "q"))))
    with pytest.raises(ValueError, match=words):
        Schema(tuple(variables)).check(training)
    Schema(training.variables).check(training)
