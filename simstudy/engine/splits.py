"""The splits of data sets, and the problems that they are."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from typing import Any

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.resampling import Resampling, Split, nested_subsets
from simstudy.data.sample import Sample
from simstudy.engine.answers import pack, unpack
from simstudy.engine.evaluation import SAMPLED, Evaluation, Trial
from simstudy.engine.plan import Part, Plan, data_identity
from simstudy.engine.problems import Problem, prepared_sets
from simstudy.engine.seeds import stream
from simstudy.measures.arguments import rarest
from simstudy.sources.data import DataSource
from simstudy.study.sizes import rows_of
from simstudy.study.spec import Spec

_known: dict[tuple[str, int, str], tuple[Split, ...]] = {}  # of the data set last used


def splits_of(table: DataSource, seed: int, resampling: str) -> tuple[Split, ...]:
    """The splits of a data set: a function of its content, the seed and the scheme alone."""
    if table.splits is not None:
        return table.splits
    key = (table.digest, seed, resampling)
    if key not in _known:
        _known.clear()
        scheme = Resampling.of(json.loads(resampling)).scheme
        assert scheme is not None, "splits of a file are read with the data set"
        rng = stream(seed, data_identity(table), 0, "split")
        _known[key] = scheme.splits(table.sample.target, rng, table.sample.groups)
    return _known[key]


def parts_of(tables: tuple[DataSource, ...], seed: int, resampling: str) -> tuple[Part, ...]:
    """All splits of all data sets, in their order."""
    return tuple(
        Part(table.name, number, split.repeat, split.fold, len(split.train), len(split.test))
        for table in tables
        for number, split in enumerate(splits_of(table, seed, resampling))
    )


def training_rows(plan: Plan, model: int, split: Split, rows: int) -> IntArray:
    """The first rows of a training part, in an order of its own that all learners share."""
    if rows == len(split.train):
        return split.train
    table = plan.table(plan.parts[model])
    stratify = Resampling.of(json.loads(plan.resampling)).stratify
    rng = plan.stream(model, "subset")
    return nested_subsets(split.train, table.sample.target, [rows], rng, stratify)[rows]


class DataProblem(Problem):
    """One split of a data set: its truth is not known."""

    def __init__(self, plan: Plan, model: int) -> None:
        self._plan, self._model, part = plan, model, plan.parts[model]
        self._table = plan.table(part)
        self._split = splits_of(self._table, plan.seed, plan.resampling)[part.number]
        self.truth, self.training = None, None
        self.class_names = self._table.sample.class_names
        self.rarer = rarest(self._table.sample.class_counts)
        test = self._table.sample.take(self._split.test)
        self.judged = Evaluation(test, {SAMPLED: Trial(np.arange(len(test)), test.target)})
        self._prepared: dict[Any, tuple[Sample, Sample]] = {}

    @cached_property
    def digest(self) -> str:
        """A digest of the data set and of the rows of the split."""
        content = hashlib.blake2b(self._table.digest.encode(), digest_size=8)
        content.update(self._split.train.tobytes() + b"|" + self._split.test.tobytes())
        return content.hexdigest()

    def draw(self, size: int) -> Sample:
        """Return the training part, or the first of its rows in a random order."""
        self._prepared.clear()
        rows = rows_of(size, len(self._split.train))
        return self._table.sample.take(training_rows(self._plan, self._model, self._split, rows))

    def seen(self, component: Spec, learner: Any, sample: Sample) -> tuple[Sample, Sample]:
        """Return both parts as prepared for a learner; those of equal needs share them."""
        return prepared_sets(self._prepared, component, sample, self.judged.rows)

    def answers(self, proba: FloatArray) -> str:
        """Return the test rows and their predictions."""
        return pack(self._split.test, self.judged.tests[SAMPLED].target, proba)

    def predictions(self, answers: str) -> FloatArray:
        """Return the predictions for the test rows."""
        return unpack(answers)[2]
