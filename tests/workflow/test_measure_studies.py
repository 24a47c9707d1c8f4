"""Comparisons of measures from the study file to the page."""

import re

import numpy as np
import pytest

import simstudy
from simstudy.errors import SimstudyError
from simstudy.report.pages.page import report_page
from simstudy.report.terminal import make_console, print_summary

STUDY = {
    "name": "judges",
    "title": "Which measure finds the better learner?",
    "compare": "measures",
    "models": 3,
    "family": {"name": "tan", "variables": [4, 4], "values": [2, 3]},
    "data": {"train_sizes": [40], "test_sizes": [20, 50, 100], "repeats": 6},
    "learners": [{"name": "naive_bayes"}, {"name": "tan"}, {"name": "prior"}],
    "measures": {
        "primary": "information_reward",
        "also": ["accuracy", "auc:accuracy"],
        "targets": ["kl_divergence", "accuracy"],
    },
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    study = simstudy.make_study(STUDY)
    return simstudy.run_study(study, tmp_path_factory.mktemp("judges") / "out", jobs=1)


def test_the_scores_are_the_shares_of_right_choices_in_the_picks(results):
    picks, scores = results.picks, results.scores
    assert results.measures[:2] == ["right_kl_divergence", "right_accuracy"]
    assert len(picks) == 3 * 3 * 3 * 6
    assert results.learner_pairs == [
        ("naive_bayes", "tan"),
        ("naive_bayes", "prior"),
        ("tan", "prior"),
    ]
    for target in ("kl_divergence", "accuracy"):
        truth = picks[f"truth_{target}"]
        for measure in results.treatments:
            right = ((picks[measure] * truth + 1) / 2).where(truth != 0)
            own = right.groupby([picks["model"], picks["size"]]).mean()
            cell = scores[scores["learner"] == measure].set_index(["model", "size"])
            assert np.allclose(cell[f"right_{target}"], own, equal_nan=True)


def test_a_killed_or_parallel_run_has_the_same_bytes(results, tmp_path):
    study = simstudy.make_study(STUDY)
    again = simstudy.run_study(study, tmp_path / "two", jobs=2, report=False)
    for name in ("scores.parquet", "picks.parquet"):
        one, two = ((each.directory / name).read_bytes() for each in (results, again))
        assert one == two
    journal = again.directory / "cells.jsonl"
    kept = journal.read_bytes().splitlines(keepends=True)[:-1]
    journal.write_bytes(b"".join(kept))
    (again.directory / "manifest.json").unlink()
    resumed = simstudy.run_study(study, tmp_path / "two", jobs=1, report=False)
    for name in ("scores.parquet", "picks.parquet"):
        one, two = ((each.directory / name).read_bytes() for each in (results, resumed))
        assert one == two


def test_more_measures_and_sizes_extend_the_results(tmp_path):
    small = simstudy.make_study(STUDY, overrides={"data.test_sizes": [20], "measures.also": []})
    simstudy.run_study(small, tmp_path / "out", jobs=1, report=False)
    larger = simstudy.run_study(simstudy.make_study(STUDY), tmp_path / "out", jobs=1, report=False)
    assert not larger.reused
    back = simstudy.run_study(small, tmp_path / "out", jobs=1, report=False)
    assert back.treatments == ["information_reward"]
    others = simstudy.make_study(STUDY, overrides={"learners": STUDY["learners"][:2]})
    with pytest.raises(SimstudyError, match="learners"):
        simstudy.run_study(others, tmp_path / "out", jobs=1, report=False)


def test_page_and_terminal_speak_of_measures_and_test_rows(results, capsys):
    page = (results.directory / "report.html").read_text(encoding="utf-8")
    assert "Which measure finds the better learner?" in page
    assert "Differences between measures" in page
    assert "Choices between learners" in page
    assert "test rows" in page
    for words in ("training rows", "by learner", "every learner"):
        assert words not in page
    print_summary(results, make_console(), details=True)
    printed = capsys.readouterr().out
    assert "by measure and test rows" in " ".join(printed.split())
    assert "test sets of 20, 50, 100 rows" in " ".join(printed.split())
    assert "learner" not in printed.replace("better learner?", "")


def test_analyses_of_choices(results):
    needed = results.rows_needed("right_accuracy", at=50)
    assert needed["learner"].tolist() == results.treatments
    assert results.contradictions().groupby("size").size().tolist() == [3, 3, 3]
    assert set(results.against_truth()["target"]) == {"kl_divergence", "accuracy"}
    shares = [name for name in results.measures if results.info(name).share]
    assert shares == ["right_kl_divergence", "right_accuracy"]
    limits = results.intervals("right_accuracy")[["lower", "upper"]]
    assert ((limits >= 0) & (limits <= 1)).all(axis=None)
    with pytest.raises(SimstudyError, match="no test size 70"):
        results.rows_needed(at=70)


def test_a_cell_can_be_run_alone(results):
    found = simstudy.run_cell(simstudy.make_study(STUDY), 1, 50, "accuracy")
    scores = results.scores
    row = scores[
        (scores["model"] == 1) & (scores["size"] == 50) & (scores["learner"] == "accuracy")
    ]
    assert found["right_kl_divergence"] == row["right_kl_divergence"].iloc[0]


def test_pages_name_measures_and_files_keep_their_labels(results):
    shown = results.shown
    assert shown.treatments == ["information reward", "accuracy", "AUC:accuracy"]
    assert shown.shown is shown
    assert results.treatments == ["information_reward", "accuracy", "auc:accuracy"]
    assert {*results.study.page.files(results)["pairwise.csv"]["first"]} <= {*results.treatments}
    page = report_page(results)
    assert ">information reward</span></label>" in page
    assert "information_reward</span></label>" not in page
    own, findings = results.rows_needed(), shown.findings()
    assert [*own["lower"]] == [*shown.rows_needed()["lower"]]
    assert results.findings().means[0].mean == findings.means[0].mean
    assert findings.means[0].learner == "information reward"


@pytest.mark.parametrize(
    ("column", "note"),
    [
        (
            "right_kl_divergence",
            "favours log loss .* the expectation of log loss is the target plus a constant",
        ),
        ("loss_accuracy", "favours accuracy .* the expectation of accuracy is the target\\."),
    ],
)
def test_a_page_says_which_measure_its_target_favours(results, column, note):
    shown = results.shown
    view = shown.study.page.view(shown, shown.findings(column), 0)
    assert re.search(note, view["others"])
