"""Winners, correlations, properties and reversals of a small study of data sets."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from simstudy import SimstudyError, load_study, open_results, run_study
from simstudy.analysis.tests.resampled import five_by_two_t
from simstudy.measures import information_reward
from simstudy.results.read import examples

STUDY = """
name = "pair"
seed = 3
keep_answers = true

[[datasets]]
path = "mixed.csv"

[[datasets]]
path = "copies.csv"

[resampling]
scheme = "5x2cv"

[[learners]]
name = "naive_bayes"
label = "NB"

[[learners]]
name = "prior"
label = "prior"

[measures]
also = ["accuracy", "brier_score", "auc"]
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """The results of the study, beside its files."""
    place, rng = tmp_path_factory.mktemp("pair"), np.random.default_rng(4)
    kind = rng.integers(0, 2, 61)
    copies = {f"x{i}": np.where(rng.random(61) < 0.9, kind, 1 - kind) for i in range(3)}
    mixed = pd.DataFrame({"length": kind + rng.normal(0, 1, 61).round(2), **copies})
    mixed = mixed.astype(object).mask(rng.random(mixed.shape) < [0.1, 0, 0, 0], "?")
    mixed.assign(kind=np.array(["a", "b"])[kind]).to_csv(place / "mixed.csv", index=False)
    kind = (rng.random(47) < 0.4).astype(int)
    # One attribute ten times: NB is right as often as with one, and far too sure.
    seen = np.array(["no", "yes"])[np.where(rng.random(47) < 0.7, kind, 1 - kind)]
    copies = pd.DataFrame({f"x{i}": seen for i in range(10)})
    copies.assign(kind=np.array(["a", "b"])[kind]).to_csv(place / "copies.csv", index=False)
    (place / "study.toml").write_text(STUDY, encoding="utf-8")
    run_study(load_study(place / "study.toml"), place / "out", jobs=1)
    return place


@pytest.fixture(scope="module")
def results(place):
    return open_results(place / "out")


def test_winners_are_those_of_the_five_by_two_test(results):
    found = results.winners("brier_score", adjustment="none")
    assert (found.test, found.alpha, found.m) == ("five_by_two_t", 0.05, 1)
    assert [*found.table.columns] == ["NB", "prior"]
    assert [*found.table.index] == ["mixed", "copies"]
    own = results.scores[results.scores["dataset"] == "mixed"]
    nb, prior = (own[own["learner"] == name]["brier_score"].to_numpy() for name in ("NB", "prior"))
    t, p = five_by_two_t((prior - nb).reshape(5, 2))  # a loss
    assert p < 0.05
    assert t > 0
    assert "prior" in found.losers("mixed", "NB")
    with pytest.raises(SimstudyError, match="alpha is 2"):
        results.winners(alpha=2)


def test_correlations_are_over_the_splits(results):
    found = results.correlations("information_reward", "brier_score")
    own = results.scores.query("dataset == 'mixed' and learner == 'NB'")
    expected = np.corrcoef(own["information_reward"], own["brier_score"])[0, 1]
    assert found.table.loc["mixed", "NB"] == pytest.approx(expected)
    assert found.table.loc["mixed", "NB"] < 0
    assert len(results.correlations("auc", "accuracy").cells) == 4


def test_properties_are_those_of_the_files(place, results):
    mixed, copies = results.properties().to_dict("records")
    missing = (pd.read_csv(place / "mixed.csv", dtype=str)["length"] == "?").sum()
    assert mixed["missing"] == pytest.approx(missing / (61 * 4))
    assert (mixed["rows"], mixed["attributes"], mixed["classes"]) == (61, 4, 2)
    assert mixed["numeric"] == 4
    assert (mixed["least_train_rows"], mixed["most_train_rows"]) == (30, 31)
    assert (copies["rows"], copies["numeric"], copies["missing"]) == (47, 0, 0)


def test_a_third_of_47_rows_is_16(place, tmp_path):
    # Korb, Hope & Hughes (2001), Table 7: 31 training and 16 test rows of 47.
    text = STUDY.replace('"5x2cv"', '"holdout"\nrepeats = 3\nstratify = false')
    text = text.replace('path = "mixed.csv"', f'path = "{place / "mixed.csv"}"')
    text = text.replace('path = "copies.csv"', f'path = "{place / "copies.csv"}"')
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    results = run_study(load_study(tmp_path / "study.toml"), tmp_path / "out", jobs=1)
    _, copies = results.properties().to_dict("records")
    train, test = (31, 31), (16, 16)
    assert (copies["least_train_rows"], copies["most_train_rows"]) == train
    assert (copies["least_test_rows"], copies["most_test_rows"]) == test
    assert results.winners().test == "corrected_t"


def test_an_example_shows_why_measures_disagree(results):
    found = results.reversals("accuracy", "information_reward")
    (one,) = found.cases
    assert (one.dataset, one.winner_first, one.winner_second) == ("copies", "NB", "prior")
    assert one.difference_first > 0
    assert one.difference_second > 0
    example = one.example
    assert example.difference_first == 0  # both are wrong, and NB is sure
    assert example.difference_second > 0.5
    assert example.probabilities_first[example.target] < 0.05
    same = results.answers.query(
        "dataset == 'copies' and row == @example.row and repeat == @example.repeat"
    ).set_index("learner")
    kept = same["probabilities"]
    assert [*example.probabilities_first.values()] == [*kept["NB"]]
    assert [*example.probabilities_second.values()] == [*kept["prior"]]
    names = [*example.probabilities_first]
    assert same["target"].unique().tolist() == [names.index(example.target)]
    # The other way round: a row that NB alone predicts correctly counts for it by reward too.
    (one,) = results.reversals("information_reward", "accuracy").cases
    assert (one.winner_first, one.winner_second) == ("prior", "NB")
    assert (one.example, one.no_example) == (None, examples.NO_ROW)


def test_the_value_of_a_row_is_the_measure_of_the_study(results):
    (one,) = results.reversals("accuracy", "information_reward").cases
    example = one.example
    own = results.answers.query("dataset == 'copies' and repeat == @example.repeat")
    own = own[own["learner"] == "NB"]
    train = own[own["fold"] != example.fold]["target"].to_numpy()
    n, target = len(train), [*example.probabilities_first].index(example.target)
    prior = (np.bincount(train, minlength=2) + 0.5) / (n + 1)
    limits = 0.5 / (n + 1), (n + 0.5) / (n + 1)
    first, second = (
        information_reward(np.clip([[*given.values()]], *limits), np.array([target]), prior)[0]
        for given in (example.probabilities_first, example.probabilities_second)
    )
    assert example.difference_second == pytest.approx(second - first)


def test_why_there_is_no_example(place, results):
    (one,) = results.reversals("auc", "information_reward").cases
    assert one.no_example == "auc has no value for a single row"
    (one,) = results.reversals("accuracy", "information_reward", examples=False).cases
    assert (one.example, one.no_example) == (None, "")
    kept = (place / "copies.csv").read_text(encoding="utf-8")
    try:
        (place / "copies.csv").write_text(kept.replace("yes", "no", 1), encoding="utf-8")
        with pytest.raises(SimstudyError, match="has changed since the study was run"):
            results._tables()
        (one,) = results.reversals("accuracy", "information_reward").cases
        assert "has changed since the study was run" in one.no_example
    finally:
        (place / "copies.csv").write_text(kept, encoding="utf-8")
