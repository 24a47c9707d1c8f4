"""Calibrated learners: maps against scikit-learn, statsmodels and scipy; laws; what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.calibration import CalibratedClassifierCV, _SigmoidCalibration
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import PredefinedSplit
from statsmodels.api import GLM, families

from simstudy import SimstudyError, make_study, run_study
from simstudy.arrays import FloatArray, IntArray
from simstudy.data.sample import Sample
from simstudy.data.schema import Schema, Variable
from simstudy.data.splits.schemes import CrossValidation
from simstudy.learners import AODE, C45, Calibrated, NaiveBayes, Prior
from simstudy.learners.wrappers.calibrated import (
    COLDEST,
    HOTTEST,
    METHODS,
    BetaMap,
    Temperature,
    beta,
    isotonic,
    one_against_rest,
    out_of_fold,
    platt,
    temperature,
)
from simstudy.measures import information_reward
from simstudy.measures.base import clip
from simstudy.sources.families.tan import TANFamily
from simstudy.testing import check_learner

ALL = [*METHODS, "temperature"]
each_method = pytest.mark.parametrize("method", ALL)


@each_method
@pytest.mark.parametrize("learner", ["prior", "naive_bayes", "aode", "c45"])
def test_it_keeps_the_contract_but_for_folds(learner: str, method: str) -> None:
    # Equal rows may be in two folds, a weighted row is in one. C4.5 breaks ties in small folds.
    made = Calibrated(learner, None, method)  # type: ignore[arg-type]
    check_learner(made, max_attributes=20, weights=False, permutation=learner != "c45")


def answers(rows: int = 400, seed: int = 1) -> tuple[FloatArray, IntArray, FloatArray]:
    """Overconfident probabilities of two classes with ties, the classes and weights of rows."""
    rng = np.random.default_rng(seed)
    p = np.round(rng.beta(0.5, 0.5, rows), 2).clip(0.01, 0.99)
    y = rng.random(rows) < 0.25 + 0.4 * p
    return np.column_stack([1 - p, p]), y.astype(np.intp), rng.integers(1, 4, rows).astype(float)


def fitted_to(method: str, proba: FloatArray, y: IntArray, weights: FloatArray) -> FloatArray:
    if method == "temperature":
        return temperature(proba, y, weights)(proba)
    return one_against_rest(method, proba, y, weights)(proba)


def test_platt_agrees_with_scikit_learn_and_a_binomial_model() -> None:
    proba, y, weights = answers()
    odds = np.log(proba[:, 1] / proba[:, 0])
    found = platt(proba[:, 1], proba[:, 0], y == 1, weights)
    theirs = _SigmoidCalibration().fit(odds, y, weights)
    np.testing.assert_allclose([found.a, found.c], [-theirs.a_, -theirs.b_], atol=2e-5)
    pro, contra = weights[y == 1].sum(), weights[y == 0].sum()
    targets = np.where(y == 1, (pro + 1) / (pro + 2), 1 / (contra + 2))
    design = np.column_stack([np.ones_like(odds), odds])
    model = GLM(targets, design, family=families.Binomial(), freq_weights=weights)
    exact = model.fit(tol=1e-14).params
    np.testing.assert_allclose([found.c, found.a], exact, atol=1e-8)
    assert found.a == found.b


def test_isotonic_agrees_with_scikit_learn() -> None:
    proba, y, weights = answers()
    p, others = proba[:, 1], np.linspace(0, 1, 997)
    found = isotonic(p, 1 - p, y == 1, weights)
    theirs = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(p, y, weights)
    np.testing.assert_allclose(found(others, 1 - others), theirs.predict(others), atol=1e-9)


def test_beta_agrees_with_logistic_regressions() -> None:
    proba, y, weights = answers()
    features = np.column_stack([np.log(proba[:, 1]), -np.log(proba[:, 0])])
    found = beta(proba[:, 1], proba[:, 0], y == 1, weights)
    assert found.a > 0
    assert found.b > 0
    design = np.column_stack([features, np.ones(len(y))])
    model = GLM(y, design, family=families.Binomial(), freq_weights=weights)
    exact = model.fit(tol=1e-14).params
    np.testing.assert_allclose([found.a, found.b, found.c], exact, atol=1e-8)
    theirs = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(features, y, weights)
    np.testing.assert_allclose([found.a, found.b], theirs.coef_[0], atol=1e-4)


def test_beta_on_the_border_is_the_best_of_all_that_are_allowed() -> None:
    rng = np.random.default_rng(8)
    p = rng.uniform(0.05, 0.95, 500)
    for power in (-1.0, 3.0):  # falling with p: neither may be positive; U-shaped: one is 0
        truth = 1 / (1 + np.exp(-(power * np.log(p) + 2 * np.log(1 - p))))
        y, weights = rng.random(500) < truth, np.ones(500)
        found = beta(p, 1 - p, y, weights)
        assert found.a >= 0
        assert found.b >= 0
        assert found.a * found.b == 0

        def loss(one: BetaMap, y: Any = y) -> float:
            q = one(p, 1 - p)
            return float(-np.log(np.where(y, q, 1 - q)).sum())

        for a in (0, 0.01, 0.3):
            for b in (0, 0.01, 0.3):
                for c in (-0.01, 0, 0.01):
                    other = BetaMap(found.a + a, found.b + b, found.c + c)
                    assert loss(found) <= loss(other) + 1e-6


def test_temperature_agrees_with_a_search() -> None:
    rng = np.random.default_rng(4)
    proba = rng.dirichlet([0.3, 0.4, 0.5, 0.6], 500)
    y = np.array([rng.choice(4, p=row**0.4 / (row**0.4).sum()) for row in proba])
    weights = rng.integers(1, 4, 500).astype(float)

    def loss(log_t: float) -> float:
        q = Temperature(np.exp(log_t))(proba)
        return float(-weights @ np.log(q[np.arange(500), y]))

    found = temperature(proba, y, weights)
    best = minimize_scalar(loss, bounds=(-3, 3), method="bounded", options={"xatol": 1e-10})
    assert found.temperature == pytest.approx(np.exp(best.x), rel=1e-6)
    assert loss(np.log(found.temperature)) <= best.fun + 1e-9
    assert 2 < found.temperature < 3.2  # 1/0.4


def test_temperature_has_limits_where_the_best_is_infinite_or_zero() -> None:
    proba, ones = np.array([[0.7, 0.3], [0.4, 0.6], [0.6, 0.4]]), np.ones(3)
    right = temperature(proba, np.array([0, 1, 0]), ones).temperature
    wrong = temperature(proba, np.array([1, 0, 1]), ones).temperature
    assert COLDEST <= right < 0.02
    assert wrong == pytest.approx(HOTTEST)
    even = np.full((3, 2), 0.5)
    assert temperature(even, np.array([0, 1, 1]), ones).temperature == 1


@pytest.mark.parametrize(("method", "theirs"), [("platt", "sigmoid"), ("isotonic", "isotonic")])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_whole_agrees_with_scikit_learn_on_the_same_folds(
    method: str, theirs: str, classes: int
) -> None:
    from sklearn.naive_bayes import GaussianNB

    rng = np.random.default_rng(6)
    y = rng.integers(0, classes, 300)
    x = y[:, None] * 0.7 + rng.normal(size=(300, 2)) @ np.array([[1, 0.9], [0, 0.5]])
    schema = Schema((Variable("a"), Variable("b"), Variable("y", tuple("abc"[:classes]))))
    sample = Sample.of(np.column_stack([x, y]), schema)
    path = "sklearn.naive_bayes:GaussianNB"
    made = Calibrated(path, None, method, folds=4)  # type: ignore[arg-type]
    found = made.fit(sample, np.random.default_rng(3)).predict_proba(sample)
    splits = CrossValidation(4).splits(y, np.random.default_rng(3))
    mean, sd = x.mean(axis=0), x.std(axis=0)
    cv = PredefinedSplit(splits[0].tested)
    other = CalibratedClassifierCV(GaussianNB(), method=theirs, cv=cv, ensemble=False)
    if method == "isotonic":  # theirs takes p, not log odds, for both methods
        expected = other.fit((x - mean) / sd, y).predict_proba((x - mean) / sd)
        np.testing.assert_allclose(found, expected, atol=1e-6)
        return
    base = made.base()
    proba = out_of_fold(base, sample, 4, np.random.default_rng(3))
    final = base.fit(sample).predict_proba(sample)
    columns = [
        _SigmoidCalibration()
        .fit(np.log(proba[:, c] / (1 - proba[:, c])), (y == c).astype(int))
        .predict(np.log(final[:, c] / (1 - final[:, c])))
        for c in range(classes)
    ]
    expected = np.column_stack(columns)
    np.testing.assert_allclose(found, expected / expected.sum(1, keepdims=True), atol=1e-5)


@each_method
def test_a_row_of_weight_two_counts_as_two_rows_in_a_map(method: str) -> None:
    proba, y, weights = answers()
    places = np.repeat(np.arange(len(y)), weights.astype(int))
    by_weights = fitted_to(method, proba, y, weights)[places]
    by_rows = fitted_to(method, proba[places], y[places], np.ones(len(places)))
    np.testing.assert_allclose(by_weights, by_rows, atol=1e-9)


@each_method
def test_rows_of_weight_zero_do_not_count(method: str) -> None:
    sample = trees(200)[0]
    weights = np.where(np.arange(200) % 3 == 0, 0.0, 2.0)
    weighted = Sample(sample.codes, sample.cards, weights)
    without = Sample(sample.codes[weights > 0], sample.cards, weights[weights > 0])
    made = Calibrated("naive_bayes", None, method)  # type: ignore[arg-type]
    one, other = (made.fit(each).predict_proba(sample) for each in (weighted, without))
    np.testing.assert_allclose(one, other, atol=1e-12)


@each_method
@pytest.mark.parametrize("classes", [2, 3])
def test_calibrated_answers_stay_nearly_as_they_are(method: str, classes: int) -> None:
    rng = np.random.default_rng(2)
    proba = rng.dirichlet(np.ones(classes), 40_000)
    y = (rng.random((len(proba), 1)) > proba.cumsum(axis=1)).sum(axis=1)
    found = fitted_to(method, proba, y, np.ones(len(y)))
    # One against the rest is not exact for three classes before the results are divided.
    assert np.abs(found - proba).mean() < 0.012
    np.testing.assert_allclose(found.sum(axis=1), 1)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("classes", [2, 4])
def test_constant_answers_become_class_frequencies(method: str, classes: int) -> None:
    y = np.repeat(np.arange(classes), 10 * (1 + np.arange(classes)))
    found = fitted_to(method, np.full((len(y), classes), 1 / classes), y, np.ones(len(y)))
    expected = np.bincount(y) / len(y)
    # Smoothed by Platt: (N₊t₊ + N₋t₋)/N differs by less than 1/N for each class.
    atol = 1 / len(y) if method == "platt" else 1e-8
    np.testing.assert_allclose(found, np.tile(expected, (len(y), 1)), atol=atol)


def test_temperature_keeps_the_order_of_classes() -> None:
    train, test = trees(300)
    fitted = Calibrated("aode", None, "temperature").fit(train)
    before = AODE().fit(train).predict_proba(test.attributes)
    after = fitted.predict_proba(test.attributes)
    np.testing.assert_array_equal(np.argsort(before, axis=1), np.argsort(after, axis=1))
    assert not np.allclose(before, after, atol=1e-3)


def test_isotonic_and_platt_keep_the_order_of_rows_of_two_classes() -> None:
    proba, y, weights = answers()
    order = np.argsort(proba[:, 1])
    for method in METHODS:
        found = fitted_to(method, proba, y, weights)[order, 1]
        assert (np.diff(found) >= -1e-12).all()


def trees(rows: int) -> tuple[Sample, Sample]:
    """Training and test rows of a model of three classes that is no Naive Bayes model."""
    rng = np.random.default_rng(12)
    model = TANFamily(variables=(10, 10), values=(3, 3)).draw(rng)
    return model.sample(rows, rng), model.sample(5000, rng)


@each_method
def test_it_mends_naive_bayes_on_repeated_attributes(method: str) -> None:
    # Each attribute three times: Naive Bayes is far too certain.
    train, test = (Sample(each.codes[:, [*range(9)] * 3 + [9]], (3,) * 28) for each in trees(1000))
    prior = train.class_frequencies(0.5)

    def reward(learner: Any) -> float:
        proba = learner.fit(train, np.random.default_rng(1)).predict_proba(test.attributes)
        return float(information_reward(clip(proba, "mml", 1000), test.target, prior=prior).mean())

    made = Calibrated("naive_bayes", None, method)  # type: ignore[arg-type]
    assert reward(made) > reward(NaiveBayes()) + 0.1


def test_the_map_is_that_of_out_of_fold_answers_and_the_learner_that_of_all_rows() -> None:
    train, test = trees(200)
    fitted = Calibrated("naive_bayes", {"alpha": 0.5}, "beta", 4).fit(
        train, np.random.default_rng(9)
    )
    base = NaiveBayes(alpha=0.5)
    folds = CrossValidation(4).splits(train.target, np.random.default_rng(9))
    proba = np.empty((200, 3))
    for fold in folds:
        part = base.fit(train.take(fold.train))
        proba[fold.test] = part.predict_proba(train.attributes[fold.test])
    expected = one_against_rest("beta", proba, train.target, np.ones(200))
    np.testing.assert_array_equal(
        fitted.predict_proba(test.attributes),
        expected(base.fit(train).predict_proba(test.attributes)),
    )


@each_method
def test_rare_absent_and_only_classes(method: str) -> None:
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 2, size=(60, 4))
    codes[0, -1] = 2  # a class of one row; class 3 has none
    sample = Sample(codes, (2, 2, 2, 4))
    made = Calibrated("naive_bayes", None, method)  # type: ignore[arg-type]
    proba = made.fit(sample).predict_proba(sample)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    if method != "temperature":  # 1/(N + 2), divided by a sum near 1
        np.testing.assert_allclose(proba[:, 3], 1 / 62, atol=0.004)
    for few in (sample.take([0]), sample.take(codes[:, -1] == 1), sample.take([])):
        fitted = made.fit(few)
        np.testing.assert_array_equal(
            fitted.predict_proba(sample), NaiveBayes().fit(few).predict_proba(sample)
        )
        assert "not calibrated" in repr(fitted)
    assert made.fit(sample.take([0, 1])).map is not None  # two rows are two folds


@each_method
def test_certain_answers_and_separated_classes_give_finite_maps(method: str) -> None:
    y = np.array([0, 0, 0, 1, 1, 1])
    proba = np.eye(2)[y]
    found = fitted_to(method, proba, y, np.ones(6))
    assert np.isfinite(found).all()
    assert (found.argmax(axis=1) == y).all()
    if method == "platt":  # the smoothed targets, 4/5 and 1/5
        np.testing.assert_allclose(found[:, 1], np.where(y == 1, 0.8, 0.2), atol=1e-8)


def test_where_isotonic_gives_every_class_nothing_the_answer_is_kept() -> None:
    proba = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    made = one_against_rest("isotonic", proba, np.arange(3), np.ones(3))
    odd = np.array([[0.05, 0.05, 0.9], [0.1, 0.1, 0.1]])
    np.testing.assert_allclose(made(odd), [[0, 0, 1], [0.1, 0.1, 0.1]])


def test_rows_of_one_group_are_in_one_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    sample, _ = trees(60)
    grouped = sample.copy()
    grouped.groups = np.arange(60) // 6
    seen: list[set[int]] = []
    fit = NaiveBayes.fit
    monkeypatch.setattr(
        NaiveBayes, "fit", lambda self, s, rng: seen.append({*s.groups}) or fit(self, s, rng)
    )
    Calibrated(folds=5).fit(grouped.metered())
    assert [len(groups) for groups in seen] == [8, 8, 8, 8, 8, 10]


def test_it_takes_the_rows_that_the_learner_takes() -> None:
    assert Calibrated("c45").accepts == C45.accepts
    assert Calibrated("prior").accepts == Prior.accepts
    schema = Schema((Variable("x", None), Variable("class", ("a", "b"))))
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 60)
    values = np.column_stack([y + rng.normal(size=60), y])
    values[::7, 0] = np.nan
    mixed = Sample.of(values, schema)
    for method in ALL:
        fitted = Calibrated("c45", None, method).fit(mixed)  # type: ignore[arg-type]
        assert fitted.predict_proba(mixed).shape == (60, 2)
    with pytest.raises(ValueError, match="takes only nominal attributes"):
        Calibrated("tan").fit(mixed)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"learner": "naive_bays"}, "learner = 'naive_bays' cannot be calibrated.*'naive_bayes'"),
        ({"learner": "calibrated"}, "learner = 'calibrated' cannot be calibrated"),
        ({"parameters": {"alfa": 1}}, "'alfa' is no parameter of 'naive_bayes'.*mean 'alpha'"),
        ({"learner": "tan", "parameters": {"tree": "true"}}, "tree = 'true' is not possible"),
        ({"method": "sigmoid"}, "method = 'sigmoid' is not allowed; it must be one of platt"),
        ({"folds": 1}, "folds = 1 is not allowed; it must be a whole number from 2"),
        ({"folds": 2.5}, "folds = 2.5 is not allowed"),
    ],
)
def test_what_cannot_be_calibrated_is_refused(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence) as caught:
        Calibrated(**given)
    assert "\n" not in str(caught.value)


def content(**measures: Any) -> dict[str, Any]:
    made = {"name": "calibrated", "learner": "naive_bayes", "method": "beta", "folds": 3}
    return {
        "name": "x",
        "models": 2,
        "family": {"name": "tan", "variables": [5, 5], "values": [2, 2]},
        "data": {"train_sizes": [60], "test_size": "exact"},
        "learners": [{"name": "naive_bayes"}, made],
        "measures": measures,
    }


def test_a_study_names_it_and_it_has_no_limit(tmp_path: Any) -> None:
    study = make_study(content(also=["regret", "representation"]))
    assert make_study(study.as_dict()).as_dict() == study.as_dict()
    results = run_study(study, tmp_path / "out", report=False, jobs=1)
    scores = results.scores.set_index("learner")["representation"]
    assert scores["calibrated"].isna().all()
    assert scores["naive_bayes"].notna().all()
    with pytest.raises(SimstudyError, match=r"folds of rows, .* choose another measures.primary"):
        make_study(content(primary="representation"))
    near = content()
    near["learners"][1] |= {
        "learner": "sklearn.neighbors:KNeighborsClassifier",
        "parameters": {"n_neighbors": 50},
    }
    with pytest.raises(SimstudyError, match="as many training rows; the smallest set has 40"):
        make_study(near)
