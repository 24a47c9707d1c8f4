"""Means, t quantiles, adjustments for multiple testing, and checks of parameters."""

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from scipy.special import stdtrit

from simstudy.arrays import BoolArray, FloatArray, IntArray
from simstudy.errors import SimstudyError
from simstudy.measures.base import divided

# Deviations of a few units in the last place are rounding, not variation: scores that differ by
# 0.1 in every model differ by 0.1 ± 1e-17 in floating point.
ROUNDING = 4 * float(np.finfo(np.float64).eps)


def check(condition: bool, parameter: str, value: object, rule: str) -> None:
    """Raise an error that names a parameter, its value and the rule, unless a condition holds."""
    if not condition:
        raise SimstudyError(f"{parameter} is {value!r}; it must {rule}")


def check_option(parameter: str, value: str, options: Sequence[str]) -> None:
    """Raise an error for a value that is not among the options of a parameter."""
    check(value in options, parameter, value, f"be one of: {', '.join(options)}")


def check_share(parameter: str, value: float) -> None:
    """Raise an error for a value outside the open interval (0, 1)."""
    check(0 < value < 1, parameter, value, "lie between 0 and 1")


def alpha_of(confidence: float) -> float:
    """Return the level of tests at a confidence, 0.05 at 0.95 without rounding error."""
    return round(1 - confidence, 12)


@overload
def is_significant(p: float, alpha: float) -> bool: ...
@overload
def is_significant(p: FloatArray, alpha: float) -> BoolArray: ...
def is_significant(p: Any, alpha: float) -> Any:
    """Whether a test rejects: its p, adjusted if it is one of several, is at most α; NaN is not."""
    return p <= alpha


def mean_and_se(
    values: FloatArray, scale: FloatArray | float
) -> tuple[IntArray, FloatArray, FloatArray, IntArray]:
    """Return count, mean, standard error and degrees of freedom of every column.

    Parameters
    ----------
    values
        Subjects × columns; NaN is ignored.
    scale
        Magnitude of the numbers behind each column, or all: a mean or a spread within rounding
        error of it is 0.

    Returns
    -------
    n, mean, se, df
        The mean of no numbers and the standard error of fewer than two are NaN.
    """
    n = np.isfinite(values).sum(axis=0)
    df = np.maximum(n - 1, 0)
    mean = divided(np.nansum(values, axis=0), n)
    # The rounding errors of a sum of n terms grow like the square root of n.
    mean = np.where(np.abs(mean) <= ROUNDING * np.sqrt(n) * scale, 0.0, mean)
    squares = np.nansum((values - mean) ** 2, axis=0)
    spread = np.sqrt(divided(squares, df))
    spread = np.where(spread <= ROUNDING * scale, 0.0, spread)
    return n, mean, divided(spread, np.sqrt(n)), df


def with_infinities(mean: FloatArray, infinite: FloatArray) -> FloatArray:
    """Return the means of columns that contain infinite values.

    Parameters
    ----------
    mean
        Means of the finite values of every column.
    infinite
        Subjects × columns: the sign of each infinite value, else 0; NaN for an undefined sign.
        Columns with infinities of both signs, or of undefined sign, have no mean.
    """
    up, down = (infinite > 0).any(axis=0), (infinite < 0).any(axis=0)
    mean = np.where(up, np.inf, np.where(down, -np.inf, mean))
    return np.where((up & down) | np.isnan(infinite).any(axis=0), np.nan, mean)


def largest(values: FloatArray) -> FloatArray:
    """Return the largest absolute value of every column; 0 where all are NaN."""
    return np.where(np.isnan(values), 0.0, np.abs(values)).max(axis=0, initial=0.0)


def family_sizes(adjustment: str, tests: IntArray) -> IntArray:
    """Return the number m of tests that each level of a factor is adjusted for.

    Parameters
    ----------
    adjustment
        ``"bonferroni_all"``: all levels together; ``"none"``: one test; else each level by itself.
    tests
        The number of tests at each level.
    """
    if adjustment == "none":
        return np.ones_like(tests)
    m = np.full_like(tests, tests.sum()) if adjustment == "bonferroni_all" else tests
    return np.maximum(m, 1)


def critical_t(confidence: float, m: int | IntArray, df: IntArray | FloatArray) -> FloatArray:
    """Return the two-sided Bonferroni t quantile for m tests; NaN for df = 0."""
    # The lower tail keeps the precision that 1 − α/2m would lose.
    return np.negative(stdtrit(df.astype(np.float64), (1 - confidence) / (2 * m)))


def bonferroni(p: FloatArray, m: int | IntArray) -> FloatArray:
    """Multiply p values by the number of tests, up to 1."""
    return np.minimum(p * m, 1.0)


def holm(p: FloatArray) -> FloatArray:
    """Adjust p values by Holm's step-down method along the last axis.

    NaN stays NaN but counts as one of the tests.
    """
    m = p.shape[-1]
    order = np.argsort(p, axis=-1)
    stepped = np.take_along_axis(p, order, axis=-1) * np.arange(m, 0, -1)
    raised = np.minimum(np.maximum.accumulate(stepped, axis=-1), 1.0)
    adjusted = np.empty_like(p)
    np.put_along_axis(adjusted, order, raised, axis=-1)
    return adjusted
