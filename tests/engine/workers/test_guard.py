"""Learners that take for ever, exhaust the memory or end their process cost their own cell."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simstudy import SimstudyError, load_study, run_study
from simstudy.engine.plan import make_plan
from simstudy.engine.workers.guard import Batches, Guard, StoppedError

NAUGHTY = """
import os
import signal
import time
from dataclasses import dataclass

import numpy as np

from simstudy import Learner, register_learner
from simstudy.learners.baselines import Prior


@register_learner("naughty")
@dataclass(frozen=True)
class Naughty(Learner):
    "Misbehaves after 60 rows of four variables."

    how: str = "raises"

    def fit(self, sample, rng=None):
        fitted = Prior().fit(sample)
        if len(sample) < 60 or len(sample.cards) < 4:
            return fitted
        if self.how == "raises":
            raise RuntimeError("sixty is too many")
        if self.how == "sleeps":
            time.sleep(600)
        if self.how == "exits":
            os._exit(7)
        if self.how == "is killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.how == "allocates":
            held = []
            while True:
                held.append(np.ones(1_000_000))
        return NotANumber(fitted)


@dataclass
class NotANumber:
    fitted: object

    def predict_proba(self, codes):
        return self.fitted.predict_proba(codes) * np.nan
"""
STATUS = {
    "raises": "error",
    "gives NaN": "invalid",
    "sleeps": "timeout",
    "exits": "crashed",
    "is killed": "crashed",
    "allocates": "error",
}
LEARNERS = "".join(
    f'[[learners]]\nname = "naughty"\nlabel = "{how}"\nhow = "{how}"\n\n' for how in STATUS
)


@pytest.fixture
def naughty(write_study, tmp_path):
    """A study with learners that misbehave, between two that do not."""
    (tmp_path / "naughty.py").write_text(NAUGHTY)
    changes = {
        "seed = 7": 'seed = 7\nplugins = ["naughty.py"]',
        "[data]": "[limits]\ntimeout = 2\nmemory = 0.3\n\n[data]",
        '[[learners]]\nname = "tan"': f'{LEARNERS}[[learners]]\nname = "tan"',
    }
    return write_study(changes, name="naughty.toml")


def test_misbehaving_learners_cost_their_own_cells_only(write_study, naughty, tmp_path):
    honest = run_study(load_study(write_study()), tmp_path / "honest", jobs=1, report=False).scores
    results = run_study(load_study(naughty), tmp_path / "out", jobs=2)
    scores = results.scores
    others = scores[scores["learner"].isin(["NB", "TAN"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(others, honest)
    bad = scores[scores["status"] != "ok"]
    assert 0 < bad["model"].nunique() < 4
    assert {*bad["size"]} == {60}
    assert len(bad) == bad["model"].nunique() * len(STATUS) == results.manifest["failures"]
    failures = pd.read_csv(results.directory / "failures.csv", keep_default_na=False)
    assert [*failures["model"]] == [*bad["model"]]
    for how, rows in failures.groupby("learner"):
        assert {*rows["status"]} == {STATUS[how]}
        assert rows["stream"].str.contains(how if how != "raises" else "naughty").all()
    errors = failures.drop_duplicates("learner").set_index("learner")["error"]
    assert errors["raises"] == "RuntimeError: sixty is too many"
    assert errors["sleeps"] == "took longer than 2 s"
    assert "code 7" in errors["exits"]
    assert "SIGKILL" in errors["is killed"]
    assert errors["allocates"].startswith("MemoryError")
    traces = failures.drop_duplicates("learner").set_index("learner")["traceback"]
    assert "naughty.py" in traces["sleeps"]  # where it slept
    left_out = {model for model, _ in results.findings().anova.left_out}
    assert left_out == {*bad["model"]}


@pytest.mark.slow
def test_without_limits_a_crash_still_costs_one_cell(naughty, tmp_path, write_study):
    text = naughty.read_text().replace("timeout = 2\nmemory = 0.3", "")
    for how in ("sleeps", "allocates"):
        text = text.replace(f'[[learners]]\nname = "naughty"\nlabel = "{how}"\nhow = "{how}"\n', "")
    study = load_study(write_study(text=text))
    one, two = (
        run_study(study, tmp_path / str(jobs), jobs=jobs, report=False).directory for jobs in (1, 2)
    )
    assert (one / "scores.parquet").read_bytes() == (two / "scores.parquet").read_bytes()
    failures = pd.read_csv(one / "failures.csv")
    assert {*failures["learner"]} == {"raises", "gives NaN", "exits", "is killed"}


def test_other_limits_run_the_cells_again_that_met_them(write_study, tmp_path):
    (tmp_path / "slow.py").write_text(
        "import time\nfrom dataclasses import dataclass\nfrom simstudy import register_learner\n"
        "from simstudy.learners.baselines import Prior\n"
        "@register_learner('slow')\n@dataclass(frozen=True)\nclass Slow(Prior):\n    'Slow.'\n"
        "    def fit(self, sample, rng=None):\n"
        "        if len(sample) == 60:\n            time.sleep(0.5)\n"
        "        return super().fit(sample, rng)\n"
    )
    changes = {
        "seed = 7": 'seed = 7\nplugins = ["slow.py"]',
        "models = 4": "models = 2",
        '"naive_bayes"': '"slow"',
        "[data]": "[limits]\ntimeout = 0.3\n\n[data]",
    }
    study = load_study(write_study(changes))
    before = run_study(study, tmp_path / "out", jobs=1, report=False)
    assert [*before.failures["status"]] == ["timeout", "timeout"]
    assert run_study(study, tmp_path / "out", jobs=1, report=False).reused
    patient = load_study(write_study({**changes, "[data]": "[limits]\ntimeout = 60\n\n[data]"}))
    after = run_study(patient, tmp_path / "out", jobs=1, report=False)
    assert after.note.startswith("limits changed; 2 cells ")
    assert after.manifest["failures"] == 0


def test_a_model_that_cannot_be_drawn_in_time_is_said_of_all_its_cells(write_study, tmp_path):
    (tmp_path / "sleepy.py").write_text(
        "import time\nfrom dataclasses import dataclass\nfrom simstudy import register_family\n"
        "from simstudy.sources.families.tan import TANFamily\n"
        "@register_family('sleepy')\n@dataclass(frozen=True)\nclass Sleepy(TANFamily):\n"
        "    'Sleeps now and then.'\n"
        "    def draw(self, rng):\n"
        "        if rng.random() < 0.5:\n            time.sleep(60)\n"
        "        return super().draw(rng)\n"
    )
    changes = {
        "seed = 7": 'seed = 7\nplugins = ["sleepy.py"]',
        '"tan"\nvar': '"sleepy"\nvar',
        "[data]": "[limits]\ntimeout = 0.5\n\n[data]",
    }
    results = run_study(load_study(write_study(changes)), tmp_path / "out", jobs=1, report=False)
    assert {*results.failures["error"]} == {"drawing the model: took longer than 0.5 s"}
    assert (results.failures.groupby("model").size() == 4).all()
    assert 0 < results.failures["model"].nunique() < 4


def test_a_plugin_that_workers_cannot_load_is_one_sentence(write_study, tmp_path):
    (tmp_path / "once.py").write_text(
        "import os\nfrom dataclasses import dataclass\nfrom simstudy import register_learner\n"
        "from simstudy.learners.baselines import Prior\n"
        f"if os.getpid() != {os.getpid()}:\n    raise RuntimeError('not here')\n"
        "@register_learner('once')\n@dataclass(frozen=True)\nclass Once(Prior):\n    'Once.'\n"
    )
    path = write_study({"seed = 7": 'seed = 7\nplugins = ["once.py"]', '"naive_bayes"': '"once"'})
    with pytest.raises(SimstudyError, match=r"worker process cannot start: .*not here"):
        run_study(load_study(path), tmp_path / "out", jobs=1, report=False)


def test_a_guard_that_is_stopped_leaves_no_child(naughty):
    before = {*_children(os.getpid())}
    guard = Guard(make_plan(load_study(naughty)))
    guard.run([(0, [(20, "NB")])])
    children = {*_children(os.getpid())} - before
    assert len(children) == 1
    guard.stop()
    assert wait_for(lambda: not children & {*_children(os.getpid())})
    with pytest.raises(StoppedError):
        guard.run([(1, None)])


def test_a_killed_run_leaves_no_children(write_study, naughty, tmp_path):
    study = write_study(
        {"timeout = 2\nmemory = 0.3": ""}, text=naughty.read_text(), name="forever.toml"
    )
    command = [
        sys.executable,
        "-m",
        "simstudy.run",
        study,
        "--quiet",
        "--no-report",
        "--out",
        "out",
    ]
    run = subprocess.Popen(list(map(str, command)), cwd=tmp_path)
    try:
        children = wait_for(lambda: _children(run.pid))
        time.sleep(0.5)  # until one of them sleeps
    finally:
        run.send_signal(signal.SIGKILL)
        run.wait()
    assert wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in children))


def wait_for(condition, seconds=20):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if found := condition():
            return found
        time.sleep(0.02)
    return None


def _children(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    if not path.exists():
        pytest.skip("this system does not list the children of a process")
    # Children are started by threads.
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


@pytest.mark.slow
def test_failing_fast_stops_at_the_first_failure(simstudy, naughty):
    done = simstudy("run", naughty, "--jobs", 1, "--fail-fast", "--out", "out")
    assert done.returncode == 3
    assert "raises failed on model" in done.stderr
    assert "simstudy cell out/study.toml --model" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Warning" not in done.stderr


@pytest.mark.slow
def test_failures_are_listed_and_each_can_be_run_again(simstudy, naughty, tmp_path):
    text = naughty.read_text()
    for how in ("sleeps", "is killed", "allocates"):
        text = text.replace(f'[[learners]]\nname = "naughty"\nlabel = "{how}"\nhow = "{how}"\n', "")
    naughty.write_text(text)
    assert simstudy("run", naughty, "--out", "out", "--no-report").returncode == 3
    listed = simstudy("failures", "out")
    assert listed.returncode == 0
    assert "× gives NaN: invalid" in listed.stdout
    assert "RuntimeError: sixty is too many" in listed.stdout
    command = listed.stdout.strip().splitlines()[-1].split()
    assert command[:3] == ["simstudy", "cell", "out/study.toml"]
    model = command[command.index("--model") + 1]
    options = ["--model", model, "--size", 60, "--learner"]
    again = simstudy("cell", "out/study.toml", *options, "raises")
    assert again.returncode == 3
    assert "naughty.py" in again.stderr
    assert again.stderr.strip().endswith("RuntimeError: sixty is too many")
    fine = simstudy("cell", "out/study.toml", *options, "TAN")
    assert fine.returncode == 0
    scores = pd.read_parquet(tmp_path / "out" / "scores.parquet")
    row = scores[
        (scores["model"] == int(model)) & (scores["size"] == 60) & (scores["learner"] == "TAN")
    ]
    said = dict(line.split(" = ") for line in fine.stdout.splitlines())
    assert json.loads(said["information_reward"]) == row["information_reward"].item()
    for wrong, sentence in (
        (["--model", 99, "--size", 60, "--learner", "TAN"], "no model 99; it has 0 to 3"),
        (["--model", 0, "--size", 61, "--learner", "TAN"], "no size 61; it has 20, 60"),
        (["--model", 0, "--size", 60, "--learner", "tan"], "no learner tan; it has NB, raises"),
    ):
        refused = simstudy("cell", "out/study.toml", *wrong)
        assert refused.returncode == 2
        assert sentence in refused.stderr
    nothing = simstudy("failures", "nowhere")
    assert nothing.returncode == 2
    assert "nowhere holds no results of a study" in nothing.stderr


@pytest.mark.slow
def test_a_child_that_dies_with_several_tasks_in_hand_costs_one_cell(naughty, write_study):
    text = naughty.read_text().replace("timeout = 2\nmemory = 0.3", "")
    for how in ("sleeps", "allocates"):
        text = text.replace(f'[[learners]]\nname = "naughty"\nlabel = "{how}"\nhow = "{how}"\n', "")
    plan = make_plan(load_study(write_study(text=text, name="several.toml"), {"models": 6}))
    tasks = [(model, None) for model in range(plan.problems)]

    def told(cells):
        return [(c.model, c.size, c.learner, c.status, c.error, str(c.values)) for c in cells]

    one, several = Guard(plan), Guard(plan)
    try:
        expected = [told(one.run([task])[0]) for task in tasks]
        found, left = [], tasks
        while left:
            done = several.run(left)
            assert done
            found += map(told, done)
            left = left[len(done) :]
    finally:
        one.stop()
        several.stop()
    assert found == expected
    assert {cell[3] for cells in found for cell in cells} >= {"ok", "crashed"}


def test_a_batch_that_takes_long_gives_back_what_it_has_not_begun(write_study, tmp_path):
    (tmp_path / "sloth.py").write_text(
        "import time\nfrom dataclasses import dataclass\nfrom simstudy import register_learner\n"
        "from simstudy.learners.baselines import Prior\n"
        "@register_learner('sloth')\n@dataclass(frozen=True)\nclass Sloth(Prior):\n    'Slow.'\n"
        "    def fit(self, sample, rng=None):\n"
        "        time.sleep(0.2)\n        return super().fit(sample, rng)\n"
    )
    changes = {"seed = 7": 'seed = 7\nplugins = ["sloth.py"]', '"naive_bayes"': '"sloth"'}
    study = load_study(write_study(changes, name="sloth.toml"), {"models": 8})
    guard = Guard(make_plan(study))
    try:
        done = guard.run([(model, None) for model in range(8)])
    finally:
        guard.stop()
    assert len(done) == 1  # two fits take longer than a batch should
    assert [cell.model for cell in done[0]] == [0] * 4
    # A run hands out again what was given back, and nothing is lost.
    results = run_study(study, tmp_path / "slow", jobs=2, report=False)
    assert len(results.scores) == 8 * 4


@given(
    tasks=st.integers(0, 2000),
    workers=st.integers(1, 40),
    seconds=st.floats(1e-6, 100),
)
def test_every_task_is_handed_out_once_and_in_order(
    tasks: int, workers: int, seconds: float
) -> None:
    every = [(model, None) for model in range(tasks)]
    batches = Batches(every, workers)
    handed = []
    for batch in batches:
        assert batch
        handed += batch
        batches.note(len(batch), seconds * len(batch))
    assert handed == every


def test_batches_of_quick_tasks_grow_and_those_of_slow_ones_do_not() -> None:
    for seconds, largest in ((0.001, 256), (0.01, 30), (1.0, 1)):
        batches = Batches([(model, None) for model in range(100_000)], 2)
        sizes = []
        for batch in batches:
            sizes.append(len(batch))
            batches.note(len(batch), seconds * len(batch))
        assert sizes[0] == 1  # nothing is known yet
        assert max(sizes) == largest


def test_the_last_tasks_are_shared_among_the_workers() -> None:
    batches = Batches([(model, None) for model in range(1000)], 4)
    sizes = []
    for batch in batches:
        sizes.append(len(batch))
        batches.note(len(batch), 1e-6)
    # No batch is more than a third of one worker's share of what was left.
    left = 1000
    for size in sizes:
        assert size <= -(-left // 12)
        left -= size
    assert sizes[-1] == 1
