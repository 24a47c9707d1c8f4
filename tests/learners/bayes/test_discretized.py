"""Naive Bayes on cut numbers is Naive Bayes of the bins."""

import numpy as np
import pytest

from simstudy.data.preparation.prepare import Preparation
from simstudy.data.sample import Sample
from simstudy.data.schema import Schema, Variable
from simstudy.learners import TAN, DiscretizedNaiveBayes, NaiveBayes

SCHEMA = Schema((Variable("x"), Variable("colour", ("r", "g")), Variable("class", ("a", "b"))))


def rows(number: int) -> Sample:
    rng = np.random.default_rng(4)
    kind = rng.integers(0, 2, number)
    x = np.where(rng.random(number) < 0.1, np.nan, rng.normal(3 * kind, 1.0))
    return Sample.of(np.column_stack([x, rng.integers(0, 2, number), kind]), SCHEMA)


def test_it_is_naive_bayes_of_the_rows_as_prepared_for_its_rivals() -> None:
    train, test = rows(120), rows(40)
    assert DiscretizedNaiveBayes.accepts == TAN.accepts
    prepared = Preparation().fit(train, DiscretizedNaiveBayes.accepts)
    expected = NaiveBayes(alpha=0.5).fit(prepared.train).predict_proba(prepared(test))
    proba = DiscretizedNaiveBayes(alpha=0.5).fit(prepared.train).predict_proba(prepared(test))
    np.testing.assert_array_equal(proba, expected)
    # by default the bins are those that NaiveBayes would cut itself
    cut = NaiveBayes(alpha=0.5, numeric="discretize").fit(train).predict_proba(test)
    np.testing.assert_allclose(proba, cut, rtol=0, atol=1e-12)


def test_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="takes only nominal attributes, and 'x' is numeric"):
        DiscretizedNaiveBayes().fit(rows(10))
