"""Message lengths: theory and data, as learners state them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simstudy import make_study, run_study
from simstudy.data.sample import Sample
from simstudy.learners import CaMML, MMLGraph, MMLTree, NaiveBayes
from simstudy.measures import message_length, message_length_data, message_length_theory, score
from simstudy.sources.families.tan import TANFamily

PROBA, Y = np.array([[0.5, 0.5]]), np.array([0])


def sample(rows: int = 200) -> Sample:
    rng = np.random.default_rng(4)
    return TANFamily(variables=(4, 4), values=(2, 3)).draw(rng).sample(rows, rng)


def test_the_parts_of_a_network_sum_to_its_cost():
    fitted = CaMML(select="map").fit(sample())
    theory, data = fitted.message
    assert theory + data == pytest.approx(fitted.best_cost, rel=1e-9)
    assert theory > 0
    # −log likelihood under (n + ½)/(N + k/2), counted row by row
    rows, loss = sample(), 0.0
    for child, parents in enumerate(fitted.dag):
        for row in rows.codes:
            same = np.all(rows.codes[:, list(parents)] == row[list(parents)], axis=1)
            here = np.count_nonzero(same & (rows.codes[:, child] == row[child]))
            loss -= math.log((here + 0.5) / (np.count_nonzero(same) + rows.cards[child] / 2))
    assert data == pytest.approx(loss, rel=1e-9)


@pytest.mark.parametrize("learner", [MMLTree(), MMLGraph()])
def test_the_parts_of_a_tree_sum_to_its_length(learner):
    fitted = learner.fit(sample())
    theory, data = fitted.message
    assert theory + data == pytest.approx(fitted.message_length, rel=1e-12)
    # each leaf: log of (N + k/2 − 1)!/(k/2 − 1)! · Π (−½)!/(n_c − ½)!, the Dirichlet(½) code
    lengths = 0.0
    for counts in fitted.counts[fitted.attribute < 0]:
        k = len(counts)
        lengths += math.lgamma(counts.sum() + k / 2) - math.lgamma(k / 2)
        lengths += sum(math.lgamma(0.5) - math.lgamma(count + 0.5) for count in counts)
    assert data == pytest.approx(lengths, rel=1e-9)


def test_lengths_are_in_the_base_asked_for():
    message = (math.log(8), math.log(4))
    lengths = [
        score(f, PROBA, Y, message=message, base=2.0)
        for f in (message_length_theory, message_length_data, message_length)
    ]
    assert lengths == pytest.approx([3, 2, 5])


def test_a_learner_without_a_message_has_no_length():
    value = score(message_length, PROBA, Y)
    assert math.isnan(value)
    assert value.reason == "the learner has no message length"
    assert not hasattr(NaiveBayes().fit(sample()), "message")
    assert CaMML(select="average").fit(sample()).message is None


def test_a_study_has_lengths_as_columns(tmp_path):
    study = make_study(
        {
            "name": "lengths",
            "models": 2,
            "family": {"name": "tan", "variables": [3, 4]},
            "data": {"train_sizes": [30], "test_size": "exact"},
            "learners": [{"name": "mml_tree"}, {"name": "camml"}, {"name": "naive_bayes"}],
            "measures": {"also": ["message_length", "message_length_theory"]},
        }
    )
    scores = run_study(study, tmp_path / "out", report=False).scores.set_index("learner")
    assert scores.loc[["mml_tree", "camml"], "message_length"].gt(0).all()
    assert scores.loc["naive_bayes", "message_length"].isna().all()
    assert (scores["message_length"] - scores["message_length_theory"]).dropna().gt(0).all()
