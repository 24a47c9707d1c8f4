"""Names of a package that are imported when first asked for."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Mapping
from typing import Any


def find(name: str, package: str, homes: Mapping[str, Collection[str]]) -> Any:
    """A name of a package, from the module that defines it.

    Parameters
    ----------
    name : str
        What is asked for.
    package : str
        The package it is asked of.
    homes : mapping
        The names that each module has for the package.
    """
    for module, names in homes.items():
        if name in names:
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module '{package}' has no attribute '{name}'")
