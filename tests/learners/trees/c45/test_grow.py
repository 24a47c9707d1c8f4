"""Trees that are grown at once are those of separate samples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simstudy.data.sample import Sample
from simstudy.data.schema import Schema
from simstudy.learners.trees.c45.learner import C45

learners = st.builds(
    C45,
    confidence=st.sampled_from([0.01, 0.25, 0.5]),
    min_leaf=st.sampled_from([0.5, 1, 1.5, 2, 5]),
    prune=st.booleans(),
    subtree_raising=st.booleans(),
)


def random_sample(rng: np.random.Generator, rows: int) -> Sample:
    """A sample whose class depends on some attributes, with noise, or on none."""
    cards = rng.integers(1, 6, size=rng.integers(1, 8)).tolist()
    classes = int(rng.integers(1, 5))
    values = rng.integers(0, cards, size=(rows, len(cards)))
    used = values[:, rng.random(len(cards)) < 0.6].sum(axis=1)
    noise = rng.integers(0, classes, size=rows) * (rng.random(rows) < rng.choice([0.0, 0.2, 1.0]))
    if rng.random() < 0.2:  # more values than are worth counting in the average gain
        cards[0] = 40
    return Sample(np.column_stack([values, (used + noise) % classes]), [*cards, classes])


@settings(deadline=None, max_examples=150)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 3, 5, 20, 50, 300, 600]), learners)
def test_trees_grown_at_once_are_those_of_separate_samples(seed, rows, learner) -> None:
    rng = np.random.default_rng(seed)
    sample = random_sample(rng, rows)
    # Some parts repeat rows, some are empty; the last have many values for their rows, or few.
    parts = [rng.integers(0, rows, size=size) for size in (rows, 0, rows // 2, 100, 200, 100)]
    fits = [*learner.fit_parts(sample, ((part, rng) for part in parts))]
    assert len(fits) == len(parts)
    for part, fitted in zip(parts, fits, strict=True):
        expected = learner.fit(sample.take(part))
        for name in ("attribute", "first", "branches", "counts", "depth"):
            actual, tree = getattr(fitted.tree, name), getattr(expected.tree, name)
            np.testing.assert_array_equal(actual, tree, err_msg=name)
        np.testing.assert_array_equal(fitted.probabilities, expected.probabilities)


@pytest.mark.parametrize(
    ("values", "cards", "weights"),
    [
        (np.zeros((10**4, 1), dtype=np.intp), [2], None),
        (np.zeros((4, 1), dtype=np.intp), [2], np.ones(4)),
        (np.zeros((4, 1)), [0], None),
        (np.full((4, 1), np.nan), [2], None),
        (np.zeros((4, 0), dtype=np.intp), [], None),
        (np.zeros((4, 1), dtype=np.intp), [10**4], None),
        (np.zeros((4, 110), dtype=np.intp), [2] * 110, None),
    ],
    ids=["rows", "weights", "numeric", "missing", "none", "values", "attributes"],
)
def test_constant_attributes_or_none_leave_the_class_frequencies(values, cards, weights) -> None:
    target = np.arange(len(values)) % 2
    sample = Sample.of(np.column_stack([values, target]), Schema.plain([*cards, 2]), weights)
    everything = [np.arange(len(values))] * 2
    rng = np.random.default_rng(0)
    for fitted in C45().fit_parts(sample, ((rows, rng) for rows in everything)):
        np.testing.assert_allclose(fitted.predict_proba(values), [[0.5, 0.5]] * len(values))
