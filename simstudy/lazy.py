"""Lazy imports of the public names of a package."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Mapping
from typing import Any


def find(name: str, package: str, homes: Mapping[str, Collection[str]]) -> Any:
    """Import a public name of a package from the module that defines it.

    Parameters
    ----------
    name : str
        The name.
    package : str
        The package.
    homes : mapping
        The names that each module provides.
    """
    for module, names in homes.items():
        if name in names:
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module '{package}' has no attribute '{name}'")
