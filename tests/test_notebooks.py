"""The notebooks run without a word of complaint, and what is committed is what they are.

To execute a notebook at full settings: ``jupytext --to ipynb --execute notebooks/<name>.py``.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LARGEST = 700_000  # bytes
SLOW = {
    "01_first_study",
    "02_convergence_thresholds",
    "03_reward_and_calibration",
    "04_your_own_family",
    "06_which_measure",
    "07_which_estimate",
    "08_your_own_data",
    "09_real_data",
    "10_your_own_estimators",
}  # to execute

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def outputs(notebook: Any) -> list[Any]:
    return [o for cell in notebook.cells if cell.cell_type == "code" for o in cell.outputs]


def sources(notebook: Any) -> list[tuple[str, str]]:
    return [(cell.cell_type, cell.source.strip()) for cell in notebook.cells]


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 4


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=pytest.mark.slow if path.stem in SLOW else ()) for path in NOTEBOOKS],
    ids=lambda path: path.stem,
)
def test_a_notebook_runs_without_complaint(path, tmp_path, monkeypatch):
    monkeypatch.setenv("SIMSTUDY_QUICK", "1")
    # Neither the settings nor the history of whoever runs the tests.
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "jupyter"))
    shutil.copytree(ROOT / "studies", tmp_path / "studies")
    here = tmp_path / "notebooks"
    here.mkdir()
    notebook = read(path)
    resources = {"metadata": {"path": str(here)}}
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources=resources).execute()
    for output in outputs(notebook):
        assert output.get("name") != "stderr", output.text
        assert output.output_type != "error", output
        assert "<progress" not in output.get("data", {}).get("text/html", "")
    assert any("image/png" in output.get("data", {}) for output in outputs(notebook))


@each_notebook
def test_a_notebook_and_its_script_have_the_same_cells(path):
    assert sources(jupytext.read(path.with_suffix(".py"))) == sources(read(path))


@each_notebook
def test_a_committed_notebook_is_executed_and_tells_nothing_of_the_machine(path):
    notebook = read(path)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert any("image/png" in output.get("data", {}) for output in outputs(notebook))
    assert not [o for o in outputs(notebook) if o.get("name") == "stderr"]
    assert path.stat().st_size < LARGEST
    for output in outputs(notebook):
        output.get("data", {}).pop("image/png", None)
    text = json.dumps(notebook)
    found = re.findall(
        r"(?<![\w.}])(?:/(?:home|root|tmp|usr|opt|work|Users|var)/|[A-Z]:\\\\).*", text
    )
    assert not found
