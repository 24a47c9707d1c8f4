"""A small study that is run once, and what is said of wrong input."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from simstudy import Results, open_results
from simstudy.cli.app import app, run_app

STUDY = """
name = "small"
seed = 7
models = 6

[family]
name = "tan"
variables = [3, 4]

[data]
train_sizes = [20, 80]
test_size = 100

[measures]
also = ["accuracy"]

[[learners]]
name = "naive_bayes"
label = "NB"

[[learners]]
name = "tan"
label = "TAN"

[[learners]]
name = "aode"
label = "AODE"
"""


@pytest.fixture(scope="session")
def place(
    tmp_path_factory: pytest.TempPathFactory,
    run_simstudy: Callable[..., subprocess.CompletedProcess[str]],
) -> Path:
    """A directory with small.toml and its results, "out"; tests leave them as they are."""
    directory = tmp_path_factory.mktemp("small")
    (directory / "small.toml").write_text(STUDY)
    done = run_simstudy(directory, "run", "small.toml", "--jobs", 1, "--out", "out", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return directory


@pytest.fixture(scope="session")
def results(place: Path) -> Results:
    """What the study found."""
    return open_results(place / "out")


@pytest.fixture
def copy(place: Path, tmp_path: Path) -> Path:
    """A copy of the results, "out", where the command is run."""
    return Path(shutil.copytree(place / "out", tmp_path / "out"))


@pytest.fixture
def refused() -> Callable[..., None]:
    """Check that a command ended with exit code 2 and one sentence that has certain words."""

    def check(done: subprocess.CompletedProcess[str], *words: str) -> None:
        assert done.returncode == 2
        assert done.stdout == ""
        assert done.stderr.startswith("simstudy: ")
        assert done.stderr.count("\n") == 1
        for word in words:
            assert word in done.stderr

    return check


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command in this process, in an empty directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        monkeypatch.setattr(sys, "argv", ["simstudy", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            run_app(app)
        said = capfd.readouterr()
        return subprocess.CompletedProcess(sys.argv, int(ended.value.code or 0), *said)

    return run
