"""Nested cross-validation (Bates, Hastie & Tibshirani 2023)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.resampling import CrossValidation
from simstudy.errors import require
from simstudy.estimators.base import Estimator, Splitting
from simstudy.estimators.bench import Bench, Judge, Outcome
from simstudy.estimators.estimate import Estimate
from simstudy.measures.base import Undefined
from simstudy.measures.intervals import normal_quantile

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
    mean of their squared difference, less the variance of the latter, estimates the mean squared
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
        The fit without each fold, asked about it.
    pairs : sequence of Outcome
        The fit without each two folds, in the order of `itertools.combinations`, asked about the
        first and then about the second.
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
