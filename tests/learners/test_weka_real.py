"""Learners give the probabilities of Weka 3.6.14 on real data (tests/golden/real)."""

import csv
import gzip
import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from simstudy.data.codes import MISSING
from simstudy.data.sample import Sample
from simstudy.data.schema import Schema, Variable
from simstudy.learners import AODE, TAN, NaiveBayes

REAL = Path(__file__).parent.parent / "golden" / "real"
SETS = ["iris", "house-votes-84", "labor-neg", "glass", "crx", "heart"]
DATASETS = json.loads((REAL / "datasets.json").read_text())
CUTS = json.loads((REAL / "discretize.json").read_text())
each_set = pytest.mark.parametrize("name", SETS)


def read_rows(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", newline="") as file:
        return list(csv.DictReader(file))


@cache
def whole(name: str) -> Sample:
    """A data set, values in the order of its description."""
    described, rows = DATASETS[name], read_rows(REAL / "data" / f"{name}.csv.gz")
    variables = [
        Variable(attribute, values if values is None else tuple(values))
        for attribute, values in described["attributes"].items()
    ]
    schema = Schema((*variables, Variable("class", tuple(described["classes"]))))
    columns = list(zip(*(row.values() for row in rows), strict=True))
    values = np.full((len(rows), len(columns)), np.nan)
    for place, (variable, column) in enumerate(zip(schema.variables, columns, strict=True)):
        for row, text in enumerate(column):
            if text:
                known = variable.values
                values[row, place] = float(text) if known is None else known.index(text)
    return Sample.of(values, schema)


def split(sample: Sample) -> tuple[Sample, Sample]:
    """The training and the test part."""
    test = np.arange(len(sample)) % 3 == 0
    return sample.take(~test), sample.take(test)


@cache
def binned(name: str) -> Sample:
    """A data set cut by Weka's cut points of the training part."""
    sample, cuts = whole(name), CUTS[name]["train"]["fayyad_irani"]
    values, variables = sample.values.copy(), []
    for place, variable in enumerate(sample.schema.variables):
        if variable.numeric:
            limits = np.array(cuts[variable.name])
            known = ~np.isnan(values[:, place])
            values[known, place] = np.searchsorted(limits, values[known, place])
            variable = Variable(variable.name, tuple(map(str, range(len(limits) + 1))))
        variables.append(variable)
    return Sample.of(values, Schema(tuple(variables)))


def weka(learner: str, name: str) -> np.ndarray:
    """Weka's probabilities of the test part."""
    rows = read_rows(REAL / "probs" / f"{learner}_{name}.csv.gz")
    return np.array([list(row.values())[2:] for row in rows], dtype=float)


def assert_equal(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


@each_set
@pytest.mark.parametrize(("learner", "numeric"), [("NB", "gaussian"), ("NBK", "kernel")])
def test_densities_of_numbers_are_those_of_weka(name, learner, numeric):
    train, test = split(whole(name))
    fitted = NaiveBayes(numeric=numeric).fit(train)
    assert_equal(fitted.predict_proba(test), weka(learner, name))
    assert_equal(fitted.predict_proba(test.values[:, :-1]), weka(learner, name))


@each_set
def test_naive_bayes_of_bins_is_that_of_weka(name):
    train, test = split(binned(name))
    assert_equal(NaiveBayes().fit(train).predict_proba(test), weka("NBD", name))


@each_set
def test_naive_bayes_that_cuts_by_itself_is_that_of_weka(name):
    pytest.importorskip("simstudy.data.preparation.discretize")
    train, test = split(whole(name))
    fitted = NaiveBayes(numeric="discretize").fit(train)
    assert_equal(fitted.predict_proba(test), weka("NBD", name))
    assert_equal(fitted.predict_proba(test.values[:, :-1]), weka("NBD", name))


@each_set
def test_aode_is_that_of_weka(name):
    train, test = split(binned(name))
    fitted = AODE().fit(train)
    assert_equal(fitted.predict_proba(test), weka("AODE", name))
    assert_equal(fitted.predict_proba(test.attributes), weka("AODE", name))


def with_modes(sample: Sample, train: Sample) -> Sample:
    """The sample with missing values replaced by the first of the commonest training values."""
    values = sample.values.copy()
    for place in range(len(sample.cards) - 1):
        counts = train.counts(place)
        values[sample.codes[:, place] == MISSING, place] = counts.argmax()
    return Sample.of(values, sample.schema)


@each_set
def test_tan_of_rows_filled_with_modes_is_that_of_weka_given_the_tree(name):
    with gzip.open(REAL / "models.json.gz", "rt") as file:
        parents = json.load(file)[name]["TAN_parents"]
    train, test = split(binned(name))
    names = [variable.name for variable in train.schema.attributes]
    above = [[u for u in parents[attribute] if u != "class"] for attribute in names]
    tree = tuple(names.index(one[0]) if one else None for one in above)
    fitted = TAN(tree=tree).fit(with_modes(train, train))
    assert_equal(fitted.predict_proba(with_modes(test, train)), weka("TAN", name))
