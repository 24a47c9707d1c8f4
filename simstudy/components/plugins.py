"""Plugins: files that extend the registries, with what they need from their own directory.

These are the modules that their import statements name, and theirs, wherever the statements stand;
and the files that a module declares with ``DATA_FILES = ["table.csv"]``, relative to itself. A
module of the directory takes precedence over an installed package of the same name, as for a
script, but not over the standard library, simstudy, or the package that a file itself is named
after.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import hashlib
import importlib.util
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path, PurePosixPath, PureWindowsPath
from types import ModuleType
from typing import NamedTuple

from simstudy.errors import SimstudyError, describe, reported

DATA_FILES = "DATA_FILES"
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
    files = _needed_files(path.parent, path.name)
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
    return _digest(_needed_files(directory, name, _contents[directory]))


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
    contents = {path.parent / name: data for name, data in ((path.name, content), *files)}
    modules = {main: _Module(path.parent, path.name, place / path.name)}
    for name, _ in files:
        if name.endswith(".py"):
            dotted = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            modules[f"{package}.{dotted}"] = _Module(path.parent, name, place / name)
    before = _contents.get(path.parent, {})
    if path in _loaded or any(before.get(file, data) != data for file, data in contents.items()):
        _forget(path.parent, package)  # others there may need what has changed
    _contents.setdefault(path.parent, {}).update(contents)
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
        modules = [_modules[name] for name in plugin_modules(package)]
        origins = {str(module.directory / module.name) for module in modules}
        _forget(path.parent, package)
        if isinstance(error, KeyboardInterrupt):
            raise
        text = _describe(error, path, origins)
        raise SimstudyError(f"plugin {path} fails to load: {text}") from error


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
        expected = _module_file(path.parent, name.split("."))
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

    def exec_module(self, module: ModuleType) -> None:
        """Execute a module; its own import statements find the other files of its plugin."""
        package, _, stem = module.__name__.partition(".")
        names = [name.split(".") for name in plugin_modules(package)]
        siblings = {top for _, top, *_ in names} - {stem}  # numpy.py may wrap numpy
        if siblings:
            importer = _importer(package, siblings)
            module.__dict__["__builtins__"] = {**vars(builtins), "__import__": importer}
        directory, name, _ = _modules[module.__name__]
        path = directory / name
        exec(compile(_contents[directory][path], str(path), "exec"), module.__dict__)


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
        module = builtins.__import__(f"{package}.{name}", None, None, fromlist or (), 0)
        return module if fromlist else sys.modules[f"{package}.{top}"]

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


def _needed_files(
    directory: Path, module: str, contents: Mapping[Path, bytes] | None = None
) -> dict[str, bytes]:
    """Contents of a module of a directory and of the files it needs, by name, the module's first.

    With ``contents`` of files, there are no others and nothing is read. An installed module needs
    no others: its directory is that of all modules.
    """
    exists = Path.is_file if contents is None else contents.__contains__

    def read(name: str, title: str) -> bytes:
        path = directory / name
        # a path with a NUL in it is a ValueError
        with reported(f"{title} cannot be read", OSError, ValueError):
            content = path.read_bytes() if contents is None else contents[path]
        return content

    files = {module: read(module, f"plugin {directory / module}")}
    waiting = [module]
    while waiting and directory.name not in ("site-packages", "dist-packages"):
        file = waiting.pop()
        try:
            with warnings.catch_warnings(action="ignore"):
                tree = ast.parse(files[file])
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue  # reported when it is executed
        for imported in _imported_files(tree, directory, PurePosixPath(file), exists):
            if imported not in files:
                files[imported] = read(imported, f"{directory / imported}, which {file} imports,")
                waiting.append(imported)
        for name in _data_files(tree, directory / file):
            data = str(PurePosixPath(file).parent / name)
            title = f"{directory / file}, {DATA_FILES}: {name!r}"
            if not exists(directory / data):
                raise SimstudyError(f"{title} is not an existing file")
            files.setdefault(data, read(data, title))
    return {module: files.pop(module), **dict(sorted(files.items()))}


def _module_file(
    directory: Path, name: Sequence[str], exists: Callable[[Path], bool] = Path.is_file
) -> Path | None:
    """The file of a module in a directory; None without one, or if it is found elsewhere."""
    if not all(name) or name[0] == "simstudy" or name[0] in sys.stdlib_module_names:
        return None
    stem = directory.joinpath(*name)
    files = (stem / "__init__.py", stem.parent / f"{stem.name}.py")
    return next(filter(exists, files), None)


def _imported_files(
    tree: ast.AST, directory: Path, file: PurePosixPath, exists: Callable[[Path], bool]
) -> Iterator[str]:
    """The files of the modules that the import statements of a file name."""
    for name in _imported(tree, file):
        if (file.parent, file.stem) == (PurePosixPath(), name[0]):
            continue  # the package that it is named after
        for length in range(1, len(name) + 1):
            if (module := _module_file(directory, name[:length], exists)) is not None:
                yield module.relative_to(directory).as_posix()


def _imported(tree: ast.AST, file: PurePosixPath) -> Iterator[list[str]]:
    """The names in import statements, split at their dots, as seen from the plugin's directory."""
    package = list(file.parent.parts)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level <= len(package) + 1:
            base = package[: len(package) + 1 - node.level] if node.level else []
            base = base + (node.module.split(".") if node.module else [])
            yield from ([*base, alias.name] for alias in node.names)


def _data_files(tree: ast.Module, path: Path) -> list[str]:
    """The data files that a module declares."""
    names: list[str] = []
    for node in tree.body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if not any(isinstance(target, ast.Name) and target.id == DATA_FILES for target in targets):
            continue
        listed = None
        with contextlib.suppress(ValueError):
            listed = ast.literal_eval(node.value)
        if not isinstance(listed, list | tuple) or not all(isinstance(n, str) for n in listed):
            wanted = 'a literal list of names, e.g. ["table.csv"]'
            raise SimstudyError(f"{path}, {DATA_FILES}: it must be {wanted}")
        names += listed
    for name in names:
        place = PureWindowsPath(name)  # refuses what is absolute anywhere
        if not place.parts or place.anchor or {"..", "\\", "\0"} & {*place.parts, *name}:
            raise SimstudyError(
                f"{path}, {DATA_FILES}: {name!r} is not allowed; files must be in the directory "
                "of the module or below it"
            )
    return names
