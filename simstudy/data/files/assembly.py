"""Data sets made of tables: what the columns are, and which rows are used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from simstudy.arrays import FloatArray, IntArray, read_only
from simstudy.data.files import columns
from simstudy.data.files.columns import NOMINAL, NUMERIC, Coder, Column, Declaration, RawTable
from simstudy.data.sample import Sample
from simstudy.data.schema import Schema, Variable
from simstudy.errors import SimstudyError, suggestion
from simstudy.texts import counted

# Keys that cannot name the same column.
_CONTRADICTIONS = {"target": "groups ignore numeric", "groups": "ignore", "keep": "ignore"}
_CONTRADICTIONS |= {"nominal": "numeric", "values": "numeric"}
_MAX_NUMBERS = 50  # different ones of a target that is not declared nominal


@dataclass(frozen=True)
class ReadOptions:
    """How a file is read: the keywords of `read_data`.

    Names may be of any type that has a text, one name may stand for a list of one.
    """

    target: str | None = None
    nominal: Sequence[str] = ()
    numeric: Sequence[str] = ()
    ignore: Sequence[str] = ()
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    missing_values: Sequence[str] | None = None
    groups: str | None = None
    classes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    separator: str | None = None
    encoding: str | None = None
    keep: Sequence[str] = ()

    def __post_init__(self) -> None:
        keys = vars(self)
        for key in ("target", "groups", "separator", "encoding"):
            if keys[key] is not None:
                object.__setattr__(self, key, *_names(key, (keys[key],)))
        for key in ("nominal", "numeric", "ignore", "keep", "missing_values"):
            if key != "missing_values" or keys[key] is not None:
                object.__setattr__(self, key, _names(key, keys[key]))
        for key in ("values", "classes"):
            mapping = keys[key]
            if not isinstance(mapping, Mapping):
                kind = type(mapping).__name__
                raise SimstudyError(f"{key} must be a mapping from names to lists, not a {kind}")
            lists = {}
            for name, names in zip(_names(key, [*mapping]), mapping.values(), strict=True):
                if key == "values" and isinstance(names, str):
                    raise SimstudyError(f"values.{name}: it must be a list of values, not a text")
                lists[name] = _names(f"{key}.{name}", names)
            object.__setattr__(self, key, lists)


@dataclass(frozen=True)
class RowsRead:
    """Rows that were read, and what was left out.

    Attributes
    ----------
    source : str
        The file.
    sample : Sample
        The rows.
    rows : array
        The place of each of them in the file, counted from 0.
    without_target : tuple of str
        The rows dropped because their target is missing, as in "line 3".
    other_classes : mapping
        The number of rows dropped of each class that `classes` does not name.
    markers : Markers
        Texts that were taken for missing values, or may represent them.
    keep : tuple of str
        Columns that are not identifiers or leaks, according to the caller.
    refusal : str
        Why the target cannot be used, if the data set is only to be described; empty otherwise.
    name : str
        What the data set is called.
    target_rule : str
        How the target was found; empty if it was stated.
    """

    source: str
    sample: Sample
    rows: IntArray
    without_target: tuple[str, ...]
    other_classes: Mapping[str, int]
    markers: columns.Markers = field(default_factory=columns.Markers)
    keep: Sequence[str] = ()
    refusal: str = ""
    name: str = ""
    target_rule: str = ""

    @property
    def target_note(self) -> list[str]:
        """A sentence about the target, unless it was stated."""
        target = self.sample.schema.target.name
        text = f"The target is '{target}', {self.target_rule}."
        return [text] if self.target_rule else []

    @property
    def dropped(self) -> list[str]:
        """Sentences about the rows that are left out."""
        texts = []
        if self.without_target:
            number, places = counted(len(self.without_target), "row"), self.without_target
            texts.append(f"{number} without a target dropped: {columns.listed(places)}")
        if self.other_classes:
            number = counted(sum(self.other_classes.values()), "row")
            named = [f"'{label}' ({count:,})" for label, count in self.other_classes.items()]
            texts.append(f"{number} of other classes dropped: {columns.listed(named)}")
        return texts


@dataclass
class Assembly:
    """Makes a data set of a table."""

    table: RawTable
    reading: ReadOptions
    catalogued: Mapping[str, Declaration]
    describe: bool = False  # whether a target of many numbers is noted, not refused

    def data_set(self) -> RowsRead:
        """Return the rows with a target; raise an error if there is nothing to learn from."""
        table, reading = self.table, self.reading
        self._check_keys()
        attributes = self._columns
        if not attributes:
            raise table.error("no column is left for the target")
        target = attributes.pop([column.name for column in attributes].index(self._target[0]))
        if not attributes:
            besides = f"the target '{target.name}'{table.remark}"
            raise table.error(f"there is no attribute besides {besides}")
        if not table.rows:
            raise table.error("there are no rows")
        coder = Coder(table, reading.missing_values)
        label, classes = coder.code(target, self._declared(target, NOMINAL))
        without = np.flatnonzero(np.isnan(classes))
        if len(without) == table.rows:
            raise table.error(f"the target '{label.name}' is missing in every row")
        refusal = self._refusal(target, label)
        if refusal and not self.describe:
            raise table.error(refusal)
        label, classes, dropped = self._joined(label, classes)
        if label.card < 2:
            only = columns.shown((label.values or ("",))[0])
            raise table.error(f"the target '{label.name}' has one class, {only}; two are needed")
        coded = [coder.code(column, self._declared(column)) for column in attributes]
        if all(np.isnan(numbers).all() for _, numbers in coded):
            raise table.error("every value of every attribute is missing")
        kept = np.flatnonzero(~np.isnan(classes))
        if not len(kept):
            raise table.error("no row has a class that 'classes' names")
        variables, numbers = zip(*coded, (label, classes), strict=True)
        values = np.empty((len(kept), len(variables)), order="F")
        for column, held in enumerate(numbers):
            values[:, column] = held[kept]
        sample = Sample.of(values, Schema(variables))
        sample.groups = self._groups(coder, kept)
        places = tuple(table.place(int(row)) for row in without)
        notes = (coder.noted, reading.keep, refusal, table.name)
        return RowsRead(table.source, sample, kept, places, dropped, *notes)

    @property
    def _columns(self) -> list[Column]:
        """The columns of attributes and target."""
        left_out = (*self.reading.ignore, self.reading.groups)
        return [column for column in self.table.columns if column.name not in left_out]

    @property
    def _target(self) -> list[str]:
        """The name of the target, by default the last column; none if no column is left."""
        if self.reading.target is not None:
            return [self.reading.target]
        return [column.name for column in self._columns[-1:]]

    def _check_keys(self) -> None:
        """Refuse names of columns that are not there, and contradictions."""
        table, reading = self.table, self.reading
        names = [column.name for column in table.columns]
        for name, number in Counter(names).items():
            if not name.strip():
                raise table.error(f"column {names.index(name) + 1} has no name")
            if number > 1:
                raise table.error(f"{number} columns are named '{name}'")
        groups = [] if reading.groups is None else [reading.groups]
        keys: dict[str, Iterable[str]] = {"target": self._target, "groups": groups}
        keys |= {key: vars(reading)[key] for key in ("ignore", "keep", "nominal", "numeric")}
        keys["values"] = reading.values
        for key, stated in keys.items():
            for name in stated:
                if name not in names:
                    raise table.error(f"{key} names the column '{name}'{_among(name, names)}")
        for first, contradictions in _CONTRADICTIONS.items():
            for second in contradictions.split():
                if both := {*keys[first]} & {*keys[second]}:
                    raise table.error(f"'{min(both)}' cannot be both {first} and {second}")
        for name, values in reading.values.items():
            if len({*values}) < len(values):
                raise table.error(f"the values of '{name}' must be a list of different values")

    def _declared(self, column: Column, kind: str | None = None) -> Declaration:
        """What is known of a column: from the caller, the catalogue, or the file."""
        reading, name = self.reading, column.name
        if name in reading.values:
            return Declaration(NOMINAL, tuple(reading.values[name]))
        if name in reading.numeric:
            return Declaration(NUMERIC, explicit=True)
        declared = self.catalogued.get(name, Declaration(column.kind, column.values))
        if name in reading.nominal:
            kind = NOMINAL
        if kind not in (None, declared.kind):
            return Declaration(kind)
        values = declared.values or ()
        if len({*values}) < len(values):
            raise self.table.error("two of its values are written alike", None, name)
        return declared

    def _refusal(self, column: Column, label: Variable) -> str:
        """Why numbers cannot be the target; empty if they are declared as classes."""
        labels = [text for text in label.values or () if not columns.is_marker(text)]
        stated = self._declared(column).kind == NOMINAL or self.reading.classes
        few = len(labels) <= _MAX_NUMBERS
        if few or stated or not all(columns.is_number(text, comma=True) for text in labels):
            return ""
        text = f"the target '{label.name}' has {len(labels):,} different numbers, more than "
        text += f"{_MAX_NUMBERS}; name another column in target, or declare it nominal "
        return f"{text}or give classes if they are classes, or divide it into ranges"

    def _joined(
        self, label: Variable, codes: FloatArray
    ) -> tuple[Variable, FloatArray, dict[str, int]]:
        """Join classes; the codes of classes that are not named become NaN and are counted."""
        if not (classes := self.reading.classes):
            return label, codes, {}
        old, new = list(label.values or ()), np.full(label.card, np.nan)
        for place, (name, joined) in enumerate(classes.items()):
            if not joined:
                raise self.table.error(f"classes.{name} names no class")
            for each in joined:
                if each not in old:
                    wrong = f"classes.{name} names the class '{each}'{_among(each, old)}"
                    raise self.table.error(wrong)
                if not np.isnan(new[old.index(each)]):
                    raise self.table.error(f"classes names the class '{each}' twice")
                new[old.index(each)] = place
        present = ~np.isnan(codes)
        places = codes[present].astype(np.intp)
        counts = np.bincount(places, minlength=label.card)
        unnamed = np.flatnonzero(np.isnan(new) & (counts > 0))
        dropped = {old[code]: int(counts[code]) for code in unnamed}
        recoded = codes.copy()
        recoded[present] = new[places]
        return Variable(label.name, tuple(classes)), recoded, dropped

    def _groups(self, coder: Coder, kept: IntArray) -> IntArray | None:
        """The group of each row that is kept."""
        name = self.reading.groups
        if name is None:
            return None
        column = next(column for column in self.table.columns if column.name == name)
        groups = coder.code(column, Declaration(NOMINAL))[1][kept]
        if np.isnan(groups).any():
            raise self.table.error("the group is missing", int(kept[np.isnan(groups)][0]), name)
        return read_only(groups.astype(np.intp))


def _among(name: str, names: Sequence[str]) -> str:
    """A suggestion for a name that is not there."""
    return f", which is not there{suggestion(name, names) if names else ''}"


def _names(key: str, names: object) -> tuple[str, ...]:
    """Return one name or several as a tuple of texts; ``key`` is what an error is about."""
    if isinstance(names, str):
        return (names,)
    try:
        return tuple(map(str, names))  # type: ignore[call-overload]
    except TypeError:
        why = f"it must be a list of names, not a {type(names).__name__}"
    except ValueError:
        why = "it has a number of too many digits"
    raise SimstudyError(f"{key}: {why}")
