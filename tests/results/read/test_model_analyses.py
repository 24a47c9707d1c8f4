"""Tables of results belong to whoever asked for them, as a copy or as a file."""

from __future__ import annotations

import io

import pandas as pd
import pytest

from simstudy import SimstudyError, load_study, run_study

TABLES = {
    "anova": (),
    "intervals": (),
    "pairwise": (),
    "thresholds": (),
    "precision": (),
    "ranks": (),
    "difference_curve": ("NB", "TAN"),
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    from tests.conftest import SMALL_STUDY

    place = tmp_path_factory.mktemp("analyses")
    (place / "study.toml").write_text(SMALL_STUDY)
    return run_study(load_study(place / "study.toml"), place / "out", jobs=1, report=False)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_that_is_changed_changes_no_later_one(results, name):
    def ask():
        return getattr(results, name)(*TABLES[name])

    before = ask().copy()
    mine = ask()
    for column in mine.select_dtypes("number"):
        mine[column] = -1
    pd.testing.assert_frame_equal(ask(), before)


def test_scores_are_written_as_csv(results, tmp_path):
    text = results.to_csv()
    read = pd.read_csv(io.StringIO(text))
    pd.testing.assert_frame_equal(read, results.scores, check_dtype=False, rtol=1e-14)
    path = tmp_path / "new" / "scores.csv"
    path.parent.mkdir()
    path.write_text("something else")
    assert results.to_csv(path) is None
    assert path.read_text(encoding="utf-8") == text
    results.to_csv(str(tmp_path / "again.csv"))
    assert (tmp_path / "again.csv").read_text(encoding="utf-8") == text
    with pytest.raises(SimstudyError, match=r"new cannot be written: Is a directory"):
        results.to_csv(path.parent)


def test_labels_in_csv_are_no_formulas(write_study, tmp_path):
    study = load_study(write_study({'label = "NB"': 'label = "=NB()"'}))
    text = run_study(study, tmp_path / "out", jobs=1, report=False).to_csv()
    assert ",'=NB()," in text


def test_results_say_on_one_line_what_they_are(results):
    assert repr(results).startswith("LearnerResults(4 models, 2 learners, 2 training sizes; in ")
