"""Curves of kept answers: exact ones have the exact AUC, sampled ones lie near them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from simstudy import load_study, make_study, open_results, run_study
from simstudy.analysis.decision_curves import decide, mean_curve, operating_points
from simstudy.errors import SimstudyError
from simstudy.measures.curves import Roc, cost_curve, probability_cost, roc
from simstudy.results.read.curves import ranked
from simstudy.study.constants import ANSWERS

STUDY = {
    "name": "kept",
    "models": 3,
    "seed": 5,
    "keep_answers": True,
    "family": {"name": "tan", "variables": [4, 4], "values": [2, 2]},
    "data": {"train_sizes": [20, 200], "test_size": "exact"},
    "measures": {"also": ["auc"]},
    "learners": [{"name": "naive_bayes", "label": "NB"}, {"name": "tan", "label": "TAN"}],
}
DATA = """
name = "sets"
keep_answers = true
[[datasets]]
path = "table.csv"
[resampling]
folds = 3
repeats = 2
sizes = [0.5, 1.0]
[measures]
also = ["auc"]
[[learners]]
name = "naive_bayes"
label = "NB"
[[learners]]
name = "prior"
label = "ZeroR"
"""


@pytest.fixture(scope="module")
def exact(tmp_path_factory):
    return run_study(make_study(STUDY), tmp_path_factory.mktemp("exact") / "out", jobs=1)


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    directory = tmp_path_factory.mktemp("sets")
    rng = np.random.default_rng(2)
    rows = [
        f"{'xyz'[a]},{'uv'[int(a + b > 2)]},{('no', 'yes', 'rare')[b]}"
        for a, b in zip(rng.integers(0, 3, 90), rng.choice(3, 90, p=[0.5, 0.35, 0.15]), strict=True)
    ]
    (directory / "table.csv").write_text("a,b,class\n" + "\n".join(rows), encoding="utf-8")
    (directory / "study.toml").write_text(DATA, encoding="utf-8")
    return run_study(load_study(directory / "study.toml"), directory / "out", jobs=1)


def test_exact_curves_have_the_exact_auc(exact):
    scores = exact.scores[exact.scores["size"] == 200].set_index(["learner", "model"])["auc"]
    for label, own in ranked(exact).rankings(200, None).items():
        areas = [Roc(one).area for one in own]
        assert areas == pytest.approx(scores[label].tolist(), abs=1e-12)


def test_table_has_the_mean_of_the_models(exact):
    found = exact.curves("roc", learners=["TAN"], size=20)
    each = np.array([Roc(one).at([0.1]) for one in ranked(exact).rankings(20, None)["TAN"]])
    row = found.table[found.table["x"] == 0.1].iloc[0]
    assert row["y"] == pytest.approx(each.mean())
    assert row["low"] == pytest.approx(np.quantile(each, 0.25))
    assert row["curves"] == 3
    assert set(found.table["learner"]) == {"TAN"}
    assert (found.test, found.over, found.positive) == ("exact", "models", "")


@pytest.mark.parametrize("kind", ["roc", "lift", "precision_recall"])
def test_no_learner_surpasses_the_truth(exact, kind):
    found = exact.curves(kind)
    for _, own in found.table.groupby("learner"):
        assert (own["y"].to_numpy() <= found.truth["y"].to_numpy() + 1e-9).all()


def test_the_truth_costs_least(exact):
    found = exact.curves("cost")
    for _, own in found.table.groupby("learner"):
        assert (own["y"].to_numpy() >= found.truth["y"].to_numpy() - 1e-9).all()


def test_sampled_curves_lie_near_the_exact_ones(exact, tmp_path):
    sampled = run_study(
        make_study(STUDY | {"data": {"train_sizes": [20, 200], "test_size": 20_000}}),
        tmp_path / "out",
        jobs=1,
        report=False,
    )
    for kind in ("lift", "cost"):
        one, other = exact.curves(kind), sampled.curves(kind)
        assert other.test == "sampled"
        assert np.abs(one.table["y"] - other.table["y"]).max() < 0.03
        assert np.abs(one.truth["y"] - other.truth["y"]).max() < 0.03


def test_classes_against_the_rest_are_complementary(exact):
    # With two classes, the ROC curve of the other class is the same turned around.
    first, second = (ranked(exact).rankings(200, one)["NB"] for one in (0, 1))
    for one, other in zip(first, second, strict=True):
        assert Roc(one).area == pytest.approx(Roc(other).area, abs=1e-9)


def test_data_sets_have_a_curve_for_each_repeat_and_a_pooled_one(sets):
    found = sets.curves("roc", positive="yes")
    assert (found.over, found.positive, found.dataset) == ("repeats", "yes", "table")
    assert found.size_text == "100%"
    assert found.truth.empty
    assert set(found.table["curves"]) == {2}
    answers = sets.answers
    full = answers[(answers["size"] == 60) & (answers["learner"] == "NB")]
    names = sets.manifest["classes"]["table"]
    scores = np.stack(full["probabilities"])[:, names.index("yes")]
    pooled = roc(scores, full["target"] == names.index("yes"))
    own = found.table[found.table["learner"] == "NB"]
    np.testing.assert_allclose(own["pooled"], pooled.at(own["x"]), atol=1e-12)
    each = [
        roc(
            scores[full["repeat"] == repeat],
            full.loc[full["repeat"] == repeat, "target"] == names.index("yes"),
        )
        for repeat in (0, 1)
    ]
    mean = np.mean([one.at(own["x"]) for one in each], axis=0)
    np.testing.assert_allclose(own["y"], mean, atol=1e-12)


def test_positive_class_is_the_rarest_by_default(sets):
    assert sets.curves("lift", size=0.5).positive == "rare"


def test_reliability_and_profit(exact):
    found = exact.curves("reliability")
    assert found.truth["y"].to_numpy() == pytest.approx(
        found.truth["x"].to_numpy(), abs=0.1, nan_ok=True
    )
    earned = exact.curves("profit", benefit=3, cost=1)
    last = earned.table.groupby("learner")["y"].last()
    assert last.to_numpy() == pytest.approx(3 * earned.prior - 1)


@pytest.mark.parametrize("kind", ["roc", "precision_recall", "lift", "cost", "reliability"])
def test_curves_are_drawn(exact, kind):
    import matplotlib.pyplot as plt

    ax = exact.curves(kind).plot()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[:3] == ["NB", "TAN", "truth"]
    assert ax.get_xlabel()
    plt.close(ax.figure)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"kind": "rok"}, "did you mean 'roc'"),
        ({"learners": ["C4.5"]}, "no learner 'C4.5'"),
        ({"size": 7}, "no training size 7"),
        ({"positive": "yes"}, "none of the classes '0', '1'"),
        ({"kind": "profit"}, "benefit"),
        ({"kind": "roc", "cost": 2}, "no further options"),
    ],
)
def test_what_is_not_there_is_named(exact, arguments, words):
    with pytest.raises(SimstudyError, match=words):
        exact.curves(**arguments)


def test_studies_without_answers_say_what_is_missing(tmp_path):
    study = make_study(STUDY | {"keep_answers": False, "models": 2})
    results = run_study(study, tmp_path / "out", jobs=1, report=False)
    with pytest.raises(SimstudyError, match="keep_answers = true"):
        results.curves()


PLUGIN = """
from simstudy import register_learner
from simstudy.learners import NaiveBayes


@register_learner("curves_of_mine")
class Mine(NaiveBayes):
    pass
"""


@pytest.mark.slow
@pytest.mark.parametrize("test_size", ["exact", 200])
def test_models_of_foreign_studies_are_not_drawn_again(tmp_path, test_size):
    (tmp_path / "mine.py").write_text(PLUGIN, encoding="utf-8")
    changed = {"plugins": ["mine.py"], "learners": [{"name": "curves_of_mine"}], "models": 2}
    changed["data"] = {"train_sizes": [20], "test_size": test_size}
    study = make_study(STUDY | changed, tmp_path)
    results = run_study(study, tmp_path / "out", jobs=1)
    page = (results.directory / "report.html").read_text(encoding="utf-8")
    if test_size == "exact":
        with pytest.raises(SimstudyError, match=r"would execute .*mine"):
            results.curves()
        assert "There are no curves" in page
    else:
        found = results.curves()
        assert found.truth.empty
        assert set(found.table["curves"]) == {2}
        assert "What a decision costs" in page


def test_positive_class_of_the_study_is_the_default(tmp_path):
    study = make_study(STUDY | {"measures": {"also": ["auc"], "positive": 1}})
    results = run_study(study, tmp_path / "out", jobs=1, report=False)
    found = results.curves()
    assert found.positive == "1"
    np.testing.assert_array_equal(found.table["y"], results.curves(positive=1).table["y"])
    assert results.curves(positive="0").positive == "0"


def test_damaged_answers_are_named(exact, tmp_path):
    import shutil

    place = tmp_path / "copy"
    shutil.copytree(exact.directory, place)
    (place / ANSWERS).write_bytes(b"PAR1")
    with pytest.raises(SimstudyError, match="missing or damaged"):
        open_results(place).curves()


def test_best_threshold_costs_what_the_cost_curve_has():
    # Of a single ranking, averaging thresholds changes nothing: normalized cost times its scale.
    rng = np.random.default_rng(3)
    scores = rng.integers(0, 40, 300) / 40
    positive = rng.random(300) < scores
    ranking, lines = roc(scores, positive).ranking, cost_curve(scores, positive)
    points = operating_points([ranking])
    for prior, missed, false in [(0.5, 1, 1), (0.1, 9, 2), (0.3, 1, 7), (0.0, 1, 1), (1.0, 2, 5)]:
        found = decide(points, prior, missed, false)
        scale = prior * missed + (1 - prior) * false
        where = probability_cost(prior, missed, false)
        assert found.cost == pytest.approx(scale * lines.at(where), abs=1e-12)
        called = scores >= found.threshold
        missed_rate, false_rate = (~called[positive]).mean(), called[~positive].mean()
        own = prior * missed * missed_rate + (1 - prior) * false * false_rate
        assert own == pytest.approx(found.cost, abs=1e-12)
        assert (found.never, found.always) == (prior * missed, (1 - prior) * false)


def test_curves_without_both_classes_are_left_out():
    alone = roc([0.2, 0.4], [1, 1]).ranking
    found = mean_curve("roc", [alone])
    assert found.curves == 0
    assert np.isnan(found.y).all()
    assert operating_points([alone]) is None


@pytest.mark.parametrize("steps", [40, 5000])  # few lines and many
def test_mean_cost_is_the_lower_envelope(steps):
    rng = np.random.default_rng(4)
    scores = rng.integers(0, steps, 2000) / steps
    positive = rng.random(2000) < scores
    found = mean_curve("cost", [roc(scores, positive).ranking])
    lines = cost_curve(scores, positive).lines(found.x)
    np.testing.assert_allclose(found.y, lines.min(axis=0), atol=1e-13)


def test_every_fold_has_a_curve(sets):
    found = sets.curves("roc", over="folds")
    assert found.over == "folds"
    assert set(found.table["curves"]) == {6}  # two repeats of three folds
    means = found.each.groupby(["learner", "x"])["y"].mean()
    shown = found.table.set_index(["learner", "x"])["y"]
    np.testing.assert_allclose(means, shown.loc[means.index], atol=1e-12)
    answers = pd.read_parquet(sets.directory / ANSWERS)
    first = answers[
        (answers["repeat"] == 0) & (answers["fold"] == 0) & (answers["learner"] == "NB")
    ]
    first = first[first["size"] == first["size"].max()]
    one = next(iter(sets.manifest["classes"].values())).index(found.positive)
    own = roc([p[one] for p in first["probabilities"]], (first["target"] == one).to_numpy())
    each = found.each[(found.each["learner"] == "NB") & (found.each["curve"] == 0)]
    np.testing.assert_allclose(each["y"], own.at(each["x"]), atol=1e-12)
    assert len(sets.curves("roc").each["curve"].unique()) == 2
    with pytest.raises(SimstudyError, match="over repeats or folds, not 'models'"):
        sets.curves("roc", over="models")
