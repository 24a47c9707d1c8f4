"""Exact evaluation, the oracle, limits, and what regret is made of."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simstudy import SimstudyError, load_study, run_study
from simstudy.data.codes import configurations
from simstudy.data.sample import Sample
from simstudy.engine import evaluation as module
from simstudy.engine.evaluation import evaluation, population
from simstudy.engine.scoring import class_prior
from simstudy.experiments.base import ScoreColumn
from simstudy.learners.baselines import Prior, Truth
from simstudy.learners.bayes.aode import AODE
from simstudy.learners.bayes.hnb import HNB
from simstudy.learners.bayes.kdb import KDB
from simstudy.learners.bayes.lbr import LBR
from simstudy.learners.bayes.naive_bayes import NaiveBayes
from simstudy.learners.bayes.tan import TAN
from simstudy.learners.networks.camml.learner import CaMML
from simstudy.learners.rules.one_attribute import DecisionStump, OneR
from simstudy.learners.trees.c45.boosting import BoostedC45
from simstudy.learners.trees.c45.learner import C45
from simstudy.learners.trees.mml.graph import MMLGraph
from simstudy.learners.trees.mml.tree import MMLTree
from simstudy.measures.scores.rewards import information_reward
from simstudy.report.prose.captions import regret as regret_caption
from simstudy.sources.families.aode import AODEFamily
from simstudy.sources.families.kdb import KDBFamily
from simstudy.sources.families.naive_bayes import NaiveBayesFamily
from simstudy.sources.families.tan import TANFamily
from tests.engine.scorers import scorer

FAMILIES = [NaiveBayesFamily, TANFamily, AODEFamily, KDBFamily]
LEARNERS = [
    NaiveBayes(),
    TAN(),
    TAN(search="superparent"),
    AODE(),
    KDB(2),
    HNB(),
    LBR(),
    CaMML(),
    C45(),
    MMLTree(),
    OneR("frequency"),
    OneR(),
    DecisionStump(),
    Prior(),
    BoostedC45(),
    MMLGraph(),
]
each_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.__name__)


def draw(family, seed, variables=(4, 4), values=(2, 3)):
    return family(variables=variables, values=values).draw(np.random.default_rng(seed))


def exact_scores(model, proba, train, measures, cutoff="mml", limit=None):
    judged = evaluation(model, "exact", np.random.default_rng(0))
    columns = [ScoreColumn(name, name, "exact") for name in measures]
    return scorer(columns, model, judged, cutoff=cutoff)(proba, train, limit)


@each_family
def test_exact_is_the_sum_over_everything_that_can_happen(family):
    model = draw(family, 3)
    train = model.sample(40, np.random.default_rng(1))
    rows = configurations(model.cards[:-1])
    proba = NaiveBayes().fit(train).predict_proba(rows)
    prior = class_prior("train", train, None, model)
    joint = model.joint()
    expected = accuracy = 0.0
    for place, x in enumerate(itertools.product(*map(range, model.cards[:-1]))):
        for y in range(model.cards[-1]):
            q = proba[place]
            reward = math.log(q[y] / prior[y]) + sum(
                math.log((1 - q[i]) / (1 - prior[i])) for i in range(len(q)) if i != y
            )
            expected += joint[(*x, y)] * reward / len(q)
            accuracy += joint[(*x, y)] * (q.argmax() == y)
    found = exact_scores(model, proba, train, ["information_reward", "accuracy"], "none")
    assert found == pytest.approx([expected, accuracy], rel=0, abs=1e-12)


@pytest.mark.slow
@each_family
def test_exact_agrees_with_a_million_rows(family):
    model = draw(family, 8, variables=(5, 5), values=(2, 4))
    rng = np.random.default_rng(9)
    train, rows = model.sample(200, rng), configurations(model.cards[:-1])
    test = model.sample(10**6, rng)
    places = np.ravel_multi_index(tuple(test.attributes.T), model.cards[:-1])
    prior = class_prior("train", train, None, model)
    low, high = 0.5 / (200 + model.cards[-1] / 2), 200.5 / (200 + model.cards[-1] / 2)
    for learner in LEARNERS:
        proba = learner.fit(train).predict_proba(rows)
        (exact,) = exact_scores(model, proba, train, ["information_reward"])
        sampled = information_reward(np.clip(proba, low, high)[places], test.target, prior)
        assert abs(sampled.mean() - exact) <= 4.5 * sampled.std() / 1000 + 1e-12, learner


@settings(deadline=None, max_examples=25)
@given(st.sampled_from(FAMILIES), st.integers(0, 10**6), st.sampled_from(["none", "mml", "2001"]))
def test_no_answers_earn_more_than_the_truth(family, seed, cutoff):
    # Good (1952): expected reward is greatest at the true probabilities; clipped alike, too.
    model = draw(family, seed)
    rng = np.random.default_rng(seed)
    train, rows = model.sample(20, rng), configurations(model.cards[:-1])
    truth = model.posterior(rows)
    (best,) = exact_scores(model, truth, train, ["information_reward"], cutoff)
    others = [rng.dirichlet(np.ones(truth.shape[1]), size=len(truth)), 0.9 * truth]
    others[1] += 0.1 / truth.shape[1]
    for proba in others:
        reward, regret = exact_scores(model, proba, train, ["information_reward", "regret"], cutoff)
        assert reward <= best + 1e-12
        assert regret == pytest.approx(best - reward, abs=1e-12)


@settings(deadline=None, max_examples=25)
@given(st.sampled_from(FAMILIES), st.integers(0, 10**6), st.integers(1, 200))
def test_the_truth_diverges_from_itself_by_what_clipping_takes(family, seed, n):
    model = draw(family, seed)
    train, rows = model.sample(n, np.random.default_rng(seed)), configurations(model.cards[:-1])
    truth = model.posterior(rows)
    (found,) = exact_scores(model, truth, train, ["kl_divergence"])
    k, joint = model.cards[-1], model.joint()
    low, high = 0.5 / (n + k / 2), (n + 0.5) / (n + k / 2)
    expected, clips = 0.0, False
    for x, t in zip(itertools.product(*map(range, model.cards[:-1])), truth.tolist(), strict=True):
        clipped = [min(max(p, low), high) for p in t]
        clips |= clipped != t
        of_row = sum(p * math.log(p * sum(clipped) / q) for p, q in zip(t, clipped, strict=True))
        expected += sum(joint[(*x, y)] for y in range(k)) * of_row
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-13)
    assert found >= 0
    assert (found > 1e-13) == clips
    assert exact_scores(model, truth, train, ["kl_divergence"], "none") == [0.0]


@settings(deadline=None, max_examples=20)
@given(st.sampled_from(FAMILIES), st.integers(0, 10**6))
def test_no_learners_limit_is_above_the_oracle(family, seed):
    model = draw(family, seed)
    everything, rows = population(model), configurations(model.cards[:-1])
    train = model.sample(30, np.random.default_rng(seed))
    names = ["regret", "representation", "estimation"]
    for learner in LEARNERS:
        limit = learner.fit(everything).predict_proba(rows)
        proba = learner.fit(train).predict_proba(rows)
        regret, representation, estimation = exact_scores(model, proba, train, names, limit=limit)
        assert representation >= -1e-9, learner
        assert representation + estimation == pytest.approx(regret, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("family", "learner"),
    [
        (NaiveBayesFamily, NaiveBayes()),
        (TANFamily, TAN()),
        (NaiveBayesFamily, TAN()),
        (TANFamily, CaMML()),
        (NaiveBayesFamily, CaMML()),
    ],
    ids=repr,
)
def test_a_learner_that_can_represent_the_truth_ends_there(family, learner, seed):
    model = draw(family, seed, variables=(4, 7), values=(2, 4))
    rows = configurations(model.cards[:-1])
    limit = learner.fit(population(model)).predict_proba(rows)
    train = model.sample(5000, np.random.default_rng(seed))
    (gap,) = exact_scores(model, limit, train, ["regret"])
    assert abs(gap) < 1e-6


@pytest.mark.parametrize("seed", range(4))
@each_family
def test_camml_is_behind_no_other_learner_in_the_limit(family, seed):
    # The claim of Hope & Korb (2004, section 5.1), exactly; it came out so for 120 larger models,
    # 40 of each of the paper's families, too.
    model = draw(family, seed, variables=(4, 6), values=(2, 4))
    everything, rows = population(model), configurations(model.cards[:-1])
    train = model.sample(1000, np.random.default_rng(seed))
    limits = {
        learner: learner.fit(everything).predict_proba(rows)
        for learner in LEARNERS
        if not isinstance(learner, LBR)
    }
    regret = {
        learner: exact_scores(model, limit, train, ["regret"], "none")[0]
        for learner, limit in limits.items()
    }
    assert regret[CaMML()] <= min(regret.values()) + 1e-9


def test_the_population_is_all_that_can_happen_by_its_probability():
    model = draw(TANFamily, 2)
    everything = population(model)
    np.testing.assert_allclose(
        everything.counts(*range(len(model.cards))) / everything.total, model.joint(), rtol=1e-12
    )
    assert everything.total == pytest.approx(1e9)


STUDY = """
name = "exactly"
models = 3

[family]
name = "tan"
variables = [3, 4]

[data]
train_sizes = [20, 60]
test_size = "both"

[[learners]]
name = "naive_bayes"

[[learners]]
name = "truth"

[measures]
also = ["accuracy", "regret", "representation", "estimation"]
"""


def test_both_gives_exact_and_sampled_columns(write_study, tmp_path):
    results = run_study(load_study(write_study(text=STUDY)), tmp_path / "out", jobs=1)
    names = ["information_reward", "accuracy", "regret", "representation", "estimation"]
    assert results.measures == [*names, *(f"{name}_sampled" for name in names)]
    scores = results.scores
    gap = scores["information_reward"] - scores["information_reward_sampled"]
    assert 0 < gap.abs().max() < 0.15
    oracle = scores[scores["learner"] == "truth"]
    for name in names[2:]:
        np.testing.assert_allclose(oracle[name], 0, atol=1e-12)
    total = scores["representation"] + scores["estimation"]
    np.testing.assert_allclose(total, scores["regret"], atol=1e-12)
    alone = load_study(write_study({'"both"': '"exact"'}, text=STUDY))
    exact = run_study(alone, tmp_path / "exact", jobs=1, report=False).scores
    np.testing.assert_array_equal(exact[names], scores[names])
    # The rows drawn are those that a study with a test set of 1000 rows draws.
    drawn = load_study(write_study({'"both"': "1000"}, text=STUDY))
    sampled = run_study(drawn, tmp_path / "drawn", jobs=1, report=False).scores
    np.testing.assert_allclose(
        sampled["information_reward"], scores["information_reward_sampled"], atol=1e-12
    )


def test_nested_training_sets_are_the_first_rows_of_one(write_study, tmp_path, monkeypatch):
    seen: dict[int, np.ndarray] = {}

    def spy(self, sample, rng=None):
        seen[len(sample)] = sample.codes
        return fit(self, sample, rng)

    fit = NaiveBayes.fit
    monkeypatch.setattr(NaiveBayes, "fit", spy)
    changes = {
        "test_size = 100": 'test_size = 100\ntraining = "nested"',
        "models = 4": "models = 2",
    }
    run_study(load_study(write_study(changes)), tmp_path / "out", jobs=1, report=False)
    np.testing.assert_array_equal(seen[20], seen[60][:20])
    largest = seen[60]
    changes["[20, 60]"] = "[20, 40, 60]"
    run_study(load_study(write_study(changes)), tmp_path / "more", jobs=1, report=False)
    np.testing.assert_array_equal(seen[60], largest)
    np.testing.assert_array_equal(seen[40], largest[:40])


def test_a_learner_without_a_limit_keeps_its_other_scores(write_study, tmp_path, monkeypatch):
    def refuse(self, sample, rng=None):
        if sample.weights is not None:
            raise ValueError("no weights, please")
        return fit(self, sample, rng)

    fit = NaiveBayes.fit
    monkeypatch.setattr(NaiveBayes, "fit", refuse)
    results = run_study(load_study(write_study(text=STUDY)), tmp_path / "out", jobs=1)
    plain = results.scores[results.scores["learner"] == "naive_bayes"]
    assert plain["estimation"].isna().all()
    assert plain["regret"].notna().all()
    assert (plain["status"] == "ok").all()
    assert any("no limit: ValueError: no weights" in text for text in results.manifest["warnings"])
    # A learner without any limit is left out of the split of regret, and the caption says so.
    assert set(results.regret()["learner"]) == {"truth"}
    assert "Without naive_bayes: no limit." in regret_caption(results.regret_parts, results.study)


def test_a_learner_that_takes_no_notice_of_weights_has_no_limit(write_study, tmp_path, monkeypatch):
    def ignore(self, sample, rng=None):
        return fit(self, Sample(sample.codes, sample.cards), rng)

    fit = NaiveBayes.fit
    monkeypatch.setattr(NaiveBayes, "fit", ignore)
    results = run_study(load_study(write_study(text=STUDY)), tmp_path / "out", jobs=1, report=False)
    assert results.scores.loc[results.scores["learner"] == "naive_bayes", "estimation"].isna().all()
    said = "no limit: ValueError: the learner ignores the weights of rows"
    assert any(said in text for text in results.manifest["warnings"])


def test_the_parts_of_regret_sum_to_it_where_a_limit_is_missing(write_study, tmp_path, monkeypatch):
    fit, seen = NaiveBayes.fit, []

    def sometimes(self, sample, rng=None):
        if sample.weights is not None and len(sample) > 20:
            seen.append(sample)
            if len(seen) == 1:
                raise ValueError("not this time")
        return fit(self, sample, rng)

    monkeypatch.setattr(NaiveBayes, "fit", sometimes)
    results = run_study(load_study(write_study(text=STUDY)), tmp_path / "out", jobs=1, report=False)
    assert results.scores["estimation"].isna().sum() == 2
    split = results.regret()
    assert set(split["n"]) == {2}
    assert "Over 2 of 3 models" in regret_caption(results.regret_parts, results.study)
    np.testing.assert_allclose(split["representation"] + split["estimation"], split["regret"])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({'"both"': '"all"'}, 'data.test_size: "all" is not allowed; it must be a number of rows'),
        (
            {'also = ["accuracy"': 'also = ["miscalibration"', '"both"': '"exact"'},
            "measures.also[0]: 'miscalibration' is not a mean",
        ),
        (
            {"variables = [3, 4]": "variables = [3, 12]", '"both"': "100"},
            "measures.also[2]: 'representation' needs learners' limits, which enumerate all joint",
        ),
        (
            {
                "variables = [3, 4]": "variables = [3, 12]",
                ', "regret", "representation", "estimation"': "",
            },
            'data.test_size: "both" enumerates all joint configurations of a model, at most '
            "2,097,152; models of 12 variables with 5 values have 244,140,625",
        ),
    ],
)
def test_what_cannot_be_exact_is_refused_before_anything_runs(write_study, changes, said):
    with pytest.raises(SimstudyError) as caught:
        load_study(write_study(changes, text=STUDY))
    assert said in str(caught.value)


def test_a_family_of_larger_models_than_it_said_costs_its_cells(monkeypatch):
    monkeypatch.setattr(module, "MAX_CONFIGURATIONS", 10)
    with pytest.raises(ValueError, match=r"3 variables has 18 joint .* 10"):
        evaluation(draw(NaiveBayesFamily, 1, (3, 3), (2, 3)), "exact", np.random.default_rng(0))


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
@each_family
def test_all_rows_at_once_are_answered_as_one_by_one(family, learner):
    for seed in range(3):
        model = draw(family, seed, variables=(4, 6), values=(2, 4))
        fitted = learner.fit(model.sample(30, np.random.default_rng(seed)))
        generative = (Prior, NaiveBayes, TAN, AODE, KDB, HNB, CaMML)
        assert hasattr(fitted, "predict_grid") == isinstance(learner, generative)
        if hasattr(fitted, "predict_grid"):
            rows = configurations(model.cards[:-1])
            expected = fitted.predict_proba(rows)
            np.testing.assert_allclose(fitted.predict_grid(), expected, rtol=0, atol=1e-12)


def test_the_truth_cannot_be_learned():
    with pytest.raises(ValueError, match="truth is for studies only"):
        Truth().fit(draw(TANFamily, 1).sample(5, np.random.default_rng(0)))


def test_whether_a_learner_uses_weights_is_tried_once_in_a_run(write_study, tmp_path, monkeypatch):
    fit, toys = NaiveBayes.fit, []

    def counted(self, sample, rng=None):
        if len(sample) and not sample.codes[:, :-1].any():
            toys.append(sample.weights is not None)
        return fit(self, sample, rng)

    monkeypatch.setattr(NaiveBayes, "fit", counted)
    study = load_study(write_study(text=STUDY))
    assert study.models > 1
    for directory in ("first", "second"):
        run_study(study, tmp_path / directory, jobs=1, report=False)
    assert toys == [False, True] * 2
