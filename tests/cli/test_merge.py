"""`simstudy merge` and `simstudy failures`, of a study in which a learner fails."""

from __future__ import annotations

import re

import pytest

from simstudy import open_results

PLUGIN = """
import simstudy
from simstudy.learners import NaiveBayes

@simstudy.register_learner("choosy")
class Choosy(NaiveBayes):
    "Naive Bayes that takes no large sample."

    def fit(self, sample, rng=None):
        if len(sample) == 80:
            raise ValueError("eighty is too many")
        return super().fit(sample, rng)
"""


@pytest.fixture(scope="module")
def shards(place, run_simstudy, tmp_path_factory):
    """A directory with both halves of the study, "1" and "2", and one learner that fails."""
    root = tmp_path_factory.mktemp("shards")
    (root / "choosy.py").write_text(PLUGIN)
    text = (place / "small.toml").read_text().replace('"aode"\nlabel', '"choosy"\nlabel')
    (root / "study.toml").write_text('plugins = ["choosy.py"]\n' + text)
    for part in (1, 2):
        options = ("--shard", f"{part}/2", "--jobs", 1, "--out", part, "--quiet")
        assert run_simstudy(root, "run", "study.toml", *options).returncode == 3
    return root


@pytest.fixture(scope="module")
def merged(shards, run_simstudy):
    """Both halves joined in "whole", and what the command printed."""
    return run_simstudy(shards, "merge", 1, 2, "--out", "whole")


@pytest.mark.slow
def test_the_whole_has_the_scores_of_a_study_run_at_once(merged, shards, results):
    assert (merged.returncode, merged.stderr) == (3, "")
    whole = open_results(shards / "whole")
    kept = whole.scores["learner"] != "AODE"
    same = results.scores["learner"] != "AODE"
    for measure in results.measures:
        assert list(whole.scores[measure][kept]) == list(results.scores[measure][same])
    assert (shards / "whole" / "report.html").exists()


@pytest.mark.slow
def test_means_are_printed_as_the_results_have_them(merged, shards):
    whole = open_results(shards / "whole").intervals()
    for learner in ("NB", "TAN"):
        line = next(line for line in merged.stdout.splitlines() if line.split()[:1] == [learner])
        means = whole["mean"][whole["learner"] == learner]
        shown = re.findall(r"(-?\d+\.\d+) ±", line.replace("−", "-"))
        for number, mean in zip(shown, means, strict=True):
            assert float(number) == pytest.approx(mean, abs=0.51 * 10 ** -len(number.split(".")[1]))


@pytest.mark.slow
def test_every_failed_cell_is_listed_with_its_error(merged, shards, run_simstudy):
    failed = open_results(shards / "whole").failures
    assert len(failed) == 6
    for directory, models in (("whole", range(6)), ("2", [1, 3, 5])):
        done = run_simstudy(shards, "failures", directory)
        assert (done.returncode, done.stderr) == (0, "")
        rows = [line.split() for line in done.stdout.splitlines() if "eighty is too many" in line]
        assert [row[:3] for row in rows] == [[str(model), "80", "AODE"] for model in models]


@pytest.mark.slow
def test_what_is_no_part_is_refused(shards, run_simstudy, refused):
    refused(run_simstudy(shards, "merge", 1, "nowhere", "--out", "half"), "nowhere")


def test_results_without_failures_have_none_listed(place, results, run_simstudy):
    done = run_simstudy(place, "failures", "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert not any(learner in done.stdout for learner in results.learners)


def test_failures_of_nothing_are_refused(simstudy, refused, tmp_path):
    refused(simstudy("failures", "nowhere"), "nowhere")
    assert not list(tmp_path.iterdir())
