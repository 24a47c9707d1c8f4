"""Who may know whom: data flows one way."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "simstudy"
BASE = {"arrays", "errors", "lazy", "texts"}
ALLOWED = {
    "data": {"arrays", "data"},
    "networks": {"arrays", "data", "networks"},
    "sources": {"arrays", "data", "networks", "sources"},
    "families": {"lazy", "networks.model", "sources"},
    "learners": BASE | {"data", "networks.exchange", "learners"},
    "measures": BASE | {"data", "measures"},
    "analysis": {"analysis", "arrays", "measures.base", "results", "study.claims"},
    "study": BASE
    | {
        "study",
        "measures.base",
        "sources.base",
    },
    "engine": BASE | {"engine", "data", "networks", "study", "measures.base", ""},
    "results": BASE | {"results", "engine", "study", "networks", "analysis", "measures", "report"},
    "report": BASE
    | {
        "report",
        "arrays",
        "measures.base",
        "analysis",
        "results",
        "study.constants",
        "study.readings",
        "study.study",
        "workflow.pilot",
    },
}


def imported(file: Path) -> set[str]:
    """The simstudy modules that a file imports, with or without their package's name."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    inside = {name for name in names if name.split(".")[0] == "simstudy"}
    return {name.removeprefix("simstudy").removeprefix(".") for name in inside}


@pytest.mark.parametrize("room", ALLOWED)
def test_a_room_knows_only_what_comes_before_it(room):
    place = PACKAGE / room
    for file in [place] if place.suffix else place.rglob("*.py"):
        for name in imported(file):
            assert name in ALLOWED[room] or name.split(".")[0] in ALLOWED[room], (file, name)
