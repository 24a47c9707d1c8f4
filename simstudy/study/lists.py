"""Lists of related studies, and readings of a list, checked as a whole."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from simstudy.errors import SimstudyError, suggestion
from simstudy.study.builtin import study_path
from simstudy.study.claims import Statement
from simstudy.study.digests import recorded_digests
from simstudy.study.explain import KeyedError, explain
from simstudy.study.published import Published, read_published
from simstudy.study.readings import Reading
from simstudy.study.sections import FileSection, Name
from simstudy.study.statements import read_statements
from simstudy.study.study import Study, load_study, make_study
from simstudy.study.toml import indexed, read_toml


class PublishedSection(FileSection):
    """Printed values of a measure on data sets."""

    study: str = Field(description="The name of the study of data sets.")
    measure: str = Field(default="", description="The measure; the primary one if empty.")
    file: str = Field(
        description="A CSV file, relative to the list: data sets × learners, with their names."
    )
    source: str = Field(default="", description="Where the values are printed.")
    leave_out: list[str] = Field(default=[], description="Data sets that are not the same.")
    notes: dict[str, str] = Field(
        default={}, description="By data set: why values differ, as far as it is known."
    )
    tolerance: float = Field(
        default=0.05, gt=0, description="Differences above it are marked and explained."
    )


class ListFile(FileSection):
    """The content of a list file, its statements unchecked."""

    name: Name = Field(description="The name of the list and of its results.")
    title: str = Field(default="", description="A title for the comparison.")
    citation: str = Field(default="", description="The source of the statements.")
    note: str = Field(default="", description="A remark shown with the verdicts.")
    studies: list[str] = Field(
        min_length=1,
        description="Study files or lists, relative to this file, or built-in ones.",
    )
    override: dict[str, object] = Field(
        default={}, description="Settings for every study, by section; learners by label."
    )
    statements: list[object] = Field(
        default=[], description="Statements of the source, each of one or more claims."
    )
    claims: list[object] = Field(default=[], description="Single claims.")
    published: list[PublishedSection] = Field(
        default=[], description="Printed values, set beside those of studies of data sets."
    )


class _Reading(FileSection):
    """One reading of a list."""

    id: Name = Field(description="The directory of its results.")
    label: str = Field(description="Its label in tables.")
    override: dict[str, object] = Field(
        default={}, description="Settings for every study, by section; learners by label."
    )
    margin_factor: float = Field(
        default=1.0, gt=0, description="Factor of the margins, for measures in another unit."
    )
    note: str = Field(default="", description="A remark.")
    post_hoc: bool = Field(
        default=False, description="Whether it was chosen after results had been seen."
    )


class ReadingsFile(FileSection):
    """The content of a file with readings of a list."""

    name: Name = Field(description="The name of the readings and of their results.")
    title: str = Field(default="", description="A title; that of the list if left out.")
    note: str = Field(default="", description="A remark shown with the verdicts.")
    of: str = Field(description="The list file, relative to this file, or a built-in list.")
    label: str = Field(default="the list itself", description="The label of the list itself.")
    readings: list[_Reading] = Field(min_length=1, description="The further readings.")


@dataclass(frozen=True)
class Collection:
    """The validated content of one list file."""

    name: str
    title: str
    citation: str
    note: str
    studies: list[Study]  # in the order of the list, with its overrides
    statements: list[Statement]
    reading: Reading  # the overrides of the list
    readings: list[Collection] = field(default_factory=list)  # the list under other readings
    published: list[Published] = field(default_factory=list)  # printed values


def is_collection(source: str | Path | Mapping[str, object]) -> bool:
    """Whether a file, or its content, is a list of studies: it has ``studies`` or ``readings``.

    A file that cannot be read is not; `load_study` reports the error.
    """
    try:
        content = source if isinstance(source, Mapping) else read_toml(study_path(source))
    except SimstudyError:
        return False
    return not {"studies", "readings"}.isdisjoint(content)


def load_collection(
    path: str | Path,
    overrides: Mapping[str, object] | None = None,
    content: Mapping[str, object] | None = None,
) -> Collection:
    """Read and check a list file and all studies in it.

    Parameters
    ----------
    path : str or Path
        The TOML file, or the name of a built-in list; the studies it names are relative to it, or
        built in. With ``readings`` instead of ``studies``, it is ``of`` another list, which is
        loaded as it is and once per reading.
    overrides : mapping, optional
        Values that replace those of every study, as in `load_study`, after the overrides of the
        list or reading. Claims about sizes that the studies no longer have are undecided.
    content : mapping, optional
        The content of the file, if already read.

    Raises
    ------
    SimstudyError
        Names the file, the key, the value, and what is allowed.
    """
    path = study_path(path)
    content = read_toml(path) if content is None else content
    kind: type[ListFile | ReadingsFile] = ReadingsFile if "readings" in content else ListFile
    try:
        text = json.dumps(content, default=str)
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, deep nesting
        raise SimstudyError(f"{path} cannot be used: {error}") from error
    try:
        given = kind.model_validate_json(text)
        if isinstance(given, ReadingsFile):
            return _load_readings(given, path, overrides)
        return _load_list(given, path, overrides)
    except ValidationError as error:
        known = [*kind.model_fields, *_Reading.model_fields]
        key, message = explain(error, lambda _: known)
        raise SimstudyError(f"{path}, {key}: {message}") from error
    except KeyedError as error:
        raise SimstudyError(f"{path}, {error.key}: {error}") from error


def _load_list(given: ListFile, path: Path, overrides: Mapping[str, object] | None) -> Collection:
    """A list with its studies, which must have different names, and those of lists in it."""
    studies: list[Study] = []
    statements: list[Statement] = []
    for index, name in enumerate(given.studies):
        key = f"studies[{index}]"
        file = study_path(name, path.parent)
        if _is_list(file, path, key, name):
            inner = _inner_list(file, key, name, given.override, overrides)
            found, more = inner.studies, inner.statements
        else:
            found, more = [_single(file, key, given.override, overrides)], []
        for study in found:
            if study.name in [other.name for other in studies]:
                raise KeyedError(key, f"two studies have the name '{study.name}'")
            studies.append(study)
        statements += more
    statements += read_statements(given.statements, given.claims, studies, not overrides)
    reading = Reading("the list itself", override=given.override)
    about = (given.name, given.title, given.citation, given.note)
    printed = [
        read_published(one.model_dump(), studies, path.parent, f"published[{index}]")
        for index, one in enumerate(given.published)
    ]
    return Collection(*about, studies, statements, reading, published=printed)


def _is_list(file: Path, path: Path, key: str, name: str) -> bool:
    """Whether a file that a list names is a list too; refused if it is the list itself."""
    try:
        itself = os.path.realpath(file) == os.path.realpath(path)
    except (OSError, ValueError) as error:  # a NUL in it
        raise KeyedError(key, f"{file} cannot be read: {error}") from error
    if itself:
        raise KeyedError(key, f'"{name}" is this list itself')
    return is_collection(file)


def _inner_list(
    file: Path,
    key: str,
    name: str,
    override: Mapping[str, object],
    overrides: Mapping[str, object] | None,
) -> Collection:
    """A list of single studies in a list, with its own overrides."""
    if override:
        raise KeyedError("override", f'"{name}" is a list with settings of its own; leave this out')
    content = read_toml(file)
    if "readings" in content:
        raise KeyedError(key, f'"{name}" has readings of a list; name the list')
    for inner in content.get("studies", []):
        if isinstance(inner, str) and is_collection(study_path(inner, file.parent)):
            raise KeyedError(key, f'"{name}" is a list that has lists itself')
    try:
        return load_collection(file, overrides, content)
    except SimstudyError as error:
        raise KeyedError(key, str(error)) from error


def _single(
    file: Path, key: str, override: Mapping[str, object], overrides: Mapping[str, object] | None
) -> Study:
    """One study of a list, with the overrides of the list."""
    try:
        load_study(file)
    except SimstudyError as error:
        raise KeyedError(key, str(error)) from error
    return _study(file, [("override", override)], overrides)


def _load_readings(
    given: ReadingsFile, path: Path, overrides: Mapping[str, object] | None
) -> Collection:
    """A list and its readings, which must have different names, also from the studies."""
    file = study_path(given.of, path.parent)
    try:
        content = read_toml(file)
        if "studies" not in content:
            raise KeyedError("of", f'"{given.of}" is not a list of studies')
        base = load_collection(file, overrides)
    except SimstudyError as error:
        raise KeyedError("of", str(error)) from error
    if any(study.datasets for study in base.studies):
        raise KeyedError("of", f"'{given.of}' has studies of data sets, which have no readings")
    files = [study_path(name, file.parent) for name in content["studies"]]
    taken, readings = [study.name for study in base.studies], []
    for index, one in enumerate(given.readings):
        where = f"readings[{index}]"
        if one.id in taken:
            raise KeyedError(f"{where}.id", f"'{one.id}' is taken by another reading or a study")
        taken.append(one.id)
        layers = [("of", base.reading.override), (f"{where}.override", one.override)]
        reading = Reading(**one.model_dump())
        readings.append(
            replace(
                base,
                name=one.id,
                studies=[_study(name, layers, overrides) for name in files],
                statements=reading.read(base.statements),
                reading=reading,
            )
        )
    return replace(
        base,
        name=given.name,
        title=given.title or base.title,
        note=" ".join(filter(None, (base.note, given.note))),
        reading=replace(base.reading, label=given.label),
        readings=readings,
    )


def load_variant(
    file: Path, override: Mapping[str, object], overrides: Mapping[str, object] | None = None
) -> Study:
    """A study with some settings replaced; learners are addressed by label."""
    try:
        return _study(study_path(file), [("--key", override)], overrides)
    except KeyedError as error:
        raise SimstudyError(f"{error.key}: {error}") from error


def _study(
    file: Path,
    layers: Iterable[tuple[str, Mapping[str, object]]],
    overrides: Mapping[str, object] | None,
) -> Study:
    """A study with layers of overrides, each with the key it comes from."""
    content = read_toml(file)
    digests = recorded_digests(file) if content.get("plugins") else None  # of results
    for key, override in layers:
        content = _overridden(content, override, key)
        try:
            make_study(content, file.parent, f"study '{content['name']}'", digests=digests)
        except SimstudyError as error:
            raise KeyedError(key, str(error)) from error
    return make_study(content, file.parent, str(file), overrides, digests)


def _overridden(
    content: Mapping[str, Any], override: Mapping[str, object], key: str
) -> dict[str, Any]:
    """A section with some values replaced; learners are addressed by label."""
    made = dict(content)
    for name, value in override.items():
        if (found := indexed(name))[1] is not None:
            made[found[0]] = _overridden_item(made, *found, value, key)
            continue
        section = made.get(name, {})
        if not isinstance(value, Mapping):
            made[name] = value
        elif isinstance(section, Mapping):
            made[name] = _overridden(section, value, f"{key}.{name}")
        elif name == "learners":
            labels = [learner.get("label", learner["name"]) for learner in section]
            for label, given in value.items():
                if not isinstance(given, Mapping):
                    shown = json.dumps(given, default=str)
                    raise KeyedError(f"{key}.{name}.{label}", f"{shown} is not a section")
                if label not in labels:
                    text = f"study '{content['name']}' has no learner '{label}'"
                    raise KeyedError(f"{key}.{name}", text + suggestion(label, labels))
            made[name] = [
                _overridden(learner, value.get(label, {}), f"{key}.{name}.{label}")
                for learner, label in zip(section, labels, strict=True)
            ]
        else:
            raise KeyedError(f"{key}.{name}", f"{name} is not a section")
    return made


def _overridden_item(
    content: Mapping[str, object], name: str, place: int | None, value: object, key: str
) -> list[object]:
    """The sections of one name with some values of one of them replaced: ``changes[0]``."""
    items, where = content.get(name, []), f"{key}.{name}[{place}]"
    if not isinstance(items, list) or not isinstance(value, Mapping):
        raise KeyedError(where, f"{name} are not sections [[{name}]] with keys")
    if place is None or place >= len(items):
        there = f"study '{content.get('name', '')}' has {len(items)} of [[{name}]], from 0"
        raise KeyedError(where, there)
    return [
        _overridden(item, value, where) if index == place else item
        for index, item in enumerate(items)
    ]
