"""What tests on data sets can find, compared with simulation and with scipy."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from simstudy.analysis.datasets.findings import DataFindings
from simstudy.analysis.datasets.split_power import (
    least_number,
    least_significant,
    resolutions,
    sets_power,
    split_power,
    suggested_repeats,
)
from simstudy.analysis.tests.resampled import corrected_t
from simstudy.measures.base import MeasureInfo

DRAWS = 4000


def rejections(difference: float, splits: int, share: float, alpha: float, seed: int) -> int:
    """How often the test rejects: normal differences with correlation ``share``, one by one."""
    rng = np.random.default_rng(seed)
    common = rng.normal(0, math.sqrt(share), (DRAWS, 1))
    drawn = difference + common + rng.normal(0, math.sqrt(1 - share), (DRAWS, splits))
    return sum(corrected_t(row, share).p <= alpha for row in drawn)


@pytest.mark.parametrize(
    ("difference", "splits", "share", "alpha"),
    [
        (0.0, 10, 0.1, 0.05),
        (0.0, 50, 0.1, 0.05),
        (0.0, 5, 0.2, 0.01),
        (0.8, 10, 0.1, 0.05),
        (1.0, 30, 0.1, 0.01),
        (1.5, 25, 1 / 3, 0.05),
    ],
)
def test_power_is_the_share_of_rejections_under_the_stated_correlation(
    difference, splits, share, alpha
):
    # Differences of variance 1 that correlate by ρ have E s² = 1 − ρ.
    power = split_power(difference, math.sqrt(1 - share), splits, share, alpha)
    if not difference:
        assert power == pytest.approx(alpha, abs=1e-9)
    rejected = rejections(difference, splits, share, alpha, seed=splits)
    assert stats.binomtest(rejected, DRAWS, power).pvalue > 1e-4


@given(
    st.floats(0.01, 2), st.integers(2, 200), st.floats(0.02, 0.6), st.sampled_from([0.05, 0.001])
)
def test_power_is_that_of_a_noncentral_t(difference, splits, share, alpha):
    shift = difference / math.sqrt(1 / splits + share / (1 - share))
    t = stats.t.isf(alpha / 2, splits - 1)
    far = stats.nct.cdf(-t, splits - 1, shift)
    expected = stats.nct.sf(t, splits - 1, shift) + (0 if math.isnan(far) else far)
    assert split_power(difference, 1.0, splits, share, alpha) == pytest.approx(expected, abs=1e-6)


@given(st.integers(0, 10**6), st.integers(3, 60), st.floats(0.02, 0.6), st.floats(1e-4, 0.2))
def test_the_least_significant_difference_has_the_p_of_the_level(seed, splits, share, alpha):
    values = np.random.default_rng(seed).normal(size=splits)
    least = least_significant(values.std(ddof=1), splits, share, alpha)
    assert corrected_t(values - values.mean() + least, share).p == pytest.approx(alpha, rel=1e-6)


@given(st.integers(2, 20), st.integers(1, 12), st.floats(0.05, 0.5), st.sampled_from([0.05, 0.005]))
def test_suggested_repeats_are_the_fewest_near_to_the_limit(folds, repeats, share, alpha):
    def least(times: int) -> float:
        factor = 1 / (folds * times) + share / (1 - share)
        return stats.t.isf(alpha / 2, folds * times - 1) * math.sqrt(factor)

    limit = stats.norm.isf(alpha / 2) * math.sqrt(share / (1 - share))
    more = suggested_repeats(folds, repeats, share, alpha)
    if more:
        assert more > repeats
        assert least(more) <= 1.1501 * limit
        assert least(more) <= 0.85 * least(repeats)
        assert more == repeats + 1 or least(more - 1) > 1.1499 * limit
    else:
        assert least(100) > 0.85 / 1.15 * least(repeats) or least(100) > 1.15 * limit


def test_five_folds_find_less_than_ten_times_as_many():
    five, fifty = (least_significant(1.0, n, 0.2, 0.05) for n in (5, 50))
    # t₀.₉₇₅ with 4 and 49 degrees of freedom: 2.776 and 2.010; factors 1/5 + 1/4 and 1/50 + 1/4
    assert five == pytest.approx(2.7764 * math.sqrt(0.45), rel=1e-4)
    assert fifty == pytest.approx(2.0096 * math.sqrt(0.27), rel=1e-4)


def test_the_least_differences_of_the_default_are_those_of_the_reference():
    # t₀.₉₇₅ with 9 and 99 degrees of freedom: 2.2622 and 1.9842; factors 1/10 + 1/9, 1/100 + 1/9
    ten, hundred = (least_significant(1.0, n, 0.1, 0.05) for n in (10, 100))
    assert ten == pytest.approx(2.2622 * math.sqrt(0.2111111), rel=1e-4)
    assert hundred == pytest.approx(1.9842 * math.sqrt(0.1211111), rel=1e-4)


def scores_of(first: np.ndarray, second: np.ndarray) -> pd.DataFrame:
    """Scores of two learners in five folds of 100 rows."""
    rows = [
        {"dataset": "d", "repeat": 0, "fold": i, "size": 80, "test_rows": 20}
        | {"learner": name, "gain": score}
        for i, pair in enumerate(zip(first, second, strict=True))
        for name, score in zip(("A", "B"), pair, strict=True)
    ]
    return pd.DataFrame(rows)


def found(first: np.ndarray, second: np.ndarray) -> list:
    info = MeasureInfo(True, False, "gain", "", "")
    scores = scores_of(first, second)
    return resolutions(
        DataFindings("gain", info, ("A", "B"), ("d",), scores, "holm", 0.05, 0.01, ("A", "B"))
    )


def test_the_resolution_of_a_study_is_where_its_test_becomes_significant():
    rng = np.random.default_rng(3)
    second = rng.normal(0.7, 0.1, 5)
    noise = rng.normal(0, 0.1, 5)
    noise -= noise.mean()
    (at,) = found(second + noise + 0.01, second)
    assert (at.dataset, at.pairs) == ("d", 1)
    assert at.least == pytest.approx(least_significant(noise.std(ddof=1), 5, 0.2, 0.05))
    assert at.further == pytest.approx(
        least_significant(noise.std(ddof=1), 5 * at.repeats, 0.2, 0.05)
    )
    assert found(second + noise + at.least * 1.001, second) == []
    assert found(second + noise + at.least * 0.999, second) != []


def test_power_over_data_sets_is_that_of_wilcoxons_test():
    rng = np.random.default_rng(0)
    drawn = rng.normal(0.5, 1.0, (1500, 15))
    rejected = sum(stats.wilcoxon(row, method="exact").pvalue <= 0.05 for row in drawn)
    low, high = stats.binomtest(rejected, 1500).proportion_ci(0.9999)
    assert low - 0.02 < sets_power(0.5, 1.0, 15, 0.05) < high + 0.02
    assert sets_power(9.0, 1.0, 5, 0.05) == 0.0  # the least p of five data sets is 2/2⁵
    assert sets_power(9.0, 1.0, 6, 0.05) == 1.0
    assert sets_power(0.0, 1.0, 20, 0.05) < 0.065


def test_the_least_number_that_reaches_a_power_is_found():
    assert least_number(lambda n: n / 100, 0.8, 2, 500) == 80
    assert least_number(lambda n: n / 100, 0.8, 90, 500) == 90
    assert least_number(lambda n: 0.5, 0.8, 2, 500) is None
