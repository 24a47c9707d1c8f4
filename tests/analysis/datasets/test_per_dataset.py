"""Differences and tables made from the scores of splits."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.multitest import multipletests

from simstudy.analysis.datasets.per_dataset import (
    means_table,
    pairwise_datasets,
)
from simstudy.analysis.tests.friedman import friedman
from simstudy.analysis.tests.resampled import corrected_t, five_by_two_f, five_by_two_t, naive_t

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture
def scores():
    """Two data sets of 30 and 41 rows, 5×2cv, three learners."""
    rng, rows = np.random.default_rng(1), []
    for dataset, n in (("iris", 30), ("glass", 41)):
        for repeat in range(5):
            for fold in range(2):
                test = n // 2 if fold else n - n // 2
                part = {"dataset": dataset, "repeat": repeat, "fold": fold}
                part |= {"size": n - test, "test_rows": test}
                rows += [{**part, "learner": name, "loss": rng.random()} for name in "cab"]
    return pd.DataFrame(rows)


def of(scores, dataset, learner):
    rows = scores[(scores["dataset"] == dataset) & (scores["learner"] == learner)]
    return rows.sort_values(["repeat", "fold"])["loss"].to_numpy()


def test_differences_are_by_repeat_and_fold(scores):
    shuffled = scores.sample(frac=1, random_state=1)
    found = pairwise_datasets(shuffled, "loss", "five_by_two_t").set_index(
        ["dataset", "first", "second"]
    )
    for dataset, first, second in found.index:
        expected = (of(scores, dataset, first) - of(scores, dataset, second)).reshape(5, 2)
        row = found.loc[dataset, first, second]
        assert (row["statistic"], row["p"]) == tuple(five_by_two_t(expected))
    with pytest.raises(ValueError, match="iris: every split must have one score"):
        pairwise_datasets(scores.drop(index=1), "loss")


@pytest.mark.parametrize("better", [True, False])
def test_every_pair_is_tested_on_every_data_set(scores, better):
    tests = {
        "corrected_t": lambda d: corrected_t(d, 0.5),
        "naive_t": naive_t,
        "five_by_two_t": lambda d: five_by_two_t(d.reshape(5, 2)),
        "five_by_two_f": lambda d: five_by_two_f(d.reshape(5, 2)),
    }
    for name, test in tests.items():
        found = pairwise_datasets(scores, "loss", name, "bonferroni", better)
        assert len(found) == 2 * 3
        assert (found["m"] == 6).all()
        row = found.iloc[4]
        assert (row["dataset"], row["first"], row["second"]) == ("glass", "c", "b")
        d = (of(scores, "glass", "c") - of(scores, "glass", "b")) * (1 if better else -1)
        assert (row["statistic"], row["p"]) == pytest.approx(tuple(test(d)))
        assert row["p_adjusted"] == pytest.approx(min(1, 6 * row["p"]))
        assert row["difference"] == pytest.approx(d.mean())


@pytest.mark.parametrize("adjustment", ["holm", "bonferroni", "none"])
def test_the_pairs_on_all_data_sets_are_one_family(scores, adjustment):
    found = pairwise_datasets(scores, "loss", "naive_t", adjustment)
    expected = (
        found["p"] if adjustment == "none" else multipletests(found["p"], method=adjustment)[1]
    )
    assert found["p_adjusted"].tolist() == pytest.approx([*expected])
    assert (found["m"] == (1 if adjustment == "none" else 6)).all()
    assert pairwise_datasets(scores, "loss", "naive_t").equals(
        pairwise_datasets(scores, "loss", "naive_t", "holm")
    )
    with pytest.raises(ValueError, match="adjustment is 'bonferroni_all'"):
        pairwise_datasets(scores, "loss", "naive_t", "bonferroni_all")


def test_missing_and_infinite_scores_have_a_reason(scores):
    scores.loc[0, "loss"] = math.nan
    scores.loc[3, "loss"] = math.inf
    found = pairwise_datasets(scores, "loss")
    assert found["reason"].tolist() == ["2 of 10 differences without a finite value"] * 2 + [""] * 4
    assert found["p"].isna().tolist() == [True, True] + [False] * 4
    table = means_table(scores, "loss")
    assert math.isnan(table.loc["iris", "c"])
    assert friedman(table).reason == "1 of 2 data sets without a finite value"


def test_scores_that_differ_by_rounding_are_equal(scores):
    scores.loc[scores["learner"] == "a", "loss"] = 0.3
    scores.loc[scores["learner"] == "b", "loss"] = 0.1 + 0.2
    found = pairwise_datasets(scores, "loss").query("first == 'a'")
    assert (found["reason"] == "all differences are 0").all()


def test_means_are_turned_round_for_losses(scores):
    table = means_table(scores, "loss", greater_is_better=False)
    assert [*table.columns] == ["c", "a", "b"]
    assert [*table.index] == ["iris", "glass"]
    assert table.loc["glass", "a"] == pytest.approx(-of(scores, "glass", "a").mean())
