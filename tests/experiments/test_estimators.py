"""Comparisons of estimators and of tests: what the scores are, and that they are reproducible."""

from __future__ import annotations

import math

import numpy as np
import pytest

import simstudy
from simstudy import SimstudyError, make_study
from simstudy.analysis.models.estimates import coverage, quality
from simstudy.components.registry import LEARNERS
from simstudy.engine.evaluation import exact_test
from simstudy.engine.plan import make_plan
from simstudy.engine.task import run_task
from simstudy.experiments.tests.scoring import RejectingTask, mirrored_attributes

FAMILY = {"name": "tan", "variables": [3, 4], "values": [2, 3]}
NB, PRIOR = {"name": "naive_bayes", "label": "NB"}, {"name": "prior", "label": "prior"}
ESTIMATORS = [
    {"name": "resubstitution"},
    {"name": "cross_validation", "label": "cv", "folds": 4},
    {"name": "leave_one_out", "label": "loo"},
    {"name": "bootstrap_632", "label": ".632", "repeats": 8},
    {"name": "nested_cross_validation", "label": "nested", "folds": 4, "repeats": 2},
]


def estimator_study(**changes):
    content = {
        "name": "estimates",
        "compare": "estimators",
        "models": 3,
        "family": FAMILY,
        "data": {"train_sizes": [12, 30], "training_sets": 5},
        "learners": [NB, PRIOR],
        "measures": {"primary": "accuracy", "also": ["brier_score"]},
        "estimators": ESTIMATORS,
    }
    return make_study(content | changes)


def rejection_study(**changes):
    content = {
        "name": "rejections",
        "compare": "tests",
        "models": 2,
        "family": FAMILY,
        "data": {"train_sizes": [30], "repeats": 2},
        "learners": [NB, PRIOR],
        "measures": {"primary": "accuracy"},
        "tests": [
            {"name": "resampled_t", "label": "naive", "corrected": False, "repeats": 5},
            {"name": "five_by_two_t", "label": "5x2"},
            {"name": "mcnemar"},
        ],
    }
    return make_study(content | changes)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return simstudy.run_study(
        estimator_study(), tmp_path_factory.mktemp("estimates") / "out", jobs=1
    )


def test_scores_are_errors_of_the_estimates(results):
    table, scores = results.estimates, results.scores
    assert len(table) == 3 * 2 * len(ESTIMATORS) * 2 * 2
    for measure in ("accuracy", "brier_score"):
        for learner in ("NB", "prior"):
            own = table[(table["measure"] == measure) & (table["learner"] == learner)]
            error = (own["estimate"] - own["exact"]).to_numpy()
            name = f"{measure}_{learner}"
            assert scores[f"error_{name}"].to_numpy() == pytest.approx(error, abs=1e-12)
            assert scores[f"squared_error_{name}"].to_numpy() == pytest.approx(error**2, abs=1e-12)
            of_mean = (own["estimate"] - own["mean"]).to_numpy()
            assert scores[f"error_of_mean_{name}"].to_numpy() == pytest.approx(of_mean, abs=1e-12)


def test_the_exact_value_is_that_of_the_classifier_on_the_joint_distribution(results):
    model, plan = results.model(1), make_plan(estimator_study())
    sample = model.sample(30, plan.stream(1, "train/30"))
    test = exact_test(model)
    fitted = LEARNERS.get("naive_bayes")().fit(sample)
    rows = np.indices(model.cards[:-1]).reshape(len(model.cards) - 1, -1).T
    right = fitted.predict_proba(rows).argmax(axis=1)[test.rows] == test.target
    table = results.estimates.query(
        "model == 1 and size == 30 and learner == 'NB' and measure == 'accuracy'"
    )
    assert table["exact"].to_numpy() == pytest.approx(float(test.weights @ right))
    means = [
        float(
            test.weights
            @ (
                LEARNERS.get("naive_bayes")()
                .fit(model.sample(30, plan.stream(1, f"train/30/{number}")))
                .predict_proba(rows)
                .argmax(axis=1)[test.rows]
                == test.target
            )
        )
        for number in range(5)
    ]
    assert table["mean"].to_numpy() == pytest.approx(np.mean(means))
    assert table["mean_error"].to_numpy() == pytest.approx(np.std(means, ddof=1) / math.sqrt(5))


def test_a_cell_alone_has_the_same_scores():
    plan = make_plan(estimator_study())
    every = {(cell.size, cell.learner): cell for cell in run_task(plan, 0)}
    for key in ((12, "cv"), (30, "nested"), (12, ".632")):
        (cell,) = run_task(plan, 0, [key])
        assert cell.values == every[key].values
        assert cell.answers == every[key].answers


@pytest.mark.slow
def test_quality_is_bias_spread_and_coverage(results):
    table = results.estimates
    own = table.query("size == 12 and estimator == 'cv' and learner == 'NB'")
    own = own[own["measure"] == "accuracy"]
    row = quality(table).query("size == 12 and estimator == 'cv' and learner == 'NB'").iloc[0]
    error = own["estimate"] - own["exact"]
    assert row["bias"] == pytest.approx(error.mean())
    assert row["sd"] == pytest.approx(error.std())
    assert row["rmse"] ** 2 == pytest.approx(row["bias"] ** 2 + row["sd"] ** 2 * 2 / 3)
    assert row["correlation"] == pytest.approx(own["estimate"].corr(own["exact"]))
    found = coverage(table, "mean").query(
        "size == 12 and estimator == 'cv' and learner == 'NB' and interval == 'rows'"
    )
    inside = (own["lower_rows"] <= own["mean"]) & (own["mean"] <= own["upper_rows"])
    assert found.iloc[0]["coverage"] == pytest.approx(inside.mean())
    assert {*results.interval_quality()["interval"]} == {
        *("rows", "folds", "corrected", "nested", "percentile")
    }


@pytest.mark.slow
def test_the_report_has_errors_and_coverage(results):
    page = (results.directory / "report.html").read_text(encoding="utf-8")
    assert "Errors of estimators" in page
    assert "Coverage of intervals" in page
    assert (results.directory / "estimators.csv").exists()
    assert (results.directory / "coverage.csv").exists()


def test_tests_are_scored_by_their_rejections(tmp_path):
    results = simstudy.run_study(rejection_study(), tmp_path / "out", jobs=1)
    scores = results.scores
    rates = [name for name in results.measures if not name.startswith("difference")]
    assert rates == [
        *("type_1_NB", "type_1_prior", "type_1_mirrored_NB", "type_1_mirrored_prior"),
        *("power_NB_prior", "wrong_NB_prior"),
    ]
    assert scores[rates].isin([0.0, 0.5, 1.0]).all(axis=None)
    # the classifier of the prior answers alike whatever the rows: its mirror image never differs
    assert (scores["type_1_mirrored_prior"] == 0).all()
    assert (scores.groupby("model")["difference_NB_prior"].nunique() == 1).all()
    assert [name for name in results.measures if results.info(name).share] == rates
    # results of versions that did not record it
    for info in results.manifest["measures"].values():
        info.pop("share")
    assert [name for name in results.measures if results.info(name).share] == rates


def test_mirror_images_have_the_same_exact_performance():
    """Attributes drawn anew have the distribution of the model given the class."""
    task = RejectingTask(make_plan(rejection_study()), 0)
    model = task._known_truth.model
    test = exact_test(model)
    target = np.repeat(np.arange(model.cards[-1]), 20_000)
    rows = np.indices(model.cards[:-1]).reshape(len(model.cards) - 1, -1).T
    drawn = mirrored_attributes(test, rows, target, np.random.default_rng(0))
    places = np.ravel_multi_index(tuple(drawn.T), model.cards[:-1])
    for label in range(model.cards[-1]):
        share = np.bincount(places[target == label], minlength=len(rows)) / 20_000
        joint = np.bincount(
            test.rows[test.target == label], test.weights[test.target == label], len(rows)
        )
        expected = joint / joint.sum()
        assert np.abs(share - expected).max() < 5 * math.sqrt(0.25 / 20_000)


@pytest.mark.parametrize(
    ("make", "changes", "text"),
    [
        (estimator_study, {"estimators": []}, "needs at least one estimator"),
        (
            estimator_study,
            {"estimators": [{"name": "cross_validated"}]},
            "unknown estimator 'cross_validated'",
        ),
        (
            estimator_study,
            {"estimators": [{"name": "cross_validation", "folds": 1}]},
            "folds must be a whole number from 2",
        ),
        (
            estimator_study,
            {"estimators": [{"name": "leave_one_out"}, {"name": "leave_one_out"}]},
            "two estimators have the label 'leave_one_out'",
        ),
        (estimator_study, {"measures": {"primary": "kl_divergence"}}, "'kl_divergence' needs"),
        (estimator_study, {"learners": [{"name": "truth"}]}, "receives the truth"),
        (estimator_study, {"tests": [{"name": "mcnemar"}]}, 'compare = "tests"'),
        (rejection_study, {"estimators": ESTIMATORS}, 'compare = "estimators"'),
        (rejection_study, {"data": {"training_sets": 5}}, 'compare = "estimators"'),
        (rejection_study, {"tests": [{"name": "mcnemar", "method": "fisher"}]}, "method"),
    ],
)
def test_wrong_studies_are_refused_in_one_sentence(make, changes, text):
    with pytest.raises(SimstudyError) as refused:
        make(**changes)
    assert text in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_study_survives_being_written_and_read():
    import tomllib

    for study in (estimator_study(), rejection_study()):
        again = make_study(tomllib.loads(study.to_toml()))
        assert again.as_dict() == study.as_dict()
        assert make_plan(again).fingerprint() == make_plan(study).fingerprint()
