"""The bar of a run that is started from Python."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from simstudy import load_study, run_pilot, run_study
from simstudy.study.lists import load_collection
from simstudy.workflow import progress as module
from simstudy.workflow.lists import run_collection
from simstudy.workflow.progress import Step


class Cell:
    """What a cell of a notebook shows, one entry for each display, and all it has shown."""

    def __init__(self) -> None:
        self.outputs: list[dict[str, str]] = []
        self.history: list[dict[str, str]] = []

    def display(self, data: dict[str, str], *, raw: bool, display_id: bool) -> SimpleNamespace:
        assert raw
        assert display_id
        place = len(self.outputs)
        self.outputs.append(data)
        self.history.append(data)

        def update(data: dict[str, str], *, raw: bool) -> None:
            assert raw
            self.outputs[place] = data
            self.history.append(data)

        return SimpleNamespace(update=update)


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Cell:
    """This process as the kernel of a notebook."""
    cell = Cell()
    ipython, display = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())  # type: ignore[attr-defined]
    display.display = cell.display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr(module, "_NOTEBOOK_INTERVAL", 0)
    return cell


def run(write_study: Any, out: Path, **options: Any) -> None:
    run_study(load_study(write_study()), out, jobs=1, report=False, **options)


BLANK = {"text/plain": "", "text/html": ""}


def test_a_notebook_shows_a_bar_and_keeps_nothing(
    notebook: Cell, write_study: Any, tmp_path: Path
) -> None:
    run(write_study, tmp_path / "out")
    assert notebook.outputs == [BLANK]
    steps = [shown["text/plain"] for shown in notebook.history]
    assert len(steps) == 2 + 4  # before, after each of four models, and in the end
    assert steps[1].startswith("1 of 4 models, ")
    assert steps[1].endswith(" left")
    assert steps[4].startswith("4 of 4 models, ")
    assert '<progress value="4" max="4"' in notebook.history[4]["text/html"]
    # The same if all is there already.
    run(write_study, tmp_path / "out")
    assert notebook.outputs == [BLANK, BLANK]


def test_a_bar_disappears_when_a_run_is_interrupted(
    notebook: Cell, write_study: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(step: Step) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "pace", stop)
    with pytest.raises(KeyboardInterrupt):
        run(write_study, tmp_path / "out")
    assert notebook.outputs == [BLANK]


def test_what_was_asked_for_is_done_in_a_notebook(
    notebook: Cell, write_study: Any, tmp_path: Path
) -> None:
    steps: list[Step] = []
    run(write_study, tmp_path / "out", progress=False)
    run(write_study, tmp_path / "called", progress=steps.append)
    assert notebook.history == []
    assert [step.models for step in steps] == [1, 2, 3, 4]


def test_pilots_and_lists_show_bars_in_a_notebook(
    notebook: Cell, write_study: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simstudy.report.files.write_report", lambda *_: None)
    study = load_study(write_study())
    run_pilot(study, 3, jobs=1)
    assert notebook.outputs == [BLANK]
    assert notebook.history[-2]["text/plain"].startswith("3 of 3 models")
    listed = tmp_path / "list.toml"
    listed.write_text(f'name = "listed"\nstudies = ["{write_study().name}"]\n', encoding="utf-8")
    run_collection(load_collection(listed), tmp_path / "results", jobs=1, report=False)
    assert notebook.outputs == [BLANK, BLANK]


@pytest.mark.parametrize("imported", [False, True], ids=["plain", "ipython"])
def test_a_script_shows_nothing_unless_asked(
    imported: bool,
    write_study: Any,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if imported:  # as some packages do; also the shell of a terminal
        ipython = ModuleType("IPython")
        ipython.get_ipython = lambda: None  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "IPython", ipython)
    else:
        monkeypatch.delitem(sys.modules, "IPython", raising=False)
    run(write_study, tmp_path / "out")
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(module, "_INTERVAL", 0)
    run(write_study, tmp_path / "asked", progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert " 4 of 4 models, " in err.splitlines()[-1]
