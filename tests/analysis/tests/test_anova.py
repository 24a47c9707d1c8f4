import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.anova import AnovaRM

from simstudy.analysis.tests.anova import anova

COLUMNS = ["effect", "df1", "df2", "ss", "ss_error", "F", "p", "eps_gg", "p_gg", "eps_hf", "p_hf"]
COLUMNS += ["mauchly_w", "mauchly_p", "eta2_generalized", "eta2_partial"]


def long_table(values, factors=("learner", "size")):
    """Turn subjects × levels × … into a long table with the default column names."""
    axes = [range(length) for length in values.shape]
    table = pd.DataFrame(list(itertools.product(*axes)), columns=["model", *factors])
    return table.assign(information_reward=values.ravel())


def anova_of(values, factors=("learner", "size")):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return anova(long_table(values, factors), within=factors).table


def row(result, effect):
    return result.set_index("effect").loc[effect]


def test_every_column_agrees_with_r(reference):
    found = anova(reference.table, "subject", reference.within, "reward")
    assert (found.subjects, found.left_out) == (reference.r["subjects"], [])
    result = found.table
    assert list(result.columns) == COLUMNS
    assert list(result["effect"]) == list(reference.r["anova"])
    for effect, expected in reference.r["anova"].items():
        found = row(result, effect)
        for column in COLUMNS[1:]:
            tolerance = 1e-8 if column.startswith("p") or column.endswith("_p") else 1e-9
            wanted = np.nan if expected[column] is None else expected[column]
            given = found[column]
            assert given == pytest.approx(wanted, rel=tolerance, abs=0, nan_ok=True), column


def test_mauchly_p_is_in_the_convention_of_r(reference, mauchly):
    result = anova(reference.table, "subject", reference.within, "reward").table
    for effect, p in mauchly[reference.name].items():
        found = row(result, effect)["mauchly_p"]
        if p["mauchly_p_R"] is None:
            assert np.isnan(found)
        else:
            assert found == pytest.approx(p["mauchly_p_R"], rel=1e-8, abs=0)
            # The second-order term vanishes for two contrasts; else Anderson's p is another.
            same = found == pytest.approx(p["mauchly_p_anderson"], rel=1e-8, abs=0)
            assert same == (row(result, effect)["df1"] == 2)


@pytest.mark.parametrize("reference", ["e"], indirect=True)
def test_correction_flips_the_verdict_in_set_e(reference):
    result = anova(reference.table, "subject", reference.within, "reward").table
    found = row(result, "learner:size")
    assert found["p"] < 0.05 < min(found["p_gg"], found["p_hf"])


def test_f_and_p_agree_with_statsmodels(reference):
    result = anova(reference.table, "subject", reference.within, "reward").table
    theirs = AnovaRM(reference.table, "reward", "subject", within=reference.within).fit()
    table = theirs.anova_table
    np.testing.assert_allclose(result["F"], table["F Value"], rtol=1e-9)
    np.testing.assert_allclose(result["p"], table["Pr > F"], rtol=1e-8)
    np.testing.assert_array_equal(result["df1"], table["Num DF"])
    np.testing.assert_array_equal(result["df2"], table["Den DF"])


def test_three_factors_agree_with_statsmodels():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(7, 3, 2, 4)) + rng.normal(size=(7, 1, 1, 1))
    values += rng.normal(size=(3, 2, 4))
    factors = ("learner", "family", "size")
    result = anova_of(values, factors)
    assert list(result["effect"]) == [
        *("learner", "family", "size", "learner:family", "learner:size", "family:size"),
        "learner:family:size",
    ]
    table = long_table(values, factors)
    theirs = AnovaRM(table, "information_reward", "model", within=list(factors)).fit().anova_table
    np.testing.assert_allclose(result["F"], theirs["F Value"], rtol=1e-9)
    np.testing.assert_allclose(result["p"], theirs["Pr > F"], rtol=1e-8)
    # All sums of squares, with that between subjects, make up the total.
    subjects = 24 * np.square(values.mean(axis=(1, 2, 3)) - values.mean()).sum()
    total = np.square(values - values.mean()).sum()
    assert result["ss"].sum() + result["ss_error"].sum() + subjects == pytest.approx(total)


def test_two_levels_give_the_square_of_the_paired_t():
    first, second = np.array([1.0, 2.0, 4.0, 3.5]), np.array([1.5, 2.0, 5.0, 4.5])
    found = anova_of(np.column_stack([first, second]), ("learner",)).iloc[0]
    difference = second - first
    t = difference.mean() / (difference.std(ddof=1) / 2)
    assert found["F"] == pytest.approx(t**2)
    assert (found["eps_gg"], found["eps_hf"]) == (1, 1)
    assert found["p_gg"] == found["p_hf"] == found["p"]
    assert np.isnan(found["mauchly_w"])
    assert np.isnan(found["mauchly_p"])


def test_one_factor_may_be_given_as_a_plain_string(scores):
    small = scores[scores["size"] == 50]
    plain = anova(small, within=["learner"]).table
    pd.testing.assert_frame_equal(plain, anova(small, within=("learner",)).table)


VALUES = st.integers(0, 2**32 - 1).map(
    lambda seed: np.random.default_rng(seed).normal(size=(6, 3, 3))
)
TESTS = ["F", "p", "eps_gg", "eps_hf", "mauchly_w", "eta2_partial"]


def by_effect(result, columns=TESTS):
    return result.set_index("effect")[columns].sort_index()


@settings(deadline=None, max_examples=25)
@given(values=VALUES, seed=st.integers(0, 1000))
def test_the_order_of_the_rows_does_not_matter(values, seed):
    table = long_table(values)
    table["learner"] = table["learner"].map({0: "nb", 1: "tan", 2: "aode"})
    shuffled = table.sample(frac=1, random_state=seed)
    pd.testing.assert_frame_equal(
        by_effect(anova(table).table, [*TESTS, "ss", "eta2_generalized"]),
        by_effect(anova(shuffled).table, [*TESTS, "ss", "eta2_generalized"]),
        rtol=1e-9,
    )


@settings(deadline=None, max_examples=25)
@given(values=VALUES, shifts=st.lists(st.floats(-100, 100), min_size=6, max_size=6))
def test_a_constant_added_to_a_subject_changes_no_test(values, shifts):
    moved = values + np.array(shifts)[:, None, None]
    pd.testing.assert_frame_equal(
        by_effect(anova_of(values)), by_effect(anova_of(moved)), rtol=1e-7
    )


@settings(deadline=None, max_examples=25)
@given(values=VALUES, factor=st.floats(1e-6, 1e6), sign=st.sampled_from([-1, 1]))
def test_the_unit_of_the_values_does_not_matter(values, factor, sign):
    scaled = anova_of(sign * factor * values)
    plain = anova_of(values)
    columns = [*TESTS, "eta2_generalized"]
    pd.testing.assert_frame_equal(by_effect(plain, columns), by_effect(scaled, columns), rtol=1e-9)
    np.testing.assert_allclose(scaled["ss"], factor**2 * plain["ss"], rtol=1e-9)


def test_a_model_with_a_failed_cell_is_left_out_and_named(table_a, caplog):
    table = table_a.copy()
    table.loc[(table["subject"] == "m03") & (table["learner"] == "tree"), "reward"] = np.nan
    result = anova(table, "subject", value="reward")
    assert result.subjects == 39
    (left_out,) = result.left_out
    assert left_out.subject == "m03"
    assert "learner tree, size 50" in left_out.reason
    assert "m03" in caplog.text
    without = anova(table_a[table_a["subject"] != "m03"], "subject", value="reward").table
    pd.testing.assert_frame_equal(result.table, without, check_exact=True)


def test_an_effect_without_any_error_is_infinitely_significant():
    # The same gain of 0.1 in every model: stored, the differences vary by rounding only.
    models = np.array([0.13, 0.57, 0.91])[:, None, None]
    gains = np.array([0.0, 0.1, 0.3])[:, None]
    values = models + gains + np.zeros((1, 1, 2))
    result = anova_of(values)
    learner, size = row(result, "learner"), row(result, "size")
    assert learner["ss_error"] == 0
    assert learner["F"] == np.inf
    assert learner["p"] == learner["p_gg"] == learner["p_hf"] == 0
    assert learner["eta2_partial"] == 1
    assert learner[["eps_gg", "eps_hf", "mauchly_w", "mauchly_p"]].isna().all()
    assert size["ss"] == size["ss_error"] == 0
    assert size[["F", "p", "p_gg", "p_hf", "eta2_partial", "mauchly_w"]].isna().all()
    assert size["eta2_generalized"] == 0


def test_a_table_of_one_constant_has_no_effect_to_test():
    result = anova_of(np.full((4, 3, 2), 0.1))
    assert (result[["ss", "ss_error"]] == 0).all(axis=None)
    assert result[["F", "p", "p_gg", "p_hf", "eta2_generalized"]].isna().all(axis=None)


def test_two_learners_that_always_agree_violate_sphericity_entirely():
    values = np.random.default_rng(3).normal(size=(12, 4))
    values[:, 3] = values[:, 1]
    found = anova_of(values, ("learner",)).iloc[0]
    assert (found["mauchly_w"], found["mauchly_p"]) == (0, 0)
    assert 1 / 3 < found["eps_gg"] < 1
    assert 0 < found["p_gg"] < 1


def test_two_models_leave_huynh_feldt_undefined():
    found = anova_of(np.array([[1.0, 2.0, 4.0], [1.0, 3.0, 2.0]]), ("learner",)).iloc[0]
    assert found["eps_gg"] == pytest.approx(1 / 2)  # its lower bound: one direction of error
    assert found[["eps_hf", "p_hf", "mauchly_w", "mauchly_p"]].isna().all()


def test_a_single_complete_model_is_refused(scores):
    with pytest.raises(ValueError, match="only one model has a finite information reward"):
        anova(scores[scores["model"] == 0])


def test_a_factor_with_one_level_is_refused_by_name(scores):
    with pytest.raises(ValueError, match=r"the factor 'size' has one level \(50\)"):
        anova(scores[scores["size"] == 50])
