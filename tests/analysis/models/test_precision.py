import json
import math
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad
from statsmodels.stats.power import TTestPower

from simstudy.analysis.models.precision import models_for_power, models_needed, power, precision
from simstudy.analysis.tests.intervals import intervals
from simstudy.analysis.tests.pairwise import pairwise

COLUMNS = ["kind", "size", "first", "second", "n", "estimate", "sd", "mcse", "mcse_error"]
OPTIONS = {"value": "reward"}


@pytest.fixture
def golden():
    path = Path(__file__).parents[2] / "golden" / "stats" / "mcse.json"
    return json.loads(path.read_text())


def quietly(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return precision(*args, **options)


def halves(result):
    means = result[result["kind"] == "mean"].reset_index(drop=True)
    return means, result[result["kind"] == "difference"].reset_index(drop=True)


def test_means_and_differences_stand_in_the_order_of_the_other_tables(reference):
    table = reference.table.rename(columns={"subject": "model"})
    table = table if "size" in table else table.assign(size=1)
    means, differences = halves(precision(table, **OPTIONS))
    cells, pairs = intervals(table, **OPTIONS), pairwise(table, **OPTIONS)
    assert list(means["first"]) == list(cells["learner"])
    assert set(means["second"]) == {""}
    assert list(means["size"]) == list(cells["size"])
    keys = ["first", "second", "size"]
    pd.testing.assert_frame_equal(differences[keys], pairs[keys])
    np.testing.assert_allclose(means["estimate"], cells["mean"], rtol=1e-12)
    np.testing.assert_allclose(means["mcse"], cells["se"], rtol=1e-12)
    np.testing.assert_allclose(differences["estimate"], pairs["difference"], rtol=1e-12)
    np.testing.assert_allclose(differences["mcse"], pairs["se"], rtol=1e-12)


def test_sd_and_its_uncertainty(table_a):
    table_a = table_a.rename(columns={"subject": "model"})
    result = precision(table_a, **OPTIONS)
    assert list(result.columns) == [*COLUMNS, "infinite"]
    wide = table_a.pivot_table("reward", "model", ["learner", "size"])
    means, differences = halves(result)
    assert len(means) == 12
    assert len(differences) == 18
    for row in means.itertuples():
        assert row.sd == pytest.approx(wide[row.first, row.size].std(), rel=1e-12)
    for row in differences.itertuples():
        gap = wide[row.first, row.size] - wide[row.second, row.size]
        assert row.sd == pytest.approx(gap.std(), rel=1e-12)
    np.testing.assert_allclose(result["mcse"], result["sd"] / math.sqrt(40), rtol=1e-12)
    np.testing.assert_allclose(result["mcse_error"], 1 / math.sqrt(78))


def test_a_target_tells_the_models_needed(table_a):
    table_a = table_a.rename(columns={"subject": "model"})
    result = precision(table_a, **OPTIONS, mcse=0.005)
    assert list(result.columns) == [*COLUMNS, "target", "models_needed", "infinite"]
    assert set(result["target"]) == {0.005}
    expected = np.maximum(np.ceil((result["sd"] / 0.005) ** 2), 2)
    np.testing.assert_array_equal(result["models_needed"], expected)
    # Who has reached the target needs no more models than there are.
    reached = result["mcse"] <= 0.005
    assert reached.any()
    assert not reached.all()
    assert (reached == (result["models_needed"] <= 40)).all()


def test_the_mcse_error_is_that_of_normal_samples():
    rng = np.random.default_rng(5)
    spread = rng.normal(size=(20000, 20)).std(axis=1, ddof=1)
    scores = pd.DataFrame({"model": range(20), "learner": "nb", "size": 50})
    scores["information_reward"] = np.arange(20.0)
    (row,) = precision(scores).to_dict("records")
    assert row["mcse_error"] == pytest.approx(spread.std() / spread.mean(), rel=0.03)


def test_a_single_learner_has_means_and_no_differences(scores):
    result = quietly(scores[scores["learner"] == "nb"])
    assert list(result["kind"]) == ["mean", "mean"]


def test_a_failed_cell_counts_where_it_has_a_value(scores, caplog):
    scores.loc[0, ["information_reward", "status"]] = [np.nan, "error"]
    result = quietly(scores).set_index(["kind", "first", "size"])
    assert result.loc[("mean", "nb", 50), "n"] == 2
    assert result.loc[("difference", "nb", 50), "n"] == 2
    assert result.loc[("mean", "tan", 50), "n"] == 3
    consequence = "left out of the precision of cells without a value"
    reason = "no finite information reward for learner nb, size 50 (error)"
    assert caplog.messages == [f"{consequence}: 1 of 3 (column model): 0 ({reason})"]


def test_one_model_has_no_spread_to_measure(scores):
    result = quietly(scores[scores["model"] == 0], mcse=0.01)
    assert (result["n"] == 1).all()
    assert result["estimate"].notna().all()
    assert result[["sd", "mcse", "mcse_error", "models_needed"]].isna().all(axis=None)


def test_an_infinite_score_has_no_standard_error(scores):
    scores.loc[[0, 2], "information_reward"] = -np.inf  # nb and tan at 50
    scores.loc[1, "information_reward"] = -np.inf  # nb at 500
    result = quietly(scores, mcse=0.01).set_index(["kind", "first", "size"])
    assert list(result["infinite"]) == [1, 1, 1, 0, 1, 1]
    gone = result["infinite"] > 0
    columns = ["sd", "mcse", "mcse_error", "models_needed"]
    assert result.loc[gone, columns].isna().all(axis=None)
    assert result.loc[~gone, columns].notna().all(axis=None)
    assert result.loc[("mean", "nb", 50), "estimate"] == -np.inf
    assert np.isnan(result.loc[("difference", "nb", 50), "estimate"])  # −inf less −inf
    assert result.loc[("difference", "nb", 500), "estimate"] == -np.inf


def test_equal_learners_need_the_least_number(scores):
    scores["information_reward"] = np.repeat([0.1, 0.3, 0.7], 4)
    result = quietly(scores, mcse=0.01)
    _, differences = halves(result)
    assert (differences[["estimate", "sd", "mcse"]] == 0).all(axis=None)
    assert (differences["models_needed"] == 2).all()


def test_models_needed_of_the_reference(golden):
    for plan in golden["models_needed"]:
        assert models_needed(plan["sd"], plan["mcse"]) == plan["models"]
    assert models_needed(0.06, 0.0049) == 150  # 149.9…
    assert models_needed(0.001, 1) == 2


def test_power_agrees_with_statsmodels():
    for effect in (0.05, 0.3, 0.6):
        for models in (2, 10, 40):
            for m in (1, 6):
                theirs = TTestPower().power(effect, models, 0.05 / m)
                assert power(effect * 3, 3, models, m=m) == pytest.approx(theirs, rel=1e-8)
                assert power(-effect * 3, 3, models, m=m) == pytest.approx(theirs, rel=1e-8)


@pytest.mark.parametrize(("effect", "models", "m"), [(0.3, 12, 1), (3, 5, 45), (1.2, 40, 1)])
def test_power_agrees_with_an_integral_over_the_spread(effect, models, m):
    # Also where scipy.special.nctdtr has NaN for the farther tail (the second and the third).
    df, shift = models - 1, effect * math.sqrt(models)
    t = stats.t.isf(0.05 / (2 * m), df)

    def found(s):  # the density of the sample's SD (of 1), times the share with |t| above t
        share = stats.norm.cdf(shift - t * s) + stats.norm.cdf(-shift - t * s)
        return stats.chi.pdf(s, df, scale=df**-0.5) * share

    assert power(effect, 1, models, m=m) == pytest.approx(quad(found, 0, 10)[0], rel=1e-7)
    assert power(7175 * effect, 1, models) == 1


def test_power_agrees_with_a_simulation():
    rng = np.random.default_rng(11)
    draws = rng.normal(0.4, 1.0, size=(20000, 25))
    t = draws.mean(axis=1) / (draws.std(axis=1, ddof=1) / 5)
    found = (np.abs(t) > 2.7969395).mean()  # t of 24 df at 0.995: two tests of 98 % together
    assert power(0.4, 1.0, 25, confidence=0.98, m=2) == pytest.approx(found, abs=0.011)


def test_power_of_no_difference_is_the_level():
    assert power(0, 1, 12) == pytest.approx(0.05)
    assert power(0, 1, 12, confidence=0.9, m=5) == pytest.approx(0.02)
    assert power(0.1, 0, 12) == 1
    assert math.isnan(power(0, 0, 12))


@settings(deadline=None, max_examples=50)
@given(
    effect=st.floats(0.02, 5),
    wanted=st.floats(0.06, 0.999),
    m=st.sampled_from([1, 6, 45]),
)
def test_the_number_for_a_power_is_the_smallest(effect, wanted, m):
    models = models_for_power(effect, 1, wanted, m=m)
    assert power(effect, 1, models, m=m) >= wanted
    assert models == 2 or power(effect, 1, models - 1, m=m) < wanted


def test_known_numbers_for_a_power():
    # Cohen's medium effect at 5 %: 34 pairs for 80 %, 44 for 90 %.
    assert models_for_power(0.5, 1) == 34
    assert models_for_power(-0.5, 1, 0.9) == 44
    assert models_for_power(1, 0) == 2


def test_what_cannot_be_planned_is_refused(scores):
    with pytest.raises(ValueError, match="mcse is 0; it must be a number above 0"):
        precision(scores, mcse=0)
    with pytest.raises(ValueError, match="mcse is nan"):
        models_needed(1, math.nan)
    with pytest.raises(ValueError, match="sd is -1; it must be a number of at least 0"):
        models_needed(-1, 1)
    with pytest.raises(ValueError, match="models is 1; it must be at least 2"):
        power(1, 1, 1)
    with pytest.raises(ValueError, match="m is 0; it must be at least 1"):
        power(1, 1, 9, m=0)
    with pytest.raises(ValueError, match="confidence is 95"):
        power(1, 1, 9, confidence=95)
    with pytest.raises(ValueError, match="power is 1; it must lie between 0 and 1"):
        models_for_power(1, 1, 1)
    with pytest.raises(ValueError, match="the difference is 0: no number of models"):
        models_for_power(0, 1)
    with pytest.raises(ValueError, match=r"over 1e\+12 models"):
        models_for_power(1e-9, 1)


def test_means_may_be_of_complete_subjects_and_differences_of_all_that_have_both(table_a):
    table = table_a.rename(columns={"subject": "model"})
    first, second = table["learner"].unique()[:2]
    size = table["size"].min()
    lost = table["model"].isin(table["model"].unique()[:7])
    table.loc[lost & (table["learner"] == first) & (table["size"] == size), "reward"] = np.nan
    means, differences = halves(precision(table, complete=True, **OPTIONS))
    every = intervals(table, complete=True, **OPTIONS)
    assert set(means["n"]) == {33}
    np.testing.assert_allclose(means["mcse"], every["se"], rtol=1e-12)
    np.testing.assert_allclose(means["estimate"], every["mean"], rtol=1e-12)
    plain = halves(precision(table, **OPTIONS))
    pd.testing.assert_frame_equal(differences, plain[1])
    assert set(plain[0]["n"]) == {33, 40}
    assert {row.n for row in differences.itertuples() if first not in (row.first, row.second)} == {
        40
    }
    table["reward"] = table["reward"].where(table["learner"] != second)
    with pytest.raises(ValueError, match="no model has a value of reward in every cell"):
        precision(table, complete=True, **OPTIONS)
