"""Comparisons of tests: how often they reject, with and without a difference between learners.

Every data set of a comparison is drawn from a model. Two pairs of every learner have no difference:

- copies: each is fitted to 80 % of the training rows, drawn at random for each of the two, so that
  nothing distinguishes them;
- mirrored: one classifier is asked about the rows, and about others that are drawn from the same
  classes: both have the same exact performance.

Two different learners have a difference that is known exactly for every data set.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from time import perf_counter

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.resampling import Scheme, Split
from simstudy.data.sample import Sample
from simstudy.engine.benches import Sequential, Streams, bench_of, fit_and_ask, judge_of, splitter
from simstudy.engine.evaluation import EXACT, Trial
from simstudy.engine.plan import Plan
from simstudy.engine.task import Cell, Task, plain_text
from simstudy.estimators.bench import Bench, Judge
from simstudy.estimators.comparing import LearnerTest
from simstudy.experiments.base import ScoreColumn
from simstudy.learners.base import Learner
from simstudy.measures.base import MeasureInfo
from simstudy.study.registry import MEASURES, TESTS
from simstudy.study.spec import Spec, build

SHARE_OF_COPIES = 0.8
LEVEL = 0.05
Splitter = Callable[[Scheme], Sequence[Split]]


@dataclass(frozen=True)
class Contest:
    """One data set of a model: pairs of learners without a difference, and with one."""

    judge: Judge
    copies: list[tuple[Bench, Bench]]  # of every learner
    mirrored: list[tuple[Bench, Bench]]
    whole: list[Bench]  # the learners themselves
    exact: FloatArray  # values of the learners fitted to all rows, negated if less is better


class RejectingTask(Task):
    """One model and the data sets on which tests compare its learners."""

    def __init__(self, plan: Plan, model: int) -> None:
        super().__init__(plan, model)
        self._contests: tuple[int, list[Contest]] | None = None

    def _scored_columns(self) -> list[ScoreColumn]:
        """The primary measure, which is exact."""
        one = self._plan.measured[0]
        return [ScoreColumn(one.label, one.name, EXACT, one.label, one.parameters)]

    def contests(self, size: int) -> list[Contest]:
        """Return the data sets of a size; the last ones are cached."""
        if self._contests is None or self._contests[0] != size:
            self._contests = None
            made = [self._contest(size, number) for number in range(self._plan.repeats)]
            self._contests = size, made
        return self._contests[1]

    def _contest(self, size: int, number: int) -> Contest:
        plan, place = self._plan, f"{size}/{number}"
        sample = self._known_truth.sample(size, self._stream(f"train/{place}"))
        names, rarer = self._problem.class_names, self._problem.rarer
        judge = judge_of(plan, plan.measured[0], sample.target, self._truth, names, rarer)
        splits = splitter(sample.target, lambda purpose: self._stream(f"{purpose}/{place}"))
        rows, rng = self._judged.rows, self._stream(f"mirror/{place}")
        assert not isinstance(rows, Sample), "an exact test has codes"
        mirror = mirrored_attributes(self._judged.tests[EXACT], rows, sample.target, rng)
        copies, mirrored, whole = [], [], []
        for component in plan.learners:
            learner, streams = self._learner(component), self._streams(component, place)
            own = self._streams(component, f"{place}/copies")
            pair = [copy_bench(learner, sample, splits, own, which) for which in ("one", "other")]
            copies.append((pair[0], pair[1]))
            mirrored.append(bench_of(learner, sample, splits, streams, mirror))
            whole.append(mirrored[-1][0])
        return Contest(judge, copies, mirrored, whole, self._exact(sample, place))

    def _streams(self, component: Spec, place: str) -> Streams:
        return Sequential(
            lambda purpose: self._stream(f"learner/{component.identity}/{place}/{purpose}")
        )

    def _exact(self, sample: Sample, place: str) -> FloatArray:
        """Return the exact values of the learners fitted to all rows of a data set."""
        sign = 1.0 if self._info.greater_is_better else -1.0
        found = []
        for component in self._plan.learners:
            rng = self._stream(f"learner/{component.identity}/{place}/all")
            (value,) = self._score(self._answers(component, sample, rng)[0], sample)
            found.append(math.nan if isinstance(value, BaseException) else sign * value)
        return np.array(found)

    @property
    def _info(self) -> MeasureInfo:
        return MEASURES.get(self._plan.measured[0].name).info

    def score_cell(self, component: Spec, size: int, every: bool = False) -> Cell:
        """Let a test compare the learners on every data set."""
        cell = self._blank(component, size)
        test = build(TESTS, component)
        with warnings.catch_warnings(record=True) as raised, self._isolated():
            warnings.simplefilter("always")
            contests, started = self.contests(size), perf_counter()
            rates = np.array([self._outcomes(test, contest) for contest in contests])
            seconds = perf_counter() - started
        gaps = np.array([self._gaps(contest) for contest in contests])
        values = [*rates.mean(axis=0), *gaps.mean(axis=0)]
        text = f"{raised[0].category.__name__}: {raised[0].message}" if raised else ""
        return replace(
            cell,
            values=tuple(map(float, values)),
            fit_seconds=seconds,
            warning=plain_text(text),
        )

    def _outcomes(self, test: LearnerTest, contest: Contest) -> list[float]:
        """Return, for every column but the differences, whether the test rejects."""
        sign = 1 if self._info.greater_is_better else -1
        nulls = [*contest.copies, *contest.mirrored]
        found = [float(test.test(*pair, contest.judge).rejects(LEVEL)) for pair in nulls]
        powers, wrongs = [], []
        for first, second in combinations(range(len(contest.whole)), 2):
            decision = test.test(contest.whole[first], contest.whole[second], contest.judge)
            better = contest.exact[first] - contest.exact[second]
            agrees = sign * decision.difference * better > 0
            rejects = decision.rejects(LEVEL)
            powers.append(float(rejects and agrees))
            wrongs.append(float(rejects and not agrees))
        return [*found, *powers, *wrongs]

    def _gaps(self, contest: Contest) -> list[float]:
        """Return the exact differences between the learners."""
        pairs = combinations(contest.exact.tolist(), 2)
        return [first - second for first, second in pairs]


def copy_bench(
    learner: Learner, sample: Sample, splits: Splitter, streams: Streams, which: str
) -> Bench:
    """Return the bench of a copy of a learner, fitted to its own 80 % of the training rows."""

    def answer(train: IntArray, test: IntArray, purpose: str) -> FloatArray:
        rng = streams(f"{which}/{purpose}")
        number = max(round(SHARE_OF_COPIES * len(train)), 1)
        chosen = np.sort(rng.permutation(train)[:number])
        rows = sample.attributes[test]
        return fit_and_ask(learner, sample.take(chosen), rows, rng, sample.classes)

    return Bench(sample.target, sample.classes, answer, splits)


def mirrored_attributes(
    test: Trial, rows: IntArray, target: IntArray, rng: np.random.Generator
) -> IntArray:
    """Return attributes drawn anew for given classes, from the joint distribution."""
    assert test.weights is not None
    uniform, drawn = rng.random(len(target)), np.empty(len(target), dtype=np.intp)
    for label in np.unique(target):
        there, mine = np.flatnonzero(test.target == label), target == label
        ends = np.cumsum(test.weights[there])
        places = np.searchsorted(ends, uniform[mine] * ends[-1], side="right")
        drawn[mine] = test.rows[there[np.minimum(places, len(there) - 1)]]
    asked: IntArray = np.asarray(rows)[drawn]
    return asked
