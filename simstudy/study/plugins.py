"""Plugins: files that extend the registries, with what they import from their own directory."""

from __future__ import annotations

import builtins
import contextlib
import hashlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from simstudy.errors import SimstudyError, describe
from simstudy.study.imports import module_file, needed_files

PREFIX = "simstudy_plugin_"  # of the packages that hold the modules of plugins
# In a worker process, the directory that plugins with further files are written to: they may
# have been read on another machine, or changed since.
unpack_to: Path | None = None
_loaded: dict[Path, str] = {}  # the digest of each plugin
_contents: dict[Path, dict[Path, bytes]] = {}  # of the files of plugins, by their directory
_modules: dict[str, _Module] = {}  # of all plugins, by name


class _Module(NamedTuple):
    """A module of a plugin: its directory, its file there, and where that is for this process."""

    directory: Path
    name: str
    place: Path

    @property
    def origin(self) -> Path:
        return self.directory / self.name


class PluginFile(NamedTuple):
    """A plugin: its path, a digest of all its content, and the content.

    ``files`` are the names, relative to its directory, and contents of the modules that it imports
    from there and of the data files that these declare.
    """

    path: Path
    digest: str
    content: bytes
    files: tuple[tuple[str, bytes], ...] = ()


@contextlib.contextmanager
def directory_restored() -> Iterator[None]:
    """Return to the working directory after code that may change it."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # it may have been removed
            stack.callback(os.chdir, os.getcwd())
        yield


def read_plugin(path: Path) -> PluginFile:
    """Read a plugin and what it needs from its directory, without executing anything."""
    files = needed_files(path.parent, path.name)
    content, *further = files.items()
    return PluginFile(path, _digest(files), content[1], tuple(further))


def _digest(files: Mapping[str, bytes]) -> str:
    """A digest of a module and the files it needs; that of its content if it needs none."""
    content, *further = files.items()
    parts = [content[1], *(part for name, data in further for part in (name.encode(), data))]
    digests = [hashlib.sha256(part) for part in parts]
    if further:
        return hashlib.sha256(b"".join(digest.digest() for digest in digests)).hexdigest()
    return digests[0].hexdigest()


def load_plugin(path: Path, digest: str | None = None) -> PluginFile:
    """Read and execute a plugin file, unless already loaded; it must have the ``digest`` given."""
    plugin = read_plugin(path)
    if digest not in (None, plugin.digest):
        imported = " or what it needs from its directory" * bool(plugin.files)
        raise SimstudyError(
            f"plugin {path}{imported} differs from the one that the results beside it were made "
            "with; it is not executed"
        )
    execute_plugin(plugin)
    return plugin


def is_plugin(module: str) -> bool:
    """Whether a module is a plugin, or belongs to one."""
    return module in _modules


def plugin_digest(module: str) -> str:
    """A digest of a module of a plugin and of the files that it needs, as executed."""
    directory, name, _ = _modules[module]
    return _digest(needed_files(directory, name, _contents[directory]))


def plugin_modules(module: str) -> list[str]:
    """The modules of all plugins in the directory of one of them."""
    package = module.partition(".")[0]
    return [name for name in _modules if name.startswith(f"{package}.")]


def execute_plugin(plugin: PluginFile) -> None:
    """Execute the content of a plugin, perhaps read on another machine."""
    path, digest, content, files = plugin
    # A copy of a loaded file, as in results, has nothing new to register.
    known_copy = path not in _loaded and digest in _loaded.values()
    if known_copy or _loaded.get(path) == digest:
        return
    if path.suffix != ".py":
        raise SimstudyError(f"plugin {path} is not a Python file")
    # The modules of a directory are in a package of their own: other directories may have modules
    # of the same names.
    package = PREFIX + hashlib.sha256(str(path.parent).encode()).hexdigest()[:8]
    main = f"{package}.{path.stem.replace('.', '_')}"
    place = path.parent if unpack_to is None or not files else _unpacked(plugin, package)
    own = {path.parent / name: data for name, data in ((path.name, content), *files)}
    modules = {main: _Module(path.parent, path.name, place / path.name)}
    for name, _ in files:
        if name.endswith(".py"):
            dotted = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            modules[f"{package}.{dotted}"] = _Module(path.parent, name, place / name)
    there = _contents.get(path.parent, {})
    if path in _loaded or any(there.get(file, data) != data for file, data in own.items()):
        _forget(path.parent, package)  # others there may need what has changed
    _contents.setdefault(path.parent, {}).update(own)
    _modules.update(modules)
    if main not in sys.modules:
        _execute(path, package, main)
    _loaded[path] = digest


def _unpacked(plugin: PluginFile, package: str) -> Path:
    """Write a plugin and its files to the directory of a worker process."""
    assert unpack_to is not None
    place = unpack_to / package
    for name, content in ((plugin.path.name, plugin.content), *plugin.files):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    return place


def _execute(path: Path, package: str, main: str) -> None:
    """Execute a plugin as the module ``main``."""
    sys.modules.setdefault(package, ModuleType(package)).__path__ = []
    if _finder not in sys.meta_path:
        sys.meta_path.append(_finder)
    before = {*sys.modules}
    try:
        importlib.import_module(main)
        _refuse_unseen(path, {*sys.modules} - before)
    except BaseException as error:
        origins = {str(_modules[name].origin) for name in plugin_modules(package)}
        _forget(path.parent, package)
        if isinstance(error, KeyboardInterrupt):
            raise
        raise SimstudyError(
            f"plugin {path} fails to load: {_describe(error, path, origins)}"
        ) from error


def _forget(directory: Path, package: str) -> None:
    """Let the plugins of a directory, and what they import, be executed again."""
    for path in [path for path in _loaded if path.parent == directory]:
        del _loaded[path]
    _contents.pop(directory, None)
    for name in plugin_modules(package):
        del _modules[name]
        sys.modules.pop(name, None)
        package, _, attribute = name.rpartition(".")
        vars(sys.modules.get(package, ModuleType(""))).pop(attribute, None)


def _refuse_unseen(path: Path, imported: Iterable[str]) -> None:
    """Refuse modules of the plugin's directory that its import statements do not name."""
    for name in sorted(imported):
        file = getattr(sys.modules.get(name), "__file__", None)
        if not isinstance(file, str) or name.startswith(PREFIX):
            continue
        expected = module_file(path.parent, name.split("."))
        if expected is not None and os.path.realpath(file) == os.path.realpath(expected):
            raise ImportError(
                f"{expected} is imported without an import statement that names it, so that a "
                f"change to it would not be noticed; write: import {name}"
            )


class _Finder(MetaPathFinder, Loader):
    """Finds and executes the modules of plugins, whose files may be on another machine."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module of a plugin, as `importlib` asks for it."""
        if fullname in _modules:
            place = _modules[fullname].place
            spec = importlib.util.spec_from_file_location(fullname, place, loader=self)
            if spec is not None and place.name == "__init__.py":
                spec.submodule_search_locations = []  # its modules are found here too
            return spec
        if any(name.startswith(f"{fullname}.") for name in _modules):
            return ModuleSpec(fullname, None, is_package=True)  # a directory without __init__.py
        return None

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave the creation of a module to `importlib`."""

    def exec_module(self, module: ModuleType) -> None:
        """Execute a module; its own import statements find the other files of its plugin."""
        package, _, own = module.__name__.partition(".")
        names = [name.split(".") for name in _modules if name.startswith(f"{package}.")]
        siblings = {top for _, top, *_ in names} - {own}  # numpy.py may wrap numpy
        if siblings:
            module.__dict__["__builtins__"] = {
                **vars(builtins),
                "__import__": _importer(package, siblings),
            }
        found = _modules[module.__name__]
        content = _contents[found.directory][found.origin]
        exec(compile(content, str(found.origin), "exec"), module.__dict__)


_finder = _Finder()


def _importer(package: str, siblings: Collection[str]) -> Callable[..., ModuleType]:
    """An ``__import__`` that takes the modules of a plugin's directory from their package."""

    def import_(
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        top = name.partition(".")[0]
        if level or top not in siblings:
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        found = builtins.__import__(f"{package}.{name}", None, None, fromlist or (), 0)
        return found if fromlist else sys.modules[f"{package}.{top}"]

    return import_


def _describe(error: BaseException, path: Path, origins: Collection[str]) -> str:
    """The error with the line of the plugin, or of a module that it imports, if known."""
    frames = traceback.extract_tb(error.__traceback__)
    places = [(frame.filename, frame.lineno) for frame in frames if frame.filename in origins]
    text = describe(error)
    if isinstance(error, SyntaxError):
        text = f"{type(error).__name__}: {error.msg}"
        places.append((error.filename or str(path), error.lineno))
    text = " ".join(text.split())
    if not places or not places[-1][1]:
        return text
    file, line = places[-1]
    return f"{text} ({'' if file == str(path) else f'{file}, '}line {line})"
