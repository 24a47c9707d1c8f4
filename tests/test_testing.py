"""The checks of the published contracts catch what breaks them."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.resampling import CrossValidation
from simstudy.data.sample import Sample
from simstudy.estimators import Bench, Decision, Estimate, Estimator, Judge, LearnerTest
from simstudy.learners.base import Learner
from simstudy.learners.naive_bayes import FittedNaiveBayes, NaiveBayes
from simstudy.measures.base import MeasureFunction, measure
from simstudy.measures.losses import brier_score
from simstudy.networks.model import Component, Model
from simstudy.sources.base import Family, attribute_parents
from simstudy.sources.naive_bayes import NaiveBayesFamily
from simstudy.study.registry import MEASURES
from simstudy.testing import (
    check_estimate,
    check_family,
    check_learner,
    check_measure,
    check_test,
)

BUILT_IN_MEASURES = sorted(MEASURES._builtin)


# Families that break their contract


@dataclass(frozen=True)
class NoModel(NaiveBayesFamily):
    def draw(self, rng: np.random.Generator) -> Any:
        return super().draw(rng).joint()


@dataclass(frozen=True)
class Crashing(NaiveBayesFamily):
    def draw(self, rng: np.random.Generator) -> Model:
        raise KeyError("lost")


class ColumnWise(Model):
    """Draws variable by variable, so rows depend on how many there are."""

    def sample(self, n: int, rng: np.random.Generator) -> Sample:
        uniform = rng.random((len(self.cards), n)).T
        return super().sample(n, FromUniform(uniform))  # type: ignore[arg-type]


class FromUniform:
    def __init__(self, uniform: FloatArray) -> None:
        self.uniform = uniform

    def random(self, shape: tuple[int, int]) -> FloatArray:
        return self.uniform


class Unconditional(Model):
    """Draws every variable from the first row of its table."""

    def sample(self, n: int, rng: np.random.Generator) -> Sample:
        tables = [cpt.reshape(-1, cpt.shape[-1])[0] for cpt in self.components[0].cpts]
        uniform = rng.random((n, len(tables)))
        bounds = [np.cumsum(table)[:-1] for table in tables]
        codes = [(uniform[:, [v]] >= b).sum(axis=1) for v, b in enumerate(bounds)]
        return Sample(np.stack(codes, axis=1), self.cards)


class Overconfident(Model):
    def posterior(self, codes: IntArray) -> FloatArray:
        squared = super().posterior(codes) ** 2
        return squared / squared.sum(axis=1, keepdims=True)


class Unnormalised(Model):
    def posterior(self, codes: IntArray) -> FloatArray:
        return np.exp(self.log_joint(codes))


class HalfJoint(Model):
    def joint(self) -> FloatArray:
        return super().joint() / 2


@dataclass(frozen=True)
class FamilyOf(NaiveBayesFamily):
    """Naive Bayes models turned into another kind of model."""

    kind: type[Model] = Model

    def draw(self, rng: np.random.Generator) -> Model:
        model = super().draw(rng)
        return self.kind(model.cards, model.components)


@dataclass(frozen=True)
class IgnoresTheStream(NaiveBayesFamily):
    def draw(self, rng: np.random.Generator) -> Model:
        return super().draw(np.random.default_rng())


@dataclass(frozen=True)
class AlwaysTheSame(NaiveBayesFamily):
    def draw(self, rng: np.random.Generator) -> Model:
        return super().draw(np.random.default_rng(1))


@dataclass(frozen=True)
class TooManyValues(Family):
    def draw(self, rng: np.random.Generator) -> Model:
        return self.draw_model(rng, (2, 9, 2, 3), attribute_parents([[], [], []]))


@dataclass(frozen=True)
class TooFewVariables(Family):
    def draw(self, rng: np.random.Generator) -> Model:
        return self.draw_model(rng, (2, 3), attribute_parents([[]]))


@dataclass(frozen=True)
class OneClass(Family):
    def draw(self, rng: np.random.Generator) -> Model:
        cpts = (rng.dirichlet(np.ones(2)), np.ones(1))
        return Model((2, 1), [Component(1.0, ((), ()), cpts)])


@dataclass
class Changeable:
    def draw(self, rng: np.random.Generator) -> Model:
        return NaiveBayesFamily().draw(rng)


@dataclass(frozen=True)
class Unpicklable(NaiveBayesFamily):
    helper: Any = field(default_factory=lambda: lambda: None)


@dataclass(frozen=True)
class Forgetful(NaiveBayesFamily):
    note: str = "kept"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "note": "lost"}


@pytest.mark.parametrize(
    ("family", "words"),
    [
        (NoModel(), r"NoModel: draw\(rng\) must return a Model; it returned a ndarray"),
        (Crashing(), r"draw\(rng\) must return a Model; it raised KeyError: 'lost'"),
        (FamilyOf(kind=ColumnWise), "a long sample must start .*; .* of the first 50 rows"),
        (FamilyOf(kind=Unconditional), r"frequencies must agree with joint\(\); chi-square is"),
        (FamilyOf(kind=Overconfident), r"posterior must agree with joint\(\); they differ by up"),
        (FamilyOf(kind=Unnormalised), "posterior must return one distribution .* sum is off one"),
        (FamilyOf(kind=HalfJoint), r"joint\(\) must give .*; its shape is .* its sum .*0?\.5"),
        (IgnoresTheStream(), "the same stream must draw the same model"),
        (AlwaysTheSame(), "different streams must draw different models; 20 streams drew 1 "),
        (TooManyValues(), r"must stay within values = \(2, 5\); one has .* \(2, 9, 2, 3\) values"),
        (TooFewVariables(), r"must stay within variables = \(4, 8\); one has 2 variables"),
        (OneClass(), r"a target of at least two values; its variables have \(2, 1\) values"),
        (Changeable(), "Changeable: it must be a frozen dataclass"),
        (NaiveBayesFamily, "it must be a frozen dataclass instance; it is <class"),
        (Unpicklable(), "it must pickle; it raised"),
        (Forgetful(), "it must equal its pickled copy; .*note='kept'.* became .*note='lost'"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_family_that_breaks_its_contract_is_named_with_the_reason(
    family: Any, words: str
) -> None:
    with pytest.raises(AssertionError, match=words):
        check_family(family)


# Learners that break their contract


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
        (LearnerOf(Unscaled), "one distribution .* a row's sum is off one by 1"),
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


# Measures that break their contract


def test_a_measure_of_one_kind_of_error_says_so_and_no_other_does() -> None:
    partial = [name for name in BUILT_IN_MEASURES if MEASURES.get(name).info.partial]
    assert partial == ["underconfidence"]


@measure(greater_is_better=False, partial=True)
def not_partial(proba: FloatArray, y: IntArray) -> FloatArray:
    return brier_score(proba, y)


def bare(proba: FloatArray, y: IntArray) -> FloatArray:
    return brier_score(proba, y)


@measure(greater_is_better=False)
def changes_proba(proba: FloatArray, y: IntArray) -> FloatArray:
    proba[np.arange(len(y)), y] -= 1
    return np.square(proba).sum(axis=1)


@measure(greater_is_better=True)
def changes_prior(proba: FloatArray, y: IntArray, prior: FloatArray) -> FloatArray:
    prior /= 2
    return proba[np.arange(len(y)), y] - prior[y]


@measure(greater_is_better=True)
def centred(proba: FloatArray, y: IntArray) -> FloatArray:
    right = proba[np.arange(len(y)), y]
    return right - right.mean()


@measure(greater_is_better=True)
def of_the_first_row(proba: FloatArray, y: IntArray) -> float:
    return float(proba[0, y[0]])


@measure(greater_is_better=True)
def misdirected(proba: FloatArray, y: IntArray) -> FloatArray:
    return brier_score(proba, y)


@measure(greater_is_better=False, logarithmic=True)
def divided_by_nothing(proba: FloatArray, y: IntArray) -> FloatArray:
    return np.where(proba[:, 0] > 0.5, np.inf, proba[:, 0])


@measure(greater_is_better=True)
def whole_table(proba: FloatArray, y: IntArray) -> FloatArray:
    return proba


@measure(greater_is_better=True)
def crashing(proba: FloatArray, y: IntArray, truth: FloatArray) -> float:
    raise RuntimeError("no luck")


@measure(greater_is_better=False, logarithmic=True, unit="nats")
def deaf_to_base(proba: FloatArray, y: IntArray, base: float = np.e) -> FloatArray:
    return -np.log(proba[np.arange(len(y)), y])


@measure(greater_is_better=False, logarithmic=True)
def without_unit(proba: FloatArray, y: IntArray, base: float = np.e) -> FloatArray:
    return -np.log(proba[np.arange(len(y)), y]) / np.log(base)


@measure(greater_is_better=True)
def deaf_to_weights(proba: FloatArray, y: IntArray, weights: FloatArray | None = None) -> float:
    return float(proba[np.arange(len(y)), y].mean())


@measure(greater_is_better=True)
def lost_without_weights(proba: FloatArray, y: IntArray, weights: FloatArray) -> float:
    return float(np.average(proba[np.arange(len(y)), y], weights=weights))


@measure(greater_is_better=True)
def changes_weights(proba: FloatArray, y: IntArray, weights: FloatArray | None = None) -> float:
    if weights is not None:
        weights /= weights.sum()
    return float(np.average(proba[np.arange(len(y)), y], weights=weights))


@measure(greater_is_better=True)
def median_of_the_right(proba: FloatArray, y: IntArray) -> float:
    return float(np.median(proba[np.arange(len(y)), y]))


@measure(greater_is_better=True)
def weighted_mean(proba: FloatArray, y: IntArray, weights: FloatArray | None = None) -> float:
    return float(np.average(proba[np.arange(len(y)), y], weights=weights))


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (bare, "bare: a measure must carry a MeasureInfo as .info, .*; its .info is None"),
        (changes_proba, "must not modify its inputs; proba was changed"),
        (changes_prior, "must not modify its inputs; prior was changed"),
        (centred, "a row's value must not depend on the other rows; row 0 has .* alone"),
        (of_the_first_row, "the order of the rows must not matter; the score is .* in another"),
        (not_partial, "a measure is only partial if not so: with greater_is_better=False"),
        (misdirected, "with greater_is_better=True a confidently right learner must not score"),
        (divided_by_nothing, "a measure must be finite where .*; .* of its values are not"),
        (whole_table, r"one value per row or one number; it returned shape \(60, 2\) for 60 rows"),
        (crashing, "must accept probabilities .*; it raised RuntimeError: no luck"),
        (deaf_to_base, "another base must only change the unit; the score is .* nats and .* bits"),
        (without_unit, "a measure that declares base has the unit nats; its unit is ''"),
        (lost_without_weights, "with or without weights; it raised TypeError: .*'weights'"),
        (changes_weights, "must not modify its inputs; weights was changed"),
        (deaf_to_weights, "a row of weight w must count as w rows; the score is"),
    ],
)
def test_a_measure_that_breaks_its_contract_is_named_with_the_reason(
    function: MeasureFunction, words: str
) -> None:
    with pytest.raises(AssertionError, match=words):
        check_measure(function)


@pytest.mark.parametrize("function", [median_of_the_right, weighted_mean])
def test_a_measure_of_all_rows_together_keeps_the_contract(function: MeasureFunction) -> None:
    check_measure(function)


# Estimators and tests of two learners that break their contract


@dataclass(frozen=True)
class EstimatorOf(Estimator):
    """Cross-validation, and what becomes of its value."""

    made: Any

    def estimate(self, bench: Bench, judge: Judge, confidence: float = 0.95) -> Estimate:
        (outcomes,) = bench.repeats(CrossValidation(3))
        return self.made(judge.pooled(outcomes), bench, confidence)


def plain_estimate(value: float, bench: Bench, confidence: float) -> Estimate:
    half = confidence / 10
    return Estimate(value, {"rows": (value - half, value + half)}, "rows")


def bare_number(value: float, bench: Bench, confidence: float) -> Any:
    return value


def random_estimate(value: float, bench: Bench, confidence: float) -> Estimate:
    return Estimate(value + np.random.default_rng().random())


def writing_estimate(value: float, bench: Bench, confidence: float) -> Estimate:
    bench.whole().answers[0] = 0
    return Estimate(value)


def crashing_estimate(value: float, bench: Bench, confidence: float) -> Estimate:
    return Estimate([value][len(bench)])


def no_estimate(value: float, bench: Bench, confidence: float) -> Estimate:
    return Estimate(float("nan"))


def error_rate_of(value: float, bench: Bench, confidence: float) -> Estimate:
    return Estimate(1 - value)


def odd_interval(value: float, bench: Bench, confidence: float) -> Estimate:
    return Estimate(value, {"mine": (0.0, 1.0)}, "mine")


def turned_interval(value: float, bench: Bench, confidence: float) -> Estimate:
    return Estimate(value, {"rows": (1.0, 0.0)}, "rows")


def interval_of_alpha(value: float, bench: Bench, confidence: float) -> Estimate:
    return plain_estimate(value, bench, 1 - confidence)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (bare_number, "must return an Estimate; it returned a float"),
        (
            random_estimate,
            "the same bench must give the same .* with accuracy on 60 rows",
        ),
        (writing_estimate, "must return an Estimate; .* read-only"),
        (crashing_estimate, "or raise a ValueError; .* it raised IndexError"),
        (no_estimate, "60 rows of three classes must have a finite estimate; it is nan"),
        (error_rate_of, "right in every row must have an accuracy of 1; its estimate is 0"),
        (odd_interval, "intervals must be among rows, .* it has 'mine'"),
        (turned_interval, "the lower end comes first; .* rows is 1.0, 0.0"),
        (interval_of_alpha, "an interval of greater confidence must contain one of smaller"),
    ],
)
def test_an_estimator_that_breaks_its_contract_is_named_with_the_reason(
    made: Any, words: str
) -> None:
    with pytest.raises(AssertionError, match=f"EstimatorOf: .*{words}"):
        check_estimate(EstimatorOf(made))


def plain_decision(gap: float) -> Decision:
    return Decision(float(np.exp(-10 * abs(gap))), gap)


# What is decided from a difference, and what is wrong with it.
DECISIONS: dict[str, tuple[Any, str]] = {
    "plain": (plain_decision, ""),
    "tuple": (lambda gap: (0.5, gap), "must return a Decision; it returned a tuple"),
    "wild": (lambda gap: Decision(2.0, gap), "p must be between 0 and 1, or NaN; .* is 2.0"),
    "random": (lambda gap: Decision(np.random.default_rng().random(), gap), "the same decision"),
    "one-sided": (lambda gap: Decision(float(gap > 0), gap), "order .* must only change the sign"),
    "undecided": (lambda gap: Decision(float("nan"), gap), "60 rows .* must have a p"),
    "eager": (lambda gap: Decision(0.01, gap), "a learner must not differ from itself"),
    "blind": (lambda gap: Decision(1.0, gap), "right in most rows must differ from one that is"),
    "turned": (lambda gap: plain_decision(-gap), "right in most rows must differ from one that is"),
    "crashing": (lambda gap: [][0], "or raise a ValueError; .* it raised IndexError"),
}


@dataclass(frozen=True)
class ContestOf(LearnerTest):
    """A decision from the difference in the values on all rows."""

    made: str

    def test(self, first: Bench, second: Bench, judge: Judge) -> Decision:
        return DECISIONS[self.made][0](judge.value(first.whole()) - judge.value(second.whole()))


@pytest.mark.parametrize("name", [*DECISIONS][1:])
def test_a_test_that_breaks_its_contract_is_named_with_the_reason(name: str) -> None:
    with pytest.raises(AssertionError, match=f"ContestOf: .*{DECISIONS[name][1]}"):
        check_test(ContestOf(name))


def test_estimators_and_tests_that_keep_the_contract_pass() -> None:
    check_estimate(EstimatorOf(plain_estimate))
    check_test(ContestOf("plain"))
