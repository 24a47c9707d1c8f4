"""Comparisons of estimators: how near they come to the exact performance of a learner."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from simstudy.arrays import FloatArray
from simstudy.data.sample import Sample
from simstudy.engine.benches import Sequential, bench_of, judge_of, splitter
from simstudy.engine.evaluation import EXACT
from simstudy.engine.plan import Plan
from simstudy.engine.task import Cell, NoPrimaryError, Task, plain_text
from simstudy.errors import describe
from simstudy.estimators.base import Estimator
from simstudy.estimators.bench import Bench, Judge
from simstudy.estimators.estimate import INTERVALS, Estimate
from simstudy.experiments.base import ScoreColumn
from simstudy.experiments.estimators import COVERED, COVERED_MEAN, ERRORS, WIDTH
from simstudy.measures.base import Undefined
from simstudy.study.registry import ESTIMATORS
from simstudy.study.spec import Spec, build


@dataclass(frozen=True)
class Available:
    """The rows available at one dose, and the exact values that are to be estimated.

    ``exact`` and ``means`` are of shape (learners, measures): of the learners fitted to these rows,
    and their mean over training sets of as many rows; ``errors`` are the standard errors of the
    latter.
    """

    size: int
    benches: list[Bench]
    judges: list[Judge]
    exact: FloatArray
    means: FloatArray
    errors: FloatArray


class EstimatingTask(Task):
    """One model, the rows available and the learners fitted to parts of them."""

    def __init__(self, plan: Plan, model: int) -> None:
        super().__init__(plan, model)
        self._rows: Available | None = None

    def _scored_columns(self) -> list[ScoreColumn]:
        """The measures, which are exact."""
        return [
            ScoreColumn(one.label, one.name, EXACT, one.label, one.parameters)
            for one in self._plan.measured
        ]

    def available(self, size: int) -> Available:
        """Return the rows of a size with what is to be estimated; the last ones are cached."""
        if self._rows is None or self._rows.size != size:
            self._rows = None
            self._rows = self._make_available(size)
        return self._rows

    def _make_available(self, size: int) -> Available:
        plan, sample = self._plan, self.training_set(size)
        names, rarer = self._problem.class_names, self._problem.rarer
        judges = [
            judge_of(plan, one, sample.target, self._truth, names, rarer) for one in plan.measured
        ]
        splits = splitter(sample.target, lambda purpose: self._stream(f"{purpose}/{size}"))
        streams = [
            Sequential(lambda purpose, one=one: self._stream(_role(one, size, purpose)))  # type: ignore[misc]
            for one in plan.learners
        ]
        benches = [
            bench_of(self._learner(one), sample, splits, stream)[0]
            for one, stream in zip(plan.learners, streams, strict=True)
        ]
        exact = np.array([self._exact(one, sample, size, "all") for one in plan.learners])
        found = np.array([self._of_training_set(size, n) for n in range(plan.training_sets)])
        errors = found.std(axis=0, ddof=1) / math.sqrt(len(found))
        return Available(size, benches, judges, exact, found.mean(axis=0), errors)

    def _of_training_set(self, size: int, number: int) -> list[list[float]]:
        """Return the exact values of every learner after a further training set."""
        purpose = f"set/{number}"
        sample = self._known_truth.sample(size, self._stream(f"train/{size}/{number}"))
        return [self._exact(one, sample, size, purpose) for one in self._plan.learners]

    def _exact(self, learner: Spec, sample: Sample, size: int, purpose: str) -> list[float]:
        """Return the exact values of a learner fitted to a sample; NaN if there is none."""
        proba = self._answers(learner, sample, self._stream(_role(learner, size, purpose)))[0]
        found = self._score(proba, sample)
        return [math.nan if isinstance(one, BaseException) else one for one in found]

    def score_cell(self, component: Spec, size: int, every: bool = False) -> Cell:
        """Estimate the performance of every learner by every measure."""
        cell = self._blank(component, size)
        estimator = build(ESTIMATORS, component)
        with warnings.catch_warnings(record=True) as raised, self._isolated():
            warnings.simplefilter("always")
            rows = self.available(size)
            started = perf_counter()
            found = [
                [_estimate(estimator, bench, judge, self._plan.confidence) for judge in rows.judges]
                for bench in rows.benches
            ]
            seconds = perf_counter() - started
        values = self._values(found, rows)
        troubles = [
            plain_text(f"no {measure.label} of {learner.label}: {one.value.reason}")
            for learner, each in zip(self._plan.learners, found, strict=True)
            for measure, one in zip(self._plan.measured, each, strict=True)
            if isinstance(one.value, Undefined)
        ]
        if math.isnan(values[0]):
            raise NoPrimaryError(troubles[0] if troubles else "no exact value", values)
        if raised:
            troubles.append(plain_text(f"{raised[0].category.__name__}: {raised[0].message}"))
        return replace(
            cell,
            values=values,
            fit_seconds=seconds,
            answers=packed(found, rows),
            warning="; ".join(troubles),
        )

    def _values(self, found: list[list[Estimate]], rows: Available) -> tuple[float, ...]:
        """Return the scores in the order of the columns."""
        scores = [
            [_scores(one, rows.exact[place], rows.means[place]) for one, place in _placed(each, at)]
            for at, each in enumerate(found)
        ]
        return tuple(
            scores[learner][measure][column.test]
            for column, (measure, learner) in zip(self._plan.columns, self._places(), strict=True)
        )

    def _places(self) -> list[tuple[int, int]]:
        """Return the measure and the learner of every column."""
        measures, learners = len(self._plan.measured), len(self._plan.learners)
        number = len(self._plan.columns) // (measures * learners)
        return [(m, k) for m in range(measures) for k in range(learners)] * number


def _placed(each: list[Estimate], learner: int) -> list[tuple[Estimate, tuple[int, int]]]:
    return [(one, (learner, measure)) for measure, one in enumerate(each)]


def _estimate(estimator: Estimator, bench: Bench, judge: Judge, confidence: float) -> Estimate:
    """Return an estimate; what cannot be computed from these rows is undefined."""
    try:
        return estimator.estimate(bench, judge, confidence)
    except ValueError as error:
        return Estimate(Undefined(describe(error)))


def _scores(estimate: Estimate, exact: float, mean: float) -> Mapping[str, float]:
    """Return the scores of an estimate, by the names of columns without measure and learner."""
    errors = float(estimate.value - exact), float(estimate.value - mean)
    found = dict(zip(ERRORS, (errors[0] ** 2, errors[1] ** 2, *errors), strict=True))
    lower, upper = estimate.interval
    lacking = math.isnan(lower) or math.isnan(exact)
    found[COVERED] = math.nan if lacking else float(lower <= exact <= upper)
    found[COVERED_MEAN] = math.nan if lacking else float(lower <= mean <= upper)
    return found | {WIDTH: upper - lower}


def packed(found: list[list[Estimate]], rows: Available) -> str:
    """Return estimates, what they estimate and all intervals as text that a cell keeps."""
    lacking = (math.nan, math.nan)
    return json.dumps(
        [
            [
                float(one.value),
                *map(float, (rows.exact[at], rows.means[at], rows.errors[at])),
                *(end for name in INTERVALS for end in one.intervals.get(name, lacking)),
            ]
            for learner, each in enumerate(found)
            for one, at in _placed(each, learner)
        ]
    )


def _role(learner: Spec, size: int, purpose: str) -> str:
    return f"learner/{learner.identity}/{size}/{purpose}"
