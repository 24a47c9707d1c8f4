"""Sizes are added around crossings: nothing is recomputed, and the analysis of own sizes stays."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from simstudy import (
    SimstudyError,
    load_study,
    make_study,
    merge,
    open_results,
    run_shard,
    run_study,
)
from simstudy.results.store.journal import Journal

pytestmark = [pytest.mark.xdist_group("refine"), pytest.mark.slow]  # its results are made once

# NB is ahead of CaMML with few rows of TAN models, and behind with many.
STUDY = """
name = "crossing"
seed = 11
models = 20

[family]
name = "tan"
variables = [5, 6]
values = [2, 3]

[data]
train_sizes = [20, 400]
test_size = "exact"
{more}

[[learners]]
name = "naive_bayes"
label = "NB"

[[learners]]
name = "tan"
label = "TAN"

[[learners]]
name = "camml"
label = "CaMML"
"""


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    place = tmp_path_factory.mktemp("crossing")
    (place / "plain.toml").write_text(STUDY.format(more=""))
    (place / "refine.toml").write_text(STUDY.format(more="\n[thresholds]\nrefine = true"))
    return place


@pytest.fixture(scope="module")
def plain(studies):
    return run_study(load_study(studies / "plain.toml"), studies / "plain", jobs=1)


@pytest.fixture(scope="module")
def refined(studies, plain):
    return run_study(load_study(studies / "refine.toml"), studies / "refined", jobs=2)


def test_sizes_are_added_between_the_study_s_own(plain, refined):
    assert plain.refined.empty
    added = {*refined.refined["size"]}
    assert added
    assert 20 < min(added) <= max(added) < 400
    change = refined.thresholds().dropna(subset="crossing").iloc[0]
    assert change["after"] / change["before"] < 400 / 20
    before = plain.thresholds()
    assert before["before"].notna().any()
    assert before["crossing"].isna().all()  # 20 and 400 are far apart


def test_what_is_said_of_the_own_sizes_stays_the_same(plain, refined):
    pd.testing.assert_frame_equal(refined.scores, plain.scores)
    for name in ("anova", "intervals"):
        pd.testing.assert_frame_equal(getattr(refined, name)(), getattr(plain, name)())
    for name in ("scores.parquet", "anova.csv", "intervals.csv"):
        one, other = (results.directory / name for results in (plain, refined))
        assert one.read_bytes() == other.read_bytes()


def test_added_sizes_count_among_the_tests(plain, refined):
    before, after = plain.pairwise(), refined.pairwise()
    columns = ["size", "first", "second", "difference", "se", "p"]
    pd.testing.assert_frame_equal(after[columns], before[columns])
    added = refined.refined.groupby("size")["learner"].nunique()
    assert set(before["m"]) == {3 * 2}
    assert set(after["m"]) == {6 + int((added * (added - 1) / 2).sum())}
    pd.testing.assert_frame_equal(refined.pairwise(confidence=0.95), after)


def test_added_cells_are_those_of_a_study_with_these_sizes(refined, studies):
    sizes = sorted({*refined.refined["size"]})
    study = load_study(studies / "plain.toml", {"data.train_sizes": sizes})
    whole = run_study(study, studies / "whole", jobs=1, report=False).scores
    both = refined.refined.merge(whole, on=["model", "size", "learner"], suffixes=("", "_whole"))
    assert len(both) == len(refined.refined)
    assert (both["information_reward"] == both["information_reward_whole"]).all()


def test_the_flag_extends_results_that_are_there(plain, refined, studies, tmp_path, simstudy):
    out = tmp_path / "out"
    run_study(load_study(studies / "plain.toml"), out, jobs=1, report=False)
    kept = len(list(Journal(out).cells()))
    done = simstudy("run", studies / "plain.toml", "--out", out, "--refine", "--jobs", 1)
    assert done.returncode == 0
    assert "Sizes added around crossings" in " ".join(done.stdout.split())
    journal = list(Journal(out).cells())
    assert len(journal) == kept + len(refined.refined)
    assert len({(cell.model, cell.size, cell.learner) for cell in journal}) == len(journal)
    for name in ("scores.parquet", "refined.parquet", "thresholds.csv"):
        assert (out / name).read_bytes() == (refined.directory / name).read_bytes()
    # Once more, and nothing is run; without the flag the sizes stay.
    again = simstudy("run", studies / "plain.toml", "--out", out, "--refine")
    assert "nothing to run" in " ".join(again.stdout.split())
    assert len(list(Journal(out).cells())) == len(journal)
    simstudy("run", studies / "plain.toml", "--out", out)
    assert not open_results(out).refined.empty


def test_a_run_that_was_stopped_goes_on_to_the_same_sizes(refined, studies, tmp_path):
    study, out = load_study(studies / "refine.toml"), tmp_path / "out"

    class StoppedError(Exception):
        pass

    def stop(step):
        if step.finished[0].size not in (20, 400):
            raise StoppedError

    with pytest.raises(StoppedError):
        run_study(study, out, jobs=1, progress=stop)
    assert len(list(Journal(out).cells())) > 20 * 6
    run_study(study, out, jobs=1)
    one, other = out / "refined.parquet", refined.directory / "refined.parquet"
    assert one.read_bytes() == other.read_bytes()


def test_results_that_were_refined_stay_so_with_more_models(studies, tmp_path):
    out = tmp_path / "out"
    run_study(load_study(studies / "refine.toml"), out, jobs=1, report=False)
    more = load_study(studies / "plain.toml", {"models": 21})
    results = run_study(more, out, jobs=1, report=False)
    assert {*results.refined["model"]} == {*range(21)}
    without = run_study(load_study(studies / "plain.toml", {"models": 22}), out, refine=False)
    assert without.refined.empty
    assert not (out / "refined.parquet").exists()


def test_fewer_models_are_refined_as_if_they_were_alone(refined, studies, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(refined.directory, out)
    before = (out / "refined.parquet").read_bytes()
    fewer = load_study(studies / "refine.toml", {"models": 15})
    smaller = run_study(fewer, out, jobs=1, report=False)
    assert "5 further models are kept" in smaller.note
    fresh = run_study(fewer, tmp_path / "fresh", jobs=1, report=False)
    for name in ("scores.parquet", "refined.parquet", "failures.csv"):
        assert (out / name).read_bytes() == (fresh.directory / name).read_bytes(), name
    cells = len(list(Journal(out).cells()))
    run_study(load_study(studies / "refine.toml"), out, jobs=1, report=False)
    assert (out / "refined.parquet").read_bytes() == before
    assert len(list(Journal(out).cells())) == cells


def test_a_damaged_file_is_made_again(refined, studies):
    file = refined.directory / "refined.parquet"
    content = file.read_bytes()
    file.write_bytes(content[:-9])
    study = load_study(studies / "refine.toml")
    assert not run_study(study, refined.directory, jobs=1, report=False).refined.empty
    assert file.read_bytes() == content


def test_merged_results_keep_the_sizes_that_were_added(refined, studies, tmp_path):
    whole = merge([refined.directory], tmp_path / "merged")
    pd.testing.assert_frame_equal(whole.refined, refined.refined)
    kept = [len(list(Journal(place).cells())) for place in (refined.directory, whole.directory)]
    assert kept[0] == kept[1]


def test_another_confidence_chooses_its_own_sizes(studies, tmp_path):
    out = tmp_path / "out"
    study = load_study(studies / "refine.toml")
    run_study(study, out, jobs=1, report=False)
    strict = load_study(studies / "refine.toml", {"analysis.confidence": 0.9999999})
    first = run_study(strict, out, jobs=1, report=False).refined
    again = run_study(strict, out, jobs=1, report=False)
    pd.testing.assert_frame_equal(again.refined, first)
    assert again.reused
    fresh = run_study(strict, tmp_path / "fresh", jobs=1, report=False).refined
    pd.testing.assert_frame_equal(first, fresh)


FAILING = """
from dataclasses import dataclass
from simstudy import register_learner
from simstudy.learners.bayes.naive_bayes import NaiveBayes

@register_learner("picky")
@dataclass(frozen=True)
class Picky(NaiveBayes):
    "Cannot learn from some numbers of rows."
    sizes: tuple[int, ...] = ()
    def fit(self, sample, rng=None):
        if len(sample) in self.sizes or len(sample) not in (20, 60, 400) and sample.codes[0, 0]:
            raise ValueError("not this many")
        return super().fit(sample, rng)
"""


def test_failures_at_added_sizes_are_counted_and_told(studies, tmp_path, simstudy):
    (tmp_path / "picky.py").write_text(FAILING)
    text = STUDY.format(more="").replace("seed = 11", 'seed = 11\nplugins = ["picky.py"]')
    text = text.replace('name = "naive_bayes"', 'name = "picky"')
    (tmp_path / "study.toml").write_text(text)
    done = simstudy("run", "study.toml", "--out", "out", "--refine", "--jobs", 1)
    assert done.returncode == 3
    results = open_results(tmp_path / "out")
    failed = results.refined[results.refined["status"] != "ok"]
    assert len(failed) == results.manifest["failures"] == len(results.failures) > 0
    assert (results.scores["status"] == "ok").all()
    row = results.failures.iloc[0]
    place = ["--model", row["model"], "--size", row["size"], "--learner", row["learner"]]
    again = simstudy("cell", "out/study.toml", *place)
    assert "not this many" in again.stderr + again.stdout


def test_a_learner_that_failed_at_an_own_size_is_no_reason_to_add_it(tmp_path):
    (tmp_path / "picky.py").write_text(FAILING.replace("and sample.codes[0, 0]", "and False"))
    text = STUDY.format(more="").replace("seed = 11", 'seed = 11\nplugins = ["picky.py"]')
    text = text.replace('name = "naive_bayes"', 'name = "picky"\nsizes = [60]')
    (tmp_path / "study.toml").write_text(text.replace("[20, 400]", "[20, 60, 400]"))
    results = run_study(load_study(tmp_path / "study.toml"), tmp_path / "out", refine=True, jobs=1)
    assert 60 not in {*results.refined["size"]}


def test_the_manifest_says_which_sizes_serve_the_thresholds(refined):
    manifest = json.loads((Path(refined.directory) / "manifest.json").read_text())
    sizes = manifest["refined"]["sizes"]
    assert {int(size) for size in sizes} == {*refined.refined["size"]}
    for size, learners in sizes.items():
        mine = refined.refined[refined.refined["size"] == int(size)]
        assert {*mine["learner"]} == {*learners}
        assert np.isfinite(mine["information_reward"]).all()


def test_a_shard_cannot_be_refined(studies, simstudy):
    done = simstudy("run", studies / "plain.toml", "--shard", "1/2", "--refine")
    assert done.returncode == 2
    assert "--refine needs all models; use it when the shards are merged" in done.stderr


def test_a_wrong_setting_is_one_sentence(studies):
    text = STUDY.format(more='\n[thresholds]\nrefine = "often"')
    (studies / "wrong.toml").write_text(text)
    with pytest.raises(SimstudyError, match=r"thresholds\.refine"):
        load_study(studies / "wrong.toml")


def test_a_shard_is_not_refined_and_an_unknown_option_is_refused(tmp_path):
    study = make_study({"name": "x", "family": {"name": "tan"}, "learners": [{"name": "prior"}]})
    with pytest.raises(SimstudyError, match="needs all models"):
        run_shard(study, (1, 2), tmp_path / "out", refine=True)
    with pytest.raises(TypeError, match="unexpected keyword argument 'jbos'"):
        run_study(study, tmp_path / "out", jbos=2)
    assert not (tmp_path / "out").exists()
