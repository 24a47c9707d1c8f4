"""A run that was stopped, damaged or made larger goes on from what is there."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

from simstudy import SimstudyError, load_study, merge, open_results, run_shard, run_study
from simstudy.engine import task
from simstudy.engine.task import Cell
from simstudy.results.store.journal import JOURNAL, Journal
from simstudy.results.store.store import Store

# Enough models that a run can be met at work.
STUDY = """
name = "stopped"
models = 60

[family]
name = "tan"
variables = [3, 4]

[data]
train_sizes = [20, 60]
test_size = 60

[[learners]]
name = "naive_bayes"
label = "NB"

[[learners]]
name = "tan"
label = "TAN"
"""


def scores(directory: Path) -> bytes:
    return (directory / "scores.parquet").read_bytes()


@pytest.fixture
def whole(write_study, tmp_path):
    """The scores of a run that nothing stopped."""
    study = load_study(write_study(text=STUDY, name="whole.toml"))
    return scores(run_study(study, tmp_path / "whole", jobs=1, report=False).directory)


@pytest.fixture
def calls(monkeypatch):
    """The cells that are computed: model, size and label."""
    seen = []
    run_cell = task.Task.run_cell

    def spy(self, part, size):
        seen.append((self._model, size, part.label))
        return run_cell(self, part, size)

    monkeypatch.setattr(task.Task, "run_cell", spy)
    return seen


def start(study: Path, out: Path) -> subprocess.Popen[str]:
    options = ["--out", out, "--jobs", "1", "--no-report", "--quiet"]
    command = [sys.executable, "-m", "simstudy.run", study, *options]
    return subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True)


def wait_for_lines(process: subprocess.Popen[str], journal: Path, lines: int) -> None:
    """Until so many tasks are finished, or the process is."""
    while process.poll() is None:
        if journal.exists() and journal.read_bytes().count(b"\n") >= lines:
            return
        time.sleep(0.001)


@pytest.mark.slow
def test_a_run_killed_again_and_again_ends_with_the_same_bytes(write_study, tmp_path, whole):
    study = write_study(text=STUDY)
    rng = random.Random(5)
    killed = 0
    for turn in range(10):
        # At any moment, also while a line is being written.
        process = start(study, tmp_path / "out")
        wait_for_lines(process, tmp_path / "out" / JOURNAL, 1 + 5 * turn)
        time.sleep(rng.random() * 0.01)
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
        process.stderr.close()
    assert killed >= 5
    study = load_study(study)
    assert scores(run_study(study, tmp_path / "out", jobs=1, report=False).directory) == whole


def test_a_polite_kill_says_how_to_go_on(write_study, tmp_path, whole):
    study = write_study(text=STUDY)
    process = start(study, tmp_path / "out")
    wait_for_lines(process, tmp_path / "out" / JOURNAL, 3)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "finished cells are saved" in said
    assert f"python -m simstudy.run {study} --out {tmp_path / 'out'}" in said
    assert "Traceback" not in said
    kept = len(list(Journal(tmp_path / "out").cells()))
    assert 0 < kept < 240
    results = run_study(load_study(study), tmp_path / "out", jobs=1, report=False)
    assert scores(results.directory) == whole


@pytest.mark.parametrize("damage", ["truncated", "flipped", "emptied"])
def test_damage_is_found_and_mended(write_study, tmp_path, whole, calls, damage):
    study = load_study(write_study(text=STUDY))
    out = run_study(study, tmp_path / "out", jobs=1, report=False).directory
    content = bytearray((out / JOURNAL).read_bytes())
    if damage == "truncated":
        del content[-40:]
    elif damage == "flipped":
        content[len(content) // 2] ^= 4
    else:
        content.clear()
    (out / JOURNAL).write_bytes(bytes(content))
    manifest = json.loads((out / "manifest.json").read_text())
    (out / "manifest.json").write_text(json.dumps({**manifest, "status": "running"}))
    calls.clear()
    results = run_study(study, out, jobs=1, report=False)
    assert scores(out) == whole
    assert len(calls) == (240 if damage == "emptied" else 4)
    if damage != "emptied":
        assert "1 lines of" in results.note


def test_a_larger_study_computes_only_what_is_missing(write_study, tmp_path, calls):
    out = tmp_path / "out"
    run_study(load_study(write_study(text=STUDY), {"models": 3}), out, jobs=1, report=False)
    calls.clear()
    run_study(load_study(write_study(text=STUDY), {"models": 5}), out, jobs=1, report=False)
    assert {model for model, _, _ in calls} == {3, 4}
    calls.clear()
    sizes = {"models": 5, "data.train_sizes": [20, 40, 60]}
    run_study(load_study(write_study(text=STUDY), sizes), out, jobs=1, report=False)
    assert {(size, label) for _, size, label in calls} == {(40, "NB"), (40, "TAN")}
    calls.clear()
    more = STUDY + '\n[[learners]]\nname = "aode"\n'
    extended = run_study(load_study(write_study(text=more), sizes), out, jobs=1, report=False)
    assert {label for _, _, label in calls} == {"aode"}
    fresh = run_study(load_study(write_study(text=more), sizes), tmp_path / "new", jobs=1)
    assert scores(extended.directory) == scores(fresh.directory)


AODE = STUDY + '\n[[learners]]\nname = "aode"\n'
LARGE = {"models": 4, "data.train_sizes": [20, 40, 60]}
LABELS = ["NB", "TAN", "aode"]


@pytest.mark.slow
def test_a_smaller_study_is_answered_from_what_is_there(write_study, tmp_path, calls):
    large = load_study(write_study(text=AODE), LARGE)
    out = run_study(large, tmp_path / "out", jobs=1).directory
    before, journal = scores(out), (out / JOURNAL).read_bytes()
    tables = {path: path.read_bytes() for path in out.glob("[aip]*.csv")}
    assert tables
    for number, (text, fewer, said) in enumerate(
        [
            (AODE, {"models": 2}, ["2 further models"]),
            (AODE, {"data.train_sizes": [20, 60]}, ["1 further size (40 rows)"]),
            (STUDY, {}, ["1 further learner (aode)"]),
            (
                STUDY,
                {"models": 3, "data.train_sizes": [40]},
                ["1 further model", "2 further sizes"],
            ),
        ]
    ):
        calls.clear()
        study = load_study(write_study(text=text), {**LARGE, **fewer})
        smaller = run_study(study, out, jobs=1, report=number == 0)
        assert calls == []
        assert all(words in smaller.note for words in said)
        assert (out / JOURNAL).read_bytes().startswith(journal)
        fresh = run_study(study, tmp_path / f"fresh{number}", jobs=1, report=False)
        for name in ("scores.parquet", "failures.csv", "study.toml"):
            assert (out / name).read_bytes() == (fresh.directory / name).read_bytes(), name
        for key in ("conditions", "fingerprint", "cells", "networks", "warnings"):
            assert smaller.manifest[key] == fresh.manifest[key], key
        assert run_study(study, out, jobs=1, report=False).reused
    calls.clear()
    again = run_study(large, out, jobs=1)
    assert calls == []
    assert not again.note
    assert scores(out) == before
    assert {path: path.read_bytes() for path in tables} == tables
    assert (out / "report.html").exists()


def test_fewer_models_and_one_more_size_compute_what_is_missing(write_study, tmp_path, calls):
    out = tmp_path / "out"
    run_study(load_study(write_study(text=AODE), LARGE), out, jobs=1, report=False)
    calls.clear()
    mixed = {"models": 2, "data.train_sizes": [20, 30]}
    reordered = load_study(write_study(text=AODE), mixed)
    reordered = replace(reordered, learners=reordered.learners[::-1])
    results = run_study(reordered, out, jobs=1, report=False)
    assert sorted(calls) == [(model, 30, label) for model in (0, 1) for label in LABELS]
    assert results.learners == LABELS[::-1]
    fresh = run_study(reordered, tmp_path / "fresh", jobs=1, report=False)
    assert scores(out) == scores(fresh.directory)
    calls.clear()
    run_study(load_study(write_study(text=AODE), {**LARGE, "models": 5}), out, jobs=1, report=False)
    assert {model for model, _, _ in calls} == {4}
    calls.clear()
    run_study(reordered, out, jobs=1, report=False, overwrite=True)
    assert len(calls) == 2 * 2 * 3


def test_kept_cells_of_another_learner_under_the_same_label_are_not_taken(write_study, tmp_path):
    out = tmp_path / "out"
    run_study(load_study(write_study(text=AODE), {"models": 2}), out, jobs=1, report=False)
    run_study(load_study(write_study(text=STUDY), {"models": 2}), out, jobs=1, report=False)
    other = load_study(write_study(text=AODE + "min_frequency = 5.0\n"), {"models": 2})
    for damage in (False, True):
        if damage:
            (out / "manifest.json").unlink()
        with pytest.raises(SimstudyError, match=r"cells kept from an earlier run.*differ: learner"):
            run_study(other, out, jobs=1, report=False)


@pytest.mark.parametrize("fewer", [{"models": 3}, {"data.train_sizes": [20, 60]}, {}])
def test_a_smaller_study_with_other_measures_deletes_no_cells(write_study, tmp_path, fewer):
    out, other = tmp_path / "out", {"measures.primary": "accuracy"}
    run_study(load_study(write_study(text=AODE), LARGE), out, jobs=1, report=False)
    before = (out / JOURNAL).read_bytes()
    small = load_study(write_study(text=AODE if fewer else STUDY), {**LARGE, **fewer, **other})
    with pytest.raises(
        SimstudyError, match=r"differ: measures.* not recompute all existing cells; choose"
    ):
        run_study(small, out, jobs=1, report=False)
    assert (out / JOURNAL).read_bytes() == before
    large = load_study(write_study(text=AODE), {**LARGE, **other, "models": 5})
    assert "recomputed" in run_study(large, out, jobs=1, report=False).note


def test_kept_cells_are_remembered_in_results_that_did_not_record_their_owner(
    write_study, tmp_path
):
    out = tmp_path / "out"
    run_study(load_study(write_study(text=AODE), {"models": 2}), out, jobs=1, report=False)
    lines = (out / JOURNAL).read_bytes().splitlines(keepends=True)
    (out / JOURNAL).write_bytes(b"".join(line for line in lines if line[9:10] != b"{"))
    run_study(load_study(write_study(text=STUDY), {"models": 2}), out, jobs=1, report=False)
    other = load_study(write_study(text=AODE + "min_frequency = 5.0\n"), {"models": 2})
    with pytest.raises(SimstudyError, match="cells kept from an earlier run"):
        run_study(other, out, jobs=1, report=False)


@pytest.mark.slow
def test_shards_and_merged_results_may_become_smaller_too(write_study, tmp_path, calls):
    large = load_study(write_study(text=AODE), LARGE)
    small = load_study(write_study(text=STUDY), {**LARGE, "models": 3})
    fresh = run_study(small, tmp_path / "fresh", jobs=1, report=False).directory
    pieces = [tmp_path / "1", tmp_path / "2"]
    for study in (large, small):
        calls.clear()
        for number, place in enumerate(pieces):
            run_shard(study, (number + 1, 2), place, jobs=1)
        merged = merge(pieces, tmp_path / "merged").directory
    assert calls == []
    assert scores(merged) == scores(fresh)
    narrow = merge(pieces, tmp_path / "narrow").directory
    assert scores(narrow) == scores(fresh)
    # Only what the pieces say whose it is.
    assert {cell.learner for cell in Journal(narrow).cells()} == {"NB", "TAN"}


def test_failures_of_kept_cells_are_not_those_of_the_smaller_study(write_study, tmp_path, calls):
    out = tmp_path / "out"
    large = load_study(write_study(text=AODE), {**LARGE, "models": 2})
    run_study(large, out, jobs=1, report=False)
    done = {(cell.model, cell.size, cell.learner): cell for cell in Journal(out).cells()}
    spoilt = [(0, 20, "NB"), (1, 20, "NB"), (0, 20, "aode"), (0, 60, "TAN")]
    Journal(out).drop(lambda cell: (cell.model, cell.size, cell.learner) in spoilt)
    with Journal(out).adding() as add:
        add(replace(done[key], status="error", error="no") for key in spoilt)
    small = load_study(write_study(text=STUDY), {"models": 2, "data.train_sizes": [20]})
    smaller = run_study(small, out, jobs=1, report=False)
    assert smaller.manifest["failures"] == len(smaller.failures) == 2
    assert [(cell.size, cell.learner) for cell in Store(out).cells.failed()] == [(20, "NB")] * 2
    calls.clear()
    assert (
        "2 failed cells were rerun" in run_study(small, out, jobs=1, report=False, retry=True).note
    )
    assert sorted(calls) == spoilt[:2]
    again = run_study(large, out, jobs=1, report=False)
    assert again.failures["learner"].tolist() == ["aode", "TAN"]


def test_what_would_change_existing_cells_is_refused(write_study, tmp_path):
    out = tmp_path / "out"
    run_study(load_study(write_study(text=STUDY), {"models": 3}), out, jobs=1, report=False)
    before = scores(out)
    for changes, said in (
        ({"models": 3, "seed": 9}, r"these differ: seed \(1 there, 9 requested\)"),
        ({"models": 4, "data.test_size": 70}, r"data.test_size \(60 there, 70 requested\)"),
    ):
        with pytest.raises(SimstudyError, match=said):
            run_study(load_study(write_study(text=STUDY), changes), out, jobs=1)
    other = write_study({'label = "TAN"': 'label = "TAN"\nalpha = 2.0'}, text=STUDY)
    with pytest.raises(SimstudyError, match="these differ: learners"):
        run_study(load_study(other, {"models": 3}), out, jobs=1)
    assert scores(out) == before


def test_other_measures_compute_everything_again_and_say_so(write_study, tmp_path, calls):
    out = tmp_path / "out"
    few = {"models": 3}
    run_study(load_study(write_study(text=STUDY), few), out, jobs=1, report=False)
    calls.clear()
    more = {**few, "measures": {"also": ["accuracy"]}}
    results = run_study(load_study(write_study(text=STUDY), more), out, jobs=1, report=False)
    assert len(calls) == 12
    assert results.note == "measures changed; all cells recomputed"
    assert "accuracy" in results.scores


def test_two_runs_do_not_write_to_one_place(write_study, tmp_path, whole):
    study = write_study(text=STUDY)
    process = start(study, tmp_path / "out")
    wait_for_lines(process, tmp_path / "out" / JOURNAL, 1)
    with pytest.raises(SimstudyError, match=r"another run is using .*out; wait"):
        run_study(load_study(study), tmp_path / "out", jobs=1, report=False)
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert scores(tmp_path / "out") == whole


@pytest.mark.slow
def test_a_failed_cell_shows_in_the_exit_code(simstudy, write_study, tmp_path):
    (tmp_path / "bad.py").write_text(
        "from dataclasses import dataclass\n"
        "from simstudy import register_learner\n"
        "from simstudy.learners.baselines import Prior\n"
        "@register_learner('bad')\n"
        "@dataclass(frozen=True)\n"
        "class Bad(Prior):\n"
        "    'Never works.'\n"
        "    def fit(self, sample, rng=None):\n"
        "        raise RuntimeError('no')\n"
    )
    text = 'plugins = ["bad.py"]\n' + STUDY + '\n[[learners]]\nname = "bad"\n'
    path = write_study({"models = 60": "models = 3"}, text=text)
    done = simstudy("run", path, "--jobs", 1, "--no-report")
    assert done.returncode == 3
    assert "6 of 18 cells failed" in done.stdout
    fine = write_study({"models = 60": "models = 3"}, text=STUDY, name="fine.toml")
    assert simstudy("run", fine, "--jobs", 1, "--no-report", "--out", "fine").returncode == 0


def test_the_journal_gives_back_what_was_put_in(tmp_path):
    cell = Cell(
        3, 50, "NB", (0.1, float("inf")), error="ü\n", fit_seconds=1e-300, predict_seconds=0.0
    )
    journal = Journal(tmp_path)
    assert list(journal.cells()) == []
    with journal.adding() as add:
        add([cell])
        add([])
    assert list(journal.cells()) == [cell]
    with journal.path.open("ab") as file:
        file.write(b"deadbeef [1]\n")
    assert list(journal.entries()) == [[cell], [], None]
    journal.repair()
    assert list(journal.entries()) == [[cell], []]
    assert os.listdir(tmp_path) == [JOURNAL]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "[1]",
        "3",
        "null",
        "[{}]",
        '[{"model": 0}]',
        '[{"model": "0", "size": 20, "learner": "NB", "values": [1.0]}]',
        '[{"model": 0, "size": 20, "learner": 5, "values": [1.0]}]',
        '[{"model": 0, "size": 20, "learner": "NB", "values": null}]',
        '[{"model": 0, "size": 20, "learner": "NB", "values": [1.0], "fit_seconds": 1,'
        ' "predict_seconds": 1, "unheard_of": 1}]',
        "[" * 100_000,
        '[{"model": 0, "size": 20, "learner": "NB", "values": ["1", "2", "3"], "fit_seconds": 1,'
        ' "predict_seconds": 1}]',
    ],
)
def test_a_line_with_a_right_checksum_and_wrong_content_is_passed_over(
    write_study, tmp_path, whole, text
):
    study = load_study(write_study(text=STUDY))
    out = run_study(study, tmp_path / "out", jobs=1, report=False).directory
    line = f"{zlib.crc32(text.encode()):08x} {text}\n".encode()
    (out / JOURNAL).write_bytes(line + (out / JOURNAL).read_bytes() + line)
    (out / "scores.parquet").unlink()
    assert scores(run_study(study, out, jobs=1, report=False).directory) == whole


@pytest.mark.parametrize(
    "name", ["study.toml", "timings.parquet", "failures.csv", "scores.parquet", "manifest.json"]
)
@pytest.mark.parametrize("how", ["missing", "emptied", "flipped"])
def test_what_is_missing_or_damaged_is_made_again_from_the_journal(
    write_study, tmp_path, calls, name, how
):
    study = load_study(write_study(text=STUDY), {"models": 3})
    out = run_study(study, tmp_path / "out", jobs=1, report=False).directory
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    content = bytearray(before[name])
    (out / name).unlink()
    if how == "emptied":
        (out / name).write_bytes(b"")
    elif how == "flipped":
        content[len(content) // 2] ^= 0x80
        (out / name).write_bytes(bytes(content))
    calls.clear()
    results = run_study(study, out, jobs=1, report=False)
    assert calls == []
    after = {path.name: path.read_bytes() for path in out.iterdir()}
    assert {*after} == {*before}
    changing = {"manifest.json"}  # it loses how long the run took
    assert {n: after[n] for n in after if n not in changing} == {
        n: before[n] for n in before if n not in changing
    }
    assert results.failures.empty
    assert len(results.timings) == 12
    if name != "study.toml":
        assert f"{name} was damaged or missing; it was restored from cells.jsonl" in results.note


def test_a_lost_manifest_does_not_let_another_study_in(write_study, tmp_path):
    study = load_study(write_study(text=STUDY), {"models": 3})
    out = run_study(study, tmp_path / "out", jobs=1, report=False).directory
    (out / "manifest.json").write_text("{")
    with pytest.raises(SimstudyError, match=r"different study; these differ: seed \(1 there, 9 "):
        run_study(load_study(write_study(text=STUDY), {"models": 3, "seed": 9}), out, jobs=1)
    with pytest.raises(SimstudyError, match="holds no complete results") as caught:
        open_results(out)
    assert "overwrite" not in str(caught.value)


def test_what_was_not_finished_does_not_hide_whose_the_cells_are(write_study, tmp_path, whole):
    study = load_study(write_study(text=STUDY))
    out = run_study(study, tmp_path / "out", jobs=1, report=False).directory
    lines = (out / JOURNAL).read_bytes().splitlines(keepends=True)
    (out / JOURNAL).write_bytes(b"".join(lines[1:4]) + lines[4][:30])  # as a killed run leaves it
    (out / "scores.parquet").unlink()
    assert scores(run_study(study, out, jobs=1, report=False).directory) == whole
    (out / "manifest.json").unlink()
    assert scores(run_study(study, out, jobs=1, report=False).directory) == whole
