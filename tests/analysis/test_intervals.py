import warnings

import numpy as np
import pandas as pd
import pytest

from simstudy.analysis.intervals import intervals

COLUMNS = ["n", "mean", "se", "df", "m", "t_crit", "lower", "upper", "infinite", "method"]


def quietly(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return intervals(*args, **options)


@pytest.mark.parametrize(
    ("adjustment", "kind"),
    [
        ("none", "cells_unadjusted"),
        ("bonferroni", "cells_bonferroni_all_cells"),
        ("bonferroni_within", "cells_bonferroni_within_size"),
    ],
)
def test_cell_intervals_agree_with_emmeans(reference, adjustment, kind):
    if reference.name == "d" and adjustment == "bonferroni_within":
        kind = "cells_bonferroni_all_cells"  # the same with one factor
    result = intervals(
        reference.table, "subject", reference.within, "reward", adjustment=adjustment
    )
    assert list(result.columns) == [*reference.within, *COLUMNS]
    expected = reference.r["emmeans"][kind]
    assert len(result) == len(expected)
    found = result.set_index(reference.within)
    for cell in expected:
        place = tuple(cell[factor] for factor in reference.within)
        row = found.loc[place if len(place) > 1 else place[0]]
        assert row["n"] == reference.r["subjects"]
        for column in ("mean", "se", "df", "lower", "upper"):
            assert row[column] == pytest.approx(cell[column], rel=1e-9, abs=0), column


def test_the_number_of_intervals_in_the_family_is_shown(table_a):
    options = {"subject": "subject", "value": "reward"}
    assert set(intervals(table_a, **options)["m"]) == {12}
    assert set(intervals(table_a, **options, adjustment="bonferroni_within")["m"]) == {4}
    assert set(intervals(table_a, **options, adjustment="none")["m"]) == {1}


@pytest.mark.parametrize(
    ("options", "kind", "t_crit"),
    [
        ({"adjustment": "none"}, "i_cell_t", "i"),
        ({}, "iv_bonferroni_cell_m_all_cells", "iv_m12"),
        (
            {"adjustment": "bonferroni_within"},
            "iv_b_bonferroni_cell_m_learners_within_size",
            "iv_m4",
        ),
        ({"adjustment": "none", "method": "cousineau-morey"}, "iii_cousineau_morey", "i"),
    ],
)
def test_every_kind_has_its_half_width(table_a, interval_kinds, options, kind, t_crit):
    result = intervals(table_a, "subject", value="reward", **options)
    half = ((result["upper"] - result["lower"]) / 2).to_numpy().reshape(4, 3)
    # Halving a difference of rounded limits costs digits; t_crit × se does not.
    exact = (result["t_crit"] * result["se"]).to_numpy().reshape(4, 3)
    np.testing.assert_allclose(exact, interval_kinds["half_width"][kind], rtol=1e-9)
    np.testing.assert_allclose(half, exact, rtol=1e-9)
    means = result["mean"].to_numpy().reshape(4, 3)
    np.testing.assert_allclose(means, interval_kinds["mean"], rtol=1e-9)
    np.testing.assert_allclose(result["t_crit"], interval_kinds["t_crit"][t_crit], rtol=1e-9)
    assert list(result["learner"][::3]) == interval_kinds["learners"]
    assert list(result["size"][:3]) == interval_kinds["sizes"]
    assert set(result["method"]) == {options.get("method", "cell")}


def test_cousineau_morey_takes_the_adjustment_too(table_a):
    options = {"subject": "subject", "value": "reward", "method": "cousineau-morey"}
    plain, adjusted = (
        intervals(table_a, **options, adjustment="none"),
        intervals(table_a, **options),
    )
    np.testing.assert_array_equal(plain["se"], adjusted["se"])
    assert (adjusted["t_crit"] > plain["t_crit"]).all()


def test_a_constant_per_model_does_not_widen_cousineau_morey(scores):
    moved = scores.assign(information_reward=scores["information_reward"] + 10 * scores["model"])
    options = {"method": "cousineau-morey"}
    np.testing.assert_allclose(
        intervals(moved, **options)["se"], intervals(scores, **options)["se"], rtol=1e-9
    )


def test_a_failed_cell_costs_only_its_own_interval_a_model(scores, caplog):
    whole = intervals(scores)
    scores.loc[0, ["information_reward", "status"]] = [np.nan, "error"]
    result = quietly(scores)
    assert list(result["n"]) == [2, 3, 3, 3]
    assert list(result["df"]) == [1, 2, 2, 2]
    assert result["mean"][0] == pytest.approx((0.15 + 0.0) / 2)
    assert list(result["lower"][1:]) == list(whole["lower"][1:])
    reason = "no finite information_reward for learner=nb, size=50 (error)"
    consequence = "left out of the intervals of cells without a value"
    assert caplog.messages == [f"{consequence}: 1 of 3 (column model): 0 ({reason})"]


def test_cousineau_morey_uses_complete_models_only(scores, caplog):
    scores.loc[0, "information_reward"] = np.nan
    result = intervals(scores, method="cousineau-morey")
    assert list(result["n"]) == [2, 2, 2, 2]
    consequence = "left out of the analysis of complete subjects"
    reason = "no finite information_reward for learner=nb, size=50"
    assert caplog.messages == [f"{consequence}: 1 of 3 (column model): 0 ({reason})"]


def test_one_model_has_a_mean_but_no_standard_error(scores):
    for method in ("cell", "cousineau-morey"):
        result = quietly(scores[scores["model"] == 0], method=method)
        assert list(result["n"]) == [1, 1, 1, 1]
        assert list(result["df"]) == [0, 0, 0, 0]
        assert result["mean"].to_numpy() == pytest.approx([0.1, 0.3, 0.2, 0.5])
        assert result[["se", "t_crit", "lower", "upper"]].isna().all(axis=None)


def test_a_cell_without_any_value_keeps_its_row(scores):
    scores.loc[(scores["learner"] == "tan") & (scores["size"] == 50), "information_reward"] = np.nan
    result = quietly(scores)
    assert list(result["n"]) == [3, 3, 0, 3]
    assert np.isnan(result["mean"][2])


def test_equal_values_have_an_interval_of_no_width(scores):
    result = quietly(scores.assign(information_reward=0.1))
    assert (result["se"] == 0).all()
    assert list(result["lower"]) == list(result["upper"])


def test_an_unknown_option_is_refused_with_the_known_ones(scores):
    with pytest.raises(ValueError, match="adjustment is 'tukey'; it must be one of: bonferroni, "):
        intervals(scores, adjustment="tukey")
    with pytest.raises(ValueError, match=r"method is 'morey'; .* cell, cousineau-morey"):
        intervals(scores, method="morey")
    with pytest.raises(ValueError, match="confidence is 95; it must lie between 0 and 1"):
        intervals(scores, confidence=95)
    with pytest.raises(ValueError, match="at least two cells"):
        intervals(scores.iloc[[0, 4, 8]], method="cousineau-morey")


def unlucky_table():
    """Four models, two learners at one size: B is −inf in one model and missing in another."""
    scores = {"A": [1.0, 2.0, 3.0, 4.0], "B": [1.5, -np.inf, 2.5, np.nan]}
    return pd.DataFrame(
        [
            {"model": model, "learner": learner, "size": 50, "information_reward": value}
            for learner, values in scores.items()
            for model, value in enumerate(values)
        ]
    )


def test_an_infinite_score_makes_the_mean_infinite_without_an_interval():
    rows = quietly(unlucky_table()).set_index("learner")
    assert rows.loc["B", "mean"] == -np.inf
    assert rows.loc["B", "infinite"] == 1
    assert rows.loc["B", ["se", "lower", "upper"]].isna().all()
    assert rows.loc["A", "mean"] == 2.5
    assert rows.loc["A", "infinite"] == 0


def test_complete_means_are_over_the_same_models(caplog):
    result = quietly(unlucky_table(), complete=True)
    rows = result.set_index("learner")
    assert rows.loc["A", "mean"] == 2.0  # models 0, 1 and 2; model 3 has no B
    assert rows.loc["B", "mean"] == -np.inf
    consequence = "left out of the intervals of cells without a value"
    reason = "no finite information_reward for learner=B, size=50"
    assert caplog.messages == [f"{consequence}: 1 of 4 (column model): 3 ({reason})"]


def test_without_a_complete_model_there_are_no_complete_means():
    table = unlucky_table()
    table.loc[table["learner"] == "B", "information_reward"] = np.nan
    with pytest.raises(ValueError, match="no model has a value of information_reward in every"):
        quietly(table, complete=True)
