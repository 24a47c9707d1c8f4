"""Contradictions between measures, and the rows that they need, on tables made by hand."""

import math

import numpy as np
import pandas as pd
import pytest

from simstudy.analysis.models.choices import against_truth, contradictions, rows_needed
from simstudy.analysis.tests.intervals import share_interval
from simstudy.analysis.tests.pairwise import pairwise


@pytest.fixture
def picks() -> pd.DataFrame:
    """Two models, one size, two pairs, two test sets."""
    return pd.DataFrame(
        {
            "model": [0, 0, 0, 0, 1, 1, 1, 1],
            "size": 100,
            "pair": [0, 0, 1, 1, 0, 0, 1, 1],
            "repeat": [0, 1, 0, 1, 0, 1, 0, 1],
            "truth_kl": [1, 1, -1, -1, 1, 1, 0, 0],
            "a": [1, 1, -1, 1, 1, 0, 1, -1],
            "b": [1, -1, 1, 0, 0, 0, -1, 2],
        }
    )


def test_contradictions_counted_by_hand(picks):
    (row,) = contradictions(picks, ["a", "b"], [100]).to_dict("records")
    # Model 0: they differ in 2 of 4 choices, one ties in 1; model 1, whose last choice b lacks:
    # in 1 of 3, and one ties in 1.
    assert row["opposite"] == pytest.approx((2 / 4 + 1 / 3) / 2)
    assert row["one_ties"] == pytest.approx((1 / 4 + 1 / 3) / 2)
    assert row["mcse"] == pytest.approx(abs(2 / 4 - 1 / 3) / 2)
    assert row["n"] == 2
    limits = share_interval(np.array([[2 / 4], [1 / 3]]), 0.95)
    assert (row["lower"], row["upper"]) == pytest.approx((limits[1][0], limits[2][0]))


def test_contradictions_of_the_truth_counted_by_hand(picks):
    a, b = against_truth(picks, ["a", "b"], ["kl"], [100]).to_dict("records")
    # The target ties the second pair of model 1, which is left out.
    assert (a["pairs"], a["left_out"]) == (4, 1)
    assert [a[key] for key in ("right", "tied", "wrong")] == pytest.approx([5 / 8, 1 / 4, 1 / 8])
    assert [b[key] for key in ("right", "tied", "wrong")] == pytest.approx([1 / 8, 5 / 8, 1 / 4])
    limits = share_interval(np.array([[1 / 2], [0.0]]), 0.9)
    (b,) = against_truth(picks, ["b"], ["kl"], [100], confidence=0.9).to_dict("records")
    assert (b["lower"], b["upper"]) == pytest.approx((limits[1][0], limits[2][0]))


SIZES = [20, 50, 100, 200, 500, 1000]


def table(rng: np.random.Generator, models: int, shifts: dict[str, float]) -> pd.DataFrame:
    """Scores that grow with the logarithm of the size, of one measure later than of another."""
    rows = []
    for model in range(models):
        own = rng.normal(0, 0.05)
        for label, factor in shifts.items():
            for size in SIZES:
                mean = 1 - 0.6 * (size / factor) ** -0.25
                rows.append((model, size, label, mean + own + rng.normal(0, 0.03)))
    return pd.DataFrame(rows, columns=["model", "size", "learner", "right"])


def test_a_measure_that_needs_twice_the_rows_is_found_out():
    scores = table(np.random.default_rng(1), 200, {"one": 1.0, "half": 2.0, "never": 400.0})
    found = rows_needed(scores, "right", 100).set_index("learner")
    assert found.loc["one", "rows"] == 100
    assert found.loc["half", "lower"] < 200 < found.loc["half", "upper"]
    assert found.loc["half", "rows"] == pytest.approx(200, rel=0.15)
    assert found.loc["half", "efficiency"] == pytest.approx(0.5, rel=0.15)
    assert math.isnan(found.loc["never", "rows"])
    assert (found.loc["never", "lower"], found.loc["never", "upper"]) == (1000, math.inf)
    assert set(found["m"]) == {2 * len(SIZES)}


@pytest.mark.slow
def test_the_interval_covers_the_true_number_of_rows():
    rng, covered, estimated = np.random.default_rng(2), 0, 0
    for _ in range(200):
        scores = table(rng, 40, {"one": 1.0, "other": 1.7})
        row = rows_needed(scores, "right", 100).set_index("learner").loc["other"]
        covered += row["lower"] <= 170 <= row["upper"]
        estimated += not math.isnan(row["rows"])
    assert estimated > 150  # not because the interval is always open
    assert covered >= 187  # 95 % of 200 is 190; the intervals are simultaneous, so wider


def test_losses_are_to_be_small():
    scores = table(np.random.default_rng(1), 100, {"one": 1.0, "half": 2.0})
    scores["loss"] = 1 - scores["right"]
    right, loss = rows_needed(scores, "right", 100), rows_needed(scores, "loss", 100, False)
    assert loss["rows"].tolist() == pytest.approx(right["rows"].tolist())


def test_rows_needed_claim_no_difference_that_the_tests_between_treatments_do_not_show():
    # In one family with the tests of all pairs at all sizes, whatever the scores.
    rng = np.random.default_rng(5)
    sizes, labels = (20, 50, 100, 200), "ABCD"
    claims = loose = 0
    for _ in range(40):
        ability = rng.normal(scale=0.05, size=4)
        scores = pd.DataFrame(
            {
                "model": model,
                "size": size,
                "learner": label,
                "right": 0.5 + ability[place] + 0.1 * math.log(size) + rng.normal(scale=0.1),
            }
            for model in range(12)
            for size in sizes
            for place, label in enumerate(labels)
        )
        tests = pairwise(scores, value="right", adjustment="bonferroni_all")
        at_reference = tests[(tests["size"] == 100) & tests["significant"]]
        shown = {frozenset(pair) for pair in at_reference[["first", "second"]].to_numpy()}
        needed = rows_needed(scores, "right", 100, further=int(tests["m"].iloc[0]))
        assert set(needed["m"]) == {24 + 3 * 3}
        best = needed["learner"][needed["note"] == "the reference"].item()
        for row in needed[needed["learner"] != best].itertuples():
            if row.lower == 100:
                claims += 1
                assert frozenset((best, row.learner)) in shown
        loose += (rows_needed(scores, "right", 100)["lower"] == 100).sum() - 1
    assert loose > claims > 0
