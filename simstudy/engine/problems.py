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
from simstudy.engine.plan import Component, Plan
from simstudy.measures.arguments import class_numbers, rarest
from simstudy.networks.model import Model
from simstudy.study.registry import FAMILIES


class Problem(ABC):
    """The subject of a task: its truth, if known, its test and its training sets."""

    truth: Model | None
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
        self, component: Component, learner: Any, sample: Sample
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
    """A model drawn from a family: its truth is known."""

    def __init__(self, plan: Plan, model: int) -> None:
        self._plan, self._model = plan, model
        drawn: Model = build(FAMILIES, plan.family).draw(plan.stream(model, "model"))
        self.truth = self._drawn = drawn
        self.judged = evaluation(drawn, plan.test_size, plan.stream(model, "test"))
        self.class_names = class_numbers(drawn.cards[-1])
        self.rarer = rarest(drawn.class_prior())

    @cached_property
    def digest(self) -> str:
        """A digest of the model and, unless the family is built in, of the test rows."""
        digest = self._drawn.digest()
        if self._plan.family.name not in dict(self._plan.sources):
            return digest
        content = hashlib.blake2b(digest.encode(), digest_size=8)
        rows = np.asarray(self.judged.rows)
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
        nested = self._plan.training == "nested"
        role = "train" if nested else f"train/{size}"
        return self._drawn.sample(size, self._plan.stream(self._model, role))


def problem(plan: Plan, model: int) -> Problem:
    """The problem of a task."""
    if plan.parts:
        from simstudy.engine.splits import DataProblem

        return DataProblem(plan, model)
    return ModelProblem(plan, model)


def build(registry: Any, component: Component) -> Any:
    """The family or learner with its parameters."""
    return registry.get(component.name)(**component.parameters)
