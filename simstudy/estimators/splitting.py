"""Estimates from held-out rows: holdout, cross-validation, leave-one-out, nested."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from typing import Literal, NamedTuple, get_args

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.splits.schemes import CrossValidation, Holdout, LeaveOneOut, Scheme
from simstudy.errors import require
from simstudy.estimators import bench as base
from simstudy.estimators.bench import Bench, Estimate, Estimator, Judge, Outcome, Splitting
from simstudy.measures.base import Undefined
from simstudy.measures.intervals import normal_quantile
from simstudy.measures.positive_class import require_one_of

Interval = Literal["rows", "folds", "corrected"]


@dataclass(frozen=True)
class ResubstitutionEstimator(Estimator):
    """Resubstitution: the learner is evaluated on its training rows.

    References
    ----------
    I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, section 5.1.
    """

    def estimate(self, bench: Bench, judge: Judge, confidence: float = 0.95) -> Estimate:
        outcome = bench.whole()
        if not judge.by_row:
            return Estimate(judge.value(outcome))
        (values,) = judge.rows([outcome])
        bounds = base.row_interval(values, judge.proportion, confidence)
        return Estimate(float(values.mean()), {"rows": bounds} if bounds else {}, "rows")


class SplittingEstimator(Splitting, Estimator):
    """Base class of estimators that test some rows after fitting others.

    A measure with a value per row is averaged over all rows tested; one over sets over the splits
    in which it has a value.

    Parameters
    ----------
    interval : {"rows", "folds", "corrected"}
        The interval reported: over the test rows, treated as independent; Student's t over the
        splits, treated as independent; or the same with the variance of Nadeau & Bengio (2003).
    """

    interval: Interval

    def __post_init__(self) -> None:
        super().__post_init__()
        require_one_of("interval", self.interval, get_args(Interval))

    def estimate(self, bench: Bench, judge: Judge, confidence: float = 0.95) -> Estimate:
        outcomes = [*chain(*bench.repeats(self.scheme))]
        return replace(estimate_of_splits(outcomes, judge, confidence), chosen=self.interval)


def estimate_of_splits(outcomes: Sequence[Outcome], judge: Judge, confidence: float) -> Estimate:
    """Return the mean over splits, or over their rows, and its intervals."""
    by_split = judge.rows(outcomes) if judge.by_row else []
    means = np.array([values.mean() for values in by_split] or [*map(judge.value, outcomes)])
    intervals = base.split_intervals(means, base.test_share(outcomes), confidence)
    if not judge.by_row:
        return Estimate(base.mean_of(means, "split"), intervals)
    places, values = np.concatenate([each.test for each in outcomes]), np.concatenate(by_split)
    counts = np.bincount(places)
    of_rows = (np.bincount(places, values) / np.maximum(counts, 1))[counts > 0]
    if bounds := base.row_interval(of_rows, judge.proportion, confidence):
        intervals["rows"] = bounds
    return Estimate(float(values.mean()), intervals)


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
            return replace(estimate_of_splits(outcomes, judge, confidence), chosen="rows")
        if judge.needs_prior:
            return Estimate(Undefined("the prior differs between rows left out"))
        return Estimate(judge.pooled(outcomes))


NO_ROWS = "nested cross-validation needs a measure with a value for every row"
FEW_ROWS = "nested cross-validation needs at least two rows in every fold"


class Nested(NamedTuple):
    """The pieces of one division into folds (algorithm 1)."""

    inner: FloatArray  # values of rows, each with its own fold and one more left out
    outer: FloatArray  # values of rows with their own fold left out
    a: FloatArray  # (mean inner − mean outer)² of every fold
    b: FloatArray  # the variance of the mean outer value of every fold


@dataclass(frozen=True)
class NestedEstimator(Splitting, Estimator):
    """Nested cross-validation: an interval that allows for the dependence between folds.

    For every fold, cross-validation within the others is compared with the value on the fold: the
    mean of their squared difference, minus the variance of the latter, estimates the mean squared
    error of cross-validation. The interval is ``value ± z √((K − 1)/K · MSE)``, its standard error
    kept between one and √K times that of independent rows. The value is corrected for the bias of
    smaller training sets, ``(1 + ((K − 2)/K)^1.5) (Err_NCV − Err_CV)``.

    Parameters
    ----------
    folds : int >= 3
        The number K of folds.
    repeats : int >= 1, <= 10000
        The number of random divisions into folds, whose pieces are averaged.
    stratify : bool
        Whether all folds have the classes in the same proportions.

    Notes
    -----
    Err_CV is of the same divisions into folds; the authors' program draws others. K(K + 1)/2 fits
    are needed for each repeat.

    References
    ----------
    S. Bates, T. Hastie & R. Tibshirani (2023). Cross-validation: what does it estimate and how well
    does it do it? Journal of the American Statistical Association 119. Algorithm 1, section 4.3 and
    appendix C.
    """

    folds: int = 10
    repeats: int = 50
    stratify: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.folds >= 3, "folds", self.folds, "it must be at least 3")

    @property
    def scheme(self) -> CrossValidation:
        """The folds."""
        return CrossValidation(self.folds, self.repeats, self.stratify)

    def estimate(self, bench: Bench, judge: Judge, confidence: float = 0.95) -> Estimate:
        if not judge.by_row:
            return Estimate(Undefined(NO_ROWS))
        if len(bench) < 2 * self.folds:
            return Estimate(Undefined(FEW_ROWS))
        folds, pairs = bench.repeats(self.scheme), bench.pairs_left_out(self.scheme)
        repeats = [nested_pieces(*parts, judge) for parts in zip(folds, pairs, strict=True)]
        return nested_estimate(repeats, self.folds, len(bench), confidence)


def nested_pieces(folds: Sequence[Outcome], pairs: Sequence[Outcome], judge: Judge) -> Nested:
    """Return the pieces of one division.

    Parameters
    ----------
    folds : sequence of Outcome
        The fit without each fold, with predictions for it.
    pairs : sequence of Outcome
        The fit without each pair of folds, in the order of `itertools.combinations`, with
        predictions for the first and then for the second.
    judge : Judge
        The measure.
    """
    outer = judge.rows(folds)
    inner = np.concatenate(judge.rows(pairs))
    number, lengths = len(folds), [len(outcome.test) for outcome in folds]
    # A value counts for the fold that is left out beside its own.
    tested = np.array([*combinations(range(number), 2)])
    left_out: IntArray = np.repeat(tested[:, ::-1], np.take(lengths, tested).ravel())
    means = np.bincount(left_out, inner, number) / np.bincount(left_out, minlength=number)
    a = (means - np.array([values.mean() for values in outer])) ** 2
    b = np.array([values.var(ddof=1) / len(values) for values in outer])
    return Nested(inner, np.concatenate(outer), a, b)


def nested_estimate(
    repeats: Sequence[Nested], folds: int, rows: int, confidence: float
) -> Estimate:
    """Return the corrected value and its interval, from the pieces of all divisions."""
    inner = np.concatenate([pieces.inner for pieces in repeats])
    outer = np.concatenate([pieces.outer for pieces in repeats])
    mse = float(np.mean([pieces.a.mean() - pieces.b.mean() for pieces in repeats]))
    mean = float(inner.mean())
    bias = (1 + ((folds - 2) / folds) ** 1.5) * (mean - float(outer.mean()))
    value = mean - bias
    if not math.isfinite(value):
        return Estimate(value)
    naive = float(inner.std(ddof=1)) / math.sqrt(rows)
    se = math.sqrt(max(mse, 0.0) * (folds - 1) / folds)
    se = min(max(se, naive), math.sqrt(folds) * naive)
    half = normal_quantile(confidence) * se
    return Estimate(value, {"nested": (value - half, value + half)}, "nested")
