"""Whose results a directory holds, and when they may be replaced."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys

import numpy as np
import pytest

from simstudy import SimstudyError, load_study, make_study, open_results, run_study
from simstudy.engine.plan import make_plan
from simstudy.workflow.compare import not_comparable


def test_a_study_leaves_the_files_that_are_promised(write_study, tmp_path):
    results = run_study(load_study(write_study()), tmp_path / "out", jobs=1)
    manifest = json.loads((results.directory / "manifest.json").read_text())
    tables = {"anova", "intervals", "pairwise", "left_out", "precision", "thresholds"}
    report = {"report.html", "card.svg", "captions.md", *(f"{name}.csv" for name in tables)}
    report |= {f"learning_curves.{suffix}" for suffix in ("png", "svg", "pdf")}
    assert {*manifest["report"]} == report
    own = {"manifest.json", "study.toml", "cells.jsonl", "failures.csv"}
    own |= {"scores.parquet", "timings.parquet"}
    assert {path.name for path in results.directory.iterdir()} == own | report
    assert manifest["status"] == "complete"
    assert manifest["cells"] == 4 * 2 * 2
    assert manifest["failures"] == 0
    assert manifest["conditions"]["seed"] == 7
    assert manifest["packages"]["numpy"]
    assert list(results.scores) == [
        *("family", "model", "size", "learner", "information_reward", "status")
    ]
    assert list(results.timings) == ["model", "size", "learner", "fit_seconds", "predict_seconds"]


def test_the_same_study_again_gives_the_existing_result(write_study, tmp_path):
    def stamps(directory):
        return {path.name: path.stat().st_mtime_ns for path in directory.iterdir()}

    first = run_study(load_study(write_study()), tmp_path / "out", jobs=1)
    before = stamps(first.directory)
    second = run_study(load_study(write_study()), tmp_path / "out", jobs=1)
    assert stamps(second.directory) == before
    assert (first.reused, second.reused) == (False, True)


def test_a_new_title_or_confidence_needs_no_new_scores(write_study, tmp_path):
    first = run_study(load_study(write_study()), tmp_path / "out", jobs=1)
    stamp = (first.directory / "scores.parquet").stat().st_mtime_ns
    width = first.intervals().eval("upper - lower")
    changed = load_study(write_study(), {"analysis.confidence": 0.5, "title": "Other"})
    second = run_study(changed, tmp_path / "out", jobs=1)
    assert second.reused
    assert (second.directory / "scores.parquet").stat().st_mtime_ns == stamp
    assert (second.intervals().eval("upper - lower") < width).all()
    assert second.settings["title"] == "Other"
    assert (second.directory / "intervals.csv").exists()
    third = run_study(load_study(write_study()), tmp_path / "out", jobs=1, report=False)
    # Tables that no longer hold are worse than none.
    assert not (third.directory / "intervals.csv").exists()


def test_new_scores_take_away_just_the_report_of_earlier_ones(write_study, tmp_path):
    out = tmp_path / "out"
    run_study(load_study(write_study()), out, jobs=1)
    made = json.loads((out / "manifest.json").read_text())["report"]
    (out / "notes.txt").write_text("mine")
    more = run_study(load_study(write_study(), {"models": 5}), out, jobs=1, report=False)
    assert [name for name in made if (out / name).exists()] == []
    assert more.manifest["report"] == []
    assert (out / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("name", ["../precious.txt", "scores.parquet", "a\0b"])
def test_a_manifest_cannot_have_other_files_taken_away(write_study, tmp_path, name):
    out = tmp_path / "out"
    (tmp_path / "precious.txt").write_text("mine")
    run_study(load_study(write_study()), out, jobs=1, report=False)
    manifest = json.loads((out / "manifest.json").read_text())
    (out / "manifest.json").write_text(json.dumps({**manifest, "report": [name]}))
    other = run_study(load_study(write_study(), {"title": "Other"}), out, jobs=1, report=False)
    assert (tmp_path / "precious.txt").read_text() == "mine"
    assert len(other.scores) == 16


def test_a_different_study_in_the_same_place_is_refused_with_what_differs(write_study, tmp_path):
    run_study(load_study(write_study()), tmp_path / "out", jobs=1, report=False)
    with pytest.raises(
        SimstudyError, match=r"different study.*seed \(7 there, 8 requested\).*--over"
    ):
        run_study(load_study(write_study(), {"seed": 8}), tmp_path / "out", jobs=1, report=False)
    replaced = run_study(
        load_study(write_study(), {"seed": 8}), tmp_path / "out", jobs=1, overwrite=True
    )
    assert replaced.manifest["conditions"]["seed"] == 8


def test_a_directory_of_other_files_is_never_written_to(write_study, tmp_path):
    place = tmp_path / "precious"
    place.mkdir()
    (place / "thesis.tex").write_text("…")
    for overwrite in (False, True):
        with pytest.raises(SimstudyError, match="holds files that are not a study's results"):
            run_study(load_study(write_study()), place, jobs=1, overwrite=overwrite, report=False)
    assert [path.name for path in place.iterdir()] == ["thesis.tex"]


def test_overwriting_leaves_files_of_the_users_own(write_study, tmp_path):
    run_study(load_study(write_study()), tmp_path / "out", jobs=1, report=False)
    (tmp_path / "out" / "notes.txt").write_text("mine")
    run_study(load_study(write_study()), tmp_path / "out", jobs=1, overwrite=True, report=False)
    assert (tmp_path / "out" / "notes.txt").read_text() == "mine"


def test_an_interrupted_run_is_run_again(write_study, tmp_path):
    def stop(step):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_study(load_study(write_study()), tmp_path / "out", jobs=1, progress=stop, report=False)
    with pytest.raises(SimstudyError, match="holds no complete results"):
        open_results(tmp_path / "out")
    results = run_study(load_study(write_study()), tmp_path / "out", jobs=1, report=False)
    assert not results.reused


def test_a_place_that_cannot_be_written_is_said_before_anything_runs(write_study, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(
        SimstudyError, match=r"output directory .*file/out cannot be used: Not a dir"
    ):
        run_study(load_study(write_study()), tmp_path / "file" / "out", jobs=1, report=False)


@pytest.mark.parametrize("manifest", ["{", "[]", "3", '{"name": "webapp"}'])
def test_a_strangers_manifest_and_its_neighbours_are_never_touched(write_study, tmp_path, manifest):
    place = tmp_path / "out"
    (place / "plugins").mkdir(parents=True)
    (place / "plugins" / "precious.txt").write_text("precious")
    (place / "manifest.json").write_text(manifest)
    for overwrite in (False, True):
        with pytest.raises(SimstudyError, match="holds files that are not a study's results"):
            run_study(load_study(write_study()), place, jobs=1, overwrite=overwrite, report=False)
    assert (place / "plugins" / "precious.txt").read_text() == "precious"
    assert (place / "manifest.json").read_text() == manifest


def test_results_of_another_schema_are_refused(write_study, tmp_path):
    results = run_study(load_study(write_study()), tmp_path / "out", jobs=1, report=False)
    path = results.directory / "manifest.json"
    path.write_text(path.read_text().replace('"schema": 1', '"schema": 99'))
    with pytest.raises(SimstudyError, match=r"has schema 99; this version .* reads schema 1"):
        open_results(results.directory)


@pytest.mark.parametrize("name", ["scores.parquet", "study.toml"])
@pytest.mark.parametrize("damage", ["missing", "damaged"])
def test_a_file_that_is_missing_or_damaged_is_named(write_study, tmp_path, name, damage):
    results = run_study(load_study(write_study()), tmp_path / "out", jobs=1, report=False)
    path = results.directory / name
    path.unlink() if damage == "missing" else path.write_bytes(b"\xff = \x00")
    with pytest.raises(SimstudyError, match=rf"{name} is missing or damaged"):
        print(open_results(results.directory).scores)


def test_an_unknown_measure_is_refused_with_the_known_ones(write_study, tmp_path):
    results = run_study(load_study(write_study()), tmp_path / "out", jobs=1, report=False)
    with pytest.raises(SimstudyError, match="no measure 'information' here; did you mean"):
        results.anova("information")


def test_an_unfinished_run_of_another_study_is_called_that(write_study, tmp_path):
    def stop(step):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_study(load_study(write_study()), tmp_path / "out", jobs=1, progress=stop, report=False)
    with pytest.raises(SimstudyError, match="holds an unfinished run of a different study"):
        run_study(load_study(write_study(), {"seed": 8}), tmp_path / "out", jobs=1, report=False)


def test_the_plugins_are_kept_with_the_results(write_study, tmp_path):
    (tmp_path / "plain.py").write_text(
        "from dataclasses import dataclass\nfrom simstudy import register_learner\n"
        "from simstudy.learners.baselines import Prior\n"
        "@register_learner('plain')\n@dataclass(frozen=True)\nclass Plain(Prior):\n    'Plain.'\n"
    )
    changes = {"seed = 7": 'seed = 7\nplugins = ["plain.py"]', '"naive_bayes"': '"plain"'}
    study = load_study(write_study(changes))
    results = run_study(study, tmp_path / "out", jobs=1, report=False)
    again = load_study(results.directory / "study.toml")
    assert make_plan(again).fingerprint() == make_plan(study).fingerprint()
    rerun = run_study(again, results.directory, jobs=1, overwrite=True, report=False)
    assert not rerun.reused
    assert [path.name for path in (rerun.directory / "plugins").iterdir()] == ["0_plain.py"]


def test_the_fingerprint_follows_everything_that_moves_a_score(write_study):
    base = load_study(write_study())
    changes = [
        {"seed": 8},
        {"models": 5},
        {"family.concentration": 2.0},
        {"data.train_sizes": [20, 61]},
        {"data.test_size": 101},
        {"measures.prior": "test"},
        {"measures.cutoff": "none"},
        {"measures.base": 2},
        {"measures.reward": "sum"},
        {"measures.also": ["accuracy"]},
        {"learners": [{"name": "naive_bayes", "label": "NB"}]},
        {"learners": [{"name": "naive_bayes", "label": "NB", "alpha": 2.0}]},
    ]
    prints = [make_plan(load_study(write_study(), change)).fingerprint() for change in changes]
    assert len({make_plan(base).fingerprint(), *prints}) == len(changes) + 1
    same = {
        "title": "x",
        "analysis.confidence": 0.9,
        "family.values": [2, 5],
        "measures.reward": "mean",
    }
    assert make_plan(load_study(write_study(), same)).fingerprint() == make_plan(base).fingerprint()


def make_older(directory):
    """Leave results as versions made them that did not know of `measures.reward`."""
    path = directory / "manifest.json"
    manifest = json.loads(path.read_text())
    assert manifest["conditions"].pop("measures.reward") == "mean"
    # They took the digest of all conditions that they knew.
    expected = hashlib.sha256(json.dumps(manifest["conditions"]).encode()).hexdigest()
    assert manifest["fingerprint"] == expected
    path.write_text(json.dumps(manifest))
    path = directory / "study.toml"
    text = path.read_text()
    assert 'reward = "mean"\n' in text
    path.write_text(text.replace('reward = "mean"\n', ""))


def test_results_that_do_not_name_the_reward_hold_the_mean(write_study, tmp_path):
    first = run_study(load_study(write_study()), tmp_path / "out", jobs=1, report=False)
    scores = first.scores
    make_older(first.directory)
    assert open_results(first.directory).scores.equals(scores)
    assert run_study(load_study(write_study()), tmp_path / "out", jobs=1, report=False).reused
    summed = load_study(write_study(), {"measures.reward": "sum"})
    said = r"different study.*measures.reward \(mean there, sum requested\)"
    with pytest.raises(SimstudyError, match=said):
        run_study(summed, tmp_path / "out", jobs=1, report=False)
    more = run_study(load_study(write_study(), {"models": 5}), tmp_path / "out", jobs=1)
    assert len(more.scores) == 5 * 2 * 2
    assert more.scores[more.scores["model"] < 4].reset_index(drop=True).equals(scores)
    assert more.manifest["conditions"]["measures.reward"] == "mean"


@pytest.mark.slow
def test_the_sum_over_classes_is_named_and_never_mixed_with_the_mean(write_study, tmp_path):
    changes = {"family.values": [3, 3], "measures.also": ["accuracy", "regret"]}
    mean = run_study(load_study(write_study(), changes), tmp_path / "mean", jobs=1)
    changes["measures.reward"] = "sum"
    summed = run_study(load_study(write_study(), changes), tmp_path / "sum", jobs=1)
    names = ["information_reward", "regret"]
    np.testing.assert_allclose(summed.scores[names], 3 * mean.scores[names], rtol=1e-9, atol=1e-12)
    assert summed.scores["accuracy"].equals(mean.scores["accuracy"])
    assert [summed.info(name).label for name in summed.measures] == [
        "information reward (sum over classes)",
        "accuracy",
        "regret (sum over classes)",
    ]
    changes.pop("measures.reward")
    with pytest.raises(SimstudyError, match=r"measures.reward \(sum there, mean requested\)"):
        run_study(load_study(write_study(), changes), tmp_path / "sum", jobs=1)
    apart = not_comparable({"a": mean, "b": summed}, "information_reward")
    assert apart.startswith("Not compared: the reward (mean in a, sum in b) differs")
    assert not_comparable({"a": mean, "b": summed}, "accuracy") == ""


def test_results_of_nothing_are_refused(tmp_path):
    with pytest.raises(SimstudyError, match="holds no complete results"):
        open_results(tmp_path)


def test_a_study_without_a_file_runs_too(tmp_path):
    study = make_study(
        {
            "name": "inline",
            "models": 2,
            "family": {"name": "kdb", "k": 1, "variables": [3, 3]},
            "data": {"train_sizes": [30], "test_size": 50},
            "learners": [{"name": "aode"}],
        }
    )
    results = run_study(study, tmp_path / "out", jobs=1, report=False)
    assert len(results.scores) == 2
    assert results.anova().empty
    assert results.pairwise().empty


@pytest.mark.slow
def test_a_thing_defined_in_a_script_counts_by_its_source(tmp_path):
    script = tmp_path / "script.py"
    text = """
from dataclasses import dataclass
import simstudy

@simstudy.register_family("scripted")
@dataclass(frozen=True)
class Scripted(simstudy.Family):
    "Defined in a script."
    def draw(self, rng):
        cards = self.draw_cards(rng)
        target = len(cards) - 1
        return self.draw_model(rng, cards, [[target]] * target + [[]])

if __name__ == "__main__":
    study = simstudy.make_study({
        "name": "scripted", "models": 4, "family": {"name": "scripted"},
        "data": {"train_sizes": [20], "test_size": 50},
        "learners": [{"name": "prior"}, {"name": "naive_bayes"}],
    })
    results = simstudy.run_study(study, "out", jobs=2)
    print(set(results.scores["status"]), results.reused)
"""

    def run():
        return subprocess.run(
            [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False
        )

    script.write_text(text)
    assert run().stdout == "{'ok'} False\n"
    assert run().stdout == "{'ok'} True\n"
    script.write_text(text.replace("[[target]]", "[[]]"))
    assert "holds the results of a different study; these differ: source" in run().stderr
