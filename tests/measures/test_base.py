"""What a measure carries, which keywords it declares, and how it is reduced to one number."""

import dataclasses
import inspect
import math

import numpy as np
import pytest

from simstudy.arrays import FloatArray, read_only
from simstudy.components.registry import MEASURES as REGISTRY
from simstudy.measures import calibration
from simstudy.measures.base import (
    MeasureInfo,
    has_exact_value,
    keywords,
    measure,
    score,
    shared,
    sharing,
)
from simstudy.measures.scores import errors, losses, rewards, truth

PROBA = np.array([[0.5, 0.5], [0.25, 0.75], [0.9, 0.1]])
Y = np.array([0, 1, 1])
PRIOR = np.array([0.5, 0.5])

MEASURES = {
    # name: (module, greater is better, logarithmic, unit, keywords)
    "information_reward": (rewards, True, True, "nats", {"prior", "base", "reward"}),
    "information_reward_2002_modal": (rewards, True, True, "", {"prior"}),
    "information_reward_2002": (rewards, True, True, "", {"prior"}),
    "good_reward": (rewards, True, True, "bits", set()),
    "kononenko_bratko": (rewards, True, True, "nats", {"prior", "base"}),
    "accuracy": (losses, True, False, "", set()),
    "log_loss": (losses, False, True, "nats", {"base"}),
    "brier_score": (losses, False, False, "", set()),
    "miscalibration": (calibration, False, False, "", set()),
    "kl_divergence": (truth, False, True, "nats", {"truth", "base"}),
    "mean_absolute_error": (errors, False, False, "", set()),
    "rmse": (errors, False, False, "", {"weights"}),
    "relative_absolute_error": (errors, False, False, "%", {"prior", "weights"}),
    "root_relative_squared_error": (errors, False, False, "%", {"prior", "weights"}),
    "kononenko_bratko_total": (errors, True, True, "bits", {"prior"}),
    "kononenko_bratko_relative": (errors, True, True, "%", {"prior", "weights"}),
    "class_complexity": (errors, False, True, "bits", set()),
    "complexity_improvement": (errors, True, True, "bits", {"prior"}),
    "calibration_loss": (calibration, False, False, "", {"weights"}),
    "refinement_loss": (calibration, False, False, "", {"weights"}),
    "expected_calibration_error": (calibration, False, False, "", {"weights"}),
    "overconfidence": (calibration, False, False, "", {"weights"}),
    "underconfidence": (calibration, False, False, "", {"weights"}),
}


@pytest.mark.parametrize("name", MEASURES)
def test_built_in_measure_carries_its_facts(name):
    module, greater_is_better, logarithmic, unit, declared = MEASURES[name]
    function = getattr(module, name)
    assert function.info.greater_is_better is greater_is_better
    assert function.info.logarithmic is logarithmic
    assert function.info.unit == unit
    assert function.info.label
    assert keywords(function) == declared
    assert (unit == "nats") == ("base" in declared)


@pytest.mark.parametrize("name", MEASURES)
def test_first_docstring_line_describes_the_measure(name):
    first, second, *_ = getattr(MEASURES[name][0], name).__doc__.splitlines()
    assert first.endswith(".")
    assert not second.strip()


def test_decorating_leaves_name_signature_and_values():
    def plain(proba, y):
        return 1.0

    decorated = measure(greater_is_better=False, logarithmic=True, label="x", unit="nats")(plain)
    assert decorated.__name__ == "plain"
    assert inspect.signature(decorated) == inspect.signature(plain)
    assert decorated(PROBA, Y) == 1.0
    assert decorated.info == MeasureInfo(False, True, "x", "nats")


def test_facts_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        losses.accuracy.info.greater_is_better = False


def test_keywords_are_those_named_in_the_signature_and_no_others():
    def named(proba, y, prior, *, weights, other=1):
        return 0.0

    def anything(proba, y, **kwargs):
        return 0.0

    assert keywords(named) == {"prior", "weights"}
    assert keywords(anything) == frozenset()


def test_score_passes_only_what_is_declared():
    seen = {}

    def nosy(proba, y, *, truth=None, base, **kwargs):
        seen.update(kwargs, truth=truth, base=base)
        return 0.0

    assert score(nosy, PROBA, Y, prior=PRIOR, truth=PROBA, base=2) == 0
    assert seen.keys() == {"truth", "base"}
    assert seen["truth"] is PROBA
    assert seen["base"] == 2


def test_score_passes_the_reward_to_measures_that_declare_it():
    mean = score(rewards.information_reward, PROBA, Y, prior=PRIOR)
    summed = score(rewards.information_reward, PROBA, Y, prior=PRIOR, reward="sum")
    assert summed == pytest.approx(2 * mean, rel=1e-12)
    other = score(rewards.kononenko_bratko, PROBA, Y, prior=PRIOR)
    assert score(rewards.kononenko_bratko, PROBA, Y, prior=PRIOR, reward="sum") == other


def test_score_leaves_a_default_alone_when_nothing_is_given():
    def defaulted(proba, y, weights="mine"):
        return 1.0 if weights == "mine" else 0.0

    assert score(defaulted, PROBA, Y) == 1


def test_score_of_a_row_measure_is_the_mean():
    # Right, right, wrong.
    assert score(losses.accuracy, PROBA, Y) == pytest.approx(2 / 3)
    value = score(rewards.information_reward, PROBA, Y, prior=PRIOR, base=2)
    # Two classes: log2(q_c/p_c) = 0, log2 1.5, log2 .2.
    assert value == pytest.approx((math.log2(1.5) + math.log2(0.2)) / 3)


def test_score_of_a_row_measure_with_weights_is_the_weighted_mean():
    # (3 * 1 + 1 * 1 + 1 * 0) / 5; only the proportions of the weights count.
    assert score(losses.accuracy, PROBA, Y, weights=np.array([3.0, 1.0, 1.0])) == pytest.approx(0.8)
    assert score(losses.accuracy, PROBA, Y, weights=np.array([0.6, 0.2, 0.2])) == pytest.approx(0.8)


def test_a_row_of_weight_zero_counts_as_absent_even_if_infinite():
    proba = np.array([[0.0, 1.0], [0.5, 0.5]])
    loss = score(losses.log_loss, proba, np.array([0, 0]), weights=np.array([0.0, 2.0]), base=2)
    assert loss == 1


def test_score_of_a_number_is_a_float():
    value = score(calibration.miscalibration, PROBA, Y)
    assert isinstance(value, float)
    assert value == calibration.miscalibration(PROBA, Y)


def test_score_lets_a_number_measure_use_weights_it_declares():
    def heaviest(proba, y, weights):
        return np.float64(weights.max())

    assert score(heaviest, PROBA, Y, weights=np.array([1.0, 2.0, 4.0])) == 4


def test_score_refuses_weights_a_number_measure_cannot_use():
    with pytest.raises(ValueError, match=r"'miscalibration' .* declares no 'weights'"):
        score(calibration.miscalibration, PROBA, Y, weights=np.ones(3))


def test_score_names_a_keyword_that_is_missing():
    with pytest.raises(ValueError, match="'information_reward' needs 'prior'"):
        score(rewards.information_reward, PROBA, Y)


@pytest.mark.parametrize(
    ("context", "complaint"),
    [
        ({"prior": np.ones(3) / 3}, r"'prior' of shape \(2,\), not \(3,\)"),
        ({"prior": PRIOR[:, None]}, r"'prior' of shape \(2,\), not \(2, 1\)"),
        ({"truth": PRIOR}, r"'truth' of shape \(3, 2\), not \(2,\)"),
        ({"weights": np.ones(2)}, r"'weights' of shape \(3,\), not \(2,\)"),
        ({"weights": np.zeros(3)}, "positive sum"),
        ({"weights": np.array([2.0, -1.0, 1.0])}, "at least 0"),
        ({"y": np.array([0, 1, 2])}, "true classes from 0 to 1, not 0 to 2"),
        ({"y": np.array([0, 1, -1])}, "true classes from 0 to 1, not -1 to 1"),
        ({"y": np.array([0, 1])}, r"'y' of shape \(3,\), not \(2,\)"),
        ({"proba": PROBA[:0], "y": Y[:0]}, "at least one row"),
    ],
)
def test_score_refuses_arrays_that_do_not_fit(context, complaint):
    with pytest.raises(ValueError, match=complaint):
        score(losses.accuracy, **{"proba": PROBA, "y": Y, **context})


def test_score_refuses_a_measure_of_the_wrong_shape():
    def table(proba, y):
        return proba

    with pytest.raises(ValueError, match=r"'table' returned shape \(3, 2\) for 3 rows"):
        score(table, PROBA, Y)


@pytest.mark.parametrize("name", sorted(REGISTRY._builtin))
def test_all_measures_can_be_called_alike(name):
    measured = REGISTRY.get(name)
    proba, y = np.array([[0.7, 0.3], [0.4, 0.6], [0.2, 0.8]]), np.array([0, 1, 1])
    context = {"prior": np.array([0.5, 0.5]), "truth": proba, "oracle": proba, "limit": proba}
    weights = np.ones(3) if has_exact_value(measured) else None
    plain = score(measured, proba, y, **context)
    assert np.mean(measured(proba, y, weights=weights, **context)) == pytest.approx(
        plain, nan_ok=True
    )


def test_a_measure_over_sets_that_takes_no_weights_refuses_them():
    with pytest.raises(ValueError, match="'precision_at' takes no weights of rows"):
        REGISTRY.get("precision_at")(np.array([[0.7, 0.3]]), np.array([0]), weights=np.ones(1))


def test_a_shared_part_is_computed_once_for_the_same_read_only_arrays() -> None:
    calls = []

    @shared
    def doubled(array: FloatArray, factor: float) -> FloatArray:
        calls.append(factor)
        return 2 * factor * array

    fixed, open_array = read_only(np.arange(3.0)), np.arange(3.0)
    doubled(fixed, 1.0)
    doubled(fixed, 1.0)
    assert len(calls) == 2  # nothing is kept outside of `sharing`
    with sharing():
        doubled(fixed, 1.0)[:] = -1.0  # a copy
        np.testing.assert_array_equal(doubled(fixed, 1.0), [0.0, 2.0, 4.0])
        assert len(calls) == 3
        np.testing.assert_array_equal(doubled(fixed, 2.0), [0.0, 4.0, 8.0])
        doubled(open_array, 1.0)
        open_array += 1
        np.testing.assert_array_equal(doubled(open_array, 1.0), [2.0, 4.0, 6.0])
    assert len(calls) == 6
