"""`simstudy report`."""

from __future__ import annotations

import io
import json

import pandas as pd
import pytest

from tests.report.packed import files

pytestmark = pytest.mark.xdist_group("cli_out")  # its results are made once

KEPT = {
    *("manifest.json", "study.toml", "cells.jsonl"),
    *("scores.parquet", "timings.parquet", "failures.csv"),
}
TABLES = ("anova", "intervals", "pairwise", "left_out", "precision", "thresholds")
MADE = {
    *("report.html", "card.svg", "captions.md"),
    *(f"{name}.csv" for name in TABLES),
    *(f"learning_curves.{ending}" for ending in ("png", "svg", "pdf")),
}
ANALYSES = ("anova", "intervals", "pairwise")


@pytest.mark.slow
def test_the_report_of_a_run_is_made_again_to_the_byte(simstudy, copy):
    before = {path.name: path.read_bytes() for path in copy.iterdir()}
    assert {*before} == KEPT | MADE
    for name in MADE:
        (copy / name).unlink()
    done = simstudy("report", "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert "report.html" in done.stdout
    assert {path.name: path.read_bytes() for path in copy.iterdir()} == before


@pytest.mark.slow
def test_files_that_a_report_no_longer_has_go_with_the_earlier_report(simstudy, copy):
    manifest = json.loads((copy / "manifest.json").read_text(encoding="utf-8"))
    (copy / "differences.png").write_bytes(b"of an earlier version")
    (copy / "notes.txt").write_text("of the user", encoding="utf-8")
    earlier = {**manifest, "report": [*manifest["report"], "differences.png"]}
    (copy / "manifest.json").write_text(json.dumps(earlier, indent=2), encoding="utf-8")
    assert simstudy("report", "out").returncode == 0
    assert {path.name for path in copy.iterdir()} == KEPT | MADE | {"notes.txt"}


@pytest.mark.parametrize("analysis", ANALYSES)
def test_tables_have_every_digit_of_the_results(place, results, analysis):
    written = pd.read_csv(place / "out" / f"{analysis}.csv")
    assert list(dict.fromkeys(written["measure"])) == results.measures
    for measure in results.measures:
        expected = getattr(results, analysis)(measure)
        rows = written[written["measure"] == measure].reset_index(drop=True)
        pd.testing.assert_frame_equal(
            rows[expected.columns], expected, check_dtype=False, rtol=1e-14
        )


def test_the_page_holds_the_numbers_of_the_results(place, results):
    page = (place / "out" / "report.html").read_text(encoding="utf-8")
    held = files(page)
    for measure in results.measures:
        pairs = results.pairwise(measure)
        for name, expected in (
            (f"anova_{measure}", results.anova(measure)),
            (f"means_{measure}", results.intervals(measure)),
            *(
                (f"pairs_{size}_{measure}", pairs[pairs["size"] == size].reset_index(drop=True))
                for size in results.sizes
            ),
        ):
            found = pd.read_csv(io.StringIO(held[f"{name}.csv"]))
            found = found[expected.columns]  # it may have more
            pd.testing.assert_frame_equal(found, expected, check_dtype=False, rtol=1e-10)
    for learner in results.learners:
        assert learner in page


def test_a_wrong_directory_is_refused(simstudy, refused):
    refused(simstudy("report", "nowhere"), "nowhere")


def test_without_scores_nothing_is_made(simstudy, copy, refused):
    for name in (*MADE, "scores.parquet"):
        (copy / name).unlink()
    refused(simstudy("report", "out"), "out/scores.parquet")
    assert {path.name for path in copy.iterdir()} == KEPT - {"scores.parquet"}
