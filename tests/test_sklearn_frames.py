"""The scikit-learn estimators on frames with mixed columns and missing values."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from simstudy.data.files.read import read_data
from simstudy.data.preparation.prepare import Preparation
from simstudy.learners import AODE, TAN, NaiveBayes
from simstudy.sklearn import (
    AODEClassifier,
    C45Classifier,
    NaiveBayesClassifier,
    TANClassifier,
)

RNG = np.random.default_rng(5)
ROWS = 120
LABELS = ["low", "mid", "high"]
PAIRS = [
    (NaiveBayesClassifier, NaiveBayes),
    (TANClassifier, TAN),
    (AODEClassifier, AODE),
]


def content() -> dict[str, list[object]]:
    """Columns of numbers, text, truth values and categories, some of them missing."""
    target = RNG.integers(2, size=ROWS)
    gaps = RNG.random((ROWS, 6)) < 0.1
    columns = {
        "size": (RNG.normal(target) * 2).tolist(),
        "age": (RNG.integers(20, 40, ROWS) + 5 * target).tolist(),
        "colour": np.array(["red", "blue", "green"])[
            (target + RNG.integers(2, size=ROWS))
        ].tolist(),
        "flag": (RNG.random(ROWS) < 0.3 + 0.4 * target).tolist(),
        "grade": [LABELS[code] for code in RNG.integers(3, size=ROWS)],
        "empty": [None] * ROWS,
    }
    for place, values in enumerate(columns.values()):
        values[:] = [
            None if gap else value for value, gap in zip(values, gaps[:, place], strict=True)
        ]
    return {**columns, "class": np.array(["no", "yes"])[target].tolist()}


CONTENT = content()
DTYPES = {"size": "float64", "age": "Int64", "colour": "str", "flag": "boolean"}


def in_pandas(table):
    frame = pd.DataFrame(
        {name: pd.Series(values, dtype=DTYPES.get(name, object)) for name, values in table.items()}
    )
    return frame.assign(grade=pd.Categorical(frame["grade"], LABELS))


def in_polars(table):
    return pl.DataFrame(table).with_columns(pl.col("grade").cast(pl.Enum(LABELS)))


FRAMES = {"pandas": in_pandas, "polars": in_polars, "pyarrow": pa.table}


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize(("estimator", "learner"), PAIRS)
def test_a_mixed_frame_is_prepared_as_in_a_study(estimator, learner, make):
    """Numbers are cut by least description length, and a gap is a value."""
    X = make({name: values for name, values in CONTENT.items() if name not in ("class", "empty")})
    fitted = estimator(categorical_features="from_dtype")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = fitted.fit(X, CONTENT["class"]).predict_proba(X)
    sample = read_data(in_pandas(CONTENT), ignore=["empty"])
    prepared = Preparation("mdl", missing="value").fit(sample)
    expected = learner().fit(prepared.train).predict_proba(prepared.train)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert [*fitted.cut_points_] == [0, 1]
    assert fitted.feature_names_in_.tolist() == ["size", "age", "colour", "flag", "grade"]


@pytest.mark.parametrize("name", ["pandas", "polars"])
@pytest.mark.parametrize("estimator", [TANClassifier(), C45Classifier()], ids=repr)
def test_frames_work_in_cross_validation_pipelines_and_searches(name, estimator):
    frame = FRAMES[name]({key: CONTENT[key] for key in CONTENT if key != "class"})
    y = np.array(CONTENT["class"])
    estimator.set_params(categorical_features="from_dtype")
    assert cross_val_score(estimator, frame, y, error_score="raise").mean() > 0.6
    pipeline = make_pipeline(FunctionTransformer(), estimator)
    assert pipeline.fit(frame, y).score(frame, y) > 0.6
    key = next(name for name in estimator.get_params() if name in ("alpha", "prune"))
    grid = {key: [0.5, 1.0] if key == "alpha" else [True, False]}
    search = GridSearchCV(estimator, grid, cv=3, error_score="raise").fit(frame, y)
    assert search.best_score_ > 0.6


def test_a_gap_where_training_has_none_is_marginalised():
    X = pd.DataFrame({"a": list("uvuvuu"), "b": list("xxyyxy")})
    y = list("ppqqpq")
    fitted = NaiveBayesClassifier().fit(X, y)
    alone = NaiveBayesClassifier().fit(X[["b"]], y)
    found = fitted.predict_proba(X.assign(a=None))
    np.testing.assert_allclose(found, alone.predict_proba(X[["b"]]), rtol=1e-12)
    unseen = fitted.predict_proba(X.assign(a="w"))
    np.testing.assert_allclose(unseen, found, rtol=1e-12)
    holed = NaiveBayesClassifier().fit(X.assign(a=["u", None, "u", "v", "u", "u"]), y)
    np.testing.assert_allclose(holed.predict_proba(X.assign(a="w")), found, rtol=1e-12)


def test_columns_are_categorical_as_stated():
    X = pd.DataFrame({"n": [1, 2, 3, 4] * 9, "m": [0.5, 1.5] * 18})
    y = [0, 1] * 18
    by_type = NaiveBayesClassifier(categorical_features="from_dtype").fit(X, y)
    assert [*by_type.cut_points_] == [0, 1]
    named = NaiveBayesClassifier(categorical_features=["n"]).fit(X, y)
    assert ([*named.cut_points_], named.categories_[0].tolist()) == ([1], [1, 2, 3, 4])
    every = NaiveBayesClassifier(categorical_features="all").fit(X, y)
    assert every.cut_points_ == {}
    listed = NaiveBayesClassifier(categorical_features=["n"], categories=[[0, 1, 2, 3, 4]])
    assert [len(each) for each in listed.fit(X, y).categories_] == [5, 2]
    few = NaiveBayesClassifier(categorical_features=["n"], categories=[[1], [2]])
    with pytest.raises(ValueError, match="categories has 2 lists; X has 1 categorical columns"):
        few.fit(X, y)
    with pytest.raises(ValueError, match="missing = 'mean' is not allowed; it must be 'value' or"):
        NaiveBayesClassifier(missing="mean").fit(X, y)


def test_gaps_in_arrays_and_lists_are_values_too():
    X = np.array([[0.0, np.nan], [1.0, 0.0], [np.nan, 1.0]] * 4)
    y = [0, 1, 1] * 4
    codes = np.array([[0, 2], [1, 0], [2, 1]] * 4)
    expected = NaiveBayesClassifier().fit(codes, y).predict_proba(codes)
    for rows in (X, [[None if v != v else v for v in row] for row in X.tolist()]):
        np.testing.assert_allclose(
            NaiveBayesClassifier().fit(rows, y).predict_proba(rows), expected
        )
