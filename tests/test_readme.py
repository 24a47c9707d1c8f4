"""What the README and the reference of studies say is what happens."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from simstudy import load_collection, load_study, run_study
from simstudy.report.prose.pairwise import course_sentences

ROOT = Path(__file__).parents[1]
README, REFERENCE = ROOT / "README.md", ROOT / "studies" / "README.md"


def blocks(document: Path) -> list[tuple[str, str]]:
    """The code blocks of a document, each with its language."""
    text = document.read_text(encoding="utf-8")
    return re.findall(r"```(\w+)\n(.*?)```", text, flags=re.DOTALL)


def block(language: str, containing: str, document: Path = README) -> str:
    found = [text for kind, text in blocks(document) if kind == language and containing in text]
    (text,) = found
    return text


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
    assert "3 models, 2 learners, 2 training sizes." in done.stdout


def test_the_readmes_own_family_keeps_the_contract(tmp_path):
    from simstudy.components.plugins import load_plugin
    from simstudy.components.registry import FAMILIES
    from simstudy.testing import check_family

    path = tmp_path / "my_families.py"
    path.write_text(block("python", "# my_families.py"))
    load_plugin(path)
    check_family(FAMILIES.get("chain")())


def test_the_references_own_learner_and_measure_run(tmp_path):
    (tmp_path / "my_learners.py").write_text(block("python", "# my_learners.py", REFERENCE))
    study = block("toml", 'plugins = ["my_families.py"]')
    study = study.replace("my_families", "my_learners").replace(
        'name = "chain"\n\n', 'name = "tan"\n\n'
    )
    study = study.replace('name = "naive_bayes"', 'name = "die"')
    study += '\n[measures]\nalso = ["support"]\n'
    (tmp_path / "die.toml").write_text(study)
    done = run(tmp_path / "die.toml", "--sizes", "30,60", "--no-report")
    assert done.returncode == 0, done.stderr


def test_the_references_own_estimator_and_test_keep_the_contract_and_run(tmp_path):
    from simstudy.components.plugins import load_plugin
    from simstudy.components.registry import ESTIMATORS, TESTS
    from simstudy.testing import check_estimate, check_test

    path = tmp_path / "my_estimators.py"
    path.write_text(block("python", "# my_estimators.py", REFERENCE))
    load_plugin(path)
    check_estimate(ESTIMATORS.get("pooled")())
    check_test(TESTS.get("sign")())
    few = {"estimators": "training_sets = 5", "tests": "repeats = 2"}
    for kind, name in (("estimators", "pooled"), ("tests", "sign")):
        study = block("toml", 'plugins = ["my_families.py"]').replace("my_families", path.stem)
        study = study.replace('name = "chain"\n\n', 'name = "tan"\nvariables = [3, 4]\n\n')
        study = study.replace("[family]", f'compare = "{kind}"\n\n[family]')
        (tmp_path / f"{kind}.toml").write_text(
            f'{study}\n[[{kind}]]\nname = "{name}"\n\n[data]\ntrain_sizes = [30, 60]\n{few[kind]}\n'
        )
        done = run(tmp_path / f"{kind}.toml", "--no-report", "--out", kind)
        assert done.returncode == 0, done.stderr


def test_the_readmes_study_file_is_valid(tmp_path):
    (tmp_path / "trees.toml").write_text(block("toml", 'name = "trees"'))
    assert load_study(tmp_path / "trees.toml").labels == ["tan", "forest"]


def test_the_references_list_is_valid(tmp_path):
    shutil.copytree(ROOT / "studies", tmp_path, dirs_exist_ok=True)
    (tmp_path / "two.toml").write_text(block("toml", 'name = "two"', REFERENCE))
    collection = load_collection(tmp_path / "two.toml")
    assert [study.name for study in collection.studies] == ["tan", "aode"]
    assert {study.measures.prior for study in collection.studies} == {"test"}
    assert len(collection.statements) == 1


def test_the_references_study_file_is_valid(tmp_path):
    (tmp_path / "mine.toml").write_text(block("toml", 'name = "mine"', REFERENCE))
    assert load_study(tmp_path / "mine.toml").labels == [
        "naive_bayes",
        "TAN (SuperParent)",
        "c45",
        "forest",
        "pgmpy:HillClimbSearch",
    ]


@pytest.mark.slow
def test_the_readmes_figures_are_what_the_study_prints(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "simstudy.run", str(ROOT / "studies" / "tan.toml")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    printed = {line.strip() for line in done.stdout.splitlines()}
    for line in block("text", "beats all others").splitlines():
        assert line.strip() in printed or "──" in line, line
    (listed,) = re.findall(r"^## Output files$(.*?)^## ", REFERENCE.read_text("utf-8"), re.M | re.S)
    for file in (tmp_path / "results" / "tan").iterdir():
        assert f"`{file.with_suffix('.png').name}`" in listed or f"`{file.name}`" in listed, file


@pytest.mark.slow
def test_the_references_crossings_are_what_the_study_prints(tmp_path):
    study = load_study(ROOT / "studies" / "tan.toml")
    findings = run_study(study, tmp_path, report=False, refine=True).findings()
    _, *printed = block("text", "Who overtakes whom", REFERENCE).splitlines()
    assert [line.strip() for line in printed] == course_sentences(findings)
