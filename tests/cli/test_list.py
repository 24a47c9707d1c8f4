"""`simstudy list`."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from simstudy.components.registry import REGISTRIES


def test_list_names_everything_with_a_line_each(command):
    done = command("list")
    assert done.returncode == 0, done.stderr
    for heading in ("families:", "learners:", "measures:"):
        assert heading in done.stdout.splitlines()
    for name in ("kdb", "aode", "information_reward", "miscalibration"):
        (line,) = [x for x in done.stdout.splitlines() if x.split()[:1] == [name]][:1]
        assert len(line.split()) > 4


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("tan", ("tan (family)", "tan (learner)", "variables = [4, 8]", "superparent", "Keogh")),
        ("camml", ('select = "mmlec"', "sec_average", "(1996)")),
        (
            "regret",
            ("lower is better", "nats", "IR(t) − IR(q)", "measures.prior", "from the model"),
        ),
        ("accuracy", ("higher is better", "unit: none")),
        ("miscalibration", ("test rows only",)),
        ("pgmpy:PC", ("significance_level = 0.01", "> 0, < 1")),
        ("sklearn.naive_bayes:CategoricalNB", ("alpha = 1.0", "smoothing parameter")),
    ],
)
def test_list_describes_what_is_named(command, name, words):
    done = command("list", name)
    assert (done.returncode, done.stderr) == (0, "")
    for word in words:
        assert word in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_list_describes_what_a_plugin_registers(command, tmp_path):
    (tmp_path / "theirs.py").write_text(
        "from dataclasses import dataclass\nfrom simstudy import register_learner\n"
        "from simstudy.learners import NaiveBayes\n"
        "@register_learner('described')\n@dataclass(frozen=True)\nclass Theirs(NaiveBayes):\n"
        "    'A learner of a plugin.'\n    depth: int = 3\n"
    )
    done = command("list", "described", "--plugin", "theirs.py")
    assert "A learner of a plugin." in done.stdout
    assert "depth = 3  (int)" in done.stdout
    assert "alpha = 1.0  (float > 0)" in done.stdout


def test_an_unknown_name_is_one_sentence_with_suggestions(command, refused):
    refused(
        command("list", "brier"),
        "unknown family, change, learner, measure, estimator or test 'brier'",
        "'brier_score'",
    )
    refused(command("list", "x", "--plugin", "nowhere.py"), "nowhere.py cannot be read")
    refused(
        command("list", "sklearn.tree:Tree"), "sklearn.tree has no 'Tree'", "DecisionTreeClassifier"
    )


def test_an_installed_packages_entry_point_is_listed(tmp_path):
    (tmp_path / "their_package.py").write_text(
        "from dataclasses import dataclass\nfrom simstudy import register_learner\n"
        "from simstudy.learners.baselines import Prior\n"
        "@register_learner('theirs')\n@dataclass(frozen=True)\nclass Theirs(Prior):\n"
        "    'A learner from an installed package.'\n"
    )
    info = tmp_path / "their_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[simstudy.plugins]\ntheirs = their_package\n")
    done = subprocess.run(
        [sys.executable, "-m", "simstudy", "list"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "A learner from an installed package." in done.stdout


def test_a_broken_entry_point_is_one_sentence(tmp_path):
    info = tmp_path / "broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[simstudy.plugins]\nbroken = no_such_module\n")
    done = subprocess.run(
        [sys.executable, "-m", "simstudy", "list"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "plugin 'broken' (no_such_module) fails to load" in done.stderr
    assert "Traceback" not in done.stderr


def test_every_registry_is_listed(command):
    listed = command("list").stdout
    for registry in REGISTRIES:
        # Other tests may have registered things in this process.
        own = [name for name in registry.names() if registry.source_digest(name) is None]
        assert len(own) >= 4
        assert all(f"  {name}" in listed for name in own)
