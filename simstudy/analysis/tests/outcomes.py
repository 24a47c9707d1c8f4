"""Outcomes of statistical tests, and the differences that they test.

A statistic that does not exist is `Undefined`, with a reason; nothing warns.
"""

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from simstudy.analysis.tests.adjustment import check_share, critical_t
from simstudy.arrays import ArrayLike, FloatArray
from simstudy.measures.base import Undefined

# Differences of scores such as 0.96 - 0.95 carry rounding errors that are large beside them; a
# spread of less than this share of the largest difference is rounding.
NO_SPREAD = 1e-10

ALL_ZERO = "all differences are 0"


@dataclass(frozen=True)
class StatisticOutcome:
    """A statistic and its p, into which the outcome can be unpacked.

    Attributes
    ----------
    test : str
        The name of the test.
    statistic, p : float
        The statistic and its p, two-sided where a test has sides.
    """

    test: str
    statistic: float
    p: float

    def __iter__(self) -> Iterator[float]:
        """Unpack into the statistic and p."""
        return iter((self.statistic, self.p))

    @property
    def reason(self) -> str:
        """Why there is no p; empty if there is one."""
        return reason_of(self.p)

    @property
    def lead(self) -> float:
        """In whose favour two learners differ: positive for the first; NaN if it has no sides."""
        return math.nan


@dataclass(frozen=True)
class TOutcome(StatisticOutcome):
    """A t test of a difference, with the interval that belongs to it.

    Attributes
    ----------
    difference, se : float
        The mean difference, first minus second, and its standard error as the test has it.
    df, n : int
        The degrees of freedom and the number of differences, or of values.
    lower, upper, confidence : float
        The confidence interval.
    """

    difference: float
    se: float
    df: int
    n: int
    lower: float
    upper: float
    confidence: float


def reason_of(value: float) -> str:
    """Return why a value does not exist; empty if it does."""
    return value.reason if isinstance(value, Undefined) else ""


def numbers(values: ArrayLike) -> FloatArray:
    """Return numbers of any shape, such as repeats × folds, in one row."""
    return np.asarray(values, dtype=np.float64).ravel()


def flaw(values: FloatArray, noun: str, least: int = 2) -> str:
    """Return why values cannot be tested: too few rows, or values that are not finite.

    Parameters
    ----------
    values
        The values, or a table of them.
    noun
        What a row is called, in the plural.
    least
        How many are needed.
    """
    if len(values) < least:
        return f"fewer than {least} {noun}" if len(values) else f"no {noun}"
    bad = int((~np.isfinite(values.reshape(len(values), -1))).any(axis=1).sum())
    return f"{bad} of {len(values)} {noun} without a finite value" if bad else ""


def spread_of(values: FloatArray) -> float:
    """Return the standard deviation (divisor n − 1); 0 if values differ only by rounding."""
    largest = float(np.abs(values).max())
    if largest == 0:
        return 0.0
    spread = float((values / largest).std(ddof=1))  # squares neither overflow nor underflow
    return 0.0 if spread <= NO_SPREAD else spread * largest


def ratio(difference: float, se: float, if_zero: str = ALL_ZERO) -> float:
    """Return difference/se: infinite if only se is 0; undefined, with a reason, if both are."""
    if se > 0:
        return difference / se
    return Undefined(if_zero) if difference == 0 else math.copysign(math.inf, difference)


def t_outcome(
    test: str, difference: float, se: float, df: int, n: int, confidence: float
) -> TOutcome:
    """Return the t test of a difference with a standard error, two-sided."""
    check_share("confidence", confidence)
    statistic = ratio(difference, se)
    p = statistic if math.isnan(statistic) else float(2 * stdtr(df, -abs(statistic)))
    half = float(critical_t(confidence, 1, np.array([df]))[0]) * se
    limits = difference - half, difference + half
    return TOutcome(test, statistic, p, difference, se, df, n, *limits, confidence)


def no_t(test: str, reason: str, n: int, confidence: float) -> TOutcome:
    """Return the t test of what cannot be tested."""
    check_share("confidence", confidence)
    none = Undefined(reason)
    return TOutcome(test, none, none, none, none, max(n - 1, 0), n, none, none, confidence)


# Means over folds that should be equal differ in the last digits; this share of a score is
# rounding.
TIES = 1e-12


@dataclass(frozen=True)
class PairedDifferences:
    """Differences over data sets, first minus second; 0 where they are only rounding.

    Attributes
    ----------
    differences, noise : array of shape (n,)
        The differences, and how far each may be off by rounding.
    flaw : str
        Why they cannot be tested; usually empty.
    """

    differences: FloatArray
    noise: FloatArray
    flaw: str


def ranks_of(differences: FloatArray, noise: FloatArray) -> FloatArray:
    """Return ranks of absolute differences, 1 for the smallest; ties share their mean."""
    from scipy.stats import rankdata

    sizes = np.abs(differences)
    order = np.argsort(sizes, kind="stable")
    noise = noise[order]
    steps = np.diff(sizes[order]) > np.maximum(noise[1:], noise[:-1])
    ranks = np.empty(len(sizes))
    ranks[order] = rankdata(np.concatenate([[0], np.cumsum(steps)]))
    return ranks


def table_of(table: ArrayLike) -> tuple[FloatArray, tuple[Hashable, ...]]:
    """Return the scores of a table, data sets × learners, and the names of the learners."""
    values = np.asarray(table, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] < 2:
        raise ValueError(
            "a table must have data sets as rows and two or more learners as columns, "
            f"not the shape {values.shape}"
        )
    return values, tuple(getattr(table, "columns", range(values.shape[1])))


def pair_of(table: ArrayLike) -> PairedDifferences:
    """Return the differences of a table of two learners; one dimension is differences."""
    values = np.asarray(table, dtype=np.float64)
    if values.ndim == 1:
        return PairedDifferences(values, TIES * np.abs(values), flaw(values, "data sets"))
    values, learners = table_of(table)
    if len(learners) != 2:
        raise ValueError(
            f"a table of two learners is needed, not of {len(learners)}; over_pairs tests all pairs"
        )
    if reason := flaw(values, "data sets"):
        return PairedDifferences(np.zeros(len(values)), np.zeros(len(values)), reason)
    noise = TIES * np.abs(values).max(axis=1)
    differences = values[:, 0] - values[:, 1]
    return PairedDifferences(np.where(np.abs(differences) <= noise, 0.0, differences), noise, "")
