"""The task of experiments whose treatments are applied to learners that are evaluated exactly."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import tee
from time import perf_counter
from typing import ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from simstudy.arrays import FloatArray, IntArray, read_only, smoothed
from simstudy.components.registry import MEASURES, Spec
from simstudy.data.preparation.prepare import Preparation, Prepared
from simstudy.data.sample import Sample
from simstudy.data.splits.schemes import Scheme, Split
from simstudy.engine.evaluation import EXACT
from simstudy.engine.scoring import check_probabilities, fixed_prior
from simstudy.engine.task import Cell, NoPrimaryError, Task, plain_text
from simstudy.estimators.bench import Bench, Judge, TrainTest, scheme_name
from simstudy.experiments.base import ScoreColumn
from simstudy.learners.base import Fitted, Learner, fit_parts
from simstudy.measures.positive_class import arguments

Streams = Callable[[str], np.random.Generator]
D = TypeVar("D")
O = TypeVar("O")  # noqa: E741


@dataclass(frozen=True)
class PreparedLearner(Learner):
    """A learner that gets its rows prepared, each time it is fitted anew."""

    accepts: ClassVar[frozenset[str]] = frozenset({"numeric", "missing"})

    learner: Learner
    preparation: Preparation
    accepted: frozenset[str]

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> FittedPrepared:
        prepared = self.preparation.fit(sample, self.accepted)
        return FittedPrepared(prepared, self.learner.fit(prepared.train, rng))


class FittedPrepared(NamedTuple):
    """The fit to prepared rows."""

    prepared: Prepared
    fitted: Fitted

    def predict_proba(self, rows: Sample) -> FloatArray:
        """Prepare the rows, and return their class probabilities."""
        return self.fitted.predict_proba(self.prepared(rows))


class ExactTask(Task, Generic[D, O]):
    """One model: what its treatments share at a dose (D), and the outcome of one of them (O)."""

    _predicts: ClassVar[bool] = False  # whether the seconds are of predicting, not of fitting
    _last: tuple[int, D] | None = None

    @property
    def _exact_measures(self) -> Iterable[Spec]:
        """The measures by which learners are evaluated."""
        return self._plan.measured

    def _scored_columns(self) -> list[ScoreColumn]:
        return [ScoreColumn.of(measure, EXACT) for measure in self._exact_measures]

    @abstractmethod
    def drawn(self, size: int) -> D:
        """Draw what treatments share at a dose."""

    @abstractmethod
    def applied(self, component: Spec, shared: D) -> O:
        """Apply a treatment."""

    @abstractmethod
    def scored(self, outcome: O, shared: D) -> tuple[tuple[float, ...], list[str], str]:
        """Return the scores of an outcome, warnings, and what the cell keeps."""

    def shared(self, size: int) -> D:
        """What treatments share at a dose; that of the last dose is cached."""
        if self._last is None or self._last[0] != size:
            self._last = None  # freed before the next one is drawn
            self._last = size, self.drawn(size)
        return self._last[1]

    def _judge_of(self, measure: Spec, sample: Sample) -> Judge:
        """The judge of the rows of a sample by a measure, with the settings of the study."""
        plan, problem = self._plan, self._problem
        function = MEASURES.get(measure.name)
        keyed = arguments(function, measure.parameters, problem.class_names, plan.positive)
        context = {"base": plan.base, "reward": plan.reward, "rarer": problem.rarer}
        classes, kind = problem.classes, plan.prior

        def prior(trained: IntArray, tested: IntArray) -> FloatArray:
            if kind not in ("train", "test"):
                return fixed_prior(kind, classes, problem.truth)
            return smoothed(trained if kind == "train" else np.bincount(tested, minlength=classes))

        return Judge(function, sample.target, classes, prior, plan.cutoff, context, keyed)

    def _learner(self, component: Spec) -> Learner:
        """A learner; one whose rows are prepared has that done in each training part."""
        learner = super()._learner(component)
        if component.preparation is None:
            return learner
        return PreparedLearner(learner, component.preparation, component.accepts)

    def _streams(self, learner: Spec, place: str) -> Streams:
        """The streams of a learner by purpose, each continued from where the last fit left it."""
        return cache(lambda purpose: self._stream(f"learner/{learner.identity}/{place}/{purpose}"))

    def _exact(self, sample: Sample, place: str) -> FloatArray:
        """The exact values of learners fitted to a sample, by measure; NaN where there is none."""
        scores = []
        for learner in self._plan.learners:
            rng = self._stream(f"learner/{learner.identity}/{place}")
            values = self._score(self._answers(learner, sample, rng)[0], sample)
            scores.append([math.nan if isinstance(v, BaseException) else v for v in values])
        return np.array(scores)

    def score_cell(self, component: Spec, size: int, every: bool = False) -> Cell:
        """Apply a treatment, and score the outcome."""
        with warnings.catch_warnings(record=True) as raised, self._isolated():
            warnings.simplefilter("always")
            shared, started = self.shared(size), perf_counter()
            outcome = self.applied(component, shared)
            seconds = perf_counter() - started
        values, troubles, kept = self.scored(outcome, shared)
        if math.isnan(values[0]):
            raise NoPrimaryError(troubles[0] if troubles else "no exact value", values)
        if raised:
            troubles.append(plain_text(f"{raised[0].category.__name__}: {raised[0].message}"))
        fit, predict = (math.nan, seconds) if self._predicts else (seconds, math.nan)
        cell = replace(self._blank(component, size), fit_seconds=fit, predict_seconds=predict)
        return replace(cell, values=values, answers=kept, warning="; ".join(troubles))


def splitter(
    target: IntArray, stream: Streams, groups: IntArray | None = None
) -> Callable[[Scheme], Sequence[Split]]:
    """Return the function from schemes to their splits of some rows."""

    def splits(scheme: Scheme) -> Sequence[Split]:
        return scheme.splits(target, stream(f"split/{scheme_name(scheme)}"), groups)

    return cache(splits)


def bench_of(
    learner: Learner,
    sample: Sample,
    splits: Callable[[Scheme], Sequence[Split]],
    streams: Streams,
    mirrored: IntArray | None = None,
) -> tuple[Bench, Bench]:
    """Return the bench of a learner and a sample, and that of its mirror image.

    The latter has the same fits, which predict for other attributes; without any, it is the same
    bench.

    Parameters
    ----------
    learner
        The learner.
    sample
        The rows available.
    splits
        Their splits.
    streams
        The learner's stream for each purpose.
    mirrored
        Attributes that the mirror image predicts for, in place of those of the sample.
    """
    classes, reflections = sample.classes, {}

    def answers(parts: Iterable[TrainTest]) -> Iterator[FloatArray]:
        parts, trained = tee(parts)
        fits = fit_parts(learner, sample, ((part.train, streams(part.purpose)) for part in trained))
        for (train, test, _), fitted in zip(parts, fits, strict=True):
            rows: IntArray | Sample
            if isinstance(learner, PreparedLearner):
                rows = sample.take(test)
            else:
                rows = read_only(sample.attributes[test])
                if mirrored is not None:
                    rows = read_only(np.concatenate((rows, mirrored[test])))
            proba = check_probabilities(fitted.predict_proba(rows), len(rows), classes)
            if mirrored is not None:
                reflections[train.tobytes(), test.tobytes()] = proba[len(test) :]
            yield proba[: len(test)]

    def reflected(parts: Iterable[TrainTest]) -> Iterator[FloatArray]:
        return (reflections[train.tobytes(), test.tobytes()] for train, test, _ in parts)

    bench = Bench(sample.target, classes, answers, splits)
    if mirrored is None:
        return bench, bench
    return bench, Bench(sample.target, classes, reflected, splits)
