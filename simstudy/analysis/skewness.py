"""Student's t allowing for skewness: intervals extended towards the longer tail.

The distribution of T = (mean − μ)/se has the Edgeworth expansion
Φ(x) + γ (2x² + 1) φ(x) / (6√n), so its quantile at −c lies at −c − γ (2c² + 1)/(6√n) (Johnson 1978;
Hall 1992, section 2.6). With γ > 0 both limits of Student's interval of μ are therefore too low.
Here the upper one is raised; the lower one stays, because γ is estimated.

References
----------
N. J. Johnson (1978). Modified t tests and confidence intervals for asymmetrical populations.
Journal of the American Statistical Association 73.
P. Hall (1992). The Bootstrap and Edgeworth Expansion. Springer.
"""

import numpy as np

from simstudy.analysis.adjustment import mean_and_se
from simstudy.arrays import FloatArray, IntArray


def skewness(values: FloatArray, scale: FloatArray | float) -> FloatArray:
    """Return the sample skewness of every column: mean cubed deviation over the cubed spread.

    Parameters
    ----------
    values, scale
        As in `mean_and_se`: NaN is ignored, and a spread within rounding error of the scale counts
        as 0. The skewness of such a column, or one of fewer than two numbers, is 0.
    """
    n, mean, se, df = mean_and_se(values, scale)
    spread = se * np.sqrt(df)  # of the divisor n
    ratio = np.zeros_like(values)
    np.divide(values - mean, spread, out=ratio, where=np.isfinite(values) & (spread > 0))
    cubes: FloatArray = (ratio**3).sum(axis=0) / np.maximum(n, 1)
    return cubes


def reach(
    crit: FloatArray | float, skew: FloatArray, n: IntArray | int
) -> tuple[FloatArray, FloatArray]:
    """Return how far an interval reaches below and above the mean, in standard errors.

    Parameters
    ----------
    crit
        Quantile of Student's t, by which both limits are apart from the mean without skewness.
    skew, n
        Sample skewness and number of subjects.
    """
    extension = (2 * np.square(crit) + 1) / (6 * np.sqrt(n))
    return crit + np.maximum(-skew, 0.0) * extension, crit + np.maximum(skew, 0.0) * extension


def student_t(t: FloatArray, skew: FloatArray, n: IntArray | int) -> FloatArray:
    """Return the t whose Student's test agrees with the interval: the inverse of `reach`.

    The interval of `reach` excludes 0 if and only if the absolute value of the result is greater
    than the critical value, so that p values of Student's distribution agree with intervals.
    Infinite t, of differences without spread, stay as they are, and so does NaN.
    """
    # With γ/√n = a and 0 on the side of the longer tail: |t| = c + a (2c² + 1)/6, solved for c.
    a = np.where(t < 0, np.maximum(skew, 0.0), np.maximum(-skew, 0.0)) / np.sqrt(n)
    rest = np.maximum(np.abs(np.where(np.isinf(t), 0.0, t)) - a / 6, 0.0)
    adjusted = np.copysign(2 * rest / (1 + np.sqrt(1 + 4 * a * rest / 3)), t)
    return np.where(np.isinf(t), t, adjusted)
