import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simstudy.analysis.tests.adjustment import holm
from simstudy.analysis.tests.pairwise import pairwise

COLUMNS = ["first", "second", "n", "difference", "se", "df", "t", "p", "p_adjusted", "m"]
COLUMNS += ["lower", "upper", "first_greater", "infinite", "significant"]
KINDS = [
    ("bonferroni", "bonferroni"),
    ("holm", "holm"),
    ("none", "none"),
    ("bonferroni_all", "bonferroni_global"),
]


def quietly(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return pairwise(*args, **options)


def one_size(first, second):
    """Return a table of two learners at one size, with the default column names."""
    table = pd.DataFrame({"nb": first, "tan": second}).rename_axis("model").reset_index()
    return table.melt("model", ["nb", "tan"], "learner", "information_reward").assign(size=50)


def agrees(result, expected, within):
    keys = [*within, "first", "second"]
    found = result.set_index(keys)
    assert len(found) == len(expected)
    for pair in expected:
        row = found.loc[tuple(pair[key] for key in keys)]
        for column in ("difference", "se", "df", "t", "lower", "upper"):
            assert row[column] == pytest.approx(pair[column], rel=1e-9, abs=0), (pair, column)
        assert row["p_adjusted"] == pytest.approx(pair["p"], rel=1e-8, abs=0), pair


@pytest.mark.parametrize(("adjustment", "kind"), KINDS)
def test_pairs_agree_with_emmeans(reference, adjustment, kind):
    one_factor = reference.name == "d"
    if one_factor:
        # Over all sizes is over one size here.
        kind = "pairs_learner_" + kind.removesuffix("_global")
    else:
        kind = "pairs_learner_within_size_" + kind
    within = None if one_factor else "size"
    result = pairwise(
        reference.table, "subject", within=within, value="reward", adjustment=adjustment
    )
    names = [] if one_factor else ["size"]
    assert list(result.columns) == [*names, *COLUMNS]
    agrees(result, reference.r["emmeans"][kind], names)


def test_unadjusted_p_stands_beside_the_adjusted(reference):
    within = "size" if "size" in reference.within else None
    options = {"subject": "subject", "within": within, "value": "reward"}
    plain = pairwise(reference.table, **options, adjustment="none")
    adjusted = pairwise(reference.table, **options)
    np.testing.assert_array_equal(plain["p"], adjusted["p"])
    np.testing.assert_array_equal(plain["p_adjusted"], plain["p"])
    np.testing.assert_array_equal(
        adjusted["p_adjusted"], np.minimum(adjusted["p"] * adjusted["m"], 1)
    )


@pytest.mark.parametrize("reference", ["a", "b", "e"], indirect=True)
def test_sizes_can_be_compared_within_learners(reference):
    result = pairwise(reference.table, "subject", "size", "learner", "reward")
    agrees(result, reference.r["emmeans"]["pairs_size_within_learner_bonferroni"], ["learner"])


def test_the_number_of_comparisons_in_the_family_is_shown(table_a):
    options = {"subject": "subject", "value": "reward"}
    assert set(pairwise(table_a, **options)["m"]) == {6}
    assert set(pairwise(table_a, **options, adjustment="bonferroni_all")["m"]) == {18}
    assert set(pairwise(table_a, **options, adjustment="holm")["m"]) == {6}
    assert set(pairwise(table_a, **options, adjustment="none")["m"]) == {1}


def test_one_size_at_a_time_gives_the_same_rows(table_a):
    options = {"subject": "subject", "value": "reward"}
    together = pairwise(table_a, **options)
    for size in (50, 200, 1000):
        alone = pairwise(table_a[table_a["size"] == size], **options, within=None)
        part = together[together["size"] == size].drop(columns="size").reset_index(drop=True)
        pd.testing.assert_frame_equal(part, alone, rtol=1e-12)


def test_first_greater_is_the_share_of_models_in_which_the_first_is_greater():
    result = pairwise(one_size([0.3, 0.1, 0.5, 0.2], [0.2, 0.4, 0.5, 0.1]))
    assert list(result["first_greater"]) == [0.5]  # one tie, which is no win


def test_a_failed_cell_costs_its_own_pairs_a_model_and_is_named(table_a, caplog):
    whole = pairwise(table_a, "subject", value="reward")
    table = table_a.assign(status="ok")
    failed = (table["subject"] == "m07") & (table["learner"] == "tree") & (table["size"] == 200)
    table.loc[failed, ["reward", "status"]] = [np.nan, "timeout"]
    result = quietly(table, "subject", value="reward")
    touched = (result["size"] == 200) & ((result["first"] == "tree") | (result["second"] == "tree"))
    assert touched.sum() == 3
    assert set(result.loc[touched, "n"]) == {39}
    assert set(result.loc[touched, "df"]) == {38}
    pd.testing.assert_frame_equal(result[~touched], whole[~touched], check_exact=True)
    reason = "no finite reward for learner tree, size 200 (timeout)"
    consequence = "left out of the comparisons of cells without a value"
    assert caplog.messages == [f"{consequence}: 1 of 40 (column subject): m07 ({reason})"]


def test_a_constant_difference_is_infinitely_significant():
    base = np.array([0.13, 0.57, 0.91, 0.2])
    (row,) = quietly(one_size(base, base + 0.1)).to_dict("records")
    assert row["t"] == -np.inf
    assert row["p"] == row["p_adjusted"] == 0
    assert row["se"] == 0
    assert row["lower"] == row["upper"] == pytest.approx(-0.1)
    assert quietly(one_size(base + 0.1, base))["t"][0] == np.inf


def test_identical_learners_have_nothing_to_test():
    base = np.array([0.13, 0.57, 0.91])
    for other in (base, base + 1e-17):
        (row,) = quietly(one_size(base, other), adjustment="holm").to_dict("records")
        assert row["difference"] == row["se"] == row["lower"] == row["upper"] == 0
        assert np.isnan([row["t"], row["p"], row["p_adjusted"]]).all()
        assert row["first_greater"] == 0


@pytest.mark.parametrize("count", [0, 1])
def test_too_few_pairs_give_nan_and_not_a_warning(count):
    second = np.full(3, np.nan)
    second[:count] = 0.4
    (row,) = quietly(one_size([0.1, 0.2, 0.3], second)).to_dict("records")
    assert (row["n"], row["df"]) == (count, 0)
    assert np.isnan([row[key] for key in ("se", "t", "p", "p_adjusted", "lower")]).all()
    assert np.isnan(row["first_greater"]) == (count == 0)


def test_holm_keeps_nan_and_counts_it():
    # Three statements: 0.01·3, then max(0.03, 0.04·2); the missing one stays missing.
    adjusted = holm(np.array([[0.04, np.nan, 0.01]]))
    np.testing.assert_allclose(adjusted, [[0.08, np.nan, 0.03]])


@settings(deadline=None)
@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_lies_between_plain_and_bonferroni(p):
    plain = np.array(p)
    adjusted = holm(plain)
    assert (adjusted >= plain).all()
    assert (adjusted <= np.minimum(plain * len(p), 1)).all()
    assert (np.diff(adjusted[np.argsort(plain, kind="stable")]) >= 0).all()


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), shift=st.floats(-100, 100), scale=st.floats(1e-3, 1e3))
def test_neither_unit_nor_origin_of_the_values_matters(seed, shift, scale):
    first, second = np.random.default_rng(seed).normal(size=(2, 8))
    plain = pairwise(one_size(first, second))
    moved = pairwise(one_size(scale * first + shift, scale * second + shift))
    np.testing.assert_allclose(moved["difference"], scale * plain["difference"], atol=1e-10)
    if abs(plain["t"][0]) > 1e-3:
        assert moved["t"][0] == pytest.approx(plain["t"][0], rel=1e-5)


def test_a_second_factor_is_refused_when_none_is_named(scores):
    with pytest.raises(ValueError, match="model 0 has 2 rows for learner nb"):
        pairwise(scores, within=None)


def test_a_single_learner_is_refused(scores):
    with pytest.raises(ValueError, match=r"the factor 'learner' has one level \(nb\)"):
        pairwise(scores[scores["learner"] == "nb"])


def test_an_unknown_option_is_refused_with_the_known_ones(scores):
    with pytest.raises(
        ValueError, match="adjustment is 'tukey'; it must be one of: bonferroni_all, "
    ):
        pairwise(scores, adjustment="tukey")
    with pytest.raises(ValueError, match="confidence is 1"):
        pairwise(scores, confidence=1)


def test_an_infinite_score_is_never_tested_nor_left_out():
    scores = {"A": [1.0, 2.0, 3.0], "B": [1.5, -np.inf, 2.5], "C": [0.0, -np.inf, 1.0]}
    table = pd.DataFrame(
        [
            {"model": model, "learner": learner, "size": 50, "information_reward": value}
            for learner, values in scores.items()
            for model, value in enumerate(values)
        ]
    )
    rows = pairwise(table).set_index(["first", "second"])
    assert rows.loc[("A", "B"), "difference"] == np.inf
    assert np.isnan(rows.loc[("B", "C"), "difference"])  # −inf less −inf
    assert list(rows["infinite"]) == [1, 1, 1]
    assert rows[["se", "t", "p", "p_adjusted", "lower", "upper"]].isna().all(axis=None)


def test_a_mean_of_exact_differences_that_cancel_is_zero():
    """Differences such as ±0.1 sum to 1e-17, not to 0: that is rounding error and no lead."""
    rng = np.random.default_rng(3)
    gaps = np.repeat([0.1, 0.3, 0.7, -0.1, -0.3, -0.7], 20)
    rng.shuffle(gaps)
    base = rng.normal(size=len(gaps))
    found = pairwise(one_size(base + gaps, base)).iloc[0]
    assert abs((base + gaps - base).sum()) > 0
    assert (found["difference"], found["t"], found["p"]) == (0, 0, 1)
    assert found["lower"] == -found["upper"] < 0
