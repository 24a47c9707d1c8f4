"""What must be the same wherever the cells of a study are computed, or the numbers may differ."""

from __future__ import annotations

import hashlib
import platform
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import simstudy
from simstudy.study.registry import FAMILIES, LEARNERS, MEASURES

if TYPE_CHECKING:
    from simstudy.engine.plan import Plan

# These decide whether one process can read the plan of another; the rest is known once it has.
BASIS = ("Python", "simstudy", "numpy", "scipy")
_MODULES = {"scikit-learn": "sklearn"}  # packages that are imported under another name


def environment(plan: Plan) -> dict[str, str]:
    """What a plan's cells are computed with here: names of packages, and their versions."""
    names = {_package(module) for module in _modules(plan)}
    names -= {*sys.stdlib_module_names, *BASIS}
    found = {name: _version(name) for name in (*BASIS, *sorted(names))}
    return {name: version for name, version in found.items() if version}


def differences(expected: Mapping[str, str]) -> str:
    """How this process differs from another, where it does: what it has and what was expected."""
    found = {name: _version(name) for name in expected}
    return " and ".join(
        f"has {f'{name} {found[name]}' if found[name] else f'no {name}'}, where {version} is needed"
        for name, version in expected.items()
        if found[name] != version
    )


def _version(name: str) -> str:
    """The version of a package: of what is imported, or else of what is installed."""
    if name == "Python":
        return ".".join(platform.python_version_tuple()[:2])
    if name == "simstudy":
        return f"{simstudy.__version__} (source {_source()})"
    version = getattr(sys.modules.get(_MODULES.get(name, name)), "__version__", None)
    if isinstance(version, str):
        return version
    from importlib import metadata

    try:
        return metadata.version(name)
    except (metadata.PackageNotFoundError, ValueError):
        return ""


@cache
def _source() -> str:
    """A digest of simstudy's source: one version number can hold other code."""
    root, digest = Path(simstudy.__file__).parent, hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()} {len(content)} ".encode() + content)
    return digest.hexdigest()[:12]


def _modules(plan: Plan) -> Iterator[str]:
    """Modules that the things of a plan are made of, as far as their definitions show."""
    named = [(FAMILIES, plan.family.name)]
    named += [(LEARNERS, part.name) for part in plan.learners]
    named += [(MEASURES, name) for name in plan.measures]
    for registry, name in named:
        if ":" in name:
            yield name.partition(":")[0]
        thing = registry.get(name)
        for definition in getattr(thing, "__mro__", (thing,)):
            module = str(definition.__module__)
            if module.startswith("simstudy.learners.camml"):
                yield "numba"  # compiles its kernels
            elif module.partition(".")[0] != "simstudy":
                yield module
                yield from _imported(module)


def _imported(module: str) -> Iterator[str]:
    """Modules that something in a module comes from; of a session too much, and so nothing."""
    if module == "__main__" or module not in sys.modules:
        return
    for value in [*vars(sys.modules[module]).values()]:
        is_module = isinstance(value, ModuleType)
        yield str(value.__name__ if is_module else getattr(value, "__module__", ""))


def _package(module: str) -> str:
    """The name under which the package of a module is installed."""
    name = module.partition(".")[0]
    return next((package for package, other in _MODULES.items() if other == name), name)
