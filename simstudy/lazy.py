"""The public names of packages: written once, seen by type checkers, imported when asked for.

The ``__init__.py`` of a package has an import statement for each of its names. None is executed;
here they are read, as type checkers and editors read them::

    if built_in("family"):
        from simstudy.sources.families.kdb import KDBFamily as KDBFamily

    if TYPE_CHECKING:
        from simstudy.sources.families.base import Family as Family
    else:
        __getattr__, __dir__ = attach(__name__)
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from functools import cache
from typing import Any

# A block of public names, or one of them.
_LINE = re.compile(
    r'^if (?:built_in\("(\w+)"\)|(TYPE_CHECKING)):|^    from (\S+) import \(?\s*(\w+) as \4\b',
    re.MULTILINE,
)

# Names in study files that are not those of the classes.
_NAMES = {
    "CaMML": "camml",
    "BootstrapEstimator": "bootstrap_632",
    "NestedEstimator": "nested_cross_validation",
    "McNemarTest": "mcnemar",
}
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")  # where one begins


def component_name(name: str, kind: str) -> str:
    """Return the name in study files of a built-in component: `KDBFamily` is the family "kdb"."""
    return _NAMES.get(name) or _WORD.sub("_", name.removesuffix(kind.capitalize())).lower()


def built_in(kind: str) -> bool:
    """Mark the imports of the built-in components of a kind; always False."""
    return False


@cache
def public_names(package: str) -> dict[str, dict[str, str]]:
    """Return the module of each public name of a package, by kind; "" for what is no component."""
    from importlib.util import find_spec

    loader: Any = getattr(find_spec(package), "loader", None)
    names: dict[str, dict[str, str]] = {}
    kind = ""
    for line in _LINE.finditer(loader.get_source(package)):
        if line[3]:
            names.setdefault(kind, {})[line[4]] = line[3]
        else:
            kind = line[1] or ""
    return names


def attach(*packages: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of the first package, for the names of all."""

    def homes() -> dict[str, str]:
        kinds = [names for package in packages for names in public_names(package).values()]
        return {name: module for names in kinds for name, module in names.items()}

    def find(name: str) -> Any:
        if name == "__all__":
            return sorted(homes())
        if name.startswith("__") or name not in homes():
            raise AttributeError(f"module '{packages[0]}' has no attribute '{name}'")
        return getattr(importlib.import_module(homes()[name]), name)

    return find, lambda: sorted(homes())
