"""Winners, correlations, properties and reversals, from small tables with worked answers."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simstudy.analysis.datasets.per_dataset import (
    OPPOSITE,
    dataset_means,
    default_test,
    means_table,
    properties,
    winners,
)
from simstudy.analysis.datasets.two_measures import correlations, reversals, telling_row
from simstudy.data.sample import Sample
from simstudy.data.schema import Schema, Variable
from simstudy.report.prose.data_statements import reversal_sentence
from simstudy.sources.tables import DataSet

pytestmark = pytest.mark.filterwarnings("error")
GOLDEN = Path(__file__).parents[2] / "golden" / "real" / "resampling" / "tests.json.gz"


def table(values, folds=2, measure="gain"):
    """Scores of data sets by learner, split by split: {data set: {learner: scores}}."""
    rows = []
    for dataset, by_learner in values.items():
        for learner, scores in by_learner.items():
            for place, score in enumerate(scores):
                row = {"dataset": dataset, "repeat": place // folds, "fold": place % folds}
                rows.append(row | {"size": 50, "test_rows": 50, "learner": learner, measure: score})
    frame = pd.DataFrame(rows)
    order = {name: i for i, name in enumerate(dict.fromkeys(frame["learner"]))}
    places = frame["learner"].map(order)
    return frame.assign(place=places).sort_values(
        ["dataset", "repeat", "fold", "place"], kind="stable", ignore_index=True
    )


def around(middle, wiggle=0.01):
    """Ten scores with the mean `middle`."""
    return middle + wiggle * np.array([1, -1, 1, -1, -1, 1, 0, 0, 1, -1])


def noise(middle):
    """The same, uncorrelated with `around`."""
    return middle + 0.01 * np.array([1, 1, -1, -1, 0, 0, 1, -1, 0, 0])


# Winners


def test_a_cell_names_the_learners_that_are_significantly_worse():
    scores = table(
        {
            "one": {"A": around(0.9), "B": noise(0.8), "C": noise(0.7)},
            "two": {"A": around(0.8), "B": noise(0.8), "C": noise(0.9)},
        }
    )
    found = winners(scores, "gain")
    assert found.table.to_dict("index") == {
        "one": {"A": "B, C", "B": "C", "C": ""},
        "two": {"A": "", "B": "", "C": "A, B"},
    }
    assert found.losers("one", "A") == ("B", "C")
    assert (found.test, found.adjustment, found.alpha, found.m) == (
        ("five_by_two_t", "holm", 0.05, 6)
    )
    counts = found.counts.set_index("learner")
    assert counts.loc["A"].tolist() == [2, 1, 1, 1]
    assert counts.loc["B"].tolist() == [1, 2, -1, 0]
    assert counts.loc["C"].tolist() == [2, 2, 0, 1]
    unadjusted = winners(scores, "gain", adjustment="none")
    assert unadjusted.m == 1


def test_a_win_on_one_data_set_is_adjusted_for_the_others():
    # On the first set alone A is significantly better than B, but not among ten sets.
    few = {"set 0": {"A": around(0.9), "B": noise(0.86)}}
    many = few | {f"set {n}": {"A": around(0.5), "B": noise(0.5)} for n in range(1, 10)}
    found, more = winners(table(few), "gain"), winners(table(many), "gain")
    p = float(found.pairs["p"].iloc[0])
    assert 0.005 < p <= 0.05
    assert found.losers("set 0", "A") == ("B",)
    assert more.m == 10
    assert float(more.pairs["p_adjusted"].iloc[0]) == pytest.approx(10 * p)
    assert more.losers("set 0", "A") == ()


def test_losses_turn_the_table_round():
    scores = table({"one": {"A": around(0.9), "B": noise(0.8)}})
    assert winners(scores, "gain").losers("one", "A") == ("B",)
    turned = winners(scores, "gain", greater_is_better=False)
    assert turned.losers("one", "B") == ("A",)
    assert turned.losers("one", "A") == ()


def test_other_schemes_are_tested_by_the_corrected_t():
    values = {"one": {"A": around(0.9), "B": noise(0.8)}}
    assert default_test(table(values)) == "five_by_two_t"
    assert default_test(table(values, folds=10)) == "corrected_t"
    assert default_test(table(values, folds=1)) == "corrected_t"
    assert winners(table(values, folds=10), "gain").test == "corrected_t"
    # Two data sets, of which one has other splits
    mixed = pd.concat([table(values), table({"two": values["one"]}, folds=5)])
    assert default_test(mixed) == "corrected_t"
    assert winners(table(values), "gain", "five_by_two_f").losers("one", "A") == ("B",)


def test_nobody_wins_against_the_sign_of_the_mean():
    # The first difference is 0.1, the others are -0.1: t = 0.1/sqrt(0.02/5) = 1.58 does not do;
    # with a first repeat of 0.1, 0.1 nothing varies, and t is infinite.
    differences = np.array([0.1, 0.1, *[-0.1] * 8])
    found = winners(table({"one": {"A": 0.5 + differences, "B": np.full(10, 0.5)}}), "gain")
    (pair,) = found.pairs.to_dict("records")
    assert pair["p"] == 0
    assert (pair["winner"], pair["loser"], pair["reason"]) == ("", "", OPPOSITE)
    assert found.table.to_numpy().tolist() == [["", ""]]


def test_without_a_test_there_is_no_winner_but_a_reason():
    missing = around(0.9)
    missing[3] = math.nan
    scores = table({"one": {"A": missing, "B": noise(0.8), "C": noise(0.8)}})
    pairs = winners(scores, "gain").pairs
    assert pairs["reason"].tolist() == [
        *["1 of 10 differences without a finite value"] * 2,
        "all differences are 0",
    ]
    assert (pairs["winner"] == "").all()
    for alpha in (0, 1, math.nan):
        with pytest.raises(ValueError, match="alpha is"):
            winners(scores, "gain", alpha=alpha)


with gzip.open(GOLDEN, "rt", encoding="utf-8") as file:
    PER_SET = json.load(file)["per_set"]


def test_five_by_two_winners_are_those_of_r():
    decided = 0
    for name, pairs in PER_SET.items():
        for figure in (pair["five_by_two"] for pair in pairs.values()):
            differences = np.array(figure["differences"]).ravel()
            scores = table({name: {"A": 0.5 + differences, "B": np.full(10, 0.5)}})
            found = winners(scores, "gain")
            p, t = figure["dietterich_p"], figure["dietterich_t"]
            winner = ""
            if p is not None and p <= 0.05 and t * differences.mean() > 0:
                winner = "A" if t > 0 else "B"
            assert found.pairs["winner"].tolist() == [winner]
            decided += winner != ""
    assert decided > 0


@given(
    st.lists(st.integers(-9, 9), min_size=30, max_size=30),
    st.sampled_from(["five_by_two_t", "five_by_two_f", "corrected_t"]),
    st.sampled_from([0.05, 0.5, 0.99]),
)
def test_nobody_both_wins_against_and_loses_to_another(values, test, alpha):
    blocks = np.array(values, dtype=float).reshape(3, 10)
    scores = table({"one": dict(zip("ABC", blocks, strict=True))})
    found, turned = (winners(scores, "gain", test, "none", alpha, up) for up in (True, False))
    for winner in "ABC":
        assert winner not in found.losers("one", winner)
        for loser in found.losers("one", winner):
            assert winner not in found.losers("one", loser)
            assert winner in turned.losers("one", loser)
    assert found.counts["difference"].sum() == 0


# Means


def test_means_have_the_standard_deviation_between_splits_and_its_multiple():
    scores = table({"one": {"A": [1.0, 2.0, 3.0, 4.0]}})
    (row,) = dataset_means(scores, "gain", ["100%"]).to_dict("records")
    sd = math.sqrt(5 / 3)
    assert (row["splits"], row["mean"]) == (4, 2.5)
    assert (row["sd"], row["sd_1_96"]) == pytest.approx((sd, 1.96 * sd))


# Correlations


def test_measures_are_correlated_by_data_set_and_learner():
    first = {"A": [1.0, 2.0, 3.0], "B": [1.0, 2.0, 3.0]}
    scores = table({"one": first, "two": {"A": [0.1 + 0.2, 0.3, 0.3], "B": [1.0, 3.0, 2.0]}})
    # one, A: deviations (-1, 0, 1) and (-1, 1, 0), r = 1/2; one, B: -1; two, B: (-1, 1, 0) twice
    scores["loss"] = 0.0
    for (dataset, learner), values in {
        ("one", "A"): [4, 6, 5],
        ("one", "B"): [-5, -7, -9],
        ("two", "A"): [1, 2, 3],
        ("two", "B"): [1, 3, 2],
    }.items():
        own = (scores["dataset"] == dataset) & (scores["learner"] == learner)
        scores.loc[own, "loss"] = values
    found = correlations(scores, "gain", "loss")
    expected = pd.DataFrame({"A": [0.5, math.nan], "B": [-1.0, 1.0]}, index=["one", "two"])
    np.testing.assert_allclose(found.table, expected, atol=1e-15)
    assert [*found.table.columns, *found.table.index] == ["A", "B", "one", "two"]
    assert found.cells["reason"].tolist() == ["", "", "gain is constant", ""]
    by = found.by_learner.set_index("learner")
    assert by.loc["A"].tolist() == pytest.approx([1, 0.5, 1, 0])
    assert by.loc["B"].tolist() == pytest.approx([2, 0.0, 1, 1], abs=1e-15)
    overall = {"cells": 3, "mean": 0.5 / 3, "positive": 2, "negative": 1}
    assert found.overall == pytest.approx(overall)


def test_what_has_no_correlation_has_a_reason():
    scores = table({"one": {"A": [1.0, 2.0], "B": [1.0, math.inf]}})
    found = correlations(scores, "gain", "gain")
    assert found.cells["reason"].tolist() == ["fewer than 3 splits"] * 2
    scores = table({"one": {"A": [1.0, 2.0, math.inf, math.nan]}})
    found = correlations(scores, "gain", "gain")
    assert found.cells["reason"].tolist() == ["2 of 4 splits without a finite value"]
    assert found.overall["cells"] == 0
    assert math.isnan(found.overall["mean"])


@given(st.lists(st.tuples(*[st.integers(-50, 50)] * 2), min_size=3, max_size=12))
def test_a_correlation_is_that_of_numpy_whatever_the_scale(points):
    x, y = np.array(points, dtype=float).T
    scores = table({"one": {"A": x}}).assign(other=1e-150 * y)
    value = correlations(scores, "gain", "other").cells["correlation"][0]
    if len({*x}) == 1 or len({*y}) == 1:
        assert math.isnan(value)
    else:
        assert value == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-12)


# Properties


def test_properties_of_a_data_set():
    columns = [Variable("a", ("x", "y")), Variable("b", None), Variable("c", None)]
    schema = Schema((*columns, Variable("class", ("1", "2", "3"))))
    values = [[0, 1.5, np.nan, 0], [1, np.nan, 2.0, 1], [0, 3.0, 1.0, 1], [1, 2.0, 0.0, 0]]
    facts = DataSet("small", Path("small.csv"), Sample.of(np.array(values), schema)).facts
    assert properties("small", [(2, 2), (3, 1)], facts) == {
        **{"dataset": "small", "rows": 4, "attributes": 3, "numeric": 2, "classes": 3},
        **{"least_train_rows": 2, "most_train_rows": 3, "missing": 2 / 12},
        **{"least_test_rows": 1, "most_test_rows": 2},
    }


# Reversals


def reversed_in(values, other, learners="ABC"):
    """Reversals between a gain and a loss of data sets of these means."""
    names = [f"set {i}" for i in range(len(values))]
    makers = dict(zip(learners, (around, noise, lambda m: noise(m)[::-1]), strict=False))

    def of(means):
        rows = zip(names, means, strict=True)
        return {
            name: {who: makers[who](mean) for who, mean in zip(makers, row, strict=True)}
            for name, row in rows
        }

    gains, losses = table(of(values)), table(of(other), measure="loss")
    tests = winners(gains, "gain"), winners(losses, "loss", greater_is_better=False)
    means = means_table(gains, "gain"), means_table(losses, "loss", greater_is_better=False)
    return reversals(means, tests)


def test_measures_that_name_different_winners():
    found = reversed_in(
        [[0.9, 0.8, 0.7], [0.9, 0.8, 0.7], [0.9, 0.8999, 0.5]],
        [[0.3, 0.2, 0.4], [0.1, 0.2, 0.4], [0.3, 0.4, 0.2]],
    )
    assert (found.first, found.second, found.datasets, found.m) == ("gain", "loss", 3, 9)
    first, second = found.cases
    assert (first.dataset, first.winner_first, first.winner_second) == ("set 0", "A", "B")
    assert (first.difference_first, first.difference_second) == pytest.approx((0.1, 0.1))
    assert first.significant_first
    assert first.significant_second
    assert max(first.p_first, first.p_second) < 0.05
    assert (second.dataset, second.winner_first, second.winner_second) == ("set 2", "A", "C")
    assert (second.difference_first, second.difference_second) == pytest.approx((0.4, 0.1))
    assert found.table["dataset"].tolist() == ["set 0", "set 2"]
    assert reversed_in([[1, 0]], [[0, 1]], "AB").table.empty


def test_a_learner_that_is_best_by_both_measures_is_no_reversal_even_if_another_ties():
    assert reversed_in([[0.3, 0.1 + 0.2]], [[0.4, 0.2]], "AB").cases == ()
    assert len(reversed_in([[0.31, 0.1 + 0.2]], [[0.4, 0.2]], "AB").cases) == 1


def test_a_learner_without_a_mean_does_not_win():
    found = reversed_in([[0.9, math.nan, 0.7]], [[0.3, 0.1, 0.4]])
    assert (found.datasets, found.cases, found.partial) == (1, (), True)
    found = reversed_in([[math.nan] * 3], [[0.3, 0.1, 0.4]])
    assert (found.datasets, found.cases) == (0, ())


def test_one_learner_with_both_measures_is_no_winner():
    found = reversed_in([[0.9, math.nan, math.nan]], [[0.3, 0.1, 0.4]])
    assert (found.datasets, found.cases) == (0, ())
    said = "Gain and loss cannot be compared: on no data set do two learners have a mean by both."
    assert reversal_sentence(found, ("gain", "loss")) == said
    # On the second data set two have both, and A is best by both.
    found = reversed_in([[0.9, math.nan, math.nan], [0.9, math.nan, 0.7]], [[0.3, 0.1, 0.4]] * 2)
    assert found.datasets == 1
    said = "Gain and loss name the same winner among the learners with both."
    assert reversal_sentence(found, ("gain", "loss")) == said


def test_the_telling_row_counts_for_the_second_winner_alone():
    first = np.array([-1, 0, 1, 0, np.nan])
    second = np.array([9, 3, 2, 3, 9.0])
    assert telling_row(first, second) == 1
    assert telling_row(first, -second) is None
    assert telling_row(np.array([1.0]), np.array([np.inf])) == 0
