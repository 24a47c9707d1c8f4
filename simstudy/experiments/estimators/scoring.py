"""Comparisons of estimators: how near they come to the exact performance of a learner."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from simstudy.arrays import AnyArray, FloatArray
from simstudy.components.registry import ESTIMATORS, Spec, build
from simstudy.engine.plan import Plan
from simstudy.engine.task import plain_text
from simstudy.errors import describe
from simstudy.estimators.bench import INTERVALS, Bench, Estimate, Estimator, Judge
from simstudy.experiments.estimators import COVERED, COVERED_MEAN, ERRORS, ESTIMATE, WIDTH
from simstudy.experiments.scoring import ExactTask, bench_of, splitter
from simstudy.measures.base import Undefined

VALUES = ("estimate", "exact", "mean", "mean_error")
BOUNDS = tuple(f"{end}_{name}" for name in INTERVALS for end in ("lower", "upper"))
COLUMNS = ("model", "size", "estimator", "learner", "measure", *VALUES, *BOUNDS)


class Available(NamedTuple):
    """The rows available at one dose, and the exact values that are to be estimated.

    ``exact`` and ``means`` are of shape (learners, measures): of the learners fitted to these rows,
    and their mean over training sets of as many rows; ``errors`` are the standard errors of the
    latter.
    """

    benches: list[Bench]
    judges: list[Judge]
    exact: FloatArray
    means: FloatArray
    errors: FloatArray


class EstimatingTask(ExactTask[Available, list[Estimate]]):
    """One model, the rows available and the learners fitted to parts of them."""

    def drawn(self, size: int) -> Available:
        """Draw rows of a size, and compute what is to be estimated, if the truth is known."""
        plan, sample = self._plan, self.training_set(size)
        judges = [self._judge_of(measure, sample) for measure in plan.measured]
        groups = sample.groups
        splits = splitter(sample.target, lambda use: self._stream(f"{use}/{size}"), groups)
        benches = [
            bench_of(self._learner(each), sample, splits, self._streams(each, str(size)))[0]
            for each in plan.learners
        ]
        if self._truth is None:
            unknown = np.full((len(benches), len(judges)), math.nan)
            return Available(benches, judges, unknown, unknown, unknown)
        exact = self._exact(sample, f"{size}/all")
        means = np.array([self._of_training_set(size, n) for n in range(plan.training_sets)])
        errors = means.std(axis=0, ddof=1) / math.sqrt(len(means))
        return Available(benches, judges, exact, means.mean(axis=0), errors)

    def _of_training_set(self, size: int, number: int) -> FloatArray:
        """Return the exact values of every learner after a further training set."""
        sample = self._known_truth.sample(size, self._stream(f"train/{size}/{number}"))
        return self._exact(sample, f"{size}/set/{number}")

    def applied(self, component: Spec, shared: Available) -> list[Estimate]:
        """Estimate the performance of every learner by every measure."""
        estimator, confidence = build(ESTIMATORS, component), self._plan.confidence
        pairs = itertools.product(shared.benches, shared.judges)
        return [_estimate(estimator, *pair, confidence) for pair in pairs]

    def scored(
        self, outcome: list[Estimate], shared: Available
    ) -> tuple[tuple[float, ...], list[str], str]:
        """Return errors, coverages and widths, warnings, and all estimates."""
        targets = np.stack([shared.exact, shared.means, shared.errors], axis=-1).reshape(-1, 3)
        pairs = itertools.product(self._plan.learners, self._plan.measured)
        scores, troubles, kept = {}, [], []
        every = zip(pairs, outcome, targets.tolist(), strict=True)
        for (learner, measure), estimate, target in every:
            for name, value in _scores(estimate, *target[:2]).items():
                scores[f"{name}_{measure.label}_{learner.label}"] = value
            if isinstance(estimate.value, Undefined):
                text = f"no {measure.label} of {learner.label}: {estimate.value.reason}"
                troubles.append(plain_text(text))
            bounds = [estimate.intervals.get(name, (math.nan, math.nan)) for name in INTERVALS]
            kept.append([float(estimate.value), *target, *itertools.chain(*bounds)])
        values = tuple(scores[column.name] for column in self._plan.columns)
        return values, troubles, json.dumps(kept)

    @classmethod
    def unpacked(cls, plan: Plan, text: str) -> FloatArray:
        """Return the estimates of a cell: rows are learners with measures; raises ValueError."""
        try:
            values = np.array(json.loads(text), dtype=np.float64)
        except (TypeError, OverflowError, RecursionError) as error:
            raise ValueError("the estimates of a cell are damaged") from error
        if values.shape != (len(plan.learners) * len(plan.measured), len(VALUES) + len(BOUNDS)):
            raise ValueError("the estimates of a cell are damaged")
        return values

    @classmethod
    def kept_columns(
        cls, plan: Plan, keys: list[tuple[int, str]], kept: Mapping[int, str]
    ) -> dict[str, list[str] | AnyArray]:
        """Return all estimates, per model, size, estimator, learner and measure."""
        labels = [(a.label, b.label) for a in plan.learners for b in plan.measured]
        subjects = itertools.product(range(plan.problems), keys, labels)
        rows = [(model, *key, *pair) for model, key, pair in subjects]
        shape = (plan.problems * len(keys), -1, len(VALUES) + len(BOUNDS))
        values = np.full((len(rows), shape[-1]), math.nan)
        for place, text in kept.items():
            values.reshape(shape)[place] = cls.unpacked(plan, text)
        models, sizes, *names = map(list, zip(*rows, strict=True))
        numbers = np.array(models, np.int64), np.array(sizes, np.int64)
        return dict(zip(COLUMNS, (*numbers, *names, *values.T), strict=True))


def _estimate(estimator: Estimator, bench: Bench, judge: Judge, confidence: float) -> Estimate:
    """Return an estimate; what cannot be computed from these rows is undefined."""
    try:
        return estimator.estimate(bench, judge, confidence)
    except ValueError as error:
        return Estimate(Undefined(describe(error)))


def _scores(estimate: Estimate, exact: float, mean: float) -> dict[str, float]:
    """Return the scores of an estimate, by the names of columns without measure and learner."""
    errors = float(estimate.value - exact), float(estimate.value - mean)
    scores = dict(zip(ERRORS, (errors[0] ** 2, errors[1] ** 2, *errors), strict=True))
    scores[ESTIMATE] = float(estimate.value)
    lower, upper = estimate.interval
    lacking = math.isnan(lower) or math.isnan(exact)
    scores[COVERED] = math.nan if lacking else float(lower <= exact <= upper)
    scores[COVERED_MEAN] = math.nan if lacking else float(lower <= mean <= upper)
    return scores | {WIDTH: upper - lower}
