"""What tests of two learners on data sets can find: by number of splits and of data sets.

Splits of a data set share rows. Differences of scores over J splits are taken for normal, each pair
of them correlated by the share ρ of test rows (Nadeau & Bengio 2003). Then the statistic of the
corrected resampled t test has a noncentral t distribution with J − 1 degrees of freedom, exactly:
the variance of the mean is σ²(1 + (J − 1)ρ)/J, the expected s² is σ²(1 − ρ), and the two are
independent. Hence its level, too. The standard deviation s between splits is taken to be the same
for all numbers of splits.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from simstudy.analysis.datasets.findings import DataFindings
from simstudy.analysis.models.precision import power
from simstudy.analysis.tests.bayesian import variance_factor
from simstudy.analysis.tests.wilcoxon import signed_rank_shares

MAX_REPEATS, MAX_SETS = 100, 500  # that are suggested
_DRAWS = 4000
_NEAR = 1.15  # how near the least difference is to that of endless repeats
_GAIN = 0.85  # of the least difference, at which more repeats are suggested


class Resolution(NamedTuple):
    """The least differences that could be significant on a data set.

    Attributes
    ----------
    dataset : str
        The data set.
    pairs : int
        The pairs of learners without a significant difference; the differences are their medians.
    least : float
        The least significant difference with the splits of the study.
    repeats : int
        A number of repeats that comes near to what repeats can bring; 0 if they bring little.
    further : float
        The least significant difference with it.
    """

    dataset: str
    pairs: int
    least: float
    repeats: int
    further: float


def least_significant(sd: float, splits: int, test_share: float, alpha: float) -> float:
    """Return the least mean difference that is significant by the corrected resampled t test."""
    t = -float(stdtrit(splits - 1, alpha / 2))
    return t * math.sqrt(variance_factor(splits, test_share)) * sd


def split_power(
    difference: float, sd: float, splits: int, test_share: float, alpha: float
) -> float:
    """Return the power of the corrected resampled t test; see the module.

    Parameters
    ----------
    difference
        The true difference.
    sd
        Standard deviation of the differences between splits.
    splits
        The number J of splits.
    test_share
        Test rows by all rows.
    alpha
        The level.
    """
    spread = sd * math.sqrt(splits * variance_factor(splits, test_share))
    return power(difference, spread, splits, 1 - alpha)


def suggested_repeats(folds: int, repeats: int, test_share: float, alpha: float) -> int:
    """Return the least number of repeats near to what endless repeats bring; 0 if that is little.

    Near: within 15% of the least significant difference. Little: less than 15% below the present.
    """
    limit = least_significant(1.0, 10**6, test_share, alpha)
    now = least_significant(1.0, folds * repeats, test_share, alpha)
    for more in range(repeats + 1, MAX_REPEATS + 1):
        least = least_significant(1.0, folds * more, test_share, alpha)
        if least <= _NEAR * limit:
            return more if least <= _GAIN * now else 0
    return 0


def resolutions(findings: DataFindings) -> list[Resolution]:
    """Return what the corrected resampled t tests of a study could find, by data set.

    Of the pairs that are not significant, at the level of the next test of Holm's method (or of
    all, by Bonferroni's); data sets without such pairs are left out.
    """
    winners = findings.winners
    tests = winners.pairs
    made: list[Resolution] = []
    if winners.test != "corrected_t" or tests.empty:
        return made
    significant = int((tests["winner"] != "").sum()) if winners.adjustment == "holm" else 0
    alpha = winners.alpha / max(winners.m - significant, 1)
    for dataset, scores in findings.scores.groupby("dataset", sort=False):
        open_tests = tests[(tests["dataset"] == dataset) & (tests["winner"] == "")]
        errors = (open_tests["difference"] / open_tests["statistic"]).abs()
        errors = errors[np.isfinite(errors) & (errors > 0)]
        splits = scores[scores["learner"] == findings.learners[0]]
        repeats, test = splits["repeat"].nunique(), int(splits["test_rows"].sum())
        folds = len(splits) // repeats
        if errors.empty:
            continue
        share = test / (test + int(splits["size"].sum()))
        sd = float(errors.median()) / math.sqrt(variance_factor(len(splits), share))
        more = suggested_repeats(folds, repeats, share, alpha)
        at = [least_significant(sd, folds * each, share, alpha) for each in (repeats, more or 1)]
        made.append(Resolution(str(dataset), len(errors), at[0], more, at[1]))
    return made


def least_number(reached: Callable[[int], float], target: float, low: int, high: int) -> int | None:
    """Return the least number from low to high at which a rising power reaches a target."""
    if reached(high) < target:
        return None
    return bisect.bisect_left(range(high), target, lo=low, key=reached)


@cache
def sets_power(difference: float, sd: float, sets: int, alpha: float) -> float:
    """Return the power of Wilcoxon's signed rank test over data sets, by simulation.

    The differences of means on data sets are drawn from a normal distribution.
    """
    rng = np.random.default_rng(np.random.SeedSequence(sets))
    drawn = rng.normal(difference, sd, (_DRAWS, sets))
    ranks = np.abs(drawn).argsort(axis=1).argsort(axis=1) + 1
    sums = np.where(drawn > 0, ranks, 0).sum(axis=1)
    least = np.minimum(sums, sets * (sets + 1) // 2 - sums)
    tails = np.cumsum(signed_rank_shares(np.arange(1, sets + 1)))
    return float((2 * tails[least] <= alpha).mean())
