"""What holds of all measures of decisions, costs and ranking: weights, edge cases, speed."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simstudy.components.registry import MEASURES
from simstudy.measures.base import Undefined, has_exact_value, keywords, score

NAMES = [
    *("error_rate", "kappa", "precision", "recall", "f_score", "balanced_accuracy", "matthews"),
    *(
        "false_positive_rate",
        "sensitivity_specificity",
        "cost",
        "average_cost",
        "auc",
        "average_precision",
    ),
    *("interpolated_precision", "precision_at", "recall_at", "lift", "h_measure", "sar"),
]
BY_CLASS = ("precision", "recall", "false_positive_rate", "f_score")
VARIANTS = [
    *((name, {}) for name in NAMES),
    *((name, {"average": "macro"}) for name in BY_CLASS),
    *((name, {"average": "weighted"}) for name in BY_CLASS),
    *((name, {"average": "hand_till"}) for name in ("auc", "sar")),
    *((name, {"average": "weighted"}) for name in ("auc", "sar")),
    ("interpolated_precision", {"points": 3}),
    ("lift", {"share": 0.37}),
    ("average_cost", {"low": 0.2, "high": 0.3}),
]
WITHOUT_WEIGHTS = {"precision_at", "recall_at"}
each = pytest.mark.parametrize(
    ("name", "parameters"), VARIANTS, ids=[f"{name} {options}" for name, options in VARIANTS]
)
seeds = st.integers(0, 2**32 - 1)


def draw(seed, classes, n=40):
    """Random predictions, with ties for some seeds, and classes of which each occurs."""
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.ones(classes), n)
    y = np.array([rng.choice(classes, p=row) for row in truth])
    y[:classes] = np.arange(classes)
    proba = rng.dirichlet(np.ones(classes), n) / 2 + truth / 2
    return np.round(proba, seed % 3) if seed % 3 else proba, y


def weighed(name):
    return has_exact_value(MEASURES.get(name))


def test_only_counts_of_rows_have_no_exact_value():
    assert {name for name in NAMES if not weighed(name)} == WITHOUT_WEIGHTS


@each
@given(seed=seeds)
def test_a_row_of_weight_w_counts_as_w_rows_and_the_sum_of_weights_is_free(name, parameters, seed):
    if name in WITHOUT_WEIGHTS:
        return
    measure, classes = MEASURES.get(name), 2 + seed % 3
    proba, y = draw(seed, classes)
    weights = np.random.default_rng(seed + 1).integers(0, 4, len(y)).astype(float)
    weights[:classes] += 1
    rows = np.repeat(np.arange(len(y)), weights.astype(int))
    expected = score(measure, proba[rows], y[rows], **parameters)
    for scale in (1.0, 1 / weights.sum(), 1e6):
        found = score(measure, proba, y, weights=scale * weights, **parameters)
        assert found == pytest.approx(expected, abs=1e-9)


@each
@given(seed=seeds)
def test_the_order_of_rows_does_not_matter_and_inputs_are_left_alone(name, parameters, seed):
    measure = MEASURES.get(name)
    proba, y = draw(seed, 2 + seed % 3)
    before = proba.copy(), y.copy()
    order = np.random.default_rng(seed).permutation(len(y))
    found = score(measure, proba, y, **parameters)
    assert score(measure, proba[order], y[order], **parameters) == pytest.approx(found, abs=1e-12)
    np.testing.assert_array_equal(proba, before[0])
    np.testing.assert_array_equal(y, before[1])


@each
def test_the_value_of_a_population_is_near_that_of_a_large_sample(name, parameters):
    if name in WITHOUT_WEIGHTS:
        return
    rng = np.random.default_rng(5)
    k, configurations = 3, 60
    truth = rng.dirichlet(np.ones(k), configurations)
    joint = rng.dirichlet(np.ones(configurations))[:, None] * truth
    proba = np.repeat(0.7 * truth + 0.3 * rng.dirichlet(np.ones(k), configurations), k, axis=0)
    y, weights = np.tile(np.arange(k), configurations), joint.ravel()
    rarer = int(joint.sum(axis=0).argmin())
    measure = MEASURES.get(name)
    exact = score(measure, proba, y, weights=weights, rarer=rarer, **parameters)
    n = 200_000
    counts = rng.multinomial(n, weights).astype(float)
    sampled = score(measure, proba, y, weights=counts, rarer=rarer, **parameters)
    assert sampled == pytest.approx(exact, abs=20 / math.sqrt(n), rel=0.01)


def edge_cases():
    """Predictions and classes that measures may find difficult."""
    rng = np.random.default_rng(2)
    for k in (2, 3, 26):
        uniform, y = np.full((12, k), 1 / k), np.arange(12) % k
        proba = rng.dirichlet(np.ones(k), 12)
        yield f"constant probabilities, {k} classes", uniform, y
        yield f"zero probabilities, {k} classes", np.eye(k)[rng.integers(0, k, 12)], y
        yield f"nothing but zeros, {k} classes", np.zeros((12, k)), y
        yield f"one row, {k} classes", proba[:1], y[:1]
        yield f"one class of {k}", proba, np.zeros(12, dtype=int)
        yield f"without class 0 of {k}", proba, np.maximum(y, 1)
        yield f"without the last of {k} classes", proba, np.minimum(y, max(k - 2, 0))
        yield f"always right, {k} classes", np.eye(k)[y], y
        yield f"always wrong, {k} classes", np.eye(k)[(y + 1) % k], y


@each
def test_edge_cases_have_a_value_or_a_reason_and_no_warning(name, parameters):
    measure = MEASURES.get(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for situation, proba, y in edge_cases():
            k = proba.shape[1]
            for weights in (None, np.ones(len(y)), np.eye(len(y))[0]):
                if weights is not None and name in WITHOUT_WEIGHTS:
                    continue
                for positive in (None, 0, k - 1):
                    given_class = {} if positive is None else {"rarer": positive}
                    value = score(measure, proba, y, weights=weights, **given_class, **parameters)
                    if math.isnan(value):
                        assert isinstance(value, Undefined), situation
                        assert value.reason, situation
                    else:
                        assert -1 - 1e-12 <= value <= 10 + 1e-9, situation


@pytest.mark.parametrize(
    "name", [name for name in NAMES if "rarer" in keywords(MEASURES.get(name))]
)
def test_a_positive_class_that_does_not_exist_is_refused_in_a_sentence(name):
    proba, y = draw(1, 3)
    for wrong in (3, -1, 1.0, True):
        with pytest.raises(ValueError, match=r"^positive = .* is not allowed; it must be a class"):
            MEASURES.get(name)(proba, y, positive=wrong)


@pytest.mark.parametrize(
    "name", [name for name in NAMES if "rarer" in keywords(MEASURES.get(name))]
)
def test_the_rarer_class_is_positive_unless_another_is_given(name):
    measure = MEASURES.get(name)
    proba, y = draw(1, 2)
    for one in (0, 1):
        by_name, by_context = measure(proba, y, positive=one), measure(proba, y, rarer=one)
        np.testing.assert_array_equal(by_name, by_context)
        both = measure(proba, y, positive=one, rarer=1 - one)
        np.testing.assert_array_equal(both, by_name)
