"""Paired comparisons of the levels of one factor, at each level of another."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.special import stdtr

from simstudy.analysis.score_array import Cells, cells
from simstudy.analysis.tests import adjustment as stats
from simstudy.analysis.tests.intervals import paired_share
from simstudy.arrays import FloatArray, IntArray

ADJUSTMENTS = ("bonferroni_all", "bonferroni", "holm", "none")


def pairwise(
    table: pd.DataFrame,
    subject: str = "model",
    factor: str = "learner",
    within: str | None = "size",
    value: str = "information_reward",
    confidence: float = 0.95,
    adjustment: str = "bonferroni",
    share: bool = False,
) -> pd.DataFrame:
    """Compare each pair of levels of a factor by paired t tests over the subjects.

    Each pair has its own standard error and degrees of freedom, the number of subjects minus one;
    nothing is pooled over pairs or levels of `within`. Headlines, marks, bands, thresholds and
    claims read `significant`; they do not decide it again.

    Parameters
    ----------
    table
        One row per subject, level of `factor` and level of `within`.
    subject, factor, value
        Columns of the subjects, of the levels to compare and of the values.
    within
        Column of the levels at which comparisons are made; None if there is no such column, with
        one row per subject and level of `factor`.
    confidence
        Simultaneous confidence of the family of intervals given by `adjustment`.
    adjustment
        ``"bonferroni_all"``: over the pairs at all levels of `within`; ``"bonferroni"``: over the
        pairs at one level; ``"holm"``: Holm's p values over the pairs at one level, with
        Bonferroni intervals (the step-down method has none); ``"none"``. A pair of which one has
        no row at a level is not one of the tests there.
    share
        Whether the values are shares, from 0 to 1, with tests and limits from `paired_share`.

    Returns
    -------
    DataFrame
        One row per level of `within` and pair: the level, `first`, `second`, `n`, `difference`
        (mean of first − second), `se`, `df`, `t`, `p`, `p_adjusted`, `m` (tests in the family),
        `lower`, `upper`, `significant` (whether `p_adjusted` is at most 1 − confidence),
        `first_greater`, the share of subjects with first > second, and `infinite`, the number of
        subjects with an infinite value; if any, the pair is not tested.
        If all differences are equal, t is infinite and p is 0, unless it is of a share; if all are
        0, both are NaN. A warning is logged if a subject could not be used in every comparison.
    """
    stats.check_option("adjustment", adjustment, ADJUSTMENTS)
    stats.check_share("confidence", confidence)
    every = cells(table, subject, (factor,) if within is None else (factor, within), value)
    levels, *further = every.levels
    if len(levels) < 2:
        raise ValueError(f"the factor {factor!r} has one level ({levels[0]}): nothing to compare")
    places = list(itertools.product(*further))  # one empty tuple if there is no other factor
    pairs = list(itertools.combinations(levels, 2))
    first, second, infinite = paired_values(every)
    differences, scale = first - second, np.maximum(stats.largest(first), stats.largest(second))
    n, mean, se, df = stats.mean_and_se(differences, scale)
    mean = np.where((se == 0) & (np.abs(mean) <= stats.ROUNDING * scale), 0.0, mean)
    t, p = t_test(mean, se, df)
    present = (every.status != "no row").any(axis=0).reshape(len(levels), len(places))
    sides = np.triu_indices(len(levels), 1)
    designed = (present[sides[0]] & present[sides[1]]).T  # places × pairs
    m = np.repeat(stats.family_sizes(adjustment, designed.sum(axis=1)), len(pairs))
    half = stats.critical_t(confidence, m, df) * se
    lower, upper = mean - half, mean + half
    if share:
        t, p, lower, upper = paired_share(first, second, confidence, m)

    rows = [(*place, *pair) for place in places for pair in pairs]
    result = pd.DataFrame(rows, columns=[*every.within[1:], "first", "second"])
    result = result.assign(n=n, difference=mean, se=se, df=df, t=t, p=p)
    adjusted = stats.bonferroni(p, m)
    if adjustment == "holm":
        for place, among in enumerate(designed):
            chosen = place * len(pairs) + np.flatnonzero(among)
            adjusted[chosen] = stats.holm(p[chosen])
    greater = np.where(n > 0, (differences > 0).sum(axis=0) / np.maximum(n, 1), np.nan)
    result = result.assign(p_adjusted=adjusted, m=m, lower=lower, upper=upper)
    result = result.assign(first_greater=greater, infinite=(infinite != 0).sum(axis=0))
    result["difference"] = stats.with_infinities(mean, infinite)
    untested = ["se", "t", "p", "p_adjusted", "lower", "upper", "first_greater"]
    result.loc[result["infinite"] > 0, untested] = np.nan
    tested = result["p_adjusted"].to_numpy()
    result["significant"] = stats.is_significant(tested, stats.alpha_of(confidence))
    # A cell without a row for any subject is not part of the design, so no value is missing there.
    kept = np.where(present.reshape(every.array.shape[1:]), every.array, 0.0)
    replace(every, array=kept).left_out(
        "left out of the comparisons of cells without a value", False
    )
    return result


def no_pairs(within: str) -> pd.DataFrame:
    """Return an empty table with the columns of `pairwise`."""
    columns = [within, "first", "second", "n", "difference", "se", "df", "t", "p", "p_adjusted"]
    columns += ["m", "lower", "upper", "first_greater", "infinite", "significant"]
    return pd.DataFrame({column: [] for column in columns})


def paired_values(every: Cells) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return both values of each pair of levels, and the signs of infinite differences.

    All are subjects × pairs, at one level of the second factor after the other. The sign is NaN if
    both values are infinite, and 0 if neither is.
    """
    sides = np.triu_indices(len(every.levels[0]), 1)
    subjects, levels = every.array.shape[:2]

    def halves(array: FloatArray) -> list[FloatArray]:
        cube = array.reshape(subjects, levels, -1)
        return [cube[:, side].swapaxes(1, 2).reshape(subjects, -1) for side in sides]

    (first, second), (up, down) = halves(every.array), halves(every.infinite)
    return first, second, np.where((up != 0) & (down != 0), np.nan, up - down)


def t_test(
    mean: FloatArray, se: FloatArray, df: FloatArray | IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return t and its two-sided p; for se = 0, t is infinite, or NaN if the mean is 0."""
    without_spread = np.where(mean == 0, np.nan, np.copysign(np.inf, mean))
    t = np.where(se == 0, without_spread, np.nan)
    np.divide(mean, se, out=t, where=se > 0)
    p: FloatArray = 2 * stdtr(df.astype(np.float64), -np.abs(t))
    return t, p
