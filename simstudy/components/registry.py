"""Registries of families, changes, learners, measures, estimators and tests.

Built-in components are those that the public packages import: `simstudy.families`, `.changes`,
`.learners`, `.measures` and `.estimators`.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import inspect
import sys
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, Unpack

from simstudy.components.plugins import is_plugin, plugin_digest, read_plugin
from simstudy.errors import SimstudyError, describe, suggestion
from simstudy.lazy import component_name, public_names

if TYPE_CHECKING:
    from simstudy.arrays import FloatArray
    from simstudy.data.preparation.prepare import Preparation
    from simstudy.estimators.bench import Estimator
    from simstudy.estimators.comparing import LearnerTest
    from simstudy.learners.base import Learner
    from simstudy.measures.base import Measure, MeasureFunction, MeasureOptions
    from simstudy.sources.changes.base import Change
    from simstudy.sources.families.base import Family


OBJECT = "session_object_"  # begins the names of objects of the session, before their digest
Definition: TypeAlias = "type | Measure[..., float | FloatArray]"
AnyRegistry: TypeAlias = "Registry[Definition]"
Class = TypeVar("Class", bound=type)
Defined = TypeVar("Defined", bound=Definition)
Registered = TypeVar("Registered", bound=Definition, covariant=True)
Built = TypeVar("Built")


@dataclass(frozen=True)
class Spec:
    """A component of a study: its name, its parameters and its identity.

    Attributes
    ----------
    name : str
        In the registry of its kind.
    parameters : mapping
        As the study states them; of a parameter that is a file, its text.
    identity : str
        Name and non-default parameters as canonical JSON; it seeds random streams.
    label : str
        In scores and reports; empty for a family or a change.
    resolved : mapping
        The parameters with defaults, except those that TOML cannot represent.
    files : tuple of (str, str)
        Parameters that are files, with the names of their copies in results.
    stated_preparation : mapping, optional
        What the study states about the preparation of rows for this learner only.
    preparation : Preparation, optional
        How rows are prepared for this learner, once planned.
    accepts : frozenset of str
        What is left unprepared.
    """

    name: str
    parameters: Mapping[str, object]
    identity: str
    label: str = ""
    resolved: Mapping[str, object] = field(default_factory=dict)
    files: tuple[tuple[str, str], ...] = ()
    stated_preparation: Mapping[str, Any] | None = None
    preparation: Preparation | None = None
    accepts: frozenset[str] = frozenset()


class UnknownNameError(SimstudyError):
    """A name that nothing is registered under."""


@dataclass(eq=False, repr=False)
class Registry(Generic[Registered]):
    """The components of one kind, built in or registered by plugins.

    Built-in components are imported on demand. A dotted path is passed to the function that
    ``by_path`` has for its package, or for "".
    """

    kind: str
    plural: str
    _builtin: Mapping[str, str]
    reserved: Sequence[str] = ()
    by_path: Mapping[str, str] | None = None
    by_path_help: str = ""
    known_paths: Sequence[str] = ()
    # of plugins, which need no base class
    _registered: dict[str, Any] = field(default_factory=dict, init=False)

    def register(self, name: str, component: Defined) -> Defined:
        """Add a component under a new name."""
        phrase = f"{'an' if self.kind[0] in 'aeiou' else 'a'} {self.kind}"
        if name in self.reserved:
            raise SimstudyError(f"{phrase} cannot be named '{name}': scores have that column")
        previous = self._registered.get(name, component)
        if name in self._builtin or _definition(previous) != _definition(component):
            origin = "simstudy" if name in self._builtin else previous.__module__
            raise SimstudyError(f"{phrase} named '{name}' is already registered by {origin}")
        self._registered[name] = component
        return component

    def get(self, name: str) -> Registered:
        """The component of this name; an error with suggestions if unknown."""
        if name in self._builtin:
            return _import(self._builtin[name])
        if self.by_path is not None and ":" in name:
            return _import(self.by_path.get(_package(name), self.by_path[""]))(name)
        if name not in self._registered:
            load_entry_points()
        if name not in self._registered and name.startswith(OBJECT):
            text = f"'{name}' was an object of the session that made the study, and is not stored"
            raise UnknownNameError(f"{text}; give simstudy.compare or make_study the object again")
        if name not in self._registered:
            names = (each for each in self.names() if not each.startswith(OBJECT))
            raise UnknownNameError(f"unknown {self.kind} '{name}'{suggestion(name, names)}")
        return self._registered[name]

    def loaded(self, name: str) -> Definition | None:
        """The component of this name if a plugin registered it already; else None."""
        return self._registered.get(name)

    def name_of(self, component: object) -> str | None:
        """The name of a component; None if it is not registered."""
        built_in = {path: name for name, path in self._builtin.items()}
        path = f"{getattr(component, '__module__', '')}:{getattr(component, '__name__', '')}"
        names = (name for name, each in self._registered.items() if each is component)
        return built_in.get(path) or next(names, None)

    def is_own(self, name: str) -> bool:
        """Whether a name is built in; looking up any other may execute plugins."""
        return name in self._builtin

    def names(self) -> list[str]:
        """All names, built-ins first."""
        load_entry_points()
        return [*self._builtin, *self._registered]

    def interactive(self, name: str) -> bool:
        """Whether a component cannot be imported by a worker process."""
        return name in self._registered and not is_plugin(self._registered[name].__module__)

    def in_session(self, name: str) -> bool:
        """Whether only the running session registers a component: no plugin, no package does."""
        if name.startswith(OBJECT) or not self.interactive(name):
            return name.startswith(OBJECT)
        return _package(self._registered[name].__module__) not in _announcing_packages()

    def source_digest(self, name: str) -> str | None:
        """A digest of a component's source, or its package's version; None if built in."""
        if name in self._builtin:
            return None
        if ":" in name:
            version = getattr(importlib.import_module(_package(name)), "__version__", None)
            if version:
                return str(version)
            module = importlib.import_module(name.partition(":")[0])
            return _file_digest(module.__name__) or ""
        # unknown: never equal
        return self.known_digest(name) or hashlib.sha256(uuid.uuid4().bytes).hexdigest()

    def known_digest(self, name: str) -> str | None:
        """A digest of a registered component's source; None if it cannot be read."""
        component = self.get(name)
        if name.startswith(OBJECT):
            return name.removeprefix(OBJECT)
        if is_plugin(component.__module__):
            return plugin_digest(component.__module__)
        if (digest := _file_digest(component.__module__)) is not None:
            return digest
        with contextlib.suppress(OSError, TypeError):  # in a notebook there is only the definition
            return hashlib.sha256(inspect.getsource(component).encode()).hexdigest()
        return None


def build(registry: Registry[type[Built]], component: Spec) -> Built:
    """The family, change, learner, estimator or test with its parameters."""
    return registry.get(component.name)(**component.parameters)


def _file_digest(module: str) -> str | None:
    """A digest of a module's file and of what it imports from its directory; None if unknown."""
    file = getattr(sys.modules.get(module), "__file__", None)
    with contextlib.suppress(SimstudyError):
        return read_plugin(Path(file)).digest if file else None
    return None


def _import(path: str) -> Any:
    module, attribute = path.split(":")
    return getattr(importlib.import_module(module), attribute)


def _package(path: str) -> str:
    """The package of a module, or of a path such as ``sklearn.tree:DecisionTreeClassifier``."""
    return path.partition(":")[0].partition(".")[0]


def _definition(component: Definition) -> tuple[str, str]:
    """Where a component is defined; the same for a definition executed twice."""
    return component.__module__, component.__qualname__


def _built_in(kind: str, package: str) -> dict[str, str]:
    """The components of a kind that a package imports: `KDBFamily` is the family "kdb"."""
    names = public_names(f"simstudy.{package}")[kind].items()
    return {component_name(name, kind): f"{module}:{name}" for name, module in names}


def _registry(kind: str, plural: str, package: str = "", **options: Any) -> Registry[Any]:
    return Registry(kind, plural, _built_in(kind, package or plural), **options)


FAMILIES: Registry[type[Family]] = _registry("family", "families")
CHANGES: Registry[type[Change]] = _registry("change", "changes")
_SEARCHES = ("pgmpy:HillClimbSearch", "pgmpy:GES", "pgmpy:PC", "pgmpy:TreeSearch")
LEARNERS: Registry[type[Learner]] = _registry(
    "learner",
    "learners",
    by_path={
        "pgmpy": "simstudy.learners.bridges.pgmpy:pgmpy_learner",
        "": "simstudy.learners.bridges.scikit:scikit_learner",
    },
    by_path_help='any classifier by its path, "sklearn.ensemble:RandomForestClassifier", and '
    f"pgmpy's searches: {', '.join(_SEARCHES)}",
    known_paths=_SEARCHES,
)
_COLUMNS = ("family", "model", "size", "learner", "status", "measure")
MEASURES: Registry[Measure[..., float | FloatArray]] = _registry(
    "measure", "measures", reserved=_COLUMNS
)
ESTIMATORS: Registry[type[Estimator]] = _registry("estimator", "estimators")
TESTS: Registry[type[LearnerTest]] = _registry("test", "tests", "estimators")
REGISTRIES: tuple[AnyRegistry, ...] = (FAMILIES, CHANGES, LEARNERS, MEASURES, ESTIMATORS, TESTS)
DATA = "data"  # stands in place of a family in studies of data sets


def registered(names: Mapping[str, Iterable[str]]) -> list[tuple[AnyRegistry, str]]:
    """The components of these names, by the plural of their kind, with their registries.

    Data sets in place of a family are none.
    """
    every = [(kind, name) for kind in REGISTRIES for name in names.get(kind.plural, ())]
    return [(kind, name) for kind, name in every if (kind, name) != (FAMILIES, DATA)]


def first_line(registry: AnyRegistry, name: str) -> str:
    """The first line of a component's docstring."""
    return (registry.get(name).__doc__ or "").strip().split("\n")[0]


def makes_missing(changes: Iterable[str]) -> bool:
    """Whether rows have missing values after these changes."""
    return any(getattr(CHANGES.get(name), "makes_missing", False) for name in changes)


def knows_model(learner: object) -> bool:
    """Whether a learner, or its class, receives the truth; plugins need not say so."""
    return getattr(learner, "knows_model", False)


def no_limit(learner: object) -> str:
    """Why a learner cannot be fitted to a population, if it says so."""
    return getattr(learner, "no_limit", "")


def register_family(name: str) -> Callable[[Class], Class]:
    """Make a family known to studies under ``name`` (a class decorator)."""
    return lambda cls: FAMILIES.register(name, cls)


def register_change(name: str) -> Callable[[Class], Class]:
    """Make a change known to studies under ``name`` (a class decorator)."""
    return lambda cls: CHANGES.register(name, cls)


def register_learner(name: str) -> Callable[[Class], Class]:
    """Make a learner known to studies under ``name`` (a class decorator)."""
    return lambda cls: LEARNERS.register(name, cls)


def register_estimator(name: str) -> Callable[[Class], Class]:
    """Make an estimator known to studies under ``name`` (a class decorator)."""
    return lambda cls: ESTIMATORS.register(name, cls)


def register_test(name: str) -> Callable[[Class], Class]:
    """Make a test of two learners known to studies under ``name`` (a class decorator)."""
    return lambda cls: TESTS.register(name, cls)


def register_measure(
    name: str, *, greater_is_better: bool, **options: Unpack[MeasureOptions]
) -> Callable[[MeasureFunction], Measure[..., float | FloatArray]]:
    """Make a measure known to studies under ``name`` (a function decorator).

    The keywords are those of `simstudy.measures.base.measure`.
    """
    from simstudy.measures.base import measure

    attach = measure(greater_is_better=greater_is_better, **options)
    return lambda function: MEASURES.register(name, attach(function))


_GROUP = "simstudy.plugins"  # of entry points
_entry_points_loaded = False


@cache
def _announcing_packages() -> frozenset[str]:
    """The installed packages that announce plugins."""
    from importlib.metadata import entry_points

    return frozenset(_package(point.value) for point in entry_points(group=_GROUP))


def load_entry_points() -> None:
    """Import the plugins of installed packages, once."""
    global _entry_points_loaded
    if _entry_points_loaded:
        return
    _entry_points_loaded = True
    from importlib.metadata import entry_points

    for point in entry_points(group=_GROUP):
        try:
            point.load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise SimstudyError(
                f"installed plugin '{point.name}' ({point.value}) fails to load: {describe(error)}"
            ) from error
