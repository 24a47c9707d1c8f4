"""Lists of related studies, and readings of a list, checked as a whole."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from pydantic import Field

from simstudy import errors
from simstudy.study import files
from simstudy.study.claims import Statement, read_statements
from simstudy.study.content import read_sections
from simstudy.study.sections import FileSection, Name
from simstudy.study.study import Study, checked_study, load_study

Settings: TypeAlias = Mapping[str, object]


class PublishedSection(FileSection):
    """Printed values of a measure on data sets.

    Parameters
    ----------
    study
        The name of the study of data sets.
    measure
        The measure; the primary one if empty.
    file
        A CSV file, relative to the list: data sets × learners, with their names.
    source
        Where the values are printed.
    leave_out
        Data sets that differ from those of the source.
    notes
        By data set: why values differ, where known.
    tolerance
        Differences above this are marked and explained.
    """

    study: str
    measure: str = ""
    file: str
    source: str = ""
    leave_out: list[str] = Field(default=[])
    notes: dict[str, str] = Field(default={})
    tolerance: float = Field(default=0.05, gt=0)


class Published(PublishedSection):
    """Printed values of a measure, as read: by data set, by learner."""

    values: dict[str, dict[str, float]]


class ListFile(FileSection):
    """The content of a list file, its statements unchecked.

    Parameters
    ----------
    name
        The name of the list and of its results.
    title
        A title for the comparison.
    citation
        The source of the statements.
    note
        A remark shown with the verdicts.
    studies
        Study files or lists, relative to this file, or built-in ones.
    override
        Settings for every study, by section; learners by label.
    statements
        Statements of the source, each of one or more claims.
    claims
        Single claims.
    published
        Printed values, shown beside those of studies of data sets.
    """

    name: Name
    title: str = ""
    citation: str = ""
    note: str = ""
    studies: list[str] = Field(min_length=1)
    override: dict[str, object] = Field(default={})
    statements: list[object] = Field(default=[])
    claims: list[object] = Field(default=[])
    published: list[PublishedSection] = Field(default=[])


class Reading(FileSection):
    """An interpretation of what the source of statements leaves open: a variant of a list.

    Parameters
    ----------
    label
        Its label in tables.
    override
        Settings for every study, by section; learners by label.
    margin_factor
        Factor of the margins, for measures in another unit.
    note
        A remark.
    post_hoc
        Whether it was chosen after seeing results.
    """

    id: str = ""
    label: str
    override: dict[str, object] = Field(default={})
    margin_factor: float = Field(default=1.0, gt=0)
    note: str = ""
    post_hoc: bool = False

    @property
    def changed(self) -> dict[str, str]:
        """Its overrides by dotted key, as in a study file."""
        return {key: json.dumps(value) for key, value in _dotted_keys(self.override)}

    @property
    def settings(self) -> str:
        """Its overrides in one line."""
        changed = [f"{key} = {value}" for key, value in self.changed.items()]
        if self.margin_factor != 1:
            changed.append(f"margins × {self.margin_factor:g}")
        return ", ".join(changed)

    def read(self, statements: Sequence[Statement]) -> list[Statement]:
        """The statements with the margins of this reading; some tolerances do not change."""
        scaled = [[line.scaled(self.margin_factor) for line in each.lines] for each in statements]
        return [replace(each, lines=lines) for each, lines in zip(statements, scaled, strict=True)]


def _dotted_keys(sections: Mapping[str, object], start: str = "") -> Iterator[tuple[str, object]]:
    """The values of nested sections by dotted key."""
    for key, value in sections.items():
        if isinstance(value, Mapping):
            yield from _dotted_keys(value, f"{start}{key}.")
        else:
            yield f"{start}{key}", value


class ReadingSection(Reading):
    """One reading of a list.

    Parameters
    ----------
    id
        The directory of its results.
    """

    id: Name


class ReadingsFile(FileSection):
    """The content of a file with readings of a list.

    Parameters
    ----------
    name
        The name of the readings and of their results.
    title
        A title; that of the list if omitted.
    note
        A remark shown with the verdicts.
    of
        The list file, relative to this file, or a built-in list.
    label
        The label of the list itself.
    readings
        The further readings.
    """

    name: Name
    title: str = ""
    note: str = ""
    of: str
    label: str = "the list itself"
    readings: list[ReadingSection] = Field(min_length=1)


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


def is_collection(source: str | Path | Settings) -> bool:
    """Whether a file, or its content, is a list of studies: it has ``studies`` or ``readings``.

    A file that cannot be read is not; `load_study` reports the error.
    """
    if not isinstance(source, Mapping):
        try:
            source = files.read_toml(files.study_path(source))
        except errors.SimstudyError:
            return False
    return not {"studies", "readings"}.isdisjoint(source)


def load_collection(
    path: str | Path, overrides: Settings | None = None, content: Settings | None = None
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
    path = files.study_path(path)
    content = files.read_toml(path) if content is None else content
    kind: type[ListFile | ReadingsFile] = ReadingsFile if "readings" in content else ListFile
    plain = files.plain_content(content, path)
    try:
        file = read_sections(plain, kind)
        if isinstance(file, ReadingsFile):
            return _load_readings(file, path, overrides)
        return _load_list(file, path, overrides)
    except errors.KeyedError as error:
        raise errors.SimstudyError(f"{path}, {error.key}: {error}") from error


def _load_list(file: ListFile, path: Path, overrides: Settings | None) -> Collection:
    """A list with its studies, which must have different names, and those of lists in it."""
    studies: dict[str, Study] = {}
    statements: list[Statement] = []
    for index, name in enumerate(file.studies):
        key, place = f"studies[{index}]", files.study_path(name, path.parent)
        if _is_list(place, path, key, name):
            inner = _inner_list(place, key, name, file.override, overrides)
            named, more = inner.studies, inner.statements
        else:
            with errors.at_key(key, errors.SimstudyError):
                load_study(place)
            named, more = [_study(place, [("override", file.override)], overrides)], []
        for study in named:
            errors.refuse(study.name in studies, key, f"two studies have the name '{study.name}'")
            studies[study.name] = study
        statements += more
    statements += read_statements(file.statements, file.claims, studies, check_sizes=not overrides)
    return Collection(
        **file.model_dump(include={"name", "title", "citation", "note"}),
        studies=[*studies.values()],
        statements=statements,
        reading=Reading(label="the list itself", override=file.override),
        published=[
            _published(section, studies, path.parent, f"published[{index}]")
            for index, section in enumerate(file.published)
        ],
    )


def _is_list(file: Path, path: Path, key: str, name: str) -> bool:
    """Whether a file that a list names is a list too; refused if it is the list itself."""
    try:
        itself = os.path.realpath(file) == os.path.realpath(path)
    except (OSError, ValueError) as error:  # a NUL in it
        raise errors.KeyedError(key, f"{file} cannot be read: {error}") from error
    errors.refuse(itself, key, f'"{name}" is this list itself')
    return is_collection(file)


def _inner_list(
    file: Path, key: str, name: str, override: Settings, overrides: Settings | None
) -> Collection:
    """A list of single studies in a list, with its own overrides."""
    errors.refuse(
        override, "override", f'"{name}" is a list with its own settings; remove this key'
    )
    content = files.read_toml(file)
    text = f'"{name}" contains readings of a list; name the list instead'
    errors.refuse("readings" in content, key, text)
    for inner in content.get("studies", []):
        nested = isinstance(inner, str) and is_collection(files.study_path(inner, file.parent))
        errors.refuse(nested, key, f'"{name}" is a list that itself contains lists')
    with errors.at_key(key, errors.SimstudyError):
        return load_collection(file, overrides, content)


def _load_readings(file: ReadingsFile, path: Path, overrides: Settings | None) -> Collection:
    """A list and its readings, which must have different names, also from the studies."""
    place = files.study_path(file.of, path.parent)
    with errors.at_key("of", errors.SimstudyError):
        content = files.read_toml(place)
        errors.refuse("studies" not in content, "of", f'"{file.of}" is not a list of studies')
        base = load_collection(place, overrides)
    text = f"'{file.of}' has studies of data sets, which have no readings"
    errors.refuse(any(study.datasets for study in base.studies), "of", text)
    places = [files.study_path(name, place.parent) for name in content["studies"]]
    taken, readings = [study.name for study in base.studies], []
    for index, reading in enumerate(file.readings):
        where = f"readings[{index}]"
        text = f"'{reading.id}' is taken by another reading or a study"
        errors.refuse(reading.id in taken, f"{where}.id", text)
        taken.append(reading.id)
        layers = [("of", base.reading.override), (f"{where}.override", reading.override)]
        studies = [_study(study, layers, overrides) for study in places]
        variant = replace(base, name=reading.id, studies=studies, reading=reading)
        readings.append(replace(variant, statements=reading.read(base.statements)))
    return replace(
        base,
        name=file.name,
        title=file.title or base.title,
        note=" ".join(filter(None, (base.note, file.note))),
        reading=base.reading.model_copy(update={"label": file.label}),
        readings=readings,
    )


def load_variant(file: Path, override: Settings, overrides: Settings | None = None) -> Study:
    """A study with some settings replaced; learners are addressed by label."""
    try:
        return _study(files.study_path(file), [("--key", override)], overrides)
    except errors.KeyedError as error:
        raise errors.SimstudyError(f"{error.key}: {error}") from error


def _study(file: Path, layers: Iterable[tuple[str, Settings]], overrides: Settings | None) -> Study:
    """A study with layers of overrides, each with the key it comes from."""
    content = files.read_toml(file)
    digests = files.recorded_digests(file, content)
    for key, override in layers:
        content = files.overridden(content, override, key)
        with errors.at_key(key, errors.SimstudyError):
            checked_study(content, file.parent, f"study '{content['name']}'", digests=digests)
    return checked_study(content, file.parent, str(file), overrides, digests)


def _published(
    section: PublishedSection, studies: Mapping[str, Study], directory: Path, where: str
) -> Published:
    """Read printed values from a CSV file."""
    errors.demand_name(f"{where}.study", "no study", section.study, studies)
    study = studies[section.study]
    text = f"'{study.name}' is not a study of data sets"
    errors.refuse(not study.datasets, f"{where}.study", text)
    if section.measure:
        labels = study.measures.labels
        errors.demand_name(f"{where}.measure", "the study has no measure", section.measure, labels)
    values = _printed_values(directory / section.file, f"{where}.file")
    return Published(**section.model_dump(), values=values)


def _printed_values(file: Path, where: str) -> dict[str, dict[str, float]]:
    """The rows of a CSV file by their first column, its other columns by name."""
    try:
        errors.check_regular(file)
        with file.open(encoding="utf-8", newline="") as lines:
            rows = [*csv.reader(lines)]
    except (OSError, ValueError, csv.Error) as error:  # such as a null character in the path
        raise errors.KeyedError(where, f"{file} cannot be read: {errors.reason(error)}") from error
    errors.refuse(not rows, where, f"{file} is empty")
    values: dict[str, dict[str, float]] = {}
    for number, row in enumerate(rows[1:], 2):
        line, twice = f"{file}, line {number}", bool(row) and row[0] in values
        errors.refuse(twice, where, f"{line}: the row occurs twice")
        errors.refuse(
            len(row) != len(rows[0]), where, f"{line}: the row has a different number of values"
        )
        try:
            values[row[0]] = dict(zip(rows[0][1:], map(float, row[1:]), strict=True))
        except ValueError as error:
            raise errors.KeyedError(where, f"{line}: {error}") from error
    return values
