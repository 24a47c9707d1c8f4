"""What is typed or stored wrongly is refused in one sentence; what failed is said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zlib
from dataclasses import replace

import pytest

from simstudy import SimstudyError, load_study, run_shard, run_study
from simstudy.results.store.journal import Journal
from simstudy.results.store.manifest import _differences
from simstudy.sources.families.tan import TANFamily
from simstudy.workflow.run import CLOSE_SIZES, NO_CROSSING
from simstudy.workflow.score import add_measures

DIGITS = "9" * 5000
FAILING = """
from dataclasses import dataclass
from simstudy import Learner, register_learner
@register_learner("always_fails")
@dataclass(frozen=True)
class Failing(Learner):
    def fit(self, sample, rng=None):
        raise ValueError("no luck")
"""
FAILS = {"seed = 7": 'seed = 7\nplugins = ["failing.py"]', '"tan"\nlabel': '"always_fails"\nlabel'}
KEPT = {"models = 4": "models = 4\nkeep_answers = true"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "{}", "--shard", f"{DIGITS}/3"), ("--shard: '999", "[…]", "3/10")),
        (("run", "{}", "--shard", "1/٣"), ("--shard: '1/٣' is not a shard such as 3/10",)),
        (("run", "{}", "--shard", "2/1"), ("--shard: '2/1'",)),
        (("run", "{}", "--sizes", f"20,{DIGITS}"), ("--sizes: '20,999", "whole numbers")),
        (("vary", "{}", "--key", f"models={DIGITS}"), ("--key: '999", "is too long or")),
        (
            ("cell", "{}", "--size", "1e999%", "--model", 0, "--learner", "NB"),
            ("--size: '1e999%'",),
        ),
        (("cell", "{}", "--size", "-5%", "--model", 0, "--learner", "NB"), ("--size: '-5%'",)),
        (("cell", "{}", "--size", DIGITS, "--model", 0, "--learner", "NB"), ("--size: '999",)),
        (("advise", "{}", "--models", 99999999999), ("between 10 and 10,000,000",)),
    ],
)
def test_odd_options_are_refused_at_once(command, refused, write_study, arguments, words):
    path = write_study()
    refused(command(*(str(word).format(path) for word in arguments)), *words)


def test_what_is_no_study_is_not_run(write_study, tmp_path):
    for run in (run_study, lambda study, out: run_shard(study, (1, 2), out)):
        with pytest.raises(SimstudyError, match=r"expected a study, not dict: load_study reads"):
            run({"name": "small"}, tmp_path / "out")


def test_a_family_whose_parents_are_not_known_is_accepted(write_study, monkeypatch):
    monkeypatch.setattr(TANFamily, "max_parents", None)
    assert load_study(write_study()).family.name == "tan"


def test_other_comparisons_keep_no_answers(write_study):
    path = write_study(KEPT | {"[data]": '[measures]\ntargets = ["accuracy"]\n[data]\nrepeats = 2'})
    with pytest.raises(
        SimstudyError, match=r"keep_answers: a comparison of measures does not keep"
    ):
        load_study(path, {"compare": "measures", "data": {"train_sizes": [20], "test_sizes": [20]}})


@pytest.mark.parametrize("wrong", [{"model": 2**52}, {"answers": "AAAA"}, {"size": 2**52}])
def test_odd_cells_are_computed_again_or_refused(command, refused, write_study, tmp_path, wrong):
    study, out = load_study(write_study(KEPT)), tmp_path / "out"
    expected = run_study(study, out, jobs=1, report=False).scores
    (owner,) = Journal(out).owners()
    tasks = [*Journal(out).tasks()]
    tasks[0][0] = replace(tasks[0][0], **wrong)
    Journal(out).replace(owner, tasks)
    refused(command("merge", out, "--out", "merged"), "cells of 1 of 4 models", "(model 0)")
    (out / "scores.parquet").unlink()
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    scored = command("score", out, "--measure", "kappa", "--no-report")
    refused(scored, f"{out} is not complete; run {out / 'study.toml'} to complete it")
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    study = load_study(write_study(KEPT), {"measures.also": ["kappa"]})
    found = add_measures(
        run_study(study, out, jobs=1, report=False).directory, ["auc"], report=False
    )
    assert found.scores[[*expected]].equals(expected)
    assert found.measures == ["information_reward", "kappa", "auc"]


@pytest.mark.parametrize("name", ["manifest.json", "answers.parquet", "cells.jsonl", "study.toml"])
def test_pipes_among_results_are_refused(command, refused, write_study, tmp_path, name):
    out = run_study(load_study(write_study(KEPT)), tmp_path / "out", jobs=1, report=False).directory
    (out / name).unlink()
    os.mkfifo(out / name)
    for arguments in (("report", out), ("run", write_study(KEPT), "--out", out)):
        refused(command(*arguments), "it is not a regular file")


def test_a_line_of_cells_may_hold_anything(write_study, command, refused, tmp_path):
    """A journal that is one line of odd cells with the right checksum."""
    out = run_study(load_study(write_study(KEPT)), tmp_path / "out", jobs=1, report=False).directory
    lines = (out / "cells.jsonl").read_text().splitlines()
    text = json.dumps([{"model": 0, "size": 1, "learner": "NB", "values": [], "answers": "AAAA"}])
    odd = f"{zlib.crc32(text.encode()):08x} {text}"
    (out / "cells.jsonl").write_text(f"{lines[0]}\n{odd}\n")
    for verb in (("score", out, "--measure", "kappa"), ("merge", out, "--out", "merged")):
        refused(command(*verb))


def test_quiet_runs_say_which_cells_failed(command, write_study, tmp_path):
    (tmp_path / "failing.py").write_text(FAILING)
    path = write_study(FAILS)
    for asked in (
        ("run", path, "--no-report", "--out", "out"),
        ("run", path, "--shard", "1/1", "--out", "shard"),
        ("vary", path, "--key", "measures.prior=train", "--out", "varied"),
    ):
        done = command(*asked, "--jobs", 1, "--quiet")
        assert (done.returncode, done.stdout) == (3, "")
        assert done.stderr.startswith("8 cells failed; list them with: simstudy failures ")


def test_a_learner_that_failed_everywhere_is_said_to_have_failed(write_study, tmp_path):
    from simstudy.report.prose.finding import finding
    from simstudy.report.prose.statements import statements

    (tmp_path / "failing.py").write_text(FAILING)
    more = {
        '[[learners]]\nname = "naive': '[[learners]]\nname = "prior"\n[[learners]]\nname = "naive'
    }
    results = run_study(
        load_study(write_study(FAILS | more)), tmp_path / "out", jobs=1, report=False
    )
    findings = results.findings()
    assert findings.design.learners == ("prior", "NB", "TAN")
    told = finding(findings)
    assert told.endswith(". TAN failed in every cell.")
    assert "TAN" not in told.removesuffix("TAN failed in every cell.")
    assert "prior and NB do not differ significantly" in told
    every = statements(findings, results.manifest["failures"], results.manifest["cells"])
    assert "8 of 24 cells failed, among them all of TAN." in every
    assert "prior and NB do not differ significantly" in every[0]


def test_refining_without_a_crossing_says_so(command, write_study):
    path = write_study()
    for _ in range(2):
        done = command("run", path, "--out", "out", "--refine", "--no-report", "--jobs", 1)
        assert done.returncode == 0
        assert NO_CROSSING in " ".join(done.stdout.split())
    assert NO_CROSSING not in command("run", path, "--out", "out", "--no-report").stdout


SWITCHING = """
from dataclasses import dataclass
from simstudy import Learner, register_learner
from simstudy.learners import NaiveBayes, Prior
@register_learner("switching")
@dataclass(frozen=True)
class Switching(Learner):
    early: bool = True
    def fit(self, sample, rng=None):
        better = (len(sample) < 55) == self.early
        return (NaiveBayes() if better else Prior()).fit(sample, rng)
"""


def test_close_sizes_around_a_crossing_are_not_taken_for_none(command, tmp_path):
    (tmp_path / "switching.py").write_text(SWITCHING)
    learners = "".join(
        f"[[learners]]\nname = 'switching'\nlabel = '{label}'\nearly = {early}\n"
        for label, early in (("early", "true"), ("late", "false"))
    )
    study = "name = 'switch'\nmodels = 8\nplugins = ['switching.py']\n[family]\n"
    study += "name = 'naive_bayes'\n[data]\ntrain_sizes = [50, 60]\n"
    (tmp_path / "switch.toml").write_text(study + learners)
    done = command(
        "run", tmp_path / "switch.toml", "--out", "out", "--refine", "--details", "--no-report"
    )
    said = " ".join(done.stdout.split())
    assert "late overtakes early between 50 and 60 rows" in said
    assert CLOSE_SIZES in said
    assert NO_CROSSING not in said


MISSING = {"[data]": '[[changes]]\nname = "missing"\n[data]'}


def test_what_differs_is_said_without_codes(write_study, tmp_path):
    out = run_study(load_study(write_study(MISSING)), tmp_path / "out", jobs=1, report=False)
    rate = '[[changes]]\nname = "missing"\nrate = 0.3\n'
    other = {"[data]": f'{rate}[preparation]\nmissing = "mode"\n[data]'}
    other |= {'name = "naive_bayes"': 'name = "naive_bayes"\nalpha = 2.0', "[3, 4]": "[3, 5]"}
    with pytest.raises(SimstudyError) as refusal:
        run_study(load_study(write_study(other)), tmp_path / "out", jobs=1, report=False)
    told = str(refusal.value)
    assert "changes (missing.rate: the default there, 0.3 requested)" in told
    assert "NB.alpha: the default there, 2.0 requested; NB.missing: ignore there, mode" in told
    assert "family (attributes: [3, 4] there, [3, 5] requested)" in told
    assert not {*'"{}\\'} & {*told}
    assert out.scores.shape[0] == 16


@pytest.mark.parametrize(
    ("here", "asked", "told"),
    [
        ([20, 60], [20, 40], "[20, 60] there, [20, 40] requested"),
        (None, [["a", "x"]], "None there, {'a': 'x'} requested"),
        ([["a", '["x", {}]']], [["b", '["x", {}]']], "a: ['x', {}] there, absent requested; b: "),
        ([["a", "1"], ["a", "2"]], [["a", "1"], ["a", "3"]], "['a', '2'] there, ['a', '3'] req"),
    ],
)
def test_differences_of_any_shape_are_named(here, asked, told):
    assert "; ".join(_differences(here, asked)).startswith(told)


@pytest.mark.skipif(os.name == "nt", reason="pipes of Unix")
@pytest.mark.parametrize("verb", ["--help", pytest.param("schema", marks=pytest.mark.slow)])
def test_a_reader_that_has_enough_ends_the_command_quietly(verb):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "simstudy", verb],
        stdout=writing,
        stderr=subprocess.PIPE,
        timeout=300,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.slow
def test_no_file_is_left_open(write_study, tmp_path):
    command = [sys.executable, "-X", "dev", "-m", "simstudy", "run", str(write_study(KEPT))]
    done = subprocess.run(
        [*command, "--jobs", "2", "--quiet"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONWARNINGS": "error"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
