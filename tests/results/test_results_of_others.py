"""Results of others are read, drawn, compared and joined; nothing in them is executed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from simstudy import SimstudyError, load_study, merge, open_results, run_shard, run_study
from simstudy.cli.app import app
from simstudy.results.read.base import foreign

pytestmark = [pytest.mark.xdist_group("others")]  # its results are made once

PLUGIN = '''
import os
import pathlib
from dataclasses import dataclass

import numpy as np

from simstudy import register_family, register_learner, register_measure
from simstudy.sources.families.naive_bayes import NaiveBayesFamily
from simstudy.learners.baselines import Prior


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


if mark := os.environ.get("MARK"):
    pathlib.Path(mark).touch()
'''
STUDY = """
name = "borrowed"
models = 4
keep_answers = true
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


def renamed(place: Path, old: str, new: str) -> None:
    """Name something else in results, with the checksums of lines that go with it."""
    for file in ("study.toml", "manifest.json", "cells.jsonl"):
        text = (place / file).read_text().replace(old, new)
        if file == "cells.jsonl":
            lines = [line[9:] for line in text.splitlines()]
            text = "".join(f"{zlib.crc32(line.encode()):08x} {line}\n" for line in lines)
        (place / file).write_text(text)


ATTACKS = ("a plugin that was changed", "the plugin that was run", "a classifier")


@pytest.fixture(params=ATTACKS)
def attacked(request, made, tmp_path, monkeypatch):
    """The same, with something in it that leaves a mark when it is executed or imported."""
    mark = tmp_path / "executed"
    for name in ("whole", "one", "two"):
        shutil.copytree(made / name, tmp_path / name)
        if request.param == "a plugin that was changed":
            plugin = tmp_path / name / "plugins" / "0_pocket.py"
            plugin.write_text(MARK.format(str(mark)) + PLUGIN)
        elif request.param == "a classifier":
            renamed(tmp_path / name, "sklearn.naive_bayes:CategoricalNB", "harmful:Thing")
        else:
            monkeypatch.setenv("MARK", str(mark))
    shutil.copytree(tmp_path / "whole", tmp_path / "again")
    (tmp_path / "harmful.py").write_text(MARK.format(str(mark)))  # it can be imported
    (tmp_path / "attack").write_text(request.param)
    return tmp_path


IN_RESULTS = "whole/study.toml"
VERBS = {
    "report": ("whole",),
    "figures": ("whole", "--format", "png"),
    "tables": ("whole",),
    "compare": ("whole", "again", "--out", "page.html"),
    "failures": ("whole",),
    "methods": ("whole",),
    "show": (IN_RESULTS,),
    "merge": ("one", "two", "--out", "joined"),
    "score": ("whole", "--measure", "kappa"),
    "run": (IN_RESULTS, "--out", "new", "--jobs", 1),
    "plan": (IN_RESULTS, "--pilot", 3, "--jobs", 1),
    "cell": (IN_RESULTS, "--model", 0, "--size", 20, "--learner", "G"),
    "vary": (IN_RESULTS, "--key", "measures.prior=train,test", "--jobs", 1),
    "list": (IN_RESULTS,),
    "advise": ("whole/failures.csv",),
    "data": ("whole/failures.csv",),
    "compare-learners": ("whole/failures.csv", "--out", "new"),
    "new": (IN_RESULTS,),
    "schema": (),
    "studies": (),
}


def executed_by() -> dict[str, str]:
    """What each verb executes of results, by the table of ARCHITECTURE.md."""
    text = Path(__file__).parents[2].joinpath("ARCHITECTURE.md").read_text()
    rows = text.partition("**What is executed when.**")[2].split("\n\n")[1].splitlines()[2:]
    cells = [row.strip("| ").split(" | ") for row in rows]
    return {verb: row[-1] for row in cells for verb in re.findall(r"`([\w-]+)`", row[0])}


def test_every_verb_has_a_row_that_says_what_it_executes():
    verbs = {command.name for command in app.registered_commands}
    assert {*VERBS} == {*executed_by()} == verbs


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_only_what_the_table_says_is_executed(attacked, verb):
    attack, told = (attacked / "attack").read_text(), executed_by()[verb]
    done = command(verb, *VERBS[verb], cwd=attacked)
    assert "Traceback" not in done.stderr
    executed = (attacked / "executed").exists()
    if told.startswith("nothing") or attack == "a plugin that was changed":
        assert not executed
    else:
        named = "plugins" if attack == "the plugin that was run" else "packages of classifiers"
        assert executed == (named in told)
    if attack == "the plugin that was run":
        refused = ("list", "advise", "data", "new", "compare-learners")
        assert done.returncode == (2 if verb in refused else 0)
    elif verb == "merge":  # would copy a plugin that is another one
        assert done.returncode == (2 if attack == "a plugin that was changed" else 0), done.stderr
    elif told.startswith("plugins") and attack == "a plugin that was changed":
        assert done.returncode == 2
        assert "it is not executed" in done.stderr
    if verb == "report":
        page = (attacked / "whole" / "report.html").read_text()
        for words in ("fits into a pocket", "Guesses what most are", "greatest probability"):
            assert words in page
        assert "The first 3 of 4 models" in page
    if verb == "figures":
        assert "left out: reliability: predictions are not stored, and running" in done.stderr
        assert "--rerun" in done.stderr


WRAPPED = """
name = "wrapped"
models = 2
keep_answers = true
[family]
name = "tan"
variables = [3, 4]
[data]
train_sizes = [20, 60]
test_size = "exact"
[[learners]]
name = "naive_bayes"
[[learners]]
name = "calibrated"
learner = "sklearn.naive_bayes:CategoricalNB"
folds = 2
"""


def test_classifiers_that_other_learners_wrap_are_not_simstudys_own():
    select = {
        "name": "select",
        "candidates": ["tan", {"learner": "x:Y"}],
        "measure": "auc:accuracy",
    }
    select |= {"label": "best: of two"}
    study = {"family": {"name": "tan"}, "measures": {"primary": "auc", "also": []}, "plugins": []}
    calibrated = {"name": "calibrated", "learner": "harmful:Thing"}
    assert foreign(study | {"learners": [calibrated, select]}) == ["harmful:Thing", "x:Y"]
    assert foreign(study | {"learners": [{"name": "tan", "label": "a:b"}]}) == []


@pytest.mark.slow
def test_a_classifier_that_another_learner_wraps_is_not_imported(tmp_path):
    (tmp_path / "s.toml").write_text(WRAPPED)
    run_study(load_study(tmp_path / "s.toml"), tmp_path / "whole", jobs=1, report=False)
    renamed(tmp_path / "whole", "sklearn.naive_bayes:CategoricalNB", "harmful:Thing")
    (tmp_path / "harmful.py").write_text(MARK.format(str(tmp_path / "executed")))
    for verb in ("figures", "report", "score"):
        done = command(verb, *VERBS[verb], cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert not (tmp_path / "executed").exists()


@pytest.mark.slow
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


@pytest.mark.slow
def test_show_says_the_same_of_results_as_of_the_study(made, tmp_path):
    shown = command("show", made / "whole" / "study.toml", cwd=tmp_path)
    assert shown.returncode == 0
    assert shown.stdout == (made / "whole" / "study.toml").read_text()
