"""Measures added to results from the predictions that they keep."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from simstudy import SimstudyError, load_study, open_results, run_study
from simstudy.engine.evaluation import pack, unpack
from simstudy.measures import accuracy
from simstudy.results.store.journal import Journal
from simstudy.workflow.score import add_measures

KEPT = {"models = 4": "models = 4\nkeep_answers = true"}
COST = {"name": "cost", "label": "cost_of_5", "decision": "least_cost"}
FURTHER = ["kappa", COST, "auc"]

DATA = """
name = "table"
keep_answers = true
[[datasets]]
path = "table.csv"
[resampling]
folds = 3
[[learners]]
name = "naive_bayes"
[[learners]]
name = "c45"
"""


def bytes_of(directory, name="scores.parquet") -> bytes:
    return (directory / name).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("test_size", ["100", '"exact"', '"both"'])
def test_added_measures_are_those_of_a_study_that_had_them(write_study, tmp_path, test_size):
    path = write_study(KEPT | {"test_size = 100": f"test_size = {test_size}"})
    run_study(load_study(path), tmp_path / "few", report=False)
    results = add_measures(tmp_path / "few", FURTHER, report=False)
    more = load_study(path, {"measures.also": FURTHER})
    run_study(more, tmp_path / "more", report=False)
    for name in ("scores.parquet", "answers.parquet"):
        assert bytes_of(tmp_path / "few", name) == bytes_of(tmp_path / "more", name)
    assert "cost_of_5" in results.measures
    # the extended study owns the results: running it again computes nothing
    assert run_study(more, tmp_path / "few", report=False).reused


@pytest.mark.slow
def test_added_measures_of_data_sets_are_those_of_a_study_that_had_them(tmp_path):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 60)
    table = pd.DataFrame({"x": y + rng.normal(0, 1, 60), "y": np.array(["no", "yes"])[y]})
    table.to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "study.toml").write_text(DATA)
    run_study(load_study(tmp_path / "study.toml"), tmp_path / "few", report=False)
    added = [*FURTHER, {"name": "auc", "label": "auc_of_no", "positive": "no"}]
    add_measures(tmp_path / "few", added, report=False)
    more = load_study(tmp_path / "study.toml", {"measures.also": added})
    run_study(more, tmp_path / "more", report=False)
    assert bytes_of(tmp_path / "few") == bytes_of(tmp_path / "more")


def test_kept_predictions_give_the_scores(write_study, tmp_path):
    path = write_study(KEPT, name="kept.toml")
    results = run_study(
        load_study(path, {"measures.also": ["accuracy"]}), tmp_path / "out", report=False
    )
    for (model, size, learner), rows in results.answers.groupby(["model", "size", "learner"]):
        proba = np.stack(rows["probabilities"].to_list())
        cells = results.scores.set_index(["model", "size", "learner"])
        value = cells.loc[(model, size, learner), "accuracy"]
        assert accuracy(proba, rows["target"].to_numpy()).mean() == pytest.approx(value, abs=1e-12)
        assert rows["row"].tolist() == [*range(100)]


def test_adding_a_measure_twice_changes_nothing(write_study, tmp_path):
    run_study(load_study(write_study(KEPT)), tmp_path / "out", report=False)
    add_measures(tmp_path / "out", ["kappa"], report=False)
    before = bytes_of(tmp_path / "out")
    results = add_measures(tmp_path / "out", ["kappa"], report=False)
    assert bytes_of(tmp_path / "out") == before
    assert results.measures == ["information_reward", "kappa"]


def test_why_an_added_measure_has_no_value_is_in_the_results(write_study, tmp_path):
    path = write_study(KEPT | {"test_size = 100": "test_size = 1"})
    run_study(load_study(path), tmp_path / "few", report=False)
    added = ["auc", "recall"]
    results = add_measures(tmp_path / "few", added, report=False)
    more = load_study(path, {"measures.also": added})
    expected = run_study(more, tmp_path / "more", report=False).manifest["warnings"]
    assert any("no auc: " in text for text in expected)
    assert results.manifest["warnings"] == expected


def test_parts_of_regret_stay_and_failed_cells_stay_failed(write_study, tmp_path):
    (tmp_path / "plugin.py").write_text(
        "from dataclasses import dataclass\n"
        "from simstudy import Learner, register_learner\n"
        '@register_learner("fails_at_60")\n'
        "@dataclass(frozen=True)\n"
        "class Fails(Learner):\n"
        "    def fit(self, sample, rng=None):\n"
        "        from simstudy.learners import Prior\n"
        "        if len(sample) == 60:\n"
        '            raise ValueError("sixty")\n'
        "        return Prior().fit(sample, rng)\n"
    )
    changes = {
        'name = "tan"\nlabel = "TAN"': 'name = "fails_at_60"\nlabel = "F"',
        "seed = 7": 'seed = 7\nplugins = ["plugin.py"]',
    }
    path = write_study(KEPT | changes)
    also = {"measures.also": ["regret", "representation"]}
    before = run_study(load_study(path, also), tmp_path / "out", report=False).scores
    after = add_measures(tmp_path / "out", ["kappa"], report=False).scores
    pd.testing.assert_frame_equal(after[before.columns], before)
    failed = after["learner"].eq("F") & after["size"].eq(60)
    assert failed.any()
    assert after.loc[failed, "kappa"].isna().all()
    assert (after.loc[failed, "status"] == "error").all()
    assert after.loc[~failed, "kappa"].notna().all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "measure", "said"),
    [
        ({}, "kappa", "has no predictions; rerun with keep_answers = true"),
        (KEPT, "kapa", "unknown measure 'kapa'; did you mean 'kappa'"),
        (KEPT, "representation", "'representation' needs learners' limits, not only predictions"),
        (KEPT, "message_length", "'message_length' needs fitted learners"),
        (KEPT, {"name": "cost", "matrix": [[0]]}, "measures.also"),
    ],
)
def test_what_cannot_be_added_is_refused_and_the_results_stay(
    write_study, tmp_path, changes, measure, said
):
    run_study(load_study(write_study(changes)), tmp_path / "out", report=False)
    before = bytes_of(tmp_path / "out"), bytes_of(tmp_path / "out", "cells.jsonl")
    with pytest.raises(SimstudyError, match=said) as caught:
        add_measures(tmp_path / "out", [measure], report=False)
    assert "\n" not in str(caught.value)
    assert (bytes_of(tmp_path / "out"), bytes_of(tmp_path / "out", "cells.jsonl")) == before


def test_predictions_that_do_not_give_the_recorded_score_are_refused(write_study, tmp_path):
    run_study(load_study(write_study(KEPT)), tmp_path / "out", report=False)
    journal = Journal(tmp_path / "out")
    (owner,) = journal.owners()
    tasks = [*journal.tasks()]
    rows, target, proba = unpack(tasks[0][0].answers)
    changed = pack(rows, target, proba[:, ::-1])
    tasks[0][0] = replace(tasks[0][0], answers=changed)
    journal.replace(owner, tasks)
    with pytest.raises(SimstudyError, match="is recorded; run the study again"):
        add_measures(tmp_path / "out", ["kappa"], report=False)


def test_packed_predictions_come_back():
    proba = np.random.default_rng(1).dirichlet(np.ones(3), 7)
    rows, target, back = unpack(pack(np.arange(7), np.arange(7) % 3, proba))
    assert rows.tolist() == [*range(7)]
    assert target.tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert np.array_equal(back, proba)


@pytest.mark.slow
def test_the_command_adds_measures_and_writes_the_report(write_study, simstudy, tmp_path):
    path = write_study(KEPT)
    assert simstudy("run", path, "--out", tmp_path / "out", "--no-report").returncode == 0
    done = simstudy(
        "score", tmp_path / "out", "--measure", "kappa", "--measure", '{ name = "cost" }'
    )
    assert done.returncode == 0, done.stderr
    assert "has the measures information_reward, kappa, cost" in done.stdout
    assert (tmp_path / "out" / "report.html").exists()
    assert open_results(tmp_path / "out").measures == ["information_reward", "kappa", "cost"]
    wrong = simstudy("score", tmp_path / "out", "--measure", "{ name = ")
    assert wrong.returncode == 2
    assert "not a TOML table" in wrong.stderr
    assert "Traceback" not in wrong.stderr
