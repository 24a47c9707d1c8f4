"""`simstudy list`."""

from __future__ import annotations

import os
import subprocess
import sys

from simstudy.study.registry import REGISTRIES


def test_list_names_everything_with_a_line_each(simstudy):
    done = simstudy("list")
    assert done.returncode == 0, done.stderr
    for heading in ("families:", "learners:", "measures:"):
        assert heading in done.stdout.splitlines()
    for name in ("kdb", "aode", "information_reward", "miscalibration"):
        (line,) = [x for x in done.stdout.splitlines() if x.split()[:1] == [name]][:1]
        assert len(line.split()) > 4


def test_an_installed_packages_entry_point_is_listed(tmp_path):
    (tmp_path / "their_package.py").write_text(
        "from dataclasses import dataclass\nfrom simstudy import register_learner\n"
        "from simstudy.learners.prior import Prior\n"
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


def test_every_registry_is_listed(simstudy):
    listed = simstudy("list").stdout
    for registry in REGISTRIES:
        # Other tests may have registered things in this process.
        own = [name for name in registry.names() if registry.source_digest(name) is None]
        assert len(own) >= 4
        assert all(f"  {name}" in listed for name in own)
