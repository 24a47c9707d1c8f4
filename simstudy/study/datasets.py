"""The data sets of a study, read and split."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simstudy.data.assembly import ReadOptions
from simstudy.data.files import read_data_set
from simstudy.data.oddities import oddities
from simstudy.data.preparation import Preparation
from simstudy.data.resampling import Resampling, Split, fitting_sizes
from simstudy.data.split_files import read_splits
from simstudy.errors import SimstudyError
from simstudy.sources.tables import DataSet, Tables, splits_of
from simstudy.study.explain import KeyedError
from simstudy.study.sections import DataSetSection, PreparationSection, ResamplingSection
from simstudy.study.spec import Spec

if TYPE_CHECKING:
    from simstudy.learners.base import Learner
    from simstudy.study.study import Study


def with_tables(study: Study, directory: Path) -> Study:
    """Read the data sets of a study and count its splits; raises `KeyedError`."""
    tables: list[DataSet] = []
    for index, section in enumerate(study.datasets):
        key = f"datasets[{index}]"
        table = _read(section, directory, key)
        if table.name in [other.name for other in tables]:
            raise KeyedError(f"{key}.name", f"two data sets are named '{table.name}'")
        tables.append(table)
    resampling, source = _resampling(study.resampling), study.source
    assert isinstance(source, Tables)
    given = _given_splits(resampling.splits, tables, directory)
    for index, table in enumerate(tables):
        tables[index] = table = replace(
            table, notes=(*table.notes, *_rare(table, resampling)), splits=given.get(table.name)
        )
        try:
            splits = splits_of(table, study.seed, source.resampling)
        except ValueError as error:
            raise KeyedError(f"datasets[{index}]", f"'{table.name}': {error}") from error
        tables[index] = replace(table, least_rows=min(len(split.train) for split in splits))
        _check_sizes(tables[index], splits, resampling)
    made = Tables.of(tables, study.seed, source.resampling, source.sizes)
    return replace(study, source=made)


def _check_sizes(table: DataSet, splits: Sequence[Split], resampling: Resampling) -> None:
    """Refuse training sizes that a training part does not have."""
    _, others = fitting_sizes(resampling.sizes, table.least_rows)
    if not others:
        return
    part = min(splits, key=lambda split: len(split.train))
    where = f"training part in repeat {part.repeat}, fold {part.fold}"
    whose = "smallest training part" if table.sample.groups is None else where
    raise KeyedError(
        "resampling.sizes",
        f"{others[0]} does not fit '{table.name}', whose {whose} has {table.least_rows} rows",
    )


def _rare(table: DataSet, resampling: Resampling) -> list[str]:
    """A sentence on the classes of a data set that are too rare to stratify, if there are any."""
    if resampling.scheme is None:
        return []
    sample, labels = table.sample, table.sample.class_names
    note = resampling.scheme.rare_note(sample.target, labels, sample.groups)
    return [note] if note else []


def _resampling(given: ResamplingSection) -> Resampling:
    try:
        return Resampling.of(given.model_dump(exclude_none=True))
    except ValueError as error:
        raise KeyedError("resampling", str(error)) from error


def _given_splits(
    path: str | None, tables: Sequence[DataSet], directory: Path
) -> dict[str, tuple[Split, ...]]:
    """The splits that a file gives, by data set."""
    if path is None:
        return {}
    try:
        file = directory / path
        given = {one.name: read_splits(file, len(one.sample), one.name) for one in tables}
    except SimstudyError as error:
        raise KeyedError("resampling.splits", str(error)) from error
    for table in tables:
        _check_groups(table, given[table.name])
    return given


def _check_groups(table: DataSet, splits: Sequence[Split]) -> None:
    """Refuse splits that have rows of one group in both parts."""
    if (groups := table.sample.groups) is None:
        return
    for split in splits:
        both = np.isin(groups[split.test], groups[split.train])
        if both.any():
            row = int(split.test[both.argmax()])
            raise KeyedError(
                "resampling.splits",
                f"repeat {split.repeat}, fold {split.fold} of '{table.name}' tests row {row}, and "
                "rows of the same group are in its training part",
            )


def _read(section: DataSetSection, directory: Path, key: str) -> DataSet:
    options: dict[str, Any] = section.model_dump(exclude={"path", "name"})
    try:
        path = Path(os.path.realpath(directory / section.path))
    except ValueError as error:
        raise KeyedError(f"{key}.path", f"{section.path!r} is not a path: {error}") from error
    try:
        found = read_data_set(path, ReadOptions(**options))
    except SimstudyError as error:
        raise KeyedError(key, str(error)) from error
    name, counts = section.name or path.name.split(".")[0], found.sample.class_counts
    if np.count_nonzero(counts) < 2:
        label = (found.sample.schema.target.values or ())[int(counts.argmax())]
        raise KeyedError(key, f"{path}: all rows are of the class '{label}'; two are needed")
    return DataSet(name, path, found.sample, tuple(oddities(found)))


def prepared_for(
    spec: Spec, of_study: PreparationSection, learner: Learner
) -> tuple[Preparation, frozenset[str]]:
    """How rows are prepared for a learner, and what it is then taken to accept.

    What the learner's own section asks for is done even if the learner could do without.
    """
    own = spec.stated_preparation
    preparation = Preparation(**(of_study.model_dump() if own is None else own))
    accepts: frozenset[str] = getattr(learner, "accepts", frozenset())
    asked = own or {}
    if "discretize" in asked and preparation.discretize != "none":
        accepts -= {"numeric"}
    if "missing" in asked and preparation.missing != "ignore":
        accepts -= {"missing"}
    return preparation, accepts
