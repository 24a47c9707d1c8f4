"""The checks of the contract of learners catch what breaks it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.sample import Sample
from simstudy.learners.base import Learner
from simstudy.learners.bayes.naive_bayes import FittedNaiveBayes, NaiveBayes
from simstudy.testing import (
    check_learner,
)


class Answers:
    """A fitted Naive Bayes whose answers somebody else changes."""

    def __init__(self, inner: FittedNaiveBayes) -> None:
        self.inner = inner

    def predict_proba(self, codes: IntArray) -> FloatArray:
        return self.inner.predict_proba(codes)


@dataclass(frozen=True)
class Plain(Learner):
    """The right way: what the broken ones below change."""

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> Answers:
        return Answers(NaiveBayes().fit(sample))


@dataclass(frozen=True)
class DropsAbsentClasses(Plain):
    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> Answers:
        present = np.flatnonzero(sample.class_counts)
        target = np.searchsorted(present, sample.target)
        codes = np.column_stack([sample.attributes, target])
        return super().fit(Sample(codes, (*sample.cards[:-1], len(present)), sample.weights))


@dataclass(frozen=True)
class SortsTheRows(Plain):
    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> Answers:
        sample.codes.sort(axis=0)
        return super().fit(sample)


@dataclass(frozen=True)
class SmoothsInPlace(Plain):
    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> Answers:
        np.add(sample.slot_counts, 1.0, out=sample.slot_counts)
        return super().fit(sample)


@dataclass(frozen=True)
class NeedsManyRows(Plain):
    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> Answers:
        if len(sample) < 2:
            raise ValueError("too few rows")
        return super().fit(sample)


@dataclass(frozen=True)
class ForgetsWeights(Plain):
    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> Answers:
        return super().fit(Sample(sample.codes, sample.cards))


@dataclass(frozen=True)
class CountsWeightOnce(Plain):
    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> Answers:
        present = None if sample.weights is None else sample.weights > 0
        return super().fit(Sample(sample.codes, sample.cards, present))


@dataclass(frozen=True)
class LooksAtTheFirstAttribute(Plain):
    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> Any:
        return OnlyFirst(
            NaiveBayes().fit(
                Sample(sample.codes[:, [0, -1]], (sample.cards[0], sample.classes), sample.weights)
            )
        )


class OnlyFirst(Answers):
    def predict_proba(self, codes: IntArray) -> FloatArray:
        return self.inner.predict_proba(codes[:, :1])


@dataclass(frozen=True)
class DrawsItsOwnNumbers(Plain):
    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> Answers:
        rows = np.random.default_rng().integers(0, len(sample), size=len(sample))
        weights = None if sample.weights is None else sample.weights[rows]
        return super().fit(Sample(sample.codes[rows], sample.cards, weights))


class Batch(Answers):
    def predict_proba(self, codes: IntArray) -> FloatArray:
        proba = super().predict_proba(codes)
        mixed = (proba + proba.mean(axis=0)) / 2 if len(proba) else proba
        return mixed


class Cumulative(Answers):
    """Each row's answer is mixed with that of the row before it."""

    def predict_proba(self, codes: IntArray) -> FloatArray:
        proba = super().predict_proba(codes)
        return (proba + np.roll(proba, 1, axis=0)) / 2


class Unscaled(Answers):
    def predict_proba(self, codes: IntArray) -> FloatArray:
        return 2 * super().predict_proba(codes)


class Undefined(Answers):
    def predict_proba(self, codes: IntArray) -> FloatArray:
        return super().predict_proba(codes) * np.nan


class Negative(Answers):
    def predict_proba(self, codes: IntArray) -> FloatArray:
        proba = super().predict_proba(codes)
        return 3 * proba - 2 / proba.shape[1]


class NeedsRows(Answers):
    def predict_proba(self, codes: IntArray) -> FloatArray:
        return np.array([super(NeedsRows, self).predict_proba(row[None])[0] for row in codes])


class ChangesCodes(Answers):
    def predict_proba(self, codes: IntArray) -> FloatArray:
        proba = super().predict_proba(codes)
        codes[:] = 0
        return proba


class OtherJoint(Answers):
    def log_joint(self, codes: IntArray) -> FloatArray:
        return 2 * self.inner.log_joint(codes)


class HoldsALambda(Answers):
    def __init__(self, inner: FittedNaiveBayes) -> None:
        super().__init__(inner)
        self.helper = lambda: None


class LosesItsFit(Answers):
    def __setstate__(self, state: dict[str, Any]) -> None:
        cards = state["inner"].cards
        self.inner = NaiveBayes().fit(Sample(np.empty((0, len(cards)), dtype=np.intp), cards))


@dataclass(frozen=True)
class LearnerOf(Learner):
    """Naive Bayes whose fitted half is of another kind."""

    kind: type[Answers] = Answers

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> Answers:
        return self.kind(NaiveBayes().fit(sample))


@dataclass(frozen=True)
class FitsLocally(Plain):
    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> Answers:
        class Local(Answers):
            pass

        return Local(NaiveBayes().fit(sample))


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (
            DropsAbsentClasses(),
            r"DropsAbsentClasses: predict_proba must return one distribution over all classes for "
            r"each row; after a sample without class 1 its shape is \(30, 2\), not \(30, 3\)",
        ),
        (SortsTheRows(), "an ordinary sample; it raised ValueError: sort array is read-only"),
        (SmoothsInPlace(), "an ordinary sample; it raised ValueError: output array is read"),
        (NeedsManyRows(), "must handle a sample of one row; it raised ValueError: too few"),
        (ForgetsWeights(), "a row of weight 0 must be ignored; .* by"),
        (CountsWeightOnce(), "a row of weight w must count as w rows; .* by"),
        (LooksAtTheFirstAttribute(), "the order of the attributes must not matter; another order"),
        (DrawsItsOwnNumbers(), "the same stream must give the same fit; two fits to an ordinary"),
        (LearnerOf(Batch), "must not depend on the other rows .* each row alone"),
        (LearnerOf(Cumulative), "must not depend on the other rows .* reversing the rows"),
        (LearnerOf(Unscaled), "one distribution .* the sum of a row differs from 1 by 1"),
        (LearnerOf(Undefined), "one distribution .* some probabilities are not finite"),
        (LearnerOf(Negative), "one distribution .* the smallest probability is -"),
        (LearnerOf(NeedsRows), r"with zero rows its shape is \(0,\), not \(0, 3\)"),
        (LearnerOf(ChangesCodes), "must not modify its input; the codes were changed"),
        (LearnerOf(OtherJoint), "log_joint, normalised, must give predict_proba; .* differ by"),
        (LearnerOf(HoldsALambda), "a fitted learner must pickle .*; it raised"),
        (LearnerOf(LosesItsFit), "must pickle .*; the copy's predictions differ by up to"),
        (NaiveBayes, "it must be a frozen dataclass"),
    ],
    ids=lambda value: getattr(value, "kind", type(value)).__name__,
)
def test_a_learner_that_breaks_its_contract_is_named_with_the_reason(
    learner: Any, words: str
) -> None:
    with pytest.raises(AssertionError, match=words):
        check_learner(learner)


def test_a_learner_that_only_predicts_keeps_the_contract() -> None:
    check_learner(Plain())
    check_learner(LearnerOf(Answers), max_attributes=1)


def test_points_of_the_contract_can_be_waived() -> None:
    check_learner(LooksAtTheFirstAttribute(), permutation=False)
    check_learner(ForgetsWeights(), weights=False)


def test_a_fitted_object_whose_class_cannot_be_imported_need_not_pickle() -> None:
    check_learner(FitsLocally())
