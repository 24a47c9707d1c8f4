"""Labels and types of a table reach estimators of scikit-learn as in `cross_validate`."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import simstudy
from simstudy.learners.bridges.scikit import scikit_learner
from simstudy.sklearn import C45Classifier, TANClassifier

CLIPPED = {"primary": "log_loss", "also": ["accuracy"], "cutoff": "epsilon"}


def mixed(rows: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    columns = {"part": rng.normal(size=rows), "whole": rng.integers(0, 5, rows)}
    frame = pd.DataFrame(columns | {"text": rng.choice([*"xyz"], rows)})
    frame["flag"] = rng.random(rows) < 0.5
    signal = frame["part"] + frame["whole"] / 3 + rng.normal(size=rows)
    return frame.assign(label=np.where(signal > 0.6, "yes", "no"))


def compare(data, learners, out, **options):
    fast = {"report": False, "jobs": 1, "progress": False}
    return simstudy.compare(data, "label", learners, out=out, **fast, **options)


def encoded(encoder, columns):
    others = (StandardScaler(), ["part"])
    return make_pipeline(make_column_transformer((encoder, columns), others), LogisticRegression())


def tuned(**options):
    return GridSearchCV(LogisticRegression(), {"C": [0.0001, 1]}, **options)


NUMBERS = ["part", "whole"]
BOTH_FLAGS = OneHotEncoder(categories=[[False, True]])
OF_YES = make_scorer(f1_score, pos_label="yes")


@pytest.mark.parametrize(
    ("estimator", "columns", "classes"),
    [
        (encoded(OneHotEncoder(), make_column_selector(dtype_include="int64")), NUMBERS, None),
        (encoded(BOTH_FLAGS, make_column_selector(dtype_include="bool")), ["part", "flag"], None),
        (make_pipeline(StandardScaler(), GaussianNB()), [*NUMBERS, "flag"], None),
        (LogisticRegression(class_weight={"yes": 9, "no": 1}), NUMBERS, None),
        (LogisticRegression(class_weight={0: 1, 1: 50}), NUMBERS, pd.Categorical([1, 0], [1, 0])),
        (LogisticRegression(class_weight={True: 5, False: 1}), NUMBERS, [True, False]),
        (tuned(scoring=OF_YES), NUMBERS, None),
        (KNeighborsClassifier(4), NUMBERS, [10, 9]),
        (KNeighborsClassifier(4), NUMBERS, [-1, -10]),
    ],
)
def test_labels_and_types_are_those_of_the_frame(estimator, columns, classes, tmp_path):
    frame = mixed()
    X, y = frame[columns], frame["label"]
    if classes is not None:
        places = np.where(y == "yes", 0, 1)
        y = pd.Series(classes).take(places).reset_index(drop=True)
    splitter = StratifiedKFold(3, shuffle=True, random_state=0)
    options = {"resampling": splitter, "measures": CLIPPED}
    scores = compare(X.assign(label=y), [estimator], tmp_path / "out", **options).scores
    scoring = ["accuracy", "neg_log_loss"]
    expected = cross_validate(estimator, X, y, cv=splitter, scoring=scoring)
    np.testing.assert_allclose(scores["accuracy"], expected["test_accuracy"], atol=1e-12)
    np.testing.assert_allclose(scores["log_loss"], -expected["test_neg_log_loss"], atol=1e-12)


class Demanding(GaussianNB):
    """A classifier that takes the numbers 0, 1, … only, as XGBoost does."""

    def fit(self, X, y, sample_weight=None):
        assert [*np.unique(y)] == [*range(len(np.unique(y)))]
        return super().fit(X, y)


def test_xgboost_is_given_numbers_from_0(monkeypatch):
    from simstudy.data.sample import Sample
    from simstudy.data.schema import Schema, Variable

    monkeypatch.setattr(Demanding, "__module__", "xgboost.sklearn")
    schema = Schema((Variable("x"), Variable("y", ("b", "never", "a"))))
    rows = np.column_stack([[0.0, 0.1, 5.0, 5.1], [0, 0, 2, 2]])
    sample = Sample.of(rows, schema)
    fitted = scikit_learner(f"{__name__}:Demanding")().fit(sample)
    plain = scikit_learner("sklearn.naive_bayes:GaussianNB")().fit(sample)
    proba = fitted.predict_proba(sample)
    np.testing.assert_array_equal(proba, plain.predict_proba(sample))
    assert [*proba.argmax(axis=1)] == [0, 0, 2, 2]


def test_classifiers_of_simstudy_have_the_scores_of_their_learners(tmp_path):
    pipeline = make_pipeline(TANClassifier(categorical_features="from_dtype"))
    learners = ["tan", TANClassifier(), ("cut inside", pipeline), "c45", C45Classifier()]
    results = compare(mixed(), learners, tmp_path / "out", resampling=3)
    rewards = results.scores.groupby("learner")["information_reward"].apply(list)
    assert rewards["tan"] == rewards["TANClassifier"] == rewards["cut inside"]
    assert rewards["c45"] == rewards["C45Classifier"] != rewards["tan"]
    other = simstudy.make_study(
        {"name": "x", "family": {"name": "tan"}, "learners": [TANClassifier(missing="error")]}
    )
    assert other.learners[0].name == "simstudy.sklearn:TANClassifier"


def test_stacks_find_in_the_cell_whether_they_give_probabilities(tmp_path):
    stack = StackingClassifier([("a", LogisticRegression()), ("b", GaussianNB())], cv=2)
    frame = mixed().drop(columns=["text", "flag"])
    learners = [stack, make_pipeline(StandardScaler(), stack)]
    results = compare(frame, learners, tmp_path / "out", resampling=2)
    assert set(results.scores["status"]) == {"ok"}


@pytest.mark.parametrize("named", [True, False])
def test_code_inside_a_pipeline_is_part_of_the_study(named, tmp_path, monkeypatch):
    """A step that changes is another study, whether the pipeline has a name or not."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    text = "from sklearn.preprocessing import StandardScaler\nclass Step(StandardScaler):\n"
    made = []
    for version in ("one", "another"):
        (tmp_path / "stepping.py").write_text(f"{text}    '''{version}'''\n")
        sys.modules.pop("stepping", None)
        step = __import__("stepping").Step()
        nothing = "passthrough" if named else FunctionTransformer(lambda X: X)
        learners = [make_pipeline(step, nothing, GaussianNB())]
        frame = mixed().drop(columns=["text", "flag"])
        made.append(compare(frame, learners, tmp_path / "out", resampling=2, overwrite=True))
    assert not made[1].reused
    assert made[0].manifest["fingerprint"] != made[1].manifest["fingerprint"]
    if named:
        assert "stepping:Step" in made[0].manifest["conditions"]["source"]


def test_packages_inside_a_pipeline_are_in_the_manifest(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    text = "__version__ = '3.7'\nfrom sklearn.preprocessing import StandardScaler\n"
    (tmp_path / "versioned_steps.py").write_text(f"{text}class Step(StandardScaler):\n    pass\n")
    step = __import__("versioned_steps").Step()
    frame = mixed().drop(columns=["text", "flag"])
    made = compare(frame, [make_pipeline(step, GaussianNB())], tmp_path / "out", resampling=2)
    assert made.manifest["packages"]["versioned_steps"] == "3.7"
