"""What Weka and R say of stored probabilities comes out (tests/golden/real)."""

import csv
import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simstudy.measures import (
    accuracy,
    auc,
    confusion_matrix,
    cost,
    error_rate,
    f_score,
    false_positive_rate,
    kappa,
    kononenko_bratko_relative,
    least_cost_class,
    lift,
    modal_class,
    precision,
    recall,
)

REAL = Path(__file__).parents[1] / "golden" / "real"


def read_json(name: str) -> Any:
    with gzip.open(REAL / name, "rt", encoding="utf-8") as file:
        return json.load(file)


EVALUATION = read_json("evaluation.json.gz")
CURVES = read_json("curves/auc.json.gz")
EACH = [(name, learner) for name in EVALUATION for learner in EVALUATION[name]["learners"]]
each = pytest.mark.parametrize(("name", "learner"), EACH)


def exactly(value: Any) -> Any:
    return pytest.approx(value, abs=1e-12)


@cache
def answers(name: str, learner: str) -> tuple[np.ndarray, np.ndarray]:
    """The probabilities of a learner on the test part of a set, and the true classes."""
    with gzip.open(REAL / "probs" / f"{learner}_{name}.csv.gz", "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    classes = EVALUATION[name]["classes"]
    proba = np.array([[float(row[f"p_{one}"]) for one in classes] for row in rows])
    return proba, np.array([classes.index(row["y"]) for row in rows])


@each
def test_decisions_are_those_of_weka(name, learner):
    weka, (proba, y) = EVALUATION[name]["learners"][learner], answers(name, learner)
    np.testing.assert_array_equal(confusion_matrix(proba, y), weka["confusion"])
    assert accuracy(proba, y).mean() == exactly(weka["accuracy"])
    assert error_rate(proba, y).mean() == exactly(1 - weka["accuracy"])
    assert accuracy(proba, y).sum() == weka["correct"]
    assert "".join(map(str, modal_class(proba))) == weka["predicted"]
    assert kappa(proba, y) == exactly(weka["kappa"])
    rates = ((recall, "tp_rate"), (false_positive_rate, "fp_rate"))
    for measure, key in (*rates, (precision, "precision"), (recall, "recall"), (f_score, "f")):
        weighted = measure(proba, y, average="weighted")
        assert weighted == exactly(weka["weighted"][key])
        for one, expected in enumerate(weka[key]):
            if (y == one).any():
                assert measure(proba, y, positive=one) == exactly(expected)
        present = np.unique(y)
        macro = np.mean([weka[key][one] for one in present])
        assert measure(proba, y, average="macro") == exactly(macro)


@each
def test_costs_are_those_of_weka(name, learner):
    of_set, (proba, y) = EVALUATION[name], answers(name, learner)
    weka, matrix = of_set["learners"][learner], of_set["cost_matrix"]
    assert cost(proba, y, matrix=matrix).mean() == exactly(weka["mean_cost"])
    assert cost(proba, y, matrix=matrix).sum() == pytest.approx(weka["total_cost"])
    chosen = least_cost_class(proba, matrix)
    assert "".join(map(str, chosen)) == weka["min_expected_cost_predicted"]
    least = cost(proba, y, matrix=matrix, decision="least_cost")
    assert least.sum() == pytest.approx(weka["min_expected_cost_total"])


@each
def test_relative_information_of_the_total_is_that_of_weka(name, learner):
    weka, (proba, y) = EVALUATION[name]["learners"][learner], answers(name, learner)
    counts = np.array(EVALUATION[name]["train_class_counts"])
    prior = (counts + 1) / (counts.sum() + len(counts))
    found = kononenko_bratko_relative(proba, y, prior=prior, total=True)
    assert found == pytest.approx(weka["kb_relative_percent"], rel=1e-9, abs=1e-9)
    twice = kononenko_bratko_relative(
        proba, y, prior=prior, weights=np.full(len(y), 2.0), total=True
    )
    assert twice == pytest.approx(2 * found)


@each
def test_areas_are_those_of_weka(name, learner):
    weka, (proba, y) = EVALUATION[name]["learners"][learner], answers(name, learner)
    for one, expected in enumerate(weka["auc"]):
        if (y == one).any():
            assert auc(proba, y, positive=one) == exactly(expected)
    assert auc(proba, y, average="weighted") == exactly(weka["weighted"]["auc"])


@pytest.mark.parametrize("name", CURVES["binary"])
def test_areas_and_lift_are_those_of_r(name):
    for learner, lifts in CURVES["lift"][name].items():
        proba, y = answers(name, learner)
        one = EVALUATION[name]["classes"].index(lifts["positive"])
        area = CURVES["binary"][name][learner]["auc"]
        assert auc(proba, y, positive=one) == exactly(area)
        assert lift(proba, y, positive=one) == exactly(lifts["lift"])
        quarter = lift(proba, y, positive=one, share=0.25)
        assert quarter == exactly(lifts["lift_at_25_percent"])


@pytest.mark.parametrize("name", CURVES["hand_till"])
def test_hand_and_till_s_m_is_that_of_r(name):
    for learner, found in CURVES["hand_till"][name].items():
        proba, y = answers(name, learner)
        assert auc(proba, y) == exactly(found["hand_till_M"])
        assert auc(proba, y, average="hand_till") == auc(proba, y)
        for i, row in enumerate(found["A_i_given_j"]):
            for j, expected in enumerate(row):
                if expected is not None:
                    rows = (y == i) | (y == j)
                    assert auc(proba[rows], y[rows], positive=i) == exactly(expected)
