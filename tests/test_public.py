"""The names that users import: written once, seen statically, and cheap until they are used."""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from simstudy import Change, Family, Learner
from simstudy.components.registry import REGISTRIES
from simstudy.estimators import Estimator, LearnerTest
from simstudy.lazy import public_names
from simstudy.measures import MeasureInfo

ROOT = Path(__file__).parents[1]
PACKAGES = (
    "simstudy",
    *(
        f"simstudy.{name}"
        for name in (
            *("changes", "estimators", "families", "learners", "measures", "networks"),
            *("sklearn", "sources"),
        )
    ),
)
BASES = {
    "family": Family,
    "change": Change,
    "learner": Learner,
    "estimator": Estimator,
    "test": LearnerTest,
}
# The names of version 0.2; those of `simstudy.measures` have lists of their own modules too.
EARLIER = json.loads((ROOT / "tests" / "golden" / "public_names.json").read_text("utf-8"))


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_can_be_imported(package):
    module = importlib.import_module(package)
    for name in module.__all__:
        assert getattr(module, name).__name__ == name
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nonsense'"):
        module.nonsense  # noqa: B018
    assert {*module.__all__} <= {*dir(module)}


@pytest.mark.parametrize("package", EARLIER)
def test_the_names_of_earlier_versions_can_be_imported(package):
    module = importlib.import_module(package)
    assert [name for name in EARLIER[package].split() if not hasattr(module, name)] == []


@pytest.mark.parametrize("package", [*PACKAGES, "simstudy.cli.app"])
def test_a_package_costs_nothing_until_it_is_used(package):
    heavy = {"numpy", "pydantic", *(["ast"] if package in PACKAGES else [])}  # typer needs ast
    code = f"import sys, {package}; print(*({heavy} & {{*sys.modules}}))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == []


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.kind)
def test_public_names_are_those_of_the_registry(registry):
    package = "estimators" if registry.kind == "test" else registry.plural
    module = importlib.import_module(f"simstudy.{package}")
    own = [registry.get(name) for name in registry.names() if registry.is_own(name)]
    assert len({*own}) == len(own) == len(public_names(module.__name__)[registry.kind])
    for component in own:
        assert getattr(module, component.__name__) is component
        if registry.kind == "measure":
            assert isinstance(component.info, MeasureInfo)
        else:
            assert issubclass(component, BASES[registry.kind])


@pytest.mark.parametrize("package", PACKAGES)
def test_names_are_exported_as_type_checkers_want_it(package):
    file = importlib.import_module(package).__file__
    nodes = ast.walk(ast.parse(Path(file).read_text("utf-8")))
    for line in (node for node in nodes if isinstance(node, ast.ImportFrom)):
        if str(line.module).startswith("simstudy.") and line.module != "simstudy.lazy":
            assert [alias.asname for alias in line.names] == [alias.name for alias in line.names]


@pytest.mark.slow
def test_a_type_checker_knows_the_names_and_what_registries_hold(tmp_path):
    (tmp_path / "use.py").write_text(
        "from simstudy import Family, Nonsense\n"
        "from simstudy.families import KDBFamily\n"
        "from simstudy.components.registry import FAMILIES, MEASURES, TESTS\n"
        'reveal_type(KDBFamily(k=2))\nreveal_type(FAMILIES.get("kdb"))\n'
        'reveal_type(MEASURES.get("auc").info)\nreveal_type(TESTS.get("mcnemar")())\n'
    )
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path), "use.py"]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert re.findall(r'use.py:\d+: (?:note|error): .*?"(.*)"', told.stdout) == [
        'simstudy" has no attribute "Nonsense',
        "simstudy.sources.families.kdb.KDBFamily",
        "type[simstudy.sources.families.base.Family]",
        "simstudy.measures.base.MeasureInfo",
        "simstudy.estimators.comparing.LearnerTest",
    ], told.stdout


def documented_imports() -> set[tuple[str, str]]:
    """The names of simstudy that documents and notebooks import, with their modules."""
    documents = [ROOT / "README.md", *ROOT.glob("studies/*.md"), *ROOT.glob("docs/**/*.md")]
    codes = [path.read_text("utf-8") for path in ROOT.glob("notebooks/*.py")]
    for path in documents:
        codes += re.findall(r"```python\n(.*?)```", path.read_text("utf-8"), flags=re.DOTALL)
    found = set()
    for code in codes:
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "simstudy":
                found |= {(str(node.module), alias.name) for alias in node.names}
            elif isinstance(node, ast.Import):
                own = [alias.name for alias in node.names if alias.name.startswith("simstudy")]
                found |= {(name, "__name__") for name in own}
    return found


def test_what_documents_import_can_be_imported():
    imports = documented_imports()
    assert {("simstudy", "register_test"), ("simstudy.measures", "theory")} <= imports
    assert len(imports) > 40
    for module, name in sorted(imports):
        exec(f"from {module} import {name}", {})  # as a user does: submodules too
