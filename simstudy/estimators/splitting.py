"""Estimates from rows that are set aside: holdout, cross-validation, leave-one-out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal, get_args

import numpy as np

from simstudy.data.resampling import CrossValidation, Holdout, LeaveOneOut, Scheme
from simstudy.errors import require
from simstudy.estimators.base import Estimator, Splitting
from simstudy.estimators.bench import Bench, Judge, Outcome, test_share
from simstudy.estimators.estimate import Estimate, mean_of, row_interval, row_means, split_intervals
from simstudy.measures.base import Undefined

Interval = Literal["rows", "folds", "corrected"]


@dataclass(frozen=True)
class ResubstitutionEstimator(Estimator):
    """Resubstitution: the learner is judged on the rows that it was fitted to.

    References
    ----------
    I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, section 5.1.
    """

    def estimate(self, bench: Bench, judge: Judge, confidence: float = 0.95) -> Estimate:
        outcome = bench.whole()
        if not judge.by_row:
            return Estimate(judge.value(outcome))
        (values,) = judge.rows([outcome])
        bounds = row_interval(values, judge.proportion, confidence)
        return Estimate(float(values.mean()), {"rows": bounds} if bounds else {}, "rows")


class SplittingEstimator(Splitting, Estimator):
    """Base class of estimators that test some rows after fitting others.

    A measure with a value per row is averaged over all rows tested; one over sets over the splits
    in which it has a value.

    Parameters
    ----------
    interval : {"rows", "folds", "corrected"}
        Its interval: of the rows tested, taken for independent; Student's t over the splits, taken
        for independent; or the same with the variance of Nadeau & Bengio (2003).
    """

    interval: Interval

    def __post_init__(self) -> None:
        super().__post_init__()
        allowed = get_args(Interval)
        rule = f"it must be one of {', '.join(allowed)}"
        require(self.interval in allowed, "interval", self.interval, rule)

    def estimate(self, bench: Bench, judge: Judge, confidence: float = 0.95) -> Estimate:
        outcomes = [*chain(*bench.repeats(self.scheme))]
        return replace(estimate_of_splits(outcomes, judge, confidence), own=self.interval)


def estimate_of_splits(outcomes: Sequence[Outcome], judge: Judge, confidence: float) -> Estimate:
    """Return the mean over splits, or over their rows, and its intervals."""
    by_split = judge.rows(outcomes) if judge.by_row else []
    means = np.array([values.mean() for values in by_split] or [*map(judge.value, outcomes)])
    intervals = split_intervals(means, test_share(outcomes), confidence)
    if not judge.by_row:
        return Estimate(mean_of(means, "split"), intervals)
    places = [outcome.test for outcome in outcomes]
    of_rows = row_means(places, by_split, int(outcomes[0].trained.sum()) + len(places[0]))
    if bounds := row_interval(of_rows, judge.proportion, confidence):
        intervals["rows"] = bounds
    return Estimate(float(np.concatenate(by_split).mean()), intervals)


@dataclass(frozen=True)
class HoldoutEstimator(SplittingEstimator):
    """Holdout: a share of the rows trains, the others are tested; once, or repeated.

    Parameters
    ----------
    share : float > 0, < 1
        The share of training rows.
    repeats : int >= 1, <= 10000
        The number of random splits.
    stratify : bool
        Whether both parts have the classes in the same proportions.

    References
    ----------
    I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, section 5.3.
    """

    share: float = 2 / 3
    repeats: int = 1
    stratify: bool = False
    interval: Interval = "rows"

    @property
    def scheme(self) -> Scheme:
        return Holdout(self.share, self.repeats, self.stratify)


@dataclass(frozen=True)
class CrossValidationEstimator(SplittingEstimator):
    """Cross-validation: each fold in turn is tested, the others train.

    Parameters
    ----------
    folds : int >= 2
        The number of folds; with 2, both halves of a holdout are swapped.
    repeats : int >= 1, <= 10000
        The number of random divisions into folds.
    stratify : bool
        Whether all folds have the classes in the same proportions.

    References
    ----------
    R. Kohavi (1995). A study of cross-validation and bootstrap for accuracy estimation and model
    selection. IJCAI.
    """

    folds: int = 10
    repeats: int = 1
    stratify: bool = False
    interval: Interval = "rows"

    @property
    def scheme(self) -> CrossValidation:
        return CrossValidation(self.folds, self.repeats, self.stratify)


@dataclass(frozen=True)
class FiveByTwoEstimator(SplittingEstimator):
    """5×2cv: five times two folds, the mean of ten halves.

    Parameters
    ----------
    stratify : bool
        Whether both folds have the classes in the same proportions.

    References
    ----------
    T. G. Dietterich (1998). Approximate statistical tests for comparing supervised classification
    learning algorithms. Neural Computation 10.
    """

    stratify: bool = False
    interval: Interval = "rows"

    @property
    def scheme(self) -> CrossValidation:
        return CrossValidation(2, 5, self.stratify)


@dataclass(frozen=True)
class LeaveOneOutEstimator(Estimator):
    """Leave-one-out: each row in turn is tested, all others train.

    A measure over sets is computed from the answers for all rows together, each after its own fit.

    References
    ----------
    I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, section 5.4.
    """

    def estimate(self, bench: Bench, judge: Judge, confidence: float = 0.95) -> Estimate:
        (outcomes,) = bench.repeats(LeaveOneOut())
        if judge.by_row:
            return replace(estimate_of_splits(outcomes, judge, confidence), own="rows")
        if judge.needs_prior:
            return Estimate(Undefined("the prior differs between rows left out"))
        return Estimate(judge.pooled(outcomes))
