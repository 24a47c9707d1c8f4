"""Measures with parameters, labels and a positive class in a study."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from simstudy import SimstudyError, load_study, make_study, run_study
from simstudy.engine.plan import make_plan
from simstudy.measures import auc, cost, f_score
from simstudy.measures.positive_class import arguments, class_index, rarest

MATRIX = [[0, 1], [5, 0]]


def study(measures, values=(2, 2), **more):
    content = {
        "name": "x",
        "models": 3,
        "family": {"name": "tan", "variables": [3, 4], "values": [*values]},
        "data": {"train_sizes": [30], "test_size": 60},
        "learners": [{"name": "naive_bayes"}],
        "measures": measures,
    }
    return make_study(content | more)


def test_a_measure_may_have_parameters_and_come_twice():
    also = ["cost", {"name": "cost", "label": "dear", "matrix": MATRIX, "decision": "least_cost"}]
    made = study({"also": also})
    assert made.measures.labels == ["information_reward", "cost", "dear"]
    assert [column.name for column in make_plan(made).columns] == made.measures.labels
    again = make_study(made.as_dict())
    assert make_plan(again).fingerprint() == make_plan(made).fingerprint()
    assert make_plan(again).conditions()["measures.primary and also"][:2] == [
        "information_reward",
        "cost",
    ]


def test_other_parameters_make_another_study():
    one, other = (
        make_plan(study({"also": [{"name": "cost", "matrix": matrix}]})).fingerprint()
        for matrix in (MATRIX, [[0, 1], [4, 0]])
    )
    assert one != other


def test_a_written_study_is_read_back(tmp_path):
    made = study({"also": [{"name": "cost", "matrix": MATRIX}], "positive": "1"})
    (tmp_path / "study.toml").write_text(made.to_toml())
    assert load_study(tmp_path / "study.toml").as_dict() == made.as_dict()


@pytest.mark.parametrize(
    ("measures", "said"),
    [
        ({"also": ["accuracy", "accuracy"]}, r"also\[0\]: the measure 'accuracy' is listed twice"),
        ({"also": [{"name": "cost", "matrx": MATRIX}]}, r"also\[0\].matrx: unknown key.*'matrix'"),
        ({"also": [{"name": "cost", "matrix": "5"}]}, r"also\[0\].matrix: .*list in square"),
        ({"also": [{"name": "cost", "matrix": [[0, 1, 2]]}]}, r"also\[0\]: .*matrix"),
        ({"also": [{"name": "cost", "decision": "x"}]}, r"also\[0\].decision: .*'modal'"),
        ({"also": [{"name": "cost", "label": "size"}]}, r"have a column named 'size'"),
        ({"also": [{"name": "cost", "label": "a b"}]}, r"also\[0\]: .*label"),
        ({"also": [{"label": "cost"}]}, r"also\[0\]: .*name"),
        ({"also": [5]}, r"also\[0\]: .*the name of a measure, or a table"),
        ({"also": [{"name": "f_score", "positive": "yes"}]}, r"\"yes\" is none of the classes '0'"),
        ({"also": ["f_score"], "positive": "yes"}, r"\"yes\" is none of the classes '0', '1'"),
        ({"positive": True}, "measures.positive: true is not allowed"),
        ({"also": ["auc:accuracy"]}, r"'auc:accuracy' orders two results and has no mean"),
        ({"primary": "auc:accuracy"}, r"measures.primary: 'auc:accuracy' orders two results"),
        ({"primary": {"name": "f_score", "beta": -1.0}}, r"measures.primary: .*beta"),
    ],
)
def test_wrong_measures_are_refused_in_one_sentence(measures, said):
    with pytest.raises(SimstudyError, match=said) as caught:
        study(measures)
    assert "\n" not in str(caught.value)


def test_a_matrix_must_fit_every_possible_number_of_classes():
    assert study({"also": [{"name": "cost", "matrix": MATRIX}]})
    with pytest.raises(SimstudyError, match="matrix"):
        study({"also": [{"name": "cost", "matrix": MATRIX}]}, values=(2, 3))


def test_a_measure_of_sets_without_weights_has_no_exact_value():
    exact = {"train_sizes": [30], "test_size": "exact"}
    assert study({"also": ["kappa", "auc", "lift"]}, data=exact)
    with pytest.raises(SimstudyError, match=r"also\[0\]: 'precision_at' is not a mean .* weights"):
        study({"also": ["precision_at"]}, data=exact)


def test_the_engine_gives_parameters_labels_and_the_rarer_class(tmp_path):
    rng = np.random.default_rng(5)
    y = (rng.random(80) < 0.3).astype(int)
    frame = pd.DataFrame({"x": y + rng.normal(0, 1, 80), "y": np.array(["no", "yes"])[y]})
    frame.to_csv(tmp_path / "table.csv", index=False)
    path = tmp_path / "study.toml"
    path.write_text(
        'name = "t"\nkeep_answers = true\n[[datasets]]\npath = "table.csv"\n'
        '[resampling]\nfolds = 2\n[[learners]]\nname = "naive_bayes"\n[measures]\n'
        f'also = ["f_score", {{ name = "f_score", label = "f_no", positive = "no" }}, "auc",'
        f' {{ name = "cost", matrix = {MATRIX} }}]\n'
    )
    results = run_study(load_study(path), tmp_path / "out", report=False)
    for fold, rows in results.answers.groupby("fold"):
        proba, target = np.stack(rows["probabilities"].to_list()), rows["target"].to_numpy()
        cell = results.scores[results.scores["fold"] == fold].iloc[0]
        assert cell["f_score"] == pytest.approx(f_score(proba, target, positive=1))
        assert cell["f_no"] == pytest.approx(f_score(proba, target, positive=0))
        assert cell["auc"] == pytest.approx(auc(proba, target, positive=1))
        assert cell["cost"] == pytest.approx(cost(proba, target, matrix=MATRIX).mean())


def test_the_rarer_class_is_the_last_of_equals():
    assert rarest(np.array([3.0, 1.0, 2.0])) == 1
    assert rarest(np.array([2.0, 2.0])) == 1


def test_classes_are_found_by_name():
    assert class_index("b", ("a", "b")) == 1
    assert class_index(1, ("2", "1")) == 1
    assert arguments(f_score, {}, ("a", "b"), "a") == {"positive": 0}
    assert arguments(f_score, {"positive": "b"}, ("a", "b"), "a") == {"positive": 1}


@pytest.mark.parametrize("primary", [False, True])
def test_a_value_that_does_not_exist_is_reported_by_its_reason_alone(tmp_path, primary):
    measures = {"primary": "recall"} if primary else {"also": ["recall"]}
    made = study(measures, data={"train_sizes": [30], "test_size": 1}, models=20)
    results = run_study(made, tmp_path / "out", report=False)
    reason = "no recall: no row of the positive class"
    if primary:
        assert {*results.failures["error"]} == {reason}
    else:
        texts = [warning.partition(": ")[2] for warning in results.manifest["warnings"]]
        assert {*texts} == {reason}
