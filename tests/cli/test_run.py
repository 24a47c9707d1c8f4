"""`python -m simstudy.run` and `simstudy run`, driven as a user would."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from simstudy import open_results
from simstudy.report.prose.finding import finding


def test_a_run_prints_a_few_lines_and_its_page_last(simstudy, write_study, tmp_path):
    done = simstudy("run", write_study(), "--jobs", 1)
    *lines, last = done.stdout.splitlines()
    assert last.endswith("Report: results/small/report.html")
    assert "4 models are few" in lines[-1]
    assert len(lines) < 25
    printed = " ".join(lines)
    for words in ("by learner and training rows", "20 rows: ", "m = 2 tests"):
        assert words in printed
    for words in ("ANOVA", "Sphericity", "Prior: "):
        assert words not in printed
    without = simstudy("run", write_study(), "--no-report", "--out", "scores")
    *same, last = without.stdout.splitlines()
    assert same == lines
    assert last.endswith("Scores: scores/")


def test_a_run_prints_means_anova_and_verdicts_as_details(simstudy, write_study, tmp_path):
    done = simstudy(write_study(), "--jobs", 1, "--details", module="simstudy.run")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for words in (
        "A small study",
        "4 models of the family tan; training sets of 20, 60 rows",
        "Prior: class frequencies of each training set",
        "Mean information reward (nats)",
        "95% t intervals between models, Bonferroni-adjusted for m = 4 cells",
        "Repeated-measures ANOVA",
        "learner × size",
        "Sphericity",
        "Who beats whom",
        "20 rows:",
        "Bonferroni-adjusted for m = 2 tests, all pairs at all sizes",
        "Monte-Carlo standard errors",
        "results/small/",
    ):
        assert words in " ".join(done.stdout.split()), words
    assert (tmp_path / "results/small/learning_curves.svg").exists()
    found = finding(open_results(tmp_path / "results/small").findings())
    assert found in " ".join(done.stdout.split())


def test_the_command_takes_overrides(simstudy, write_study, tmp_path):
    options = ("--models", 3, "--sizes", "15,30,45", "--seed", 99, "--out", "here", "--quiet")
    done = simstudy("run", write_study(), "--jobs", 1, "--no-report", *options)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    scores = pd.read_parquet(tmp_path / "here" / "scores.parquet")
    assert set(scores["model"]) == {0, 1, 2}
    assert set(scores["size"]) == {15, 30, 45}


@pytest.mark.slow
def test_the_second_run_says_that_nothing_was_run(simstudy, write_study):
    simstudy("run", write_study(), "--jobs", 1, "--no-report", "--quiet")
    done = simstudy("run", write_study(), "--no-report")
    assert done.returncode == 0
    assert "nothing to run" in " ".join(done.stdout.split())


@pytest.mark.slow
def test_one_learner_or_one_size_still_gives_a_summary(simstudy, write_study):
    one_learner = {'\n[[learners]]\nname = "tan"\nlabel = "TAN"\n': "", "[20, 60]": "[20]"}
    done = simstudy("run", write_study(one_learner), "--jobs", 1, "--no-report", "--details")
    assert done.returncode == 0, done.stderr
    assert "No ANOVA" in done.stdout
    assert "Who beats whom" not in done.stdout
    brief = simstudy("run", write_study(one_learner), "--no-report")
    assert "by learner and training rows" in brief.stdout
    assert "rows: " not in brief.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere.toml",), "nowhere.toml cannot be read: No such file or directory"),
        (("study.toml", "--models", 1), "must be at least 2 (models are the subjects of the ANOVA"),
        (("study.toml", "--sizes", "50,x"), "--sizes: '50,x' is not a list of whole numbers"),
        (("study.toml", "--sizes", "50,20"), "sizes must increase"),
        (("study.toml", "--seed", -1), "seed: -1 is not allowed"),
        (("study.toml", "--out", "study.toml"), "study.toml cannot be used: it is a file"),
        (("broken.toml",), "broken.toml is not valid TOML"),
        (("misspelt.toml",), "unknown learner 'aoed'; did you mean 'aode'?"),
        (("plugin.toml",), "fails to load: NameError: name 'no_such_name' is not defined (line 1)"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(
    simstudy, write_study, tmp_path, arguments, said
):
    write_study()
    write_study({"seed = 7": "seed = = 7"}, name="broken.toml")
    write_study({'"naive_bayes"': '"aoed"'}, name="misspelt.toml")
    (tmp_path / "bad.py").write_text("no_such_name")
    write_study({"seed = 7": 'seed = 7\nplugins = ["bad.py"]'}, name="plugin.toml")
    done = simstudy("run", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.startswith("simstudy: ")
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "results").exists()


@pytest.mark.slow
def test_another_studys_results_are_refused_and_kept(simstudy, write_study, tmp_path):
    assert simstudy("run", write_study(), "--jobs", 1, "--no-report", "--quiet").returncode == 0
    before = (tmp_path / "results/small/scores.parquet").read_bytes()
    done = simstudy("run", write_study(), "--no-report", "--seed", 8)
    assert done.returncode == 2
    assert "holds the results of a different study; these differ: seed" in done.stderr
    assert (tmp_path / "results/small/scores.parquet").read_bytes() == before
    assert (
        simstudy(
            "run", write_study(), "--no-report", "--seed", 8, "--overwrite", "--quiet"
        ).returncode
        == 0
    )
    assert (tmp_path / "results/small/scores.parquet").read_bytes() != before


def test_a_study_in_which_nothing_succeeds_says_so(simstudy, write_study, tmp_path):
    (tmp_path / "broken.py").write_text(
        "from dataclasses import dataclass\nimport simstudy\n"
        "@simstudy.register_family('broken')\n@dataclass(frozen=True)\n"
        "class Broken(simstudy.Family):\n    'Broken.'\n"
        "    def draw(self, rng):\n        raise ValueError('no luck')\n"
    )
    path = write_study(
        {"seed = 7": 'seed = 7\nplugins = ["broken.py"]', '"tan"\nvar': '"broken"\nvar'}
    )
    done = simstudy("run", path, "--jobs", 1, "--no-report")
    assert done.returncode == 2
    assert "failures.csv" in done.stderr
    assert "drawing the model: ValueError: no luck" in done.stderr
    assert "Traceback" not in done.stderr


def test_help_names_every_option(simstudy):
    done = simstudy("--help", module="simstudy.run")
    assert done.returncode == 0
    for option in ("out", "jobs", "models", "sizes", "seed", "quiet", "overwrite"):
        assert f"--{option}" in done.stdout


@pytest.mark.slow
def test_no_digit_is_cut_off_however_many_sizes_and_long_the_labels(
    write_study, tmp_path, simstudy
):
    changes = {
        'label = "NB"': 'label = "a learner whose label is far too long for any table at all"',
        "[20, 60]": "[10, 20, 30, 40, 50, 60, 70, 80]",
    }
    done = simstudy("run", write_study(changes), "--jobs", 1, "--no-report", "--details")
    assert done.returncode == 0, done.stderr
    tables = done.stdout[done.stdout.index("Mean information reward") :]
    assert "…" not in tables
    assert tables.count("±") >= 16


@pytest.mark.slow
def test_the_confidence_is_printed_as_given(simstudy, write_study):
    text = write_study().read_text() + "\n[analysis]\nconfidence = 0.999\n"
    done = simstudy("run", write_study(text=text), "--jobs", 1, "--no-report")
    assert "99.9% t intervals" in done.stdout
    assert "100%" not in done.stdout


def test_hostile_labels_and_places_are_shown_as_they_are(simstudy, write_study):
    changes = {'label = "NB"': "label = '[/red]<b>$\\frac{$'", 'label = "TAN"': "label = '_hidden'"}
    done = simstudy("run", write_study(changes), "--jobs", 1, "--no-report", "--out", "[/x] out")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "[/red]<b>$\\frac{$" in done.stdout
    assert "[/x] out/" in done.stdout


def test_a_wrong_option_is_one_sentence(simstudy, write_study):
    for options in (("--jobs", 0), ("--jobs", "x"), ("--bogus",)):
        done = simstudy("run", write_study(), *options)
        assert done.returncode == 2
        assert done.stderr.startswith("simstudy: ")
        assert done.stderr.count("\n") == 1


def test_an_interrupt_is_one_word(write_study, tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "simstudy", "run", write_study(), "--models", "5000"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        # Where the tests run in the background of a shell, interrupts are ignored from the start.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "results/small/study.toml").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.strip().splitlines()[-1] == "simstudy: interrupted"
    assert "Traceback" not in said
