"""Learners, measures and families that touch what is not theirs: no other cell may change."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from simstudy import SimstudyError, load_study, merge, open_results, run_shard, run_study
from simstudy.data.value_layout import slot_layout
from simstudy.engine.workers import guard
from simstudy.engine.workers.child import Child
from simstudy.sources.families.tan import TANFamily
from simstudy.workflow.run import run_cell

PLUGIN = '''
import ctypes
import os
from dataclasses import dataclass

import numpy as np

from simstudy import register_learner, register_measure
from simstudy.learners.baselines import Prior
from simstudy.data.value_layout import slot_layout


def force(array):
    """Write to an array whatever it takes."""
    array.flags.writeable = True
    array[...] = 0
    while array.base is not None:
        array = array.base
        if isinstance(array, np.ndarray):
            array.flags.writeable = True
            array[...] = 0


@register_learner("toucher")
@dataclass(frozen=True)
class Toucher(Prior):
    "Touches what it is given."

    how: str = ""

    def fit(self, sample, rng=None):
        fitted = super().fit(sample, rng)
        getattr(self, self.how)(sample)
        return Answers(fitted, self.how)

    def codes(self, sample):
        X = sample.codes
        X.flags.writeable = True
        X[:, 0] = 0

    def codes_to_the_base(self, sample):
        force(sample.codes)

    def assigns_codes(self, sample):
        sample.codes = np.zeros_like(sample.codes)

    def assigns_cards(self, sample):
        sample.cards = tuple(card + 1 for card in sample.cards)

    def tables(self, sample):
        for table in (sample.counts(0, 1), sample.pair_counts, sample.class_counts):
            force(table)
        sample._tables.clear()

    def distinct(self, sample):
        force(sample.distinct.codes)
        force(sample.distinct.weights)

    def layout(self, sample):
        for change in (
            lambda: force(sample.layout.starts),
            lambda: force(slot_layout(sample.cards[:-1]).cards),
            lambda: setattr(sample.layout, "starts", sample.layout.starts + 1),
            lambda: sample.layout.spans.clear(),
        ):
            try:
                change()
            except (AttributeError, ValueError):
                pass

    def test_rows(self, sample):
        pass

    def same_array(self, sample):
        pass

    def errors_of_numpy(self, sample):
        np.seterr(all="raise")

    def directory(self, sample):
        os.chdir("/")


held = {}


@dataclass
class Answers:
    fitted: object
    how: str

    def predict_proba(self, codes):
        proba = self.fitted.predict_proba(codes)
        if self.how == "test_rows":
            force(codes)
        if self.how == "same_array":  # what was answered before is overwritten
            proba = np.asfortranarray(proba)
            for old in held.values():
                force(old)
            held[len(held)] = proba
        return proba


@register_measure("scribbler", greater_is_better=True)
def scribbler(proba, y, *, prior, oracle, truth):
    for array in (proba, y, prior, oracle, truth):
        force(array)
    return np.zeros(1)[0]
'''
WAYS = (
    *("codes", "codes_to_the_base", "assigns_codes", "assigns_cards", "tables", "distinct"),
    *("layout", "test_rows", "same_array", "errors_of_numpy", "directory"),
)


@pytest.fixture
def plain(write_study, tmp_path):
    also = '[measures]\nalso = ["kl_divergence", "log_loss"]\n\n[data]'
    study = load_study(write_study({"[data]": also}, name="plain.toml"))
    return run_study(study, tmp_path / "plain", jobs=1, report=False).scores


@pytest.mark.slow
@pytest.mark.parametrize("training", ["independent", "nested"])
def test_what_a_stranger_does_to_its_data_changes_no_other_cell(
    write_study, tmp_path, plain, training
):
    (tmp_path / "toucher.py").write_text(PLUGIN)
    touchers = "".join(
        f'[[learners]]\nname = "toucher"\nlabel = "{how}"\nhow = "{how}"\n\n' for how in WAYS
    )
    path = write_study(
        {
            "seed = 7": 'seed = 7\nplugins = ["toucher.py"]',
            "[data]": '[measures]\nalso = ["scribbler", "kl_divergence", "log_loss"]\n\n[data]',
            '[[learners]]\nname = "naive_bayes"': f'{touchers}[[learners]]\nname = "naive_bayes"',
        }
    )
    study = load_study(path, {"data.training": training})
    if training == "nested":
        nested = load_study(write_study(name="nested.toml"), {"data.training": training})
        plain = run_study(nested, tmp_path / "nested", jobs=1, report=False).scores
    for jobs in (1, 2):
        results = run_study(study, tmp_path / f"out{jobs}", jobs=jobs, report=False)
        scores = results.scores
        others = scores[scores["learner"].isin(["NB", "TAN"])].reset_index(drop=True)
        pd.testing.assert_frame_equal(others[plain.columns], plain)
    assert {*results.failures["learner"]} <= {*WAYS}


def test_a_layout_that_samples_share_cannot_be_changed():
    layout = slot_layout((2, 3))
    for array in (layout.cards, layout.starts, layout.owner, layout.value, layout.slot_cards):
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True
    with pytest.raises(AttributeError):
        layout.size = 4


WILLFUL = """
import os
from dataclasses import dataclass

import numpy as np

from simstudy import register_family
from simstudy.sources.families.tan import TANFamily


@register_family("willful")
@dataclass(frozen=True)
class Willful(TANFamily):
    "Draws as it likes."

    how: str = ""

    def draw(self, rng):
        if self.how == "model":
            rng = np.random.default_rng()
        model = super().draw(rng)
        if self.how == "rows":
            drawn = model.sample
            model.sample = lambda n, rng: drawn(n, np.random.default_rng())
        return model
"""


@pytest.fixture
def willful(write_study, tmp_path):
    (tmp_path / "willful.py").write_text(WILLFUL)

    def make(how, **overrides):
        changes = {
            "seed = 7": 'seed = 7\nplugins = ["willful.py"]',
            'name = "tan"\nvariables': f'name = "willful"\nhow = "{how}"\nvariables',
        }
        return load_study(write_study(changes, name="willful.toml"), overrides)

    return make


@pytest.mark.parametrize("how", ["model", "rows"])
def test_a_family_that_ignores_its_generator_is_refused_when_its_models_are_needed_again(
    willful, tmp_path, how
):
    out = tmp_path / "out"
    before = run_study(willful(how), out, jobs=1, report=False).scores
    journal = (out / "cells.jsonl").read_bytes()
    more = {"data.train_sizes": [20, 40, 60]}
    with pytest.raises(SimstudyError, match=r"^model 0 differs .*--out"):
        run_study(willful(how, **more), out, jobs=1, report=False)
    kept = (out / "cells.jsonl").read_bytes().splitlines()
    assert kept[: len(journal.splitlines())] == journal.splitlines()
    pd.testing.assert_frame_equal(open_results(out).scores, before)
    assert run_study(willful(how), out, jobs=1, report=False).reused
    again = run_study(willful(how), tmp_path / "other", jobs=1, report=False).scores
    assert not again["information_reward"].equals(before["information_reward"])


def test_more_models_of_a_family_that_ignores_its_generator_are_no_harm(willful, tmp_path):
    few = run_study(willful("model", models=3), tmp_path / "out", jobs=1, report=False).scores
    more = run_study(willful("model", models=5), tmp_path / "out", jobs=1, report=False).scores
    pd.testing.assert_frame_equal(more[: len(few)], few)


def test_pieces_with_different_models_are_not_joined(willful, tmp_path):
    study = willful("model")
    run_shard(study, (1, 2), tmp_path / "one", jobs=1)
    run_shard(study, (2, 2), tmp_path / "two", jobs=1)
    wide = willful("model", **{"data.train_sizes": [20, 40, 60]})
    run_study(wide, tmp_path / "all", jobs=1, report=False)
    (tmp_path / "all" / "study.toml").write_bytes((tmp_path / "one" / "study.toml").read_bytes())
    for name in ("manifest.json",):
        (tmp_path / "all" / name).write_bytes((tmp_path / "one" / name).read_bytes())
    pieces = [tmp_path / "one", tmp_path / "two", tmp_path / "all"]
    with pytest.raises(SimstudyError, match=r"model \d+ differs|different score"):
        merge(pieces, tmp_path / "joined")


def test_models_that_differ_have_different_digests_and_rounding_does_not_count():
    draws = [TANFamily().draw(np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert draws[0].digest() == draws[1].digest() != draws[2].digest()
    for cpt in draws[1].components[0].cpts:
        cpt *= 1 + 1e-15
    assert draws[0].digest() == draws[1].digest()
    draws[1].components[0].cpts[0][...] = draws[1].components[0].cpts[0][..., ::-1]
    assert draws[0].digest() != draws[1].digest()


BAD_MEASURES = """
import numpy as np

from simstudy import register_measure


@register_measure("nothing", greater_is_better=True)
def nothing(proba, y):
    return None


@register_measure("not_a_number", greater_is_better=True)
def not_a_number(proba, y):
    return np.full(len(y), np.nan)


@register_measure("raises", greater_is_better=True)
def raises(proba, y):
    raise OSError("out of ink")


@register_measure("leaves", greater_is_better=True)
def leaves(proba, y):
    raise SystemExit(0)


@register_measure("a_word", greater_is_better=True)
def a_word(proba, y):
    return "1.5"
"""
BAD = ("nothing", "not_a_number", "raises", "leaves", "a_word")


@pytest.fixture
def measured(write_study, tmp_path):
    (tmp_path / "bad.py").write_text(BAD_MEASURES)

    def make(section):
        changes = {"seed = 7": 'seed = 7\nplugins = ["bad.py"]', "[data]": f"{section}\n\n[data]"}
        return load_study(write_study(changes, name="bad.toml"), {"models": 2})

    return make


def test_a_measure_without_values_fails_alone_and_is_named(measured, tmp_path):
    names = ", ".join(f'"{name}"' for name in (*BAD, "accuracy"))
    study = measured(f"[measures]\nalso = [{names}]")
    results = run_study(study, tmp_path / "out", jobs=1, report=False)
    scores = results.scores
    assert (scores["status"] == "ok").all()
    assert scores[["information_reward", "accuracy"]].notna().all(axis=None)
    assert scores[[*BAD]].isna().all(axis=None)
    (text,) = {warning.partition(": ")[2] for warning in results.manifest["warnings"]}
    for name, why in (
        ("nothing", "measure 'nothing' returned None, which is not a number"),
        ("not_a_number", "it is nan in 100 of 100 rows"),
        ("raises", "OSError: out of ink"),
        ("leaves", "SystemExit: 0"),
        ("a_word", "measure 'a_word' returned 1.5, which is not a number"),
    ):
        assert f"no {name}: " in text
        assert why in text
    with pytest.raises(ValueError, match="returned None"):
        run_cell(study, 0, 20, "NB")


@pytest.mark.parametrize("name", BAD)
def test_a_primary_measure_without_values_is_an_error(measured, tmp_path, name):
    study = measured(f'[measures]\nprimary = "{name}"\nalso = ["accuracy"]')
    with pytest.raises(SimstudyError, match=rf"failures\.csv.*no {name}: "):
        run_study(study, tmp_path / "out", jobs=1, report=False)
    scores = pd.read_parquet(tmp_path / "out" / "scores.parquet")
    assert scores["accuracy"].notna().all()  # which have nothing to do with it


def test_a_worker_killed_while_it_starts_is_replaced(write_study, tmp_path, monkeypatch, plain):
    started = []

    class Killed(Child):
        def __init__(self):
            super().__init__()
            started.append(self.pid)
            if len(started) <= 2:
                os.kill(self.pid, signal.SIGKILL)

    monkeypatch.setattr(guard, "Child", Killed)
    scores = run_study(load_study(write_study()), tmp_path / "out", jobs=2, report=False).scores
    assert len(started) == 4
    pd.testing.assert_frame_equal(scores, plain[scores.columns])


def test_a_worker_that_always_dies_is_told_of(write_study, tmp_path, monkeypatch):
    class Dead(Child):
        def __init__(self):
            super().__init__()
            os.kill(self.pid, signal.SIGKILL)

    monkeypatch.setattr(guard, "Child", Dead)
    with pytest.raises(SimstudyError, match=r"a worker process cannot start: .* SIGKILL"):
        run_study(load_study(write_study()), tmp_path / "out", jobs=2, report=False)


def test_a_plugin_that_loops_in_workers_does_not_hang_a_run_with_a_timeout(
    write_study, tmp_path, monkeypatch
):
    monkeypatch.setattr(guard, "_START_PATIENCE", 1.0)
    (tmp_path / "loops.py").write_text(
        "import sys, time\n"
        "while 'simstudy.engine.workers.worker' in sys.modules:\n"
        "    time.sleep(1)\n"
    )
    changes = {
        "seed = 7": 'seed = 7\nplugins = ["loops.py"]',
        "[data]": "[limits]\ntimeout = 1\n\n[data]",
    }
    monkeypatch.delitem(sys.modules, "simstudy.engine.workers.worker", raising=False)
    study = load_study(write_study(changes))
    with pytest.raises(SimstudyError, match=r"cannot start: .* took longer than 2 s to load"):
        run_study(study, tmp_path / "out", jobs=1, report=False)


@pytest.mark.slow
@pytest.mark.parametrize("training", ["independent", "nested"])
def test_a_size_too_large_for_memory_costs_only_its_own_cells(write_study, tmp_path, training):
    alone = {"data.training": training, "models": 2}
    honest = run_study(load_study(write_study(), alone), tmp_path / "small", jobs=1, report=False)
    huge = {**alone, "data.train_sizes": [20, 60, 10**9], "limits": {"memory": 0.5}}
    results = run_study(load_study(write_study(), huge), tmp_path / "huge", jobs=1, report=False)
    scores = results.scores
    kept = scores[scores["size"] < 10**9].reset_index(drop=True)
    pd.testing.assert_frame_equal(kept, honest.scores)
    assert (scores["status"][scores["size"] == 10**9] == "error").all()
    assert results.failures["error"].str.contains("drawing the training rows: .*MemoryError").all()


@pytest.mark.slow
def test_a_learner_in_another_directory_leaves_the_results_where_they_belong(write_study, tmp_path):
    (tmp_path / "mover.py").write_text(
        "import os\nos.chdir('/')\n" + PLUGIN.replace("toucher", "mover").replace("scrib", "scr")
    )
    mover = '[[learners]]\nname = "mover"\nlabel = "M"\nhow = "directory"\n\n[[learners]]'
    path = write_study(
        {
            "seed = 7": 'seed = 7\nplugins = ["mover.py"]',
            '[[learners]]\nname = "naive_bayes"': f'{mover}\nname = "naive_bayes"',
        }
    )
    command = [sys.executable, "-m", "simstudy.run", path, "--jobs", "1", "--no-report"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "results" / "small" / "scores.parquet").exists()
