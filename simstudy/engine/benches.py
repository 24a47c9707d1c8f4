"""Learners and rows of a model, as estimators and tests receive them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from simstudy.arrays import FloatArray, IntArray, read_only, smoothed
from simstudy.components.registry import MEASURES, Spec
from simstudy.data.sample import Sample
from simstudy.data.splits.schemes import Scheme, Split
from simstudy.engine.plan import Plan
from simstudy.engine.scoring import check_probabilities, fixed_prior
from simstudy.estimators.bench import Bench, Judge, scheme_name
from simstudy.measures.positive_class import arguments
from simstudy.sources.source import Problem

if TYPE_CHECKING:
    from simstudy.learners.base import Learner

Streams = Callable[[str], np.random.Generator]


def splitter(target: IntArray, stream: Streams) -> Callable[[Scheme], Sequence[Split]]:
    """Return the function from schemes to their splits of some rows."""
    return cache(lambda scheme: scheme.splits(target, stream(f"split/{scheme_name(scheme)}")))


def fit_and_ask(
    learner: Learner, sample: Sample, rows: IntArray, rng: np.random.Generator, classes: int
) -> FloatArray:
    """Fit a learner to a sample and return its probabilities for rows of attributes."""
    fitted = learner.fit(sample, rng)
    return check_probabilities(fitted.predict_proba(rows), len(rows), classes)


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

    def answer(train: IntArray, test: IntArray, purpose: str) -> FloatArray:
        rows = sample.attributes[test]
        if mirrored is not None:
            rows = np.concatenate((rows, mirrored[test]))
        rows = read_only(rows)
        proba = fit_and_ask(learner, sample.take(train), rows, streams(purpose), classes)
        if mirrored is not None:
            reflections[train.tobytes(), test.tobytes()] = proba[len(test) :]
        return proba[: len(test)]

    def reflected(train: IntArray, test: IntArray, purpose: str) -> FloatArray:
        return reflections[train.tobytes(), test.tobytes()]

    bench = Bench(sample.target, classes, answer, splits)
    if mirrored is None:
        return bench, bench
    return bench, Bench(sample.target, classes, reflected, splits)


def judge_of(plan: Plan, measure: Spec, target: IntArray, problem: Problem) -> Judge:
    """Return the judge of rows by a measure, with the settings of a study."""
    function = MEASURES.get(measure.name)
    keyed = arguments(function, measure.parameters, problem.class_names, plan.positive)
    context = {"base": plan.base, "reward": plan.reward, "rarer": problem.rarer}
    classes, kind = problem.classes, plan.prior

    def prior(trained: IntArray, tested: IntArray) -> FloatArray:
        if kind not in ("train", "test"):
            return fixed_prior(kind, classes, problem.truth)
        return smoothed(trained if kind == "train" else np.bincount(tested, minlength=classes))

    return Judge(function, target, classes, prior, plan.cutoff, context, keyed)
