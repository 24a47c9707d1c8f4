"""Learners fitted to a whole data set: by hand, pickled, and frames that do not fit."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from simstudy import SimstudyError, load_study, open_results, run_study
from simstudy.data.files.read import read_data
from simstudy.data.preparation.discretize import Discretizer
from simstudy.data.preparation.missing import Imputer
from simstudy.learners import AODE, C45, CaMML
from simstudy.results.read.open import Results

STUDY = """
name = "two"
seed = 3

[[datasets]]
path = "flowers.csv"
ignore = ["number"]

[[datasets]]
path = "votes.csv"
target = "party"

[resampling]
folds = 3
repeats = 2
sizes = [0.5, 1.0]

[preparation]
missing = "mode"

[[learners]]
name = "aode"
label = "AODE"

[[learners]]
name = "c45"
label = "C4.5"

[[learners]]
name = "camml"

[[learners]]
name = "calibrated"
learner = "aode"
method = "isotonic"
"""


def flowers(rows: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    kind = rng.integers(0, 3, rows)
    return pd.DataFrame(
        {
            "number": np.arange(rows),
            "length": (kind + rng.normal(0, 0.4, rows)).round(2),
            "colour": np.array(["red", "blue", "white"])[(kind + (rng.random(rows) < 0.3)) % 3],
            "stems": rng.integers(1, 4, rows),
            "kind": np.array(["a", "b", "c"])[kind],
        }
    )


def votes() -> pd.DataFrame:
    rng = np.random.default_rng(2)
    party = rng.integers(0, 2, 45)
    words = np.array(["no", "yes"])
    table = {f"v{i}": words[np.where(rng.random(45) < 0.8, party, 1 - party)] for i in range(3)}
    frame = pd.DataFrame({"party": np.array(["d", "r"])[party], **table})
    return frame.mask(rng.random(frame.shape) < [0, 0.2, 0.2, 0.2], "?")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    place = tmp_path_factory.mktemp("refit")
    flowers().to_csv(place / "flowers.csv", index=False)
    votes().to_csv(place / "votes.csv", index=False)
    (place / "study.toml").write_text(STUDY)
    return run_study(load_study(place / "study.toml"), place / "out", jobs=1, report=False)


def data(results: Results, name: str) -> Any:
    target = {"votes": "party"}.get(name)
    return read_data(
        results.directory.parent / f"{name}.csv", target, ignore=[] if target else ["number"]
    )


def test_it_is_the_learner_fitted_by_hand(results: Results) -> None:
    sample = data(results, "flowers")
    binned = Discretizer.fit(sample)(sample)
    made = results.refit("AODE", "flowers")
    proba = made.predict_proba(flowers())
    np.testing.assert_array_equal(proba, AODE().fit(binned).predict_proba(binned))
    assert made.classes == ("a", "b", "c")
    assert made.predict(flowers()).tolist() == ["abc"[i] for i in proba.argmax(axis=1)]
    tree = results.refit("C4.5", "flowers").predict_proba(flowers())
    np.testing.assert_array_equal(tree, C45().fit(sample).predict_proba(sample))


def test_missing_values_are_prepared_as_in_the_study(results: Results) -> None:
    sample = data(results, "votes")
    made = results.refit("AODE", "votes")  # takes them itself
    expected = AODE().fit(sample).predict_proba(sample)
    np.testing.assert_array_equal(made.predict_proba(votes()), expected)
    np.testing.assert_array_equal(made.predict_proba(votes().replace("?", np.nan)), expected)
    filled = Imputer.fit(sample, "mode")(sample)
    made = results.refit("camml", "votes")
    assert filled.plain
    expected = CaMML().fit(filled).predict_proba(filled)  # exact: nothing is drawn
    np.testing.assert_array_equal(made.predict_proba(votes()), expected)


def test_the_estimate_is_the_mean_over_splits_at_the_largest_size(results: Results) -> None:
    found = results.refit("AODE", "votes").estimate
    scores = results.scores
    rows = scores[(scores["dataset"] == "votes") & (scores["learner"] == "AODE")]
    rows = rows[rows["size"] == 30]["information_reward"]
    assert (found.measure, found.splits, found.size) == ("information_reward", 6, "100%")
    assert found.mean == pytest.approx(rows.mean(), rel=1e-14)
    assert found.sd == pytest.approx(rows.std(ddof=1), rel=1e-14)
    text = f"{found.mean:.4g}, mean over 6 splits; standard deviation between splits {found.sd:.2g}"
    assert text in str(found)


@pytest.mark.parametrize("learner", ["AODE", "C4.5", "camml", "calibrated"])
def test_it_is_the_same_after_pickling_and_when_fitted_again(
    results: Results, learner: str
) -> None:
    made = results.refit(learner, "flowers")
    copy = pickle.loads(pickle.dumps(made))
    proba = made.predict_proba(flowers())
    np.testing.assert_array_equal(copy.predict_proba(flowers()), proba)
    np.testing.assert_array_equal(results.refit(learner, "flowers").predict_proba(flowers()), proba)
    assert copy.classes == made.classes
    assert copy.estimate == made.estimate
    assert repr(copy).startswith(f"Refit({learner} on flowers; information_reward ")


def test_columns_are_found_by_name_and_others_of_the_file_are_not_used(results: Results) -> None:
    made, frame = results.refit("AODE", "flowers"), flowers()
    proba = made.predict_proba(frame)
    less = frame.drop(columns=["number", "kind"])[["stems", "colour", "length"]]
    np.testing.assert_array_equal(made.predict_proba(less), proba)
    np.testing.assert_array_equal(made.predict_proba(less.astype({"colour": "category"})), proba)
    assert made.predict_proba(less.iloc[:0]).shape == (0, 3)
    assert made.predict(less.iloc[:0]).shape == (0,)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda f: f.assign(size=1),
            "the column 'size' is not an attribute; .*known: col",
        ),
        (lambda f: f.drop(columns="colour"), "data frame: the column 'colour' is missing"),
        (
            lambda f: f.rename(columns={"colour": "color"}),
            "'color' is not .* did you mean 'colour'",
        ),
        (
            lambda f: f.replace({"colour": {"red": "green"}}),
            r"row \d+ .*, column 'colour': 'green' is none of the declared values: blue, red, whi",
        ),
        (lambda f: f.assign(length="long"), "column 'length': 'long' is not a finite number"),
        (lambda f: f.assign(length=np.inf), "column 'length': inf is not a finite number"),
        (lambda f: pd.concat([f, f[["stems"]]], axis=1), "2 columns are named 'stems'"),
        (lambda f: f.to_numpy(), "the rows must be a data frame, not a ndarray"),
    ],
)
def test_a_frame_that_does_not_fit_is_refused_in_one_sentence(
    results: Results, change: Any, sentence: str
) -> None:
    with pytest.raises(SimstudyError, match=sentence) as caught:
        results.refit("AODE", "flowers").predict_proba(change(flowers()))
    assert "\n" not in str(caught.value)


def test_missing_values_that_nothing_prepares_are_refused_in_one_sentence(tmp_path: Path) -> None:
    flowers().to_csv(tmp_path / "flowers.csv", index=False)
    text = STUDY.replace('missing = "mode"', "").replace('[[datasets]]\npath = "votes.csv"\n', "")
    text = text.replace('target = "party"\n', "").replace("repeats = 2", "repeats = 1")
    (tmp_path / "study.toml").write_text(text)
    found = run_study(load_study(tmp_path / "study.toml"), tmp_path / "out", jobs=1, report=False)
    made = found.refit("camml")  # the only data set; its rows are at hand
    assert made.dataset == "flowers"
    with pytest.raises(SimstudyError, match="takes no missing values, and 'colour' has some"):
        made.predict_proba(flowers().assign(colour=None))
    flowers(61).to_csv(tmp_path / "flowers.csv", index=False)
    assert found.refit("camml").estimate == made.estimate
    with pytest.raises(SimstudyError, match=r"flowers\.csv has changed since the study was run"):
        open_results(tmp_path / "out").refit("camml")


PLUGIN = """
from dataclasses import dataclass
import numpy as np
from simstudy import Learner, register_learner

class Fitted:
    def predict_proba(self, codes):
        return np.tile([0.2, 0.3, 0.5], (len(codes), 1))

@register_learner("fixed_for_refit")
@dataclass(frozen=True)
class Fixed(Learner):
    def fit(self, sample, rng=None):
        return Fitted()
"""


def test_a_plugin_must_be_that_of_the_run(tmp_path: Path) -> None:
    flowers().to_csv(tmp_path / "flowers.csv", index=False)
    (tmp_path / "mine.py").write_text(PLUGIN)
    (tmp_path / "study.toml").write_text(
        'name = "x"\nplugins = ["mine.py"]\n[[datasets]]\npath = "flowers.csv"\n'
        '[resampling]\nfolds = 2\n[[learners]]\nname = "fixed_for_refit"\n'
    )
    found = run_study(load_study(tmp_path / "study.toml"), tmp_path / "out", jobs=1, report=False)
    proba = found.refit("fixed_for_refit").predict_proba(flowers())
    np.testing.assert_array_equal(proba[0], [0.2, 0.3, 0.5])
    copy = next((tmp_path / "out" / "plugins").glob("*mine.py"))
    copy.write_text(PLUGIN.replace("0.2, 0.3", "0.3, 0.2"))
    with pytest.raises(SimstudyError, match=r"mine\.py"):
        open_results(tmp_path / "out").refit("fixed_for_refit")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (("AODE",), "name one of the data sets: flowers, votes"),
        (("AODE", "flower"), "no data set 'flower' here; did you mean 'flowers'"),
        (("AOD", "votes"), "no learner 'AOD' here; did you mean 'AODE'"),
    ],
)
def test_unknown_names_are_refused(results: Results, given: Any, sentence: str) -> None:
    with pytest.raises(SimstudyError, match=sentence):
        results.refit(*given)
