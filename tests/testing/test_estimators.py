"""The checks of the contract of estimators and of tests of two learners catch what breaks it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from simstudy.data.splits.schemes import CrossValidation
from simstudy.estimators import Bench, Decision, Estimate, Estimator, Judge, LearnerTest
from simstudy.testing import (
    check_estimate,
    check_test,
)


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
