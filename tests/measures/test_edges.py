"""What every measure does in edge cases: a number, or NaN with a reason, and never a warning."""

import functools
import math

import numpy as np
import pytest

from simstudy.components.registry import MEASURES
from simstudy.measures.base import Undefined, has_exact_value, keywords, parameters, score

pytestmark = pytest.mark.filterwarnings("error")
NAMES = sorted(MEASURES._builtin)
OPTIONS = {
    "average": {"auc": ("hand_till", "weighted"), "sar": ("hand_till", "weighted")},
    "beta": (2.0,),
    "bins": (1, 100),
    "decision": ("least_cost",),
    "high": (0.3,),
    "k": (1, 12),
    "low": (0.7,),
    "points": (3,),
    "share": (1e-9, 1.0),
    "total": (True,),
}


def variants(name, k):
    """The parameters of a measure, one of them changed at a time."""
    yield {}
    for parameter in parameters(MEASURES.get(name)):
        if parameter == "positive":
            values = (0, k - 1)
        elif parameter == "matrix":
            values = (np.arange(k * k).reshape(k, k).tolist(),)
        elif parameter == "average":
            values = OPTIONS["average"].get(name, ("macro", "weighted"))
        else:
            values = OPTIONS[parameter]
        yield from ({parameter: value} for value in values)


def edge_cases(k, n=12):
    """Predictions and classes that measures may find difficult."""
    rng = np.random.default_rng(k)
    proba, y, certain = rng.dirichlet(np.ones(k), n), np.arange(n) % k, np.eye(k)
    yield np.full((n, k), 1 / k), y  # constant, all ties
    yield certain[rng.integers(0, k, n)], y  # infinite rewards
    yield certain[y], y
    yield certain[(y + 1) % k], y
    yield proba[:1], y[:1]
    yield certain[:1], np.array([0])
    yield certain[:1], np.array([1])
    yield proba, np.zeros(n, dtype=int)  # one class alone
    yield proba, np.maximum(y, 1)  # classes without rows
    yield proba, np.minimum(y, k - 2)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("k", [2, 3, 26])
def test_a_number_or_a_reason(name, k):
    measure = MEASURES.get(name)
    weighs = has_exact_value(measure)
    priors = [np.full(k, 1 / k), np.eye(k)[0]] if "prior" in keywords(measure) else [None]
    for proba, y in edge_cases(k):
        n = len(y)
        truths = {"truth": proba, "oracle": proba, "limit": np.full((n, k), 1 / k)}
        for weights in (None, np.eye(n)[0], np.arange(1.0, n + 1)) if weighs else (None,):
            for prior in priors:
                for given in variants(name, k):
                    context = {"prior": prior, "weights": weights, "message": (1.0, 2.0)}
                    value = score(measure, proba, y, **context, **truths, **given)
                    if math.isnan(value):
                        assert isinstance(value, Undefined)
                        assert value.reason


@pytest.mark.parametrize("name", NAMES)
def test_classes_may_be_numbers_of_any_type_and_tables_may_be_lists(name):
    measure, rng = MEASURES.get(name), np.random.default_rng(1)
    proba, y = np.round(rng.dirichlet(np.ones(2), 300), 2), rng.integers(0, 2, 300)
    context = {"prior": [0.4, 0.6], "truth": proba, "oracle": proba, "limit": proba}
    context["message"] = 1.0, 2.0
    expected = score(measure, proba, y, **context)
    for kind in (np.int8, np.uint8, np.uint64, np.bool_):
        assert score(measure, proba, y.astype(kind), **context) == expected
    assert score(measure, proba.tolist(), y.tolist(), **context) == pytest.approx(expected)


@pytest.mark.parametrize("name", [name for name in NAMES if has_exact_value(MEASURES.get(name))])
def test_weights_of_any_size_are_as_good_and_what_are_no_weights_is_refused(name):
    measure, rng = MEASURES.get(name), np.random.default_rng(2)
    proba, y = rng.dirichlet(np.ones(3), 30), rng.integers(0, 3, 30)
    context = {"prior": [0.2, 0.3, 0.5], "truth": proba, "oracle": proba, "limit": proba}
    context["message"] = 1.0, 2.0
    weights = rng.random(30) + 0.1
    expected = score(measure, proba, y, weights=weights, **context)
    for scale in (1e300, 1e-300):
        found = score(measure, proba, y, weights=scale * weights, **context)
        assert found == pytest.approx(expected, abs=1e-12)
    for wrong in (0.0, -1.0, math.inf, math.nan):
        for call in (measure, functools.partial(score, measure)):
            if measure.info.over == "row" and call is measure:
                continue  # of values of rows no mean is taken
            with pytest.raises(ValueError, match=f"'{name}' needs finite weights of at least 0"):
                call(proba, y, weights=np.full(30, wrong), **context)


def test_answers_that_are_no_probabilities_have_no_divergence():
    proba, truth = np.array([[0.0, 0.0], [0.5, 0.5]]), np.full((2, 2), 0.5)
    found = score(MEASURES.get("kl_divergence"), proba, np.array([0, 1]), truth=truth)
    assert found.reason == "it is nan in 1 of 2 rows"


def test_infinite_values_of_both_signs_have_no_mean():
    def both(proba, y):
        return np.array([math.inf, -math.inf, 1.0])

    proba, y = np.full((3, 2), 0.5), np.zeros(3, dtype=int)
    for weights in (None, np.ones(3)):
        found = score(both, proba, y, weights=weights)
        assert math.isnan(found)
        assert found.reason == "some rows have the value inf, others −inf"
    assert score(both, proba, y, weights=np.array([1.0, 0.0, 1.0])) == math.inf
