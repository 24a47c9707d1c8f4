"""What a run tells while it goes on."""

from __future__ import annotations

import io
import json

import pytest

from simstudy import SimstudyError
from simstudy.cli.progress import watched
from simstudy.engine.task import Cell
from simstudy.workflow import progress as watching
from simstudy.workflow.progress import Step, pace, seconds_left


def step(models: int = 3, failed: int = 0, seconds: float = 2.0) -> Step:
    cells = [
        Cell(7, 50, "NB", (0.1,)),
        *(Cell(7, 50, f"L{i}", (0.1,), "error", error="no") for i in range(failed)),
    ]
    return Step(models, 10, 4 * models, 40, failed, seconds, cells)


def test_the_time_left_is_at_the_pace_so_far():
    assert seconds_left(step(models=4, seconds=8)) == 12
    assert pace(step(models=3, seconds=2)) == "6 cells/s"
    assert pace(step(models=3, seconds=2, failed=2)) == "6 cells/s, 2 failed"


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
