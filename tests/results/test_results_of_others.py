"""Results of others are read, drawn, compared and joined; nothing in them is executed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from simstudy import SimstudyError, load_study, merge, open_results, run_shard, run_study

pytestmark = [pytest.mark.xdist_group("others"), pytest.mark.slow]  # its results are made once

PLUGIN = '''
from dataclasses import dataclass

import numpy as np

from simstudy import register_family, register_learner, register_measure
from simstudy.sources.naive_bayes import NaiveBayesFamily
from simstudy.learners.prior import Prior


@register_family("pocket")
@dataclass(frozen=True)
class Pocket(NaiveBayesFamily):
    """A family that fits into a pocket."""


@register_learner("guess")
@dataclass(frozen=True)
class Guess(Prior):
    """Guesses what most are."""


@register_measure("certainty", greater_is_better=True)
def certainty(proba, y):
    """The greatest probability."""
    return np.max(proba, axis=1)
'''
STUDY = """
name = "borrowed"
models = 4
plugins = ["pocket.py"]

[family]
name = "pocket"
variables = [3, 4]

[data]
train_sizes = [20, 60]
test_size = 60

[measures]
also = ["certainty"]

[[learners]]
name = "naive_bayes"
label = "NB"

[[learners]]
name = "guess"
label = "G"

[[learners]]
name = "sklearn.naive_bayes:CategoricalNB"
label = "S"
"""
MARK = "import pathlib\npathlib.Path({!r}).touch()\n"


def command(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the real command."""
    return subprocess.run(
        [sys.executable, "-m", "simstudy", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A study with a plugin, run whole and in two shards, by another process."""
    place = tmp_path_factory.mktemp("made")
    (place / "pocket.py").write_text(PLUGIN)
    (place / "s.toml").write_text(STUDY)
    for out, options in {"whole": (), "one": ("--shard", "1/2"), "two": ("--shard", "2/2")}.items():
        done = command("run", "s.toml", "--jobs", 1, "--out", out, *options, cwd=place)
        assert done.returncode == 0, done.stderr
    return place


@pytest.fixture(params=["the plugin does", "a classifier does"])
def attacked(request, made, tmp_path):
    """The same, with something in it that leaves a mark when it is executed or imported."""
    mark = tmp_path / "executed"
    for name in ("whole", "one", "two"):
        shutil.copytree(made / name, tmp_path / name)
        place = tmp_path / name
        if request.param == "the plugin does":
            (place / "plugins" / "0_pocket.py").write_text(MARK.format(str(mark)))
            continue
        for file in ("study.toml", "manifest.json", "cells.jsonl"):
            text = (place / file).read_text()
            named = text.replace("sklearn.naive_bayes:CategoricalNB", "harmful:Thing")
            (place / file).write_text(named)
    shutil.copytree(tmp_path / "whole", tmp_path / "again")
    (tmp_path / "harmful.py").write_text(MARK.format(str(mark)))  # it can be imported
    return tmp_path


VERBS = {
    "report": ("report", "whole"),
    "figures": ("figures", "whole", "--format", "png"),
    "tables": ("tables", "whole"),
    "compare": ("compare", "whole", "again", "--out", "page.html"),
    "failures": ("failures", "whole"),
    "show": ("show", "whole/study.toml"),
    "merge": ("merge", "one", "two", "--out", "joined"),
}


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_nothing_is_executed(attacked, verb):
    done = command(*VERBS[verb], cwd=attacked)
    assert not (attacked / "executed").exists()
    assert "Traceback" not in done.stderr
    if verb == "merge":  # which would copy a plugin that is another one
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1
    else:
        assert done.returncode == 0, done.stderr
    if verb == "report":
        page = (attacked / "whole" / "report.html").read_text()
        for told in ("fits into a pocket", "Guesses what most are", "greatest probability"):
            assert told in page
        assert "The first 3 of 4 models" in page
    if verb == "figures":
        assert "left out: reliability: predictions are not stored, and running" in done.stderr
        assert "--rerun" in done.stderr


@pytest.mark.parametrize(
    "asked",
    [
        ("run", "whole/study.toml", "--out", "new"),
        ("plan", "whole/study.toml"),
        ("cell", "whole/study.toml", "--model", "0", "--size", "20", "--learner", "G"),
    ],
)
def test_a_plugin_that_is_another_one_is_not_executed(made, tmp_path, asked):
    shutil.copytree(made / "whole", tmp_path / "whole")
    plugin = tmp_path / "whole" / "plugins" / "0_pocket.py"
    plugin.write_text(PLUGIN + MARK.format(str(tmp_path / "executed")))
    for damage in ("", "{", None):
        if damage is None:
            (tmp_path / "whole" / "cells.jsonl").write_text("")
        elif damage:
            (tmp_path / "whole" / "manifest.json").write_text(damage)
        done = command(*asked, cwd=tmp_path)
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1
        assert "not executed" in done.stderr
    assert not (tmp_path / "executed").exists()


@pytest.mark.slow
def test_a_plugin_that_is_the_same_one_is_executed(made, tmp_path):
    shutil.copytree(made / "whole", tmp_path / "whole")
    asked = ("cell", "whole/study.toml", "--model", 0, "--size", 20, "--learner", "G")
    done = command(*asked, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    scores = open_results(tmp_path / "whole").scores
    row = scores[(scores["model"] == 0) & (scores["size"] == 20) & (scores["learner"] == "G")]
    assert f"certainty = {row['certainty'].item()!r}" in done.stdout
    drawn = command("figures", "whole", "--format", "png", "--rerun", cwd=tmp_path)
    assert drawn.returncode == 0
    assert "reliability.png" in drawn.stdout
    with (tmp_path / "whole" / "plugins" / "0_pocket.py").open("a") as file:
        file.write("\nx = 1\n")
    with pytest.raises(SimstudyError, match="differs from the one that the results"):
        open_results(tmp_path / "whole").model(0)


@pytest.mark.slow
def test_pieces_are_joined_without_their_plugins(made, tmp_path):
    done = command("merge", made / "one", made / "two", "--out", "joined", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    whole, joined = made / "whole", tmp_path / "joined"
    for name in ("scores.parquet", "failures.csv", "study.toml", "plugins/0_pocket.py"):
        assert (joined / name).read_bytes() == (whole / name).read_bytes(), name
    one, other = (json.loads((place / "manifest.json").read_text()) for place in (whole, joined))
    for key in ("conditions", "fingerprint", "measures", "about", "rests_on", "networks"):
        assert one[key] == other[key], key
    again = command("run", made / "s.toml", "--out", "joined", cwd=tmp_path)
    assert "nothing to run" in " ".join(again.stdout.split())


# NB is ahead of CaMML with few rows of TAN models, and behind with many.
CROSSING = """
name = "crossing"
seed = 11
models = 20
plugins = ["{plugin}"]

[family]
name = "tan"
variables = [5, 6]
values = [2, 3]

[data]
train_sizes = [20, 400]
test_size = "exact"

[thresholds]
refine = true

[[learners]]
name = "naive_bayes"

[[learners]]
name = "camml"
"""


@pytest.mark.slow
def test_joining_what_is_to_be_refined_executes_nothing_of_others(tmp_path):
    (tmp_path / "empty.py").write_text("")
    (tmp_path / "s.toml").write_text(CROSSING.format(plugin="empty.py"))
    study = load_study(tmp_path / "s.toml")
    shards = [run_shard(study, (n, 2), tmp_path / str(n), jobs=1).directory for n in (1, 2)]
    joined = merge(shards, tmp_path / "joined")
    assert joined.refined.empty
    assert "plugins/0_empty.py; add them with: simstudy run " in joined.note
    refined = run_study(load_study(joined.directory / "study.toml"), joined.directory, jobs=1)
    assert not refined.refined.empty


def test_show_says_the_same_of_results_as_of_the_study(made, tmp_path):
    shown = command("show", made / "whole" / "study.toml", cwd=tmp_path)
    assert shown.returncode == 0
    assert shown.stdout == (made / "whole" / "study.toml").read_text()
