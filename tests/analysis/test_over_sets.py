"""Comparisons over data sets say what the single tests say, and no more."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.analysis.across import friedman, nemenyi
from simstudy.analysis.adjustment import holm
from simstudy.analysis.data_findings import DataFindings, rope_of
from simstudy.analysis.over_sets import over_sets
from simstudy.measures.base import MeasureInfo

pytestmark = pytest.mark.filterwarnings("error")
SETS = [f"set{place}" for place in range(12)]


def table(*shifts, seed=1):
    """Means of learners that differ by shifts and a little noise."""
    rng = np.random.default_rng(seed)
    base = rng.uniform(0.5, 0.9, len(SETS))
    columns = {
        name: base + shift + rng.normal(0, 0.01, len(SETS))
        for name, shift in zip("ABCD", shifts, strict=False)
    }
    return pd.DataFrame(columns, index=SETS)


def test_pairs_are_decided_by_wilcoxons_test_with_holms_adjustment():
    means = table(0.0, 0.1, 0.1, 0.0)
    found = over_sets(means)
    p = [
        stats.wilcoxon(means[pair.first], means[pair.second], mode="exact").pvalue
        for pair in found.pairs
    ]
    assert [pair.wilcoxon.p for pair in found.pairs] == pytest.approx(p)
    assert [pair.p_adjusted for pair in found.pairs] == pytest.approx(holm(np.array(p)).tolist())
    assert found.m == 6
    winners = {(pair.first, pair.second): pair.winner for pair in found.pairs}
    expected = {("A", "B"): "B", ("A", "C"): "C", ("B", "D"): "B", ("C", "D"): "C"}
    assert winners == {("A", "D"): "", ("B", "C"): "", **expected}
    assert found.leader in "BC"
    assert sorted(found.beaten_by(found.leader)) == ["A", "D"]
    assert found.ahead_of("A") == ("B", "C")
    assert found.ranks == dict(zip("ABCD", friedman(means).mean_ranks, strict=True))
    assert found.nemenyi.critical_difference == nemenyi(means).critical_difference
    assert list(found.table["winner"]) == [pair.winner for pair in found.pairs]


def test_a_data_set_without_a_mean_is_left_out():
    means = table(0.0, 0.1)
    means.loc["set3", "A"] = np.nan
    found = over_sets(means)
    assert found.left_out == ("set3",)
    assert len(found.datasets) == 11
    assert over_sets(means[["A"]]) is None
    assert over_sets(means.iloc[3:5]) is None


def test_equal_learners_have_no_test():
    means = table(0.0)
    found = over_sets(pd.DataFrame({"A": means["A"], "B": means["A"]}))
    (pair,) = found.pairs
    assert (pair.winner, pair.loser) == ("", "")
    assert pair.wilcoxon.reason == "all differences are 0"
    assert tuple(pair.posterior) == (0.0, 1.0, 0.0)
    assert found.friedman.reason


@pytest.mark.parametrize(("sets", "least"), [(5, 0.0625), (6, 0.03125)])
def test_few_data_sets_cannot_be_significant(sets, least):
    means = table(0.0, 0.5).iloc[:sets]
    found = over_sets(means)
    assert found.least_p == least
    assert found.pairs[0].p_adjusted == least  # all differences have one sign
    assert (found.pairs[0].winner == "B") == (least <= 0.05)


def scores(values):
    """Scores of five repeats of two folds from {data set: {learner: ten scores}}."""
    rows = [
        {"dataset": dataset, "learner": learner, "repeat": split // 2, "fold": split % 2}
        | {"size": 50, "test_rows": 50, "gain": score}
        for dataset, own in values.items()
        for learner, given in own.items()
        for split, score in enumerate(given)
    ]
    return pd.DataFrame(rows)


def findings(values, greater=True):
    info = MeasureInfo(greater, label="gain")
    first = next(iter(values.values()))
    return DataFindings(
        "gain", info, tuple(first), tuple(values), scores(values), "holm", 0.05, 0.01
    )


def test_standings_count_best_means_and_tests():
    low = [0.1, 0.11, 0.1, 0.12, 0.11, 0.1, 0.12, 0.1, 0.11, 0.1]
    values = {
        "won": {"A": [0.9 + s for s in low], "B": low},
        "level": {"A": low, "B": low},
        "near": {"A": low, "B": [*reversed([s + 0.001 for s in low])]},
    }
    found = findings(values)
    assert found.best == {"won": ("A",), "level": ("A", "B"), "near": ("B",)}
    assert found.tied == 1
    by = {one.learner: one for one in found.standings}
    assert (by["A"].best, by["B"].best) == (2, 2)
    assert (by["A"].wins, by["A"].losses, by["A"].ahead, by["A"].behind) == (1, 0, 1, 0)
    assert (by["B"].wins, by["B"].losses, by["B"].ahead, by["B"].behind) == (0, 1, 0, 1)
    assert found.untested == 1  # all differences are 0
    assert found.spreads["B"]["won"] == pytest.approx(np.std(low, ddof=1))
    turned = findings(values, greater=False)
    assert turned.best["won"] == ("B",)
    assert turned.means["A"]["won"] == found.means["A"]["won"]  # as they are


def test_a_learner_without_a_score_has_no_mean_and_is_never_best():
    values = {
        "a": {"A": [0.5] * 9 + [np.nan], "B": [0.1] * 10},
        "b": {"A": [np.nan] * 10, "B": [np.nan] * 10},
    }
    found = findings(values)
    assert found.best == {"a": ("B",), "b": ()}
    assert np.isnan(found.spreads["A"]["a"])
    assert found.over_sets is None
    assert found.untested == 2


def test_the_region_of_equivalence_of_a_percentage_is_one():
    assert rope_of(MeasureInfo(True, unit="%")) == 1.0
    assert rope_of(MeasureInfo(True, unit="nats")) == 0.01
