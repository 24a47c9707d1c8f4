"""One name, one class: readers who search for a class find one."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "simstudy"
SHARED = {
    # Users import the interval from `simstudy.measures.intervals`. The repr of the scheme, which
    # has its name, is what the random splits of estimators are a function of.
    "Bootstrap": {"measures/intervals.py", "data/splits/schemes.py"},
}


def homes(package: Path) -> dict[str, set[str]]:
    """The files that define each class whose name has no underscore in front."""
    files = defaultdict(set)
    for path in package.rglob("*.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                files[node.name].add(path.relative_to(package).as_posix())
    return files


def shared(package: Path) -> dict[str, set[str]]:
    """The names that classes of several files have."""
    return {name: files for name, files in homes(package).items() if len(files) > 1}


def test_classes_have_different_names():
    assert len(homes(PACKAGE)) > 300
    assert shared(PACKAGE) == SHARED


def test_a_second_class_of_a_name_is_found(tmp_path):
    for room in ("data", "report"):
        (tmp_path / room).mkdir()
        (tmp_path / room / "table.py").write_text("class Table:\n    pass\n\nclass _Own: ...\n")
    assert shared(tmp_path) == {"Table": {"data/table.py", "report/table.py"}}
