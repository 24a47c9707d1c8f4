"""The checks of the contract of measures catch what breaks it."""

import numpy as np
import pytest

from simstudy.arrays import FloatArray, IntArray
from simstudy.components.registry import MEASURES
from simstudy.measures.base import MeasureFunction, measure
from simstudy.measures.scores.losses import brier_score
from simstudy.testing import (
    check_measure,
)

BUILT_IN_MEASURES = sorted(MEASURES._builtin)


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
        (centred, "a row's value must not depend on the other rows; row 0 has .* by itself"),
        (of_the_first_row, "the order of the rows must not matter; the score is .* in another"),
        (
            not_partial,
            "a measure may only be partial if it breaks this rule: with greater_is_better=False",
        ),
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
