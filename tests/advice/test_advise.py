"""Advice on a table: from a frame, from a file, and in words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import simstudy
from simstudy.advice import advise as workflow
from simstudy.advice import prose as prose
from simstudy.advice.advise import read_table
from simstudy.engine.workers import child, guard
from tests.report.packed import files

ROWS = 90


def frame(rows: int = ROWS) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    classes = rng.integers(2, size=rows)
    colour = np.where(rng.random(rows) < 0.2 + 0.6 * classes, "red", "blue")
    size = np.where(rng.random(rows) < 0.1, np.nan, rng.normal(classes, 0.7).round(2))
    return pd.DataFrame(
        {
            "id": np.arange(rows),
            "colour": colour,
            "size": size,
            "leak": np.where(classes == 1, "b", "a"),
            "class": np.where(classes == 1, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def advice(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workflow, "_SPLIT_ROWS", 1)  # one repeat
        place = tmp_path_factory.mktemp("advice") / "out"
        return simstudy.advise(frame(), "class", place, models=10, rows=[300], jobs=1)


def test_advice_names_what_it_left_out(advice):
    assert (advice.about.screening.identifiers, advice.about.screening.copies) == (
        ("id",),
        ("leak",),
    )
    text = " ".join(prose.left_out(advice.about))
    assert "identifiers do: id; left out" in text
    assert "as if copied from it: leak; left out" in text


def test_scores_now_are_those_of_the_study_of_the_table(advice):
    study = simstudy.open_results(advice.directory / "table")
    for measure in ("information_reward", "accuracy"):
        means = study.dataset_means(measure)
        last = means[means["size"] == "100%"].set_index("learner")["mean"]
        own = advice.now()
        own = own[own["measure"] == measure].set_index("learner")["value"]
        assert own.to_dict() == pytest.approx(last.to_dict())


def test_predictions_go_to_ten_times_the_rows_and_to_those_asked_for(advice):
    table = advice.forecast()
    assert sorted({*table["rows"]}) == [90, 180, 300, 450, 900]
    assert (table["low"] <= table["value"]).all()
    assert (table["value"] <= table["high"]).all()
    assert table[table["measure"] == "accuracy"]["high"].max() <= 1


def test_the_page_has_the_numbers_and_needs_nothing_else(advice):
    page = advice.page.read_text(encoding="utf-8")
    assert "src=" not in page
    assert "90</b> rows" in page
    for sentence in advice.sentences:
        assert str(sentence).split("[")[0][:40] in page.replace("&#39;", "'")
    assert {*files(page)} >= {"now.csv", "gains.csv", "check_accuracy.csv"}


def test_advice_again_computes_nothing(advice, monkeypatch):
    monkeypatch.setattr(workflow, "_SPLIT_ROWS", 1)
    before = (advice.page.read_bytes(), (advice.directory / "table" / "cells.jsonl").read_bytes())
    again = simstudy.advise(frame(), "class", advice.directory, models=10, rows=[300], jobs=1)
    after = (again.page.read_bytes(), (again.directory / "table" / "cells.jsonl").read_bytes())
    assert before == after


def test_both_studies_run_in_the_same_workers(tmp_path, monkeypatch):
    started = []

    class Counted(child.Child):
        def __init__(self) -> None:
            started.append(self)
            super().__init__()

    monkeypatch.setattr(child, "Child", Counted)
    monkeypatch.setattr(guard, "Child", Counted)
    monkeypatch.setattr(workflow, "_SPLIT_ROWS", 1)
    simstudy.advise(frame(), "class", tmp_path / "out", models=10, jobs=2)
    assert len(started) == 2
    assert not any(worker.alive for worker in started)


def test_advice_on_other_rows_goes_elsewhere(advice):
    before = (advice.directory / "data.arff").read_bytes()
    with pytest.raises(simstudy.SimstudyError, match="other rows or columns"):
        simstudy.advise(frame().head(80), "class", advice.directory, models=10, jobs=1)
    assert (advice.directory / "data.arff").read_bytes() == before


def test_rows_are_kept_as_they_were_read(advice):
    own, _ = read_table(frame(), workflow.ReadOptions("class"), "tan", 10, 1)
    again = simstudy.read_data(advice.directory / "data.arff", "class")
    assert again.schema == own.schema
    assert np.array_equal(again.values, own.values, equal_nan=True)


def test_of_many_rows_some_are_used():
    table = frame(20_000).drop(columns=["id", "leak"])
    sample, about = read_table(table, workflow.ReadOptions("class"), "tan", 10, 1)
    assert (about.all_rows, len(sample)) == (20_000, 5000)


def test_sizes_are_those_of_splits_and_of_forecasts():
    assert workflow._sizes(435, ()) == [48, 97, 195, 391, 435, 870, 2175, 4350]
    assert workflow._sizes(5000, ())[-3:] == [5000, 10_000, 20_000]


def test_a_crossing_in_words():
    from simstudy.advice.facts import Crossing

    class One:
        rows, sizes = 100, [100, 1000]

    text = prose.crossing(Crossing("TAN", "NB", 432.0, 0.0, np.inf, 0.93), One())
    assert text.startswith("TAN overtakes NB at about 430 rows [below 100, above 1,000]")
    assert "93%" in text
