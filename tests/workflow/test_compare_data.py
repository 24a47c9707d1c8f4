"""One call compares learners on tables: what it takes, what it stores, and what it equals."""

from __future__ import annotations

import json
import pickle
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import simstudy
import simstudy.learners
from simstudy import SimstudyError
from simstudy.components.registry import LEARNERS, OBJECT
from simstudy.report.files import write_report
from simstudy.results.store.store import Store
from simstudy.workflow.compare_data import ComparisonWarning
from simstudy.workflow.score import add_measures

FAST = {"report": False, "jobs": 1, "progress": False}
CLIPPED = {"primary": "log_loss", "also": ["accuracy"], "cutoff": "epsilon"}


def iris(rows: int = 150) -> pd.DataFrame:
    return load_iris(as_frame=True).frame.sample(rows, random_state=0, ignore_index=True)


def compare(data, *arguments, **options):
    return simstudy.compare(data, *arguments, **{**FAST, **options})


def scaled(estimator):
    return make_pipeline(StandardScaler(), estimator)


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(max_iter=5000),
        GaussianNB(),
        DecisionTreeClassifier(max_depth=3, random_state=1),
        RandomForestClassifier(n_estimators=20, random_state=2),
        KNeighborsClassifier(7),
        HistGradientBoostingClassifier(max_iter=10, random_state=3),
        scaled(LogisticRegression(C=0.3)),
        GridSearchCV(scaled(LogisticRegression()), {"logisticregression__C": [0.1, 1]}),
        GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, None]}),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("data", [load_wine, load_iris], ids=["wine", "iris"])
def test_scores_are_those_of_cross_validate(estimator, data, tmp_path):
    frame = data(as_frame=True).frame
    splitter = StratifiedKFold(3, shuffle=True, random_state=5)
    results = compare(
        frame, "target", [estimator], resampling=splitter, measures=CLIPPED, out=tmp_path / "out"
    )
    X, y = frame.drop(columns="target"), frame["target"]
    scoring = ["accuracy", "neg_log_loss"]
    expected = cross_validate(estimator, X, y, cv=splitter, scoring=scoring)
    scores = results.scores
    np.testing.assert_allclose(scores["accuracy"], expected["test_accuracy"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(scores["log_loss"], -expected["test_neg_log_loss"], atol=1e-12)


def test_objects_names_and_the_saved_study_give_the_same_bytes(tmp_path):
    objects = [
        simstudy.learners.TAN(),
        RandomForestClassifier(n_estimators=5, max_features=None),
        scaled(LogisticRegression(C=2.0)),
        GridSearchCV(SVC(probability=True), {"C": np.array([0.5, 1.0])}, cv=StratifiedKFold(2)),
        simstudy.learners.KDB(k=1),
    ]
    steps = [
        ["standardscaler", {"name": "sklearn.preprocessing:StandardScaler", "with_mean": True}],
        ["logisticregression", {"name": "sklearn.linear_model:LogisticRegression", "C": 2.0}],
    ]
    search = {"name": "sklearn.model_selection:GridSearchCV", "param_grid": {"C": [0.5, 1.0]}}
    search["estimator"] = {"name": "sklearn.svm:SVC", "probability": True}
    search["cv"] = {"name": "sklearn.model_selection:StratifiedKFold", "n_splits": 2}
    forest = {"name": "sklearn.ensemble:RandomForestClassifier", "n_estimators": 5}
    names = [
        "tan",
        forest | {"label": "RandomForestClassifier", "max_features": {"object": "builtins:None"}},
        {"name": "sklearn.pipeline:Pipeline", "label": "LogisticRegression pipeline"}
        | {"steps": steps},
        search | {"label": "tuned SVC"},
        {"name": "kdb", "k": 1},
    ]
    written = []
    for place, learners in enumerate((objects, names)):
        made = compare(iris(60), None, learners, resampling=2, out=tmp_path / str(place))
        assert set(made.scores["status"]) == {"ok"}
        written.append(made)
    study = simstudy.load_study(written[0].directory / "study.toml")
    written.append(simstudy.run_study(study, tmp_path / "2", **FAST | {"jobs": 2}))
    for name in ("scores.parquet",):
        assert len({(made.directory / name).read_bytes() for made in written}) == 1, name
    assert len({made.manifest["fingerprint"] for made in written}) == 1
    first, second = ((made.directory / "study.toml").read_text() for made in written[:2])
    assert first.partition("\n")[2] == second.partition("\n")[2]  # but for the name


def test_frames_of_all_libraries_give_the_same_bytes(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "whole": rng.integers(0, 9, 60).astype("int8"),
            "single": rng.normal(size=60).astype("float32"),
            "double": rng.normal(size=60),
            "gaps": pd.array([None, *range(59)], dtype="Int64"),
            "flag": rng.random(60) < 0.5,
            "text": pd.Series(rng.choice(["a", "b", "ç 'x'"], 60)),
            "category": pd.Categorical(rng.choice(["z", "y"], 60), ["z", "y", "never"]),
            "class": rng.choice(["no", "yes"], 60),
        }
    )
    arrow = pa.Table.from_pandas(frame)
    frames = [frame, arrow, pl.from_arrow(arrow).cast({"category": pl.Enum(["z", "y", "never"])})]
    made = [
        compare(each, "class", ["tan", "naive_bayes"], resampling=2, out=tmp_path / str(place))
        for place, each in enumerate(frames)
    ]
    for name in ("scores.parquet", "study.toml"):
        assert len({(each.directory / name).read_bytes() for each in made}) == 1
    files = [sorted(p.name for p in (each.directory / "files").iterdir()) for each in made]
    assert files[0] == files[1] == files[2]


def test_arrays_lists_dictionaries_and_paths_are_data(tmp_path):
    frame = iris(60)
    frame.to_csv(tmp_path / "flowers.csv", index=False)
    X, y = load_iris(return_X_y=True)
    data = [tmp_path / "flowers.csv", frame, (X[::3], y[::3])]
    results = compare(data, None, "prior", resampling=2, out=tmp_path / "list")
    assert sorted(set(results.scores["dataset"])) == ["data1", "data2", "flowers"]
    named = compare({"a": frame, "b": (X, y)}, None, "prior", resampling=2, out=tmp_path / "named")
    assert sorted(set(named.scores["dataset"])) == ["a", "b"]
    table = {"path": frame, "target": "target", "ignore": ["sepal length (cm)"]}
    less = compare(table, None, "prior", resampling=2, out=tmp_path / "less")
    assert less.manifest["tables"]["data"]["attributes"] == 3


def test_the_same_call_finds_its_results_and_another_one_has_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = compare(iris(60), "target", ["prior"], resampling=2)
    again = compare(iris(60), "target", ["prior"], resampling=2)
    other = compare(iris(60), "target", ["prior"], resampling=3)
    assert again.reused
    assert again.directory == first.directory != other.directory
    assert first.directory.parent == tmp_path / "results"
    assert {"learner", "information_reward", "accuracy"} <= {*first.scores.columns}


@pytest.mark.parametrize(
    ("splitter", "repeats", "folds"),
    [
        (RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0), 2, 3),
        (ShuffleSplit(4, test_size=0.1, random_state=0), 4, 1),
    ],
    ids=["repeated", "shuffled"],
)
def test_splits_are_those_of_the_splitter_and_are_kept(splitter, repeats, folds, tmp_path):
    frame = iris(60)
    pairs = [*splitter.split(frame, frame["target"])]
    made = [
        compare(frame, "target", "prior", resampling=given, out=tmp_path / str(place))
        for place, given in enumerate((splitter, pairs))
    ]
    scores = [(each.directory / "scores.parquet").read_bytes() for each in made]
    assert scores[0] == scores[1]
    parts = made[0].manifest["parts"]
    assert {part["repeat"] for part in parts} == {*range(repeats)}
    assert {part["fold"] for part in parts} == {*range(folds)}
    (file,) = made[0].directory.glob("files/*.csv")
    third = compare(frame, "target", "prior", resampling={"splits": file}, out=tmp_path / "third")
    assert (third.directory / "scores.parquet").read_bytes() == scores[0]
    again = simstudy.load_study(made[0].directory / "study.toml").tables[0]
    for split, (train, test) in zip(again.splits, pairs, strict=True):
        np.testing.assert_array_equal(np.sort(train), np.sort(split.train))
        np.testing.assert_array_equal(np.sort(test), np.sort(split.test))


def test_a_pipeline_gets_names_numbers_labels_and_gaps(tmp_path):
    rng = np.random.default_rng(1)
    y = np.repeat(["no", "yes"], 40)
    frame = pd.DataFrame({"size": rng.normal(size=80) + (y == "yes"), "colour": "red"})
    frame.loc[rng.random(80) < 0.4, "colour"] = "blue"
    frame.loc[3, "colour"], frame.loc[4, "size"], frame["class"] = None, None, y
    encoder = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["size"]),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
    )
    splitter = StratifiedKFold(4)
    pipeline = make_pipeline(encoder, LogisticRegression())
    results = compare(
        frame, "class", [pipeline], resampling=splitter, measures=CLIPPED, out=tmp_path / "out"
    )
    expected = cross_validate(
        pipeline, frame[["size", "colour"]], y, cv=splitter, scoring="neg_log_loss"
    )
    np.testing.assert_allclose(results.scores["log_loss"], -expected["test_score"], atol=1e-12)


def forbidden(*_: object) -> None:
    raise AssertionError("an object of a results folder was unpickled")


def test_an_unnamed_object_runs_in_its_session_only(tmp_path, monkeypatch):
    shift = 3.0
    unnamed = make_pipeline(FunctionTransformer(lambda X: X + shift), GaussianNB())

    def call():
        learners, kept = [("shifted", unnamed), "prior"], {"keep_answers": True}
        return compare(iris(60), "target", learners, resampling=2, out=tmp_path, settings=kept)

    results = call()
    assert set(results.scores["status"]) == {"ok"}
    assert set(results.scores["learner"]) == {"shifted", "prior"}
    text = (tmp_path / "study.toml").read_text()
    name = next(line for line in text.splitlines() if OBJECT in line).split('"')[1]
    assert f"learner {name}" in results.manifest["session"]
    assert call().reused
    # in another session
    monkeypatch.setattr(LEARNERS, "_registered", {})
    with pytest.raises(SimstudyError, match="an object of the session") as caught:
        simstudy.load_study(tmp_path / "study.toml")
    assert "\n" not in str(caught.value)
    # what only reads results neither needs the object nor unpickles anything
    import cloudpickle

    for module in (pickle, cloudpickle):
        monkeypatch.setattr(module, "loads", forbidden)
        monkeypatch.setattr(module, "load", forbidden)
    opened = simstudy.open_results(tmp_path)
    assert opened.scores.equals(results.scores)
    write_report(opened, Store(tmp_path))
    assert "shifted" in simstudy.compare_studies([opened, opened], ["once", "twice"])
    add_measures(tmp_path, ["brier_score"])
    assert not [path for path in tmp_path.rglob("*") if path.suffix in (".pkl", ".pickle")]


def test_what_an_object_was_given_seeds_its_parts_from_the_cell(tmp_path):
    """Unstated random states are drawn from the stream, also nested; stated ones are kept."""
    search = GridSearchCV(
        RandomForestClassifier(n_estimators=3),
        {"max_depth": [1, 2]},
        cv=StratifiedKFold(2, shuffle=True),
    )
    made = [
        compare(iris(60), "target", [search], resampling=2, seed=seed, out=tmp_path / str(place))
        for place, seed in enumerate((1, 1, 2))
    ]
    scores = [each.scores["information_reward"].to_numpy() for each in made]
    np.testing.assert_array_equal(scores[0], scores[1])
    assert (scores[0] != scores[2]).any()
    assert search.estimator.random_state is None
    assert search.cv.random_state is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"data": 5}, "data: an object of type int cannot be read"),
        ({"data": []}, "data: there are none"),
        ({"data": (np.zeros((4, 2)), [0, 1])}, "X has 4 rows, and y 2"),
        ({"learners": [RandomForestClassifier]}, "RandomForestClassifier()"),
        ({"learners": [StandardScaler()]}, "an object of type StandardScaler is no learner"),
        ({"learners": 3}, "an object of type int is no learner"),
        ({"learners": ["tann"]}, "did you mean 'tan'?"),
        ({"learners": [SVC()]}, "gives no probabilities"),
        ({"resampling": 1.5}, "resampling: an object of type float"),
        ({"resampling": [(0, 1)]}, "resampling[0]: its training rows"),
        ({"resampling": [([0], [999])]}, "row 999 is not one of the 60 rows"),
        ({"resampling": "cvv"}, "resampling.scheme"),
        ({"measures": "acuracy"}, "did you mean 'accuracy'?"),
        ({"measures": 7}, "measures: 7 is not"),
        ({"measures": "roc_auc"}, "did you mean 'auc'?"),
        ({"target": "nothing"}, "the data frame: target names the column 'nothing'"),
        ({"data": pd.DataFrame(), "target": "y"}, "the data frame: target names the column 'y'"),
        ({"data": iris(60).assign(a=np.inf)[["a", "target"]]}, "row 0 (counted from 0)"),
        ({"data": [{"a": 1, "y": 0}]}, "needs the key 'path'; it has 'a' and 'y'"),
        ({"data": {"path": iris(60), "ignor": ["x"]}, "resampling": StratifiedKFold(2)}, "ignor"),
        ({"data": pl.DataFrame({"a": [1]}).lazy()}, ".collect()"),
        ({"resampling": StratifiedKFold}, "make one with StratifiedKFold()"),
        ({"settings": [1]}, "settings: it must be a dictionary"),
        ({"settings": {"measures": {}}, "measures": "accuracy"}, "'measures' is stated by"),
        ({"settings": {"learners": []}}, "'learners' is stated by the argument learners"),
        ({"out": 5}, "out: 5 is not the path"),
        ({"jobs": 0}, "jobs: 0 is not allowed"),
        ({"jobs": -1}, "jobs: -1 is not allowed"),
        ({"learners": [LinearSVC()]}, "no predict_proba"),
        ({"learners": [{"obj": SVC()}]}, "or 'object' for an object"),
    ],
)
def test_a_wrong_argument_is_one_sentence(arguments, said, tmp_path):
    call = {"data": iris(60), "learners": ["prior"], "out": tmp_path / "out", **arguments}
    with pytest.raises(SimstudyError) as caught:
        compare(**call)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_refused_leaves_nothing_behind(tmp_path, monkeypatch):
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "mine.txt").write_text("mine")
    with pytest.raises(SimstudyError, match=r"out="):
        compare(iris(60), "target", "prior", resampling=2, out=foreign)
    assert [path.name for path in foreign.iterdir()] == ["mine.txt"]
    monkeypatch.chdir(foreign)
    with pytest.raises(SimstudyError, match="traget"):
        compare(iris(60), "traget", "prior", resampling=2)
    assert [path.name for path in foreign.iterdir()] == ["mine.txt"]
    made = compare(iris(60), "target", "prior", resampling=2, out=tmp_path / "out")
    files = [path.name for path in made.directory.rglob("*")]
    with pytest.raises(SimstudyError, match="overwrite=True"):
        compare(iris(50), "target", "prior", resampling=2, out=made.directory)
    assert [path.name for path in made.directory.rglob("*")] == files
    again = compare(iris(50), "target", "prior", resampling=2, out=made.directory, overwrite=True)
    assert again.manifest["tables"]["data"]["rows"] == 50


@pytest.mark.parametrize(
    "splitter",
    [
        TimeSeriesSplit(3),
        ShuffleSplit(3, train_size=0.5, test_size=0.2, random_state=1),
        [(np.arange(20), np.arange(20, 30)), (np.arange(40), np.arange(40, 60))],
    ],
    ids=["time", "shuffled", "pairs"],
)
def test_splits_need_not_use_every_row(splitter, tmp_path):
    frame, names = iris(60), ["prior", "naive_bayes"]
    pairs = [*splitter.split(frame)] if hasattr(splitter, "split") else splitter
    made = compare(frame, "target", names, resampling=splitter, out=tmp_path)
    again = simstudy.load_study(tmp_path / "study.toml").tables[0]
    for split, (train, test) in zip(again.splits, pairs, strict=True):
        np.testing.assert_array_equal(split.train, np.sort(train))
        np.testing.assert_array_equal(split.test, np.sort(test))
    # the corrected t test: the variance of the mean has the rows tested per row trained on
    table = made.pairwise(adjustment="none")
    wide = made.scores.pivot_table(index="model", columns="learner", values="information_reward")
    differences = wide["prior"] - wide["naive_bayes"]
    tested, trained = (sum(len(pair[part]) for pair in pairs) for part in (1, 0))
    error = np.sqrt((1 / len(pairs) + tested / trained) * differences.var(ddof=1))
    p = 2 * stats.t.sf(abs(differences.mean() / error), len(pairs) - 1)
    np.testing.assert_allclose(table["p"], p, rtol=1e-9)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_no_text_of_a_frame_is_missing(library, tmp_path):
    marks = ["?", "", "no", None] * 15
    data = library({"mark": marks, "gap": [*marks[2:], "?", "no"], "class": ["?", "no"] * 30})
    with pytest.raises(SimstudyError, match="none is left for a gap"):
        compare(data, "class", "prior", resampling=2, out=tmp_path / "both")
    data = library({"mark": ["?", "x", None] * 20, "class": ["?", "no"] * 30})
    made = compare(data, "class", "prior", resampling=2, out=tmp_path / "one")
    assert made.manifest["tables"]["data"]["classes"] == 2
    assert made.manifest["tables"]["data"]["missing"] == 1 / 3
    assert "'?'" in " ".join(made.manifest["notes"]["data"])
    data = library({"mark": ["x", "y", "z", None] * 15, "class": ["?", "no"] * 30})
    stated = {"path": data, "missing_values": ["x"], "target": "mark"}
    fewer = compare(stated, None, "prior", resampling=2, out=tmp_path / "stated")
    facts = fewer.manifest["tables"]["data"]
    assert (facts["rows"], facts["classes"]) == (30, 2)


def test_a_learner_that_always_fails_is_named(tmp_path):
    class TakesFrames(GaussianNB):
        def fit(self, X, y):
            return super().fit(X.to_numpy(), y)

        def predict_proba(self, X):
            return super().predict_proba(X.to_numpy())

    call = {"resampling": 2, "out": tmp_path / "arrays"}
    with pytest.warns(ComparisonWarning, match=r"(?s)frames failed in every split.*encode"):
        compare(iris(60), "target", [("frames", TakesFrames()), "prior"], **call)
    call["out"] = tmp_path / "frames"
    with warnings.catch_warnings():
        warnings.simplefilter("error", ComparisonWarning)
        compare(iris(60), "target", [{"object": TakesFrames(), "encode": "frame"}], **call)


def test_a_call_that_cannot_be_repeated_says_so(tmp_path):
    unnamed = make_pipeline(FunctionTransformer(lambda X: X), GaussianNB())
    call = {"learners": [unnamed], "resampling": ShuffleSplit(2), "out": tmp_path / "a"}
    note = compare(iris(60), "target", **call).note
    assert "GaussianNB pipeline has no name" in note
    assert "random_state" in note
    call = {"learners": "prior", "resampling": ShuffleSplit(2, random_state=1)}
    assert not compare(iris(60), "target", out=tmp_path / "b", **call).note


def test_labels_of_the_user_come_first(tmp_path):
    learners = [GaussianNB(), ("GaussianNB", GaussianNB(var_smoothing=0.1)), GaussianNB()]
    made = compare(iris(60), "target", learners, resampling=np.int64(2), out=tmp_path)
    assert made.learners == ["GaussianNB 2", "GaussianNB", "GaussianNB 3"]


@pytest.mark.parametrize("name", ['a "b"', "a\nb", " a ", "a,b"])
def test_data_sets_of_any_name_are_split(name, tmp_path):
    data = {name: iris(60), "b": iris(50)}
    for number in (1, 2):
        part = {key: data[key] for key in [*data][:number]}
        out = tmp_path / str(number)
        compare(part, "target", "prior", resampling=StratifiedKFold(2), out=out)


def test_analyses_of_models_point_to_those_of_data_sets(tmp_path):
    made = compare(iris(60), "target", ["prior", "naive_bayes"], resampling=2, out=tmp_path)
    assert made.pairwise().equals(made.pairwise_datasets())
    with pytest.raises(AttributeError, match="winners"):
        made.intervals()
    assert not hasattr(made, "nonsense")


def test_learners_worse_than_the_prior_are_not_praised(tmp_path):
    frame = iris(60).assign(target=np.random.default_rng(0).permutation([0, 1] * 30))
    made = compare(frame, "target", ["tan", "naive_bayes"], resampling=3, out=tmp_path)
    assert made.scores.groupby("learner")["information_reward"].mean().max() <= 0
    finding = made.study.page.finding(made, made.findings())
    assert "No mean is above 0, the score of the prior" in finding
    better = compare(iris(60), "target", ["naive_bayes", "tan"], out=tmp_path / "b", resampling=3)
    assert "No mean" not in better.study.page.finding(better, better.findings())


@pytest.mark.parametrize("wrong", [{"name": "x"}, 5, None, ["tan"]], ids=repr)
def test_functions_of_studies_say_what_they_take(wrong):
    functions = [simstudy.load_study, simstudy.run_study]
    functions += [simstudy.make_study] * (not isinstance(wrong, dict))
    for function in functions:
        with pytest.raises(SimstudyError, match=r"make_study"):
            function(wrong)


def test_make_study_takes_names_objects_and_labels():
    content = {"name": "x", "family": {"name": "tan"}, "models": 2}
    study = simstudy.make_study(
        content
        | {
            "learners": [
                "tan",
                simstudy.learners.TAN(alpha=1.0),
                "sklearn.tree:DecisionTreeClassifier",
                ("mine", DecisionTreeClassifier(max_depth=2)),
                {"object": GaussianNB(), "encode": "ordinal"},
            ]
        }
    )
    labels = ["tan", "tan 2", "DecisionTreeClassifier", "mine", "GaussianNB"]
    assert study.labels == labels
    assert json.loads(study.learners[1].identity) == ["tan", {"alpha": 1.0}]
    assert json.loads(study.learners[3].identity)[1] == {"max_depth": 2}
    assert json.loads(study.learners[4].identity)[1] == {"encode": "ordinal"}
    mapping = simstudy.make_study(content | {"learners": {"a": "tan", "b": GaussianNB()}})
    assert mapping.labels == ["a", "b"]


def test_a_pipeline_without_an_encoder_says_what_labels_need(tmp_path):
    frame = iris(60).assign(colour=["red", "blue"] * 30)
    pipeline = scaled(LogisticRegression())
    with pytest.raises(SimstudyError, match='or set encode = "onehot"'):
        compare(frame, "target", [pipeline], resampling=2, out=tmp_path / "labels")
    encoded = {"object": pipeline, "encode": "onehot"}
    results = compare(frame, "target", [encoded], resampling=2, out=tmp_path / "onehot")
    assert set(results.scores["status"]) == {"ok"}


def test_a_data_set_may_be_named(tmp_path):
    path = Path(__file__).parents[2] / "studies" / "data" / "uci" / "iris.csv.gz"
    options = {"learners": ["naive_bayes", "tan"]}
    named, file = (
        compare(data, out=tmp_path / out, **options)
        for data, out in (("uci:iris", "named"), (path, "file"))
    )
    assert {*named.scores["dataset"]} == {"iris"}
    pd.testing.assert_frame_equal(named.scores, file.scores)
    assert 'path = "uci:iris"' in (tmp_path / "named" / "study.toml").read_text()
