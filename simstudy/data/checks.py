"""Checks of tables: leaks (copies of the target), identifiers, repeated rows, odd values."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.files.assembly import RowsRead
from simstudy.data.files.columns import is_number, listed
from simstudy.data.preparation.discretize import cut_points
from simstudy.data.sample import Sample
from simstudy.data.schema import Variable
from simstudy.errors import SimstudyError
from simstudy.texts import counted

MIN_ROWS = 50
_FEW_ROWS = 100  # below which a warning is given
_FEW_OF_CLASS = 10
_FEW_KNOWN = 20  # known values, below which a column is not suspected to name rows
_ROWS_A_VALUE = 5  # of a column that is no identifier, and of a class
_FEW_CLASSES = 10
_HINT = "; leave out (ignore), unless known before the class (keep) or shared by rows that "
_HINT += "belong together (groups)"


@dataclass(frozen=True)
class Screening:
    """What would mislead learners in a table.

    Attributes
    ----------
    identifiers, copies, constants : tuple of str
        Columns with a different value in nearly every row, that determine the target, or have one
        value.
    repeated : int
        The number of rows that are equal to an earlier one; 0 if about as many would be by chance.
    classes : int
        The number of classes, if there are too many for the rows; otherwise 0.
    """

    identifiers: tuple[str, ...]
    copies: tuple[str, ...]
    constants: tuple[str, ...]
    repeated: int
    classes: int

    @property
    def suspects(self) -> tuple[str, ...]:
        """The columns that should be left out."""
        return (*self.identifiers, *self.copies, *self.constants)

    def sentences(self, left_out: bool = False) -> list[str]:
        """Say what was found; the columns are in use unless they are ``left_out``."""
        texts = []
        hint = "; left out unless named in keep" if left_out else _HINT
        for names, does, do, why, remark in (
            (self.copies, "determines", "determine", "the target, as if copied from it", hint),
            (self.identifiers, "names", "name", "the rows, as identifiers do", hint),
            (self.constants, "has", "have", "a single value or none", "; left out" * left_out),
        ):
            number = counted(len(names), f"column {does}", f"columns {do}")
            texts += [f"{number} {why}: {listed(names)}{remark}"] * bool(names)
        rows = f"{counted(self.repeated, 'row')} equal to an earlier row, target included; if "
        rows += "copies of one case are in the training and the test part, scores are too high"
        classes = f"the target has {self.classes:,} classes, fewer than {_ROWS_A_VALUE} rows for "
        classes += "each; is it a number, or another column the target?"
        return texts + [rows] * bool(self.repeated) + [classes] * bool(self.classes)


def screened(sample: Sample, keep: Collection[str] = ()) -> Screening:
    """Find what would mislead; columns in ``keep`` are suspected only if they have one value."""
    kinds: dict[str, list[str]] = {"identifier": [], "copy": [], "constant": []}
    for place, variable in enumerate(sample.schema.attributes):
        kind = _kind(sample.values[:, place], sample.target, variable.values is None)
        if kind and (variable.name not in keep or kind == "constant"):
            kinds[kind].append(variable.name)
    identifiers, copies, constants = map(tuple, kinds.values())
    repeated = _repeated(sample, identifiers)
    return Screening(identifiers, copies, constants, repeated, _many_classes(sample))


def check_usable(sample: Sample, screening: Screening, source: str) -> None:
    """Refuse rows from which nothing can be predicted."""
    rows, classes = counted(len(sample), "row"), int(np.count_nonzero(sample.class_counts))
    name = sample.schema.target.name
    if classes < 2:
        raise SimstudyError(f"{source}: all rows are of one class of '{name}'; two are needed")
    if _many_classes(sample):
        text = f"{source}: the target '{name}' has {classes:,} different values in {rows}; it is "
        text += "not a class with a few values. Is another column the target? If it is a number, "
        raise SimstudyError(f"{text}divide it into ranges first")
    if len(sample) < MIN_ROWS:
        text = f"{source} has {rows}, and advice needs at least {MIN_ROWS}: cross-validated "
        text += "scores on fewer rows are mostly chance, and so are predictions based on them"
        raise SimstudyError(text)
    if len(screening.suspects) == len(sample.schema.attributes):
        named = ", ".join(f"'{name}'" for name in screening.suspects)
        text = f"{source}: no attribute is left: {named} are identifiers, copies of the target or "
        raise SimstudyError(f"{text}of one value; use --keep for those that are not")


def _many_classes(sample: Sample) -> int:
    """The number of classes if there are too many for the rows, otherwise 0."""
    classes = int(np.count_nonzero(sample.class_counts))
    return classes if classes > _FEW_CLASSES and classes * _ROWS_A_VALUE > len(sample) else 0


def _kind(column: FloatArray, target: IntArray, numeric: bool) -> str:
    """What is wrong with a column; empty if nothing is."""
    present = ~np.isnan(column)
    values, classes = column[present], target[present]
    distinct, codes = np.unique(values, return_inverse=True)
    if (len(distinct) < 2 and present.all()) or not len(distinct):
        return "constant"
    rows = len(values)
    if rows >= _FEW_KNOWN and _identifies(values, distinct, numeric):
        return "identifier"
    if numeric and len(distinct) * _ROWS_A_VALUE > rows:
        changes = np.count_nonzero(np.diff(classes[np.argsort(values)]))
        if (changes + 1) * _ROWS_A_VALUE > rows:
            return ""  # no cuts make few intervals of one class each
        codes = np.searchsorted(cut_points(values, classes), values)
    return "copy" if 2 * rows >= len(column) and _determines(codes, classes) else ""


def _identifies(values: FloatArray, distinct: FloatArray, numeric: bool) -> bool:
    """Whether a column names rows: nearly all labels differ, or whole numbers count the rows."""
    if not numeric:
        return len(distinct) * 2 > len(values)
    if len(distinct) < len(values) or (distinct % 1 != 0).any():
        return False
    return bool((np.diff(values) > 0).all() or distinct[-1] - distinct[0] == len(values) - 1)


def _determines(codes: IntArray, target: IntArray) -> bool:
    """Whether every value of a column occurs with one class only, and often enough to tell."""
    width = int(target.max()) + 1
    cells = np.bincount(codes * width + target, minlength=(int(codes.max()) + 1) * width)
    table = cells.reshape(-1, width) > 0
    pure = table.sum(axis=1).max() == 1 and table.any(axis=0).sum() > 1
    return bool(pure and table.any(axis=1).sum() * _ROWS_A_VALUE <= len(target))


def equal_rows(sample: Sample, without: Collection[str] = ()) -> IntArray:
    """Number the rows from 0, those alike that are equal, target and gaps included.

    Columns ``without`` are not compared.
    """
    used = [each.name not in without for each in sample.schema.variables]
    rows = np.ascontiguousarray(_filled(sample.values[:, used]))
    whole = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    return np.unique(whole, return_inverse=True)[1]


def _repeated(sample: Sample, identifiers: Collection[str]) -> int:
    """The number of rows equal to an earlier one; 0 if chance may explain the pairs of equal rows.

    Expected by chance are the pairs of a class times the shares of them that are equal in each
    column: columns that are independent within classes. Chance may explain twice as many, and four
    standard errors.
    """
    numbers = np.bincount(equal_rows(sample, identifiers))
    if len(numbers) == len(sample):
        return 0
    pairs = _pairs(sample.class_counts)
    expected = pairs.astype(float)
    for place, variable in enumerate(sample.schema.attributes):
        if variable.name not in identifiers:
            codes = np.unique(_filled(sample.values[:, place]), return_inverse=True)[1]
            cells = np.bincount(codes * sample.classes + sample.target)
            cells.resize(int(codes.max()) + 1, sample.classes)
            expected *= _pairs(cells).sum(axis=0) / np.maximum(pairs, 1)
    most = 2 * expected.sum() + 4 * np.sqrt(expected.sum())
    return len(sample) - len(numbers) if _pairs(numbers).sum() > most else 0


def _filled(values: FloatArray) -> FloatArray:
    """Replace gaps by a value that no column has, and −0 by 0."""
    return np.where(np.isnan(values), np.inf, values + 0.0)


def _pairs(numbers: FloatArray | IntArray) -> FloatArray:
    return numbers * (numbers - 1) / 2


def few_rows(sample: Sample) -> list[str]:
    """Say where there are few rows, of all or of a class."""
    notes = []
    if len(sample) < _FEW_ROWS:
        text = f"With {len(sample)} rows all intervals are wide, and most differences between "
        notes.append(f"{text}learners cannot be found.")
    labels = zip(sample.class_names, sample.class_counts, strict=True)
    rare = [f"“{label}” ({count:.0f})" for label, count in labels if 0 < count < _FEW_OF_CLASS]
    if rare:
        shown = ", ".join(rare[:8]) + (", …" if len(rare) > 8 else "")
        number = counted(len(rare), "class has", "classes have")
        text = f"{number} fewer than {_FEW_OF_CLASS} rows ({shown})"
        notes.append(f"{text}: statements about rare classes rest on little data.")
    return notes


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
