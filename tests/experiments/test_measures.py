"""Choices of measures between learners, on models where they can be worked out by hand."""

import itertools
import math
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simstudy
from simstudy.engine.plan import make_plan
from simstudy.engine.task import run_task
from simstudy.errors import SimstudyError
from simstudy.experiments.measures.scoring import (
    PickingTask,
    TestSets,
    draw_test_sets,
    pack_picks,
    unpack_picks,
)
from simstudy.networks.model import Component, Model
from simstudy.study.study import make_study


@simstudy.register_family("counted_rows")
@dataclass(frozen=True)
class Counted:
    """One attribute and a target, by how often each pair of their values occurs."""

    counts: list[list[int]] = field(default_factory=lambda: [[3, 1], [1, 3]])

    def draw(self, rng):
        joint = np.array(self.counts, dtype=float)
        rows = joint.sum(axis=1)
        cpts = rows / rows.sum(), joint / rows[:, None]
        return Model(joint.shape, [Component(1.0, ((), (0,)), cpts)])


@simstudy.register_learner("fixed_answers")
@dataclass(frozen=True)
class Fixed:
    """Gives the same answers whatever the rows."""

    answers: list[list[float]] = field(default_factory=lambda: [[0.5, 0.5], [0.5, 0.5]])

    def fit(self, sample, rng):
        return self

    def predict_proba(self, codes):
        return np.array(self.answers)[np.asarray(codes)[:, 0]]


def study_of(counts, answers, measures, targets=("kl_divergence",), **data):
    learners = [
        {"name": "fixed_answers", "label": f"L{i}", "answers": one} for i, one in enumerate(answers)
    ]
    first, *also = measures
    return make_study(
        {
            "name": "hand",
            "compare": "measures",
            "models": 2,
            "family": {"name": "counted_rows", "counts": counts},
            "data": {"train_sizes": [50], "test_sizes": [1], "repeats": 4} | data,
            "learners": learners,
            "measures": {
                "primary": first,
                "also": also,
                "targets": [*targets],
                "prior": "true",
                "cutoff": "none",
            },
        }
    )


def task_of(study):
    return PickingTask(make_plan(study), 0)


def endless(task, counts):
    """A test set with each configuration exactly as often as it is probable."""
    return TestSets(np.repeat(np.arange(np.size(counts)), np.ravel(counts))[None, :])


def choices(study, tests):
    """The choices of each measure, of shape (test sets, pairs)."""
    task, plan = task_of(study), make_plan(study)
    made = tests(task)
    return {one.label: task.applied(one, made) for one in plan.measured}


TRUTH = [[0.75, 0.25], [0.25, 0.75]]
BALANCED = [[3, 1], [1, 3]]


def test_one_row_and_two_learners_by_hand():
    # The better learner says .7 for the frequent class where the truth is .75, the other .9. On one
    # row, log loss and the Brier score prefer .9 when the frequent class comes (3 of 4 rows), and
    # .7 when it does not; by KL divergence .7 is better: they are right in 1 row of 4. Accuracy
    # always ties: right in half.
    close, far = ([[p, 1 - p], [1 - p, p]] for p in (0.7, 0.9))
    study = study_of(BALANCED, [close, far], ["log_loss", "brier_score", "accuracy"])
    task, plan = task_of(study), make_plan(study)
    every_row = TestSets(np.arange(4)[:, None])
    weights = task._trial.weights
    shares = {}
    for one in plan.measured:
        picks = task.applied(one, every_row)[:, 0]
        shares[one.label] = float(((picks + 1) / 2) @ weights)
    assert shares == pytest.approx({"log_loss": 0.25, "brier_score": 0.25, "accuracy": 0.5})
    drawn = draw_test_sets(weights, 1, map(np.random.default_rng, range(4000)))
    share = (task.applied(plan.measured[0], drawn) == 1).mean()
    assert share == pytest.approx(0.25, abs=4 * math.sqrt(0.25 * 0.75 / 4000))


def test_the_score_and_the_loss_of_a_cell_by_hand():
    close, far = ([[p, 1 - p], [1 - p, p]] for p in (0.7, 0.9))
    study = study_of(BALANCED, [close, far], ["log_loss", "accuracy"], repeats=400)
    cells = {cell.learner: cell for cell in run_task(make_plan(study), 0)}

    def divergence(q):
        return 0.75 * math.log(0.75 / q) + 0.25 * math.log(0.25 / (1 - q))

    gap = divergence(0.9) - divergence(0.7)
    right, loss = cells["log_loss"].values
    assert loss == pytest.approx((1 - right) * gap)
    assert right == pytest.approx(0.25, abs=4 * math.sqrt(0.25 * 0.75 / 400))
    assert cells["accuracy"].values == pytest.approx((0.5, gap / 2))


def test_accuracy_may_tie_even_against_the_truth():
    study = study_of(BALANCED, [TRUTH, [[0.99, 0.01], [0.01, 0.99]]], ["accuracy", "log_loss"])
    found = choices(study, lambda task: endless(task, BALANCED))
    assert found["accuracy"].tolist() == [[0]]
    assert found["log_loss"].tolist() == [[1]]


distributions = st.lists(st.integers(1, 20), min_size=3, max_size=3).map(
    lambda counts: [count / sum(counts) for count in counts]
)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.lists(st.integers(1, 9), min_size=3, max_size=3), min_size=2, max_size=2),
    st.lists(distributions, min_size=2, max_size=2),
)
def test_endless_rows_make_a_strictly_proper_rule_prefer_the_truth(counts, other):
    truth = [[count / sum(row) for count in row] for row in counts]
    proper = ["information_reward", "log_loss", "brier_score"]
    found = choices(study_of(counts, [truth, other], proper), lambda task: endless(task, counts))
    expected = 0 if np.allclose(truth, other, atol=1e-12) else 1
    assert {name: int(picks[0, 0]) for name, picks in found.items()} == dict.fromkeys(
        proper, expected
    )


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.lists(st.integers(1, 9), min_size=3, max_size=3), min_size=2, max_size=2),
    st.lists(st.lists(distributions, min_size=2, max_size=2), min_size=3, max_size=3),
)
def test_endless_rows_make_a_measure_right_if_the_target_is_its_own_expectation(counts, answers):
    names = ["information_reward", "log_loss", "brier_score", "accuracy", "auc"]
    targets = names[:4]
    study = study_of(counts, answers, names, targets)
    task, plan = task_of(study), make_plan(study)
    tests = endless(task, counts)
    signs = {
        target: np.sign(
            [
                round(task._fits.truths[place, i] - task._fits.truths[place, j], 12)
                for i, j in itertools.combinations(range(3), 2)
            ]
        )
        for place, target in enumerate(targets)
    }
    for one in plan.measured[:4]:
        assert task.applied(one, tests)[0].tolist() == signs[one.label].tolist()


TERNARY = (0.6, 0.3, 0.1)  # the truth, and the prior


def expected_scores(q):
    """Expected information reward (Hope & Korb 2004, equation 10), log score and Brier score."""
    reward = sum(
        t
        * (
            math.log(q[c] / TERNARY[c])
            + sum(math.log((1 - q[i]) / (1 - TERNARY[i])) for i in range(3) if i != c)
        )
        for c, t in enumerate(TERNARY)
    )
    squares = sum(t * sum((q[i] - (i == c)) ** 2 for i in range(3)) for c, t in enumerate(TERNARY))
    return reward / 3, sum(t * math.log(q[c]) for c, t in enumerate(TERNARY)), -squares


@pytest.mark.parametrize(
    ("first", "second", "signs"),
    [
        ((0.05, 0.35, 0.60), (0.15, 0.05, 0.80), (1, -1, 1)),
        ((0.20, 0.50, 0.30), (0.90, 0.05, 0.05), (1, -1, -1)),
        ((0.15, 0.15, 0.70), (0.05, 0.35, 0.60), (1, 1, -1)),
    ],
)
def test_reward_log_loss_and_brier_score_disagree_on_pairs_made_by_hand(first, second, signs):
    # The divergence of the reward is a sum of three binary ones, not KL.
    gaps = np.subtract(expected_scores(first), expected_scores(second))
    assert tuple(np.sign(gaps)) == signs
    names = ["information_reward", "log_loss", "brier_score"]
    counts = [[6, 3, 1]]
    study = study_of(counts, [[[*first]], [[*second]]], names)
    found = choices(study, lambda task: endless(task, counts))
    assert [int(found[name][0, 0]) for name in names] == [*signs]
    # By KL divergence log loss is right, and the others wrong where they contradict it.
    (truth,) = np.sign(task_of(study)._fits.truths @ [[1], [-1]])[0]
    assert truth == signs[1]


def test_a_two_level_measure_lets_the_second_decide_where_the_first_ties():
    names = ["accuracy:log_loss", "log_loss:accuracy", "accuracy", "log_loss"]
    study = study_of(BALANCED, [TRUTH, [[0.99, 0.01], [0.01, 0.99]]], names)
    found = choices(study, lambda task: endless(task, BALANCED))
    assert found["accuracy:log_loss"].tolist() == found["log_loss"].tolist() == [[1]]
    assert found["log_loss:accuracy"].tolist() == [[1]]


def test_a_measure_without_a_value_prefers_neither():
    # A single row has one class alone, so that there is no AUC.
    study = study_of(BALANCED, [TRUTH, [[0.9, 0.1], [0.1, 0.9]]], ["auc", "auc:accuracy"])
    found = choices(study, lambda _: TestSets(np.arange(4)[:, None]))
    assert not found["auc"].any()
    assert not found["auc:accuracy"].any()


def test_the_values_are_those_of_the_measures_on_the_rows_themselves():
    study = simstudy.load_study("measures", {"models": 2, "data.repeats": 3})
    plan = make_plan(study)
    task = PickingTask(plan, 1)
    tests, fits = task.shared(50), task._fits
    row = tests.places[2]
    configurations, y = task._trial.rows[row], task._trial.target[row]
    prior = fits.train.class_frequencies(0.5)
    for component in plan.measured:
        if ":" in component.name:
            continue
        task.applied(component, tests)
        values = tests.values[component.name, "{}"]
        function = getattr(simstudy.measures, component.name)
        for learner, proba in enumerate(fits.proba):
            q = proba[configurations]
            if function.info.logarithmic:
                q = simstudy.measures.base.clip(q, "mml", 100)
            expected = simstudy.measures.base.score(
                function, q, y, prior=prior, rarer=task._problem.rarer
            )
            assert values[2, learner] == pytest.approx(expected, nan_ok=True)


def test_smaller_test_sets_are_the_first_rows_of_larger_ones():
    weights = np.array([0.5, 0.2, 0.3])

    def streams(sets):
        return [np.random.default_rng([7, index]) for index in range(sets)]

    small, large = (draw_test_sets(weights, rows, streams(3)) for rows in (20, 500))
    assert np.array_equal(small.places, large.places[:, :20])
    more = draw_test_sets(weights, 20, streams(5))
    assert np.array_equal(more.places[:3], small.places)
    assert np.bincount(large.places.ravel()) / 1500 == pytest.approx(weights, abs=0.05)


def test_means_of_test_sets_with_infinite_rows():
    tests = TestSets(np.array([[0, 0, 1], [1, 2, 2], [0, 1, 2]]))
    values = np.array([[1.0, 4.0, math.inf], [math.nan, 2.0, 5.0], [-math.inf, 1.0, math.inf]])
    expected = [[2, math.nan, -math.inf], [math.inf, 4, math.inf], [math.inf, math.nan, math.nan]]
    assert np.array_equal(tests.means(values), np.array(expected, dtype=float), equal_nan=True)


def test_choices_survive_being_kept():
    rng = np.random.default_rng(1)
    picks, signs = (rng.integers(-1, 2, (n, 6)).astype(np.int8) for n in (50, 4))
    kept = unpack_picks(pack_picks(picks, signs), 4, 6, 50)
    assert np.array_equal(kept[0], picks)
    assert np.array_equal(kept[1], signs)
    with pytest.raises(ValueError, match="damaged"):
        unpack_picks(pack_picks(picks, signs), 4, 6, 49)


def test_cells_do_not_depend_on_the_other_measures_and_sizes():
    study = simstudy.load_study("measures", {"models": 2, "data.repeats": 5})
    alone = simstudy.load_study(
        "measures",
        {
            "models": 2,
            "data.repeats": 5,
            "data.test_sizes": [50],
            "measures.also": ["auc:accuracy"],
        },
    )
    few = {(c.size, c.learner): c.values for c in run_task(make_plan(alone), 0)}
    many = {(c.size, c.learner): c.values for c in run_task(make_plan(study), 0)}
    assert few == {key: many[key] for key in few}


def test_a_target_that_ties_everywhere_leaves_no_score():
    same = [[0.9, 0.1], [0.1, 0.9]], [[0.8, 0.2], [0.2, 0.8]]
    (cell,) = run_task(make_plan(study_of(BALANCED, same, ["log_loss"], ["accuracy"])), 0)
    assert cell.status == "error"
    assert "all pairs tie" in cell.error
    both = study_of(BALANCED, same, ["log_loss"], ["kl_divergence", "accuracy"])
    (cell,) = run_task(make_plan(both), 0)
    assert cell.status == "ok"
    assert np.isnan(cell.values).tolist() == [False, True, False, True]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"data.train_sizes": [50, 500]}, "one training size"),
        ({"data.test_size": 100}, 'compare = "learners"'),
        ({"measures.also": ["kl_divergence"]}, "needs 'truth'"),
        ({"measures.targets": ["auc:accuracy"]}, "orders two results"),
        ({"measures.targets": ["estimation"]}, "needs 'limit'"),
        ({"measures.also": ["auc:acuracy"]}, "did you mean 'accuracy'"),
        ({"data.test_sizes": [50, 20]}, "increase"),
        ({"learners": [{"name": "tan"}]}, "at least two learners"),
        ({"compare": "measure"}, "compare"),
        ({"compare": "learners"}, 'compare = "measures"'),
    ],
)
def test_a_comparison_of_measures_that_cannot_be_made_is_refused(changes, words):
    with pytest.raises(SimstudyError, match=words):
        simstudy.load_study("measures", changes)
