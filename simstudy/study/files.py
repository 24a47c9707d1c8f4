"""Study files: where built-in ones are, TOML read and written, settings replaced or left out."""

from __future__ import annotations

import contextlib
import difflib
import json
import re
import tomllib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from types import UnionType
from typing import Any

from simstudy.errors import KeyedError, SimstudyError, demand_name, reason, refuse, suggestion
from simstudy.study.constants import JOURNAL, MANIFEST, STUDY
from simstudy.texts import printable


def builtin_studies() -> dict[str, Path]:
    """The files of the built-in studies by name."""
    package = Path(__file__).parents[1]
    # In a wheel they are part of the package, in a checkout beside it.
    for place in (package / "studies", package.parent / "studies"):
        if place.is_dir():
            return {file.stem: file for file in sorted(place.glob("*.toml"))}
    return {}


def demand(value: object, kind: type | UnionType, hint: str) -> None:
    """Refuse what a study cannot be made from."""
    if not isinstance(value, kind):
        text = f"a study cannot be made from an object of type {type(value).__name__}"
        raise SimstudyError(f"{text}: {hint}")


def study_path(name: str | Path, directory: Path = Path()) -> Path:
    """The file of a study: a path, relative to a directory, or the name of a built-in study.

    A file of that name takes precedence.
    """
    path = directory / name
    try:
        is_name = len(Path(name).parts) == 1 and (path.is_dir() or not path.exists())
    except (OSError, ValueError):  # a path that cannot exist; reading it reports the error
        is_name = False
    return builtin_studies().get(str(name), path) if is_name else path


def _nearest_studies(path: Path) -> str:
    """Suggestions for a file that does not exist: similar files, and built-in studies."""
    builtin, candidates = [*builtin_studies()], []
    with contextlib.suppress(OSError, ValueError):  # no such directory
        candidates += [(file.stem, str(file)) for file in sorted(path.parent.glob("*.toml"))]
    candidates += zip(builtin, builtin, strict=True)
    stem = path.name.removesuffix(".toml")
    near = difflib.get_close_matches(stem, {stem for stem, _ in candidates}, n=2, cutoff=0.6)
    names = [f"'{shown}'" for close in near for stem, shown in candidates if stem == close]
    hint = f"; did you mean {' or '.join(names[:4])}?" if names else ";"
    return f"{hint} built-in studies: {', '.join(builtin)}"


def summary(file: Path) -> str:
    """The first sentence of the comment at the top of a study file."""
    comment = re.match(r"(?:# .*\n?)*", file.read_text(encoding="utf-8"))
    text = " ".join(line[2:].strip() for line in (comment[0] if comment else "").splitlines())
    sentence = re.match(r".*?[.?!](?=\s|$)", text)
    return sentence[0] if sentence else text


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file; a `SimstudyError` if it cannot be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        raise SimstudyError(f"{path} is not valid TOML: {error}") from error
    except (OSError, RecursionError, ValueError) as error:  # also of huge numbers and odd paths
        nested, binary = "its values are nested too deeply", "it is not UTF-8 text"
        why = {RecursionError: nested, UnicodeDecodeError: binary}.get(type(error), reason(error))
        hint = _nearest_studies(path) if isinstance(error, FileNotFoundError) else ""
        raise SimstudyError(f"{path} cannot be read: {why}{hint}") from error


def plain_content(content: Mapping[str, object], origin: object) -> dict[str, Any]:
    """A copy of the content of a file, with the values that JSON has."""
    try:
        return dict(json.loads(json.dumps(content, default=str)))
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, deep nesting
        raise SimstudyError(f"{origin} cannot be used: {error}") from error


def recorded_digests(path: Path, content: Mapping[str, object]) -> list[str] | None:
    """The digests required of a study's plugins; None unless its file is part of results.

    They are read from the manifest beside the file or, if it is damaged, from the journal.
    """
    if path.name != STUDY or not content.get("plugins"):
        return None
    try:
        for record in _records(path.parent):
            with contextlib.suppress(ValueError, TypeError, LookupError, RecursionError):
                digests = json.loads(record)["conditions"]["plugins"]
                if isinstance(digests, list) and all(isinstance(text, str) for text in digests):
                    return digests
        if (path.parent / JOURNAL).exists():
            text = f"{path} belongs to results with a missing or damaged {MANIFEST}, so its "
            raise SimstudyError(f"{text}plugins cannot be verified and are not executed")
    except OSError as error:
        raise SimstudyError(f"{path.parent} cannot be read: {reason(error)}") from error
    return None


def _records(directory: Path) -> Iterator[bytes]:
    """Records of the study: the manifest, then those of the journal, last first."""
    if (manifest := directory / MANIFEST).exists():
        yield manifest.read_bytes()
    if (journal := directory / JOURNAL).exists():
        with journal.open("rb") as file:
            # A line is a checksum and its content; lines of cells begin with a bracket.
            records = [line.rstrip(b"\n") for line in file if line[8:10] == b" {"]
        yield from (
            line[9:] for line in reversed(records) if line[:8] == b"%08x" % zlib.crc32(line[9:])
        )


def set_dotted(content: dict[str, Any], key: str, value: object) -> None:
    """Set a value by dotted key, such as ``changes[0].rate``; non-sections stay unchanged."""
    *sections, last = key.split(".")
    for section in sections:
        name, place = _indexed(section)
        items = content.get(name)
        if place is not None and isinstance(items, list) and place < len(items):
            content = items[place]
        else:
            content = content.setdefault(section, {})
    if isinstance(content, dict):
        content[last] = value


def _indexed(section: str) -> tuple[str, int | None]:
    """The name of a section and its place among several: ``changes[0]``."""
    match = re.fullmatch(r"(\w+)\[(\d+)\]", section)
    return (match[1], int(match[2])) if match else (section, None)


def overridden(
    content: Mapping[str, Any], override: Mapping[str, object], key: str
) -> dict[str, Any]:
    """A section with some values replaced; learners are addressed by label, others by place."""
    made = dict(content)
    for name, value in override.items():
        section_name, place = _indexed(name)
        where, section = f"{key}.{name}", made.get(section_name, {} if place is None else [])
        if place is not None:
            if not isinstance(section, list) or not isinstance(value, Mapping):
                text = f"{section_name} are not sections [[{section_name}]] with keys"
                raise KeyedError(where, text)
            size = f"{len(section)} of [[{section_name}]], from 0"
            text = f"study '{content.get('name', '')}' has {size}"
            refuse(place >= len(section), where, text)
            item = overridden(section[place], value, where)
            made[section_name] = [*section[:place], item, *section[place + 1 :]]
        elif not isinstance(value, Mapping):
            made[name] = value
        elif isinstance(section, Mapping):
            made[name] = overridden(section, value, where)
        elif name == "learners":
            labels = [learner.get("label", learner["name"]) for learner in section]
            for label, settings in value.items():
                text = f"{json.dumps(settings, default=str)} is not a section"
                refuse(not isinstance(settings, Mapping), f"{where}.{label}", text)
                demand_name(where, f"study '{content['name']}' has no learner", label, labels)
            made[name] = [
                overridden(learner, value.get(label, {}), f"{where}.{label}")
                for learner, label in zip(section, labels, strict=True)
            ]
        else:
            raise KeyedError(where, f"{name} is not a section")
    return made


def without(content: Mapping[str, object], names: Sequence[str]) -> dict[str, object]:
    """The content of a study file without the data sets and learners of these names."""
    made, present = dict(content), list[str]()
    for key in ("datasets", "learners"):
        items = content.get(key)
        if isinstance(items, list) and all(isinstance(item, Mapping) for item in items):
            present += map(_name, items)  # else the error is reported when the study is read
            made[key] = [item for item in items if _name(item) not in names]
    for name in names:
        if name not in present:
            text = f"--without: the study has no data set or learner '{name}'"
            raise SimstudyError(text + suggestion(name, [*filter(None, present)]))
    return made


def _name(section: Mapping[str, object]) -> str:
    """The name of a data set or learner in results."""
    if "path" in section:
        return str(section.get("name") or PurePath(str(section["path"])).name.split(".")[0])
    return str(section.get("label") or section.get("name"))


def dumps(content: Mapping[str, object]) -> str:
    """TOML text of a two-level dictionary: values, then tables, then arrays of tables."""
    lines, tables, arrays = list[str](), list[str](), list[str]()
    for key, value in content.items():
        if isinstance(value, Mapping):
            tables += ["", f"[{key}]", *_pairs(value)]
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            for item in value:
                arrays += ["", f"[[{key}]]", *_pairs(item)]
        else:
            lines += _pairs({key: value})
    return "\n".join([*lines, *tables, *arrays]) + "\n"


def _pairs(table: Mapping[str, object]) -> list[str]:
    return [f"{_key(key)} = {_value(value)}" for key, value in table.items()]


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _value(key)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return printable(json.dumps(value, ensure_ascii=False))
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(_pairs(value)) + "}"
    return repr(value)
