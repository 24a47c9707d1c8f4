"""Registries of families, learners and measures, and the plugins that extend them."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.util
import inspect
import os
import sys
import traceback
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from simstudy.errors import SimstudyError, describe, suggestion

Component = TypeVar("Component")


class UnknownNameError(SimstudyError):
    """A name that nothing is registered under."""


class Registry:
    """The components of one kind, built in or registered by plugins.

    Built-in components are imported on demand. A dotted path is passed to the function that
    ``by_path`` has for its package, or for "".
    """

    def __init__(
        self,
        kind: str,
        plural: str,
        builtin: Mapping[str, str],
        reserved: Sequence[str] = (),
        by_path: Mapping[str, str] | None = None,
        by_path_help: str = "",
        known_paths: Sequence[str] = (),
    ) -> None:
        self.by_path_help, self.known_paths = by_path_help, known_paths
        self.kind, self.plural, self._reserved, self._by_path = kind, plural, reserved, by_path
        self._builtin = dict(builtin)
        self._registered: dict[str, Any] = {}

    def register(self, name: str, component: Component) -> Component:
        """Add a component under a new name."""
        if name in self._reserved:
            raise SimstudyError(
                f"a {self.kind} cannot be named '{name}': the scores have a column of that name"
            )
        previous = self._registered.get(name)
        if name in self._builtin or (previous is not None and not _same(previous, component)):
            origin = "simstudy" if name in self._builtin else previous.__module__
            raise SimstudyError(f"a {self.kind} named '{name}' is registered already, by {origin}")
        self._registered[name] = component
        return component

    def get(self, name: str) -> Any:
        """The component of this name; an error with suggestions if unknown."""
        if name in self._builtin:
            return _import(self._builtin[name])
        if self._by_path is not None and ":" in name:
            return _import(self._by_path.get(_package(name), self._by_path[""]))(name)
        if name not in self._registered:
            _load_entry_points()
        if name not in self._registered:
            raise UnknownNameError(f"unknown {self.kind} '{name}'{suggestion(name, self.names())}")
        return self._registered[name]

    def is_own(self, name: str) -> bool:
        """Whether a name is built in; looking up any other may execute plugins."""
        return name in self._builtin

    def names(self) -> list[str]:
        """All names, built-ins first."""
        _load_entry_points()
        return [*self._builtin, *self._registered]

    def interactive(self, name: str) -> bool:
        """Whether a component cannot be imported by a worker process."""
        module = getattr(self._registered.get(name), "__module__", "")
        return name in self._registered and not module.startswith(_PLUGIN)

    def source_digest(self, name: str) -> str | None:
        """A digest of a component's source, or its package's version; None if built in."""
        if name in self._builtin:
            return None
        if ":" in name:
            return str(getattr(importlib.import_module(_package(name)), "__version__", ""))
        component = self.get(name)
        file = getattr(sys.modules.get(component.__module__), "__file__", None)
        try:
            # in a notebook there is no file, only the definition
            source = Path(file).read_bytes() if file else inspect.getsource(component).encode()
        except (OSError, TypeError):
            source = uuid.uuid4().bytes  # unknown: never equal
        return hashlib.sha256(source).hexdigest()


def _import(path: str) -> Any:
    module, attribute = path.split(":")
    return getattr(importlib.import_module(module), attribute)


def _package(path: str) -> str:
    """The package of a dotted path such as ``sklearn.tree:DecisionTreeClassifier``."""
    return path.partition(":")[0].partition(".")[0]


def _same(one: Any, other: Any) -> bool:
    """Whether two objects are one definition executed twice."""
    return (one.__module__, one.__qualname__) == (other.__module__, other.__qualname__)


_SOURCES = "simstudy.sources"
FAMILIES = Registry(
    "family",
    "families",
    {
        "naive_bayes": f"{_SOURCES}.naive_bayes:NaiveBayesFamily",
        "tan": f"{_SOURCES}.tan:TANFamily",
        "aode": f"{_SOURCES}.aode:AODEFamily",
        "kdb": f"{_SOURCES}.kdb:KDBFamily",
    },
)
_LEARNERS = "simstudy.learners"
_SEARCHES = ("pgmpy:HillClimbSearch", "pgmpy:GES", "pgmpy:PC", "pgmpy:TreeSearch")
LEARNERS = Registry(
    "learner",
    "learners",
    {
        "truth": f"{_LEARNERS}.truth:Truth",
        "prior": f"{_LEARNERS}.prior:Prior",
        "naive_bayes": f"{_LEARNERS}.naive_bayes:NaiveBayes",
        "tan": f"{_LEARNERS}.tan:TAN",
        "aode": f"{_LEARNERS}.aode:AODE",
        "kdb": f"{_LEARNERS}.kdb:KDB",
        "camml": f"{_LEARNERS}.camml.learner:CaMML",
        "hnb": f"{_LEARNERS}.hnb:HNB",
        "lbr": f"{_LEARNERS}.lbr:LBR",
        "c45": f"{_LEARNERS}.c45.learner:C45",
        "boosted_c45": f"{_LEARNERS}.c45.boosting:BoostedC45",
        "mml_tree": f"{_LEARNERS}.mml.tree:MMLTree",
        "mml_graph": f"{_LEARNERS}.mml.graph:MMLGraph",
        "decision_stump": f"{_LEARNERS}.one_attribute:DecisionStump",
        "one_r": f"{_LEARNERS}.one_attribute:OneR",
    },
    by_path={"pgmpy": f"{_LEARNERS}.pgmpy:pgmpy_learner", "": f"{_LEARNERS}.scikit:scikit_learner"},
    by_path_help='any classifier by its path, "sklearn.ensemble:RandomForestClassifier", and '
    f"pgmpy's searches: {', '.join(_SEARCHES)}",
    known_paths=_SEARCHES,
)
_MEASURES = "simstudy.measures"
MEASURES = Registry(
    "measure",
    "measures",
    {
        "information_reward": f"{_MEASURES}.rewards:information_reward",
        "information_reward_2002": f"{_MEASURES}.rewards:information_reward_2002",
        "information_reward_2002_modal": f"{_MEASURES}.rewards:information_reward_2002_modal",
        "good_reward": f"{_MEASURES}.rewards:good_reward",
        "kononenko_bratko": f"{_MEASURES}.rewards:kononenko_bratko",
        "accuracy": f"{_MEASURES}.losses:accuracy",
        "log_loss": f"{_MEASURES}.losses:log_loss",
        "brier_score": f"{_MEASURES}.losses:brier_score",
        "miscalibration": f"{_MEASURES}.calibration:miscalibration",
        "kl_divergence": f"{_MEASURES}.truth:kl_divergence",
        "regret": f"{_MEASURES}.truth:regret",
        "representation": f"{_MEASURES}.truth:representation",
        "estimation": f"{_MEASURES}.truth:estimation",
    },
    reserved=("family", "model", "size", "learner", "status", "measure"),
)
REGISTRIES = (FAMILIES, LEARNERS, MEASURES)


def registered(
    family: str, learners: Iterable[str], measures: Iterable[str]
) -> list[tuple[Registry, str]]:
    """The components of a study, each with its registry."""
    named = ((LEARNERS, learners), (MEASURES, measures))
    return [(FAMILIES, family), *((kind, name) for kind, names in named for name in names)]


def register_family(name: str) -> Callable[[type[Component]], type[Component]]:
    """Make a family known to studies under ``name`` (a class decorator)."""
    return lambda cls: FAMILIES.register(name, cls)


def register_learner(name: str) -> Callable[[type[Component]], type[Component]]:
    """Make a learner known to studies under ``name`` (a class decorator)."""
    return lambda cls: LEARNERS.register(name, cls)


def register_measure(
    name: str, *, greater_is_better: bool, **info: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a measure known to studies under ``name`` (a function decorator).

    The keywords are those of `simstudy.measures.base.measure`.
    """
    from simstudy.measures.base import measure

    attach = measure(greater_is_better=greater_is_better, **info)
    return lambda function: MEASURES.register(name, attach(function))


_PLUGIN = "simstudy_plugin_"  # prefix of the modules of plugin files
_loaded_files: dict[Path, str] = {}


@contextlib.contextmanager
def directory_restored() -> Iterator[None]:
    """Return to the working directory after code that may change it."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # it may have been removed
            stack.callback(os.chdir, os.getcwd())
        yield


class PluginFile(NamedTuple):
    """A plugin: its path, the digest of its content, and the content."""

    path: Path
    digest: str
    content: bytes


def read_plugin(path: Path) -> PluginFile:
    """Read a plugin file without executing it."""
    try:
        content = path.read_bytes()
    except (OSError, ValueError) as error:  # a path with a NUL in it is a ValueError
        why = getattr(error, "strerror", None) or error
        raise SimstudyError(f"plugin {path} cannot be read: {why}") from error
    return PluginFile(path, hashlib.sha256(content).hexdigest(), content)


def load_plugin(path: Path, digest: str | None = None) -> PluginFile:
    """Read and execute a plugin file, unless already loaded; it must have the ``digest`` given."""
    plugin = read_plugin(path)
    if digest not in (None, plugin.digest):
        raise SimstudyError(
            f"plugin {path} differs from the one that the results beside it were made with; it is "
            "not executed"
        )
    execute_plugin(plugin)
    return plugin


def execute_plugin(plugin: PluginFile) -> None:
    """Execute the content of a plugin, perhaps read on another machine."""
    path, digest, content = plugin
    # A copy of a loaded file, as in results, has nothing new to register.
    known_copy = path not in _loaded_files and digest in _loaded_files.values()
    if known_copy or _loaded_files.get(path) == digest:
        return
    name = f"{_PLUGIN}{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise SimstudyError(f"plugin {path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        exec(compile(content, str(path), "exec"), module.__dict__)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, KeyboardInterrupt):
            raise
        raise SimstudyError(f"plugin {path} fails to load: {_describe(error, path)}") from error
    _loaded_files[path] = digest


def _describe(error: BaseException, path: Path) -> str:
    """The error with the line of the plugin, if known."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    line = error.lineno if isinstance(error, SyntaxError) else (lines[-1] if lines else None)
    text = describe(error)
    if isinstance(error, SyntaxError):
        text = f"{type(error).__name__}: {error.msg}"
    return " ".join(text.split()) + (f" (line {line})" if line else "")


_entry_points_loaded = False


def _load_entry_points() -> None:
    """Import the plugins of installed packages, once."""
    global _entry_points_loaded
    if _entry_points_loaded:
        return
    _entry_points_loaded = True
    from importlib.metadata import entry_points

    for point in entry_points(group="simstudy.plugins"):
        try:
            point.load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise SimstudyError(
                f"installed plugin '{point.name}' ({point.value}) fails to load: {describe(error)}"
            ) from error
