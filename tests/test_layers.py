"""Who may know whom: the real graph of imports is the one in ARCHITECTURE.md."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "simstudy"
COMMON = {"", "arrays", "errors", "lazy", "texts"}  # known to all
TOP = {"__init__", "__main__", "run", "errors", "arrays", "lazy", "texts"}


def imported(file: Path) -> set[str]:
    """The rooms, and modules at the top, that a file imports, wherever in it."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "simstudy":
            names |= {f"simstudy.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {[*name.split("."), ""][1] for name in names if name.split(".")[0] == "simstudy"}


def real_graph() -> dict[str, set[str]]:
    """What each room knows."""
    rooms = {place.name: place for place in PACKAGE.iterdir() if (place / "__init__.py").exists()}
    return {
        name: set().union(*map(imported, place.rglob("*.py"))) - COMMON - {name}
        for name, place in rooms.items()
    }


def stated_graph() -> dict[str, set[str]]:
    """What ARCHITECTURE.md says that each room knows."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| .* \| ([^|]*) \|$", text, flags=re.MULTILINE)
    return {
        room: set() if known == "nothing else" else set(known.split(", ")) for room, known in rows
    }


def test_rooms_know_whom_the_architecture_says():
    assert real_graph() == stated_graph()


def test_modules_at_the_top_are_few_and_know_little():
    top = {file.stem for file in PACKAGE.glob("*.py")}
    assert top == TOP
    for name in ("errors", "arrays", "lazy", "texts"):
        assert imported(PACKAGE / f"{name}.py") == set()


def test_nothing_in_the_report_computes_a_statistic():
    computing = {"scipy", "statsmodels", "sklearn"}
    for file in (PACKAGE / "report").rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        names = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        for node in ast.walk(tree):
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        assert not computing & {name.split(".")[0] for name in names}, file
