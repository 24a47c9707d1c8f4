"""A study run in pieces and joined is the study run whole."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from simstudy import SimstudyError, load_study, merge, open_results, run_shard, run_study
from simstudy.results.store.journal import JOURNAL, Journal


@pytest.fixture
def study(write_study):
    return load_study(write_study({"models = 4": "models = 7"}))


@pytest.fixture
def shards(study, tmp_path):
    """The directories of three shards."""
    return [
        run_shard(study, (which, 3), tmp_path / f"shard{which}", jobs=1).directory
        for which in (1, 2, 3)
    ]


def test_shards_joined_are_the_whole(study, shards, tmp_path):
    whole = run_study(study, tmp_path / "whole", jobs=1, report=False).directory
    joined = merge(shards, tmp_path / "joined").directory
    for name in ("scores.parquet", "failures.csv", "study.toml"):
        assert (joined / name).read_bytes() == (whole / name).read_bytes()
    assert (joined / "learning_curves.png").exists()
    again = merge([whole, *shards], tmp_path / "again", overwrite=True).directory
    assert (again / "scores.parquet").read_bytes() == (whole / "scores.parquet").read_bytes()


def test_a_shard_alone_is_no_result(shards):
    with pytest.raises(
        SimstudyError,
        match="holds only shard 2/3 of a study; combine",
    ):
        open_results(shards[1])


def test_a_missing_shard_is_named_and_can_be_computed(study, shards, tmp_path):
    out = tmp_path / "joined"
    with pytest.raises(SimstudyError, match=r"cells of 2 of 7 models .* \(model 1, 4\); .* --out"):
        merge([shards[0], shards[2]], out)
    whole = run_study(study, tmp_path / "whole", jobs=1, report=False).directory
    rest = run_study(load_study(out / "study.toml"), out, jobs=1, report=False).directory
    assert (rest / "scores.parquet").read_bytes() == (whole / "scores.parquet").read_bytes()


def test_pieces_of_different_studies_are_not_joined(study, shards, tmp_path, write_study):
    other = load_study(write_study({"models = 4": "models = 7", "seed = 7": "seed = 8"}))
    odd = run_shard(other, (2, 3), tmp_path / "odd", jobs=1).directory
    before = (odd / JOURNAL).read_bytes()
    with pytest.raises(SimstudyError, match=r"odd holds .* seed \(8 there, 7 requested\)"):
        merge([shards[0], odd, shards[2]], tmp_path / "joined")
    assert (odd / JOURNAL).read_bytes() == before
    with pytest.raises(SimstudyError, match=r"nowhere holds no results of a study"):
        merge([tmp_path / "nowhere"], tmp_path / "joined")


def test_pieces_that_disagree_are_not_joined(shards, tmp_path, study):
    cell = next(Journal(shards[1]).cells())
    with Journal(shards[2]).adding() as add:
        add([replace(cell, values=(9.0,))])
    with pytest.raises(
        SimstudyError, match=r"shard3 has a different score .* model 1, 20 rows, NB"
    ):
        merge(shards, tmp_path / "joined")


@pytest.mark.slow
def test_the_command_runs_shards_and_joins_them(simstudy, write_study, tmp_path):
    study = write_study()
    for part in ("1/2", "2/2"):
        done = simstudy("run", study, "--shard", part, "--jobs", 1)
        assert done.returncode == 0
        assert f"Shard {part} is in results/small-shard-{part[0]}-of-2/" in done.stdout
    pieces = sorted((tmp_path / "results").iterdir())
    done = simstudy("merge", *pieces, "--out", "whole")
    assert done.returncode == 0
    assert "16 cells. Report: whole/report.html" in done.stdout
    assert json.loads((tmp_path / "whole" / "manifest.json").read_text())["status"] == "complete"
    for wrong in ("0/2", "3/2", "one", "1/", "/"):
        refused = simstudy("run", study, "--shard", wrong)
        assert refused.returncode == 2
        assert f"--shard: '{wrong}' is not a shard such as 3/10" in refused.stderr
