"""Trees, rules and LBR give the probabilities of Weka 3.6.14 on real data (tests/golden/real)."""

import csv
import gzip
import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from simstudy.data.sample import Sample
from simstudy.data.schema import Schema, Variable
from simstudy.learners import C45, LBR, BoostedC45, DecisionStump, NaiveBayes, OneR

REAL = Path(__file__).parents[1] / "golden" / "real"
DATASETS = json.loads((REAL / "datasets.json").read_text())
CUTS = json.loads((REAL / "discretize.json").read_text())
LEARNERS = {
    "J48": C45(),
    "J48UA": C45(prune=False, laplace=True),
    "BoostJ48": BoostedC45(),
    "OneR": OneR(),
    "Stump": DecisionStump(),
}
each_set = pytest.mark.parametrize("name", DATASETS)


def read_rows(path: Path) -> list[list[str]]:
    """The rows of a file, without its header."""
    with gzip.open(path, "rt", newline="") as file:
        return list(csv.reader(file))[1:]


@cache
def whole(name: str, binned: bool) -> Sample:
    """A data set; binned by Weka's cuts of the training part."""
    described = DATASETS[name]
    columns, variables = [], []
    texts = zip(*read_rows(REAL / "data" / f"{name}.csv.gz"), strict=True)
    known = {**described["attributes"], "class": described["classes"]}
    for (variable, values), column in zip(known.items(), texts, strict=True):
        numbers = [
            np.nan if not t else float(t) if values is None else values.index(t) for t in column
        ]
        if values is None and binned:
            cuts = CUTS[name]["train"]["fayyad_irani"][variable]
            values = [str(place) for place in range(len(cuts) + 1)]
            numbers = np.where(np.isnan(numbers), np.nan, np.searchsorted(cuts, numbers))
        columns.append(numbers)
        variables.append(Variable(variable, None if values is None else tuple(values)))
    return Sample.of(np.column_stack(columns), Schema(tuple(variables)))


def parts(name: str, binned: bool) -> tuple[Sample, Sample]:
    """The training and test part of a data set."""
    sample = whole(name, binned)
    test = np.arange(len(sample)) % 3 == 0
    return sample.take(~test), sample.take(test)


def weka(learner: str, name: str) -> np.ndarray:
    """Weka's probabilities of the test part."""
    rows = read_rows(REAL / "probs" / f"{learner}_{name}.csv.gz")
    return np.array([row[2:] for row in rows], dtype=float)


def assert_equal(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


@each_set
@pytest.mark.parametrize("learner", LEARNERS)
def test_trees_and_rules_answer_as_weka(name: str, learner: str) -> None:
    train, test = parts(name, binned=False)
    fitted = LEARNERS[learner].fit(train)
    assert_equal(fitted.predict_proba(test), weka(learner, name))
    np.testing.assert_array_equal(
        fitted.predict_proba(test.values[:, :-1]), fitted.predict_proba(test)
    )


def test_ties_of_training_rows_are_decided_as_by_weka() -> None:
    tests: dict[tuple[str, str], list[list[str]]] = {}
    for name, split, *rest in read_rows(REAL / "probs" / "BoostJ48_ties.csv.gz"):
        tests.setdefault((name, split), []).append(rest)
    for (name, _), rows in tests.items():
        expected = np.array([row[1:] for row in rows], dtype=float)
        test = np.array([row[0] for row in rows], dtype=int)
        sample = whole(name, binned=False)
        train = sample.take(np.setdiff1d(np.arange(len(sample)), test))
        assert_equal(BoostedC45().fit(train).predict_proba(sample.take(test)), expected)


@pytest.mark.parametrize("file", ["NB_order", "NB_far"])
def test_squares_are_summed_in_the_order_of_weka(file: str) -> None:
    rows = np.array(read_rows(REAL / "probs" / f"{file}.csv.gz"), dtype=float)
    sample, test = whole("glass", binned=False), rows[:, 0].astype(int)
    train = sample.take(np.setdiff1d(np.arange(len(sample)), test))
    fitted = NaiveBayes(numeric="gaussian").fit(train)
    np.testing.assert_allclose(
        fitted.predict_proba(sample.take(test)), rows[:, 1:], rtol=0, atol=2e-10
    )


@each_set
def test_rules_test_the_attribute_that_weka_prints(name: str) -> None:
    with gzip.open(REAL / "models.json.gz", "rt") as file:
        printed = json.load(file)[name]
    train, _ = parts(name, binned=False)
    rule, stump = OneR().fit(train), DecisionStump().fit(train)
    assert printed["OneR"][0] == f"{train.schema.variables[rule.attribute].name}:"
    first_test = next(line for line in printed["Stump"] if " : " in line)
    assert first_test.startswith(f"{train.schema.variables[stump.attribute].name} ")
    if rule.cuts is not None:
        cuts = [float(line.split()[1]) for line in printed["OneR"][1:] if line.startswith("\t<")]
        np.testing.assert_allclose(rule.cuts, cuts, rtol=1e-12)


@each_set
def test_lbr_answers_as_weka_if_missing_values_count_as_the_first(name: str) -> None:
    train, test = parts(name, binned=True)
    assert_equal(LBR(missing_as_first=True).fit(train).predict_proba(test), weka("LBR", name))
    left_out = LBR().fit(train).predict_proba(test)
    np.testing.assert_allclose(left_out.sum(axis=1), 1, rtol=1e-12)
    assert (np.abs(left_out - weka("LBR", name)).max() < 1e-9) == (not train.incomplete)
