"""Estimators against enumeration, independent code and what is known of them."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from functools import cache, partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simstudy.data.sample import Sample
from simstudy.data.splits.schemes import Bootstrap, CrossValidation, LeaveOneOut, Split
from simstudy.estimators.bench import Bench, Judge
from simstudy.estimators.bootstrap import BootstrapEstimator
from simstudy.estimators.splitting import (
    CrossValidationEstimator,
    FiveByTwoEstimator,
    HoldoutEstimator,
    LeaveOneOutEstimator,
    NestedEstimator,
    ResubstitutionEstimator,
)
from simstudy.experiments.scoring import bench_of, splitter
from simstudy.learners.baselines import Prior
from simstudy.learners.bayes.naive_bayes import NaiveBayes
from simstudy.measures.decisions.confusion import error_rate
from simstudy.measures.intervals import wilson
from simstudy.measures.ranking.auc import auc
from simstudy.measures.scores.losses import accuracy, brier_score
from simstudy.measures.scores.rewards import information_reward

EVERY = (
    ResubstitutionEstimator(),
    HoldoutEstimator(),
    HoldoutEstimator(repeats=5),
    CrossValidationEstimator(folds=2),
    CrossValidationEstimator(folds=5, repeats=2, stratify=True),
    FiveByTwoEstimator(),
    LeaveOneOutEstimator(),
    BootstrapEstimator(repeats=10),
    BootstrapEstimator("bag", repeats=10),
    BootstrapEstimator(plus=True, repeats=10),
    NestedEstimator(folds=4, repeats=3),
)


def bench(learner, sample: Sample, seed: int = 1) -> Bench:
    def stream(purpose: str) -> np.random.Generator:
        return np.random.default_rng([seed, *purpose.encode()])

    return bench_of(learner, sample, splitter(sample.target, stream), cache(stream))[0]


def judge(measure, sample: Sample) -> Judge:
    k = sample.classes

    def prior(trained, tested):
        return (trained + 0.5) / (trained.sum() + k / 2)

    return Judge(measure, sample.target, k, prior, "mml", {"base": math.e, "reward": "mean"})


def drawn(rows: int, seed: int = 0) -> Sample:
    return Sample(np.random.default_rng(seed).integers(2, size=(rows, 3)), (2, 2, 2))


# Brute force: a model of two binary attributes and a class, all samples of four rows.

JOINT = np.array([0.3, 0.05, 0.1, 0.05, 0.04, 0.16, 0.02, 0.28])  # over (class, x1, x2)
ROWS = [*itertools.product((0, 1), repeat=3)]  # class first


def predicted(train, row) -> int:
    """Naive Bayes with Laplace's smoothing, coded from its formula."""
    scores = []
    for label in (0, 1):
        own = [one for one in train if one[0] == label]
        score = (len(own) + 1) / (len(train) + 2)
        for place in (1, 2):
            score *= (sum(one[place] == row[place] for one in own) + 1) / (len(own) + 2)
        scores.append(score)
    return int(scores[1] > scores[0] + 1e-12)


def error(train, tests) -> float:
    return sum(predicted(train, row) != row[0] for row in tests) / len(tests)


def by_hand(sample) -> dict[str, float]:
    """Estimates of the error rate, from their definitions; two folds over all divisions."""
    halves = [(0, 1), (0, 2), (0, 3)]
    swapped = []
    for half in halves:
        one = [sample[place] for place in half]
        other = [row for place, row in enumerate(sample) if place not in half]
        swapped += [error(one, other), error(other, one)]
    left = [error(sample[:n] + sample[n + 1 :], [sample[n]]) for n in range(4)]
    return {
        "resubstitution": error(sample, sample),
        "leave_one_out": sum(left) / 4,
        "swapped": sum(swapped) / 6,
    }


def all_divisions(scheme):
    """The three divisions of four rows into halves."""
    if not isinstance(scheme, CrossValidation):
        return [Split(0, n, np.arange(4)) for n in range(4)]  # leave-one-out
    divisions = ([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0])
    return [
        Split(repeat, fold, np.array(division))
        for repeat, division in enumerate(divisions)
        for fold in (0, 1)
    ]


def test_bias_and_variance_equal_enumeration():
    """Over all samples of four rows, weighted by their probabilities."""
    estimators = {
        "resubstitution": ResubstitutionEstimator(),
        "leave_one_out": LeaveOneOutEstimator(),
        "swapped": CrossValidationEstimator(folds=2, repeats=3),
    }
    rng = np.random.default_rng(0)  # not used
    weights, errors, expected = [], {k: [] for k in estimators}, {k: [] for k in estimators}
    for places in itertools.combinations_with_replacement(range(8), 4):
        sample = [ROWS[place] for place in places]
        ways = math.factorial(4) / math.prod(map(math.factorial, Counter(places).values()))
        weights.append(ways * math.prod(JOINT[place] for place in places))
        exact = sum(
            share * (predicted(sample, row) != row[0])
            for row, share in zip(ROWS, JOINT, strict=True)
        )
        for name, value in by_hand(sample).items():
            expected[name].append(value - exact)
        rows = Sample([(*row[1:], row[0]) for row in sample], (2, 2, 2))
        found = bench_of(NaiveBayes(), rows, all_divisions, lambda _: rng)[0]
        wrong = judge(error_rate, rows)
        joint = NaiveBayes().fit(rows).predict_proba(np.array([row[1:] for row in ROWS]))
        truth = float(JOINT @ (joint.argmax(axis=1) != [row[0] for row in ROWS]))
        for name, estimator in estimators.items():
            errors[name].append(estimator.estimate(found, wrong).value - truth)
    assert sum(weights) == pytest.approx(1)
    for name in estimators:
        moments = []
        for values in (errors[name], expected[name]):
            bias = np.average(values, weights=weights)
            moments.append((bias, np.average((np.array(values) - bias) ** 2, weights=weights)))
        assert moments[0] == pytest.approx(moments[1], abs=1e-12), name
    assert np.average(errors["resubstitution"], weights=weights) < 0  # too optimistic
    assert np.average(errors["leave_one_out"], weights=weights) > 0


def test_leave_one_out_of_the_majority_on_balanced_noise_is_always_wrong():
    rows = np.random.default_rng(3).integers(2, size=(20, 3))
    rows[:, -1] = np.arange(20) % 2
    sample = Sample(rows, (2, 2, 2))
    found = LeaveOneOutEstimator().estimate(bench(Prior(), sample), judge(error_rate, sample))
    assert found.value == 1.0


def test_a_memoriser_has_an_error_of_31_6_percent_by_the_632_bootstrap():
    """It knows the rows that it has seen and guesses one class for all others."""
    target = np.arange(40) % 2

    def answer(train, test, purpose):
        known = np.isin(test, train)
        return np.eye(2)[np.where(known, target[test], 0)]

    splits = splitter(target, lambda purpose: np.random.default_rng(1))
    memoriser = Bench(target, 2, partial(itertools.starmap, answer), splits)
    sample = Sample(np.column_stack([target, target]), (2, 2))
    found = BootstrapEstimator().estimate(memoriser, judge(error_rate, sample))
    assert found.value == pytest.approx(0.316)
    assert BootstrapEstimator(plus=True).estimate(
        memoriser, judge(error_rate, sample)
    ).value == pytest.approx(0.5)  # no information: the .632+ estimate is e_out


def nested_by_loops(found: Bench, wrong: Judge, folds: int, repeats: int, z: float):
    """Algorithm 1 of Bates, Hastie & Tibshirani, in loops, every fit made where it is needed."""
    splits = [*found.splits(CrossValidation(folds, repeats, False))]
    n, every = len(found), np.arange(len(found))
    a_list, b_list, inner_all, outer_all = [], [], [], []

    def values(out, test):
        train = np.array([row for row in every if row not in out])
        (outcomes,) = found._outcomes({f"loops {out} {test}": [(train, np.array(test))]})
        return wrong.rows(outcomes)[0].tolist()

    for repeat in range(repeats):
        parts = [one.test.tolist() for one in splits if one.repeat == repeat]
        for k, own in enumerate(parts):
            outer = values(own, own)
            inner = []
            for j, other in enumerate(parts):
                if j != k:
                    inner += values({*own, *other}, other)
            a_list.append((np.mean(inner) - np.mean(outer)) ** 2)
            b_list.append(np.var(outer, ddof=1) / len(outer))
            inner_all += inner
            outer_all += outer
    mse = np.mean(a_list) - np.mean(b_list)
    ncv, cv = np.mean(inner_all), np.mean(outer_all)
    value = ncv - (1 + ((folds - 2) / folds) ** 1.5) * (ncv - cv)
    naive = np.std(inner_all, ddof=1) / math.sqrt(n)
    se = math.sqrt(max(mse, 0) * (folds - 1) / folds)
    se = min(max(se, naive), math.sqrt(folds) * naive)
    return value, value - z * se, value + z * se


@pytest.mark.parametrize("measure", [error_rate, brier_score])
def test_nested_cross_validation_is_algorithm_1(measure):
    sample = drawn(22, 5)
    found, wrong = bench(NaiveBayes(), sample), judge(measure, sample)
    expected = nested_by_loops(found, wrong, 4, 2, 1.959963984540054)
    estimate = NestedEstimator(4, 2).estimate(found, wrong)
    assert (estimate.value, *estimate.interval) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(16, 40))
def test_accuracy_and_error_rate_are_estimated_alike(seed, rows):
    sample = drawn(rows, seed)
    found = bench(NaiveBayes(), sample, seed)
    right, wrong = judge(accuracy, sample), judge(error_rate, sample)
    for estimator in EVERY:
        one, other = estimator.estimate(found, right), estimator.estimate(found, wrong)
        assert one.value == pytest.approx(1 - other.value, abs=1e-12), estimator
        lower, upper = other.interval
        assert one.interval == pytest.approx((1 - upper, 1 - lower), abs=1e-9), estimator


def test_the_interval_over_rows_is_wilson_s():
    sample = drawn(30)
    found, wrong = bench(NaiveBayes(), sample), judge(error_rate, sample)
    estimate = CrossValidationEstimator(folds=5).estimate(found, wrong)
    expected = wilson(estimate.value * 30, 30)
    assert estimate.interval == pytest.approx((expected.lower, expected.upper))


def test_intervals_over_folds_are_those_of_the_paired_t_tests():
    from simstudy.analysis.tests.resampled import corrected_t, naive_t

    sample = drawn(30)
    found, wrong = bench(NaiveBayes(), sample), judge(error_rate, sample)
    estimator = CrossValidationEstimator(folds=5, interval="corrected")
    estimate = estimator.estimate(found, wrong)
    folds = [wrong.value(one) for one in found.repeats(estimator.scheme)[0]]
    expected = corrected_t(folds, 0.2)
    assert estimate.interval == pytest.approx((expected.lower, expected.upper))
    naive = naive_t(folds)
    assert estimate.intervals["folds"] == pytest.approx((naive.lower, naive.upper))


def test_measures_over_sets_have_estimates_where_they_are_meaningful():
    sample = drawn(40, 2)
    found, area = bench(NaiveBayes(), sample), judge(auc, sample)
    for estimator in EVERY:
        value = estimator.estimate(found, area).value
        lacking = isinstance(estimator, NestedEstimator) or getattr(estimator, "plus", False)
        assert math.isnan(value) == lacking, estimator
        assert lacking or 0 <= value <= 1


def test_rewards_are_relative_to_the_prior_of_each_training_part():
    sample = drawn(12, 4)
    found, reward = bench(Prior(), sample), judge(information_reward, sample)
    scheme = CrossValidationEstimator(folds=3).scheme
    (outcomes,) = found.repeats(scheme)
    for outcome, values in zip(outcomes, reward.rows(outcomes), strict=True):
        prior = (outcome.trained + 0.5) / (outcome.trained.sum() + 1)
        expected = [
            math.log(q[c] / prior[c]) / 2 + math.log((1 - q[1 - c]) / (1 - prior[1 - c])) / 2
            for q, c in zip(outcome.answers, sample.target[outcome.test], strict=True)
        ]
        assert values == pytest.approx(expected, abs=1e-12)


def test_more_repeats_leave_the_first_fits_as_they_are():
    sample = drawn(20)
    one, other = bench(NaiveBayes(), sample), bench(NaiveBayes(), sample)
    wrong = judge(error_rate, sample)
    first = CrossValidationEstimator(folds=4).estimate(one, wrong)
    NestedEstimator(folds=4, repeats=3).estimate(other, wrong)
    assert CrossValidationEstimator(folds=4).estimate(other, wrong) == first


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: BootstrapEstimator("sample"), "training = 'sample'"),
        (lambda: BootstrapEstimator("bag", plus=True), "plus = True is not allowed"),
        (lambda: NestedEstimator(folds=2), "at least 3"),
        (lambda: CrossValidationEstimator(folds=1), "folds must be"),
        (lambda: HoldoutEstimator(share=1.0), "share must be"),
    ],
)
def test_impossible_parameters_are_refused(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_bootstrap_samples_are_those_of_the_scheme():
    sample = drawn(15)
    found = bench(NaiveBayes(), sample)
    splits = found.splits(Bootstrap(10))
    assert len(splits) == 10
    assert all(len(split.train) == 15 for split in splits)


def test_the_training_rows_of_leave_one_out_are_never_all_in_memory(monkeypatch):
    made = []

    def train(split):
        made.append(split.fold)
        return np.flatnonzero(split.tested != split.fold)

    monkeypatch.setattr(Split, "train", property(train))

    def answers(parts):
        for answered, part in enumerate(parts):
            assert len(made) <= answered + 1
            yield np.full((len(part.test), 2), 0.5)

    target = np.arange(40) % 2
    splits = partial(LeaveOneOut.splits, target=target, rng=np.random.default_rng(0))
    outcomes = Bench(target, 2, answers, splits).repeats(LeaveOneOut())
    assert len(outcomes[0]) == len(made) == 40
