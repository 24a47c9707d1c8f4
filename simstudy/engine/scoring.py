"""From a learner's probabilities to the numbers of one cell."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from simstudy.arrays import Array, FloatArray, IntArray, read_only
from simstudy.components.registry import MEASURES
from simstudy.data.sample import Sample
from simstudy.engine.evaluation import ROUNDING, Trial
from simstudy.engine.plan import Plan
from simstudy.experiments.base import ScoreColumn
from simstudy.measures.base import (
    Context,
    Keywords,
    Measure,
    Undefined,
    clip,
    keywords,
    score,
    sharing,
)
from simstudy.measures.positive_class import arguments
from simstudy.sources.changes.world import Population
from simstudy.sources.source import Problem

if TYPE_CHECKING:
    from simstudy.learners.base import Fitted

Parts: TypeAlias = tuple[float, float] | None  # the lengths of those of a learner's message


class NoLimitError(ValueError):
    """A measure needs the learner's limit, and there is none."""


class UndefinedError(ValueError):
    """A measure has no value; the text is the reason."""


class InvalidProbabilitiesError(ValueError):
    """A learner returned something other than class probabilities."""


def check_probabilities(proba: FloatArray, rows: int, classes: int) -> FloatArray:
    """The probabilities as an array; rows that are not distributions are refused."""
    if np.iscomplexobj(proba):
        raise InvalidProbabilitiesError("complex numbers instead of probabilities")
    proba = np.asarray(proba, dtype=np.float64)
    if proba.shape != (rows, classes):
        expected = (rows, classes)
        raise InvalidProbabilitiesError(f"probabilities of shape {proba.shape}, not {expected}")
    # column-major: few classes, many rows
    proba = np.asfortranarray(proba)
    sums = proba.sum(axis=1)
    if proba.min(initial=1.0) >= 0 and np.abs(sums - 1).max(initial=0.0) <= ROUNDING:
        return proba
    for wrong, fault in (
        (~np.isfinite(proba).all(axis=1), "is not a number"),
        ((proba < 0).any(axis=1), "is negative"),
        (np.abs(sums - 1) > ROUNDING, "belongs to a row that does not sum to one"),
    ):
        if wrong.any():
            raise InvalidProbabilitiesError(
                f"a probability {fault}, in {int(wrong.sum())} of {rows} rows; "
                f"the first: {proba[wrong.argmax()].tolist()}"
            )
    return proba


def class_prior(
    kind: str | Sequence[float], train: Sample, test: Trial, model: Population | None
) -> FloatArray:
    """The prior that rewards are relative to.

    Frequencies are those of `arrays.smoothed`; those of an exact test are the true probabilities.
    """
    if kind == "train":
        return train.class_frequencies()
    if kind == "test" and test.weights is None:
        return test.class_frequencies(train.classes)
    return fixed_prior("true" if kind == "test" else kind, train.classes, model)


def fixed_prior(kind: str | Sequence[float], classes: int, model: Population | None) -> FloatArray:
    """A prior that does not depend on rows: uniform, the true one, or the given one."""
    if kind == "uniform":
        return np.full(classes, 1 / classes)
    if kind == "true" and model is not None:
        return model.class_prior()
    prior = np.asarray(kind, dtype=np.float64)
    if len(prior) != classes:
        raise ValueError(f"the prior has {len(prior)} classes, the model {classes}")
    return prior


class Scorer:
    """Scores the learners of one model.

    Measures in ``foreign``, those that are not built in, get copies of the arrays, so that one
    that writes to its arguments affects no other.
    """

    def __init__(
        self, columns: Sequence[ScoreColumn], plan: Plan, problem: Problem, foreign: Collection[str]
    ) -> None:
        self._columns = []
        for column in columns:
            measure = MEASURES.get(column.measure)
            keyed = arguments(measure, column.parameters, problem.class_names, plan.positive)
            self._columns.append(Called(measure, column.test, column.measure in foreign, keyed))
        self._plan, self._truth = plan, None
        self._settings: Context = {"base": plan.base, "reward": plan.reward}
        self._settings["rarer"] = problem.rarer
        self._model, self._judged = problem.truth, problem.judged
        wanted = frozenset().union(*(keywords(called.measure) for called in self._columns))
        self.needs_limit = "limit" in wanted
        if self._model is not None and wanted & {"truth", "oracle"}:
            self._truth = self._model.posterior(self._judged.rows)

    def __call__(
        self,
        proba: FloatArray,
        train: Sample,
        limit: FloatArray | None = None,
        fitted: Fitted | None = None,
    ) -> list[float | BaseException]:
        """The value of every column for probabilities learned from ``train``.

        ``limit`` holds the predictions of the learner fitted to the whole population; ``fitted``
        may have the lengths of its message. A measure that raises an exception has it in place of
        a value: `NoLimitError` if it needs a missing limit.
        """
        predictions = {"proba": proba, "oracle": self._truth, "limit": limit}
        answers = {kind: self._answers(kind, predictions, train) for kind in self._judged.tests}
        values: list[float | BaseException] = []
        with sharing():
            for called in self._columns:
                try:
                    needed = "message" in keywords(called.measure)
                    message = getattr(fitted, "message", None) if needed else None
                    values.append(self._value(called, answers[called.test], message))
                except BaseException as error:  # the caller handles interrupts
                    values.append(error)
        return values

    def row_values(self, proba: FloatArray, train: Sample) -> list[FloatArray | None]:
        """The values of every row, of one column after the other; None of measures over sets."""
        columns: list[FloatArray | None] = []
        for called in self._columns:
            if called.measure.info.over != "row":
                columns.append(None)
                continue
            names = keywords(called.measure)
            answers = self._answers(called.test, {"proba": proba}, train)
            rows, context = self._inputs(called, answers, None)
            declared = {k: v for k, v in context.items() if k in names and v is not None}
            values = called.measure(*rows, **declared, **called.arguments)
            columns.append(np.asarray(values, dtype=np.float64))
        return columns

    def _answers(
        self, kind: str, predictions: dict[str, FloatArray | None], train: Sample
    ) -> Answers:
        """Predictions for one test, with its prior."""
        test = self._judged.tests[kind]
        prior = read_only(class_prior(self._plan.prior, train, test, self._model))
        return Answers(test, prior, predictions, self._plan.cutoff, len(train))

    def _value(self, called: Called, answers: Answers, message: Parts) -> float:
        measure = called.measure
        (proba, y), context = self._inputs(called, answers, message)
        value = score(measure, proba, y, **context, **called.arguments)
        if isinstance(value, Undefined):
            raise UndefinedError(value.reason)
        if math.isnan(value):
            raise ValueError(f"measure {measure.__name__!r} returned nan, which is not a number")
        return value

    def _inputs(
        self, called: Called, answers: Answers, message: Parts
    ) -> tuple[tuple[FloatArray, IntArray], Context]:
        """The probabilities and classes that a measure is called with, and the context."""
        measure = called.measure
        declared, clipped = keywords(measure), measure.info.logarithmic
        if "limit" in declared and answers.predictions["limit"] is None:
            raise NoLimitError("the learner has no limit")
        weights = answers.test.weights

        def safe(array: Array) -> Array:
            return read_only(array.copy(order="F")) if called.foreign else array

        context: Context = {**self._settings, "message": message, "prior": safe(answers.prior)}
        context["weights"] = None if weights is None else safe(weights)
        if "oracle" in declared:
            context["oracle"] = safe(answers("oracle", clipped))
        if "limit" in declared:
            context["limit"] = safe(answers("limit", clipped))
        if "truth" in declared:
            context["truth"] = safe(answers("oracle", False))
        return (safe(answers("proba", clipped)), safe(answers.test.target)), context


class Called(NamedTuple):
    """A measure as it is called for one column of the scores."""

    measure: Measure[..., float | FloatArray]
    test: str
    foreign: bool  # not built in
    arguments: Keywords


@dataclass
class Answers:
    """Predictions expanded to the rows of one test, plain or clipped."""

    test: Trial
    prior: FloatArray
    predictions: dict[str, FloatArray | None]
    _cutoff: str
    _train_rows: int
    _expanded: dict[tuple[str, bool], FloatArray] = field(default_factory=dict)

    def __call__(self, name: str, clipped: bool) -> FloatArray:
        """Probabilities of every class for each row of the test."""
        if (name, clipped) not in self._expanded:
            proba = self.predictions[name]
            assert proba is not None, name
            if clipped:
                proba = clip(proba, self._cutoff, self._train_rows)
            # Column-major, as most measures read it; read-only, because measures share it.
            self._expanded[name, clipped] = read_only(proba.T.take(self.test.rows, axis=1).T)
        return self._expanded[name, clipped]
