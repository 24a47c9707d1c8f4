"""Studies are compared by the t tests that scipy has."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.analysis.models.compare_studies import compare

RNG = np.random.default_rng(11)
BASE = RNG.normal(size=(25, 2, 3))  # models × learners × sizes
LEARNERS, SIZES = ("nb", "tan"), (50, 500, 5000)


def table(values, sizes=SIZES, learners=LEARNERS):
    """Scores of an array of models × learners × sizes."""
    return pd.DataFrame(
        {"model": m, "learner": learner, "size": size, "information_reward": values[m, i, j]}
        for m in range(len(values))
        for i, learner in enumerate(learners)
        for j, size in enumerate(sizes)
    )


OTHER = 0.4 + 1.7 * RNG.normal(size=(40, 2, 3))
CHANGED = BASE + 0.1 + 0.2 * RNG.normal(size=BASE.shape)


def rows(result):
    for i, learner in enumerate(LEARNERS):
        for j, size in enumerate(SIZES):
            cell = result[(result["learner"] == learner) & (result["size"] == size)]
            yield i, j, cell.iloc[0]


def test_independent_studies_are_compared_as_by_welch():
    result = compare({"a": table(BASE), "b": table(OTHER)}, confidence=0.9)
    assert len(result) == 6
    for i, j, row in rows(result):
        expected = stats.ttest_ind(OTHER[:, i, j], BASE[:, i, j], equal_var=False)
        interval = expected.confidence_interval(1 - 0.1 / 6)
        assert row["test"] == "Welch"
        assert row["difference"] == pytest.approx(OTHER[:, i, j].mean() - BASE[:, i, j].mean())
        assert (row["t"], row["df"], row["p"]) == pytest.approx(
            (expected.statistic, expected.df, expected.pvalue), rel=1e-9
        )
        assert (row["lower"], row["upper"]) == pytest.approx((interval.low, interval.high))
        assert row["p_adjusted"] == pytest.approx(min(6 * expected.pvalue, 1))
        assert row["changed"] == (6 * expected.pvalue < 0.1)
        assert (row["n_first"], row["n_second"], row["m"]) == (25, 40, 6)


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
def test_studies_of_the_same_models_are_compared_in_pairs(names):
    result = compare({"a": table(BASE), "b": table(CHANGED)}, same_models=[names])
    for i, j, row in rows(result):
        expected = stats.ttest_rel(CHANGED[:, i, j], BASE[:, i, j])
        interval = expected.confidence_interval(1 - 0.05 / 6)
        assert row["test"] == "paired"
        assert (row["t"], row["df"], row["p"]) == pytest.approx(
            (expected.statistic, 24, expected.pvalue), rel=1e-9
        )
        assert (row["lower"], row["upper"]) == pytest.approx((interval.low, interval.high))


def test_pairs_are_of_the_models_that_both_have():
    longer = np.concatenate([CHANGED, OTHER])
    result = compare({"a": table(BASE), "b": table(longer)}, same_models=[("a", "b")])
    for i, j, row in rows(result):
        assert (row["n_first"], row["n_second"], row["df"]) == (25, 25, 24)
        assert row["mean_second"] == pytest.approx(CHANGED[:, i, j].mean())


@pytest.mark.parametrize("same", [[], [("a", "b")]])
def test_cells_without_a_difference_are_identical_not_tested(same):
    changed = BASE.copy()
    changed[:, 1, 2] += 0.5 + 0.1 * RNG.normal(size=25)
    result = compare({"a": table(BASE), "b": table(changed)}, same_models=same)
    assert result["test"].eq("identical").sum() == 5
    identical = result[result["test"] == "identical"]
    assert identical["p"].isna().all()
    assert not identical["changed"].any()
    assert (result["m"] == 6).all()
    (row,) = result[result["test"] != "identical"].to_dict("records")
    assert (row["learner"], row["size"]) == ("tan", 5000)


def test_pairing_finds_what_independence_hides():
    # The models differ far more (1) than the change (0.1 ± 0.2): only pairs show it.
    tables = {"a": table(BASE[:, :, :1], (50,)), "b": table(BASE[:, :, :1] + 0.1, (50,))}
    tables["b"]["information_reward"] += 0.02 * RNG.normal(size=50)
    assert compare(tables, same_models=[("a", "b")])["changed"].all()
    assert not compare(tables)["changed"].any()


def test_only_shared_cells_are_compared_and_all_pairs_of_studies_count():
    tables = {"a": table(BASE), "b": table(OTHER), "c": table(CHANGED[:, :, :2], (500, 5000))}
    result = compare(tables)
    counts = result.groupby(["first", "second"], sort=False).size().to_dict()
    assert counts == {("a", "b"): 6, ("a", "c"): 4, ("b", "c"): 4}
    assert (result["m"] == 14).all()


def test_nothing_shared_gives_an_empty_table():
    tables = {"a": table(BASE), "b": table(OTHER, (1, 2, 3))}
    assert compare(tables).empty


def test_infinite_and_missing_values_are_not_tested():
    values = OTHER.copy()
    values[0, 0, 0] = -np.inf
    values[1:, 1, 0] = np.nan
    values[:5, 0, 1] = np.nan
    result = compare({"a": table(BASE), "b": table(values)}).set_index(["learner", "size"])
    assert result.loc[("nb", 50), "test"] == "not tested"
    assert result.loc[("nb", 50), "mean_second"] == -np.inf
    assert result.loc[("nb", 50), "infinite"] == 1
    assert result.loc[("tan", 50), "test"] == "not tested"
    assert result.loc[("nb", 500), "n_second"] == 35
    assert not result.loc[[("nb", 50), ("tan", 50)], "changed"].any()


def test_without_spread_a_difference_is_certain():
    flat = np.zeros((4, 1, 1))
    tables = {"a": table(flat, (50,), ("nb",)), "b": table(flat + 0.1, (50,), ("nb",))}
    for same in ([], [("a", "b")]):
        (row,) = compare(tables, same_models=same).to_dict("records")
        assert np.isinf(row["t"])
        assert row["p_adjusted"] == 0
        assert row["changed"]


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (("a",), {}),
        (("a", "b"), {"same_models": [("a", "x")]}),
        (("a", "b"), {"confidence": 1.0}),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, options):
    with pytest.raises(ValueError, match=r"\w"):
        compare({name: table(BASE) for name in arguments}, **options)
