"""Studies of networks from files: run, joined without the file, refused if it changed."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from simstudy import (
    SimstudyError,
    load_study,
    make_study,
    merge,
    open_results,
    run_cell,
    run_shard,
    run_study,
)
from simstudy.engine.plan import make_plan
from simstudy.networks import read_bif, write_bif, write_xmlbif
from simstudy.workflow.lists import vary_study

NETWORKS = Path(__file__).parents[2] / "studies" / "networks"
STUDY = """
name = "chest"
models = 2

[family]
name = "network"
file = "here/asia.bif"
target = "lung"
cpts = "perturbed"

[data]
train_sizes = [50]
test_size = "exact"

[measures]
primary = "kl_divergence"
also = ["representation"]
cutoff = "none"

[[learners]]
name = "naive_bayes"

[[learners]]
name = "truth"
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "here").mkdir()
    shutil.copy(NETWORKS / "asia.bif", tmp_path / "here")
    (tmp_path / "chest.toml").write_text(STUDY)
    return tmp_path


def scores(directory: Path) -> bytes:
    return (directory / "scores.parquet").read_bytes()


def test_the_truth_is_that_of_the_file(place: Path) -> None:
    results = run_study(load_study(place / "chest.toml"), place / "out", jobs=1, report=False)
    means = results.scores.groupby("learner")["kl_divergence"].mean()
    assert means["truth"] == pytest.approx(0, abs=1e-12)
    assert means["naive_bayes"] > 0.001
    model = results.model(1)
    assert model.names[-1] == "lung"
    assert model.digest() != results.model(0).digest()


def test_results_need_the_file_no_longer(place: Path) -> None:
    study = load_study(place / "chest.toml")
    run_study(study, place / "whole", jobs=1, report=False)
    for shard in (1, 2):
        run_shard(study, (shard, 2), place / f"part{shard}", jobs=1)
    shutil.rmtree(place / "here")
    with pytest.raises(SimstudyError, match=r"chest\.toml, family\.file: .*No such file"):
        load_study(place / "chest.toml")
    merged = merge([place / "part1", place / "part2"], place / "merged")
    assert scores(place / "merged") == scores(place / "whole")
    shutil.move(place / "merged", place / "elsewhere")
    again = load_study(place / "elsewhere" / "study.toml")
    assert make_plan(again).fingerprint() == make_plan(study).fingerprint()
    run_study(again, place / "again", jobs=1, report=False)
    assert scores(place / "again") == scores(place / "whole")
    run_study(again, place / "elsewhere", jobs=1, report=False)  # nothing is left to do
    assert open_results(place / "elsewhere").model(0).digest() == merged_digest(place / "whole")
    cell = run_cell(again, 1, 50, "truth")
    assert cell["kl_divergence"] == pytest.approx(0, abs=1e-12)
    assert merged.study.name == "chest"


def merged_digest(directory: Path) -> str:
    return open_results(directory).model(0).digest()


def test_a_changed_network_is_refused_and_another_name_is_not(place: Path) -> None:
    file, study = place / "here" / "asia.bif", place / "chest.toml"
    run_study(load_study(study), place / "out", jobs=1, report=False)
    # the same network in another format, under another name, with comments
    write_xmlbif(read_bif(file), place / "here" / "same.xml")
    study.write_text(STUDY.replace("asia.bif", "same.xml"))
    run_study(load_study(study), place / "out", jobs=1, report=False)
    study.write_text(STUDY)
    file.write_text("// a comment\n" + file.read_text())
    run_study(load_study(study), place / "out", jobs=1, report=False)
    network = read_bif(file)
    cpts = [*network.cpts]
    cpts[0] = np.array([0.02, 0.98])
    write_bif(network.with_tables(cpts), file)
    with pytest.raises(SimstudyError, match=r"different study; these differ: family \(file: "):
        run_study(load_study(study), place / "out", jobs=1, report=False)


def test_a_damaged_copy_still_allows_a_report(place: Path) -> None:
    run_study(load_study(place / "chest.toml"), place / "out", jobs=1, report=False)
    (place / "out" / "files" / "asia.bif").unlink()
    results = open_results(place / "out")
    assert len(results.scores) == 4
    with pytest.raises(SimstudyError, match=r"family\.file: .*asia\.bif cannot be read"):
        results.model(0)


@pytest.mark.slow
def test_variations_find_the_file(place: Path) -> None:
    vary_study(place / "chest.toml", ["family.strength=50.0,200.0"], place / "varied", jobs=1)
    assert len([*(place / "varied").rglob("asia.bif")]) == 2


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"family.target": "lungs"}, "family: target = 'lungs' is not a variable of the network"),
        ({"family.file": "asia.bi"}, "family.file: .*asia.bi cannot be read: No such file"),
        ({"family.values": [2, 2]}, "family.values: unknown key"),
        (
            {"family.file": "alarm.bif", "family.target": "BP", "measures.also": []},
            'data.test_size: "exact" enumerates all joint configurations',
        ),
        (
            {"family.file": "alarm.bif", "family.target": "BP", "data.test_size": 100},
            "measures.also.*: 'representation' needs learners' limits, which enumerate",
        ),
        ({"measures.prior": [0.2, 0.3, 0.5]}, r"needs a target with as many values; .*\[2, 2\]"),
    ],
)
def test_what_cannot_be_is_refused_when_the_study_is_loaded(
    place: Path, changes: dict[str, object], text: str
) -> None:
    content = {**load_study(place / "chest.toml").as_dict()}
    content["family"]["file"] = "asia.bif"
    with pytest.raises(SimstudyError, match=text):
        make_study(content, NETWORKS, overrides=changes)
