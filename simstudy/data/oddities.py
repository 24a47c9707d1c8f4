"""What is odd about a data set, in sentences."""

from __future__ import annotations

import numpy as np

from simstudy.arrays import FloatArray
from simstudy.data.assembly import DataSet
from simstudy.data.sample import Sample
from simstudy.data.schema import Variable
from simstudy.data.table import is_number, listed
from simstudy.texts import counted

_FEW_ROWS = 10  # fewer say nothing about identifiers


def oddities(data: DataSet) -> list[str]:
    """What a user should know before the data set is used; rows that were dropped first."""
    sample, texts = data.sample, data.dropped
    names = [variable.name for variable in sample.schema.variables if is_number(variable.name)]
    if names:
        texts.append(
            f"columns are named like values ({listed(names)}); does the file begin with the names "
            "of its columns?"
        )
    texts += suspected_markers(data)
    commas = [variable.name for variable in sample.schema.attributes if _commas(variable)]
    if commas:
        texts.append(f"numbers with a decimal comma are taken for labels: {listed(commas)}")
    kinds: dict[str, list[str]] = {"unknown": [], "constant": [], "unique": []}
    for place, variable in enumerate(sample.schema.attributes):
        if kind := _odd(variable, sample.values[:, place]):
            kinds[kind].append(variable.name)
    for kind, said in (
        ("unknown", "without a known value"),
        ("constant", "with a single value"),
        ("unique", "with a different value in each row, perhaps identifiers"),
    ):
        if kinds[kind]:
            number = counted(len(kinds[kind]), "attribute")
            texts.append(f"{number} {said}: {listed(kinds[kind])}")
    counts = sample.class_counts
    for rows, said in ((0, "without rows"), (1, "with one row")):
        found = [
            label
            for label, count in zip(sample.schema.target.values or (), counts, strict=True)
            if count == rows
        ]
        if found:
            texts.append(f"{counted(len(found), 'class', 'classes')} {said}: {listed(found)}")
    if repeated := _repeated(sample):
        texts.append(f"{counted(repeated, 'row')} equal to an earlier row")
    return texts


def suspected_markers(data: DataSet) -> list[str]:
    """Sentences about labels that look like markers of missing values among numbers."""
    return [
        f"'{name}' would be numeric but for {listed(values)}; a marker of missing values?"
        for name, values in data.almost_numeric.items()
    ]


def _commas(variable: Variable) -> bool:
    """Whether the labels are numbers with decimal commas."""
    values = variable.values or ()
    return any("," in value for value in values) and all(
        is_number(value.replace(",", ".", 1)) for value in values
    )


def _odd(variable: Variable, column: FloatArray) -> str:
    """Whether a column is never known, constant, or different in each row."""
    known = column[~np.isnan(column)]
    if not len(known):
        return "unknown"
    if (known == known[0]).all():
        return "constant"
    if len(known) < max(len(column), _FEW_ROWS) or len(np.unique(known)) < len(known):
        return ""
    # Measurements differ, too: numbers are taken for identifiers if they are whole and ascending.
    whole = variable.numeric and (known % 1 == 0).all() and (np.diff(known) > 0).all()
    return "unique" if whole or not variable.numeric else ""


def _repeated(sample: Sample) -> int:
    """The number of rows equal to an earlier one; missing values are equal."""
    rows = np.where(np.isnan(sample.values), np.inf, sample.values + 0.0)  # −0 is 0
    return len(rows) - len({row.tobytes() for row in rows})
