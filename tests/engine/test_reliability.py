"""Cells run again for their predictions: counted rightly, by weight, and with models as units."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from simstudy import Sample, SimstudyError, make_study, open_results, run_study
from simstudy.analysis.models.reliability import calibration
from simstudy.components.registry import FAMILIES, LEARNERS
from simstudy.engine.evaluation import EXACT, SAMPLED, evaluation
from simstudy.engine.plan import make_plan
from simstudy.engine.reliability import reliability
from simstudy.engine.seeds import stream
from simstudy.engine.task import run_task
from simstudy.sources.models import build

LEARNERS_USED = [
    {"name": "naive_bayes", "label": "NB"},
    {"name": "prior"},
    {"name": "truth"},
]


def study(test_size, models=4, **changes):
    return make_study(
        {
            "name": "reliable",
            "seed": 3,
            "models": models,
            "family": {"name": "tan", "variables": [3, 4], "values": [2, 3]},
            "data": {"train_sizes": [10, 40], "test_size": test_size, "training": "nested"},
            "learners": LEARNERS_USED,
            **changes,
        }
    )


def by_hand(plan, model, size, label, bins, modal=False):
    """Bins of one cell, row by row: weight, weight × probability, weight × came true, count."""

    def rng(role):
        return stream(plan.seed, plan.source.identity, model, role)

    part = next(part for part in plan.learners if part.label == label)
    truth = build(FAMILIES, plan.source.family).draw(rng("model"))
    judged = evaluation(truth, plan.source.test_size, rng("test"))
    test = judged.tests.get(EXACT) or judged.tests[SAMPLED]
    learner = build(LEARNERS, part)
    if label == "truth":
        proba = truth.posterior(judged.rows)
    else:
        train = truth.sample(max(plan.train_sizes), rng("train"))
        first = Sample(train.codes[:size], train.cards)
        proba = learner.fit(first, rng(f"learner/{part.identity}/{size}")).predict_proba(
            judged.rows
        )
    found: dict[int, list[float]] = {}
    weights = np.full(len(test.rows), 1 / len(test.rows)) if test.weights is None else test.weights
    seen = set()
    for row, target, weight in zip(test.rows, test.target, weights, strict=True):
        classes = [int(proba[row].argmax())] if modal else range(proba.shape[1])
        for c in classes:
            q = proba[row, c]
            entry = found.setdefault(min(int(q * bins), bins - 1), [0.0, 0.0, 0.0, 0])
            share = weight / len(classes)
            entry[0] += share
            entry[1] += share * q
            entry[2] += share * (target == c)
            entry[3] += test.weights is None or (row, c) not in seen
            seen.add((row, c))
    return found


@pytest.mark.parametrize("test_size", [60, "exact", "both"])
@pytest.mark.parametrize("classes", ["every", "modal"])
def test_bins_are_those_counted_by_hand(test_size, classes):
    plan = make_plan(study(test_size))
    found = reliability(plan, models=2, bins=7, classes=classes)
    table = found.table
    assert found.test == ("sampled" if test_size == 60 else "exact")
    cells = table.groupby(["learner", "size", "model"])
    assert len(cells) == 3 * 2 * 2
    for (label, size, model), rows in cells:
        expected = by_hand(plan, model, size, label, 7, classes == "modal")
        assert rows["bin"].tolist() == sorted(expected)
        for row in rows.itertuples():
            weight, predicted, happened, count = expected[row.bin]
            assert row.share == pytest.approx(weight)
            assert row.predicted == pytest.approx(predicted / weight)
            assert row.observed == pytest.approx(happened / weight)
            assert row.count == count
            assert row.low <= row.predicted <= row.high
        assert rows["share"].sum() == pytest.approx(1)


def test_the_truth_lies_on_the_diagonal():
    plan = make_plan(study("exact", models=6))
    exact = calibration(reliability(plan, learners=["truth"]).table)
    np.testing.assert_allclose(exact["observed"], exact["predicted"], atol=1e-12)
    drawn = reliability(make_plan(study(400, models=20)), size=10, learners=["truth"]).table
    found = calibration(drawn).dropna(subset=["se"])
    assert (found["gap"] != 0).any()
    assert ((found["lower"] <= found["predicted"]) & (found["predicted"] <= found["upper"])).all()
    assert found["se"].median() < 0.1


def test_the_prior_predicts_its_frequencies_and_nothing_else():
    table = reliability(make_plan(study(50)), size=10, learners=["prior"], bins=20).table
    for _, rows in table.groupby("model"):
        assert len(rows) <= 3  # no more points than classes
        # Frequencies of 10 rows, counts from ½, sum to one over the classes.
        classes = rows["count"].sum() / 50
        assert (rows["predicted"] * rows["share"]).sum() * classes == pytest.approx(1)
        assert (rows["observed"] * rows["share"]).sum() * classes == pytest.approx(1)


def test_a_part_of_the_cells_is_a_part_of_the_table():
    plan = make_plan(study(60))
    whole = reliability(plan).table
    cells = [cell for model in range(1, plan.problems) for cell in run_task(plan, model)]
    stored = {(cell.model, cell.size, cell.learner): cell.values[0] for cell in cells}  # noqa: PD011
    part = reliability(plan, size=40, learners=["NB"], stored=stored).table
    chosen = whole[(whole["size"] == 40) & (whole["learner"] == "NB") & (whole["model"] > 0)]
    pd.testing.assert_frame_equal(part, chosen.reset_index(drop=True), check_exact=True)


def table_of(shares, predicted, observed):
    return pd.DataFrame(
        {
            "learner": "a",
            "size": 50,
            "model": range(len(shares)),
            "bin": 0,
            "low": 0.0,
            "high": 0.1,
            "share": shares,
            "predicted": predicted,
            "observed": observed,
            "count": 10,
        }
    )


def test_models_of_one_weight_have_the_standard_error_of_a_mean():
    gaps = np.array([0.01, 0.03, -0.02, 0.06])
    found = calibration(table_of([0.5] * 4, [0.05] * 4, 0.05 + gaps)).iloc[0]
    assert (found["n"], found["count"], found["share"]) == (4, 40, 0.5)
    assert found["gap"] == pytest.approx(gaps.mean())
    assert found["se"] == pytest.approx(gaps.std(ddof=1) / 2)
    # 3.182446 is the quantile 0.975 of t with 3 degrees of freedom.
    assert found["upper"] - found["observed"] == pytest.approx(3.182446 * found["se"])


def test_models_count_by_their_share_and_are_left_out_one_at_a_time():
    shares, gaps = np.array([0.6, 0.3, 0.1]), np.array([0.05, -0.01, 0.02])
    found = calibration(table_of(shares, [0.05] * 3, 0.05 + gaps)).iloc[0]
    # 0.6 · 0.05 − 0.3 · 0.01 + 0.1 · 0.02 = 0.029.
    assert found["gap"] == pytest.approx(0.029)
    # Without each: (−0.003 + 0.002)/0.4, (0.03 + 0.002)/0.7, (0.03 − 0.003)/0.9.
    without = np.array([-0.0025, 0.032 / 0.7, 0.03])
    expected = np.sqrt(2 / 3 * ((without - without.mean()) ** 2).sum())
    assert found["se"] == pytest.approx(expected)


def test_one_model_alone_has_no_interval_and_is_not_in_the_family():
    lonely = table_of([0.5], [0.55], [0.5]).assign(bin=5, low=0.5, high=0.6)
    found = calibration(pd.concat([table_of([0.5, 0.4], [0.05, 0.06], [0.1, 0.0]), lonely]))
    assert found["m"].tolist() == [1, 1]
    assert np.isnan(found["lower"].iloc[1])
    assert np.isfinite(found["lower"].iloc[0])


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"size": 30}, "the study has no size 30; it has 10, 40"),
        ({"learners": ["nb"]}, "no learner 'nb'; it has NB, prior, truth"),
        ({"models": 5}, "models is 5; it must be from 1 to 4"),
        ({"bins": 0}, "bins is 0"),
        ({"classes": "some"}, "classes is 'some'; it must be 'every' or 'modal'"),
    ],
)
def test_what_cannot_be_counted_is_refused(wrong, words):
    with pytest.raises(SimstudyError, match=words):
        reliability(make_plan(study(60)), **wrong)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    asked = study(60, measures={"also": ["regret", "estimation"]})
    return run_study(asked, tmp_path_factory.mktemp("out") / "r", jobs=1, report=False)


def test_results_give_the_pooled_table(results):
    found = results.reliability(size=40, learners=["NB"])
    expected = calibration(reliability(make_plan(study(60)), size=40, learners=["NB"]).table)
    pd.testing.assert_frame_equal(found, expected, check_exact=True)
    assert results.calibration(size=40, learners=["NB"]).models == 4
    assert set(found["m"]) == {int(found["se"].notna().sum())}


def test_results_of_other_code_are_not_mixed_with_what_runs_now(results):
    changed = open_results(results.directory)
    changed.scores.loc[changed.scores["model"] == 1, "information_reward"] += 0.01
    with pytest.raises(SimstudyError, match="on model 1 with 10 rows has a information_reward of"):
        changed.reliability()


def test_cells_that_failed_are_not_run_again(results):
    partly = open_results(results.directory)
    lost = (partly.scores["model"] == 0) & (partly.scores["learner"] == "NB")
    partly.scores.loc[lost, ["status", "information_reward"]] = ["error", np.nan]
    found = partly.reliability(size=40)
    assert found.loc[found["learner"] == "NB", "n"].max() == 3
    assert found.loc[found["learner"] == "truth", "n"].max() == 4
