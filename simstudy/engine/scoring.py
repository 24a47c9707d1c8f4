"""From a learner's probabilities to the numbers of one cell."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from simstudy.arrays import Array, FloatArray, IntArray, read_only
from simstudy.data.sample import Sample
from simstudy.engine.answers import ROUNDING
from simstudy.engine.evaluation import Evaluation, Trial
from simstudy.experiments.base import ScoreColumn
from simstudy.measures.arguments import arguments
from simstudy.measures.base import Context, Keywords, Measure, Undefined, clip, keywords, score
from simstudy.sources.changes.world import Population
from simstudy.study.registry import MEASURES

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
        raise InvalidProbabilitiesError(
            f"probabilities of shape {proba.shape} instead of {(rows, classes)}"
        )
    # column-major: few classes, many rows
    proba = np.asfortranarray(proba)
    sums = proba.sum(axis=1)
    if proba.min(initial=1.0) >= 0 and np.abs(sums - 1).max(initial=0.0) <= ROUNDING:
        return proba
    for wrong, what in (
        (~np.isfinite(proba).all(axis=1), "is not a number"),
        ((proba < 0).any(axis=1), "is negative"),
        (np.abs(sums - 1) > ROUNDING, "belongs to a row that does not sum to one"),
    ):
        if wrong.any():
            raise InvalidProbabilitiesError(
                f"a probability {what}, in {int(wrong.sum())} of {rows} rows; "
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
    if kind == "uniform":
        return np.full(train.classes, 1 / train.classes)
    if kind in ("true", "test") and model is not None:
        return model.class_prior()
    prior = np.asarray(kind, dtype=np.float64)
    if len(prior) != train.classes:
        raise ValueError(f"the given prior has {len(prior)} classes, the model {train.classes}")
    return prior


class Scorer:
    """Scores the learners of one model.

    Measures in ``foreign``, those that are not built in, get copies of the arrays, so that one
    that writes to its arguments affects no other.
    """

    def __init__(
        self,
        columns: Sequence[ScoreColumn],
        prior: str | Sequence[float],
        cutoff: str,
        base: float,
        model: Population | None,
        judged: Evaluation,
        reward: str = "mean",
        foreign: Collection[str] = (),
        class_names: Sequence[str] = (),
        positive: str | int | None = None,
        rarer: int | None = None,
    ) -> None:
        self._columns = []
        for column in columns:
            measure = MEASURES.get(column.measure)
            given = arguments(measure, column.parameters, class_names, positive)
            self._columns.append(Called(measure, column.test, column.measure in foreign, given))
        self._prior, self._cutoff = prior, cutoff
        self._settings: Context = {"base": base, "reward": reward, "rarer": rarer}
        self._model, self._judged = model, judged
        wanted = frozenset().union(*(keywords(one.measure) for one in self._columns))
        self.needs_limit = "limit" in wanted
        self._truth = None
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

        ``limit`` holds the learner's predictions after the whole population; ``fitted`` may know
        the lengths of its message. In place of a value
        stands the exception that a measure raised, `NoLimitError` if it needs a missing limit.
        """
        predictions = {"proba": proba, "oracle": self._truth, "limit": limit}
        answers = {
            kind: Answers(test, predictions, self._cutoff, len(train))
            for kind, test in self._judged.tests.items()
        }
        priors = {
            kind: read_only(class_prior(self._prior, train, test, self._model))
            for kind, test in self._judged.tests.items()
        }
        values: list[float | BaseException] = []
        for called in self._columns:
            try:
                message = getattr(fitted, "message", None) if called.needs_message else None
                given = (answers[called.test], priors[called.test], message)
                values.append(self._value(called, *given))
            except BaseException as error:  # the caller handles interrupts
                values.append(error)
        return values

    def row_values(self, proba: FloatArray, train: Sample) -> list[FloatArray | None]:
        """The values of every row, of one column after the other; None of measures over sets."""
        found: list[FloatArray | None] = []
        for called in self._columns:
            test, values = self._judged.tests[called.test], None
            if called.measure.info.over == "row":
                answers = Answers(test, {"proba": proba}, self._cutoff, len(train))
                prior = read_only(class_prior(self._prior, train, test, self._model))
                given, context = self._given(called, answers, prior, None)
                names = keywords(called.measure)
                declared = {k: v for k, v in context.items() if k in names and v is not None}
                returned = called.measure(*given, **declared, **called.arguments)
                values = np.asarray(returned, dtype=np.float64)
            found.append(values)
        return found

    def _value(self, called: Called, answers: Answers, prior: FloatArray, message: Parts) -> float:
        measure = called.measure
        (proba, y), context = self._given(called, answers, prior, message)
        value = score(measure, proba, y, **context, **called.arguments)
        if isinstance(value, Undefined):
            raise UndefinedError(value.reason)
        if math.isnan(value):
            raise ValueError(f"measure {measure.__name__!r} returned nan, which is not a number")
        return value

    def _given(
        self, called: Called, answers: Answers, prior: FloatArray, message: Parts
    ) -> tuple[tuple[FloatArray, IntArray], Context]:
        """The probabilities and classes that a measure is called with, and the context."""
        measure = called.measure
        declared, clipped = keywords(measure), measure.info.logarithmic
        if "limit" in declared and answers.predictions["limit"] is None:
            raise NoLimitError("the learner has no limit")
        own, weights = _copied if called.foreign else _shared, answers.test.weights
        context: Context = {**self._settings, "message": message, "prior": own(prior)}
        context["weights"] = None if weights is None else own(weights)
        if "oracle" in declared:
            context["oracle"] = own(answers("oracle", clipped))
        if "limit" in declared:
            context["limit"] = own(answers("limit", clipped))
        if "truth" in declared:
            context["truth"] = own(answers("oracle", False))
        return (own(answers("proba", clipped)), own(answers.test.target)), context


def _copied(array: Array) -> Array:
    return read_only(array.copy(order="F"))


def _shared(array: Array) -> Array:
    return array


class Called(NamedTuple):
    """A measure as it is called for one column of the scores."""

    measure: Measure[..., float | FloatArray]
    test: str
    foreign: bool  # not built in
    arguments: Keywords

    @property
    def needs_message(self) -> bool:
        """Whether it needs the lengths of the learner's message."""
        return "message" in keywords(self.measure)


class Answers:
    """Predictions expanded to the rows of one test, plain or clipped."""

    def __init__(
        self, test: Trial, predictions: dict[str, FloatArray | None], cutoff: str, train_rows: int
    ) -> None:
        self.test, self.predictions = test, predictions
        self._cutoff, self._train_rows = cutoff, train_rows
        self._known: dict[tuple[str, bool], FloatArray] = {}

    def __call__(self, name: str, clipped: bool) -> FloatArray:
        """Probabilities of every class for each row of the test."""
        if (name, clipped) not in self._known:
            proba = self.predictions[name]
            assert proba is not None, name
            if clipped:
                proba = clip(proba, self._cutoff, self._train_rows)
            # ScoreColumn-major, as most measures read it; read-only, because measures share it.
            self._known[name, clipped] = read_only(proba.T.take(self.test.rows, axis=1).T)
        return self._known[name, clipped]
