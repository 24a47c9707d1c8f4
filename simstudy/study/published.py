"""Printed values of a measure on data sets, read beside a list of studies."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simstudy.errors import check_regular, reason, suggestion
from simstudy.study.explain import KeyedError
from simstudy.study.study import Study


@dataclass(frozen=True)
class Published:
    """Printed values of a measure, by data set and learner.

    Attributes
    ----------
    study, measure : str
        The study that they are compared with, and the measure; the primary one if empty.
    values : dict
        By data set, by learner.
    source : str
        Where they are printed.
    leave_out : list of str
        Data sets that are not the same as those of the study.
    notes : dict
        By data set: why values differ.
    tolerance : float
        The largest difference that needs no note.
    """

    study: str
    measure: str
    values: dict[str, dict[str, float]]
    source: str = ""
    leave_out: list[str] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)
    tolerance: float = 0.05


def read_published(
    given: Mapping[str, Any], studies: Sequence[Study], directory: Path, where: str
) -> Published:
    """Read printed values from a CSV file; raises `KeyedError`."""
    known = {study.name: study for study in studies}
    if given["study"] not in known:
        text = f"no study '{given['study']}'{suggestion(given['study'], known)}"
        raise KeyedError(f"{where}.study", text)
    study = known[given["study"]]
    if not study.datasets:
        raise KeyedError(f"{where}.study", f"'{study.name}' is not a study of data sets")
    measures = study.measures.labels
    if given["measure"] and given["measure"] not in measures:
        text = f"the study has no measure '{given['measure']}'"
        raise KeyedError(f"{where}.measure", text + suggestion(given["measure"], measures))
    about = {key: value for key, value in given.items() if key != "file"}
    return Published(values=_values(directory / given["file"], f"{where}.file"), **about)


def _values(file: Path, where: str) -> dict[str, dict[str, float]]:
    """The rows of a CSV file by their first column, its other columns by name."""
    try:
        check_regular(file)
        with file.open(encoding="utf-8", newline="") as lines:
            rows = [*csv.reader(lines)]
    except (OSError, ValueError, csv.Error) as error:  # such as a null character in the path
        raise KeyedError(where, f"{file} cannot be read: {reason(error)}") from error
    if not rows:
        raise KeyedError(where, f"{file} is empty")
    found: dict[str, dict[str, float]] = {}
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(rows[0]) or row[0] in found:
            what = "is there twice" if row and row[0] in found else "has another length"
            raise KeyedError(where, f"{file}, line {number}: the row {what}")
        try:
            found[row[0]] = dict(zip(rows[0][1:], map(float, row[1:]), strict=True))
        except ValueError as error:
            raise KeyedError(where, f"{file}, line {number}: {error}") from error
    return found
