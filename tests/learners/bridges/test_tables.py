"""Objects and their tables: each stands for the other, or the object has no name."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from simstudy import SimstudyError
from simstudy.learners.bridges.scikit import scikit_learner
from simstudy.learners.bridges.tables import UnnamedError, object_of, paths_in, table_of


class Keywords(ClassifierMixin, BaseEstimator):
    """A classifier whose parameters are keywords, as those of XGBoost are."""

    fit = predict_proba = None

    def __init__(self, *, objective="logistic", **keywords):
        self.objective, self.keywords = objective, keywords

    def get_params(self, deep=True):
        return {"objective": self.objective, "rounds": None, "depth": None, **self.keywords}


def nested():
    columns = make_column_transformer((OneHotEncoder(), ["a", "b"]), remainder="passthrough")
    logs = FunctionTransformer(np.log1p)
    return make_pipeline(columns, logs, StandardScaler(), LogisticRegression(C=np.float64(2)))


@pytest.mark.parametrize(
    "thing",
    [
        LogisticRegression(),
        nested(),
        GridSearchCV(nested(), {"logisticregression__C": np.logspace(-1, 1, 3)}, cv=5),
        GridSearchCV(MLPClassifier(), {"hidden_layer_sizes": [(5,), (5, 2)], "alpha": [None, 1]}),
        MLPClassifier(hidden_layer_sizes=(7, 3)),
        GaussianProcessClassifier(RBF(2.0)),
        LogisticRegression(class_weight={0: 1.0, 1: 5.0}),
        make_pipeline(SelectKBest(f_classif, k=3), "passthrough", GaussianNB()),
        StratifiedKFold(3, shuffle=True, random_state=1),
        Keywords(depth=3),
        Keywords(depth=3, verbose=-1),
        GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [*range(1, 4)]}),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_the_object_of_a_table_has_the_parameters_of_its_object(thing):
    table = json.loads(json.dumps(table_of(thing)))
    again = object_of(table)
    assert type(again) is type(thing)
    assert repr(again).replace("[0.1, 1.0, 10.0]", "array([ 0.1,  1. , 10. ])") == repr(
        thing
    ).replace("np.float64(2.0)", "2.0")
    assert table_of(again) == table


def test_a_table_has_only_what_is_not_default():
    stated = LogisticRegression(C=1.0, max_iter=100, tol=1e-3)
    assert table_of(stated) == {"name": "sklearn.linear_model:LogisticRegression", "tol": 1e-3}


def local_class():
    class Local(GaussianNB):
        """A classifier that no module has."""

    return Local()


@pytest.mark.parametrize(
    "thing",
    [
        FunctionTransformer(lambda X: X),
        make_pipeline(FunctionTransformer(lambda X: X), GaussianNB()),
        local_class(),
        LogisticRegression(random_state=np.random.RandomState(0)),
        GaussianNB(priors=np.eye(2)),
        make_column_transformer((StandardScaler(), slice(0, 2))),
        RandomizedSearchCV(GaussianNB(), {"var_smoothing": np.random.default_rng(0)}),
        FrozenEstimator(GaussianNB()),
        make_pipeline(StandardScaler().set_output(transform="pandas"), GaussianNB()),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_what_a_path_and_parameters_do_not_describe_has_no_name(thing):
    with pytest.raises(UnnamedError):
        table_of(thing)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"name": "sklearn.svm:SVCC"}, "sklearn.svm has no 'SVCC'; did you mean 'SVC'?"),
        ({"name": "sklearn.svn:SVC"}, "No module named 'sklearn.svn'"),
        ({"name": "sklearn.svm:SVC", "c": 1}, "'c' is no parameter of 'sklearn.svm:SVC'"),
        ({"name": "sklearn.pipeline:Pipeline"}, "cannot be made"),
        ({"name": "builtins:slice"}, "made of a class of estimators, kernels or splitters only"),
    ],
)
def test_a_wrong_table_is_one_sentence(table, said):
    with pytest.raises(SimstudyError) as caught:
        object_of(table)
    assert said in str(caught.value)


def test_a_range_is_written_as_a_list():
    table = table_of(GridSearchCV(KNeighborsClassifier(), {"n_neighbors": range(1, 4)}))
    assert table["param_grid"] == {"n_neighbors": [1, 2, 3]}


def test_what_is_no_estimator_is_not_called(tmp_path):
    touched = tmp_path / "touched"
    nested = {"name": "subprocess:Popen", "args": ["touch", str(touched)]}
    table = {"name": "sklearn.preprocessing:FunctionTransformer", "kw_args": {"a": nested}}
    with pytest.raises(SimstudyError, match="'subprocess:Popen' cannot be made"):
        object_of(table)
    assert not touched.exists()


def test_further_keywords_are_a_table_of_a_learner_too():
    learner = scikit_learner(f"{__name__}:Keywords")(depth=3, keywords={"verbose": -1})
    assert learner._make(None).get_params()["verbose"] == -1


def test_paths_are_found_at_any_depth():
    search = GridSearchCV(nested(), {"logisticregression": [GaussianNB(), None]})
    assert {*paths_in(table_of(search))} == {
        "sklearn.model_selection:GridSearchCV",
        "sklearn.pipeline:Pipeline",
        "sklearn.compose:ColumnTransformer",
        "sklearn.preprocessing:OneHotEncoder",
        "sklearn.preprocessing:FunctionTransformer",
        "numpy:log1p",
        "sklearn.preprocessing:StandardScaler",
        "sklearn.linear_model:LogisticRegression",
        "sklearn.naive_bayes:GaussianNB",
    }
    wrappers = {"candidates": ["tan", "a.b:C", {"learner": "d:E", "parameters": {}}]}
    assert [*paths_in(wrappers)] == ["a.b:C", "d:E"]
