"""Bootstrap estimates and tests of learners, as R computes them from Weka's answers.

The figures are in tests/golden/real/resampling. The answers are replayed through the same
estimators and tests that studies use.
"""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from simstudy.data.splits.schemes import CrossValidation, Split
from simstudy.estimators.bench import Bench, Judge
from simstudy.estimators.bootstrap import BootstrapEstimator
from simstudy.estimators.comparing import CrossValidatedT, FiveByTwoF, FiveByTwoT
from simstudy.measures.decisions.confusion import error_rate
from simstudy.measures.scores.losses import accuracy

FOLDER = Path(__file__).parents[1] / "golden" / "real" / "resampling"
SETS = ("iris", "labor-neg", "glass")


def content(name: str):
    return json.loads(gzip.decompress((FOLDER / name).read_bytes()))


def lines(name: str):
    return csv.DictReader(gzip.decompress((FOLDER / name).read_bytes()).decode().splitlines())


BOOTSTRAP, TESTS = content("bootstrap.json.gz"), content("tests.json.gz")["per_set"]
ACCURACY, SPLITS = [*lines("accuracy.csv.gz")], [*lines("splits.csv.gz")]


def digits(text: str) -> np.ndarray:
    return np.array([*map(int, text)])


def judge(measure, target, classes) -> Judge:
    return Judge(measure, target, classes, lambda trained, tested: np.full(classes, 1 / classes))


def replayed(name: str) -> Bench:
    """Weka's J48 on the bootstrap samples of a data set."""
    kept = BOOTSTRAP[name]
    target, k = digits(kept["target"]), kept["classes"]
    bags = [np.array(text.split(), dtype=np.intp) for text in kept["bags"]]
    told = {bag.tobytes(): digits(text) for bag, text in zip(bags, kept["predicted"], strict=True)}
    told[np.arange(len(target)).tobytes()] = digits(kept["predicted_by_all"])
    splits = []
    for number, bag in enumerate(bags):
        tested = np.zeros(len(target), dtype=np.intp)
        tested[bag] = -1
        splits.append(Split(number, 0, tested, bag))

    def answers(parts):
        return (np.eye(k)[told[train.tobytes()][test]] for train, test, _ in parts)

    return Bench(target, k, answers, lambda _: splits)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize(
    ("estimator", "figure"),
    [
        (BootstrapEstimator(), "err632"),
        (BootstrapEstimator(plus=True), "err632plus"),
        (BootstrapEstimator("bag"), "witten_frank_632_bag"),
        (BootstrapEstimator("distinct"), "witten_frank_632_distinct"),
    ],
)
def test_bootstrap_estimates_are_those_of_r(name, estimator, figure):
    bench, expected = replayed(name), BOOTSTRAP[name]["figures"][figure]
    error = judge(error_rate, bench.target, bench.classes)
    assert estimator.estimate(bench, error).value == pytest.approx(expected, abs=1e-12)
    # a gain and a loss have the same estimate
    right = judge(accuracy, bench.target, bench.classes)
    assert estimator.estimate(bench, right).value == pytest.approx(1 - expected, abs=1e-12)


def contestant(name: str, learner: str) -> Bench:
    """A learner that is right as often as Weka's was in every fold."""
    rows = [row for row in SPLITS if row["set"] == name]
    target = np.zeros(len(rows), dtype=np.intp)
    correct, splits = {}, {"5x2": [], "10": []}
    for scheme, columns in (("5x2", [f"rep{n}" for n in range(1, 6)]), ("10", ["cv10"])):
        for repeat, column in enumerate(columns):
            tested = np.array([int(row[column]) for row in rows])
            splits[scheme] += [Split(repeat, fold, tested) for fold in range(tested.max() + 1)]
    for row in ACCURACY:
        if (row["set"], row["learner"]) == (name, learner):
            place = splits[row["scheme"]][(int(row["rep"]) - 1) * 2 + int(row["fold"])]
            correct[place.test.tobytes()] = int(row["correct"])

    def answers(parts):
        for _, test, _ in parts:
            wrong = np.arange(len(test)) >= correct[test.tobytes()]
            yield np.eye(2)[wrong.astype(int)]

    def split(scheme: CrossValidation):
        return splits["10" if scheme.folds == 10 else "5x2"]

    return Bench(target, 2, answers, split)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("pair", ["J48-NB", "AODE-NBD"])
def test_tests_over_folds_are_those_of_r(name, pair):
    first, second = (contestant(name, learner) for learner in pair.split("-"))
    right, figures = judge(accuracy, first.target, 2), TESTS[name][pair]
    for test, section, key in (
        (FiveByTwoT(), "five_by_two", "dietterich_p"),
        (FiveByTwoF(), "five_by_two", "alpaydin_p"),
        (CrossValidatedT(), "corrected_t_cv10", "p"),
        (CrossValidatedT(corrected=False), "corrected_t_cv10", "p_naive"),
    ):
        found, expected = test.test(first, second, right), figures[section][key]
        if expected is None:  # all differences are 0
            assert np.isnan(found.p)
        else:
            assert found.p == pytest.approx(expected, abs=1e-10), (test, pair)
    mean = figures["corrected_t_cv10"]["mean"]
    assert CrossValidatedT().test(first, second, right).difference == pytest.approx(mean)
