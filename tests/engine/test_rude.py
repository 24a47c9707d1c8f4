"""Learners that meddle with their process: the others' cells never suffer for it."""

from __future__ import annotations

import subprocess

import pandas as pd
import pytest

from simstudy import SimstudyError, load_study, merge, run_shard, run_study
from simstudy.results.store.journal import JOURNAL, Journal

RUDE = """
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass

import numpy as np

from simstudy import register_learner
from simstudy.learners.baselines import Prior

held = []


@register_learner("rude")
@dataclass(frozen=True)
class Rude(Prior):
    "Meddles after 60 rows."

    how: str = ""

    def fit(self, sample, rng=None):
        if len(sample) == 60:
            getattr(self, self.how)()
        return super().fit(sample, rng)

    def leaves_a_child(self):
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
        os._exit(7)

    def reads_input(self):
        subprocess.run(["head", "-c", "1000"], check=True)
        assert sys.stdin.read() == ""

    def dies_later(self):
        def die():
            time.sleep(0.005)
            os._exit(9)

        threading.Thread(target=die).start()

    def leaks(self):
        held.append(np.ones(20_000_000))

    def interrupts(self):
        raise KeyboardInterrupt

    def writes_oddly(self):
        raise ValueError("a name with \\udcff in it")

    def says_much(self):
        raise ValueError("!" * 5_000_000)

    def starts_a_program(self):
        subprocess.run(["sleep", "613"], check=True)
"""


@pytest.fixture
def rude(write_study, tmp_path):
    """Make a study with learners that meddle in some ways, before two that do not."""
    (tmp_path / "rude.py").write_text(RUDE)

    def make(*ways, limits=""):
        learners = "".join(
            f'[[learners]]\nname = "rude"\nlabel = "{way}"\nhow = "{way}"\n\n' for way in ways
        )
        changes = {
            "seed = 7": 'seed = 7\nplugins = ["rude.py"]',
            "[data]": f"[limits]\n{limits}\n\n[data]",
            '[[learners]]\nname = "naive_bayes"': f'{learners}[[learners]]\nname = "naive_bayes"',
        }
        return write_study(changes, name="rude.toml")

    return make


@pytest.fixture
def honest(write_study, tmp_path):
    study = load_study(write_study(name="honest.toml"))
    return run_study(study, tmp_path / "honest", jobs=1, report=False).scores


def check_others(results, honest):
    scores = results.scores
    others = scores[scores["learner"].isin(["NB", "TAN"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(others, honest)


@pytest.mark.slow
def test_what_a_learner_does_to_its_process_is_its_own_affair(rude, honest, tmp_path):
    ways = ("leaves_a_child", "reads_input", "dies_later", "interrupts", "writes_oddly")
    study = load_study(rude(*ways, "says_much"), {"models": 4})
    results = run_study(study, tmp_path / "out", jobs=2, report=False)
    check_others(results, honest)
    failures = results.failures.drop_duplicates("learner").set_index("learner")
    assert {*failures.index} == {*ways, "says_much"} - {"reads_input", "dies_later"}
    assert failures["status"]["leaves_a_child"] == "crashed"
    assert "code 7" in failures["error"]["leaves_a_child"]
    assert failures["error"]["interrupts"] == "KeyboardInterrupt: "
    assert r"a name with \udcff in it" in failures["error"]["writes_oddly"]
    assert len(failures["error"]["says_much"]) < 2_100
    assert (tmp_path / "out" / JOURNAL).stat().st_size < 500_000


@pytest.mark.slow
def test_memory_that_a_learner_leaks_is_not_the_next_ones_fault(rude, honest, tmp_path):
    study = load_study(rude("leaks", limits="memory = 0.3"))
    one, two = (run_study(study, tmp_path / str(n), jobs=n, report=False) for n in (1, 2))
    check_others(one, honest)
    assert one.manifest["failures"] == 0
    scores = [r.directory / "scores.parquet" for r in (one, two)]
    assert scores[0].read_bytes() == scores[1].read_bytes()


def test_programs_that_a_learner_started_end_with_its_time(rude, tmp_path):
    study = load_study(rude("starts_a_program", limits="timeout = 1"), {"models": 2})
    results = run_study(study, tmp_path / "out", jobs=1, report=False)
    assert {*results.failures["status"]} == {"timeout"}
    left = subprocess.run(["pgrep", "-f", "^sleep 613"], capture_output=True, text=True)
    assert left.stdout == ""


@pytest.mark.slow
def test_failed_cells_can_be_run_again(rude, tmp_path, honest):
    path = tmp_path / "now"
    (tmp_path / "flaky.py").write_text(
        "from dataclasses import dataclass\nfrom pathlib import Path\n"
        "from simstudy import register_learner\nfrom simstudy.learners.baselines import Prior\n"
        "@register_learner('flaky')\n@dataclass(frozen=True)\nclass Flaky(Prior):\n    'Flaky.'\n"
        "    def fit(self, sample, rng=None):\n"
        f"        if not Path({str(path)!r}).exists():\n            raise OSError('not yet')\n"
        "        return super().fit(sample, rng)\n"
    )
    text = rude().read_text().replace("rude.py", "flaky.py")
    text += '\n[[learners]]\nname = "flaky"\n'
    (tmp_path / "flaky.toml").write_text(text)
    study = load_study(tmp_path / "flaky.toml")
    run_shard(study, (1, 2), tmp_path / "retried", jobs=1)
    shards = [run_shard(study, (n, 2), tmp_path / f"shard{n}", jobs=1).directory for n in (1, 2)]
    path.touch()
    assert run_shard(study, (1, 2), tmp_path / "retried", jobs=1).cells.failed()
    retried = run_shard(study, (1, 2), tmp_path / "retried", jobs=1, retry=True)
    assert not retried.cells.failed()
    again = run_study(study, tmp_path / "again", jobs=1, report=False).directory
    for order in (shards, shards[::-1]):
        # A cell that succeeded somewhere counts, wherever else it failed.
        out = tmp_path / f"merged{order is shards}"
        assert merge([*order, again], out).manifest["failures"] == 0
    with pytest.raises(
        SimstudyError, match=r"--overwrite would delete .*shard1, one of the pieces"
    ):
        merge(shards, shards[0], overwrite=True)
    failed = merge(shards, tmp_path / "failed")
    assert failed.manifest["failures"] == 8
    mended = run_study(study, failed.directory, jobs=1, report=False, retry=True)
    assert mended.manifest["failures"] == 0
    assert mended.note.startswith("8 ")
    assert len(list(Journal(failed.directory).cells())) == 24


def test_scores_that_were_damaged_are_made_again(write_study, tmp_path):
    study = load_study(write_study())
    results = run_study(study, tmp_path / "out", jobs=1, report=False)
    path = results.directory / "scores.parquet"
    whole = path.read_bytes()
    for damaged in (whole[:-1] + b"\0", whole[:500] + bytes([whole[500] ^ 1]) + whole[501:], None):
        path.unlink() if damaged is None else path.write_bytes(damaged)
        again = run_study(study, tmp_path / "out", jobs=1, report=False)
        assert "was damaged or missing" in again.note
        assert path.read_bytes() == whole


def test_one_cell_alone_shows_what_became_of_it(rude, simstudy):
    study = rude("interrupts", "writes_oddly")
    for learner, said in (("interrupts", "KeyboardInterrupt"), ("writes_oddly", "ValueError")):
        done = simstudy("cell", study, "--model", 0, "--size", 60, "--learner", learner)
        assert done.returncode == 3
        assert said in done.stderr.splitlines()[-1]
        assert "rude.py" in done.stderr
