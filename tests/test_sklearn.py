"""The learners as scikit-learn estimators."""

from __future__ import annotations

import doctest
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OrdinalEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

import simstudy.sklearn
from simstudy.data.preparation.prepare import Preparation
from simstudy.data.sample import Sample
from simstudy.data.schema import Schema
from simstudy.learners.base import Learner
from simstudy.learners.baselines import Prior
from simstudy.learners.bayes.aode import AODE
from simstudy.learners.bayes.hnb import HNB
from simstudy.learners.bayes.kdb import KDB
from simstudy.learners.bayes.lbr import LBR
from simstudy.learners.bayes.naive_bayes import NaiveBayes
from simstudy.learners.bayes.tan import TAN
from simstudy.learners.networks.camml.learner import CaMML
from simstudy.learners.rules.one_attribute import DecisionStump, OneR
from simstudy.learners.trees.c45.boosting import BoostedC45
from simstudy.learners.trees.c45.learner import C45
from simstudy.learners.trees.mml.graph import MMLGraph
from simstudy.learners.trees.mml.tree import MMLTree
from simstudy.learners.wrappers.cost_sensitive import CostSensitive
from simstudy.sklearn import (
    AODEClassifier,
    BoostedC45Classifier,
    C45Classifier,
    CaMMLClassifier,
    CategoricalClassifier,
    CostSensitiveClassifier,
    DecisionStumpClassifier,
    HNBClassifier,
    KDBClassifier,
    LBRClassifier,
    MMLGraphClassifier,
    MMLTreeClassifier,
    NaiveBayesClassifier,
    OneRClassifier,
    PriorClassifier,
    TANClassifier,
)

PAIRS = [
    (PriorClassifier(), Prior()),
    (NaiveBayesClassifier(), NaiveBayes()),
    (NaiveBayesClassifier(alpha=0.3), NaiveBayes(alpha=0.3)),
    (TANClassifier(), TAN()),
    (TANClassifier(alpha=1.0, search="superparent"), TAN(alpha=1.0, search="superparent")),
    (TANClassifier(search="likelihood"), TAN(search="likelihood")),
    (TANClassifier(tree=(None, 0, 1, 1)), TAN(tree=(None, 0, 1, 1))),
    (AODEClassifier(), AODE()),
    (AODEClassifier(m=2.0, min_frequency=3.0), AODE(m=2.0, min_frequency=3.0)),
    (CaMMLClassifier(), CaMML()),
    (KDBClassifier(k=2), KDB(2)),
    (DecisionStumpClassifier(), DecisionStump()),
    (OneRClassifier(), OneR()),
    (OneRClassifier(leaves="frequency"), OneR("frequency")),
    (CaMMLClassifier(select="average"), CaMML(select="average")),
    (CaMMLClassifier(arithmetic="program"), CaMML(arithmetic="program")),
    (HNBClassifier(), HNB()),
    (LBRClassifier(significance=0.1), LBR(0.1)),
    (MMLTreeClassifier(alpha=1.0), MMLTree(1.0)),
    (MMLGraphClassifier(alpha=1.0), MMLGraph(1.0)),
    (CostSensitiveClassifier("tan", {"alpha": 1.0}), CostSensitive("tan", {"alpha": 1.0})),
    (C45Classifier(categorical_features="all"), C45()),
    (
        C45Classifier(0.1, 3, prune=False, laplace=True, categorical_features="all"),
        C45(0.1, 3, prune=False, laplace=True),
    ),
    (BoostedC45Classifier(rounds=3, categorical_features="all"), BoostedC45(3)),
]
ESTIMATORS = [
    PriorClassifier(),
    NaiveBayesClassifier(),
    TANClassifier(),
    AODEClassifier(),
    CaMMLClassifier(),
    KDBClassifier(k=2),
    DecisionStumpClassifier(),
    OneRClassifier(leaves="frequency"),
    HNBClassifier(),
    LBRClassifier(),
    MMLTreeClassifier(),
    MMLGraphClassifier(),
    CostSensitiveClassifier(),
]
MIXED = [C45Classifier(), BoostedC45Classifier(rounds=3)]
CHECKED = (NaiveBayesClassifier, TANClassifier, C45Classifier)  # by default

CARDS = (3, 2, 4, 3)
CLASSES = 3

each_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)


@pytest.fixture
def codes() -> np.ndarray:
    """Random codes in which every value and class occurs, the target last."""
    rng = np.random.default_rng(7)
    cards = (*CARDS, CLASSES)
    every_value = np.arange(max(cards))[:, None] % cards
    return np.concatenate([every_value, rng.integers(cards, size=(80, len(cards)))])


@pytest.fixture
def table(codes: np.ndarray) -> tuple[pd.DataFrame, np.ndarray]:
    """The same codes as strings, integers, a pandas categorical and booleans."""
    frame = pd.DataFrame(
        {
            "colour": np.array(["blue", "green", "red"])[codes[:, 0]],
            "flag": codes[:, 1].astype(bool),
            "size": np.array([10, 20, 30, 40])[codes[:, 2]],
            "shape": pd.Categorical.from_codes(codes[:, 3], ["cube", "disc", "rod"]),
        }
    )
    return frame, np.array(["no", "perhaps", "yes"])[codes[:, -1]]


@pytest.fixture
def flowers() -> tuple[np.ndarray, np.ndarray]:
    """Iris in four bins a column."""
    X, y = load_iris(return_X_y=True)
    bins = KBinsDiscretizer(4, encode="ordinal", strategy="uniform")
    return bins.fit_transform(X).astype(int), y


def each_check() -> pytest.MarkDecorator:
    """scikit-learn's checks of all estimators; most are left to those who ask for long tests."""
    checks = parametrize_with_checks([*ESTIMATORS, *MIXED])
    names, cases = checks.args
    marked = []
    for estimator, check in cases:
        slow = type(estimator) not in CHECKED
        marked.append(pytest.param(estimator, check, marks=pytest.mark.slow if slow else ()))
    return pytest.mark.parametrize(names, marked, **checks.kwargs)


@each_check()
def test_scikit_learn_accepts_the_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("estimator", "learner"), PAIRS, ids=lambda p: repr(p))
def test_probabilities_are_those_of_the_learner(
    estimator: CategoricalClassifier, learner: Learner, codes: np.ndarray, table
):
    expected = learner.fit(Sample(codes, (*CARDS, CLASSES))).predict_proba(codes[:, :-1])
    X, y = table
    for columns, labels in ((codes[:, :-1], codes[:, -1]), (X, y), (X.to_numpy(), list(y))):
        fitted = clone(estimator).fit(columns, labels)
        np.testing.assert_array_equal(fitted.predict_proba(columns), expected)
        with np.errstate(divide="ignore"):
            np.testing.assert_array_equal(fitted.predict_log_proba(columns), np.log(expected))
        most_probable = fitted.classes_[expected.argmax(axis=1)]
        np.testing.assert_array_equal(fitted.predict(columns), most_probable)


def test_categories_have_no_parameter_for_numbers():
    assert {*NaiveBayesClassifier().get_params()} == {
        "alpha",
        "categories",
        "handle_unknown",
        "categorical_features",
        "missing",
    }


def test_what_was_learnt_can_be_read(table):
    X, y = table
    fitted = TANClassifier(tree=(None, 0, 0, 2)).fit(X, y)
    assert list(fitted.classes_) == ["no", "perhaps", "yes"]
    assert list(fitted.feature_names_in_) == ["colour", "flag", "size", "shape"]
    assert fitted.n_features_in_ == 4
    assert [list(categories) for categories in fitted.categories_] == [
        ["blue", "green", "red"],
        [False, True],
        [10, 20, 30, 40],
        ["cube", "disc", "rod"],
    ]
    assert fitted.fitted_.tree == (None, 0, 0, 2)


@pytest.mark.parametrize(
    ("estimator", "learner"),
    [pair for pair in PAIRS if "categorical_features" not in pair[0].get_params()],
    ids=lambda p: repr(p),
)
def test_declared_categories_count_though_training_lacks_them(estimator, learner, codes):
    rows = codes[(codes[:, 0] < 2) & (codes[:, -1] > 0)]
    # The class is always what the labels say, so only the attributes are declared.
    sample = Sample(rows - [0, 0, 0, 0, 1], (*CARDS, CLASSES - 1))
    expected = learner.fit(sample).predict_proba(codes[:, :-1])
    declared = clone(estimator).set_params(categories=[range(card) for card in CARDS])
    fitted = declared.fit(rows[:, :-1], rows[:, -1])
    np.testing.assert_array_equal(fitted.predict_proba(codes[:, :-1]), expected)


def test_training_value_outside_the_declared_categories_is_refused(table):
    X, y = table
    declared = NaiveBayesClassifier(categories=[["blue", "green"]])
    with pytest.raises(ValueError, match=r"column colour .* known: blue, green"):
        declared.fit(X[["colour"]], y)


@each_estimator
def test_columns_must_have_the_names_and_order_of_training(estimator, table):
    X, y = table
    fitted = clone(estimator).fit(X, y)
    with pytest.raises(ValueError, match="same order"):
        fitted.predict(X[X.columns[::-1]])
    with pytest.raises(ValueError, match="unseen at fit time"):
        fitted.predict(X.rename(columns={"flag": "other"}))


@each_estimator
def test_unseen_category_is_summed_over(estimator, table):
    X, y = table
    fitted = clone(estimator).fit(X, y)
    completions = X.iloc[:1].loc[[0] * 4].assign(size=[10, 20, 30, 40])
    columns = zip(fitted.categories_, completions.items(), strict=True)
    codes = np.column_stack([np.searchsorted(known, column) for known, (_, column) in columns])
    if hasattr(fitted.fitted_, "log_joint"):
        joint = np.exp(fitted.fitted_.log_joint(codes)).sum(axis=0)
    else:  # without a joint distribution the values count as equally probable
        joint = fitted.fitted_.predict_proba(codes).sum(axis=0)
    new = X.head(10).copy()
    new.loc[0, "size"] = 99
    probabilities = fitted.predict_proba(new)
    np.testing.assert_allclose(probabilities[0], joint / joint.sum(), rtol=1e-12)
    np.testing.assert_array_equal(probabilities[1:], fitted.predict_proba(X.head(10))[1:])


def test_unseen_category_drops_out_of_naive_bayes(table):
    X, y = table
    without = NaiveBayesClassifier().fit(X.drop(columns=["colour", "shape"]), y)
    new = X.assign(colour="mauve", shape="cone")
    np.testing.assert_allclose(
        NaiveBayesClassifier().fit(X, y).predict_proba(new),
        without.predict_proba(X.drop(columns=["colour", "shape"])),
        rtol=1e-12,
    )


def test_very_many_unseen_categories_still_sum_to_the_class_prior():
    # 12 columns of 4 values leave 4^12 possibilities, of which 1000 are summed over; the columns
    # are nearly independent of the class, so the sum must be near the class frequencies.
    rng = np.random.default_rng(1)
    X, y = rng.integers(4, size=(4000, 12)), rng.choice(2, p=[0.3, 0.7], size=4000)
    fitted = NaiveBayesClassifier().fit(X, y)
    probabilities = fitted.predict_proba(np.full((3, 12), 9))
    np.testing.assert_allclose(probabilities[0], np.bincount(y) / 4000, atol=0.01)
    np.testing.assert_array_equal(probabilities[1:], fitted.predict_proba(np.full((2, 12), 9)))


def test_unseen_category_averages_a_learner_without_joint_distribution():
    # Class 1 has the shares 0, 1/2 and 1 of the values 0, 1 and 2, which are not equally frequent.
    values = np.repeat([0, 1, 2], [2, 4, 14])[:, None]
    fitted = OneRClassifier(leaves="frequency").fit(values, [0] * 4 + [1] * 16)
    assert not hasattr(fitted.fitted_, "log_joint")
    np.testing.assert_allclose(fitted.predict_proba([[0], [1], [2]])[:, 1], [0, 0.5, 1])
    np.testing.assert_allclose(fitted.predict_proba([[99]]), [[0.5, 0.5]])


def test_unseen_category_is_refused_on_request(table):
    X, y = table
    fitted = NaiveBayesClassifier(handle_unknown="error").fit(X, y)
    with pytest.raises(ValueError, match=r"column size .* known: 10, 20, 30, 40"):
        fitted.predict(X.assign(size=99))


@each_estimator
@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_missing_values_are_refused_on_request(estimator, missing, table):
    (X, y), estimator = table, clone(estimator).set_params(missing="error")
    holed = X.astype(object)
    holed.loc[3, "shape"] = missing
    for bad, column in ((holed, "shape"), (holed.to_numpy(), "3")):
        with pytest.raises(ValueError, match=f"column {column} of X has missing values"):
            clone(estimator).fit(bad, y)
    with pytest.raises(ValueError, match="column shape of X has missing values"):
        clone(estimator).fit(X, y).predict(holed)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (NaiveBayesClassifier(alpha=0), "alpha = 0 is not allowed"),
        (TANClassifier(search="greedy"), "search = 'greedy' is not allowed"),
        (AODEClassifier(handle_unknown="skip"), "handle_unknown = 'skip' is not allowed"),
    ],
)
def test_bad_parameter_is_refused_when_fitting(estimator, message, table):
    with pytest.raises(ValueError, match=message):
        estimator.fit(*table)


@pytest.mark.parametrize("estimator", [e for e, _ in PAIRS], ids=repr)
def test_a_weight_is_a_number_of_repetitions(estimator, table):
    X, y = table
    weights = np.arange(len(X)) % 4  # zeros too
    weighted = clone(estimator).fit(X, y, sample_weight=weights)
    repeated = clone(estimator).fit(X.loc[X.index.repeat(weights)], y.repeat(weights))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-12)


def test_row_of_weight_zero_is_not_there(table):
    X, y = table
    weights = np.where(X["colour"] == "red", 0.0, 1.0)
    fitted = NaiveBayesClassifier().fit(X, y, weights)
    assert list(fitted.categories_[0]) == ["blue", "green"]


@each_estimator
def test_estimator_survives_pickle_and_clone(estimator, table):
    X, y = table
    fitted = clone(estimator).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
    assert clone(fitted).get_params() == estimator.get_params()


def test_global_output_setting_makes_no_difference(table):
    X, y = table
    expected = TANClassifier().fit(X, y).predict_proba(X)
    with sklearn.config_context(transform_output="pandas"):
        np.testing.assert_array_equal(TANClassifier().fit(X, y).predict_proba(X), expected)


def test_pipeline_discretises_and_selects():
    X, y = load_iris(return_X_y=True)
    bins = KBinsDiscretizer(4, encode="ordinal", strategy="uniform")
    pipeline = make_pipeline(bins, SelectKBest(chi2, k=3), AODEClassifier())
    assert pipeline.fit(X, y).score(X, y) > 0.9
    assert pipeline[-1].n_features_in_ == 3


def test_pipeline_after_an_encoder(table):
    X, y = table
    pipeline = make_pipeline(OrdinalEncoder(), TANClassifier())
    plain = TANClassifier().fit(X, y)
    np.testing.assert_array_equal(pipeline.fit(X, y).predict_proba(X), plain.predict_proba(X))


@pytest.mark.parametrize(
    "estimator", [NaiveBayesClassifier(), TANClassifier(), AODEClassifier()], ids=repr
)
def test_cross_validation_on_real_flowers(estimator, flowers):
    # The classes are balanced, so the prior alone scores 1/3.
    assert cross_val_score(estimator, *flowers, cv=5).mean() > 0.9
    assert cross_val_score(estimator, *flowers, cv=5, scoring="neg_log_loss").mean() > -0.5


def test_grid_search_over_alpha_and_search(flowers):
    grid = {"alpha": [0.01, 0.5, 2.0], "search": ["cmi", "likelihood", "superparent"]}
    found = GridSearchCV(TANClassifier(), grid, scoring="neg_log_loss", cv=3).fit(*flowers)
    assert np.isfinite(found.cv_results_["mean_test_score"]).all()
    assert len(found.best_estimator_.fitted_.tree) == 4


@pytest.fixture
def mixed() -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers and categories, some of both missing; the class goes by the two columns together."""
    rng = np.random.default_rng(3)
    width, kind = rng.normal(size=200), rng.choice(["oak", "elm", "ash"], size=200)
    y = np.where((width > 0.3) ^ (kind == "elm"), "high", "low")
    X = pd.DataFrame({"kind": kind, "width": width, "count": rng.integers(5, size=200)})
    X["kind"] = X["kind"].astype(object)
    X.loc[::17, "width"] = np.nan
    X.loc[::23, "kind"] = None
    return X, y


def test_c45_takes_numbers_and_missing_values(mixed):
    X, y = mixed
    fitted = C45Classifier().fit(X, y)
    assert fitted.categories_ == [["ash", "elm", "oak"], None, None]
    tree = fitted.fitted_.tree
    assert tree.attribute[0] in (0, 1)
    assert abs(tree.threshold[tree.attribute == 1] - 0.3).max() < 0.1
    assert fitted.score(X, y) > 0.93
    known = X.notna().all(axis=1)
    assert fitted.score(X[known], y[known]) > 0.97
    values = np.column_stack([X["kind"].map({"ash": 0, "elm": 1, "oak": 2}), X[["width", "count"]]])
    rows = np.column_stack([values.astype(float), y == "low"])
    sample = Sample.of(rows, Schema.plain((3, 0, 0, 2)))
    expected = C45().fit(sample).predict_proba(sample)
    np.testing.assert_array_equal(fitted.predict_proba(X), expected)
    np.testing.assert_array_equal(
        C45Classifier().fit(X.to_numpy(), y).predict_proba(X.to_numpy()), expected
    )


def test_columns_of_categories_can_be_named(mixed):
    X, y = mixed
    fitted = C45Classifier(categorical_features=["kind", 2]).fit(X, y)
    assert fitted.categories_ == [["ash", "elm", "oak"], None, [0, 1, 2, 3, 4]]
    declared = C45Classifier(categories=[["elm", "oak", "yew", "ash"]]).fit(X, y)
    assert declared.categories_[0] == ["elm", "oak", "yew", "ash"]
    with pytest.raises(ValueError, match=r"categories has 2 lists; X has 1 "):
        C45Classifier(categories=[["elm"], [1]]).fit(X, y)
    with pytest.raises(ValueError, match="column kind of X"):
        C45Classifier(categorical_features=[]).fit(X, y)
    with pytest.raises(ValueError, match="categorical_features = 'some' is not allowed"):
        C45Classifier(categorical_features="some").fit(X, y)


def test_lists_keep_numbers_apart_from_text():
    X = [["u", 0.0], ["v", 3.0], ["u", 5], ["v", None]] * 10
    fitted = C45Classifier().fit(X, [0, 1, 1, 0] * 10)
    assert fitted.categories_ == [["u", "v"], None]
    codes = C45Classifier(categorical_features="all").fit([["u", 0], ["u", 5]] * 9, [0, 1] * 9)
    assert codes.predict([["u", 0], ["u", 5]]).tolist() == [0, 1]


@pytest.mark.parametrize("dtype", [object, "string", "category"])
def test_a_column_without_any_value_is_no_trouble(dtype):
    X = pd.DataFrame({"s": ["u", "v"] * 20, "m": pd.Series([None] * 40, dtype=dtype)})
    for columns in (["s", "m"], ["m", "s"], ["m"]):
        fitted = C45Classifier().fit(X[columns], [0, 1] * 20)
        assert fitted.categories_[columns.index("m")] == []
        later = X[columns].head(2).assign(m="red")
        np.testing.assert_array_equal(fitted.predict(later), [0, 1] if "s" in columns else [0, 0])


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"categories": "some"}, "categories = 'some' is not allowed"),
        ({"categories": None}, "categories = None is not allowed"),
        ({"categories": [["a", "a"]]}, "it must be a list of distinct"),
        ({"categories": [{"a", "b"}]}, "it must be a list of distinct"),
        ({"categories": [["a", None]]}, "non-missing"),
        ({"categorical_features": ["height"]}, "has 'height', which is not a column of X"),
        ({"categorical_features": [3]}, "has 3, which is not a column of X"),
        ({"categorical_features": None}, "categorical_features = None is not allowed"),
    ],
)
def test_what_is_said_of_columns_is_checked(parameters, said, mixed):
    with pytest.raises(ValueError, match=said):
        C45Classifier(**parameters).fit(*mixed)


def test_times_are_no_numbers(mixed):
    X, y = mixed
    fitted = C45Classifier().fit(X, y)
    times = pd.Series(pd.date_range("2020-01-01", periods=200), index=X.index)
    with pytest.raises(ValueError, match="column width of X"):
        fitted.predict(X.assign(width=times))


@pytest.mark.parametrize("estimator", MIXED, ids=repr)
def test_unknown_category_counts_as_missing_for_c45(estimator, mixed):
    X, y = mixed
    fitted = clone(estimator).fit(X, y)
    new, holed = X.head(5).assign(kind="yew"), X.head(5).assign(kind=None)
    np.testing.assert_array_equal(fitted.predict_proba(new), fitted.predict_proba(holed))
    strict = clone(estimator).set_params(handle_unknown="error").fit(X, y)
    np.testing.assert_array_equal(strict.predict_proba(holed), fitted.predict_proba(holed))
    with pytest.raises(ValueError, match=r"column kind .* known: ash, elm, oak"):
        strict.predict(new)


def test_example_in_the_documentation_is_true():
    assert doctest.testmod(simstudy.sklearn) == (0, 9)


def test_costs_are_those_of_the_sorted_classes():
    rng, matrix = np.random.default_rng(2), [[0, 1], [5, 0]]
    codes = rng.integers(0, 3, (200, 3))
    y = (codes.sum(axis=1) + rng.integers(0, 3, 200) > 4).astype(int)
    estimator = CostSensitiveClassifier("aode", matrix=matrix)
    found = estimator.fit(codes, np.array(["no", "yes"])[y]).predict_proba(codes)
    sample = Sample(np.column_stack([codes, y]), (3, 3, 3, 2))
    expected = CostSensitive("aode", matrix=matrix).fit(sample).predict_proba(codes)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    plain = CostSensitiveClassifier("aode").fit(codes, y).predict_proba(codes)
    assert (found[:, 1] >= plain[:, 1]).all()


def test_fractions_are_cut_as_in_a_study_with_a_warning():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match="columns 0, 1, 2, 3 of X hold fractions or more"):
        scores = cross_val_score(AODEClassifier(), X, y)
    assert scores.mean() > 0.9
    with pytest.warns(UserWarning, match="hold fractions"):
        found = AODEClassifier().fit(X, y)
    sample = Sample.of(np.column_stack([X, y]), Schema.plain([0, 0, 0, 0, 3]))
    prepared = Preparation("mdl").fit(sample)
    expected = AODE().fit(prepared.train).predict_proba(prepared.train)
    np.testing.assert_allclose(found.predict_proba(X), expected)
    np.testing.assert_array_equal(found.predict_proba(X.tolist()), found.predict_proba(X))
    frame = pd.DataFrame({"size": X[:, 2], "colour": np.where(y == 1, "red", "blue")})
    with pytest.warns(UserWarning, match="columns size of X hold fractions"):
        mixed = NaiveBayesClassifier().fit(frame, y)
    assert [len(column) for column in mixed.categories_] == [len(mixed.cut_points_[0]) + 1, 2]
    assert mixed.score(frame, y) > 0.9


def test_many_different_whole_numbers_are_cut():
    X, y = load_breast_cancer(return_X_y=True)
    whole = np.round(X * 1000).astype(int)
    many = [len(np.unique(column)) > 50 for column in whole.T]
    with pytest.warns(UserWarning, match="hold fractions or more than 50 different numbers; they"):
        found = NaiveBayesClassifier().fit(whole, y)
    assert [*found.cut_points_] == np.flatnonzero(many).tolist()
    assert 20 < sum(many) < 30
    whole = whole[:, many]
    with pytest.warns(UserWarning, match="hold fractions or more"):
        found = NaiveBayesClassifier().fit(whole, y)
    sample = Sample.of(np.column_stack([whole, y]), Schema.plain([0] * sum(many) + [2]))
    prepared = Preparation("mdl").fit(sample)
    expected = NaiveBayes().fit(prepared.train).predict_proba(prepared.train)
    np.testing.assert_allclose(found.predict_proba(whole), expected)


def test_few_whole_numbers_and_given_categories_are_categories():
    X, y = np.array([[0.0], [1.0], [2.0]] * 9), [0, 1, 1] * 9
    halves = np.array([[0.5], [1.0], [1.5]] * 9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert NaiveBayesClassifier().fit(X, y).cut_points_ == {}
        fifty = np.arange(100)[:, None] % 50
        assert NaiveBayesClassifier().fit(fifty, fifty[:, 0] % 3).cut_points_ == {}
        more = np.arange(102)[:, None] % 51
        many = NaiveBayesClassifier(categories=[range(51)]).fit(more, more[:, 0] % 3)
        assert many.cut_points_ == {}
        given = NaiveBayesClassifier(categories=[[0.5, 1.0, 1.5]]).fit(halves, y)
    assert given.categories_[0].tolist() == [0.5, 1.0, 1.5]
    with pytest.raises(ValueError, match="column 0 of X has infinite values"):
        NaiveBayesClassifier().fit(np.where(halves > 1.2, np.inf, halves), y)
