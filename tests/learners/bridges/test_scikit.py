"""Any scikit-learn classifier can be a study's learner."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder

from simstudy import SimstudyError, load_study, run_study
from simstudy.data.sample import Sample
from simstudy.learners.bridges.scikit import scikit_learner
from simstudy.sources.families.tan import TANFamily
from simstudy.testing import check_learner

STUDY = """
name = "forest"
models = 3

[family]
name = "tan"
variables = [3, 5]

[data]
train_sizes = [5, 60]
test_size = 80

[[learners]]
name = "naive_bayes"

[[learners]]
name = "sklearn.ensemble:RandomForestClassifier"
label = "forest"
n_estimators = 10

[[learners]]
name = "sklearn.linear_model:LogisticRegression"
label = "logistic"
encode = "onehot"
C = 0.5
"""


@pytest.mark.slow
def test_a_forest_and_a_regression_run_by_toml_alone(write_study, tmp_path):
    study = load_study(write_study(text=STUDY))
    written = []
    for jobs in (1, 2):
        results = run_study(study, tmp_path / f"jobs{jobs}", jobs=jobs, report=False)
        assert set(results.scores["status"]) == {"ok"}
        written.append((results.directory / "scores.parquet").read_bytes())
    assert written[0] == written[1]
    again = load_study(results.directory / "study.toml")
    assert again.learners[1].identity == study.learners[1].identity


def test_the_probabilities_are_those_of_the_classifier_itself():
    rng = np.random.default_rng(0)
    model = TANFamily(variables=(5, 5), values=(3, 3)).draw(rng)
    train, test = model.sample(300, rng), model.sample(100, rng)
    assert (train.class_counts > 0).all()
    fitted = scikit_learner("sklearn.linear_model:LogisticRegression")(C=0.3).fit(train)
    encoder = OneHotEncoder(categories=[range(3)] * 4)
    direct = LogisticRegression(C=0.3).fit(encoder.fit_transform(train.attributes), train.target)
    expected = direct.predict_proba(encoder.transform(test.attributes))
    np.testing.assert_allclose(fitted.predict_proba(test.attributes), expected, atol=1e-6)


def test_ordinal_codes_are_the_numbers_of_the_values():
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(1)
    model = TANFamily(variables=(4, 4), values=(2, 2)).draw(rng)
    train = model.sample(200, rng)
    learner = scikit_learner("sklearn.tree:DecisionTreeClassifier")
    fitted = learner(encode="ordinal", max_depth=2, random_state=3).fit(train)
    direct = DecisionTreeClassifier(max_depth=2, random_state=3)
    expected = direct.fit(train.attributes, train.target).predict_proba(train.attributes)
    np.testing.assert_array_equal(fitted.predict_proba(train.attributes), expected)


def test_an_absent_class_gets_the_floor_of_the_cutoff():
    sample = Sample([[0, 0], [1, 0], [0, 2], [1, 2]], (2, 4))
    fitted = scikit_learner("sklearn.tree:DecisionTreeClassifier")().fit(sample)
    proba = fitted.predict_proba(np.array([[0], [1]]))
    # n = 4 rows, k = 4 classes, of which 1 and 3 are absent: ½/(4 + 2)
    np.testing.assert_allclose(proba[:, [1, 3]], 0.5 / 6)
    np.testing.assert_allclose(proba.sum(axis=1), 1)


def test_a_single_class_needs_no_classifier():
    sample = Sample([[0, 1], [1, 1]], (2, 3))
    fitted = scikit_learner("sklearn.linear_model:LogisticRegression")().fit(sample)
    # n = 2, k = 3: ½/3.5 each for the two absent classes
    np.testing.assert_allclose(
        fitted.predict_proba(np.array([[0]])), [[0.5 / 3.5, 5 / 7, 0.5 / 3.5]]
    )


def test_the_random_state_comes_from_the_stream_unless_given():
    sample = TANFamily().draw(np.random.default_rng(2)).sample(100, np.random.default_rng(3))
    forest = scikit_learner("sklearn.ensemble:RandomForestClassifier")

    def predict(seed, **options):
        fitted = forest(n_estimators=5, **options).fit(sample, np.random.default_rng(seed))
        return fitted.predict_proba(sample.attributes)

    assert (predict(1) == predict(1)).all()
    assert (predict(1) != predict(2)).any()
    assert (predict(1, random_state=7) == predict(2, random_state=7)).all()


@pytest.mark.parametrize(
    "path", ["sklearn.naive_bayes:CategoricalNB", "sklearn.tree:DecisionTreeClassifier"]
)
def test_classifiers_keep_the_contract_of_learners(path):
    options = {"min_categories": 9, "encode": "ordinal"} if "NB" in path else {"random_state": 0}
    learner = scikit_learner(path)(**options)
    check_learner(learner, max_attributes=10, permutation=False, weights=False)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("RandomForest", "RandomForrest", "learners[1]: unknown learner"),
        ("RandomForest", "RandomForrest", "did you mean 'RandomForestClassifier'?"),
        ("sklearn.ensemble", "sklearn.ensembel", "No module named 'sklearn.ensembel'"),
        ("n_estimators", "n_estimator", "learners[1].n_estimator: unknown key; did you mean"),
        ("n_estimators = 10", "n_estimators = -3", "must be an int in the range [1, inf). Got -3"),
        ('"onehot"', '"one hot"', "encode = 'one hot' is not allowed"),
        ("linear_model:LogisticRegression", "svm:LinearSVC", "did you mean 'SVC'?"),
        ("C = 0.5", 'C = { name = "sklearn.svm:SVCC" }', "sklearn.svm has no 'SVCC'; did you mean"),
    ],
)
def test_a_wrong_path_or_parameter_is_one_sentence_before_anything_runs(
    write_study, old, new, said
):
    path = write_study({old: new}, text=STUDY)
    with pytest.raises(SimstudyError) as caught:
        load_study(path)
    assert said in str(caught.value)
    assert "SimstudyError" not in str(caught.value)


@pytest.mark.parametrize(
    "path",
    [
        "sklearn.ensemble:AdaBoostClassifier",  # with a parameter named estimator
        "sklearn.calibration:CalibratedClassifierCV",
        "simstudy.sklearn:NaiveBayesClassifier",  # without constraints of its parameters
    ],
)
def test_classifiers_of_other_kinds_can_be_made_and_pickled(path):
    learner = scikit_learner(path)()
    assert pickle.loads(pickle.dumps(learner)) == learner
    sample = (
        TANFamily(variables=(3, 3))
        .draw(np.random.default_rng(0))
        .sample(60, np.random.default_rng(1))
    )
    proba = learner.fit(sample, np.random.default_rng(2)).predict_proba(sample.attributes)
    np.testing.assert_allclose(proba.sum(axis=1), 1)


def test_another_version_of_the_package_is_another_study(write_study):
    from simstudy.engine.plan import make_plan

    plan = make_plan(load_study(write_study(text=STUDY)))
    sources = dict(plan.sources)
    assert set(sources) == {
        "sklearn.ensemble:RandomForestClassifier",
        "sklearn.linear_model:LogisticRegression",
    }
    assert all(pd.Series(sources).str.match(r"\d+\.\d+"))
