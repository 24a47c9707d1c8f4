"""Problems: where the training rows and the test of a task come from."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.sample import Sample
from simstudy.engine.answers import pack, unpack
from simstudy.engine.evaluation import SAMPLED, Evaluation, evaluation
from simstudy.engine.plan import Plan
from simstudy.measures.arguments import class_numbers, rarest
from simstudy.networks.model import Model
from simstudy.sources.changes.world import Population, World
from simstudy.study.registry import CHANGES, FAMILIES
from simstudy.study.spec import Spec


class Problem(ABC):
    """The subject of a task: its truth, if known, its test and its training sets."""

    truth: Population | None  # what test rows are drawn from
    training: Population | None  # what training rows are drawn from
    class_names: tuple[str, ...]
    rarer: int  # the class that is rarest in the population or in the data set
    judged: Evaluation

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.class_names)

    @property
    @abstractmethod
    def digest(self) -> str:
        """A digest of the truth, or of the rows, which a cell records."""

    @abstractmethod
    def draw(self, size: int) -> Sample:
        """Return the training set of a size."""

    def seen(
        self, component: Spec, learner: Any, sample: Sample
    ) -> tuple[Sample, IntArray | Sample]:
        """Return the training rows and the rows to predict as a learner gets them."""
        return sample, self.judged.rows

    @abstractmethod
    def answers(self, proba: FloatArray) -> str:
        """Return predictions for the rows of the test, as text to keep."""

    @abstractmethod
    def predictions(self, answers: str) -> FloatArray:
        """Return the predictions that `answers` kept."""


class ModelProblem(Problem):
    """A model drawn from a family, perhaps changed: its truth is known."""

    def __init__(self, plan: Plan, model: int) -> None:
        self._plan, self._model = plan, model
        self._world = changed_model(plan, model)
        self.training, self.truth = self._world.train, self._world.test
        self.judged = evaluation(self.truth, plan.test_size, plan.stream(model, "test"))
        self.class_names = class_numbers(self.truth.cards[-1])
        self.rarer = rarest(self.truth.class_prior())
        self._prepared: dict[Any, tuple[Sample, Sample]] = {}

    @cached_property
    def digest(self) -> str:
        """A digest of the model and, unless all that made it is built in, of the test rows."""
        digest, foreign = self._world.digest(), dict(self._plan.sources)
        if not any(one.name in foreign for one in (self._plan.family, *self._plan.changes)):
            return digest
        content = hashlib.blake2b(digest.encode(), digest_size=8)
        rows = self.judged.rows
        rows = rows.attributes if isinstance(rows, Sample) else np.asarray(rows)
        for test in self.judged.tests.values():
            content.update(rows[test.rows].tobytes() + test.target.tobytes())
        return content.hexdigest()

    def answers(self, proba: FloatArray) -> str:
        """Return the predictions for the test rows, or for all attribute configurations."""
        if self.judged.all_rows:
            return pack(np.arange(len(proba)), np.full(len(proba), -1), proba)
        test = self.judged.tests[SAMPLED]
        return pack(np.arange(len(test.rows)), test.target, proba[test.rows])

    def predictions(self, answers: str) -> FloatArray:
        """Return the predictions for the distinct rows."""
        kept = unpack(answers)[2]
        if self.judged.all_rows:
            return kept
        proba = np.empty((len(self.judged.rows), self.classes), order="F")
        proba[self.judged.tests[SAMPLED].rows] = kept
        return proba

    def draw(self, size: int) -> Sample:
        """Return the training set of a size, or the first rows of the largest."""
        self._prepared.clear()
        nested = self._plan.training == "nested"
        role = "train" if nested else f"train/{size}"
        return self._world.train.sample(size, self._plan.stream(self._model, role))

    def seen(
        self, component: Spec, learner: Any, sample: Sample
    ) -> tuple[Sample, IntArray | Sample]:
        """Return both sets as prepared for a learner, where values may be missing."""
        rows = self.judged.rows
        if component.preparation is None or getattr(learner, "knows_model", False):
            return sample, rows
        if not isinstance(rows, Sample):  # none is missing
            codes = np.column_stack([rows, np.zeros(len(rows), dtype=np.intp)])
            rows = Sample(codes, self._world.test.cards)
        return prepared_sets(self._prepared, component, sample, rows)


def changed_model(plan: Plan, model: int) -> World:
    """What the rows of a task are drawn from: a model of the family, with all changes made."""
    drawn: Model = build(FAMILIES, plan.family).draw(plan.stream(model, "model"))
    world, times = World.of(drawn), dict[str, int]()
    for change in plan.changes:
        # Streams depend on the name alone: another rate chooses the same attributes.
        number = times[change.name] = times.get(change.name, -1) + 1
        rng = plan.stream(model, f"change/{change.name}/{number}")
        world = build(CHANGES, change).apply(world, rng)
        if not isinstance(world, World):
            raise TypeError(f"the change '{change.name}' returned a {type(world).__name__}")
    return world


def prepared_sets(
    known: dict[Any, tuple[Sample, Sample]], component: Spec, train: Sample, test: Sample
) -> tuple[Sample, Sample]:
    """Training and test rows as prepared for a learner; those of equal needs share them."""
    assert component.preparation is not None
    key = (component.preparation, component.accepts)
    if key not in known:
        prepared = component.preparation.fit(train, component.accepts)
        known[key] = prepared.train, prepared(test)
    return known[key]


def problem(plan: Plan, model: int) -> Problem:
    """The problem of a task."""
    if plan.parts:
        from simstudy.engine.splits import DataProblem

        return DataProblem(plan, model)
    return ModelProblem(plan, model)


def build(registry: Any, component: Spec) -> Any:
    """The family or learner with its parameters."""
    return registry.get(component.name)(**component.parameters)
