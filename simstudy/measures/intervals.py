"""Intervals and tests for one test set: Wilson, DeLong, McNemar, and the bootstrap over rows.

Values that do not exist are `Undefined`, with a reason.
"""

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from simstudy.arrays import ArrayLike, Class, FloatArray, Labels, Proba
from simstudy.measures.base import MeasureFunction, Undefined, score
from simstudy.measures.positive_class import require
from simstudy.measures.ranking.delong import placements

Scores: TypeAlias = FloatArray  # of the positive class, or probabilities of all classes
BY_ROW = ("truth", "oracle", "limit", "weights")  # context with a value, or more, for every row


@dataclass(frozen=True)
class Interval:
    """A value and its confidence interval."""

    value: float
    lower: float
    upper: float
    confidence: float


@dataclass(frozen=True)
class DeLong(Interval):
    """An AUC, DeLong's variance and an interval cut to [0, 1]; ``unclipped`` is not cut."""

    variance: float
    unclipped: tuple[float, float]
    positives: int
    negatives: int


@dataclass(frozen=True)
class DeLongDifference(Interval):
    """The difference of two AUCs on the same rows, and DeLong's test of it."""

    auc: tuple[float, float]
    variances: tuple[float, float]
    covariance: float
    z: float
    p: float

    @property
    def variance(self) -> float:
        """The variance of the difference."""
        return sum(self.variances) - 2.0 * self.covariance


@dataclass(frozen=True)
class McNemar:
    """McNemar's test of two learners on the same rows, two-sided.

    ``statistic`` and ``p`` are without continuity correction, ``statistic_corrected`` and
    ``p_corrected`` with it, ``p_exact`` is binomial.
    """

    only_first: int
    only_second: int
    statistic: float
    p: float
    statistic_corrected: float
    p_corrected: float
    p_exact: float


@dataclass(frozen=True)
class Bootstrap(Interval):
    """A percentile interval; ``undefined`` draws had no value and were left out."""

    standard_error: float
    samples: int
    undefined: int


def wilson(
    successes: float, n: float, confidence: float = 0.95, z: float | None = None
) -> Interval:
    """Wilson's score interval for a proportion such as an accuracy.

    ``(f + z²/2n ± z sqrt(f/n − f²/n + z²/4n²)) / (1 + z²/n)`` with f = successes/n (Witten, Frank &
    Hall 2011, section 5.2).

    Parameters
    ----------
    successes : float >= 0
        The number of successes, at most n.
    n : float > 0
        The number of trials.
    confidence : float > 0, < 1
        The confidence level.
    z : float > 0, optional
        The normal quantile, in place of that of the confidence; the book rounds it to 1.28 for
        80 %.

    References
    ----------
    E. B. Wilson (1927). Probable inference, the law of succession, and statistical inference.
    Journal of the American Statistical Association 22.
    """
    require(n > 0, "n", n, "it must be above 0")
    require(0 <= successes <= n, "successes", successes, f"it must be from 0 to {n}")
    require(z is None or z > 0, "z", z, "it must be above 0")
    if z is None:
        z = normal_quantile(confidence)
    else:
        confidence = math.erf(z / math.sqrt(2.0))
    f, square = successes / n, z * z / n
    centre = f + square / 2
    half = z * math.sqrt(f * (1 - f) / n + square / (4 * n))
    lower = 0.0 if successes == 0 else (centre - half) / (1 + square)
    upper = 1.0 if successes == n else (centre + half) / (1 + square)
    return Interval(f, lower, upper, confidence)


def delong(
    scores: Scores, y: Labels, *, positive: Class = None, confidence: float = 0.95
) -> DeLong:
    """AUC of two classes with DeLong's variance and a normal interval.

    Parameters
    ----------
    scores : array of shape (n,) or (n, k)
        The scores of the positive class, greater for more probable; or the probabilities of all
        classes, of which those of the positive class are taken.
    y : array of shape (n,)
        The true classes; all but the positive one are negative.
    positive : int, optional
        The positive class; by default class 1 of scores, and of probabilities the class that is
        rarest in ``y``, of equals the last.
    confidence : float > 0, < 1
        The confidence level.

    References
    ----------
    E. R. DeLong, D. M. DeLong & D. L. Clarke-Pearson (1988). Comparing the areas under two or more
    correlated receiver operating characteristic curves. Biometrics 44.

    X. Sun & W. Xu (2014). Fast implementation of DeLong's algorithm. IEEE Signal Processing
    Letters 21.
    """
    normal_quantile(confidence)
    curves = placements((scores,), y, positive)
    (value,), variance = curves.auc, curves.covariance(0, 0)
    limits = _normal_interval(value, variance, confidence)
    lower, upper = limits if math.isnan(variance) else (max(limits[0], 0.0), min(limits[1], 1.0))
    counts = curves.of_positive.shape[1], curves.of_negative.shape[1]
    return DeLong(value, lower, upper, confidence, variance, limits, *counts)


def delong_difference(
    first: Scores, second: Scores, y: Labels, *, positive: Class = None, confidence: float = 0.95
) -> DeLongDifference:
    """Difference of the AUCs of two learners on the same rows, with DeLong's paired test.

    Parameters
    ----------
    first : array of shape (n,) or (n, k)
        The scores, or probabilities, of the first learner, as for `delong`.
    second : array of shape (n,) or (n, k)
        Those of the second learner, which are subtracted.
    y : array of shape (n,)
        The true classes.
    positive : int, optional
        The positive class, as for `delong`.
    confidence : float > 0, < 1
        The confidence level.

    Returns
    -------
    DeLongDifference
        With the normal statistic z and its two-sided p. Both are undefined if the difference has
        no variance, as that of two learners that rank all rows alike.

    References
    ----------
    E. R. DeLong, D. M. DeLong & D. L. Clarke-Pearson (1988). Comparing the areas under two or more
    correlated receiver operating characteristic curves. Biometrics 44.
    """
    normal_quantile(confidence)
    curves = placements((first, second), y, positive)
    areas = curves.auc[0], curves.auc[1]
    variances = curves.covariance(0, 0), curves.covariance(1, 1)
    covariance = curves.covariance(0, 1)
    absent = next((value for value in (areas[0], covariance) if math.isnan(value)), None)
    difference = areas[0] - areas[1] if absent is None else absent
    variance = max(sum(variances) - 2.0 * covariance, 0.0) if absent is None else absent
    z: float = Undefined("the difference has no variance") if absent is None else absent
    if variance > 1e-15:  # less is rounding
        z = difference / math.sqrt(variance)
    p = z if math.isnan(z) else math.erfc(abs(z) / math.sqrt(2.0))
    limits = _normal_interval(difference, variance, confidence)
    return DeLongDifference(difference, *limits, confidence, areas, variances, covariance, z, p)


def mcnemar(first: ArrayLike, second: ArrayLike) -> McNemar:
    """McNemar's test of two learners, from the rows that each predicts correctly.

    With b and c the rows that only the first, or only the second, predicts correctly,
    ``(b − c)²/(b + c)`` is compared with chi-squared of one degree of freedom. With continuity
    correction it is ``(|b − c| − 1)²/(b + c)``, but 0 if b = c, as in R. The exact test is
    binomial.

    Parameters
    ----------
    first : array of bool of shape (n,)
        Whether the first learner is right.
    second : array of bool of shape (n,)
        Whether the second learner is right.

    Returns
    -------
    McNemar
        The statistics are undefined if b = c = 0; the exact p is then 1.

    References
    ----------
    Q. McNemar (1947). Note on the sampling error of the difference between correlated proportions
    or percentages. Psychometrika 12.
    """
    a, b = (np.asarray(right, dtype=np.bool_) for right in (first, second))
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"both learners must have the same rows, not {a.shape} and {b.shape}")
    return mcnemar_counts(int((a & ~b).sum()), int((b & ~a).sum()))


def mcnemar_counts(only_first: int, only_second: int) -> McNemar:
    """McNemar's test from the numbers of rows that only one of two learners predicts correctly.

    Parameters
    ----------
    only_first : int >= 0
        Rows that only the first predicts correctly.
    only_second : int >= 0
        Rows that only the second predicts correctly.
    """
    for name, count in (("only_first", only_first), ("only_second", only_second)):
        require(count >= 0, name, count, "it must be at least 0")
    total, gap = only_first + only_second, abs(only_first - only_second)
    if total == 0:
        none = Undefined("both learners are right in the same rows")
        return McNemar(only_first, only_second, none, none, none, none, 1.0)
    from scipy.special import bdtr

    plain, corrected = gap**2 / total, max(gap - 1, 0) ** 2 / total
    p, p_corrected = (math.erfc(math.sqrt(each / 2.0)) for each in (plain, corrected))
    exact = min(1.0, 2.0 * float(bdtr(min(only_first, only_second), total, 0.5)))
    return McNemar(only_first, only_second, plain, p, corrected, p_corrected, exact)


def bootstrap(
    measure: MeasureFunction,
    proba: Proba,
    y: Labels,
    *,
    samples: int = 2000,
    confidence: float = 0.95,
    rng: int | np.random.Generator = 0,
    **context: Any,
) -> Bootstrap:
    """Percentile bootstrap interval of any measure, over the rows of one test set.

    Rows are drawn with replacement, as many as there are; the limits are the values of ranks
    B α/2 and B (1 − α/2), rounded up, among the B sorted values.

    Parameters
    ----------
    measure : callable
        The measure, over rows or over sets.
    proba : array of shape (n, k)
        The learner's probabilities.
    y : array of shape (n,)
        The true classes.
    samples : int >= 1
        The number B of bootstrap samples.
    confidence : float > 0, < 1
        The confidence level 1 − α.
    rng : int or numpy.random.Generator
        A seed or the source of random numbers.
    **context
        What the measure may declare, such as ``prior``, ``weights`` and its parameters; see
        `simstudy.measures.base.score`. What belongs to rows is drawn with them.

    Returns
    -------
    Bootstrap
        Draws without a value, such as an AUC of one class, are left out and counted.

    References
    ----------
    B. Efron & R. J. Tibshirani (1993). An Introduction to the Bootstrap, chapter 13.
    """
    require(samples >= 1, "samples", samples, "it must be at least 1")
    normal_quantile(confidence)
    value = score(measure, proba, y, **context)
    source, n = np.random.default_rng(rng), len(y)
    q, y = np.asarray(proba), np.asarray(y)
    of_rows = {key: np.asarray(context[key]) for key in BY_ROW if context.get(key) is not None}
    drawn = np.empty(samples)
    for sample in range(samples):
        rows = source.integers(0, n, n)
        resampled = {**context, **{key: array[rows] for key, array in of_rows.items()}}
        if (weights := resampled.get("weights")) is not None and not weights.any():
            drawn[sample] = math.nan
        else:
            drawn[sample] = score(measure, q[rows], y[rows], **resampled)
    ascending = np.sort(drawn[~np.isnan(drawn)])
    lower, upper, error = _percentiles(ascending, confidence)
    return Bootstrap(value, lower, upper, confidence, error, samples, samples - len(ascending))


def _percentiles(ascending: FloatArray, confidence: float) -> tuple[float, float, float]:
    """Return both limits and the standard error of sorted values."""
    if not (count := len(ascending)):
        return (Undefined("no bootstrap sample has a value"),) * 3
    tail = count * (1.0 - confidence) / 2.0
    ranks = math.ceil(tail - 1e-9), math.ceil(count - tail - 1e-9)
    lower, upper = (float(ascending[max(rank, 1) - 1]) for rank in ranks)
    if count > 1 and np.isfinite(ascending).all():
        return lower, upper, float(ascending.std(ddof=1))
    return lower, upper, Undefined("not all values are finite, or there is only one")


def normal_quantile(confidence: float) -> float:
    """Return the normal quantile of a two-sided interval."""
    require(0 < confidence < 1, "confidence", confidence, "it must be between 0 and 1")
    from scipy.special import ndtri

    return float(ndtri((1.0 + confidence) / 2.0))


def _normal_interval(value: float, variance: float, confidence: float) -> tuple[float, float]:
    """Return the normal interval; the reason of a variance that does not exist."""
    if math.isnan(variance):
        return variance, variance
    half = normal_quantile(confidence) * math.sqrt(variance)
    return value - half, value + half
