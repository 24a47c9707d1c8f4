"""The data sets of a study, read and split."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from simstudy.data.checks import oddities
from simstudy.data.files.assembly import ReadOptions
from simstudy.data.files.named import is_named, within
from simstudy.data.files.read import read_data_set
from simstudy.data.splits.files import read_splits
from simstudy.data.splits.resampling import Resampling, unfit_sizes
from simstudy.data.splits.schemes import Split
from simstudy.errors import KeyedError, SimstudyError, at_key, refuse
from simstudy.sources.tables import DataSet, Tables, splits_of
from simstudy.study.sections import DataSetSection

if TYPE_CHECKING:
    from simstudy.study.study import Study


def with_tables(study: Study, directory: Path) -> Study:
    """Read the data sets of a study and count its splits; raises `KeyedError`."""
    tables: list[DataSet] = []
    for index, section in enumerate(study.datasets):
        key = f"datasets[{index}]"
        table = _read(section, directory, key)
        twice = table.name in [earlier.name for earlier in tables]
        refuse(twice, f"{key}.name", f"two data sets are named '{table.name}'")
        tables.append(table)
    with at_key("resampling", ValueError):
        resampling = Resampling.of(study.resampling.model_dump(exclude_none=True))
    source, experiment = study.source, study.experiment
    assert isinstance(source, Tables)
    splits_in_file = _splits_in(resampling.splits, tables, directory)
    for index, table in enumerate(tables):
        notes = (*table.notes, *(_rare(table, resampling) if experiment.splits_data else ()))
        splits = splits_in_file.get(table.name) if experiment.splits_data else _whole(table)
        table = replace(table, notes=notes, splits=splits)
        try:
            splits = splits_of(table, study.seed, source.resampling)
        except ValueError as error:
            raise KeyedError(f"datasets[{index}]", f"'{table.name}': {error}") from error
        tables[index] = replace(table, least_rows=min(len(split.train) for split in splits))
        _check_sizes(tables[index], splits, resampling)
    return replace(study, source=Tables.of(tables, study.seed, source.resampling, source.sizes))


def _whole(table: DataSet) -> tuple[Split, ...]:
    """The only split of a data set all of whose rows are available."""
    return (Split(0, 0, np.full(len(table.sample), -1)),)


def _check_sizes(table: DataSet, splits: Sequence[Split], resampling: Resampling) -> None:
    """Refuse training sizes that a training part does not have."""
    part = min(splits, key=lambda split: len(split.train))
    where = f"training part in repeat {part.repeat}, fold {part.fold}"
    whose = "smallest training part" if table.sample.groups is None else where
    for size in unfit_sizes(resampling.sizes, table.least_rows):
        text = f"does not fit '{table.name}', whose {whose} has {table.least_rows} rows"
        raise KeyedError("resampling.sizes", f"{size} {text}")


def _rare(table: DataSet, resampling: Resampling) -> list[str]:
    """A sentence on the classes of a data set that are too rare to stratify, if there are any."""
    sample, scheme = table.sample, resampling.scheme
    note = scheme and scheme.rare_note(sample.target, sample.class_names, sample.groups)
    return [note] if note else []


def _splits_in(
    path: str | None, tables: Sequence[DataSet], directory: Path
) -> dict[str, tuple[Split, ...]]:
    """The splits that a file has, by data set; groups must not be in both parts of one."""
    if path is None:
        return {}
    with at_key("resampling.splits", SimstudyError):
        file = directory / path
        splits = {table.name: read_splits(file, len(table.sample), table.name) for table in tables}
    for table in tables:
        if (groups := table.sample.groups) is None:
            continue
        for split in splits[table.name]:
            both = np.isin(groups[split.test], groups[split.train])
            text = f"repeat {split.repeat}, fold {split.fold} of '{table.name}' tests row "
            text += f"{split.test[both.argmax()]}, and rows of the same group are in its training "
            refuse(both.any(), "resampling.splits", f"{text}part")
    return splits


def _read(section: DataSetSection, directory: Path, key: str) -> DataSet:
    try:
        path = within(directory, section.path)
        path = path if is_named(path) else Path(os.path.realpath(path))
    except ValueError as error:
        raise KeyedError(f"{key}.path", f"{section.path!r} is not a path: {error}") from error
    with at_key(key, SimstudyError):
        table = read_data_set(path, ReadOptions(**section.model_dump(exclude={"path", "name"})))
    name, counts = section.name or table.name, table.sample.class_counts
    if np.count_nonzero(counts) < 2:
        label = (table.sample.schema.target.values or ())[int(counts.argmax())]
        text = f"{path}: all rows belong to the class '{label}'; two classes are needed"
        raise KeyedError(key, text)
    return DataSet(name, path, table.sample, tuple(oddities(table)), keep=(*table.keep,))
