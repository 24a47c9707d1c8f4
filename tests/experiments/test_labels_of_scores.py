"""Labels in the names of scores print as they are, and no two scores have one name."""

import pytest

from simstudy import make_study
from simstudy.engine.plan import make_plan
from simstudy.errors import SimstudyError

STUDY = {
    "name": "labels",
    "models": 2,
    "family": {"name": "tan", "variables": [4, 4]},
    "data": {"train_sizes": [30]},
    "measures": {"primary": "accuracy"},
    "compare": "tests",
    "tests": [{"name": "mcnemar"}],
}


def learners(*labels):
    return [{"name": "naive_bayes", "label": label} for label in labels]


def test_labels_with_underscores_are_not_taken_apart():
    plan = make_plan(make_study(STUDY | {"learners": learners("naive_bayes", "base learner")}))
    labels = [plan.experiment.info(plan, column).label for column in plan.columns]
    assert labels[0] == "type I error, two copies of naive_bayes"
    assert "power, naive_bayes and base learner" in labels


def test_scores_of_one_name_are_refused():
    study = STUDY | {"learners": learners("a", "a_b", "b", "b_b")}
    with pytest.raises(SimstudyError, match="two scores would be named 'power_a_b_b'"):
        make_study(study)


def test_a_label_of_a_measure_prints_as_it_is():
    measures = {"primary": {"name": "accuracy", "label": "my_score"}}
    study = {**STUDY, "measures": measures, "learners": learners("NB")}
    del study["compare"], study["tests"]
    plan = make_plan(make_study(study))
    assert plan.experiment.info(plan, plan.columns[0]).label == "my_score"
