"""What the README says is what happens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, flags=re.DOTALL)


def block(language: str, containing: str) -> str:
    (found,) = [text for kind, text in BLOCKS if kind == language and containing in text]
    return found


def run(path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "simstudy.run", str(path), "--models", "3", *options],
        cwd=path.parent,
        env={**os.environ, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_ci_runs_the_readmes_test_command_to_the_letter():
    command = block("sh", "pytest").strip()
    assert f'test_command="{command}"' in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_readmes_own_family_runs_and_is_short(tmp_path):
    family = block("python", "# my_families.py")
    assert len(family.strip().splitlines()) < 25
    (tmp_path / "my_families.py").write_text(family)
    (tmp_path / "chain.toml").write_text(block("toml", 'plugins = ["my_families.py"]'))
    done = run(tmp_path / "chain.toml", "--sizes", "30,60")
    assert done.returncode == 0, done.stderr
    assert "3 models of the family chain" in done.stdout


def test_the_readmes_own_family_keeps_the_contract(tmp_path):
    from simstudy.study.plugins import load_plugin
    from simstudy.study.registry import FAMILIES
    from simstudy.testing import check_family

    path = tmp_path / "my_families.py"
    path.write_text(block("python", "# my_families.py"))
    load_plugin(path)
    check_family(FAMILIES.get("chain")())


def test_the_readmes_own_learner_and_measure_run(tmp_path):
    (tmp_path / "my_learners.py").write_text(block("python", "# my_learners.py"))
    study = block("toml", 'plugins = ["my_families.py"]')
    study = study.replace("my_families", "my_learners").replace(
        'name = "chain"\n\n', 'name = "tan"\n\n'
    )
    study = study.replace('name = "naive_bayes"', 'name = "coin"')
    study += '\n[measures]\nalso = ["lift"]\n'
    (tmp_path / "coin.toml").write_text(study)
    done = run(tmp_path / "coin.toml", "--sizes", "30,60", "--no-report")
    assert done.returncode == 0, done.stderr


def test_the_readmes_study_file_is_valid(tmp_path):
    from simstudy import load_study

    (tmp_path / "mine.toml").write_text(block("toml", 'name = "mine"'))
    assert load_study(tmp_path / "mine.toml").labels == [
        "naive_bayes",
        "TAN (SuperParent)",
        "c45",
        "forest",
        "pgmpy:HillClimbSearch",
    ]


def test_the_readmes_figures_are_what_the_study_prints(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "simstudy.run", str(ROOT / "studies" / "tan.toml")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    printed = {line.strip() for line in done.stdout.splitlines()}
    for line in block("text", "Who beats whom").splitlines():
        assert line.strip() in printed or "──" in line, line
