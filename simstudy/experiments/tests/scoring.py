"""Comparisons of tests: how often they reject, with and without a difference between learners.

Every data set of a comparison is drawn from a model. Two pairs of every learner have no difference:

- copies: each is fitted to 80 % of the training rows, drawn at random for each of the two, so that
  nothing distinguishes them;
- mirrored: one classifier is evaluated on the rows, and on others that are drawn from the same
  classes: both have the same exact performance.

Two different learners have a difference that is known exactly for every data set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations, tee
from typing import NamedTuple

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.components.registry import MEASURES, TESTS, Spec, build
from simstudy.data.sample import Sample
from simstudy.data.splits.schemes import Scheme, Split
from simstudy.engine.evaluation import EXACT, Trial
from simstudy.engine.scoring import check_probabilities
from simstudy.estimators.bench import Bench, Judge, TrainTest
from simstudy.estimators.comparing import LearnerTest
from simstudy.experiments.scoring import ExactTask, Streams, bench_of, splitter
from simstudy.experiments.tests import LEVEL
from simstudy.learners.base import Learner, fit_parts

SHARE_OF_COPIES = 0.8
Splitter = Callable[[Scheme], Sequence[Split]]


class Contest(NamedTuple):
    """One data set of a model: pairs of learners without a difference, and with one."""

    judge: Judge
    copies: list[tuple[Bench, Bench]]  # of every learner
    mirrored: list[tuple[Bench, Bench]]  # the first being the learner itself
    exact: FloatArray  # values of the learners fitted to all rows, negated if less is better


class RejectingTask(ExactTask[list[Contest], list[float]]):
    """One model and the data sets on which tests compare its learners."""

    @property
    def _exact_measures(self) -> Iterable[Spec]:
        return self._plan.measured[:1]

    @property
    def _sign(self) -> float:
        info = MEASURES.get(self._plan.measured[0].name).info
        return 1.0 if info.greater_is_better else -1.0

    def drawn(self, size: int) -> list[Contest]:
        """Draw the data sets of a size."""
        return [self._contest(f"{size}/{number}", size) for number in range(self._plan.repeats)]

    def _contest(self, place: str, size: int) -> Contest:
        plan = self._plan
        sample = self._known_truth.sample(size, self._stream(f"train/{place}"))
        splits = splitter(sample.target, lambda purpose: self._stream(f"{purpose}/{place}"))
        rows, rng = self._judged.rows, self._stream(f"mirror/{place}")
        assert not isinstance(rows, Sample), "an exact test has codes"
        mirror = mirrored_attributes(self._judged.tests[EXACT], rows, sample.target, rng)
        copies, mirrored = [], []
        for component in plan.learners:
            learner, streams = self._learner(component), self._streams(component, place)
            apart = self._streams(component, f"{place}/copies")
            each = partial(copy_bench, learner, sample, splits, apart)
            copies.append((each("one"), each("other")))
            mirrored.append(bench_of(learner, sample, splits, streams, mirror))
        judge = self._judge_of(plan.measured[0], sample)
        exact = self._sign * self._exact(sample, f"{place}/all")[:, 0]
        return Contest(judge, copies, mirrored, exact)

    def applied(self, component: Spec, shared: list[Contest]) -> list[float]:
        """Let a test compare the learners on every data set: the shares of rejections."""
        test = build(TESTS, component)
        shares = np.array([self._rejections(test, contest) for contest in shared]).mean(axis=0)
        return shares.tolist()

    def scored(
        self, outcome: list[float], shared: list[Contest]
    ) -> tuple[tuple[float, ...], list[str], str]:
        """Return the shares of rejections, and the mean exact differences between learners."""
        pairs = [[*combinations(contest.exact.tolist(), 2)] for contest in shared]
        gaps = np.array([[first - second for first, second in each] for each in pairs])
        return (*outcome, *gaps.mean(axis=0).tolist()), [], ""

    def _rejections(self, test: LearnerTest, contest: Contest) -> list[float]:
        """Return, for every column but the differences, whether the test rejects."""
        nulls = [*contest.copies, *contest.mirrored]
        type_1 = [float(test.test(*pair, contest.judge).rejects(LEVEL)) for pair in nulls]
        powers, wrongs = [], []
        learners = zip(contest.mirrored, contest.exact.tolist(), strict=True)
        for ((first, _), value), ((second, _), rival) in combinations(learners, 2):
            decision = test.test(first, second, contest.judge)
            agrees = self._sign * decision.difference * (value - rival) > 0
            rejects = decision.rejects(LEVEL)
            powers.append(float(rejects and agrees))
            wrongs.append(float(rejects and not agrees))
        return [*type_1, *powers, *wrongs]


def copy_bench(
    learner: Learner, sample: Sample, splits: Splitter, streams: Streams, which: str
) -> Bench:
    """Return the bench of a copy of a learner, fitted to its own 80 % of the training rows."""

    def chosen(part: TrainTest) -> tuple[IntArray, np.random.Generator]:
        rng = streams(f"{which}/{part.purpose}")
        number = max(round(SHARE_OF_COPIES * len(part.train)), 1)
        return np.sort(rng.permutation(part.train)[:number]), rng

    def answers(parts: Iterable[TrainTest]) -> Iterator[FloatArray]:
        parts, trained = tee(parts)
        fits = fit_parts(learner, sample, map(chosen, trained))
        for part, fitted in zip(parts, fits, strict=True):
            proba = fitted.predict_proba(sample.attributes[part.test])
            yield check_probabilities(proba, len(part.test), sample.classes)

    return Bench(sample.target, sample.classes, answers, splits)


def mirrored_attributes(
    test: Trial, rows: IntArray, target: IntArray, rng: np.random.Generator
) -> IntArray:
    """Draw new attributes for the same classes from the joint distribution."""
    assert test.weights is not None
    uniform, drawn = rng.random(len(target)), np.empty(len(target), dtype=np.intp)
    for label in np.unique(target):
        rows_of, mine = np.flatnonzero(test.target == label), target == label
        ends = np.cumsum(test.weights[rows_of])
        places = np.searchsorted(ends, uniform[mine] * ends[-1], side="right")
        drawn[mine] = test.rows[rows_of[np.minimum(places, len(rows_of) - 1)]]
    attributes: IntArray = np.asarray(rows)[drawn]
    return attributes
