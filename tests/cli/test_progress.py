"""What a run tells while it goes on."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import subprocess
import sys
from dataclasses import replace
from time import sleep

import pytest

from simstudy import SimstudyError
from simstudy.engine.task import Cell
from simstudy.workflow import progress as watching
from simstudy.workflow.progress import Step, pace, watched


def step(models: int = 3, failed: int = 0, seconds: float = 2.0) -> Step:
    cells = [
        Cell(7, 50, "NB", (0.1,)),
        *(Cell(7, 50, f"L{i}", (0.1,), "error", error="no") for i in range(failed)),
    ]
    return Step(models, 10, 4 * models, 40, failed, seconds, cells)


def test_the_time_left_is_at_the_pace_so_far():
    assert pace(step(models=4, seconds=8)) == "2 cells/s, 0:00:12 left"
    assert pace(step(models=3, seconds=3, failed=2)) == "4 cells/s, 2 failed, 0:00:07 left"
    assert pace(step(models=10, seconds=10)) == "4 cells/s, finishing"


def test_away_from_a_terminal_there_is_a_line_a_minute(monkeypatch):
    clock, out = [0.0], io.StringIO()
    monkeypatch.setattr(watching, "monotonic", lambda: clock[0])
    monkeypatch.setattr("sys.stderr", out)
    with watched() as progress:
        for second in range(0, 181, 10):
            clock[0] = float(second)
            progress(step(failed=1))
    lines = out.getvalue().splitlines()
    assert len(lines) == 3
    assert lines[0][5:] == " 3 of 10 models, 6 cells/s, 1 failed, 0:00:05 left"


def test_splits_are_counted_as_splits(monkeypatch):
    out = io.StringIO()
    monkeypatch.setattr("sys.stderr", out)
    monkeypatch.setattr(watching, "_INTERVAL", 0)
    with watched() as progress:
        progress(replace(step(), word="split"))
    assert " 3 of 10 splits, " in out.getvalue()


def test_the_log_is_a_line_of_json_for_each_model(tmp_path):
    path = tmp_path / "run.jsonl"
    with watched(quiet=True, log=path, study="small") as progress:
        progress(step())
        progress(step(failed=1))
    events = [json.loads(line) for line in path.read_text().splitlines()]
    assert [event["event"] for event in events] == ["begin", "model", "model", "end"]
    assert events[0]["study"] == "small"
    assert (events[1]["model"], events[1]["models"], events[1]["of"]) == (7, 3, 10)
    assert events[2]["failed"] == [{"size": 50, "learner": "L0", "status": "error", "error": "no"}]
    with pytest.raises(KeyboardInterrupt), watched(quiet=True, log=path):
        raise KeyboardInterrupt
    assert json.loads(path.read_text().splitlines()[-1])["event"] == "stopped"


def test_a_log_that_cannot_be_written_is_said_at_once(tmp_path):
    with (
        pytest.raises(SimstudyError, match=r"--log: .* cannot be written: Is a directory"),
        watched(log=tmp_path),
    ):
        pass


def test_a_run_writes_its_log(simstudy, write_study, tmp_path):
    done = simstudy("run", write_study(), "--jobs", 1, "--no-report", "--log", "run.jsonl")
    assert (done.returncode, done.stderr) == (0, "")
    events = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    assert len(events) == 6
    assert events[-2]["cells"] == 16


def test_a_bar_shows_pace_and_failures_on_a_terminal(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with watched() as progress:
        progress(step(failed=2))
    shown = terminal.getvalue()
    assert "3/10" in shown
    assert "6 cells/s, 2 failed, 0:00:05 left" in shown


def test_reading_is_shown_on_a_terminal_from_the_beginning(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for quiet, out, shown in ((False, Terminal(), True), (True, Terminal(), False)):
        monkeypatch.setattr("sys.stderr", out)
        with watching.busy("reading big[0].csv", quiet):
            sleep(0.2)  # it is refreshed ten times a second
            assert ("reading big[0].csv" in out.getvalue()) == shown
    monkeypatch.setattr("sys.stderr", out := io.StringIO())
    with watching.busy("reading big.csv"):
        pass
    assert out.getvalue() == ""


def test_data_run_and_advise_show_that_they_read(tmp_path):
    """In a terminal of its own, before a word of the result."""
    rows = "".join(f"{row % 7 / 2},{'abc'[row % 3]},{'pq'[row * 7 % 5 % 2]}\n" for row in range(60))
    (tmp_path / "my.csv").write_text(f"x,z,class\n{rows}")
    (tmp_path / "my.toml").write_text(
        'name = "my"\n[[datasets]]\npath = "my.csv"\n[resampling]\nfolds = 2\n'
        '[[learners]]\nname = "naive_bayes"\n[[learners]]\nname = "prior"\n'
    )
    for arguments, words in (
        (("data", "my.csv"), "reading my.csv"),
        (("run", "my.toml", "--jobs", "1"), "reading my.toml and its data"),
        (("advise", "my.csv", "--target", "class", "--models", "10"), "reading my.csv"),
    ):
        main, copy = pty.openpty()
        done = subprocess.Popen(
            [sys.executable, "-m", "simstudy", *arguments],
            cwd=tmp_path,
            stderr=copy,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
        )
        os.close(copy)
        first = b""
        with contextlib.suppress(OSError):  # the other end is closed
            while words.encode() not in first and (piece := os.read(main, 4096)):
                first += piece
        done.kill()
        done.wait()
        os.close(main)
        assert words.encode() in first, first
