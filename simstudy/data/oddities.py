"""What is odd about a data set, in sentences."""

from __future__ import annotations

from simstudy.data.assembly import DataSet
from simstudy.data.sample import Sample
from simstudy.data.schema import Variable
from simstudy.data.screening import Screening, screened
from simstudy.data.table import is_number, listed
from simstudy.texts import counted


def oddities(data: DataSet, left_out: Screening | None = None) -> list[str]:
    """What a user should know before the data set is used; rows that were dropped first.

    Columns that would mislead are in use, unless ``left_out`` names them.
    """
    sample, texts = data.sample, data.dropped
    names = [variable.name for variable in sample.schema.variables if is_number(variable.name)]
    if names:
        texts.append(
            f"columns are named like values ({listed(names)}); does the file begin with the names "
            "of its columns?"
        )
    texts += _markers(data)
    commas = [variable.name for variable in sample.schema.attributes if _commas(variable)]
    if commas:
        texts.append(f"numbers with a decimal comma are taken for labels: {listed(commas)}")
    screening = left_out or screened(sample, data.keep)
    return texts + screening.sentences(left_out is not None)


def rare_classes(sample: Sample) -> list[str]:
    """Say which classes have no rows, or one."""
    counts, texts = sample.class_counts, []
    for rows, said in ((0, "without rows"), (1, "with one row")):
        found = [
            label
            for label, count in zip(sample.schema.target.values or (), counts, strict=True)
            if count == rows
        ]
        if found:
            texts.append(f"{counted(len(found), 'class', 'classes')} {said}: {listed(found)}")
    return texts


def _markers(data: DataSet) -> list[str]:
    """Sentences about markers of missing values, and about what looks like one."""
    by_texts: dict[tuple[str, ...], list[str]] = {}
    for name, texts in data.markers.taken.items():
        by_texts.setdefault(texts, []).append(name)
    sentences = [
        f"{listed(texts)} among numbers is taken for a missing value: {listed(names)}"
        for texts, names in by_texts.items()
    ]
    suspected = data.markers.suspected
    sentences += [
        f"'{name}' would be numeric but for {listed(texts)}; a marker of missing values?"
        for name, texts in suspected.items()
    ]
    return sentences + [
        f"'{name}' has the label {listed(texts)}; a marker of missing values?"
        for name, texts in data.markers.labels.items()
        if name not in suspected
    ]


def _commas(variable: Variable) -> bool:
    """Whether the labels are numbers with decimal commas."""
    values = variable.values or ()
    return any("," in value for value in values) and all(
        is_number(value.replace(",", ".", 1)) for value in values
    )
