"""Tests of two learners on one data set, whose folds share rows.

All take differences of scores, first minus second, one for each split. Where the splits share
training rows, differences are dependent, and only `naive_t` takes them for independent. Equal
differences other than 0 have an infinite statistic and p = 0; if all are 0, if one is missing or
if there are too few, there is no test, and the outcome has the reason.
"""

import math

import numpy as np
from scipy.special import fdtrc, stdtr

from simstudy.analysis.tests import outcomes
from simstudy.analysis.tests.adjustment import ROUNDING
from simstudy.analysis.tests.bayesian import variance_factor
from simstudy.analysis.tests.outcomes import StatisticOutcome, TOutcome, flaw, ratio, spread_of
from simstudy.arrays import ArrayLike, FloatArray
from simstudy.measures.base import Undefined


def five_by_two_t(differences: ArrayLike) -> StatisticOutcome:
    """5×2cv paired t test: ``t = d₁₁/√(Σ sᵢ²/5)`` with 5 degrees of freedom.

    Parameters
    ----------
    differences : array of shape (5, 2)
        Differences of scores by repeat and fold; the numerator is the first of the first repeat.

    References
    ----------
    T. G. Dietterich (1998). Approximate statistical tests for comparing supervised classification
    learning algorithms. Neural Computation 10.
    """
    scaled, variances, reason = _five_by_two(differences)
    if reason:
        return StatisticOutcome("5×2cv paired t", Undefined(reason), Undefined(reason))
    spread = math.sqrt(float(variances.sum()) / 5)
    varied = "the difference is 0, and none varies within repeats"
    t = ratio(float(scaled[0, 0]), spread, varied if scaled.any() else outcomes.ALL_ZERO)
    p = t if math.isnan(t) else float(2 * stdtr(5, -abs(t)))
    return StatisticOutcome("5×2cv paired t", t, p)


def five_by_two_f(differences: ArrayLike) -> StatisticOutcome:
    """Combined 5×2cv F test: ``F = Σ dᵢⱼ²/(2 Σ sᵢ²)`` with 10 and 5 degrees of freedom.

    Parameters
    ----------
    differences : array of shape (5, 2)
        Differences of scores by repeat and fold; their order does not matter.

    References
    ----------
    E. Alpaydin (1999). Combined 5×2 cv F test for comparing supervised classification learning
    algorithms. Neural Computation 11.
    """
    scaled, variances, reason = _five_by_two(differences)
    if reason:
        return StatisticOutcome("combined 5×2cv F", Undefined(reason), Undefined(reason))
    F = ratio(float((scaled**2).sum()), 2 * float(variances.sum()))
    p = F if math.isnan(F) else float(fdtrc(10, 5, F)) if math.isfinite(F) else 0.0
    return StatisticOutcome("combined 5×2cv F", F, p)


def corrected_t(differences: ArrayLike, test_share: float, confidence: float = 0.95) -> TOutcome:
    """Corrected resampled t test of differences over splits that share rows.

    The standard error is ``√((1/J + n_test/n_train) s²)``, J the number of differences, with J − 1
    degrees of freedom, as in Weka. (The text of Witten, Frank & Hall, 5.5, has J = 10 for ten
    repeats of ten folds, Weka has 100.)

    Parameters
    ----------
    differences : array of shape (J,), or repeats × folds
        Differences of scores, one for each split.
    test_share : float > 0, < 1
        Test rows by all rows of the splits, ``Σ n_test/Σ (n_test + n_train)``.
    confidence : float > 0, < 1
        Confidence of the interval of the mean difference.

    References
    ----------
    C. Nadeau & Y. Bengio (2003). Inference for the generalization error. Machine Learning 52.
    """
    values = outcomes.numbers(differences)
    factor = variance_factor(len(values), test_share)
    return _paired("corrected resampled t", values, factor, confidence)


def naive_t(differences: ArrayLike, confidence: float = 0.95) -> TOutcome:
    """Paired t test that takes differences for independent; for comparison with `corrected_t`.

    Splits of one data set share rows: their differences are dependent, the standard error
    ``√(s²/J)`` is too small, and so is p. The name of the test says so.

    Parameters
    ----------
    differences : array of shape (J,), or repeats × folds
        Differences of scores, one for each split.
    confidence : float > 0, < 1
        Nominal confidence of the interval of the mean difference.
    """
    values = outcomes.numbers(differences)
    factor = 1 / max(len(values), 1)
    return _paired("naive paired t (too optimistic)", values, factor, confidence)


def unpaired_t(first: ArrayLike, second: ArrayLike, confidence: float = 0.95) -> TOutcome:
    """t test of two independent samples of scores that cannot be paired.

    The variance of the difference of means is ``s₁²/k + s₂²/l``; the degrees of freedom are the
    smaller of k − 1 and l − 1, which is conservative beside Welch's.

    Parameters
    ----------
    first : array of shape (k,)
        Scores of the first learner.
    second : array of shape (l,)
        Scores of the second learner, from other splits or rows.
    confidence : float > 0, < 1
        Confidence of the interval of the difference.

    References
    ----------
    I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, section 5.5.
    """
    samples = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    n = min(map(len, samples))
    reason = flaw(samples[0], "values of the first") or flaw(samples[1], "values of the second")
    if reason:
        return outcomes.no_t("unpaired t", reason, n, confidence)
    difference = float(samples[0].mean() - samples[1].mean())
    largest = max(float(np.abs(sample).max()) for sample in samples)
    if abs(difference) <= ROUNDING * largest:
        difference = 0.0
    se = math.hypot(*(spread_of(sample) / math.sqrt(len(sample)) for sample in samples))
    return outcomes.t_outcome("unpaired t", difference, se, n - 1, n, confidence)


def _paired(test: str, values: FloatArray, factor: float, confidence: float) -> TOutcome:
    """Return the t test of differences whose mean has the variance factor · s²."""
    reason, n = flaw(values, "differences"), len(values)
    if reason:
        return outcomes.no_t(test, reason, n, confidence)
    se = math.sqrt(factor) * spread_of(values)
    return outcomes.t_outcome(test, float(values.mean()), se, n - 1, n, confidence)


def _five_by_two(differences: ArrayLike) -> tuple[FloatArray, FloatArray, str]:
    """Return differences by repeat and fold over the largest, their variances and any flaw.

    So scaled, their squares neither overflow nor underflow. The variance of a repeat is
    (d₁ − d₂)²/2; 0 where the two differ only by rounding.
    """
    values = np.asarray(differences, dtype=np.float64)
    if values.shape != (5, 2):
        raise ValueError(f"differences must have the shape (5, 2), not {values.shape}")
    if reason := flaw(values.ravel(), "differences"):
        return values, values, reason
    largest = float(np.abs(values).max())
    scaled = values / largest if largest > 0 else values
    gaps = scaled[:, 0] - scaled[:, 1]
    gaps[np.abs(gaps) <= outcomes.NO_SPREAD] = 0.0
    return scaled, gaps**2 / 2, ""
