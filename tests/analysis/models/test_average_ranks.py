"""Average ranks agree with Demšar (2006), with scipy and with ranks made by hand."""

from __future__ import annotations

import logging
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.analysis.models.average_ranks import rank
from simstudy.analysis.tests.friedman import friedman

# Ranks of four variants of C4.5 on 14 data sets: Demšar (2006), table 6.
DEMSAR = {
    "C4.5": [4, 1, 4, 4, 4, 1, 3, 2.5, 4, 2.5, 4, 3, 4, 3],
    "C4.5+m": [3, 2, 1, 1, 2, 2.5, 2, 2.5, 3, 2.5, 2.5, 2, 1, 1],
    "C4.5+cf": [2, 3, 2, 3, 3, 4, 4, 4, 2, 2.5, 1, 4, 2, 4],
    "C4.5+m+cf": [1, 4, 3, 2, 1, 2.5, 1, 1, 1, 2.5, 2.5, 1, 3, 2],
}


def long(values, size=50):
    """One row for each model and learner."""
    return pd.DataFrame(
        [
            {"model": model, "learner": learner, "size": size, "reward": value}
            for learner, column in values.items()
            for model, value in enumerate(column)
        ]
    )


def test_demsars_example_comes_out():
    test = rank(long(DEMSAR), value="reward", greater_is_better=False)
    found = test.table
    ranks = dict(zip(found["learner"], found["rank"].round(3), strict=True))
    assert ranks == {"C4.5+m+cf": 1.964, "C4.5+m": 2.0, "C4.5+cf": 2.893, "C4.5": 3.143}
    assert (test.n, test.k, test.at, test.confidence) == (14, 4, None, 0.95)
    assert (test.df, test.left_out) == (3, [])
    # The text has 9.28 without a correction for ties; the 3.69 that follows from it has (3, 39).
    uncorrected = test.chi2 * test.tie_correction
    assert uncorrected == pytest.approx(9.28, abs=0.005)
    assert 13 * uncorrected / (14 * 3 - uncorrected) == pytest.approx(3.69, abs=0.005)
    assert (test.df1, test.df2) == (3, 39)
    assert test.critical_difference == pytest.approx(1.25, abs=0.005)
    # 3.143 - 1.964 is below 1.25: at 0.05 no two are told apart.
    assert test.groups == [["C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"]]


def test_with_a_smaller_critical_difference_there_are_two_groups():
    # q is 2.291 at 0.10, so the critical difference is 1.12; 3.143 - 2.000 is 1.143.
    found = rank(long(DEMSAR), value="reward", greater_is_better=False, confidence=0.9)
    assert found.critical_difference == pytest.approx(1.12, abs=0.005)
    assert found.groups == [["C4.5+m+cf", "C4.5+m", "C4.5+cf"], ["C4.5+cf", "C4.5"]]
    assert found.table["not_told_apart"].tolist() == [2, 2, 3, 1]


# Demšar (2006), table 5(a): critical values at 0.05.
Q = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]


@pytest.mark.parametrize(("k", "q"), list(enumerate(Q, start=2)))
def test_the_critical_values_are_those_of_the_table(k, q):
    values = {f"l{index}": [index, index + 0.5] for index in range(k)}
    found = rank(long(values), value="reward")
    assert found.q == pytest.approx(q, abs=0.001)
    assert found.critical_difference == pytest.approx(found.q * math.sqrt(k * (k + 1) / (6 * 2)))


@pytest.mark.parametrize("ties", [False, True])
def test_friedmans_test_is_scipys(ties):
    rng = np.random.default_rng(1)
    values = rng.normal(size=(5, 16)) + np.arange(5)[:, None] / 3
    values = np.round(values, 0 if ties else 9)
    table = long({f"l{index}": row for index, row in enumerate(values)})
    found = rank(table, value="reward")
    chi2, p = stats.friedmanchisquare(*values)
    assert (found.chi2, found.p) == (pytest.approx(chi2), pytest.approx(p))
    assert (found.tie_correction < 1) == ties
    F = 15 * chi2 / (16 * 4 - chi2)
    assert (found.F, found.p_F) == (pytest.approx(F), pytest.approx(stats.f.sf(F, 4, 60)))
    assert found.method == "approximate"


def test_few_subjects_have_the_exact_test():
    values = np.array([[3.0, 1, 2], [3, 2, 1], [1, 3, 2], [3, 2, 1]])
    found = rank(long(dict(zip("abc", values.T, strict=True))), value="reward")
    assert found.method == "exact"
    assert found.p == found.p_F == friedman(values).p


def test_ties_share_their_ranks_and_rounding_is_no_difference():
    table = long({"a": [0.3, 1.0], "b": [0.1 + 0.2, 2.0], "c": [0.1, 3.0]})
    found = rank(table, value="reward").table.set_index("learner")["rank"]
    # Model 0: a and b share 1 and 2, c has 3. Model 1: c 1, b 2, a 3.
    assert found.to_dict() == {"a": 2.25, "b": 1.75, "c": 2.0}


def test_for_losses_the_smallest_is_best():
    table = long({"a": [1.0, 2.0, 1.5], "b": [2.0, 1.0, 2.5]})
    gains = rank(table, value="reward").table.set_index("learner")["rank"]
    losses = rank(table, value="reward", greater_is_better=False).table
    assert gains.to_dict() == {"a": 5 / 3, "b": 4 / 3}
    assert losses.set_index("learner")["rank"].to_dict() == {"a": 4 / 3, "b": 5 / 3}
    assert losses["learner"].iloc[0] == "a"


def test_at_one_size_or_over_the_averages_of_all():
    few = long({"a": [1.0, 1.0, 1.0], "b": [0.0, 0.0, 0.0]}, 50)
    many = long({"a": [0.0, 0.0, 0.9], "b": [3.0, 3.0, 1.0]}, 500)
    table = pd.concat([few, many])
    for at, best in ((50, {"a": 1.0, "b": 2.0}), (500, {"a": 2.0, "b": 1.0})):
        found = rank(table, value="reward", at=at)
        assert found.at == at
        assert found.table.set_index("learner")["rank"].to_dict() == best
    # Averages: a 0.5 0.5 0.95, b 1.5 1.5 0.5.
    both = rank(table, value="reward").table.set_index("learner")["rank"]
    assert both.to_dict() == {"b": 4 / 3, "a": 5 / 3}


def test_models_without_a_finite_value_are_left_out_by_name(caplog):
    table = long({"a": [1.0, 2.0, np.nan, 1.0], "b": [0.0, 1.0, 0.0, np.inf]})
    with caplog.at_level(logging.WARNING):
        found = rank(table, value="reward")
    assert found.n == 2
    assert [entry.subject for entry in found.left_out] == [2, 3]
    assert "learner b, size 50 (infinite)" in found.left_out[1].reason
    assert "left out" in caplog.text


def test_perfect_agreement_and_perfect_equality_have_their_limits():
    agreed = rank(long({"a": [1.0, 2.0], "b": [0.0, 1.0]}), value="reward")
    assert (agreed.chi2, agreed.F, agreed.p_F) == (2.0, math.inf, 0.5)  # exact: two orders
    equal = rank(long({"a": [1.0, 2.0], "b": [1.0, 2.0]}), value="reward")
    assert all(math.isnan(getattr(equal, key)) for key in ("chi2", "p", "F", "p_F"))
    assert equal.groups == [["a", "b"]]


def test_what_cannot_be_ranked_is_refused():
    with pytest.raises(ValueError, match="nothing to rank"):
        rank(long({"a": [1.0, 2.0]}), value="reward")
    with pytest.raises(ValueError, match="at least two"):
        rank(long({"a": [1.0], "b": [2.0]}), value="reward")
    with pytest.raises(ValueError, match="has no 60; it has: 50"):
        rank(long({"a": [1.0, 2.0], "b": [2.0, 1.0]}), value="reward", at=60)
