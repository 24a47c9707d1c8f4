"""Learners give the probabilities of Weka 3.6.14 (tests/golden/weka)."""

import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from simstudy.data.sample import Sample
from simstudy.learners.baselines import Prior
from simstudy.learners.bayes.aode import AODE
from simstudy.learners.bayes.lbr import LBR
from simstudy.learners.bayes.naive_bayes import NaiveBayes
from simstudy.learners.bayes.tan import TAN
from simstudy.learners.rules.one_attribute import DecisionStump, OneR
from simstudy.learners.trees.c45.boosting import BoostedC45
from simstudy.learners.trees.c45.learner import C45

WEKA = Path(__file__).parent.parent / "golden" / "weka"
SETS = [(f, m, n) for f in ("nb", "tan", "aode") for m in (0, 1, 2) for n in (50, 500, 5000)]
LEARNERS = {
    "NB": NaiveBayes(),
    "AODE": AODE(),
    "AODEm1": AODE(m=1),
    "ZeroR": Prior(alpha=1),
    "Stump": DecisionStump(),
    "OneR": OneR(),
    "J48": C45(),
    "J48UA": C45(prune=False, laplace=True),
    "BoostJ48": BoostedC45(),
    "LBR": LBR(),
}
TREES = {"TAN": "BAYES", "TANent": "ENTROPY"}
SEARCHES = {"TAN": "likelihood", "TANent": "cmi"}


class Reference(NamedTuple):
    sample: Sample
    test: np.ndarray
    probabilities: dict[str, np.ndarray]
    trees: dict[str, tuple[int | None, ...]]


@pytest.fixture(params=SETS, ids=lambda s: f"{s[0]}_{s[1]:02d}_{s[2]}")
def weka(request: pytest.FixtureRequest) -> Reference:
    family, model, rows = request.param
    with np.load(WEKA / f"{family}_{model:02d}.npz") as file:
        sample = Sample(file[f"train_{rows}"], file["cards"])
        answers = {learner: file[f"{learner}_{rows}"] for learner in (*LEARNERS, *TREES)}
        return Reference(sample, file["test"], answers, read_trees(family, model, rows))


def read_trees(family: str, model: int, rows: int) -> dict[str, tuple[int | None, ...]]:
    """Weka's trees of one training set, by learner."""
    with (WEKA / "trees.csv").open() as file:
        texts = {
            line["score"]: line["parents_per_node_class_last"]
            for line in csv.DictReader(file)
            if (line["family"], int(line["model"]), int(line["n"])) == (family, model, rows)
        }
    return {learner: parse_tree(texts[score]) for learner, score in TREES.items()}


def parse_tree(text: str) -> tuple[int | None, ...]:
    *attributes, target = text.split()
    assert target == "-"
    parents = [node.split("+") for node in attributes]
    return tuple(int(each[1]) if len(each) > 1 else None for each in parents)


def skeleton(tree: tuple[int | None, ...]) -> set[frozenset[int]]:
    return {frozenset((child, parent)) for child, parent in enumerate(tree) if parent is not None}


@pytest.mark.parametrize("name", LEARNERS)
def test_probabilities_are_those_of_weka(weka: Reference, name: str) -> None:
    proba = LEARNERS[name].fit(weka.sample).predict_proba(weka.test)
    np.testing.assert_allclose(proba, weka.probabilities[name], rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", TREES)
def test_tan_probabilities_are_those_of_weka_given_its_tree(weka: Reference, name: str) -> None:
    proba = TAN(tree=weka.trees[name]).fit(weka.sample).predict_proba(weka.test)
    np.testing.assert_allclose(proba, weka.probabilities[name], rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", TREES)
def test_tan_finds_the_skeleton_of_weka(weka: Reference, name: str) -> None:
    fitted = TAN(search=SEARCHES[name]).fit(weka.sample)
    assert skeleton(fitted.tree) == skeleton(weka.trees[name])
