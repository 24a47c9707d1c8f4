"""Comparisons over data sets say what the single tests say, and no more."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy import measures
from simstudy.analysis.datasets.across_datasets import over_sets
from simstudy.analysis.datasets.findings import DataFindings, rope_of
from simstudy.analysis.tests.adjustment import holm
from simstudy.analysis.tests.friedman import friedman, nemenyi
from simstudy.measures.base import MeasureInfo
from simstudy.report.charts import ranks as charts
from simstudy.report.charts.spec import Line, Marks
from simstudy.report.prose.data_statements import dissent_sentences, equivalence
from simstudy.report.tables import datasets as build

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


def test_the_region_of_equivalence_is_in_the_unit_of_the_measure():
    assert rope_of(MeasureInfo(True, unit="%")) == 1.0
    assert rope_of(MeasureInfo(True, unit="bits")) == rope_of(MeasureInfo(True)) == 0.01
    assert rope_of(MeasureInfo(True, unit="nats")) == pytest.approx(0.01 * np.log(2))
    assert rope_of(MeasureInfo(True, equivalent=0.5)) == 0.5
    assert rope_of(measures.message_length.info) == 0
    assert equivalence(rope_of(measures.log_loss.info), measures.log_loss.info) == (
        "equivalent: within ±0.0069 nats"
    )
    with pytest.raises(ValueError, match="equivalent is -1"):
        measures.measure(greater_is_better=True, equivalent=-1)


# Which pairs are joined, and what other tests say


def verdicts(found):
    return {(pair.first, pair.second): pair.winner for pair in found.pairs}


@pytest.mark.parametrize("seed", range(3))
def test_two_learners_share_a_group_iff_they_are_not_separated(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 1, (12, 7)) + rng.uniform(0, 2.5, 7)
    found = over_sets(pd.DataFrame(values, columns=[*"ABCDEFG"]))
    for (first, second), winner in verdicts(found).items():
        joined = any({first, second} <= {*group} for group in found.groups)
        assert joined == (winner == "")
    groups = [{*group} for group in found.groups]
    assert not any(one < other for one in groups for other in groups)  # maximal
    ranks = found.ranks
    assert all([*group] == sorted(group, key=ranks.__getitem__) for group in found.groups)


def gap():
    """Means in which the learner of the middle rank differs from both ends, which do not differ."""
    base = np.random.default_rng(0).permutation(10) / 10
    wild = np.where(np.arange(10) < 7, 1.0, -1.2) + np.arange(10) / 100
    columns = {"low": base, "middle": base + 0.1 + np.arange(10) / 100, "wild": base + wild}
    return pd.DataFrame(columns, index=SETS[:10])


def test_a_group_need_not_be_a_run_of_ranks():
    found = over_sets(gap())
    ranks = found.ranks
    assert verdicts(found)["low", "middle"] == "middle"
    assert found.groups == (("wild", "middle"), ("wild", "low"))
    assert ranks["wild"] < ranks["middle"] < ranks["low"]
    chart = charts.over_sets(found)
    bars = [one for one in chart.layers if isinstance(one, Line) and one.kind == "join"]
    marks = [one for one in chart.layers if isinstance(one, Marks)]
    assert len(bars) == 2
    levels = [one.y[0] for one in bars]
    assert len({*levels}) == 2  # one above the other
    dots = [[mark.x[0] for mark in marks if mark.y[0] == level] for level in levels]
    assert dots == [
        [ranks["wild"], ranks["middle"]],
        [ranks["wild"], ranks["low"]],  # passes the middle one, which has no dot
    ]
    assert "joined by bars: wild, middle | wild, low" in chart.description
    assert "critical" not in chart.description
    listed = charts.over_sets(found, joined=False)
    columns: dict[float, list[float]] = {}  # of marks, those of a group below each other
    for one in listed.layers:
        if isinstance(one, Marks):
            columns.setdefault(one.x[0], []).append(one.y[0])
    assert [rows for rows in columns.values() if len(rows) > 1] == [[0, 1], [0, 2]]


def test_the_tests_that_disagree_are_named_with_their_numbers():
    found = over_sets(gap(), rope=0.01)
    by = {(one.test, one.pair.first, one.pair.second): one.separates for one in found.dissents}
    for pair in found.pairs:
        others = {
            "Nemenyi": found.apart(pair) >= found.nemenyi.critical_difference,
            "sign test": pair.p_sign_adjusted <= 0.05,
            "Bayesian signed rank": max([*pair.posterior][::2]) >= 0.95,
        }
        expected = {test: yes for test, yes in others.items() if yes != bool(pair.winner)}
        own = {
            test: yes for (test, *names), yes in by.items() if names == [pair.first, pair.second]
        }
        assert own == expected
    # All differences of these two have one sign, but their average ranks are too near.
    apart, critical = found.apart(found.pairs[0]), found.nemenyi.critical_difference
    assert apart < critical
    said = dissent_sentences(found, MeasureInfo(True, unit="%"))
    name = f"Nemenyi's test (critical difference {critical:.2f})"
    assert said[0].startswith(
        f"{name} separates, unlike Wilcoxon’s, low and wild (average ranks 1.10 apart)"
    )
    assert said[1] == f"{name} does not separate low and middle (average ranks {apart:.2f} apart)."


def test_nemenyi_may_separate_what_wilcoxon_does_not():
    # Four learners in the same order on five data sets: ranks are 3 apart, p is 2/32 at best.
    values = np.random.default_rng(2).permuted(np.arange(5.0))[:, None] + [0.0, 0.1, 0.2, 0.3]
    found = over_sets(pd.DataFrame(values, columns=[*"ABCD"]))
    assert {*verdicts(found).values()} == {""}
    assert found.groups == (("D", "C", "B", "A"),)
    assert found.friedman.method == "exact"
    (one,) = found.dissents
    assert (one.test, one.pair.first, one.pair.second, one.separates) == ("Nemenyi", "A", "D", True)
    critical = found.nemenyi.critical_difference
    assert dissent_sentences(found, MeasureInfo(True)) == [
        f"Nemenyi's test (critical difference {critical:.2f}) separates, unlike Wilcoxon’s, "
        "A and D (average ranks 3.00 apart)."
    ]


def test_posteriors_need_six_data_sets():
    few, enough = over_sets(table(0.0, 0.5).iloc[:5]), over_sets(table(0.0, 0.5).iloc[:6])
    assert few.pairs[0].posterior.reason == "fewer than 6 data sets"
    assert not enough.pairs[0].posterior.reason
    shown = build.pairs(few, MeasureInfo(True, unit="nats"))
    assert not any("P(" in cell.text for cell in shown.heads)
    assert "no posterior probabilities: these need 6 data sets" in shown.caption
    shown = build.pairs(enough, MeasureInfo(True, unit="nats"))
    assert any("P(equivalent)" in cell.text for cell in shown.heads)
    assert "within ±0.01 nats" in shown.caption
