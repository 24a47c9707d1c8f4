"""Data sets as sources of problems: each split is one, and the truth is not known."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.components.registry import DATA, Spec
from simstudy.data.files.named import is_named
from simstudy.data.sample import Sample
from simstudy.data.sizes import Size
from simstudy.data.splits.resampling import Resampling, nested_subsets
from simstudy.data.splits.schemes import Split
from simstudy.engine.evaluation import SAMPLED, Evaluation, Trial, pack, unpack
from simstudy.engine.seeds import stream
from simstudy.measures.positive_class import rarest
from simstudy.sources.models import prepared_sets
from simstudy.sources.source import Problem, Source

if TYPE_CHECKING:
    from simstudy.engine.plan import Plan
    from simstudy.learners.base import Learner


@dataclass(frozen=True, eq=False)
class DataSet:
    """A table to learn from: its rows, where they come from, and what is odd about them."""

    name: str
    path: Path
    sample: Sample
    notes: tuple[str, ...] = ()
    splits: tuple[Split, ...] | None = field(default=None, repr=False)  # if given by a file
    least_rows: int = 0  # of a training part, for checks of the design
    keep: tuple[str, ...] = ()  # columns that are known before the class

    @property
    def facts(self) -> dict[str, float]:
        """Rows, attributes, how many are numeric, classes, and the share of missing values."""
        sample, values = self.sample, self.sample.values[:, :-1]
        facts = dict(zip(("rows", "attributes"), values.shape, strict=True))
        facts |= {"numeric": len(sample.schema.numeric), "classes": sample.classes}
        return facts | {"missing": float(np.isnan(values).mean()) if values.size else 0.0}

    @cached_property
    def remarks(self) -> list[str]:
        """What is odd about it, with what quick learners find."""
        from simstudy.data.quick_check import quick_check

        return [*self.notes, *quick_check(self.sample, self.keep, stream(0, "data", 0, "check"))]

    @cached_property
    def digest(self) -> str:
        """A digest of the columns and rows, whatever the file is called."""
        content = hashlib.sha256(repr(self.sample.schema).encode())
        values = self.sample.values
        values = np.where(np.isnan(values), np.nan, values)  # NaNs can differ in their bits
        content.update(np.ascontiguousarray(values).tobytes())
        if self.sample.groups is not None:
            content.update(repr(self.sample.groups.tolist()).encode())
        for split in self.splits or ():
            content.update(repr((split.repeat, split.fold)).encode())
            content.update(split.train.tobytes() + b"|" + split.test.tobytes())
        return content.hexdigest()

    @property
    def identity(self) -> str:
        """What it is called in random streams: by its content only."""
        return json.dumps(["data", self.digest])


class Part(NamedTuple):
    """One split of a data set."""

    dataset: str
    number: int  # among the splits of its data set
    repeat: int
    fold: int
    train: int  # rows
    test: int


@dataclass(frozen=True)
class Tables(Source):
    """The splits of data sets.

    Attributes
    ----------
    sections : int
        The number of data sets.
    resampling : str
        How they are split, as canonical JSON.
    sizes : tuple of Size
        The training sizes.
    digests : tuple of (str, str)
        The names and digests of the data sets, once read.
    parts : tuple of Part
        All splits of all data sets.
    tables : tuple of DataSet
        The data sets as read; none in results that are opened.
    """

    problem_word = "split"
    unit = "data set"
    knows_truth = False
    prepares = True
    identity = name = DATA
    key_columns = ("dataset", "model", "repeat", "fold")

    sections: int
    resampling: str
    sizes: tuple[Size, ...]
    digests: tuple[tuple[str, str], ...] = ()
    parts: tuple[Part, ...] = ()
    tables: tuple[DataSet, ...] = field(default=(), compare=False, repr=False)

    @classmethod
    def of(
        cls, tables: Sequence[DataSet], seed: int, resampling: str, sizes: Sequence[Size]
    ) -> Tables:
        """Return the source of data sets that were read."""
        parts = tuple(
            Part(table.name, at, split.repeat, split.fold, len(split.train), len(split.test))
            for table in tables
            for at, split in enumerate(splits_of(table, seed, resampling))
        )
        digests = tuple((table.name, table.digest) for table in tables)
        return cls(len(tables), resampling, tuple(sizes), digests, parts, tuple(tables))

    @property
    def count(self) -> int:
        """The number of splits."""
        return len(self.parts)

    @property
    def units(self) -> int:
        """The number of data sets."""
        return self.sections

    def sent(self, family: Spec | None) -> Tables:
        """Return itself, which is built in."""
        return self

    def score_keys(self) -> dict[str, str]:
        """Return nothing: data sets are named with each split."""
        return {}

    def train_sizes(self, stated: Sequence[int]) -> tuple[int, ...]:
        """Return the sizes of the resampling."""
        return tuple(size.number for size in self.sizes)

    @property
    def is_stated(self) -> bool:
        """Whether the splits are known."""
        return bool(self.parts)

    def first(self, number: int) -> Tables:
        """Return the source of the first splits."""
        return replace(self, parts=self.parts[:number])

    def table(self, index: int) -> DataSet:
        """Return the data set of a split."""
        name = self.parts[index].dataset
        return next(table for table in self.tables if table.name == name)

    def split(self, seed: int, index: int) -> Split:
        """Return the rows of a split."""
        return splits_of(self.table(index), seed, self.resampling)[self.parts[index].number]

    def problem(self, plan: Plan, index: int) -> Problem:
        """Return a split."""
        return SplitProblem(self, plan, index)

    def subject(self, index: int) -> tuple[str, int]:
        """Return the data set and the number of the split there."""
        return self.table(index).identity, self.parts[index].number

    def rows(self, index: int, size: int) -> int:
        """Return the rows of a size in a training part."""
        return Size.stored(size).rows(self.parts[index].train)

    def row_counts(self, sizes: Sequence[int]) -> IntArray:
        """Return the rows of sizes in all training parts."""
        stored = [Size.stored(size) for size in sizes]
        counts = [[size.rows(part.train) for size in stored] for part in self.parts]
        return np.array(counts, np.int64)

    def allows(self, size: int, doses: Sequence[int], grid: Sequence[int]) -> bool:
        """Return whether the study has the size."""
        return size in doses

    def conditions(self) -> dict[str, object]:
        """Return the data sets and how they are split."""
        return {"datasets": [*map(list, self.digests)], "resampling": self.resampling}

    def drawn(self) -> dict[str, object]:
        """Return what has always been recorded, so that fingerprints stay the same."""
        return {"data.test_size": 1, "data.training": "nested"}

    def keys(self) -> dict[str, list[str] | IntArray]:
        """Return data sets, repeats and folds."""
        repeats = np.array([part.repeat for part in self.parts], np.int64)
        folds = np.array([part.fold for part in self.parts], np.int64)
        return {"dataset": [part.dataset for part in self.parts], "repeat": repeats, "fold": folds}

    def facts(self, keep_answers: bool) -> dict[str, object]:
        """Return the splits, what is odd about the data sets, and what they are like."""
        facts: dict[str, object] = {"parts": [part._asdict() for part in self.parts]}
        facts["notes"] = {table.name: table.remarks for table in self.tables if table.remarks}
        facts["tables"] = {table.name: table.facts for table in self.tables}
        if keep_answers and self.tables:
            facts["classes"] = {each.name: list(each.sample.class_names) for each in self.tables}
        return facts

    def about(self) -> dict[str, dict[str, str]]:
        """Return nothing: there is no family."""
        return {"family": {}}

    def placed(self, settings: Mapping[str, Any], directory: Path) -> dict[str, Any]:
        """Return the data sets with paths as seen from a directory."""
        stated = [dict(section) for section in settings["datasets"]]
        for section, table in zip(stated, self.tables, strict=False):
            if not is_named(section["path"]):
                section["path"] = Path(os.path.relpath(table.path, directory)).as_posix()
        return {"datasets": stated}

    def recorded(self, manifest: Mapping[str, Any], directory: Path) -> Tables:
        """Return the source with the splits and digests recorded."""
        conditions = manifest["conditions"]
        doses = conditions["data.train_sizes"] or conditions["doses"]  # of those that may grow
        sizes = tuple(map(Size.stored, doses))
        digests = tuple((name, digest) for name, digest in conditions.get("datasets", ()))
        parts = tuple(Part(**part) for part in manifest.get("parts", ()))
        return replace(self, sizes=sizes, digests=digests, parts=parts)


_last_splits: dict[tuple[str, int, str], tuple[Split, ...]] = {}  # of the data set last used


def splits_of(table: DataSet, seed: int, resampling: str) -> tuple[Split, ...]:
    """The splits of a data set: a function of its content, the seed and the scheme only."""
    if table.splits is not None:
        return table.splits
    key = (table.digest, seed, resampling)
    if key not in _last_splits:
        _last_splits.clear()
        scheme = Resampling.of(json.loads(resampling)).scheme
        assert scheme is not None, "splits of a file are read with the data set"
        rng = stream(seed, table.identity, 0, "split")
        _last_splits[key] = scheme.splits(table.sample.target, rng, table.sample.groups)
    return _last_splits[key]


class SplitProblem(Problem):
    """One split of a data set: its truth is not known."""

    def __init__(self, source: Tables, plan: Plan, index: int) -> None:
        self._source, self._plan, self._index = source, plan, index
        self._table, self._split = source.table(index), source.split(plan.seed, index)
        self.truth, self.training = None, None
        self.class_names = self._table.sample.class_names
        self.rarer = rarest(self._table.sample.class_counts)
        self._test = test = self._table.sample.take(self._split.test)
        self.judged = Evaluation(test, {SAMPLED: Trial(np.arange(len(test)), test.target)})
        self._prepared: dict[object, tuple[Sample, Sample]] = {}

    @cached_property
    def digest(self) -> str:
        """A digest of the data set and of the rows of the split."""
        content = hashlib.blake2b(self._table.digest.encode(), digest_size=8)
        content.update(self._split.train.tobytes() + b"|" + self._split.test.tobytes())
        return content.hexdigest()

    def draw(self, size: int) -> Sample:
        """Return the training part, or the first of its rows in a random order."""
        self._prepared.clear()
        rows, sample = self._source.rows(self._index, size), self._table.sample
        train = self._split.train
        if rows != len(train):
            stratify = Resampling.of(json.loads(self._source.resampling)).stratify
            rng = self._plan.stream(self._index, "subset")
            train = nested_subsets(train, sample.target, [rows], rng, stratify)[rows]
        return sample.take(train)

    def seen(self, component: Spec, learner: Learner, sample: Sample) -> tuple[Sample, Sample]:
        """Return both parts as prepared for a learner; those of equal needs share them."""
        return prepared_sets(self._prepared, component, sample, self._test)

    def answers(self, proba: FloatArray) -> str:
        """Return the test rows and their predictions."""
        return pack(self._split.test, self.judged.tests[SAMPLED].target, proba)

    def predictions(self, answers: str) -> FloatArray:
        """Return the predictions for the test rows."""
        return unpack(answers)[2]
