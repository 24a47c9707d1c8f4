"""What is odd about a data set, in sentences."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

import numpy as np

from simstudy.data.checks.leaks import Screening, screened
from simstudy.data.files.assembly import RowsRead
from simstudy.data.files.columns import is_number, listed
from simstudy.data.sample import Sample
from simstudy.data.schema import Variable
from simstudy.texts import counted


def oddities(data: RowsRead, left_out: Screening | None = None) -> list[str]:
    """What a user should know before the data set is used; rows that were dropped first.

    Columns that would mislead are in use, unless ``left_out`` names them.
    """
    sample, texts = data.sample, data.dropped
    names = [variable.name for variable in sample.schema.variables if is_number(variable.name)]
    if names:
        text = f"columns are named like values ({listed(names)}); does the file begin with the "
        texts.append(f"{text}names of its columns?")
    texts += _markers(data, left_out.identifiers if left_out else ())
    commas = [variable.name for variable in sample.schema.attributes if _commas(variable)]
    if commas:
        texts.append(f"numbers with a decimal comma are taken for labels: {listed(commas)}")
    screening = left_out or screened(sample, data.keep)
    # Labels most of which are numbers do not name the rows.
    names_rows = (name for name in screening.identifiers if name not in data.markers.suspected)
    screening = replace(screening, identifiers=tuple(names_rows))
    return texts + screening.sentences(left_out is not None)


def rare_classes(sample: Sample) -> list[str]:
    """Say which classes have no rows, or one."""
    texts, classes = [], np.array(sample.class_names)
    for rows, text in ((0, "without rows"), (1, "with one row")):
        rare = classes[sample.class_counts == rows].tolist()
        if rare:
            texts.append(f"{counted(len(rare), 'class', 'classes')} {text}: {listed(rare)}")
    return texts


def _markers(data: RowsRead, left_out: Collection[str]) -> list[str]:
    """Sentences about markers of missing values, and about what looks like one."""
    by_texts: dict[tuple[str, ...], list[str]] = {}
    for name, texts in data.markers.taken.items():
        by_texts.setdefault(texts, []).append(name)
    sentences = []
    for texts, names in by_texts.items():
        verb, gaps = ("is", "a missing value") if len(texts) == 1 else ("are", "missing values")
        sentences.append(f"{_quoted(texts)} among numbers {verb} taken for {gaps}: {listed(names)}")
    for name, (texts, share) in data.markers.suspected.items():
        them, they = ("it", "it marks") if len(texts) == 1 else ("them", "they mark")
        percent = f"{share:.0%}" if share >= 0.01 else "less than 1%"
        text = f"'{name}' would be numeric but for {_quoted(texts)} ({percent} of the rows); name "
        text += f"{them} in missing_values if {they} missing values"
        sentences.append(text + "; left out unless named in keep" * (name in left_out))
    for name, texts in data.markers.labels.items():
        if name not in data.markers.suspected:
            labels, markers = ("label", "a marker") if len(texts) == 1 else ("labels", "markers")
            question = f"{markers} of missing values?"
            sentences.append(f"'{name}' has the {labels} {_quoted(texts)}; {question}")
    return sentences


def _quoted(texts: Iterable[str]) -> str:
    return listed(f"'{text}'" for text in texts)


def _commas(variable: Variable) -> bool:
    """Whether the labels are numbers with decimal commas."""
    values = variable.values or ()
    return "," in "".join(values) and all(is_number(value, comma=True) for value in values)
