"""The environment that must be the same wherever the cells of a study are computed."""

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
from simstudy.components.plugins import plugin_modules
from simstudy.components.registry import registered

if TYPE_CHECKING:
    from simstudy.engine.plan import Plan

# Needed to unpickle a plan; other packages are compared afterwards.
BASIS = ("Python", "simstudy", "numpy", "scipy")


def environment(plan: Plan) -> dict[str, str]:
    """The packages that compute a plan's cells here, and their versions."""
    packages = {module.partition(".")[0] for module in _modules(plan)}
    names = {"scikit-learn" if name == "sklearn" else name for name in packages}
    names -= {*sys.stdlib_module_names, *BASIS}
    versions = {name: _version(name) for name in (*BASIS, *sorted(names))}
    return {name: version for name, version in versions.items() if version}


def differences(expected: Mapping[str, str]) -> str:
    """How this process differs from the expected environment; empty if it does not."""
    return " and ".join(
        f"has {f'{name} {version}' if version else f'no {name}'}, where {needed} is needed"
        for name, needed in expected.items()
        if (version := _version(name)) != needed
    )


def _version(name: str) -> str:
    """The version of a package as imported, or else as installed."""
    if name == "Python":
        return ".".join(platform.python_version_tuple()[:2])
    if name == "simstudy":
        return f"{simstudy.__version__} (source {_source()})"
    module = "sklearn" if name == "scikit-learn" else name
    version = getattr(sys.modules.get(module), "__version__", None)
    if isinstance(version, str):
        return version
    from importlib import metadata

    try:
        return metadata.version(name)
    except (metadata.PackageNotFoundError, ValueError):
        return ""


@cache
def _source() -> str:
    """A digest of simstudy's source: code may differ under one version number."""
    root, digest = Path(simstudy.__file__).parent, hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()} {len(content)} ".encode() + content)
    return digest.hexdigest()[:12]


def _modules(plan: Plan) -> Iterator[str]:
    """Modules that define the components of a plan, and those imported there."""
    for name, _ in plan.sources:  # those nested in a pipeline or search, too
        if ":" in name:
            yield name.partition(":")[0]
    for registry, name in registered(plan.component_names):
        component = registry.get(name)
        for definition in component.__mro__ if isinstance(component, type) else (component,):
            module = str(definition.__module__)
            if module.startswith("simstudy.learners.networks.camml"):
                yield "numba"  # compiles its kernels
            elif module.partition(".")[0] != "simstudy":
                for part in plugin_modules(module) or [module]:
                    yield part
                    yield from _imported(part)


def _imported(module: str) -> Iterator[str]:
    """Modules that the names in a module come from; none for an interactive session."""
    if module == "__main__" or module not in sys.modules:
        return
    for value in [*vars(sys.modules[module]).values()]:
        is_module = isinstance(value, ModuleType)
        yield str(value.__name__ if is_module else getattr(value, "__module__", ""))
