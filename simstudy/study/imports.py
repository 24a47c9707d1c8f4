"""What a plugin needs from its own directory, found without executing it.

These are the modules that its import statements name, and theirs, wherever the statements stand;
and the files that a module declares with ``DATA_FILES = ["table.csv"]``, relative to itself. A
module of the directory takes precedence over an installed package of the same name, as for a
script, but not over the standard library, simstudy, or the package that a file itself is named
after.
"""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath

from simstudy.errors import SimstudyError, reason

DATA_FILES = "DATA_FILES"


def read_file(path: Path, what: str) -> bytes:
    """The content of a file, called ``what`` if it cannot be read."""
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:  # a path with a NUL in it is a ValueError
        raise SimstudyError(f"{what} cannot be read: {reason(error)}") from error


def needed_files(
    directory: Path, module: str, known: Mapping[Path, bytes] | None = None
) -> dict[str, bytes]:
    """Contents of a module of a directory and of the files it needs, by name, the module's first.

    With ``known`` contents, nothing else is there and nothing is read. An installed module needs
    no others: its directory is that of all modules.
    """
    there = Path.is_file if known is None else known.__contains__

    def read(name: str, what: str) -> bytes:
        path = directory / name
        return read_file(path, what) if known is None else known[path]

    found = {module: read(module, f"plugin {directory / module}")}
    waiting = [module]
    while waiting and directory.name not in ("site-packages", "dist-packages"):
        file = waiting.pop()
        try:
            with warnings.catch_warnings(action="ignore"):
                tree = ast.parse(found[file])
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue  # reported when it is executed
        for other in _modules(tree, directory, PurePosixPath(file), there):
            if other not in found:
                found[other] = read(other, f"{directory / other}, which {file} imports,")
                waiting.append(other)
        for name in _data_files(tree, directory / file):
            data = str(PurePosixPath(file).parent / name)
            what = f"{directory / file}, {DATA_FILES}: {name!r}"
            if not there(directory / data):
                raise SimstudyError(f"{what} is not a file there")
            found.setdefault(data, read(data, what))
    content = found.pop(module)
    return {module: content, **dict(sorted(found.items()))}


def module_file(
    directory: Path, name: Sequence[str], there: Callable[[Path], bool] = Path.is_file
) -> Path | None:
    """The file of a module in a directory; None without one, or if it is found elsewhere."""
    if not all(name) or name[0] == "simstudy" or name[0] in sys.stdlib_module_names:
        return None
    stem = directory.joinpath(*name)
    files = (stem / "__init__.py", stem.parent / f"{stem.name}.py")
    return next((file for file in files if there(file)), None)


def _modules(
    tree: ast.AST, directory: Path, file: PurePosixPath, there: Callable[[Path], bool]
) -> Iterator[str]:
    """The files of the modules that the import statements of a file name."""
    for name in _imported(tree, file):
        if (file.parent, file.stem) == (PurePosixPath(), name[0]):
            continue  # the package that it is named after
        for length in range(1, len(name) + 1):
            if (module := module_file(directory, name[:length], there)) is not None:
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
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign):
            targets = [node.target]
        if not any(isinstance(target, ast.Name) and target.id == DATA_FILES for target in targets):
            continue
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        try:
            given = ast.literal_eval(value) if value is not None else []
        except ValueError:
            given = None
        if not isinstance(given, list | tuple) or not all(isinstance(one, str) for one in given):
            raise SimstudyError(
                f'{path}, {DATA_FILES}: it must be a list of names, written out: ["table.csv"]'
            )
        names += given
    for name in names:
        place = PureWindowsPath(name)  # refuses what is absolute anywhere
        if not place.parts or place.anchor or {"..", "\\", "\0"} & {*place.parts, *name}:
            raise SimstudyError(
                f"{path}, {DATA_FILES}: {name!r} is not allowed; files must be in the directory "
                "of the module or below it"
            )
    return names
