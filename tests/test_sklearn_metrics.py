"""The information reward as a metric and a scorer for scikit-learn."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from simstudy import measures
from simstudy.data.sample import Sample
from simstudy.engine.evaluation import Evaluation, Trial
from simstudy.experiments.base import ScoreColumn
from simstudy.measures import score
from simstudy.measures.base import clip
from simstudy.networks.model import Component, Model
from simstudy.sklearn import (
    C45Classifier,
    NaiveBayesClassifier,
    PriorClassifier,
    information_reward,
    information_reward_scorer,
)
from tests.engine.scorers import scorer as scorer_of

LABELS = np.array(["low", "mid", "top"])


@pytest.fixture
def codes() -> np.ndarray:
    """Rows of three attributes and a class that depends on two of them."""
    rng = np.random.default_rng(11)
    rows = rng.integers(0, (3, 2, 4, 3), size=(150, 4))
    rows[:, -1] = np.where(rng.random(150) < 0.6, (rows[:, 0] + rows[:, 1]) % 3, rows[:, -1])
    return rows


def predictions(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of the last hundred rows after the first fifty, and their labels."""
    X, y = codes[:, :-1], LABELS[codes[:, -1]]
    return NaiveBayesClassifier().fit(X[:50], y[:50]).predict_proba(X[50:]), y[50:]


def test_metric_is_the_measure(codes: np.ndarray) -> None:
    proba, y = predictions(codes)
    target, prior = codes[50:, -1], np.array([0.5, 0.2, 0.3])
    weights = np.arange(100.0)
    for options in ({}, {"base": 2.0}, {"reward": "sum"}):
        expected = score(measures.information_reward, proba, target, prior=prior, **options)
        assert information_reward(y, proba, prior=prior, **options) == expected
    expected = score(measures.information_reward, proba, target, prior=prior, weights=weights)
    assert information_reward(y, proba, prior=prior, sample_weight=weights) == expected
    hard = np.eye(3)[proba.argmax(axis=1)]
    for cutoff in ("mml", "2001"):
        clipped = clip(hard, cutoff, 50)
        expected = score(measures.information_reward, clipped, target, prior=prior)
        found = information_reward(y, hard, prior=prior, train_rows=50, cutoff=cutoff)
        assert found == expected
        assert math.isfinite(found)
    assert information_reward(y, hard) == -math.inf
    assert information_reward(y, hard, train_rows=50, cutoff="none") == -math.inf


def test_default_prior_is_the_smoothed_frequency_of_the_true_labels(codes: np.ndarray) -> None:
    proba, y = predictions(codes)
    counts = np.bincount(codes[50:, -1])
    prior = dict(zip(LABELS, (counts + 0.5) / (100 + 1.5), strict=True))
    expected = information_reward(y, proba, prior=prior)
    assert information_reward(y, proba) == pytest.approx(expected, rel=1e-12)
    assert information_reward(y, np.tile([*prior.values()], (100, 1))) == pytest.approx(0)
    assert information_reward(y, np.full((100, 3), 1 / 3), prior="uniform") == pytest.approx(0)


def test_columns_may_be_in_any_order(codes: np.ndarray) -> None:
    proba, y = predictions(codes)
    turned = information_reward(y, proba[:, [2, 0, 1]], labels=["top", "low", "mid"])
    assert turned == pytest.approx(information_reward(y, proba), rel=1e-12)
    frame = pd.DataFrame(proba, columns=LABELS)
    assert information_reward(pd.Series(y), frame, labels=frame.columns) == information_reward(
        y, proba
    )


def test_label_that_is_absent_from_the_rows_keeps_its_column() -> None:
    proba = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3]])
    found = information_reward(["a", "b"], proba, labels=["a", "b", "c"])
    # prior (n_i + ½)/(n + k/2) with n = 2, k = 3
    prior = np.array([1.5, 1.5, 0.5]) / 3.5
    expected = score(measures.information_reward, proba, np.array([0, 1]), prior=prior)
    assert found == pytest.approx(expected, rel=1e-12)


def test_unknown_label_has_probability_zero() -> None:
    proba = np.array([[0.7, 0.3], [0.6, 0.4]])
    assert information_reward(["a", "z"], proba, labels=["a", "b"]) == -math.inf
    found = information_reward(["a", "z"], proba, labels=["a", "b"], prior="uniform", train_rows=8)
    wide = clip(np.array([[0.7, 0.3, 0.0], [0.6, 0.4, 0.0]]), "mml", 8)
    expected = score(measures.information_reward, wide, np.array([0, 2]), prior=np.full(3, 1 / 3))
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"prior": "train"}, "prior = 'train' is not allowed; .* a scorer also knows 'train'"),
        ({"prior": [0.5, 0.2, 0.3]}, "prior has shape .3,. for 2 labels"),
        ({"prior": {"a": 1.0}}, "prior has shape .1,. for 2 labels"),
        ({"prior": [0.4, 0.4]}, "above 0 everywhere and sum to 1"),
        ({"prior": [1.0, 0.0]}, "above 0 everywhere and sum to 1"),
        ({"cutoff": "mdl"}, "cutoff = 'mdl' is not allowed; it must be one of mml, 2001, none"),
        ({"train_rows": 0}, "train_rows = 0 is not allowed"),
        ({"labels": ["a", "b", "c"]}, "one column for each of the labels, which are a, b, c"),
        ({"labels": ["a", "a"]}, "one column for each of the labels"),
        ({"y_proba": [[0.5, 0.5], [0.9, 0.3]]}, "sum to 1"),
        ({"y_proba": [[0.5, 0.5]]}, "inconsistent numbers of samples"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, object], message: str) -> None:
    given = {"y_true": ["a", "b"], "y_proba": [[0.5, 0.5], [0.7, 0.3]]} | arguments
    with pytest.raises(ValueError, match=message):
        information_reward(**given)


def test_training_prior_scores_as_a_study_does(codes: np.ndarray) -> None:
    """The cell of a study with these training and test rows has the same reward."""
    X, y = codes[:, :-1], LABELS[codes[:, -1]]
    cards = (3, 2, 4, 3)
    train, test = Sample(codes[:50], cards), codes[50:]
    uniform = [np.full(card, 1 / card) for card in cards]
    model = Model(cards, [Component(1.0, ((),) * 4, tuple(uniform))])
    judged = Evaluation(test[:, :-1], {"sampled": Trial(np.arange(100), test[:, -1])})
    columns = [ScoreColumn("reward", "information_reward", "sampled")]
    for estimator in (NaiveBayesClassifier(), C45Classifier(categorical_features="all")):
        estimator.fit(X[:50], y[:50])
        study = scorer_of(columns, model, judged)
        (expected,) = study(estimator.predict_proba(X[50:]), train)
        found = information_reward_scorer(prior="train")(estimator, X[50:], y[50:])
        assert found == pytest.approx(expected, rel=1e-12)


def test_prior_classifier_earns_nothing_against_the_training_prior(codes: np.ndarray) -> None:
    X, y = codes[:, :-1], LABELS[codes[:, -1]]
    scoring = information_reward_scorer(prior="train")
    np.testing.assert_allclose(cross_val_score(PriorClassifier(), X, y, scoring=scoring), 0)


def test_prior_moves_all_classifiers_alike(codes: np.ndarray) -> None:
    X, y = codes[:, :-1], LABELS[codes[:, -1]]
    scoring = {
        "test": information_reward_scorer(),
        "uniform": information_reward_scorer(prior="uniform"),
        "given": information_reward_scorer(prior={"low": 0.2, "mid": 0.2, "top": 0.6}),
    }
    one, other = (
        cross_validate(classifier, X, y, scoring=scoring)
        for classifier in (NaiveBayesClassifier(), make_pipeline(LogisticRegression()))
    )
    gaps = [one[f"test_{name}"] - other[f"test_{name}"] for name in scoring]
    np.testing.assert_allclose(gaps[1:], [gaps[0]] * 2)


@pytest.mark.parametrize("classes", [2, 3])
def test_scorer_works_in_a_grid_search(codes: np.ndarray, classes: int) -> None:
    X, y = codes[:, :-1], LABELS[codes[:, -1] % classes]
    scoring = information_reward_scorer(prior="train")
    pipeline = make_pipeline(OrdinalEncoder(dtype=int), NaiveBayesClassifier())
    grid = {"naivebayesclassifier__alpha": [0.01, 1.0, 1000.0]}
    search = GridSearchCV(pipeline, grid, scoring=scoring, cv=StratifiedKFold(3)).fit(X, y)
    assert search.best_params_ == {"naivebayesclassifier__alpha": 1.0}
    assert search.best_score_ > 0
    assert scoring(search, X, y) == scoring(search.best_estimator_, X, y)
    assert search.score(X, y) == scoring(search, X, y)


def test_classes_absent_from_a_training_fold_are_scored() -> None:
    # Sorted labels without shuffling: each fold tests the class that training lacks.
    X, y = np.zeros((30, 1), dtype=int), np.repeat(["a", "b", "c"], 10)
    scoring = information_reward_scorer(prior="train")
    found = cross_val_score(NaiveBayesClassifier(), X, y, scoring=scoring, cv=KFold(3))
    # n = 20, k = 3: the unknown class is clipped to p = ½/21.5, its prior; the others have q = ½
    # instead of p = 10.5/21.5.
    expected = 2 * math.log(0.5 / (11 / 21.5)) / 3
    np.testing.assert_allclose(found, expected)
    unclipped = information_reward_scorer(cutoff="none")
    np.testing.assert_array_equal(
        cross_val_score(NaiveBayesClassifier(), X, y, scoring=unclipped, cv=KFold(3)), -math.inf
    )


def test_no_classifier_is_scored_minus_infinity_by_default() -> None:
    X, y = load_iris(return_X_y=True)
    scoring = information_reward_scorer()
    for classifier in (RandomForestClassifier(10, random_state=0), GaussianNB()):
        assert np.isfinite(cross_val_score(classifier, X, y, scoring=scoring)).all()
    forest = RandomForestClassifier(10, random_state=0).fit(X[::2], y[::2])
    proba = forest.predict_proba(X[1::2])
    assert (proba == 0).any()
    # a forest does not say how many training rows it had: the cutoff is that of the rows scored
    assert scoring(forest, X[1::2], y[1::2]) == information_reward(y[1::2], proba, train_rows=75)
    known = GaussianNB().fit(X, y)
    expected = information_reward(
        y[:70], known.predict_proba(X[:70]), labels=[0, 1, 2], train_rows=150
    )
    assert scoring(known, X[:70], y[:70]) == expected


def test_training_prior_needs_class_counts(codes: np.ndarray) -> None:
    X, y = codes[:, :-1], LABELS[codes[:, -1]]
    scoring = information_reward_scorer(prior="train")
    nb = CategoricalNB().fit(X, y)
    forest = make_pipeline(RandomForestClassifier(5, random_state=1)).fit(X, y)
    with pytest.raises(ValueError, match="class_count_, which RandomForestClassifier has not"):
        scoring(forest, X, y)
    counts = dict(zip(*np.unique(y, return_counts=True), strict=True))
    prior = {label: (n + 0.5) / (len(y) + 1.5) for label, n in counts.items()}
    known = information_reward_scorer(prior=prior, train_rows=len(y))
    assert known(nb, X, y) == pytest.approx(scoring(nb, X, y))
    assert math.isfinite(known(forest, X, y))


def test_scorer_takes_weights_and_survives_pickling(codes: np.ndarray) -> None:
    X, y = codes[:, :-1], LABELS[codes[:, -1]]
    scorer = pickle.loads(pickle.dumps(information_reward_scorer(prior="train", base=2)))
    assert scorer == information_reward_scorer(prior="train", base=2)
    fitted = NaiveBayesClassifier().fit(X, y, sample_weight=np.full(len(y), 2.0))
    np.testing.assert_array_equal(fitted.class_count_, 2.0 * np.bincount(codes[:, -1]))
    twice = np.repeat(np.arange(len(y)), 1 + np.arange(len(y)) % 2)
    weighted = scorer(fitted, X, y, sample_weight=1.0 + np.arange(len(y)) % 2)
    assert weighted == pytest.approx(scorer(fitted, X[twice], y[twice]))
