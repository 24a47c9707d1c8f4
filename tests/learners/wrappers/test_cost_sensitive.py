"""Learners made cost-sensitive: against repeated rows, by their costs, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest

from simstudy import SimstudyError, make_study, run_study
from simstudy.arrays import FloatArray
from simstudy.components import registry
from simstudy.data.sample import Sample
from simstudy.data.schema import Schema, Variable
from simstudy.learners import AODE, C45, CostSensitive, NaiveBayes
from simstudy.learners.wrappers.wrapper import LEARNERS
from simstudy.measures import cost
from simstudy.sources.families.naive_bayes import NaiveBayesFamily
from simstudy.study.study import Study
from simstudy.testing import check_learner

MATRIX = [[0.0, 1.0], [5.0, 0.0]]


@dataclass(frozen=True)
class Graded(CostSensitive):
    """Has costs for any number of classes: class i costs i + 1."""

    def class_costs(self, classes: int | None) -> FloatArray | None:
        return None if classes is None else 1.0 + np.arange(classes)


@pytest.mark.parametrize("kind", [CostSensitive, Graded])
@pytest.mark.parametrize("learner", ["naive_bayes", "aode", "c45"])
def test_it_keeps_the_contract(kind: type[CostSensitive], learner: str) -> None:
    check_learner(kind(learner), max_attributes=20)


def draw(rows: int = 300, seed: int = 3) -> tuple[Sample, Sample]:
    """Training and test rows of a random model of two classes."""
    rng = np.random.default_rng(seed)
    model = NaiveBayesFamily(variables=(6, 6), values=(2, 2)).draw(rng)
    return model.sample(rows, rng), model.sample(20_000, rng)


def test_it_is_the_learner_on_repeated_rows_apart_from_the_total_weight() -> None:
    train, test = draw()
    repeated = Sample(
        np.repeat(train.codes, np.where(train.target == 1, 5, 1), axis=0), train.cards
    )
    # Weights are as many times smaller as there are more repeated rows: so must the pseudocount
    # of Laplace's rule be.
    shrunk = len(train) / len(repeated)
    found = CostSensitive("naive_bayes", {"alpha": shrunk}, MATRIX).fit(train)
    expected = NaiveBayes(alpha=1.0).fit(repeated)
    np.testing.assert_allclose(
        found.predict_proba(test.attributes), expected.predict_proba(test.attributes), atol=1e-12
    )
    plain = CostSensitive("naive_bayes", None, MATRIX).fit(train)
    assert not np.allclose(
        plain.predict_proba(test.attributes), expected.predict_proba(test.attributes), atol=1e-6
    )


def test_weights_are_those_of_ting_and_keep_their_total() -> None:
    train, _ = draw()
    weighted = CostSensitive("naive_bayes", None, MATRIX)._weighted(train)
    counts = train.class_counts
    expected = np.array([1, 5]) * 300 / (counts[0] + 5 * counts[1])
    assert weighted.weights is not None
    np.testing.assert_allclose(weighted.weights, expected[train.target])
    assert weighted.total == pytest.approx(300)
    halves = Sample(train.codes, train.cards, np.full(300, 0.5))
    again = CostSensitive("naive_bayes", None, MATRIX)._weighted(halves)
    np.testing.assert_allclose(again.weights, weighted.weights / 2)


def test_costs_of_a_class_are_summed_over_the_others() -> None:
    three = [[9.0, 1.0, 2.0], [3.0, 9.0, 4.0], [0.0, 0.0, 9.0]]
    costs = CostSensitive("naive_bayes", None, three).class_costs(3)
    np.testing.assert_array_equal(costs, [3, 7, 0])


@pytest.mark.parametrize("learner", ["naive_bayes", "tan", "c45"])
def test_it_lowers_the_cost_of_the_most_probable_class(learner: str) -> None:
    before, after = [], []
    for seed in range(6):
        train, test = draw(seed=seed)
        plain = CostSensitive(learner).base().fit(train).predict_proba(test.attributes)
        made = CostSensitive(learner, None, MATRIX).fit(train).predict_proba(test.attributes)
        before.append(cost(plain, test.target, matrix=MATRIX).mean())
        after.append(cost(made, test.target, matrix=MATRIX).mean())
    assert np.mean(after) < 0.9 * np.mean(before)


def test_without_a_matrix_or_without_costs_rows_are_not_weighted() -> None:
    train, test = draw()
    expected = AODE().fit(train).predict_proba(test.attributes)
    found = CostSensitive("aode").fit(train).predict_proba(test.attributes)
    np.testing.assert_array_equal(found, expected)
    only = train.take(train.target == 0)
    free = CostSensitive("aode", None, [[0.0, 0.0], [1.0, 0.0]])
    assert free._weighted(only) is only


def test_it_takes_the_rows_that_the_learner_takes() -> None:
    assert CostSensitive("c45").accepts == C45.accepts
    assert CostSensitive("aode").accepts == AODE.accepts
    schema = Schema((Variable("x", None), Variable("class", ("a", "b"))))
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 60)
    mixed = Sample.of(np.column_stack([y + rng.normal(size=60), y]), schema)
    fitted = CostSensitive("c45", None, MATRIX).fit(mixed)
    assert fitted.predict_proba(mixed).shape == (60, 2)
    with pytest.raises(ValueError, match="takes only nominal attributes"):
        CostSensitive("tan", None, MATRIX).fit(mixed)


def test_it_knows_the_built_in_learners_by_the_names_of_studies() -> None:
    import simstudy.learners

    for name, public in LEARNERS.items():
        assert registry.LEARNERS.get(name) is getattr(simstudy.learners, public)
    assert {*LEARNERS} == {*registry.LEARNERS._builtin} - {
        "truth",
        "cost_sensitive",
        "calibrated",
        "select",
    }
    assert CostSensitive("sklearn.naive_bayes:CategoricalNB", {"encode": "ordinal"}).base()


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"learner": "naive_bays"}, "learner = 'naive_bays' cannot be .*mean 'naive_bayes'"),
        ({"learner": "truth"}, "learner = 'truth' cannot be weighted by costs"),
        ({"learner": "sklearn.neighbors:KNeighborsClassifier"}, "takes no weights of rows"),
        ({"parameters": {"alfa": 1}}, "'alfa' is no parameter of 'naive_bayes'.*mean 'alpha'"),
        ({"parameters": {"alpha": "x"}}, "parameters = .* do not fit 'naive_bayes'"),
        ({"parameters": {"alpha": -1}}, "alpha = -1 is not allowed"),
        ({"learner": "tan", "parameters": {"tree": "true"}}, "tree = 'true' is not possible"),
        ({"matrix": [[0.0, 1.0], [1.0]]}, "matrix = .* is not allowed; it must have 2 rows of 2"),
        ({"matrix": [[0.0, -1.0], [1.0, 0.0]]}, "finite and not negative"),
        ({"matrix": [[1.0, 0.0], [0.0, 1.0]]}, "one of them above 0"),
    ],
)
def test_what_cannot_be_made_cost_sensitive_is_refused(
    given: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence) as caught:
        CostSensitive(**given)
    assert "\n" not in str(caught.value)


def test_a_matrix_of_another_number_of_classes_is_refused() -> None:
    sample = Sample(np.zeros((4, 2), dtype=int), (2, 3))
    with pytest.raises(ValueError, match=r"matrix = .* it must have 3 rows of 3 numbers"):
        CostSensitive("naive_bayes", None, MATRIX).fit(sample)


def content(values: list[int]) -> dict[str, Any]:
    made = {
        "name": "cost_sensitive",
        "learner": "tan",
        "parameters": {"alpha": 1.0, "search": "likelihood"},
        "matrix": MATRIX,
    }
    return {
        "name": "x",
        "models": 3,
        "family": {"name": "naive_bayes", "variables": [4, 4], "values": values},
        "data": {"train_sizes": [60], "test_size": "exact"},
        "learners": [{"name": "tan"}, made],
        "measures": {"primary": "information_reward", "also": [{"name": "cost", "matrix": MATRIX}]},
    }


def test_a_study_names_the_learner_its_parameters_and_the_costs(tmp_path) -> None:
    study = make_study(content([2, 2]))
    assert "matrix = [[0.0, 1.0], [5.0, 0.0]]" in study.to_toml()
    assert 'parameters = {alpha = 1.0, search = "likelihood"}' in study.to_toml()
    again = make_study(study.as_dict())
    assert again.as_dict() == study.as_dict()
    results = run_study(study, tmp_path / "out", report=False, jobs=1)
    means = results.scores.groupby("learner")["cost"].mean()
    assert means["cost_sensitive"] < means["tan"]


def test_a_study_of_other_numbers_of_classes_is_refused() -> None:
    given = content([2, 3]) | {"measures": {}}
    with pytest.raises(SimstudyError, match=r"matrix = .*; there are 2 to 3 classes"):
        make_study(given)


def test_the_matrix_is_of_the_classes_of_a_data_set_whatever_its_attributes(tmp_path) -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 60)
    x = np.array(list("abcd"))[y + rng.integers(0, 3, 60)]
    frame = pd.DataFrame({"x": x, "number": rng.random(60), "y": np.array(["no", "yes"])[y]})
    frame.to_csv(tmp_path / "table.csv", index=False)

    def study(matrix: list[list[float]]) -> Study:
        made = {"name": "cost_sensitive", "matrix": matrix}
        given = {"name": "x", "datasets": [{"path": str(tmp_path / "table.csv")}]}
        return make_study(given | {"resampling": {"folds": 2}, "learners": [made]})

    results = run_study(study(MATRIX), tmp_path / "out", report=False, jobs=1)
    assert (results.scores["status"] == "ok").all()
    with pytest.raises(SimstudyError, match=r"on 'table', matrix = .* there are 2 classes"):
        study([[0.0, 1.0, 1.0]] * 3)
