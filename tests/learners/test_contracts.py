"""Learners keep the published contract with other than their default parameters."""

import numpy as np
import pytest

from simstudy.data.sample import Sample
from simstudy.learners.base import Learner
from simstudy.learners.baselines import Prior
from simstudy.learners.bayes.aode import AODE
from simstudy.learners.bayes.naive_bayes import NaiveBayes
from simstudy.learners.bayes.tan import TAN
from simstudy.learners.networks.camml.learner import CaMML
from simstudy.testing import check_learner

LEARNERS = [
    Prior(),
    Prior(alpha=1),
    NaiveBayes(),
    NaiveBayes(alpha=0.01),
    AODE(),
    AODE(m=1),
    AODE(min_frequency=30),
    AODE(min_frequency=0),
    TAN(),
    TAN(search="likelihood"),
    TAN(alpha=1e-6),
]


@pytest.mark.parametrize("learner", [one for one in LEARNERS if one != type(one)()], ids=repr)
def test_learners_keep_their_contract(learner: Learner) -> None:
    check_learner(learner)


def test_superparent_keeps_its_contract_but_breaks_ties_by_the_order_of_attributes() -> None:
    check_learner(TAN(search="superparent"), permutation=False)


# Each with the most attributes that it is quick with.
CAMML = [
    (CaMML(select="mmlec", search="exact"), 7),
    (CaMML(select="map", search="exact"), 10),
    (CaMML(select="mmlec", search="sample"), 15),
    (CaMML(), 11),
]
SLOW_CAMML = [
    (CaMML(select="average", search="exact"), 8),
    (CaMML(select="sec", search="exact"), 8),
    (CaMML(search="exact", arithmetic="program"), 6),
    (CaMML(select="sec_average", search="exact"), 6),
    (CaMML(select="map", search="sample"), 6),
    (CaMML(select="sec", search="sample"), 6),
    (CaMML(select="average", search="sample"), 4),
    (CaMML(select="sec_average", search="sample"), 4),
]


@pytest.mark.parametrize(
    ("learner", "attributes"),
    [*CAMML[:-1], *(pytest.param(*each, marks=pytest.mark.slow) for each in SLOW_CAMML)],
    ids=repr,
)
def test_camml_keeps_its_contract_but_cleans_in_the_order_of_attributes(
    learner: CaMML, attributes: int
) -> None:
    # Which arcs go when DAGs are cleaned may hang on the order of the variables; the sampler's
    # moves do in any case.
    check_learner(learner, max_attributes=attributes, permutation=False)


@pytest.mark.parametrize("select", ["average", "map"])
def test_what_needs_no_cleaning_does_not_depend_on_the_order_of_attributes(select: str) -> None:
    check_learner(CaMML(select=select, search="exact"), max_attributes=6)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "learner",
    # The exact average is a matrix product, whose last bit may depend on its shape.
    [
        *LEARNERS,
        TAN(search="superparent"),
        *(c for c, _ in CAMML + SLOW_CAMML if c != CaMML("average", "exact")),
    ],
    ids=repr,
)
def test_answers_are_the_same_to_the_last_bit_whatever_the_batch(learner: Learner) -> None:
    rng = np.random.default_rng(12)
    cards = (2, 3, 4, 5, 2, 3, 4)
    sample = Sample(rng.integers(0, cards, size=(150, 7)), cards)
    codes = rng.integers(0, cards[:-1], size=(333, 6))
    fitted = learner.fit(sample)
    whole = fitted.predict_proba(codes)
    for size in (1, 7, 100):
        parts = [fitted.predict_proba(codes[i : i + size]) for i in range(0, 333, size)]
        np.testing.assert_array_equal(np.concatenate(parts), whole)
    np.testing.assert_array_equal(fitted.predict_proba(np.asfortranarray(codes)), whole)
    np.testing.assert_array_equal(fitted.predict_proba(codes.astype(np.int8)), whole)
