"""Selection of a learner by a measure on rows it was not fitted to."""

import math

import numpy as np
import pytest

import simstudy
from simstudy.data.sample import Sample
from simstudy.data.splits.schemes import CrossValidation
from simstudy.errors import SimstudyError
from simstudy.learners import NaiveBayes, Select
from simstudy.learners.wrappers.select import SPLITS_SEED
from simstudy.measures import accuracy, log_loss
from simstudy.measures.base import clip


def xor(rows: int, noise: float = 0.1) -> Sample:
    """The class is the exclusive or of two attributes, but for some rows."""
    rng = np.random.default_rng(3)
    x = rng.integers(0, 2, (rows, 2))
    y = (x[:, 0] ^ x[:, 1]) ^ (rng.random(rows) < noise)
    return Sample(np.column_stack([x, y]), (2, 2, 2))


@pytest.mark.parametrize("validation", ["cv", "holdout"])
@pytest.mark.parametrize("measure", ["information_reward", "accuracy", "auc", "accuracy:log_loss"])
def test_what_can_represent_the_truth_is_selected(measure, validation):
    found = Select(["naive_bayes", "tan"], measure, validation=validation).fit(xor(300))
    assert found.chosen == 1
    assert np.allclose(found.predict_proba([[0, 1]])[0], [0.1, 0.9], atol=0.05)


def test_losses_are_to_be_small():
    assert Select(["naive_bayes", "tan"], "log_loss").fit(xor(300)).chosen == 1
    assert Select(["naive_bayes", "tan"], "error_rate").fit(xor(300)).chosen == 1


def test_parameters_of_one_learner_can_be_selected():
    candidates = [{"learner": "kdb", "parameters": {"k": k}} for k in (0, 1)]
    assert Select(candidates).fit(xor(300)).chosen == 1


def test_the_value_is_that_of_all_answers_out_of_fold():
    sample, rng = xor(40), np.random.default_rng(5)
    found = Select(["naive_bayes", "tan"], "log_loss", folds=4).fit(sample, rng)
    splitting = np.random.default_rng(SPLITS_SEED)
    losses = []
    for split in CrossValidation(4).splits(sample.target, splitting):
        fitted = NaiveBayes().fit(sample.take(split.train))
        proba = clip(fitted.predict_proba(sample.take(split.test)), "mml", 30)
        losses.extend(log_loss(proba, sample.target[split.test]))
    assert found.values[0] == pytest.approx((np.mean(losses),))


def test_of_candidates_that_tie_the_first_is_selected():
    found = Select(["tan", "naive_bayes", "tan"], "accuracy").fit(xor(200))
    assert found.chosen == 0
    assert found.values[0] == found.values[2]


def test_the_second_level_decides_where_the_first_ties():
    # With one class nearly certain both have the same accuracy, and other probabilities.
    rng = np.random.default_rng(1)
    rows = np.column_stack([rng.integers(0, 2, 80), rng.random(80) < 0.05]).astype(int)
    sample = Sample(rows, (2, 2))
    candidates = [{"learner": "naive_bayes", "parameters": {"alpha": 200.0}}, "naive_bayes"]
    alone = Select(candidates, "accuracy").fit(sample)
    assert alone.values[0] == alone.values[1]
    assert alone.chosen == 0
    assert Select(candidates, "accuracy:log_loss").fit(sample).chosen == 1


def test_a_candidate_without_a_value_is_selected_only_if_none_has_one():
    one_class = Sample(np.zeros((20, 2), dtype=int), (2, 2))
    found = Select(["naive_bayes", "tan"], "auc").fit(one_class)
    assert found.chosen == 0
    assert all(math.isnan(value) for (value,) in found.values)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_few_rows_suffice(rows):
    found = Select(["naive_bayes", "tan"]).fit(xor(rows))
    assert found.predict_proba([[0, 0]]).sum() == pytest.approx(1)


def test_the_same_stream_gives_the_same_selection():
    one, two = (Select().fit(xor(60), np.random.default_rng(9)) for _ in range(2))
    assert one.values == two.values


def test_parameters_of_the_measure_count():
    # To call everything 1 is cheap if only a missed 1 costs.
    matrix = [[0.0, 0.0], [1.0, 0.0]]
    options = {"matrix": matrix, "decision": "least_cost"}
    found = Select(["naive_bayes", "tan"], "cost", options).fit(xor(100))
    assert found.values == [(0.0,), (0.0,)]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"measure": "kl_divergence"}, "needs 'truth'"),
        ({"measure": "acuracy"}, "did you mean 'accuracy'"),
        ({"candidates": []}, "at least one"),
        ({"candidates": ["select"]}, "cannot be selected"),
        ({"candidates": [{"name": "tan"}]}, "learner and parameters"),
        ({"candidates": [{"learner": "tan", "parameters": {"alfa": 1}}]}, "no parameter of 'tan'"),
        ({"validation": "loo"}, "validation"),
        ({"folds": 1}, "folds"),
        ({"share": 1.0}, "share"),
        ({"measure": "auc:accuracy", "measure_parameters": {"positive": 1}}, "two-level"),
    ],
)
def test_wrong_parameters_are_refused(changes, words):
    learner = {"name": "select", "candidates": ["tan", "c45"]} | changes
    with pytest.raises(SimstudyError, match=words):
        simstudy.load_study("tan", {"learners": [learner]})


def test_accuracy_out_of_fold_is_a_share_of_the_rows():
    sample = xor(25)
    found = Select(["naive_bayes", "tan"], "accuracy").fit(sample)
    assert all(round(25 * value) == pytest.approx(25 * value) for (value,) in found.values)
    assert accuracy(found.predict_proba(sample), sample.target).mean() > 0.5
