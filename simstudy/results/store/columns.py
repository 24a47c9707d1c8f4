"""The cells of a study as columns and as parquet tables."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from simstudy.engine.evaluation import unpack
from simstudy.engine.plan import Plan
from simstudy.engine.task import Cell
from simstudy.study.constants import ANSWERS, FAILURES, REFINED, SCORES, TIMINGS
from simstudy.texts import csv_value

if TYPE_CHECKING:
    import pyarrow as pa

    from simstudy.arrays import AnyArray
    from simstudy.study.study import Study

_Columns: TypeAlias = "dict[str, list[str] | AnyArray]"


class Places:
    """The position of each cell of a plan, ordered by model, size and learner."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.keys = [(size, spec.label) for size in plan.doses for spec in plan.treatments]
        self._places = {key: place for place, key in enumerate(self.keys)}
        self._measures = len(plan.columns)

    def of(self, cell: Cell) -> int | None:
        """The position of a cell; None if it does not belong to the plan, or lacks a part."""
        place = self._places.get((cell.size, cell.learner))
        if place is None or not 0 <= cell.model < self.plan.problems:
            return None
        if len(cell.values) != self._measures or not is_readable(self.plan, cell):
            return None
        return cell.model * len(self.keys) + place


def is_readable(plan: Plan, cell: Cell) -> bool:
    """Whether a cell has, besides its scores, what the study keeps; a failed cell keeps nothing.

    A cell whose line is whole may still hold anything.
    """
    if not (plan.keep_answers or plan.experiment.keeps):
        return True
    if cell.status != "ok":
        return not cell.answers
    try:
        if plan.keep_answers:
            unpack(cell.answers)
        else:
            plan.experiment.task_class.unpacked(plan, cell.answers)
    except ValueError:
        return False
    return True


class Columns:
    """The cells of a plan as arrays, which need far less memory than objects."""

    def __init__(self, plan: Plan) -> None:
        self._plan, self._places = plan, Places(plan)
        self.present = np.zeros(plan.cells, dtype=bool)  # which cells were added
        self.values = np.full((plan.cells, len(plan.columns)), np.nan)
        self.failed: dict[int, Cell] = {}  # by position
        self._seconds = np.full((plan.cells, 2), np.nan)
        self._warnings: dict[int, str] = {}
        self._answers: dict[int, str] = {}

    def add(self, cell: Cell) -> None:
        """Add or replace a cell; one that does not belong to the plan is ignored."""
        place = self._places.of(cell)
        if place is None:
            return
        for earlier in (self.failed, self._warnings, self._answers):
            earlier.pop(place, None)
        self.present[place] = True
        self.values[place] = cell.values
        self._seconds[place] = cell.fit_seconds, cell.predict_seconds
        if cell.status != "ok":
            self.failed[place] = cell
        if cell.warning:
            self._warnings[place] = cell.warning
        if cell.answers:
            self._answers[place] = cell.answers

    def failures(self) -> list[Cell]:
        """The cells that failed, in their order."""
        return [self.failed[place] for place in sorted(self.failed)]

    def warnings(self) -> Counter[str]:
        """How often each learner gave each warning."""
        labels = [label for _, label in self._places.keys]
        ordered = sorted(self._warnings.items())
        return Counter(f"{labels[place % len(labels)]}: {text}" for place, text in ordered)

    def scores(self, only: Mapping[int, Collection[str]] | None = None) -> pa.Table:
        """One row per cell, or only those of some sizes and learners."""
        names, cells = self._plan.source.score_keys(), len(self.present)
        columns: _Columns = {key: [text] * cells for key, text in names.items()}
        columns |= self._keys()
        columns |= {c.name: v for c, v in zip(self._plan.columns, self.values.T, strict=True)}
        status = ["ok"] * cells
        for place, cell in self.failed.items():
            status[place] = cell.status
        table = _table(columns | {"status": status})
        if only is None:
            return table
        named = [label in only.get(size, ()) for size, label in self._places.keys]
        return table.take(_array(np.flatnonzero(np.tile(named, self._plan.problems))))

    def timings(self) -> pa.Table:
        """Seconds that each cell took; not reproducible, so separate from the scores."""
        fit, predict = self._seconds.T
        return _table(self._keys() | {"fit_seconds": fit, "predict_seconds": predict})

    def _keys(self) -> _Columns:
        plan, keys = self._plan, self._places.keys
        named = {"model": np.arange(plan.problems, dtype=np.int64), **plan.source.keys()}
        columns: _Columns = {}
        for name in plan.source.key_columns:
            if isinstance(values := named[name], list):
                columns[name] = [text for text in values for _ in keys]
            else:
                columns[name] = np.repeat(values, len(keys))
        columns["size"] = plan.source.row_counts([size for size, _ in keys]).ravel()
        return columns | {"learner": [label for _, label in keys] * plan.problems}

    def answers(self) -> pa.Table:
        """The predictions that were kept: one row per cell and test row."""
        import pyarrow as pa

        if not self._answers:
            return _table({})
        places = sorted(self._answers)
        rows, target, proba = zip(*(unpack(self._answers[place]) for place in places), strict=True)
        lengths = [len(each) for each in rows]
        classes = np.repeat([each.shape[1] for each in proba], lengths)
        ends = np.append(0, classes).cumsum(dtype=np.int32)
        values = _array(np.concatenate([each.ravel() for each in proba]))
        buffers = [None, pa.py_buffer(ends)]
        kind = pa.list_(pa.float64())
        lists = pa.ListArray.from_buffers(kind, len(classes), buffers, children=[values])
        keys = _table(self._keys()).take(_array(np.repeat(places, lengths)))
        if len(self._plan.source.key_columns) > 1:
            keys = keys.drop_columns("model")  # a split is named by the others
        for name, parts in (("row", rows), ("target", target)):
            keys = keys.append_column(name, _array(np.concatenate(parts)))
        return keys.append_column("probabilities", lists)

    def kept(self) -> pa.Table:
        """What the cells keep in addition to their scores."""
        kept_columns = self._plan.experiment.task_class.kept_columns
        return _table(kept_columns(self._plan, self._places.keys, self._answers))


def cell_files(study: Study | Plan) -> dict[str, Callable[[Columns], bytes]]:
    """Every file of results that is made from the cells of a study, and what makes its content.

    All of them have a checksum in the manifest, which is compared when they are read; `run` makes
    them again from the journal. Sizes added by refining have a file of their own: see
    `written_files`.
    """
    files: dict[str, Callable[[Columns], bytes]] = {
        SCORES: lambda cells: parquet(cells.scores()),
        TIMINGS: lambda cells: parquet(cells.timings()),
        FAILURES: lambda cells: failures_csv(cells.failures()),
    }
    if study.keep_answers:
        files[ANSWERS] = lambda cells: parquet(cells.answers())
    if study.experiment.keeps:
        files[study.experiment.keeps] = lambda cells: parquet(cells.kept())
    return files


def written_files(study: Study | Plan, manifest: Mapping[str, object]) -> list[str]:
    """Return the names of all files that results have from cells, those of refining included."""
    return [*cell_files(study), *([REFINED] if manifest.get("refined") else [])]


def failures_csv(failures: Sequence[Cell]) -> bytes:
    """Failed cells as the content of a CSV file."""
    columns = ["model", "size", "learner", "status", "error", "stream", "traceback"]
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([csv_value(getattr(cell, key)) for key in columns] for cell in failures)
    return text.getvalue().encode(errors="backslashreplace")


# Built from buffers: from lists or arrays, pyarrow would import pandas.


def _table(columns: Mapping[str, list[str] | AnyArray]) -> pa.Table:
    import pyarrow as pa

    return pa.Table.from_arrays([*map(_array, columns.values())], names=[*columns])


def _array(values: list[str] | AnyArray) -> pa.Array:
    import pyarrow as pa

    if not isinstance(values, list):
        array = np.ascontiguousarray(values)
        kind = pa.from_numpy_dtype(array.dtype)
        return pa.Array.from_buffers(kind, len(array), [None, pa.py_buffer(array)], null_count=0)
    encoded = [text.encode() for text in values]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(values), buffers, null_count=0)


def parquet(table: pa.Table) -> bytes:
    """A table as the content of a parquet file.

    Lists of probabilities hardly repeat: a dictionary of them would double the time of reading.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    plain = [field.name for field in table.schema if not pa.types.is_list(field.type)]
    buffer = io.BytesIO()
    pq.write_table(table, buffer, use_dictionary=plain)
    return buffer.getvalue()
