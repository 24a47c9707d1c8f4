"""Which experiment a study is, and whether it has models or data sets, is asked in few rooms."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "simstudy"
ROOMS = {"experiments", "sources", "study"}  # which may ask
# Attributes of a study or a plan that tell experiments and sources apart.
TELLING = {"compare", "datasets", "tables", "parts", "knows_truth"}
OWNERS = {"study", "plan", "loaded", "source", "experiment"}
CLASSES = {
    *("DataResults", "ModelResults", "LearnerResults", "MeasureResults", "EstimatorResults"),
    *("TestResults", "DataFindings", "ModelFindings", "Models", "Tables"),
    *("Learners", "Measures", "Estimators", "Tests"),
}


def conditions(tree: ast.AST) -> Iterator[ast.expr]:
    """What decides in a file which way is taken; what is asserted does not."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.IfExp | ast.While):
            yield node.test
        elif isinstance(node, ast.comprehension):
            yield from node.ifs
        elif isinstance(node, ast.Match):
            yield node.subject
        elif isinstance(node, ast.BoolOp):
            yield from node.values


def name_of(node: ast.expr) -> str:
    """The last name of an expression such as ``results.study``."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def asks(node: ast.AST) -> bool:
    """Whether an expression asks for an experiment, or for models or data sets."""
    if isinstance(node, ast.Attribute):
        if node.attr in TELLING and name_of(node.value) in OWNERS:
            return True
        if node.attr == "name" and name_of(node.value) == "experiment":
            return True
    if isinstance(node, ast.Call) and name_of(node.func) == "isinstance":
        return any(name_of(part) in CLASSES for part in ast.walk(node.args[1]))
    if isinstance(node, ast.Call) and name_of(node.func) == "getattr":
        asked = {
            name_of(part.value)
            for part in ast.walk(node.args[1])
            if isinstance(part, ast.Attribute)
        }
        return bool(asked & {"kind", "experiment"}) and name_of(node.args[0]) in OWNERS
    return False


def branches(source: str) -> list[int]:
    """The lines of a file on which such a question decides."""
    found = [
        node.lineno
        for condition in conditions(ast.parse(source))
        for node in ast.walk(condition)
        if asks(node)
    ]
    return sorted({*found})


def test_nothing_else_asks_which_study_it_is():
    found = {
        str(file.relative_to(PACKAGE)): lines
        for file in sorted(PACKAGE.rglob("*.py"))
        if file.relative_to(PACKAGE).parts[0] not in ROOMS
        and (lines := branches(file.read_text(encoding="utf-8")))
    }
    assert found == {}


@pytest.mark.parametrize("room", ["report", "results", "engine", "workflow", "cli"])
def test_templates_do_not_ask_either(room):
    for file in (PACKAGE / room).rglob("*.html"):
        text = file.read_text(encoding="utf-8")
        assert not [
            word for word in ("study.datasets", "study.compare", "kind.name ==") if word in text
        ]


@pytest.mark.parametrize(
    "planted",
    [
        "if study.datasets:\n    pass",
        "x = 1 if results.study.compare == 'tests' else 2",
        "x = [1 for r in rs if isinstance(r, DataResults)]",
        "x = not plan.source.knows_truth and other",
        "if study.experiment.name == 'measures':\n    pass",
        "while getattr(plan, plan.kind.name):\n    pass",
    ],
)
def test_a_planted_branch_is_found(planted):
    assert branches(planted)


def test_what_is_no_branch_is_not_found():
    assert not branches("assert isinstance(results, ModelResults)\nx = len(study.datasets)")
