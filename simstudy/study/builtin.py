"""Built-in studies: where they are, and what each is about."""

from __future__ import annotations

import contextlib
import difflib
import re
from pathlib import Path

_SUFFIX = ".toml"


def builtin_studies() -> dict[str, Path]:
    """The files of the built-in studies by name."""
    package = Path(__file__).parents[1]
    # In a wheel they are part of the package, in a checkout beside it.
    for place in (package / "studies", package.parent / "studies"):
        if place.is_dir():
            return {file.stem: file for file in sorted(place.glob(f"*{_SUFFIX}"))}
    return {}


def study_path(given: str | Path, directory: Path = Path()) -> Path:
    """The file of a study: a path, relative to a directory, or the name of a built-in study.

    A file of that name takes precedence.
    """
    path = directory / given
    try:
        is_name = len(Path(given).parts) == 1 and (path.is_dir() or not path.exists())
    except (OSError, ValueError):  # a path that cannot exist; reading it reports the error
        is_name = False
    return builtin_studies().get(str(given), path) if is_name else path


def nearest_studies(path: Path) -> str:
    """Suggestions for a file that does not exist: similar files, and built-in studies."""
    builtin, known = builtin_studies(), []
    with contextlib.suppress(OSError, ValueError):  # no such directory
        known += [(file.stem, str(file)) for file in sorted(path.parent.glob(f"*{_SUFFIX}"))]
    known += [(name, name) for name in builtin]
    stem = path.name.removesuffix(_SUFFIX)
    near = difflib.get_close_matches(stem, {stem for stem, _ in known}, n=2, cutoff=0.6)
    found = [f"'{shown}'" for close in near for stem, shown in known if stem == close]
    hint = f"; did you mean {' or '.join(found[:4])}?" if found else ";"
    return f"{hint} built-in studies: {', '.join(builtin)}"


def summary(file: Path) -> str:
    """The first sentence of the comment at the top of a study file."""
    lines: list[str] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if not line.startswith("# "):
            break
        lines.append(line[2:].strip())
    found = re.match(r".*?[.?!](?=\s|$)", " ".join(lines))
    return found[0] if found else " ".join(lines)
