"""The command where output goes nowhere, or can say little, and where input comes but once."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from simstudy.engine.workers import child


def run_in_shell(line, tmp_path, **environment):
    """Run a line of bash in a directory, with ``simstudy`` for the command."""
    command = f'simstudy() {{ "{sys.executable}" -m simstudy "$@"; }}; {line}'
    return subprocess.run(
        ["bash", "-c", command],
        cwd=tmp_path,
        env={**os.environ, "COLUMNS": "100", **environment},
        capture_output=True,
        timeout=300,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONIOENCODING": "cp1252"},
        {"PYTHONIOENCODING": "latin-1"},
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
def test_letters_that_an_encoding_lacks_do_not_end_a_run(write_study, tmp_path, environment):
    write_study({"A small study": "Ein Übungslauf → 研究", 'label = "NB"': 'label = "β₁"'})
    done = run_in_shell("simstudy run study.toml --jobs 2 --no-report", tmp_path, **environment)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"bungslauf" in done.stdout
    assert b"results/small/" in done.stdout
    wrong = run_in_shell("simstudy run 研究.toml", tmp_path, **environment)
    assert wrong.returncode == 2
    assert wrong.stderr.startswith(b"simstudy: ")
    assert wrong.stderr.count(b"\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["2>&-", ">&-", "<&- >&- 2>&-"])
def test_closed_streams_do_not_keep_a_run_from_its_work(write_study, tmp_path, closed):
    # A learner that writes to standard error must not write to a file of the study's.
    (tmp_path / "loud.py").write_text(
        "import os\nfrom dataclasses import dataclass\nimport simstudy\n"
        "from simstudy.learners.bayes.naive_bayes import NaiveBayes\n"
        "@simstudy.register_learner('loud')\n@dataclass(frozen=True)\n"
        "class Loud(NaiveBayes):\n    'Loud.'\n"
        "    def fit(self, sample, rng):\n        os.write(2, b'noise')\n"
        "        return super().fit(sample, rng)\n"
    )
    write_study({"seed = 7": 'seed = 7\nplugins = ["loud.py"]', '"naive_bayes"': '"loud"'})
    for out, ending in (("open", ""), ("closed", closed)):
        line = f"simstudy run study.toml --jobs 2 --no-report --out {out} {ending}"
        assert run_in_shell(line, tmp_path).returncode == 0
    for name in ("scores.parquet", "failures.csv", "study.toml"):
        shut = (tmp_path / "closed" / name).read_bytes()
        assert shut == (tmp_path / "open" / name).read_bytes()
        assert b"noise" not in shut


@pytest.mark.parametrize("source", ["run <(cat study.toml)", "run /dev/stdin < <(cat study.toml)"])
def test_a_study_from_a_pipe_is_read_once(write_study, tmp_path, source):
    write_study()
    done = run_in_shell(f"simstudy {source} --jobs 1 --no-report --quiet", tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "results/small/scores.parquet").exists()


def test_a_list_of_studies_from_a_pipe_is_read_once(write_study, tmp_path):
    write_study()
    text = f'name = "all"\nstudies = ["{tmp_path}/study.toml"]\n'
    (tmp_path / "list.toml").write_text(text)
    line = "simstudy run <(cat list.toml) --jobs 1 --no-report --quiet"
    done = run_in_shell(line, tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "results/all/small/scores.parquet").exists()


def test_output_that_cannot_be_written_is_one_sentence(write_study, tmp_path):
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no device that is always full")
    write_study()
    done = run_in_shell("simstudy run study.toml --jobs 1 --no-report > /dev/full", tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(b"simstudy: ")
    assert done.stderr.count(b"\n") == 1
    assert (tmp_path / "results/small/scores.parquet").exists()


def test_no_more_processes_start_than_there_are_models(write_study, tmp_path, monkeypatch, capsys):
    from simstudy import cli

    started = []

    class Counted(child.Child):
        def __init__(self):
            started.append(self)
            super().__init__()

    monkeypatch.setattr(child, "Child", Counted)
    monkeypatch.setattr("simstudy.engine.workers.guard.Child", Counted)
    monkeypatch.chdir(tmp_path)
    arguments = ["run", str(write_study()), "--models", "3", "--jobs", "60", "--no-report"]
    monkeypatch.setattr(sys, "argv", ["simstudy", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 0, capsys.readouterr().err
    assert 0 < len(started) <= 3
